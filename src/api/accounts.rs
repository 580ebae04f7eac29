//! Accounts on the wire: sign-in, the own account, access tokens, asking for enablement.

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};
use tower_sessions::Session;
use utoipa::ToSchema;

use super::auth::{NotForeign, SignedIn, end_session, may_end_session, refuse_foreign_navigation, start_session};
use super::envelope::{Done, Envelope, NoStore};
use super::errors::ApiError;
use super::extract::{Id, Json, OptionalJson, Visitor};
use super::state::AppState;
use crate::domain::id::AccessTokenId;
use crate::domain::time::{Lifetime, UnixTime};
use crate::domain::user::{self, AccountInvalid, NewPassword, Role, TypedPassword, User, Username};
use crate::service::accounts::{AccountRules, SelfPatch};
use crate::storage::access_tokens::AccessTokenRow;
use crate::storage::enablement::EnablementRequest;

/// An account.
#[derive(Debug, Serialize, ToSchema)]
pub struct UserBody {
    /// User ID.
    id: i64,
    /// What it signs in with.
    username: String,
    /// What others see.
    display_name: String,
    /// May be empty.
    email: String,
    /// 1 user, 10 administrator, 100 root.
    role: i16,
    /// 1 enabled, 2 disabled.
    status: i16,
    /// Who disabled it: `administrator` or `root`, the higher of those who did; absent unless it is disabled. What
    /// root disabled only root enables.
    #[serde(skip_serializing_if = "Option::is_none")]
    disabled_by: Option<&'static str>,
    /// The group of its tokens unless they name another.
    group: String,
    /// The wallet, quota units.
    quota: i64,
    /// Spent so far, quota units.
    used_quota: i64,
    /// Charges so far.
    request_count: i64,
    /// Whether the token API works for it.
    token_api_enabled: bool,
    /// Its own limit of tokens, if it differs from the general one.
    max_tokens: Option<i64>,
    /// Unix timestamp.
    created_time: i64,
}

impl UserBody {
    /// The account as the rules see it.
    #[must_use]
    pub fn new(user: User, rules: &AccountRules) -> Self {
        Self {
            id: user.id.get(),
            role: user.role.code(),
            status: user.status.code(),
            disabled_by: user.disabled_by.and_then(Role::disabler),
            quota: user.quota.get(),
            used_quota: user.used_quota.get(),
            request_count: user.request_count,
            token_api_enabled: user.may_use_token_api(rules.token_api_open),
            max_tokens: user.max_tokens,
            created_time: user.created_time.get(),
            username: user.username.as_str().to_owned(),
            display_name: user.display_name,
            email: user.email,
            group: user.group,
        }
    }
}

/// Who wants in.
#[derive(Deserialize, ToSchema)]
pub struct LoginBody {
    /// The username.
    #[schema(required)]
    username: Option<String>,
    /// The password.
    #[schema(required, value_type = String)]
    password: Option<SecretString>,
}

/// A new account by its owner.
#[derive(Deserialize, ToSchema)]
pub struct RegisterBody {
    /// 1 to 50 characters without white space: letters and digits of one script, and ASCII signs.
    #[schema(required)]
    username: Option<String>,
    /// 8 to 128 characters.
    #[schema(required, value_type = String)]
    password: Option<SecretString>,
    /// Optional.
    email: Option<String>,
}

/// What to change about the own account; absent stays as it is.
#[derive(Deserialize, ToSchema)]
pub struct SelfBody {
    /// At most 100 characters.
    display_name: Option<String>,
    /// An e-mail address, or empty.
    email: Option<String>,
    /// The new password: 8 to 128 characters. Ends all sessions.
    #[schema(value_type = Option<String>)]
    password: Option<SecretString>,
    /// The old password; needed together with a new one.
    #[schema(value_type = Option<String>)]
    original_password: Option<SecretString>,
    /// Another name of `original_password`.
    #[schema(value_type = Option<String>)]
    old_password: Option<SecretString>,
}

