//! A user's access tokens.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::auth::SignedIn;
use super::envelope::{Done, Envelope, NoStore};
use super::extract::{Id, OptionalJson};
use super::member_names::MemberNames;
use super::other_names::{self, OtherNames};
use super::same_site;
use super::state::AppState;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::code::codes::{
    AccessTokenLimitReached, CrossSiteRequest, InvalidExpiry, InvalidText, MissingField, NotFound,
};
use crate::api::errors::codes_of;
use crate::api::errors::fails::Fails;
use crate::api::errors::failure::ApiError;
use crate::domain::access_token::AccessToken;
use crate::domain::caller::Credential;
use crate::domain::id::AccessTokenId;
use crate::domain::text;
use crate::domain::time::{Lifetime, UnixTime};
use crate::service::access_tokens::AccessTokensError;

/// A new access token.
#[derive(Debug, Deserialize, ToSchema)]
pub struct AccessTokenRequest {
    /// A name for it.
    name: Option<String>,
    /// Unix timestamp in the future; 0 or -1 for never. If you authenticate with an access token, not later than its
    /// own expiry. Default: the expiry of your access token, or never with a session.
    expires_at: Option<i64>,
}

impl MemberNames for AccessTokenRequest {
    const OTHER_NAMES: &'static [OtherNames] = other_names::OF_ACCESS_TOKENS;
}

/// An access token.
#[derive(Debug, Serialize, ToSchema)]
pub struct AccessTokenBody {
    /// Access token ID.
    id: i64,
    /// A name for it.
    name: String,
    /// Unix timestamp.
    created_time: i64,
    /// Unix timestamp; -1 for never.
    expires_at: i64,
    /// Unix timestamp of the last use, up to about a minute old; `null` if never used.
    last_used_time: Option<i64>,
    /// The secret: only in the response that creates it.
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<String>,
}

impl From<AccessToken> for AccessTokenBody {
    fn from(token: AccessToken) -> Self {
        Self {
            id: token.id.get(),
            name: token.name,
            created_time: token.created_time.get(),
            expires_at: Lifetime::from(token.expires_at).expired_time(),
            last_used_time: token.last_used_time.map(UnixTime::get),
            token: None,
        }
    }
}

/// Your access tokens, newest first.
#[utoipa::path(get, path = "/api/user/access_tokens", operation_id = "list_access_tokens", tag = "accounts",
    responses((status = 200, body = Envelope<Vec<AccessTokenBody>>)))]
pub async fn list(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
) -> Result<Envelope<Vec<AccessTokenBody>>, Fails> {
    let tokens = app.access_tokens.list(&caller).await?;
    Ok(Envelope::of(tokens.into_iter().map(AccessTokenBody::from).collect()))
}

/// Create an access token. The response shows the secret, this once.
#[utoipa::path(post, path = "/api/user/access_tokens", operation_id = "create_access_token", tag = "accounts",
    request_body = AccessTokenRequest, responses((status = 200, body = Envelope<AccessTokenBody>)))]
pub async fn create(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    OptionalJson(body): OptionalJson<AccessTokenRequest>,
) -> Result<
    NoStore<Envelope<AccessTokenBody>>,
    Fails<(InvalidText, MissingField, InvalidExpiry, AccessTokenLimitReached, NotFound)>,
> {
    let name = text::required("name", text::label("name", body.name.as_deref().unwrap_or_default())?)?;
    let lifetime = body.expires_at.map(Lifetime::from_wire).transpose().map_err(|_| {
        ApiError::new(ErrorCode::InvalidExpiry, "`expires_at` must be a Unix timestamp in seconds, or -1 for never")
    })?;
    let (token, secret) = app.access_tokens.create(&caller, &name, lifetime).await?;
    let body = AccessTokenBody { token: Some(secret.expose().to_owned()), ..token.into() };
    Ok(NoStore(Envelope::of(body)))
}

/// Create an access token; `data` is the secret, shown this once. It never expires or, if you authenticate with an
/// access token, expires with that one. With the session cookie the request must come from this site, or have
/// `New-Api-User`.
#[utoipa::path(get, path = "/api/user/token", operation_id = "mint", tag = "accounts",
    responses((status = 200, body = Envelope<String>)))]
pub async fn mint(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    parts: http::request::Parts,
) -> Result<NoStore<Envelope<String>>, Fails<(CrossSiteRequest, AccessTokenLimitReached, NotFound)>> {
    if matches!(caller.credential, Credential::Session) {
        same_site::refuse_change_by_get(&parts, &app)?;
    }
    app.core.rate_limiter.may_write(&caller.user)?;
    let (_, secret) = app.access_tokens.create(&caller, "made by GET /api/user/token", None).await?;
    Ok(NoStore(Envelope::of(secret.expose().to_owned())))
}

/// Revoke an access token. It stops working at once.
#[utoipa::path(delete, path = "/api/user/access_tokens/{id}", operation_id = "revoke_access_token", tag = "accounts",
    params(("id" = i64, Path)), responses((status = 200, body = Done)))]
pub async fn revoke(
    State(app): State<Arc<AppState>>,
    SignedIn(caller): SignedIn,
    Id(id): Id,
) -> Result<Done, Fails<NotFound>> {
    app.access_tokens.revoke(&caller, AccessTokenId::new(id)).await?;
    Ok(Done::default())
}

codes_of! {
    AccessTokensError {
        NotFound => NotFound,
        TooMany => AccessTokenLimitReached,
        ExpiryPast => InvalidExpiry,
        ExpiryTooLate(_) => InvalidExpiry,
        .. Actor, Storage
    }
}
