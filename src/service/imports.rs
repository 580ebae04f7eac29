//! What administrators see of imports. An import itself is a command (`crates/import`), not part of the service.

use crate::domain::import_run::ImportRun;
use crate::storage::{Db, StorageError, imports};

#[derive(Debug)]
pub struct Imports {
    db: Db,
}

impl Imports {
    pub const fn new(db: Db) -> Self {
        Self { db }
    }

    /// The latest runs, newest first.
    ///
    /// # Errors
    /// The database.
    pub async fn list(&self) -> Result<Vec<ImportRun>, StorageError> {
        imports::list_runs(&mut *self.db.acquire().await?).await
    }
}