/// A new access token.
#[derive(Debug, Deserialize, ToSchema)]
pub struct AccessTokenRequest {
    /// What it is for.
    name: Option<String>,
    /// Unix timestamp in the future; 0 or -1 for never. With an access token: not after its own end, which also counts
    /// where this is absent. With a session, absent means never.
    expires_at: Option<i64>,
}

/// An access token as its owner sees it later.
#[derive(Debug, Serialize, ToSchema)]
pub struct AccessTokenBody {
    /// Its number.
    id: i64,
    /// What it is for.
    name: String,
    /// Unix timestamp.
    created_time: i64,
    /// Unix timestamp; -1 for never.
    expires_at: i64,
    /// The token itself: only in the answer that makes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

impl From<AccessTokenRow> for AccessTokenBody {
    fn from(row: AccessTokenRow) -> Self {
        Self {
            id: row.id.get(),
            name: row.name,
            created_time: row.created_time.get(),
            expires_at: Lifetime::from(row.expires_at).expired_time(),
            token: None,
        }
    }
}

/// Asking for enablement (spec §1).
#[derive(Debug, Deserialize, ToSchema)]
pub struct ApiRequestRequest {
    /// Why.
    #[schema(required)]
    reason: Option<String>,
    /// The account to be enabled: your own username, and that unless said.
    account: Option<String>,
}

/// A request for enablement.
#[derive(Debug, Serialize, ToSchema)]
pub struct ApiRequestBody {
    /// Its number.
    id: i64,
    /// The account to be enabled.
    user_id: i64,
    /// Its name.
    username: String,
    /// Why.
    reason: String,
    /// `pending`, `approved` or `refused`.
    state: &'static str,
    /// Unix timestamp.
    created_time: i64,
    /// Unix timestamp, once it is answered.
    decided_time: Option<i64>,
    /// What the administrator wrote.
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
            note: request.note,
        }
    }
}

/// How the own enablement stands.
#[derive(Debug, Serialize, ToSchema)]
pub struct EnablementBody {
    /// Whether the token API works now.
    enabled: bool,
    /// `none`, `pending`, `approved` or `refused`.
    state: &'static str,
    /// The newest request, if there was one.
    request: Option<ApiRequestBody>,
    /// Where to ask, beside here.
    contact: String,
}

/// A group to choose.
#[derive(Debug, Serialize, ToSchema)]
pub struct GroupBody {
    /// Shown to users.
    desc: String,
    /// The price factor, as a number.
    #[schema(value_type = f64)]
    ratio: Box<serde_json::value::RawValue>,
}

/// Sign in; the cookie `session` comes with the answer. Not from a page of another site.
#[utoipa::path(post, path = "/api/user/login", tag = "accounts", request_body = LoginBody,
    responses((status = 200, body = Envelope<UserBody>)))]
pub async fn login(
    State(app): State<Arc<AppState>>,
    _: NotForeign,
    Visitor(origin): Visitor,
    session: Session,
    Json(body): Json<LoginBody>,
) -> Result<Envelope<UserBody>, ApiError> {
    let username = Username::typed(body.username.as_deref().unwrap_or_default()).ok();
    let password = TypedPassword::new(exposed(body.password.as_ref()));
    // It may be large, and the line may be long.
    drop(body);
    let (user, proof) = app.accounts.sign_in(username.as_ref(), &password, &origin).await?;
    start_session(&session, &app, user.id).await?;
    if let Err(changed) = app.accounts.confirm_sign_in(user.id, &proof).await {
        end_session(&session).await?;
        return Err(changed.into());
    }
    Ok(Envelope::of(UserBody::new(user, app.accounts.rules())))
}

/// Sign out. Not from a page of another site.
#[utoipa::path(get, path = "/api/user/logout", tag = "accounts", responses((status = 200, body = Done)))]
pub async fn logout(_: NotForeign, session: Session) -> Result<Done, ApiError> {
    end_session(&session).await?;
    Ok(Done::default())
}

