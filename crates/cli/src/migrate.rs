//! `keymeter migrate`

use super::failure::CommandFailure;
use crate::output::print_line;
use keymeter::app::{self, Database, StartError};
use keymeter::config::Config;
use keymeter::storage;

pub async fn run(config: &Config) -> Result<(), CommandFailure> {
    let migrate = async |database: &Database| storage::migrate(&database.options).await.map_err(StartError::from);
    app::with_database(config, migrate).await?;
    print_line("the database is up to date");
    Ok(())
}
