//! Administration on the wire.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::accounts::{ApiRequestBody, UserBody};
use super::auth::Admin;
use super::envelope::{Done, Envelope, NoStore};
use super::errors::ApiError;
use super::extract::{Id, Ids, Json, Query};
use super::page::{PageBody, PageQuery};
use super::state::AppState;
use super::tokens::{SwitchBody, TokenBody};
use crate::domain::audit::{AuditFilter, AuditLine};
use crate::domain::id::{EnablementRequestId, GatewayCredentialId, GatewayId, TokenId, UserId};
use crate::domain::money::Quota;
use crate::domain::search::SearchPattern;
use crate::domain::time::UnixTime;
use crate::domain::user::{self, EnablementState, NewPassword, Role, UserStatus, Username};
use crate::service::admin::{Admission, Grant, UserPatch};
use crate::storage::gateways::CredentialRow;
use crate::storage::gateways::GatewayRow;

/// What to look for.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct KeywordQuery {
    /// A part of a name; at least 2 characters beside at most 2 `%`.
    keyword: Option<String>,
}

impl KeywordQuery {
    fn read(&self) -> Result<Option<SearchPattern>, ApiError> {
        Ok(SearchPattern::of_name(self.keyword.as_deref().unwrap_or_default())?)
    }
}

/// A new account.
#[derive(Deserialize, ToSchema)]
pub struct NewUserBody {
    /// 1 to 50 characters without white space: letters and digits of one script, and ASCII signs.
    #[schema(required)]
    username: Option<String>,
    /// 8 to 128 characters.
    #[schema(required, value_type = String)]
    password: Option<SecretString>,
    /// The username unless said.
    display_name: Option<String>,
    /// Optional.
    email: Option<String>,
    /// 1 user (unless said), 10 administrator, 100 root.
    role: Option<i64>,
    /// One of the configured groups.
    group: Option<String>,
    /// The wallet to begin with, quota units.
    quota: Option<i64>,
    /// Enabled for the token API from the start.
    token_api_enabled: Option<bool>,
    /// Its own limit of tokens; -1 for the general one.
    max_tokens: Option<i64>,
}

/// What to change about an account; absent stays as it is.
#[derive(Deserialize, ToSchema)]
pub struct UserPatchBody {
    /// At most 100 characters.
    display_name: Option<String>,
    /// An e-mail address, or empty.
    email: Option<String>,
    /// 1 enables, 2 disables.
    status: Option<i64>,
    /// 1 user, 10 administrator, 100 root.
    role: Option<i64>,
    /// One of the configured groups.
    group: Option<String>,
    /// Enabled for the token API or not.
    token_api_enabled: Option<bool>,
    /// Its own limit of tokens; -1 for the general one.
    max_tokens: Option<i64>,
    /// A new password: 8 to 128 characters. Ends all its sessions.
    #[schema(value_type = Option<String>)]
    password: Option<SecretString>,
}

/// A change of a wallet: one of the two.
#[derive(Debug, Deserialize, ToSchema)]
pub struct GrantBody {
    /// Quota units to add; negative to take.
    delta: Option<i64>,
    /// Quota units to hold from now on.
    set: Option<i64>,
}

/// Which requests.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct StateQuery {
    /// `pending`, `approved` or `refused`; all unless said.
    state: Option<String>,
}

/// The answer to a request.
#[derive(Debug, Deserialize, ToSchema)]
pub struct DecisionBody {
    /// `approve` or `refuse`.
    #[schema(required)]
    decision: Option<String>,
    /// Shown to the user.
    note: Option<String>,
}

/// Whose tokens.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct OwnerQuery {
    /// Only this user's.
    user_id: Option<String>,
}

/// A new gateway.
#[derive(Debug, Deserialize, ToSchema)]
pub struct NewGatewayBody {
    /// Which machine it is for.
    #[schema(required)]
    name: Option<String>,
}

