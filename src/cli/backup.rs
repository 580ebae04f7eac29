//! `keymeter backup` and `keymeter restore`

use std::path::Path;

use super::failure::CommandFailure;
use crate::app::{self, Database, StartError};
use crate::config::Config;
use crate::output::print_line;

pub async fn back_up(config: &Config, to: &Path) -> Result<(), CommandFailure> {
    app::require_data(config)?;
    let back_up = async |database: &Database| app::back_up(config, database, to).await.map_err(StartError::from);
    let has_key = app::with_database(config, back_up).await?;
    print_line(&format!("the database is in {}", to.display()));
    print_line(if has_key {
        "so is the master key: with both, every key can be read"
    } else {
        "the master key is not: it is in the settings; keep a copy of it elsewhere"
    });
    Ok(())
}

pub fn restore(config: &Config, from: &Path) -> Result<(), CommandFailure> {
    app::restore(config, from)?;
    print_line(&format!("restored into {}; check it with `keymeter doctor`", config.data_dir.display()));
    Ok(())
}
