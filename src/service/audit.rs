//! The audit log: all of it for administrators, and for each user what concerns their own account.

use std::sync::Arc;

use super::report_queue::{ReportQueue, ReportQueueFull};
use crate::domain::audit::{AuditFilter, AuditLine};
use crate::domain::bounds;
use crate::domain::caller::Caller;
use crate::domain::page::{Page, PageRequest};
use crate::service::core::Core;
use crate::storage::{self, StorageError, audit};

#[derive(Debug, thiserror::Error)]
pub enum AuditError {
    #[error(
        "more than {max} entries match; ask for fewer days with `from` and `to`",
        max = bounds::MAX_AUDIT_CSV_LINES
    )]
    TooMany,
    #[error(transparent)]
    Refused(#[from] ReportQueueFull),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// The audit service.
#[derive(Debug)]
pub struct Audit {
    core: Core,
    reports: Arc<ReportQueue>,
}

impl Audit {
    /// A service on `db`.
    pub const fn new(core: Core, reports: Arc<ReportQueue>) -> Self {
        Self { core, reports }
    }

    /// Lists matching entries, newest first.
    ///
    /// # Errors
    /// The database.
    pub async fn list(&self, filter: &AuditFilter, page: PageRequest) -> Result<Page<AuditLine>, AuditError> {
        let mut tx = self.core.db.begin_reading().await?;
        let lines = audit::list(&mut tx, filter, page.size(), page.offset()).await?;
        let total = match page.total_if_last(lines.len()) {
            Some(total) => total,
            None => audit::count(&mut tx, filter).await?,
        };
        storage::end(tx).await?;
        Ok(page.holding(lines, total))
    }

    /// All matching entries, newest first, for a file.
    ///
    /// # Errors
    /// More than [`bounds::MAX_AUDIT_CSV_LINES`] match; too many reports at once; the database.
    pub async fn export(&self, caller: &Caller, filter: AuditFilter) -> Result<Vec<AuditLine>, AuditError> {
        let db = self.core.db.clone();
        let report = async move {
            let mut tx = db.begin_reading().await?;
            let lines = audit::list(&mut tx, &filter, bounds::MAX_AUDIT_CSV_LINES + 1, 0).await?;
            storage::end(tx).await?;
            Ok::<_, AuditError>(lines)
        };
        let lines = self.reports.run(caller.user.id, report).await?;
        let is_within = i64::try_from(lines.len()).is_ok_and(|count| count <= bounds::MAX_AUDIT_CSV_LINES);
        if is_within { Ok(lines) } else { Err(AuditError::TooMany) }
    }

    /// Lists the matching entries that concern the caller's account and keys, newest first. `filter.user_id` is
    /// replaced.
    ///
    /// # Errors
    /// The database.
    pub async fn list_own(
        &self,
        caller: &Caller,
        filter: AuditFilter,
        page: PageRequest,
    ) -> Result<Page<AuditLine>, AuditError> {
        let filter = AuditFilter { user_id: Some(caller.user.id), ..filter };
        Ok(self.list(&filter, page).await?.map(|line| line.shown_to(caller.user.id)))
    }
}
