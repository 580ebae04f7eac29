//! `keymeter master-key …`

use std::path::{Path, PathBuf};

use clap::Subcommand;

use super::failure::{CommandFailure, exit};
use crate::master_key_rotation::{MasterKeyRotation, RotationError};
use crate::output::print_line;
use keymeter::app::{self, Database};
use keymeter::config::Config;
use keymeter::service::rng::Rng;

/// Progress is printed each time that so many keys are encrypted again.
const REPORTED: usize = 10_000;

#[derive(Debug, Subcommand)]
pub enum MasterKeyCommand {
    /// Let a new master key open the database as well, and encrypt all keys again. If it is interrupted, run it again.
    Rotate {
        /// A file with the new master key: openssl rand -hex 32 > FILE
        #[arg(long, value_name = "FILE")]
        new_key_file: PathBuf,
    },
    /// End the change: the old master key opens nothing afterwards. Restart all servers with the new one first.
    Finish,
    /// End the change without the new master key, if it was lost. The old one stays.
    Cancel,
}

pub async fn run(config: &Config, command: MasterKeyCommand) -> Result<(), CommandFailure> {
    app::with_database(config, async |database: &Database| {
        let opened = app::open(config, database).await?;
        let db = opened.db.clone();
        let rotation = MasterKeyRotation::new(opened.db, opened.vault, Rng::system());
        let outcome = match command {
            MasterKeyCommand::Rotate { new_key_file } => rotate(config, &rotation, &new_key_file).await,
            MasterKeyCommand::Finish => rotation.finish().await.map_err(failure).map(|()| {
                print_line("the old master key opens nothing any more; destroy it when you need no backup from before");
            }),
            MasterKeyCommand::Cancel => rotation.cancel().await.map_err(failure).map(|()| {
                print_line("the master key stays as it was");
            }),
        };
        db.close().await;
        outcome
    })
    .await
}

async fn rotate(config: &Config, rotation: &MasterKeyRotation, file: &Path) -> Result<(), CommandFailure> {
    let new = app::read_new_master_key(file)?;
    rotation.begin(&new).await.map_err(failure)?;
    print_line("both master keys open the database now");
    let mut reported = 0;
    let resealed = rotation.reseal(|done| {
        if done / REPORTED > reported {
            reported = done / REPORTED;
            print_line(&format!("encrypted {done} keys again"));
        }
    });
    resealed.await.map_err(failure)?;
    print_line("all keys are encrypted again");
    if let Some(old) = app::replace_master_key(config, &new)? {
        print_line(&format!(
            "the new master key is in the data directory; the old one is kept in {}, for backups from before and for `cancel`",
            old.display()
        ));
    }
    print_line("give all servers the new master key and restart them; then run `keymeter master-key finish`");
    Ok(())
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn failure(error: RotationError) -> CommandFailure {
    let code = if error.is_conflict() { exit::CONFLICT } else { 1 };
    CommandFailure::new(code, error.to_string())
}