/// A gateway: request ids and reservations belong to it, whichever of its credentials is sent.
#[derive(Debug, Serialize, ToSchema)]
pub struct GatewayBody {
    /// Its number. It stays, and no other gateway ever gets it.
    id: i64,
    /// Which machine it is for.
    name: String,
    /// Unix timestamp.
    created_time: i64,
    /// Who made it; `null` from the command line.
    created_by: Option<i64>,
    /// What it is recognised by, newest first; without the secrets.
    credentials: Vec<CredentialBody>,
    /// Its first credential itself: only in the answer that makes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    credential: Option<String>,
}

impl From<(GatewayRow, Vec<CredentialRow>)> for GatewayBody {
    fn from((row, credentials): (GatewayRow, Vec<CredentialRow>)) -> Self {
        Self {
            id: row.id.get(),
            name: row.name,
            created_time: row.created_time.get(),
            created_by: row.created_by.map(UserId::get),
            credentials: credentials.into_iter().map(CredentialBody::from).collect(),
            credential: None,
        }
    }
}

/// A gateway's credential.
#[derive(Debug, Serialize, ToSchema)]
pub struct CredentialBody {
    /// Its number.
    id: i64,
    /// Its last 4 characters; empty if it was made before they were kept.
    hint: String,
    /// Unix timestamp.
    created_time: i64,
    /// Who made it; `null` from the command line.
    created_by: Option<i64>,
    /// Unix timestamp of its last use, at most about a minute behind; `null` if never.
    last_used_time: Option<i64>,
    /// The credential itself: only in the answer that makes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    credential: Option<String>,
}

impl From<CredentialRow> for CredentialBody {
    fn from(row: CredentialRow) -> Self {
        Self {
            id: row.id.get(),
            hint: row.hint,
            created_time: row.created_time.get(),
            created_by: row.created_by.map(UserId::get),
            last_used_time: row.last_used_time.map(UnixTime::get),
            credential: None,
        }
    }
}

/// Which lines of the audit log.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AuditQuery {
    /// Done by this user.
    actor_id: Option<String>,
    /// Such as `token.deleted`.
    action: Option<String>,
    /// `token`, `user`, `access_token`, `gateway` or `token_api_request`.
    subject_kind: Option<String>,
    /// Done to this one.
    subject_id: Option<String>,
    /// Belonging to this user.
    user_id: Option<String>,
}

/// A line of the audit log.
#[derive(Debug, Serialize, ToSchema)]
pub struct AuditBody {
    /// Its number.
    id: i64,
    /// Unix timestamp.
    at: i64,
    /// Who; absent where nobody was signed in.
    actor_id: Option<i64>,
    /// Who, by the name of then.
    actor_name: String,
    /// What.
    action: String,
    /// To what kind of thing.
    subject_kind: String,
    /// To which one.
    subject_id: Option<i64>,
    /// The account it belongs to.
    user_id: Option<i64>,
    /// From where.
    ip: String,
    /// In which request.
    request_id: String,
    /// Facts beside the action.
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

/// All accounts, or those of which some name fits; newest first.
#[utoipa::path(get, path = "/api/admin/users", tag = "administration", params(KeywordQuery, PageQuery),
    responses((status = 200, body = Envelope<PageBody<UserBody>>)))]
pub async fn list_users(
    State(app): State<Arc<AppState>>,
    _: Admin,
    Query(query): Query<KeywordQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Envelope<PageBody<UserBody>>, ApiError> {
    let page = app.admin.list_users(query.read()?, page.read()?).await?;
    Ok(Envelope::of(page.map(|user| UserBody::new(user, app.accounts.rules())).into()))
}

/// Make an account.
#[utoipa::path(post, path = "/api/admin/users", tag = "administration", request_body = NewUserBody,
    responses((status = 200, body = Envelope<UserBody>)))]
