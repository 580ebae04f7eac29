//! Tokens of all users, for administrators, never with their keys (spec §10.5, §13.3).

use std::sync::Arc;

use axum::extract::State;
use serde::Serialize;
use utoipa::ToSchema;

use super::requests::SwitchBody;
use super::responses::{TokenBody, TokensBody};
use super::searches::{ListingQuery, OwnerQuery, SearchBody};
use crate::api::auth::Admin;
use crate::api::envelope::Envelope;
use crate::api::errors::code::codes::{
    InvalidFilter, InvalidPage, InvalidSearch, InvalidStatus, NotFound, RateLimited, RoleTooLow,
};
use crate::api::errors::fails::Fails;
use crate::api::extract::{Id, Json, Query};
use crate::api::member_names::CheckedJson;
use crate::api::page::{KeywordQuery, PageQuery};
use crate::api::state::AppState;
use crate::domain::calendar::Moment;
use crate::domain::id::TokenId;
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
    fn new(owned: &OwnedToken, at: &Moment, app: &AppState) -> Self {
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
    params(("id" = i64, Path)), responses((status = 200, body = Envelope<OwnedTokenBody>)))]
pub async fn show(
    State(app): State<Arc<AppState>>,
    _: Admin,
    Id(id): Id,
) -> Result<Envelope<OwnedTokenBody>, Fails<NotFound>> {
    let owned = app.tokens.show_any_user(TokenId::new(id)).await?;
    Ok(Envelope::of(OwnedTokenBody::new(&owned, &app.ledger.now(), &app)))
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
