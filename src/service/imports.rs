//! What administrators see of imports. An import itself is a command (`crates/import`), not part of the service.

use crate::domain::import_run::ImportRun;
use crate::service::core::Core;
use crate::storage::{StorageError, imports};

#[derive(Debug)]
pub struct Imports {
    core: Core,
}

impl Imports {
    pub const fn new(core: Core) -> Self {
        Self { core }
    }

    /// The latest runs, newest first.
    ///
    /// # Errors
    /// The database.
    pub async fn list(&self) -> Result<Vec<ImportRun>, StorageError> {
        imports::list_runs(&mut *self.core.db.acquire().await?).await
    }
}