pub async fn create_user(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Json(body): Json<NewUserBody>,
) -> Result<Envelope<UserBody>, ApiError> {
    let username = Username::parse(body.username.as_deref().unwrap_or_default())?;
    let display_name = body.display_name.as_deref().unwrap_or(username.as_str());
    let new = Admission {
        password: NewPassword::parse(body.password.as_ref().map_or("", |secret| secret.expose_secret()))?,
        display_name: user::label("display_name", display_name)?,
        email: user::email(body.email.as_deref().unwrap_or_default())?,
        role: body.role.map(role).transpose()?.unwrap_or(Role::User),
        group: body.group,
        quota: body.quota.map(wallet).transpose()?,
        token_api_enabled: body.token_api_enabled.unwrap_or(false),
        max_tokens: body.max_tokens,
        username,
    };
    let user = app.admin.create_user(&admin, new).await?;
    Ok(Envelope::of(UserBody::new(user, app.accounts.rules())))
}

/// Change an account.
#[utoipa::path(patch, path = "/api/admin/users/{id}", tag = "administration", params(("id" = i64, Path)),
    request_body = UserPatchBody, responses((status = 200, body = Envelope<UserBody>)))]
pub async fn edit_user(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Id(id): Id,
    Json(body): Json<UserPatchBody>,
) -> Result<Envelope<UserBody>, ApiError> {
    let patch = UserPatch {
        display_name: body.display_name.as_deref().map(|text| user::label("display_name", text)).transpose()?,
        email: body.email.as_deref().map(user::email).transpose()?,
        status: body.status.map(status).transpose()?,
        role: body.role.map(role).transpose()?,
        group: body.group,
        token_api_enabled: body.token_api_enabled,
        max_tokens: body.max_tokens,
        password: body.password.map(|secret| NewPassword::parse(secret.expose_secret())).transpose()?,
    };
    let user = app.admin.edit_user(&admin, UserId::new(id), patch).await?;
    Ok(Envelope::of(UserBody::new(user, app.accounts.rules())))
}

/// Delete an account with its tokens, softly; all its credentials end.
#[utoipa::path(delete, path = "/api/admin/users/{id}", tag = "administration", params(("id" = i64, Path)),
    responses((status = 200, body = Done)))]
pub async fn delete_user(State(app): State<Arc<AppState>>, Admin(admin): Admin, Id(id): Id) -> Result<Done, ApiError> {
    app.admin.delete_user(&admin, UserId::new(id)).await?;
    Ok(Done::default())
}

/// Top a wallet up, or set it.
#[utoipa::path(post, path = "/api/admin/users/{id}/quota", tag = "administration", params(("id" = i64, Path)),
    request_body = GrantBody, responses((status = 200, body = Envelope<UserBody>)))]
pub async fn grant(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Id(id): Id,
    Json(body): Json<GrantBody>,
) -> Result<Envelope<UserBody>, ApiError> {
    let grant = match (body.delta, body.set) {
        (Some(delta), None) => Grant::By(delta),
        (None, Some(units)) => Grant::To(units),
        _ => return Err(ApiError::bad("invalid_quota", "send either `delta` or `set`, in quota units")),
    };
    let user = app.admin.grant(&admin, UserId::new(id), grant).await?;
    Ok(Envelope::of(UserBody::new(user, app.accounts.rules())))
}

/// Requests for enablement, newest first.
#[utoipa::path(get, path = "/api/admin/token_api_requests", tag = "administration", params(StateQuery, PageQuery),
    responses((status = 200, body = Envelope<PageBody<ApiRequestBody>>)))]
