//! Tokens of all users, for administrators, never with their keys (spec §10.5, §13.3). They make and change those of
//! accounts that they manage and that may use the token API.

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::errors::{ChangeErrors, TokenFieldErrors, WrongVersion};
use super::requests::{CreateBody, SwitchBody, UpdateBody};
use super::responses::{TokenBody, TokensBody};
use super::searches::{ListingQuery, OwnerQuery, SearchBody};
use crate::api::auth::Admin;
use crate::api::envelope::{Done, Envelope};
use crate::api::errors::code::codes::{
    InvalidFilter, InvalidGrace, InvalidGroup, InvalidPage, InvalidSearch, InvalidStatus, NotFound, RateLimited,
    RoleTooLow, TokenApiNotEnabled, TokenLimitReached, TooManyOldKeys,
};
use crate::api::errors::fails::Fails;
use crate::api::etag::{IfMatch, Tagged};
use crate::api::extract::{Id, Json, OptionalJson, Query};
use crate::api::idempotency_key::{IdempotencyErrors, IdempotencyKeyHeader, Keyed};
use crate::api::member_names::CheckedJson;
use crate::api::old_keys::{ExpiredToken, RotateBody, RotatedTokenBody};
use crate::api::page::{KeywordQuery, PageQuery};
use crate::api::state::AppState;
use crate::domain::calendar::Moment;
use crate::domain::id::{TokenId, UserId};
use crate::domain::idempotency_key::Idempotent;
use crate::domain::status::EnableError;
use crate::domain::token::OwnedToken;
use crate::service::tokens::TokenPage;

/// The Token object with the username of its owner.
#[derive(Debug, Serialize, ToSchema)]
pub struct OwnedTokenBody {
    #[serde(flatten)]
    token: TokenBody,
    /// The username of the owner.
    username: String,
}

impl OwnedTokenBody {
    pub(super) fn new(owned: &OwnedToken, at: &Moment, app: &AppState) -> Self {
        let token = TokenBody::new(&owned.token, &owned.owner, at, app);
        Self { token, username: owned.owner.username.as_str().to_owned() }
    }
}

fn bodies(found: TokenPage<OwnedToken>, app: &AppState) -> Envelope<TokensBody<OwnedTokenBody>> {
    let at = app.ledger.now();
    Envelope::of(TokensBody::of_any_user(found.map(|owned| OwnedTokenBody::new(&owned, &at, app))))
}

/// Tokens of all users, without their keys; newest first.
#[utoipa::path(get, path = "/api/admin/tokens", operation_id = "list_tokens", tag = "administration",
    params(KeywordQuery, OwnerQuery, ListingQuery, PageQuery),
    responses((status = 200, body = Envelope<TokensBody<OwnedTokenBody>>)))]
pub async fn list(
    State(app): State<Arc<AppState>>,
    _: Admin,
    Query(query): Query<KeywordQuery>,
    Query(owner): Query<OwnerQuery>,
    Query(listing): Query<ListingQuery>,
    Query(page): Query<PageQuery>,
) -> Result<Envelope<TokensBody<OwnedTokenBody>>, Fails<(InvalidSearch, InvalidFilter)>> {
    let (owner, name, listing) = (owner.read()?, query.read()?, listing.read(app.tokens.groups())?);
    let found = app.tokens.list_any_user(owner, name.as_ref(), &listing, page.read(app.settings.first_page)?).await?;
    Ok(bodies(found, &app))
}

/// Search the tokens of all users by name or key: the whole key, its masked form, or its first or last characters.
#[utoipa::path(post, path = "/api/admin/tokens/search", operation_id = "search_tokens", tag = "administration",
    params(OwnerQuery), request_body = SearchBody, responses((status = 200, body = Envelope<TokensBody<OwnedTokenBody>>)))]
pub async fn search(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Query(owner): Query<OwnerQuery>,
    Json(body): Json<SearchBody>,
) -> Result<Envelope<TokensBody<OwnedTokenBody>>, Fails<(InvalidSearch, InvalidFilter, InvalidPage, RateLimited)>> {
    let (search, listing, page) = body.read_any_user(owner.read()?, app.tokens.groups(), app.settings.first_page)?;
    let found = app.tokens.search_any_user(&admin, search, &listing, page).await?;
    Ok(bodies(found, &app))
}

/// A token of any user, without its key.
#[utoipa::path(get, path = "/api/admin/tokens/{id}", operation_id = "show_any_token", tag = "administration",
    params(("id" = i64, Path)), responses((status = 200, body = Envelope<OwnedTokenBody>, headers(
        ("ETag" = String, description = "The version of the token, for `If-Match`")))))]
pub async fn show(
    State(app): State<Arc<AppState>>,
    _: Admin,
    Id(id): Id,
) -> Result<Tagged<Envelope<OwnedTokenBody>>, Fails<NotFound>> {
    let owned = app.tokens.show_any_user(TokenId::new(id)).await?;
    Ok(tagged(&owned, &app))
}

fn tagged(owned: &OwnedToken, app: &AppState) -> Tagged<Envelope<OwnedTokenBody>> {
    let body = OwnedTokenBody::new(owned, &app.ledger.now(), app);
    Tagged(owned.token.policy.version, Envelope::of(body))
}

