//! Grouped usage over longer ranges: of a user, and for administrators of all users (spec §13.6).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use chrono_tz::Tz;

use super::key_holders::KeyHolderError;
use super::rate_limiter::RateLimited;
use super::report_queue::{ReportQueue, ReportQueueFull};
use crate::domain::bounds;
use crate::domain::id::{TokenId, UserId};
use crate::domain::page::PageRequest;
use crate::domain::refused_requests::RefusedReport;
use crate::domain::scope::{Scope, Viewer};
use crate::domain::time::{DAY, Day};
use crate::domain::usage_report::{ReportRow, UsageReport};
use crate::domain::usage_report_request::{Dimension, ReportRequest, ReportSpan};
use crate::service::core::Core;
use crate::storage::refused_requests::Counted;
use crate::storage::usage_reports::Grouped;
use crate::storage::{
    self, Conn, StorageError, gateways, refused_requests, spend, tokens, usage_reports, usage_rollup, users,
};

#[derive(Debug, thiserror::Error)]
pub enum UsageReportsError {
    /// Absent, or another user's: the caller cannot tell which.
    #[error("there is no such token")]
    TokenNotFound,
    #[error("there is no such user")]
    UserNotFound,
    #[error(
        "the report would have more than {max} rows; ask for fewer days or fewer groups",
        max = bounds::MAX_REPORT_ROWS
    )]
    TooManyRows,
    #[error("more than {max} requests match; ask for fewer days", max = bounds::MAX_REPORT_ROWS)]
    TooManyRequests,
    #[error(
        "at most {} requests are read for one file; ask for fewer days, or for one token",
        bounds::MAX_REQUESTS_READ * i64::try_from(bounds::MAX_PAGES_READ).unwrap_or(i64::MAX)
    )]
    TooManyRead,
    #[error("these days have too much usage for one report; ask for fewer days, or for one token")]
    TooMuchUsage,
    #[error("single charges are kept from {0} on, so with `tz` or by `hour` a report begins there at the earliest")]
    ChargesDeleted(Day),
    #[error(
        "usage by gateway is not added up yet for days before {0}, of which not all charges are kept; ask for later days, or \
         later"
    )]
    GatewaysUnknown(Day),
    /// Only for the holder of a key.
    #[error(transparent)]
    Key(#[from] KeyHolderError),
    #[error(transparent)]
    RateLimited(#[from] RateLimited),
    #[error(transparent)]
    Refused(#[from] ReportQueueFull),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

#[derive(Debug)]
pub struct UsageReports {
    core: Core,
    reports: Arc<ReportQueue>,
}

impl UsageReports {
    pub const fn new(core: Core, reports: Arc<ReportQueue>) -> Self {
        Self { core, reports }
    }

    /// The present day, in the zone of the settings or in another one.
    pub fn today(&self, zone: Option<Tz>) -> Day {
        self.core.clock.now().day_in(zone.unwrap_or(self.core.calendar.zone))
    }

    /// The usage that the viewer asks for.
    ///
    /// # Errors
    /// There is no such user or token, or it is not the viewer's; too many rows; too much usage to read; too many
    /// reports at once; the database.
    pub async fn show(&self, viewer: Viewer, request: ReportRequest) -> Result<UsageReport, UsageReportsError> {
        let (db, zone) = (self.core.db.clone(), self.core.calendar.zone);
        let report = async move {
            let mut tx = db.begin_reading().await?;
            let scope = resolve(&mut tx, viewer).await?;
            let report = usage(&mut tx, scope, request, zone).await?;
            storage::end(tx).await?;
            Ok(report)
        };
        self.reports.run(viewer.user(), report).await
    }

    /// A page of the refused requests that the viewer asks for.
    ///
    /// # Errors
    /// There is no such user or token, or it is not the viewer's; too much to read; too many reports at once; the
    /// database.
    pub async fn show_refused(
        &self,
        viewer: Viewer,
        span: ReportSpan,
        page: PageRequest,
    ) -> Result<RefusedReport, UsageReportsError> {
        let db = self.core.db.clone();
        let report = async move {
            let mut tx = db.begin_reading().await?;
            let scope = resolve(&mut tx, viewer).await?;
            let report = refused(&mut tx, scope, span, page).await?;
            storage::end(tx).await?;
            Ok(report)
        };
        self.reports.run(viewer.user(), report).await
    }
}

/// The scope that a viewer asks for. Deleted users and tokens count as existing.
///
/// # Errors
/// There is no such user or token, or the token is another user's.
pub(super) async fn resolve(conn: &mut Conn, viewer: Viewer) -> Result<Scope, UsageReportsError> {
    let scope = match viewer {
        Viewer::Owner(user, None) => return Ok(Scope::User(user)),
        Viewer::Owner(_, Some(token)) => Scope::Token(token),
        Viewer::Admin(_, scope) => scope,
    };
    match scope {
        Scope::Everyone => {}
        Scope::User(user) => {
            if users::list_names(conn, &[user]).await?.is_empty() {
                return Err(UsageReportsError::UserNotFound);
            }
        }
        Scope::Token(token) => {
            let owner = tokens::find_owner_ever(conn, token).await?.ok_or(UsageReportsError::TokenNotFound)?;
            if matches!(viewer, Viewer::Owner(user, _) if user != owner) {
                return Err(UsageReportsError::TokenNotFound);
            }
        }
    }
    Ok(scope)
}

/// The usage of a scope, with the total and the names. `zone` is that of the settings.
async fn usage(
    conn: &mut Conn,
    scope: Scope,
    request: ReportRequest,
    zone: Tz,
) -> Result<UsageReport, UsageReportsError> {
    let now = read(conn, scope, &request, request.span, zone, bounds::MAX_REPORT_READ).await?;
    let mut report = match request.comparison {
        None => UsageReport::new(request, now.rows, zone),
        Some(comparison) => {
            let left = bounds::MAX_REPORT_READ - now.read;
            let before = read(conn, scope, &request, comparison.span, zone, left).await?.rows;
            UsageReport::new(request, now.rows, zone).compared_with(&before, comparison.by_change)
        }
    };
    require_rows(&report.rows)?;
    if report.grouping.has(Dimension::User) {
        let users: BTreeSet<UserId> = report.rows.iter().filter_map(|row| row.key.user_id).collect();
        report.users = users::list_contacts(conn, &users.into_iter().collect::<Vec<_>>()).await?;
    }
    if report.grouping.has(Dimension::Token) {
        report.token_names = token_names(conn, report.rows.iter().filter_map(|row| row.key.token_id)).await?;
    }
    if report.grouping.has(Dimension::Gateway) {
        let gateways = gateways::list(conn).await?;
        report.gateway_names = gateways.into_iter().map(|gateway| (gateway.id, gateway.name)).collect();
    }
    Ok(report)
}

/// The lines of a scope in one range of the request, from at most `most` rows. `zone` is that of the settings.
async fn read(
    conn: &mut Conn,
    scope: Scope,
    request: &ReportRequest,
    span: ReportSpan,
    zone: Tz,
    most: i64,
) -> Result<Grouped, UsageReportsError> {
    let grouping = &request.grouping;
    let zone_of_charges = request.zone.or_else(|| grouping.has(Dimension::Hour).then_some(zone));
    let grouped = match zone_of_charges {
        None => {
            if grouping.has(Dimension::Gateway) {
                require_gateways(conn, span, zone).await?;
            }
            usage_reports::list(conn, scope, span, grouping, most).await?
        }
        Some(zone) => {
            if let Some(since) = spend::find_charges_since(conn).await?
                && span.seconds(zone).0 < since
            {
                // The first day whose charges are all kept.
                return Err(UsageReportsError::ChargesDeleted(since.plus(DAY - 1).day_in(zone)));
            }
            usage_reports::list_in(conn, scope, span, zone, grouping, most).await?
        }
    };
    if grouped.read > most {
        return Err(UsageReportsError::TooMuchUsage);
    }
    require_rows(&grouped.rows)?;
    Ok(grouped)
}

/// Returns an error if these are more lines than a report may have.
fn require_rows(rows: &[ReportRow]) -> Result<(), UsageReportsError> {
    if i64::try_from(rows.len()).is_ok_and(|rows| rows > bounds::MAX_REPORT_ROWS) {
        return Err(UsageReportsError::TooManyRows);
    }
    Ok(())
}

/// Returns an error if a day of the span has neither sums by gateway nor all its charges.
async fn require_gateways(conn: &mut Conn, span: ReportSpan, zone: Tz) -> Result<(), UsageReportsError> {
    let from = usage_rollup::find(conn).await?.rolled_until.max(span.from);
    let open = ReportSpan { from, to: span.to };
    match spend::find_charges_since(conn).await? {
        Some(since) if open.from <= open.to && open.seconds(zone).0 < since => {
            Err(UsageReportsError::GatewaysUnknown(since.plus(DAY - 1).day_in(zone)))
        }
        Some(_) | None => Ok(()),
    }
}

/// A page of the refused requests of a scope, with the names.
async fn refused(
    conn: &mut Conn,
    scope: Scope,
    span: ReportSpan,
    page: PageRequest,
) -> Result<RefusedReport, UsageReportsError> {
    let Counted { rows, total, read } = refused_requests::list(conn, scope, span, page).await?;
    if read > bounds::MAX_REPORT_READ {
        return Err(UsageReportsError::TooMuchUsage);
    }
    let users: BTreeSet<UserId> = rows.items.iter().map(|row| row.user_id).collect();
    let usernames = users::list_names(conn, &users.into_iter().collect::<Vec<_>>()).await?;
    let token_names = token_names(conn, rows.items.iter().map(|row| row.token_id)).await?;
    Ok(RefusedReport { span, rows, total, usernames, token_names })
}

async fn token_names(
    conn: &mut Conn,
    ids: impl Iterator<Item = TokenId>,
) -> Result<BTreeMap<TokenId, String>, StorageError> {
    let ids: BTreeSet<TokenId> = ids.collect();
    tokens::list_names(conn, &ids.into_iter().collect::<Vec<_>>()).await
}
