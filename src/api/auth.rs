//! Extractors that check permissions (spec §5): a handler that takes one runs only for callers who have that
//! permission.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{HeaderMap, HeaderName, Method, header};
use tower_sessions::Session;

use super::extract::{ClientIp, Query, origin};
use super::middleware::observe::set_user;
use super::same_site::{self, USER_HEADERS};
use super::state::AppState;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::failure::ApiError;
use crate::domain::bounds;
use crate::domain::caller::{Caller, Credential, Origin};
use crate::domain::id::{GatewayId, UserId};
use crate::domain::key::Digest;
use crate::domain::secrets::{AccessTokenSecret, GatewaySecret};
use crate::domain::time::DAY;
use crate::domain::user::User;
use crate::service::authenticator::AuthError;
use crate::storage::sessions::{CREATED_TIME, IP, USER_AGENT, USER_ID};
use crate::telemetry::request_notes::RequestNotes;

/// The session value that holds the Unix time of the last renewal. tower-sessions extends a session when its data
/// changes, so [`renew`] changes this value once a day instead of writing on every request.
const RENEWED: &str = "renewed";

/// A caller who is signed in by session cookie or access token.
pub struct SignedIn(pub Caller);

/// A signed-in caller whose account is enabled for the token API (spec §5.3).
pub struct ApiUser(pub Caller);

/// A signed-in administrator.
pub struct Admin(pub Caller);

/// A gateway that sends its credential in `Authorization`.
pub struct CallingGateway(pub GatewayId);

/// A gateway that sends its credential in `X-Gateway-Credential`, because `Authorization` holds its client's API key.
pub struct GatewayInFront(pub GatewayId);

/// Any caller except a page of another site. For calls that set or end the session cookie. Programs, which send neither
/// `Origin` nor `Sec-Fetch-Site`, are allowed.
pub struct NotForeign;

/// The text after `Authorization: Bearer`, claimed to be an API key; the handler checks it.
pub struct KeyHolder(pub String);

impl FromRequestParts<Arc<AppState>> for SignedIn {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, ApiError> {
        let (user, credential) = match parts.headers.get(header::AUTHORIZATION) {
            Some(value) => {
                let text = value.to_str().map_err(|_| ApiError::not_signed_in())?;
                let secret = AccessTokenSecret::parse(bare(text)).ok_or(AuthError::Unknown)?;
                let (user, expires_at) = app.authenticator.by_access_token(&secret, ClientIp::of(parts, app).0).await?;
                (user, Credential::AccessToken { expires_at })
            }
            None => (by_session(parts, app).await?, Credential::Session),
        };
        let own = user.id.to_string();
        let mut claimed = USER_HEADERS.iter().flat_map(|name| parts.headers.get_all(*name));
        if claimed.any(|claimed| claimed.to_str().ok().map(str::trim) != Some(own.as_str())) {
            return Err(ApiError::user_mismatch());
        }
        set_user(parts, user.id);
        // To revoke a key must always work.
        if !parts.method.is_safe() && parts.method != Method::DELETE {
            app.core.rate_limiter.may_write(&user)?;
        }
        Ok(Self(Caller { user: User::clone(&user), credential, origin: origin(parts, app) }))
    }
}

impl FromRequestParts<Arc<AppState>> for ApiUser {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, ApiError> {
        let SignedIn(caller) = SignedIn::from_request_parts(parts, app).await?;
        let rules = &app.account_rules;
        if caller.user.may_use_token_api(rules.token_api_open) {
            Ok(Self(caller))
        } else {
            Err(ApiError::not_enabled(&rules.contact))
        }
    }
}

impl FromRequestParts<Arc<AppState>> for Admin {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, ApiError> {
        let SignedIn(caller) = SignedIn::from_request_parts(parts, app).await?;
        if caller.user.role.is_admin() { Ok(Self(caller)) } else { Err(ApiError::not_admin()) }
    }
}

impl FromRequestParts<Arc<AppState>> for CallingGateway {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, ApiError> {
        gateway(parts, app, header::AUTHORIZATION).await.map(Self)
    }
}

impl FromRequestParts<Arc<AppState>> for GatewayInFront {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, ApiError> {
        gateway(parts, app, HeaderName::from_static("x-gateway-credential")).await.map(Self)
    }
}

async fn gateway(parts: &Parts, app: &AppState, name: HeaderName) -> Result<GatewayId, ApiError> {
    let text = parts.headers.get(name).and_then(|value| value.to_str().ok());
    let secret = text.and_then(|text| GatewaySecret::parse(bare(text))).ok_or_else(ApiError::not_a_gateway)?;
    match app.authenticator.gateway(&secret, ClientIp::of(parts, app).0).await {
        Ok(id) => {
            RequestNotes::note_gateway(id.get());
            Ok(id)
        }
        Err(AuthError::Unknown | AuthError::Disabled) => Err(ApiError::not_a_gateway()),
        Err(error @ (AuthError::Storage(_) | AuthError::RateLimited(_))) => Err(error.into()),
    }
}

impl FromRequestParts<Arc<AppState>> for NotForeign {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, ApiError> {
        same_site::refuse_foreign_page(parts, app).map(|()| Self)
    }
}

