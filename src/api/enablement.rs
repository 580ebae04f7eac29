//! Enablement for the token API (spec §1, §5.3).

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::auth::{Admin, SignedIn};
use super::envelope::Envelope;
use super::extract::{Id, Json, Query};
use super::page::{PageBody, PageQuery};
use super::state::AppState;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::code::codes::{
    AlreadyDecided, ForeignAccount, InvalidDecision, InvalidState, InvalidText, MissingField, NotFound, RoleTooLow,
    TokenApiEnabled, TokenApiRequested,
};
use crate::api::errors::codes_of;
use crate::api::errors::fails::Fails;
use crate::api::errors::failure::ApiError;
use crate::domain::enablement::{Decision, EnablementRequest, EnablementState};
use crate::domain::id::EnablementRequestId;
use crate::domain::text;
use crate::domain::time::UnixTime;
use crate::service::enablement::EnablementError;

/// A request to be enabled.
#[derive(Debug, Deserialize, ToSchema)]
pub struct ApiRequestRequest {
    /// Why you ask.
    #[schema(required)]
    reason: Option<String>,
    /// The account to enable. Default, and only allowed value: your own username.
    account: Option<String>,
}

/// Which requests to list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StateQuery {
    /// `pending`, `approved` or `refused`. Default: all.
    state: Option<String>,
}

impl StateQuery {
    fn read(&self) -> Result<Option<EnablementState>, ApiError> {
        match self.state.as_deref() {
            None | Some("") => Ok(None),
            Some(name) => match EnablementState::parse(name) {
                Some(state) => Ok(Some(state)),
                None => {
                    Err(ApiError::new(ErrorCode::InvalidState, "`state` must be `pending`, `approved` or `refused`"))
                }
            },
        }
    }
}

/// The decision about a request.
#[derive(Debug, Deserialize, ToSchema)]
pub struct DecisionBody {
    /// `approve` or `refuse`.
    #[schema(required)]
    decision: Option<String>,
    /// Shown to the user.
    note: Option<String>,
}

/// An enablement request.
#[derive(Debug, Serialize, ToSchema)]
pub struct ApiRequestBody {
    /// Request ID.
    id: i64,
    /// The account to enable.
    user_id: i64,
    /// The username of that account.
    username: String,
    /// Why the user asks.
    reason: String,
    /// `pending`, `approved` or `refused`.
    state: &'static str,
    /// Unix timestamp.
    created_time: i64,
    /// Unix timestamp; null while it is pending.
    decided_time: Option<i64>,
    /// The username of the administrator who decided; null while it is pending.
    decided_by_name: Option<String>,
    /// The administrator's note to the user.
    note: String,
}

impl From<EnablementRequest> for ApiRequestBody {
    fn from(request: EnablementRequest) -> Self {
        Self {
            id: request.id.get(),
            user_id: request.user_id.get(),
            username: request.username,
            reason: request.reason,
            state: request.state.as_str(),
            created_time: request.created_time.get(),
            decided_time: request.decided_time.map(UnixTime::get),
            decided_by_name: request.decided_by_name,
            note: request.note,
        }
    }
}

/// The enablement of your account.
#[derive(Debug, Serialize, ToSchema)]
pub struct EnablementBody {
    /// True if you may use the token API.
    enabled: bool,
    /// `none`, `pending`, `approved` or `refused`.
    state: &'static str,
    /// Your latest request; null if there is none.
    request: Option<ApiRequestBody>,
    /// Where else to ask.
    contact: String,
}

/// Request that your account be enabled for the token API (spec §1).
#[utoipa::path(post, path = "/api/user/token_api_request", operation_id = "request_token_api", tag = "accounts",
    request_body = ApiRequestRequest, responses((status = 200, body = Envelope<ApiRequestBody>)))]
pub async fn request(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    Json(body): Json<ApiRequestRequest>,
) -> Result<
    Envelope<ApiRequestBody>,
    Fails<(InvalidText, MissingField, ForeignAccount, TokenApiEnabled, TokenApiRequested, NotFound)>,
> {
    let reason = text::required("reason", text::multiline("reason", body.reason.as_deref().unwrap_or_default())?)?;
    let request = app.enablement.request(&caller, &reason, body.account.as_deref()).await?;
    Ok(Envelope::of(request.into()))
}

/// The enablement of your account.
#[utoipa::path(get, path = "/api/user/token_api_request", operation_id = "token_api_request", tag = "accounts",
    responses((status = 200, body = Envelope<EnablementBody>)))]
pub async fn show(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
) -> Result<Envelope<EnablementBody>, Fails> {
    let (enabled, request) = app.enablement.show(&caller).await?;
    let state = request.as_ref().map_or("none", |request| request.state.as_str());
    let contact = app.account_rules.contact.clone();
    Ok(Envelope::of(EnablementBody { enabled, state, request: request.map(Into::into), contact }))
}

/// Enablement requests, newest first.
#[utoipa::path(get, path = "/api/admin/token_api_requests", operation_id = "list_requests", tag = "administration",
    params(StateQuery, PageQuery), responses((status = 200, body = Envelope<PageBody<ApiRequestBody>>)))]
pub async fn list(
    State(app): State<Arc<AppState>>,
    _: Admin,
    Query(query): Query<StateQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Envelope<PageBody<ApiRequestBody>>, Fails<InvalidState>> {
    let page = app.enablement.list(query.read()?, page.read(app.settings.first_page)?).await?;
    Ok(Envelope::of(page.map(ApiRequestBody::from).into()))
}

/// Decide an enablement request (spec §1).
#[utoipa::path(post, path = "/api/admin/token_api_requests/{id}", operation_id = "decide", tag = "administration",
    params(("id" = i64, Path)), request_body = DecisionBody,
    responses((status = 200, body = Envelope<ApiRequestBody>)))]
pub async fn decide(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Id(id): Id,
    Json(body): Json<DecisionBody>,
) -> Result<Envelope<ApiRequestBody>, Fails<(InvalidDecision, InvalidText, AlreadyDecided, RoleTooLow, NotFound)>> {
    let decision = match body.decision.as_deref() {
        Some("approve") => Decision::Approve,
        Some("refuse") => Decision::Refuse,
        _ => return Err(ApiError::new(ErrorCode::InvalidDecision, "`decision` must be `approve` or `refuse`").into()),
    };
    let note = text::multiline("note", body.note.as_deref().unwrap_or_default())?;
    let request = app.enablement.decide(&admin, EnablementRequestId::new(id), decision, &note).await?;
    Ok(Envelope::of(request.into()))
}

codes_of! {
    EnablementError {
        NotFound => NotFound,
        AccountDeleted => NotFound,
        AlreadyEnabled => TokenApiEnabled,
        AlreadyRequested => TokenApiRequested,
        ForeignAccount => ForeignAccount,
        AlreadyDecided => AlreadyDecided,
        .. Actor, Storage
    }
}
