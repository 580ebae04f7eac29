//! `keymeter migrate`

use super::Failure;
use crate::app::{Database, StartError, Use};
use crate::config::Config;
use crate::output::print_line;
use crate::storage;

pub async fn run(config: &Config) -> Result<(), Failure> {
    let database = Database::start(config, Use::Command).await?;
    let migrated = storage::migrate(&database.options).await;
    database.stop().await;
    migrated.map_err(StartError::from)?;
    print_line("the database is up to date");
    Ok(())
}