impl FromRequestParts<Arc<AppState>> for KeyHolder {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, ApiError> {
        if has_key_in_address(parts, app).await? {
            let message = "send the API key as `Authorization: Bearer sk-…`, not in the address: addresses are logged";
            return Err(ApiError::new(ErrorCode::InvalidKey, message));
        }
        let value = parts.headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
        let text = bare(value.unwrap_or_default());
        if text.is_empty() {
            return Err(ApiError::new(ErrorCode::InvalidKey, "send the API key as `Authorization: Bearer sk-…`"));
        }
        Ok(Self(text.to_owned()))
    }
}

/// Returns true if the value of a query parameter is an API key. A parameter without a value is judged by its name.
/// Texts that only look like keys are not judged: `task-id=5` is a parameter of the client's own.
async fn has_key_in_address(parts: &mut Parts, app: &Arc<AppState>) -> Result<bool, ApiError> {
    if parts.uri.query().is_none_or(str::is_empty) {
        return Ok(false);
    }
    let Query(parameters) = Query::<Vec<(String, String)>>::from_request_parts(parts, app).await?;
    Ok(parameters.iter().any(|(name, value)| {
        let judged = if value.is_empty() { name } else { value };
        app.key_reader.digest(bare(judged)).is_ok()
    }))
}

/// Starts a session with a new id, whatever cookie the request carries.
pub async fn start_session(
    session: &Session,
    app: &AppState,
    user: UserId,
    origin: &Origin,
    headers: &HeaderMap,
) -> Result<(), ApiError> {
    session.cycle_id().await.map_err(session_failed)?;
    session.insert(USER_ID, user.get()).await.map_err(session_failed)?;
    let now = app.core.clock.now().get();
    session.insert(RENEWED, now).await.map_err(session_failed)?;
    session.insert(CREATED_TIME, now).await.map_err(session_failed)?;
    let ip = origin.ip.map_or_else(String::new, |ip| ip.to_string());
    session.insert(IP, ip).await.map_err(session_failed)?;
    let user_agent = headers.get(header::USER_AGENT).and_then(|text| text.to_str().ok()).unwrap_or_default();
    let user_agent: String = user_agent.chars().take(bounds::MAX_USER_AGENT_CHARS).collect();
    session.insert(USER_AGENT, user_agent).await.map_err(session_failed)?;
    session.save().await.map_err(session_failed)
}

/// The digest of the session that a request was authenticated by; `None` for an access token.
pub struct CurrentSession(pub Option<Digest>);

impl FromRequestParts<Arc<AppState>> for CurrentSession {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, ApiError> {
        if parts.headers.contains_key(header::AUTHORIZATION) {
            return Ok(Self(None));
        }
        let session = Session::from_request_parts(parts, app).await.map_err(|(_, cause)| ApiError::internal(cause))?;
        Ok(Self(session.id().map(|id| app.sessions.digest(&id.to_string()))))
    }
}

/// Refuses to end a session for a page of another site.
pub async fn may_end_session(session: &Session, parts: &Parts, app: &AppState) -> Result<(), ApiError> {
    let signed_in: Option<i64> = session.get(USER_ID).await.map_err(session_failed)?;
    match signed_in {
        None => Ok(()),
        Some(_) if parts.method.is_safe() => same_site::refuse_change_by_get(parts, app),
        Some(_) => same_site::refuse_write(parts, app),
    }
}

/// Ends the session, if there is one.
pub async fn end_session(session: &Session) -> Result<(), ApiError> {
    session.flush().await.map_err(session_failed)
}

async fn by_session(parts: &mut Parts, app: &Arc<AppState>) -> Result<Arc<User>, ApiError> {
    let session = Session::from_request_parts(parts, app).await.map_err(|(_, cause)| ApiError::internal(cause))?;
    let id: Option<i64> = session.get(USER_ID).await.map_err(session_failed)?;
    let id = id.map(UserId::new).ok_or_else(ApiError::not_signed_in)?;
    if !parts.method.is_safe() {
        same_site::refuse_write(parts, app)?;
    }
    let user = app.authenticator.by_session(id).await?;
    renew(&session, app).await?;
    if let Some(id) = session.id() {
        app.sessions.record_use(&app.sessions.digest(&id.to_string())).await;
    }
    Ok(user)
}

/// Extends a session that is in use, at most once a day.
async fn renew(session: &Session, app: &AppState) -> Result<(), ApiError> {
    let now = app.core.clock.now();
    let renewed: i64 = session.get(RENEWED).await.map_err(session_failed)?.unwrap_or(0);
    if now.get().saturating_sub(renewed) >= DAY {
        session.insert(RENEWED, now.get()).await.map_err(session_failed)?;
    }
    Ok(())
}

/// The text after `Bearer` (in any case), or all of it without that prefix.
fn bare(value: &str) -> &str {
    let value = value.trim();
    match value.split_at_checked(7) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("bearer ") => rest.trim(),
        _ if value.eq_ignore_ascii_case("bearer") => "",
        _ => value,
    }
}

#[expect(clippy::needless_pass_by_value, reason = "it is the error of map_err")]
fn session_failed(error: tower_sessions::session::Error) -> ApiError {
    ApiError::database_unavailable().caused_by(format_args!("the session store failed: {error}"))
}

/// How long the browser keeps the cookie.
pub const fn session_lifetime() -> tower_sessions::cookie::time::Duration {
    tower_sessions::cookie::time::Duration::days(bounds::SESSION_DAYS)
}
