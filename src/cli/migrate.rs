//! `keymeter migrate`

use crate::app::Database;
use crate::config::Config;
use crate::output::print_line;
use crate::storage;

pub async fn run(config: &Config) -> Result<(), String> {
    let database = Database::start(config).map_err(|error| error.to_string())?;
    let migrated = storage::migrate(&database.options).await.map_err(|error| error.to_string());
    database.stop().await;
    migrated.map(|()| print_line("the database is up to date"))
}
