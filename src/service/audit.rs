//! The audit log, for administrators.

use crate::domain::audit::{AuditFilter, AuditLine};
use crate::domain::page::{Page, PageRequest};
use crate::storage::{self, Db, StorageError, audit};

/// The audit service.
#[derive(Debug)]
pub struct Audit {
    db: Db,
}

impl Audit {
    /// A service on `db`.
    #[must_use]
    pub const fn new(db: Db) -> Self {
        Self { db }
    }

    /// Lists matching entries, newest first.
    ///
    /// # Errors
    /// The database.
    pub async fn list(&self, filter: &AuditFilter, page: PageRequest) -> Result<Page<AuditLine>, StorageError> {
        let mut tx = self.db.begin().await?;
        let page = audit::list(&mut tx, filter, page).await?;
        storage::commit(tx).await?;
        Ok(page)
    }
}
