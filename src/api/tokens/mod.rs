//! The token API (spec §2.1, §2.2, §4.1–4.7).

pub mod administration;
pub mod bulk;
mod chosen;
pub mod errors;
pub mod export;
mod requests;
mod responses;
mod searches;

use std::sync::Arc;

use axum::extract::{FromRequest, Request, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, header};

use self::errors::{ChangeErrors, TokenFieldErrors, WrongVersion};
use self::requests::{Claims, CreateBody, SwitchBody, UpdateQuery};
pub use self::requests::{IdsBody, Models, UpdateBody};
pub use self::responses::{StateBody, TokenBody, TokensBody};
pub use self::searches::ListingQuery;
use self::searches::{SearchBody, SearchQuery};
use super::auth::ApiUser;
use super::dialects::one_api::{self, ListClient, TokensAnswer};
use super::envelope::{Done, Envelope, NoStore, OptionalEnvelope};
use super::etag::{IfMatch, MANY, Tagged, etag, take_no_if_match};
use super::extract::{Id, Json, Query};
use super::idempotency_key::{self, IdempotencyErrors, IdempotencyKeyHeader, Keyed};
use super::member_names::CheckedJson;
use super::page::PageQuery;
use super::state::AppState;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::code::codes::{
    InvalidFilter, InvalidGroup, InvalidIds, InvalidIfMatch, InvalidPage, InvalidSearch, MissingField, NotFound,
    RateLimited, TokenLimitReached,
};
use crate::api::errors::fails::Fails;
use crate::api::errors::failure::ApiError;
use crate::domain::bounds;
use crate::domain::caller::Caller;
use crate::domain::id::TokenId;
use crate::domain::idempotency_key::Idempotent;
use crate::domain::key::KeyHint;
use crate::domain::time::LifetimeInvalid;
use crate::domain::token::Token;
use crate::service::tokens::{Shows, TokenPage};

/// List your tokens, newest first (spec §4.1). With the setting `compat.client`, `data` is an array (spec §14.1).
#[utoipa::path(get, path = "/api/token", tag = "tokens", params(ListingQuery, PageQuery),
    responses((status = 200, body = Envelope<TokensBody<TokenBody>>)))]
pub async fn list(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    client: ListClient,
    Query(listing): Query<ListingQuery>,
    Query(page): Query<PageQuery>,
) -> Result<TokensAnswer, Fails<InvalidFilter>> {
    let at = app.ledger.now();
    if listing.is_deleted()? {
        let page = app.tokens.list_deleted(&caller, page.read(app.settings.first_page)?).await?;
        let page = page.map(|token| TokenBody::deleted(&token, &caller.user, &at, &app));
        return Ok(client.own_tokens(TokenPage::whole(page)));
    }
    let listing = client.listing(listing).read(app.tokens.groups())?;
    let page = page.read(app.settings.first_page)?;
    let found = app.tokens.list(Some(caller.user.id), None, &listing, page).await?;
    Ok(client.own_tokens(found.map(|token| TokenBody::new(&token, &caller.user, &at, &app))))
}

/// Search your tokens by name or key (spec §4.2). With the setting `compat.client`, `data` is an array (spec §14.1).
#[utoipa::path(get, path = "/api/token/search", tag = "tokens", params(SearchQuery, ListingQuery, PageQuery),
    responses((status = 200, body = Envelope<TokensBody<TokenBody>>)))]
pub async fn search(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    client: ListClient,
    Query(query): Query<SearchQuery>,
    Query(listing): Query<ListingQuery>,
    Query(page): Query<PageQuery>,
) -> Result<TokensAnswer, Fails<(InvalidSearch, InvalidFilter, RateLimited)>> {
    let listing = client.listing(listing).read(app.tokens.groups())?;
    let (search, page) = (query.read(caller.user.id)?, client.search_page(page, app.settings.first_page)?);
    let found = app.tokens.search(&caller, search, &listing, page).await?;
    let at = app.ledger.now();
    Ok(client.own_tokens(found.map(|token| TokenBody::new(&token, &caller.user, &at, &app))))
}

/// Search your tokens by name or key, with the key in the body (spec §13.1).
#[utoipa::path(post, path = "/api/token/search", operation_id = "search_by_post", tag = "tokens",
    request_body = SearchBody, responses((status = 200, body = Envelope<TokensBody<TokenBody>>)))]
pub async fn search_by_post(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    Json(body): Json<SearchBody>,
) -> Result<Envelope<TokensBody<TokenBody>>, Fails<(InvalidSearch, InvalidFilter, InvalidPage, RateLimited)>> {
    let (search, listing, page) = body.read_own(caller.user.id, app.tokens.groups(), app.settings.first_page)?;
    let found = app.tokens.search(&caller, search, &listing, page).await?;
    let at = app.ledger.now();
    let found = found.map(|token| TokenBody::new(&token, &caller.user, &at, &app));
    Ok(Envelope::of(TokensBody::of_own(found)))
}