/// Sign out. Not from a page of another site.
#[utoipa::path(post, path = "/api/user/logout", tag = "accounts", responses((status = 200, body = Done)))]
pub async fn logout_by_post(
    State(app): State<Arc<AppState>>,
    not_foreign: NotForeign,
    session: Session,
    parts: http::request::Parts,
) -> Result<Done, ApiError> {
    may_end_session(&session, &parts, &app).await?;
    logout(not_foreign, session).await
}

/// Make yourself an account, where the operator allows it.
#[utoipa::path(post, path = "/api/user/register", tag = "accounts", request_body = RegisterBody,
    responses((status = 200, body = Done)))]
pub async fn register(
    State(app): State<Arc<AppState>>,
    _: NotForeign,
    Visitor(origin): Visitor,
    Json(body): Json<RegisterBody>,
) -> Result<Done, ApiError> {
    let username = Username::parse(body.username.as_deref().unwrap_or_default())?;
    let password = NewPassword::parse(exposed(body.password.as_ref()))?;
    let email = user::email(body.email.as_deref().unwrap_or_default())?;
    app.accounts.register(&username, &password, &email, &origin).await?;
    Ok(Done::default())
}

/// Your account.
#[utoipa::path(get, path = "/api/user/self", operation_id = "show_self", tag = "accounts",
    responses((status = 200, body = Envelope<UserBody>)))]
pub async fn show(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
) -> Result<Envelope<UserBody>, ApiError> {
    let user = app.accounts.show(&caller).await?;
    Ok(Envelope::of(UserBody::new(user, app.accounts.rules())))
}

/// Change your display name, e-mail address or password.
#[utoipa::path(put, path = "/api/user/self", tag = "accounts", request_body = SelfBody,
    responses((status = 200, body = Envelope<UserBody>)))]
pub async fn edit(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    Json(body): Json<SelfBody>,
) -> Result<Envelope<UserBody>, ApiError> {
    let old = TypedPassword::new(exposed(body.original_password.as_ref().or(body.old_password.as_ref())));
    let password = match body.password {
        Some(new) if !exposed(Some(&new)).is_empty() => Some((NewPassword::parse(exposed(Some(&new)))?, old)),
        Some(_) | None => None,
    };
    let patch = SelfPatch {
        display_name: body.display_name.as_deref().map(|text| user::label("display_name", text)).transpose()?,
        email: body.email.as_deref().map(user::email).transpose()?,
        password,
    };
    let user = app.accounts.edit(&caller, patch).await?;
    Ok(Envelope::of(UserBody::new(user, app.accounts.rules())))
}

/// Make one more access token; `data` is the token, shown this once. It never ends, or, made with an access token, ends
/// with that one.
#[utoipa::path(get, path = "/api/user/token", tag = "accounts", responses((status = 200, body = Envelope<String>)))]
pub async fn mint(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    parts: http::request::Parts,
) -> Result<NoStore<Envelope<String>>, ApiError> {
    refuse_foreign_navigation(&parts, &app)?;
    let (_, token, _) = app.accounts.mint_access_token(&caller, "made by GET /api/user/token", None).await?;
    Ok(NoStore(Envelope::of(token.expose().to_owned())))
}

/// Your access tokens, newest first.
#[utoipa::path(get, path = "/api/user/access_tokens", tag = "accounts",
    responses((status = 200, body = Envelope<Vec<AccessTokenBody>>)))]
pub async fn list_access_tokens(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
) -> Result<Envelope<Vec<AccessTokenBody>>, ApiError> {
    let rows = app.accounts.list_access_tokens(&caller).await?;
    Ok(Envelope::of(rows.into_iter().map(AccessTokenBody::from).collect()))
}

/// Make an access token; `token` is shown this once.
#[utoipa::path(post, path = "/api/user/access_tokens", tag = "accounts", request_body = AccessTokenRequest,
    responses((status = 200, body = Envelope<AccessTokenBody>)))]