pub async fn list_requests(
    State(app): State<Arc<AppState>>,
    _: Admin,
    Query(query): Query<StateQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Envelope<PageBody<ApiRequestBody>>, ApiError> {
    let state = match query.state.as_deref() {
        None | Some("") => None,
        Some(word) => Some(
            EnablementState::parse(word)
                .ok_or_else(|| ApiError::bad("invalid_state", "`state` must be `pending`, `approved` or `refused`"))?,
        ),
    };
    let page = app.admin.list_requests(state, page.read()?).await?;
    Ok(Envelope::of(page.map(ApiRequestBody::from).into()))
}

/// Answer a request for enablement (spec §1).
#[utoipa::path(post, path = "/api/admin/token_api_requests/{id}", tag = "administration",
    params(("id" = i64, Path)), request_body = DecisionBody,
    responses((status = 200, body = Envelope<ApiRequestBody>)))]
pub async fn decide(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Id(id): Id,
    Json(body): Json<DecisionBody>,
) -> Result<Envelope<ApiRequestBody>, ApiError> {
    let approve = match body.decision.as_deref() {
        Some("approve") => true,
        Some("refuse") => false,
        _ => return Err(ApiError::bad("invalid_decision", "`decision` must be `approve` or `refuse`")),
    };
    let note = user::prose("note", body.note.as_deref().unwrap_or_default())?;
    let request = app.admin.decide(&admin, EnablementRequestId::new(id), approve, &note).await?;
    Ok(Envelope::of(request.into()))
}

/// Everybody's tokens without their keys, newest first.
#[utoipa::path(get, path = "/api/admin/tokens", tag = "administration",
    params(KeywordQuery, OwnerQuery, PageQuery),
    responses((status = 200, body = Envelope<PageBody<TokenBody>>)))]
pub async fn list_tokens(
    State(app): State<Arc<AppState>>,
    _: Admin,
    Query(query): Query<KeywordQuery>,
    Query(owner): Query<OwnerQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Envelope<PageBody<TokenBody>>, ApiError> {
    let owner = number("user_id", owner.user_id.as_deref())?.map(UserId::new);
    let page = app.tokens.list_everyones(owner, query.read()?, page.read()?).await?;
    let now = app.clock.now();
    Ok(Envelope::of(page.map(|token| TokenBody::new(&token, now, &app)).into()))
}

/// Switch anybody's token off or on.
#[utoipa::path(post, path = "/api/admin/tokens/{id}/status", tag = "administration", params(("id" = i64, Path)),
    request_body = SwitchBody, responses((status = 200, body = Envelope<TokenBody>)))]
pub async fn switch_token(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Id(id): Id,
    Json(body): Json<SwitchBody>,
) -> Result<Envelope<TokenBody>, ApiError> {
    let token = app.tokens.switch_anyones(&admin, TokenId::new(id), body.switch()?).await?;
    Ok(Envelope::of(TokenBody::new(&token, app.clock.now(), &app)))
}

/// Gateways with their credentials, without the secrets; newest first.
#[utoipa::path(get, path = "/api/admin/gateways", tag = "administration",
    responses((status = 200, body = Envelope<Vec<GatewayBody>>)))]
pub async fn list_gateways(State(app): State<Arc<AppState>>, _: Admin) -> Result<Envelope<Vec<GatewayBody>>, ApiError> {
    let rows = app.admin.list_gateways().await?;
    Ok(Envelope::of(rows.into_iter().map(GatewayBody::from).collect()))
}

/// Make a gateway with its first credential; `credential` is shown this once.
#[utoipa::path(post, path = "/api/admin/gateways", tag = "administration", request_body = NewGatewayBody,
    responses((status = 200, body = Envelope<GatewayBody>)))]
pub async fn create_gateway(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Json(body): Json<NewGatewayBody>,
) -> Result<NoStore<Envelope<GatewayBody>>, ApiError> {
    let name = user::label("name", body.name.as_deref().unwrap_or_default())?;
    let (row, credential) = app.admin.create_gateway(&admin, &name).await?;
    Ok(NoStore(Envelope::of(GatewayBody {
        id: row.gateway_id.get(),
        name,
        created_time: row.created_time.get(),
        created_by: row.created_by.map(UserId::get),
        credentials: vec![row.into()],
        credential: Some(credential.expose().to_owned()),
    })))
}