/// Read one token without its key (spec §13.1). Nothing is written to the audit log.
#[utoipa::path(get, path = "/api/token/{id}/details", operation_id = "token_details", tag = "tokens",
    params(("id" = i64, Path)), responses((status = 200, body = Envelope<TokenBody>, headers(
        ("ETag" = String, description = "The version of the token, for `If-Match`")))))]
pub async fn details(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    Id(id): Id,
) -> Result<Tagged<Envelope<TokenBody>>, Fails<NotFound>> {
    let token = app.tokens.show(&caller, TokenId::new(id)).await?;
    let body = TokenBody::new(&token, &caller.user, &app.ledger.now(), &app);
    Ok(Tagged(token.policy.version, Envelope::of(body)))
}

/// Read one token with its key (spec §4.3).
#[utoipa::path(get, path = "/api/token/{id}", operation_id = "show_token", tag = "tokens", params(("id" = i64, Path)),
    responses((status = 200, body = Envelope<TokenBody>, headers(
        ("ETag" = String, description = "The version of the token, for `If-Match`")))))]
pub async fn show(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    Id(id): Id,
) -> Result<Tagged<NoStore<Envelope<TokenBody>>>, Fails<NotFound>> {
    let found = app.keys.show(&caller, TokenId::new(id)).await?;
    let body = TokenBody::with_key(&found.token, &found.key, &caller.user, &app.ledger.now(), &app);
    Ok(Tagged(found.token.policy.version, NoStore(Envelope::of(body))))
}

/// Create a token (spec §4.4). With `Prefer: return=representation`, or with the setting `compat.client`, `data` is the
/// token with its key.
#[utoipa::path(post, path = "/api/token", tag = "tokens", request_body = CreateBody,
    params(("prefer" = Option<String>, Header, description = "`return=representation`: `data` is the token with its key"),
        IdempotencyKeyHeader),
    responses((status = 200, body = OptionalEnvelope<TokenBody>, headers(
        ("Location" = String, description = "The path of the token"),
        ("ETag" = String, description = "The version of the token, for `If-Match`"),
        ("Preference-Applied" = Option<String>, description = "`return=representation` if `data` is the token"),
    ))))]
pub async fn create(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    headers: HeaderMap,
    Keyed(request, CheckedJson(body)): Keyed<CheckedJson<CreateBody>>,
) -> Result<Response, Fails<(TokenFieldErrors, InvalidGroup, TokenLimitReached, NotFound, IdempotencyErrors)>> {
    check_new_key(&app, &caller, body.key()?).await?;
    let is_preferred = wants_representation(&headers);
    let shows = if is_preferred || app.settings.one_api { Shows::Key } else { Shows::Nothing };
    let Idempotent { answer: made, is_replayed } =
        app.tokens.create(&caller, body.read()?, request.as_ref(), shows).await?;
    let (token, key) = made;
    let mut answer = if let (Shows::Key, Some(key)) = (shows, key) {
        let body = TokenBody::with_key(&token, &key, &caller.user, &app.ledger.now(), &app);
        let mut answer = NoStore(OptionalEnvelope::of(Some(body))).into_response();
        if is_preferred {
            let applied = HeaderValue::from_static("return=representation");
            answer.headers_mut().insert("preference-applied", applied);
        }
        answer
    } else {
        OptionalEnvelope::<TokenBody>::of(None).into_response()
    };
    answer.headers_mut().insert(header::ETAG, etag(token.policy.version));
    if let Ok(location) = HeaderValue::from_str(&format!("/api/token/{}", token.id)) {
        answer.headers_mut().insert(header::LOCATION, location);
    }
    Ok(Idempotent { answer, is_replayed }.into_response())
}

/// Refuses a key that a caller chose for a new token. One of their own, also masked, comes with an object that was
/// read.
async fn check_new_key(app: &AppState, caller: &Caller, key: Option<String>) -> Result<(), ApiError> {
    let Some(key) = key else { return Ok(()) };
    if KeyHint::is_masked(&key) || app.tokens.find_own(caller, &key).await?.is_some() {
        return Ok(());
    }
    Err(ApiError::new(ErrorCode::InvalidField, "`key` is made here; leave it out"))
}

/// The header `Prefer` of RFC 7240.
fn wants_representation(headers: &HeaderMap) -> bool {
    let preferences = headers.get_all("prefer").iter().filter_map(|value| value.to_str().ok());
    preferences
        .flat_map(|value| value.split([',', ';']))
        .any(|preference| preference.trim().eq_ignore_ascii_case("return=representation"))
}