pub async fn create_access_token(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    OptionalJson(body): OptionalJson<AccessTokenRequest>,
) -> Result<NoStore<Envelope<AccessTokenBody>>, ApiError> {
    let name = user::label("name", body.name.as_deref().unwrap_or_default())?;
    if name.is_empty() {
        return Err(AccountInvalid::Missing("name").into());
    }
    let asked = body.expires_at.map(Lifetime::from_wire).transpose().map_err(|_| {
        ApiError::bad("invalid_expiry", "`expires_at` must be a Unix timestamp in seconds, or -1 for never")
    })?;
    let created_time = app.clock.now().get();
    let (id, token, lifetime) = app.accounts.mint_access_token(&caller, &name, asked).await?;
    let token = Some(token.expose().to_owned());
    let body = AccessTokenBody { id: id.get(), name, created_time, expires_at: lifetime.expired_time(), token };
    Ok(NoStore(Envelope::of(body)))
}

/// Revoke an access token, at once.
#[utoipa::path(delete, path = "/api/user/access_tokens/{id}", tag = "accounts", params(("id" = i64, Path)),
    responses((status = 200, body = Done)))]
pub async fn revoke_access_token(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    Id(id): Id,
) -> Result<Done, ApiError> {
    app.accounts.revoke_access_token(&caller, AccessTokenId::new(id)).await?;
    Ok(Done::default())
}

/// Ask that your account be enabled for the token API (spec §1).
#[utoipa::path(post, path = "/api/user/token_api_request", tag = "accounts", request_body = ApiRequestRequest,
    responses((status = 200, body = Envelope<ApiRequestBody>)))]
pub async fn request_token_api(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    Json(body): Json<ApiRequestRequest>,
) -> Result<Envelope<ApiRequestBody>, ApiError> {
    let reason = user::prose("reason", body.reason.as_deref().unwrap_or_default())?;
    let request = app.accounts.request_token_api(&caller, &reason, body.account.as_deref()).await?;
    Ok(Envelope::of(request.into()))
}

/// How your enablement stands.
#[utoipa::path(get, path = "/api/user/token_api_request", tag = "accounts",
    responses((status = 200, body = Envelope<EnablementBody>)))]
pub async fn token_api_request(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
) -> Result<Envelope<EnablementBody>, ApiError> {
    let (enabled, request) = app.accounts.token_api_request(&caller).await?;
    let state = request.as_ref().map_or("none", |request| request.state.as_str());
    let contact = app.accounts.rules().contact.clone();
    Ok(Envelope::of(EnablementBody { enabled, state, request: request.map(Into::into), contact }))
}

/// The groups you may give to a token, by name.
#[utoipa::path(get, path = "/api/user/self/groups", tag = "accounts",
    responses((status = 200, body = Envelope<BTreeMap<String, GroupBody>>)))]
pub async fn groups(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
) -> Result<Envelope<BTreeMap<String, GroupBody>>, ApiError> {
    let mut groups = BTreeMap::new();
    for (name, info) in app.tokens.groups().open_to(&caller.user.group) {
        let ratio = serde_json::value::RawValue::from_string(info.ratio.clone()).map_err(|_| ApiError::internal())?;
        groups.insert(name.to_owned(), GroupBody { desc: info.description.clone(), ratio });
    }
    Ok(Envelope::of(groups))
}

/// The names of the models there are.
#[utoipa::path(get, path = "/api/user/models", tag = "accounts",
    responses((status = 200, body = Envelope<Vec<String>>)))]
pub async fn models(State(app): State<Arc<AppState>>, _: SignedIn) -> Envelope<Vec<String>> {
    Envelope::of(app.models.clone())
}

/// The names of the models there are.
#[utoipa::path(get, path = "/api/user/self/models", tag = "accounts",
    responses((status = 200, body = Envelope<Vec<String>>)))]
pub async fn own_models(state: State<Arc<AppState>>, caller: SignedIn) -> Envelope<Vec<String>> {
    models(state, caller).await
}

fn exposed(secret: Option<&SecretString>) -> &str {
    secret.map(secrecy::ExposeSecret::expose_secret).unwrap_or_default()
}
