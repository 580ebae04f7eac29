//! The audit log, for administrators.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::api_error::ApiError;
use super::auth::Admin;
use super::envelope::Envelope;
use super::error_code::ErrorCode;
use super::extract::{Query, query_number};
use super::page::{PageBody, PageQuery};
use super::state::AppState;
use crate::domain::audit::{AuditFilter, AuditLine};
use crate::domain::id::UserId;

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

impl TryFrom<AuditQuery> for AuditFilter {
    type Error = ApiError;

    fn try_from(query: AuditQuery) -> Result<Self, ApiError> {
        Ok(Self {
            actor_id: query_number("actor_id", query.actor_id.as_deref())?.map(UserId::new),
            action: without_control_characters("action", query.action)?,
            subject_kind: without_control_characters("subject_kind", query.subject_kind)?,
            subject_id: query_number("subject_id", query.subject_id.as_deref())?,
            user_id: query_number("user_id", query.user_id.as_deref())?.map(UserId::new),
        })
    }
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
    /// The account that the resource belongs to.
    user_id: Option<i64>,
    /// The client's address; empty if it is not known.
    ip: String,
    /// The `X-Request-Id`.
    request_id: String,
    /// Facts about the action, by name.
    details: BTreeMap<String, String>,
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
            user_id: line.user_id,
            ip: line.ip,
            request_id: line.request_id,
            details: line.details,
        }
    }
}

/// Who did what to which resource, and from where; newest first.
#[utoipa::path(get, path = "/api/admin/audit", operation_id = "list_audit", tag = "administration",
    params(AuditQuery, PageQuery), responses((status = 200, body = Envelope<PageBody<AuditBody>>)))]
pub async fn list(
    State(app): State<Arc<AppState>>,
    _: Admin,
    Query(query): Query<AuditQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Envelope<PageBody<AuditBody>>, ApiError> {
    let page = app.audit.list(&query.try_into()?, page.read()?).await?;
    Ok(Envelope::of(page.map(AuditBody::from).into()))
}

/// PostgreSQL refuses NUL, and no name in the log has control characters.
fn without_control_characters(name: &str, text: Option<String>) -> Result<Option<String>, ApiError> {
    match text.filter(|text| !text.is_empty()) {
        Some(text) if text.chars().any(char::is_control) => {
            Err(ApiError::new(ErrorCode::InvalidQuery, format!("`{name}` contains control characters")))
        }
        text => Ok(text),
    }
}
