//! Requests of gateways that were refused, by token and reason (spec §13.7).

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::auth::{Admin, SignedIn};
use super::envelope::Envelope;
use super::extract::Query;
use super::ledger::ReasonBody;
use super::page::{PageQuery, RowPageBody};
use super::state::AppState;
use super::usage_reports::{ReportUserQuery, SpanQuery};
use crate::api::errors::code::codes::{InvalidRange, NotFound, RangeTooLarge};
use crate::api::errors::fails::Fails;
use crate::domain::bounds;
use crate::domain::page::PageRequest;
use crate::domain::refused_requests::RefusedReport;
use crate::domain::scope::Viewer;
use crate::service::report_queue::ReportQueueFull;

/// The requests of a token that were refused for one reason.
#[derive(Debug, Serialize, ToSchema)]
pub struct RefusedRowBody {
    /// The error code of the refusals.
    reason: ReasonBody,
    /// Token ID.
    token_id: i64,
    /// The present name of the token.
    token_name: String,
    /// The id of the token's owner.
    user_id: i64,
    /// The username of the owner.
    username: String,
    /// Number of refused requests.
    requests: i64,
}

/// Refused requests of a range of days.
#[derive(Debug, Serialize, ToSchema)]
pub struct RefusedBody {
    /// The first day, YYYY-MM-DD.
    from: String,
    /// The last day, YYYY-MM-DD.
    to: String,
    /// The time zone of the days.
    time_zone: String,
    /// Number of refused requests, also those without a row.
    total: i64,
    /// The largest numbers first: those of the page, or the first 100.
    rows: Vec<RefusedRowBody>,
    #[serde(flatten)]
    page: RowPageBody,
}

/// The largest numbers, if no page is asked for.
const LARGEST: PageRequest = PageRequest::first(bounds::MAX_REFUSED_ROWS);

impl RefusedBody {
    /// With the numbers of the page if one was asked for.
    fn new(report: &RefusedReport, page: Option<PageRequest>, time_zone: String) -> Self {
        let rows = report.rows.items.iter().map(|row| RefusedRowBody {
            reason: row.reason.into(),
            token_id: row.token_id.get(),
            token_name: report.token_names.get(&row.token_id).cloned().unwrap_or_default(),
            user_id: row.user_id.get(),
            username: report.usernames.get(&row.user_id).cloned().unwrap_or_default(),
            requests: row.requests,
        });
        Self {
            rows: rows.collect(),
            page: page.map(|_| RowPageBody::of(&report.rows)).unwrap_or_default(),
            from: report.span.from.to_string(),
            to: report.span.to.to_string(),
            time_zone,
            total: report.total,
        }
    }
}

/// Refused requests of your tokens, deleted ones included, by reason; the 100 largest numbers, or the page that is
/// asked for. Up to five seconds late.
#[utoipa::path(get, path = "/api/usage/refused_requests", operation_id = "list_refused_requests", tag = "usage",
    params(SpanQuery, PageQuery), responses((status = 200, body = Envelope<RefusedBody>)))]
pub async fn list_own(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    Query(days): Query<SpanQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Envelope<RefusedBody>, Fails<(InvalidRange, RangeTooLarge, ReportQueueFull, NotFound)>> {
    let (span, page) = (days.span(app.usage_reports.today(None))?, page.read_if_given(app.settings.first_page)?);
    let viewer = Viewer::Owner(caller.user.id, days.token()?);
    let report = app.usage_reports.show_refused(viewer, span, page.unwrap_or(LARGEST)).await?;
    Ok(Envelope::of(RefusedBody::new(&report, page, app.settings.time_zone.clone())))
}

/// Refused requests of everyone, of one user or of one token, by reason; the 100 largest numbers, or the page that is
/// asked for. Up to five seconds late.
#[utoipa::path(get, path = "/api/admin/usage/refused_requests", operation_id = "list_everyones_refused_requests",
    tag = "administration", params(SpanQuery, ReportUserQuery, PageQuery),
    responses((status = 200, body = Envelope<RefusedBody>)))]
pub async fn list(
    State(app): State<Arc<AppState>>,
    Admin(caller): Admin,
    Query(days): Query<SpanQuery>,
    Query(user): Query<ReportUserQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Envelope<RefusedBody>, Fails<(InvalidRange, RangeTooLarge, ReportQueueFull, NotFound)>> {
    let (span, page) = (days.span(app.usage_reports.today(None))?, page.read_if_given(app.settings.first_page)?);
    let viewer = Viewer::Admin(caller.user.id, user.scope(days.token()?)?);
    let report = app.usage_reports.show_refused(viewer, span, page.unwrap_or(LARGEST)).await?;
    Ok(Envelope::of(RefusedBody::new(&report, page, app.settings.time_zone.clone())))
}