/// Edit a token (spec §4.5a). With `status_only=1`, enable or disable it (spec §4.5b).
#[utoipa::path(put, path = "/api/token", tag = "tokens",
    params(UpdateQuery, IdempotencyKeyHeader, ("If-Match" = Option<String>, Header, description = "The `ETag` of the token as you know it")),
    request_body = UpdateBody, responses((status = 200, body = Envelope<TokenBody>, headers(
        ("ETag" = String, description = "The version of the token, for `If-Match`")))))]
pub async fn update(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    Query(query): Query<UpdateQuery>,
    IfMatch(expected): IfMatch,
    request: Request,
) -> Result<Idempotent<Tagged<Envelope<TokenBody>>>, Fails<(ChangeErrors, WrongVersion, IdempotencyErrors)>> {
    let (keyed, request) = idempotency_key::read(request).await?;
    let token = if query.is_status_only() {
        let CheckedJson(body) = CheckedJson::<SwitchBody>::from_request(request, &app).await?;
        let (id, switch) = body.read()?;
        Idempotent::now(app.tokens.switch(&caller, id, switch, &expected).await?)
    } else {
        let CheckedJson(mut body) = CheckedJson::<UpdateBody>::from_request(request, &app).await?;
        if let Some(claims) = body.take_claims()? {
            check_claims(&app, &caller, claims).await?;
        }
        let policy = async |id| Ok::<_, ApiError>(app.tokens.show(&caller, id).await?.policy);
        let (id, patch) = one_api::edit(body, &app, policy).await?.read()?;
        app.tokens.edit(&caller, id, patch, &expected, keyed.as_ref()).await?
    };
    let at = app.ledger.now();
    let body = |token: &Token| TokenBody::new(token, &caller.user, &at, &app);
    Ok(token.map(|token| Tagged(token.policy.version, Envelope::of(body(&token)))))
}

/// Refuses a body that says of a token what is not so.
async fn check_claims(app: &AppState, caller: &Caller, claims: Claims) -> Result<(), ApiError> {
    let Claims { id, key, is_disabled, expired_time } = claims;
    let token = app.tokens.show(caller, id).await?;
    if is_disabled && token.policy.disabled_by.is_none() {
        let message = "an edit does not disable a token; send `status` 2 to `PUT /api/token/?status_only=1`";
        return Err(ApiError::new(ErrorCode::InvalidStatus, message));
    }
    if expired_time.is_some_and(|time| time != token.policy.lifetime.expired_time()) {
        return Err(LifetimeInvalid.into());
    }
    if let Some(key) = key
        && key.trim() != token.key_hint.masked()
        && app.tokens.find_own(caller, &key).await? != Some(id)
    {
        let message = "an edit does not change `key`; leave it out, or replace it with `POST /api/token/{id}/rotate`";
        return Err(ApiError::new(ErrorCode::InvalidField, message));
    }
    Ok(())
}

/// Delete a token (spec §4.6). Its usage is kept.
#[utoipa::path(delete, path = "/api/token/{id}", tag = "tokens", params(("id" = i64, Path),
    ("If-Match" = Option<String>, Header, description = "The `ETag` of the token as you know it")),
    responses((status = 200, body = Done)))]
pub async fn delete(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    Id(id): Id,
    IfMatch(expected): IfMatch,
) -> Result<Done, Fails<(NotFound, WrongVersion)>> {
    app.tokens.delete(&caller, TokenId::new(id), &expected).await?;
    Ok(Done::default())
}

/// Restore a deleted token with its key.
#[utoipa::path(post, path = "/api/token/{id}/restore", operation_id = "restore", tag = "tokens",
    params(("id" = i64, Path)), responses((status = 200, body = Envelope<TokenBody>, headers(
        ("ETag" = String, description = "The version of the token, for `If-Match`")))))]
pub async fn restore(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    Id(id): Id,
    headers: HeaderMap,
) -> Result<Tagged<Envelope<TokenBody>>, Fails<(NotFound, TokenLimitReached, InvalidIfMatch)>> {
    take_no_if_match(&headers, "a deleted token has no version to compare; leave out `If-Match`")?;
    let token = app.tokens.restore(&caller, TokenId::new(id)).await?;
    let body = TokenBody::new(&token, &caller.user, &app.ledger.now(), &app);
    Ok(Tagged(token.policy.version, Envelope::of(body)))
}

/// Delete several tokens (spec §4.7). `data` is the number of tokens deleted.
#[utoipa::path(post, path = "/api/token/batch", tag = "tokens", request_body = IdsBody,
    responses((status = 200, body = Envelope<i64>)))]
pub async fn delete_batch(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    headers: HeaderMap,
    Json(body): Json<IdsBody>,
) -> Result<Envelope<usize>, Fails<(MissingField, InvalidIds, InvalidIfMatch)>> {
    take_no_if_match(&headers, MANY)?;
    let ids = body.read(bounds::MAX_BATCH)?;
    Ok(Envelope::of(app.tokens.delete_batch(&caller, &ids).await?))
}
