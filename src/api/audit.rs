//! The audit log, for administrators.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::auth::Admin;
use super::csv::{Format, cells, csv};
use super::envelope::Envelope;
use super::extract::{Query, query_number, query_text};
use super::page::{PageBody, PageQuery};
use super::state::AppState;
use crate::api::errors::code::codes::{InvalidFilter, InvalidRange, RangeTooLarge};
use crate::api::errors::codes_of;
use crate::api::errors::fails::Fails;
use crate::api::errors::failure::ApiError;
use crate::domain::audit::{AuditFilter, AuditLine};
use crate::domain::audit_changes::FieldChange;
use crate::domain::calendar::Period;
use crate::domain::date_range::DateRange;
use crate::domain::id::UserId;
use crate::domain::time::UnixTime;
use crate::service::audit::AuditError;
use crate::service::report_queue::ReportQueueFull;

/// Which entries to list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// Only actions of this user.
    actor_id: Option<String>,
    /// Only this action, such as `token.deleted`.
    action: Option<String>,
    /// Only this kind of resource: `token`, `user`, `access_token`, `gateway` or `token_api_request`.
    subject_kind: Option<String>,
    /// Only resources with this id.
    subject_id: Option<String>,
    /// Only resources of this user.
    user_id: Option<String>,
}

impl AuditQuery {
    fn read(self, days: &DaysQuery, app: &AppState) -> Result<AuditFilter, ApiError> {
        let (since, before) = days.read(app)?;
        Ok(AuditFilter {
            actor_id: query_number("actor_id", self.actor_id.as_deref())?.map(UserId::new),
            action: query_text("action", self.action)?,
            subject_kind: query_text("subject_kind", self.subject_kind)?,
            subject_id: query_number("subject_id", self.subject_id.as_deref())?,
            user_id: query_number("user_id", self.user_id.as_deref())?.map(UserId::new),
            since,
            before,
        })
    }
}

/// Of which days. Days are those of `usage.time_zone`.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DaysQuery {
    /// First day, YYYY-MM-DD. Default: all before `to`.
    from: Option<String>,
    /// Last day, YYYY-MM-DD, included. Default: all after `from`.
    to: Option<String>,
}

impl DaysQuery {
    /// The first moment of the days, and the first moment after them.
    pub fn read(&self, app: &AppState) -> Result<(Option<UnixTime>, Option<UnixTime>), ApiError> {
        let range = DateRange::parse(self.from.as_deref(), self.to.as_deref())?;
        let calendar = app.ledger.now().calendar;
        Ok((range.from.map(|day| calendar.start(day)), range.to.map(|day| calendar.end(Period::Day, day))))
    }
}

/// How to answer.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct FormatQuery {
    /// `json` (default), or `csv` for all matching entries, 10,000 at most.
    format: Option<String>,
}

/// An entry of the audit log.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuditBody {
    /// Entry ID; ascending in time.
    id: i64,
    /// Unix timestamp.
    at: i64,
    /// The user who did it; null without a signed-in user.
    actor_id: Option<i64>,
    /// The username at that time; empty without a signed-in user.
    actor_name: String,
    /// What was done, such as `token.deleted`.
    action: String,
    /// The kind of resource.
    subject_kind: String,
    /// The id of the resource.
    subject_id: Option<i64>,
    /// The present name of the resource; null if there is none any more.
    subject_name: Option<String>,
    /// The account that the resource belongs to.
    user_id: Option<i64>,
    /// The username of that account.
    user_name: Option<String>,
    /// The client's address; empty if it is not known.
    ip: String,
    /// The `X-Request-Id`.
    request_id: String,
    /// Facts about the action, by name.
    details: BTreeMap<String, String>,
    /// What an edit changed. Other actions, and edits of older versions, have none.
    changes: Vec<FieldChangeBody>,
}

/// What an edit did to one field.
#[derive(Debug, Serialize, ToSchema)]
pub struct FieldChangeBody {
    /// The name of the field; a limit with its group before it, as in `period_limits.day`.
    field: String,
    /// The value before, as text; null if there was none, for lists, and for secrets. A long text is cut and ends in
    /// `…`.
    old: Option<String>,
    /// The value after, in the same way.
    new: Option<String>,
    /// Entries that a list has gained.
    added: Vec<String>,
    /// Entries that it has lost.
    removed: Vec<String>,
    /// How many more it has gained or lost; the log has no room for them.
    left_out: usize,
}

impl From<FieldChange> for FieldChangeBody {
    fn from(change: FieldChange) -> Self {
        let FieldChange { field, old, new, added, removed, left_out } = change;
        Self { field, old, new, added, removed, left_out }
    }
}

impl From<AuditLine> for AuditBody {
    fn from(line: AuditLine) -> Self {
        Self {
            id: line.id.get(),
            at: line.at.get(),
            actor_id: line.actor_id.map(UserId::get),
            actor_name: line.actor_name,
            action: line.action,
            subject_kind: line.subject_kind,
            subject_id: line.subject_id,
            subject_name: line.subject_name,
            user_id: line.user_id,
            user_name: line.user_name,
            ip: line.ip,
            request_id: line.request_id,
            details: line.details,
            changes: line.changes.into_iter().map(FieldChangeBody::from).collect(),
        }
    }
}

/// Who did what to which resource, and from where; newest first.
#[utoipa::path(get, path = "/api/admin/audit", operation_id = "list_audit", tag = "administration",
    params(AuditQuery, DaysQuery, FormatQuery, PageQuery),
    responses((status = 200, content(
        (Envelope<PageBody<AuditBody>> = "application/json"),
        (String = "text/csv"),
    ))))]
pub async fn list(
    State(app): State<Arc<AppState>>,
    Admin(caller): Admin,
    Query(query): Query<AuditQuery>,
    Query(days): Query<DaysQuery>,
    Query(format): Query<FormatQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Response, Fails<(InvalidRange, InvalidFilter, RangeTooLarge, ReportQueueFull)>> {
    let (filter, page) = (query.read(&days, &app)?, page.read(app.settings.first_page)?);
    match Format::parse(format.format.as_deref())? {
        Format::Json => {
            let page = app.audit.list(&filter, page).await?;
            Ok(Envelope::<PageBody<AuditBody>>::of(page.map(AuditBody::from).into()).into_response())
        }
        Format::Csv { bom } => Ok(csv_of(app.audit.export(&caller, filter).await?, bom)),
    }
}

fn csv_of(lines: Vec<AuditLine>, bom: bool) -> Response {
    let columns = "id,at,actor_id,actor_name,action,subject_kind,subject_id,subject_name,user_id,user_name,ip,\
        request_id,details";
    let rows = lines.into_iter().map(move |line| {
        // Without the empty members that the body has. Lists of texts can always be written.
        let changes = serde_json::to_string(&line.changes).unwrap_or_default();
        let mut row = cells(columns, &AuditBody::from(line));
        row.push(changes);
        row
    });
    csv("audit.csv", &format!("{columns},changes"), rows, bom)
}

codes_of! {
    AuditError {
        TooMany => RangeTooLarge,
        .. Refused, Storage
    }
}
