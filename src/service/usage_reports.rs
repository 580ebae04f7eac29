//! Usage over longer ranges, grouped: a user's own, and everyone's for administrators (spec §13.6).

use std::collections::BTreeSet;
use std::sync::Arc;

use chrono_tz::Tz;

use crate::domain::caller::Caller;
use crate::domain::id::{TokenId, UserId};
use crate::domain::policy;
use crate::domain::time::{Clock, Day};
use crate::domain::usage_report::{Dimension, Grouping, Report, ReportSpan};
use crate::storage::usage_reports::Grouped;
use crate::storage::{self, Conn, Db, StorageError, tokens, usage_reports, users};

#[derive(Debug, thiserror::Error)]
pub enum UsageReportsError {
    /// Absent, or another user's: the caller cannot tell which.
    #[error("there is no such token")]
    TokenNotFound,
    #[error("there is no such user")]
    UserNotFound,
    #[error(
        "the report would have more than {max} rows; ask for fewer days or fewer groups",
        max = policy::MAX_REPORT_ROWS
    )]
    TooManyRows,
    #[error("these days have too much usage for one report; ask for fewer days, or for one token")]
    TooMuchUsage,
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Whose usage an administrator asks for.
#[derive(Debug, Clone, Copy)]
pub enum ReportScope {
    Everyone,
    User(UserId),
    Token(TokenId),
}

#[derive(Debug)]
pub struct UsageReports {
    db: Db,
    clock: Arc<dyn Clock>,
    zone: Tz,
}

impl UsageReports {
    /// `zone` is the time zone of days.
    #[must_use]
    pub const fn new(db: Db, clock: Arc<dyn Clock>, zone: Tz) -> Self {
        Self { db, clock, zone }
    }

    /// The present day.
    #[must_use]
    pub fn today(&self) -> Day {
        self.clock.now().day_in(self.zone)
    }

    /// The usage of the caller's tokens, or of one of them; deleted ones included.
    ///
    /// # Errors
    /// The token is not the caller's; too many rows; the database.
    pub async fn show_own(
        &self,
        caller: &Caller,
        token: Option<TokenId>,
        span: ReportSpan,
        grouping: Grouping,
    ) -> Result<Report, UsageReportsError> {
        let mut tx = self.db.begin().await?;
        let grouped = match token {
            None => usage_reports::list_of_user(&mut tx, caller.user.id, span, &grouping).await?,
            Some(token) => {
                if tokens::find_owner_ever(&mut tx, token).await? != Some(caller.user.id) {
                    return Err(UsageReportsError::TokenNotFound);
                }
                usage_reports::list_of_token(&mut tx, token, span, &grouping).await?
            }
        };
        let report = report(&mut tx, grouped, span, grouping).await?;
        storage::commit(tx).await?;
        Ok(report)
    }

    /// The usage of everyone, of one user or of one token, for administrators.
    ///
    /// # Errors
    /// There is no such user or token; too many rows; too much usage to read; the database.
    pub async fn show(
        &self,
        scope: ReportScope,
        span: ReportSpan,
        grouping: Grouping,
    ) -> Result<Report, UsageReportsError> {
        let mut tx = self.db.begin().await?;
        let grouped = match scope {
            ReportScope::Everyone => usage_reports::list_of_everyone(&mut tx, span, &grouping).await?,
            ReportScope::User(user) => {
                if users::list_names(&mut tx, &[user]).await?.is_empty() {
                    return Err(UsageReportsError::UserNotFound);
                }
                usage_reports::list_of_user(&mut tx, user, span, &grouping).await?
            }
            ReportScope::Token(token) => {
                if tokens::find_owner_ever(&mut tx, token).await?.is_none() {
                    return Err(UsageReportsError::TokenNotFound);
                }
                usage_reports::list_of_token(&mut tx, token, span, &grouping).await?
            }
        };
        let report = report(&mut tx, grouped, span, grouping).await?;
        storage::commit(tx).await?;
        Ok(report)
    }
}

/// Adds the total and the names.
async fn report(
    conn: &mut Conn,
    grouped: Grouped,
    span: ReportSpan,
    grouping: Grouping,
) -> Result<Report, UsageReportsError> {
    if grouped.read > policy::MAX_REPORT_READ {
        return Err(UsageReportsError::TooMuchUsage);
    }
    if i64::try_from(grouped.rows.len()).is_ok_and(|rows| rows > policy::MAX_REPORT_ROWS) {
        return Err(UsageReportsError::TooManyRows);
    }
    let mut report = Report::new(span, grouping, grouped.rows);
    if report.grouping.has(Dimension::User) {
        let ids: BTreeSet<UserId> = report.rows.iter().filter_map(|row| row.user_id).collect();
        report.usernames = users::list_names(conn, &ids.into_iter().collect::<Vec<_>>()).await?;
    }
    if report.grouping.has(Dimension::Token) {
        let ids: BTreeSet<TokenId> = report.rows.iter().filter_map(|row| row.token_id).collect();
        report.token_names = tokens::list_names(conn, &ids.into_iter().collect::<Vec<_>>()).await?;
    }
    Ok(report)
}
