//! `keymeter backup` and `keymeter restore`

use std::path::Path;

use keymeter::app::{self, Database};
use keymeter::config::Config;
use keymeter::storage::{self, Db, StorageError, installation};
use keymeter_postgres::backup::{self, BackedUp};

use crate::failure::CommandFailure;
use crate::output::{print_error, print_line};

const NOT_PRIVATE: &str =
    "this is not for the database of DATABASE_URL; use pg_dump and pg_restore (docs/operations.md, Backup and restore)";

pub async fn back_up(config: &Config, to: &Path) -> Result<(), CommandFailure> {
    require_private(config)?;
    app::require_data(config)?;
    let back_up = async |database: &Database| {
        let from = BackedUp {
            data_dir: &config.data_dir,
            connect: database.options.hosts.current(),
            master_key_is_set: config.secrets.master_key.is_some(),
        };
        let has_key = backup::back_up(from, to).await?;
        // A server of an older version may still use the database.
        if let Err(error) = record(database).await {
            print_error(&format!("the backup is whole, but administrators do not see its time: {error}"));
        }
        Ok::<_, CommandFailure>(has_key)
    };
    let has_key = app::with_database(config, back_up).await?;
    print_line(&format!("the database is in {}", to.display()));
    print_line(if has_key {
        "so is the master key: with both, every key can be read"
    } else {
        "the master key is not: it is in the settings; keep a copy of it elsewhere"
    });
    Ok(())
}

/// Lets administrators see when the last backup ended.
async fn record(database: &Database) -> Result<(), StorageError> {
    let db = Db::open(&database.options);
    let mut tx = db.begin().await?;
    let now = storage::read_clock(&mut tx).await?.seconds();
    installation::update_backup_time(&mut tx, now).await?;
    storage::commit(tx).await?;
    db.close().await;
    Ok(())
}

pub fn restore(config: &Config, from: &Path) -> Result<(), CommandFailure> {
    require_private(config)?;
    backup::restore(&config.data_dir, from)?;
    print_line(&format!("restored into {}; check it with `keymeter doctor`", config.data_dir.display()));
    Ok(())
}

fn require_private(config: &Config) -> Result<(), CommandFailure> {
    if config.database.url.is_some() { Err(NOT_PRIVATE.to_owned().into()) } else { Ok(()) }
}