/// Why an administrator makes or changes no token of an account.
pub(super) type OwnerErrors = (RoleTooLow, TokenApiNotEnabled, NotFound);

/// Create a token for a user, who alone can read its key.
#[utoipa::path(post, path = "/api/admin/users/{id}/tokens", operation_id = "create_token_for", tag = "administration",
    params(("id" = i64, Path), IdempotencyKeyHeader), request_body = CreateBody,
    responses((status = 200, body = Envelope<OwnedTokenBody>, headers(
        ("ETag" = String, description = "The version of the token, for `If-Match`")))))]
pub async fn create(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Id(id): Id,
    Keyed(request, CheckedJson(body)): Keyed<CheckedJson<CreateBody>>,
) -> Result<
    Idempotent<Tagged<Envelope<OwnedTokenBody>>>,
    Fails<(TokenFieldErrors, InvalidGroup, TokenLimitReached, OwnerErrors, IdempotencyErrors)>,
> {
    let new = body.read_without_key()?;
    let made = app.tokens.create_for(&admin, UserId::new(id), new, request.as_ref()).await?;
    Ok(made.map(|made| tagged(&made, &app)))
}

/// Edit a token of any user. What is not named stays as it is.
#[utoipa::path(patch, path = "/api/admin/tokens/{id}", operation_id = "edit_any_token", tag = "administration",
    params(("id" = i64, Path), IdempotencyKeyHeader, ("If-Match" = Option<String>, Header, description = "The `ETag` of the token as you know it")),
    request_body = UpdateBody, responses((status = 200, body = Envelope<OwnedTokenBody>, headers(
        ("ETag" = String, description = "The version of the token, for `If-Match`")))))]
pub async fn update(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Id(id): Id,
    IfMatch(expected): IfMatch,
    Keyed(request, CheckedJson(body)): Keyed<CheckedJson<UpdateBody>>,
) -> Result<
    Idempotent<Tagged<Envelope<OwnedTokenBody>>>,
    Fails<(ChangeErrors, OwnerErrors, WrongVersion, IdempotencyErrors)>,
> {
    let patch = body.patch_of(TokenId::new(id))?;
    let edited = app.tokens.edit_any_user(&admin, TokenId::new(id), patch, &expected, request.as_ref()).await?;
    Ok(edited.map(|edited| tagged(&edited, &app)))
}

/// Delete a token of any user. Its usage is kept, and its owner can restore it.
#[utoipa::path(delete, path = "/api/admin/tokens/{id}", operation_id = "delete_any_token", tag = "administration",
    params(("id" = i64, Path), ("If-Match" = Option<String>, Header, description = "The `ETag` of the token as you know it")),
    responses((status = 200, body = Done)))]
pub async fn delete(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Id(id): Id,
    IfMatch(expected): IfMatch,
) -> Result<Done, Fails<(OwnerErrors, WrongVersion)>> {
    app.tokens.delete_any_user(&admin, TokenId::new(id), &expected).await?;
    Ok(Done::default())
}

/// Replace the key of a token of any user, who alone can read the new one. The replaced key works for a while longer.
#[utoipa::path(post, path = "/api/admin/tokens/{id}/rotate", operation_id = "rotate_any_token", tag = "administration",
    params(("id" = i64, Path), IdempotencyKeyHeader, ("If-Match" = Option<String>, Header, description = "The `ETag` of the token as you know it")),
    request_body = RotateBody, responses((status = 200, body = Envelope<RotatedTokenBody>)))]
pub async fn rotate(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Id(id): Id,
    IfMatch(expected): IfMatch,
    Keyed(request, OptionalJson(body)): Keyed<OptionalJson<RotateBody>>,
) -> Result<
    Idempotent<Envelope<RotatedTokenBody>>,
    Fails<(InvalidGrace, TooManyOldKeys, ExpiredToken, OwnerErrors, WrongVersion, IdempotencyErrors)>,
> {
    let (id, grace) = (TokenId::new(id), body.read()?);
    let rotated = app.old_keys.rotate_any_user(&admin, id, grace, &expected, request.as_ref()).await?;
    let now = app.core.clock.now();
    Ok(rotated.map(|rotated| Envelope::of(RotatedTokenBody::new(&rotated, now))))
}

/// Enable or disable a token of any user.
#[utoipa::path(post, path = "/api/admin/tokens/{id}/status", operation_id = "switch_token", tag = "administration",
    params(("id" = i64, Path)), request_body = SwitchBody, responses((status = 200, body = Envelope<OwnedTokenBody>)))]
pub async fn switch(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    Id(id): Id,
    CheckedJson(body): CheckedJson<SwitchBody>,
) -> Result<Envelope<OwnedTokenBody>, Fails<(InvalidStatus, EnableError, RoleTooLow, NotFound)>> {
    let owned = app.tokens.switch_any_user(&admin, TokenId::new(id), body.switch()?).await?;
    Ok(Envelope::of(OwnedTokenBody::new(&owned, &app.ledger.now(), &app)))
}