/// Revoke a gateway with all its credentials. What it charged stays; its open reservations expire by themselves.
#[utoipa::path(delete, path = "/api/admin/gateways/{id}", tag = "administration", params(("id" = i64, Path)),
    responses((status = 200, body = Done)))]
pub async fn revoke_gateway(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Id(id): Id,
) -> Result<Done, ApiError> {
    app.admin.revoke_gateway(&admin, GatewayId::new(id)).await?;
    Ok(Done::default())
}

/// Make one more credential of a gateway, 10 at most; `credential` is shown this once.
#[utoipa::path(post, path = "/api/admin/gateways/{id}/credentials", tag = "administration",
    params(("id" = i64, Path)), responses((status = 200, body = Envelope<CredentialBody>)))]
pub async fn create_credential(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Id(id): Id,
) -> Result<NoStore<Envelope<CredentialBody>>, ApiError> {
    let (row, credential) = app.admin.create_credential(&admin, GatewayId::new(id)).await?;
    let credential = Some(credential.expose().to_owned());
    Ok(NoStore(Envelope::of(CredentialBody { credential, ..row.into() })))
}

/// Revoke a credential of a gateway; its others go on.
#[utoipa::path(delete, path = "/api/admin/gateways/{id}/credentials/{cid}", tag = "administration",
    params(("id" = i64, Path), ("cid" = i64, Path)), responses((status = 200, body = Done)))]
pub async fn revoke_credential(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Ids(id, cid): Ids,
) -> Result<Done, ApiError> {
    app.admin.revoke_credential(&admin, GatewayId::new(id), GatewayCredentialId::new(cid)).await?;
    Ok(Done::default())
}

/// Who did what to which thing, from where; newest first.
#[utoipa::path(get, path = "/api/admin/audit", tag = "administration", params(AuditQuery, PageQuery),
    responses((status = 200, body = Envelope<PageBody<AuditBody>>)))]
pub async fn list_audit(
    State(app): State<Arc<AppState>>,
    _: Admin,
    Query(query): Query<AuditQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Envelope<PageBody<AuditBody>>, ApiError> {
    let filter = AuditFilter {
        actor_id: number("actor_id", query.actor_id.as_deref())?.map(UserId::new),
        action: filter_text("action", query.action)?,
        subject_kind: filter_text("subject_kind", query.subject_kind)?,
        subject_id: number("subject_id", query.subject_id.as_deref())?,
        user_id: number("user_id", query.user_id.as_deref())?.map(UserId::new),
    };
    let page = app.admin.list_audit(&filter, page.read()?).await?;
    Ok(Envelope::of(page.map(AuditBody::from).into()))
}

fn role(code: i64) -> Result<Role, ApiError> {
    Role::from_code(code).ok_or_else(|| ApiError::bad("invalid_role", "`role` must be 1, 10 or 100"))
}

fn status(code: i64) -> Result<UserStatus, ApiError> {
    UserStatus::from_code(code)
        .ok_or_else(|| ApiError::bad("invalid_status", "`status` must be 1 (enable) or 2 (disable)"))
}

fn wallet(units: i64) -> Result<Quota, ApiError> {
    Quota::grant(units).map_err(|invalid| ApiError::bad("invalid_quota", format!("`quota` {invalid}")))
}

fn number(name: &str, text: Option<&str>) -> Result<Option<i64>, ApiError> {
    match text {
        None | Some("") => Ok(None),
        Some(digits) => match digits.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(ApiError::bad("invalid_query", format!("`{name}` must be a whole number"))),
        },
    }
}

fn filter_text(name: &str, text: Option<String>) -> Result<Option<String>, ApiError> {
    match text.filter(|text| !text.is_empty()) {
        Some(text) if text.chars().any(char::is_control) => {
            Err(ApiError::bad("invalid_query", format!("`{name}` contains control characters")))
        }
        text => Ok(text),
    }
}
