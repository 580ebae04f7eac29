//! A user's own activity: what the audit log has about their account and keys (spec §13.5).

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::audit::{DaysQuery, FieldChangeBody};
use super::auth::SignedIn;
use super::envelope::Envelope;
use super::extract::{Query, query_number, query_text};
use super::page::{PageBody, PageQuery};
use super::state::AppState;
use crate::api::errors::code::codes::InvalidRange;
use crate::api::errors::fails::Fails;
use crate::domain::audit::{AuditFilter, AuditLine};
use crate::domain::id::UserId;

/// Which entries to list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ActivityQuery {
    /// Only this action, such as `token.deleted`.
    action: Option<String>,
    /// Only this kind of resource: `token`, `user`, `access_token` or `token_api_request`.
    subject_kind: Option<String>,
    /// Only resources with this id.
    subject_id: Option<String>,
}

/// An entry of the audit log that concerns your account or your keys.
#[derive(Debug, Serialize, ToSchema)]
pub struct ActivityBody {
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
    /// Its present name; null if there is none any more.
    subject_name: Option<String>,
    /// The client's address; empty if it is not known, and if another user did it.
    ip: String,
    /// Facts about the action, by name.
    details: BTreeMap<String, String>,
    /// What an edit changed. Other actions, and edits of older versions, have none.
    changes: Vec<FieldChangeBody>,
}

impl From<AuditLine> for ActivityBody {
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
            ip: line.ip,
            details: line.details,
            changes: line.changes.into_iter().map(FieldChangeBody::from).collect(),
        }
    }
}

/// What happened to your account and your keys, newest first.
#[utoipa::path(get, path = "/api/user/activity", operation_id = "list_activity", tag = "accounts",
    params(ActivityQuery, DaysQuery, PageQuery), responses((status = 200, body = Envelope<PageBody<ActivityBody>>)))]
pub async fn list(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    Query(query): Query<ActivityQuery>,
    Query(days): Query<DaysQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Envelope<PageBody<ActivityBody>>, Fails<InvalidRange>> {
    let (since, before) = days.read(&app)?;
    let filter = AuditFilter {
        action: query_text("action", query.action)?,
        subject_kind: query_text("subject_kind", query.subject_kind)?,
        subject_id: query_number("subject_id", query.subject_id.as_deref())?,
        since,
        before,
        ..AuditFilter::default()
    };
    let page = app.audit.list_own(&caller, filter, page.read(app.settings.first_page)?).await?;
    Ok(Envelope::of(page.map(ActivityBody::from).into()))
}
