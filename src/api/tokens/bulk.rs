//! Many tokens in one call, all or none (spec §15.4).

use std::sync::Arc;

use axum::extract::State;
use http::HeaderMap;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::administration::OwnerErrors;
use super::chosen::{FilterBody, choose, object};
use super::requests::{CreateBody, SwitchBody, UpdateBody};
use super::responses::TokenBody;
use crate::api::auth::{Admin, ApiUser};
use crate::api::envelope::{Envelope, NoStore};
use crate::api::errors::code::ErrorCode;
use crate::api::errors::code::codes::{
    InvalidFilter, InvalidGroup, InvalidIds, InvalidIfMatch, InvalidSearch, InvalidTokens, MissingField, NotFound,
    RangeTooLarge, TokenLimitReached,
};
use crate::api::errors::fails::Fails;
use crate::api::errors::failure::ApiError;
use crate::api::etag::{MANY, take_no_if_match};
use crate::api::extract::parse;
use crate::api::idempotency_key::{IdempotencyErrors, IdempotencyKeyHeader, Keyed};
use crate::api::member_names::{self, CheckedJson, MemberNames};
use crate::api::state::AppState;
use crate::api::tokens::errors::{ChangeErrors, TokenFieldErrors};
use crate::domain::bounds;
use crate::domain::group::Groups;
use crate::domain::id::UserId;
use crate::domain::idempotency_key::Idempotent;
use crate::domain::token::{Token, TokenWithKey};
use crate::domain::token_patch::NewToken;
use crate::service::tokens::{BulkPlace, ChosenTokens, OwnerFault, OwnersChanged, TokenChange};

/// Why many tokens were not changed.
type BulkChangeErrors = (ChangeErrors, InvalidIfMatch, InvalidIds, InvalidFilter, InvalidSearch, RangeTooLarge);

/// Tokens to create.
#[derive(Deserialize, ToSchema)]
pub struct BulkCreateBody {
    /// 1 to 100 tokens, each with the fields of creating one.
    #[schema(required, value_type = Vec<CreateBody>)]
    tokens: Option<Vec<Box<RawValue>>>,
}

impl MemberNames for BulkCreateBody {}

impl BulkCreateBody {
    fn read(self) -> Result<Vec<NewToken>, ApiError> {
        let tokens = self.tokens.ok_or_else(|| ApiError::new(ErrorCode::MissingField, "`tokens` is required"))?;
        if tokens.is_empty() || tokens.len() > bounds::MAX_BULK_CREATE {
            let message = format!("`tokens` must have 1 to {} entries", bounds::MAX_BULK_CREATE);
            return Err(ApiError::new(ErrorCode::InvalidTokens, message));
        }
        let read = |(index, token): (usize, &RawValue)| {
            let new = object("an entry of `tokens`", token)
                .and_then(member_names::read)
                .and_then(CreateBody::read_without_key);
            new.map_err(|error| error.at(BulkPlace::Index(index)))
        };
        tokens.iter().map(AsRef::as_ref).enumerate().map(read).collect()
    }
}

/// Tokens to change, and how.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BulkChangeBody {
    /// 1 to 1,000 ids. Repeated ids count once. Either this or `filter`.
    ids: Option<Vec<i64>>,
    /// All tokens that match, 10,000 at most.
    #[schema(value_type = Option<FilterBody>)]
    filter: Option<Box<RawValue>>,
    /// The fields of an update, and `status`: what is not named stays as it is.
    #[schema(required, value_type = UpdateBody)]
    set: Option<Box<RawValue>>,
}

impl MemberNames for BulkChangeBody {}

impl BulkChangeBody {
    fn read(self, groups: &Groups) -> Result<(ChosenTokens, TokenChange), ApiError> {
        let chosen = choose(self.ids, self.filter.as_deref(), groups)?;
        Ok((chosen, read_set(self.set.as_deref())?))
    }
}

fn read_set(set: Option<&RawValue>) -> Result<TokenChange, ApiError> {
    let set = set.ok_or_else(|| ApiError::new(ErrorCode::MissingField, "`set` is required"))?;
    let set = object("`set`", set)?;
    let body = member_names::read::<UpdateBody>(set)?;
    body.take_no_key()?;
    let patch = body.patch()?;
    let switch = parse::<SwitchBody>(set)?.optional_switch()?;
    Ok(TokenChange { patch, switch })
}

/// Tokens of any users to change, and how.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct BulkChangeAnyBody {
    /// 1 to 1,000 ids. Repeated ids count once. Either this or `filter`.
    ids: Option<Vec<i64>>,
    /// All tokens that match, 10,000 at most.
    #[schema(value_type = Option<FilterBody>)]
    filter: Option<Box<RawValue>>,
    /// Only tokens of this user.
    user_id: Option<i64>,
    /// The fields of an update, and `status`: what is not named stays as it is.
    #[schema(required, value_type = UpdateBody)]
    set: Option<Box<RawValue>>,
    /// The `next` of the call before: only tokens of users with higher ids.
    after: Option<i64>,
}

impl MemberNames for BulkChangeAnyBody {}

/// What became of the tokens of one user after the other.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChangedTokensBody {
    /// Tokens that are now as they should be.
    changed: usize,
    /// Users of whom no token was changed, each with the first reason.
    faults: Vec<TokenFaultBody>,
    /// `after` of the next call; null if all users were reached.
    next: Option<i64>,
}

/// Why the tokens of a user were not changed.
#[derive(Debug, Serialize, ToSchema)]
pub struct TokenFaultBody {
    /// User ID.
    user_id: i64,
    username: String,
    /// The token that is the reason; null if it is the user.
    id: Option<i64>,
    /// The code of the error.
    error: &'static str,
    /// A sentence that says what to do.
    message: String,
}

impl From<OwnersChanged> for ChangedTokensBody {
    fn from(OwnersChanged { count, faults, next }: OwnersChanged) -> Self {
        Self { changed: count, faults: faults.into_iter().map(Into::into).collect(), next: next.map(UserId::get) }
    }
}

impl From<OwnerFault> for TokenFaultBody {
    fn from(OwnerFault { owner, at, error }: OwnerFault) -> Self {
        let failure = ApiError::from(error);
        let id = match at {
            Some(BulkPlace::Id(id)) => Some(id.get()),
            Some(BulkPlace::Index(_)) | None => None,
        };
        let (user_id, username) = (owner.id.get(), owner.username.as_str().to_owned());
        Self { user_id, username, id, error: failure.code.as_str(), message: failure.message }
    }
}

/// Create up to 100 tokens, all or none. `data` has them in the same order, with their keys.
#[utoipa::path(post, path = "/api/token/bulk", operation_id = "create_tokens", tag = "tokens", params(IdempotencyKeyHeader),
    request_body = BulkCreateBody, responses((status = 200, body = Envelope<Vec<TokenBody>>)))]
pub async fn create(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    Keyed(request, CheckedJson(body)): Keyed<CheckedJson<BulkCreateBody>>,
) -> Result<
    Idempotent<NoStore<Envelope<Vec<TokenBody>>>>,
    Fails<(
        TokenFieldErrors,
        InvalidTokens,
        MissingField,
        InvalidGroup,
        TokenLimitReached,
        NotFound,
        IdempotencyErrors,
    )>,
> {
    let made = app.tokens.create_all(&caller, body.read()?, request.as_ref()).await?;
    let at = app.ledger.now();
    let body = |made: &TokenWithKey| TokenBody::with_key(&made.token, &made.key, &caller.user, &at, &app);
    Ok(made.map(|made| NoStore(Envelope::of(made.iter().map(body).collect()))))
}

/// Change up to 1,000 tokens, or all that match, in the same way, all or none. `data` has them by their ids, ascending.
#[utoipa::path(patch, path = "/api/token/bulk", operation_id = "update_tokens", tag = "tokens",
    params(IdempotencyKeyHeader), request_body = BulkChangeBody, responses((status = 200, body = Envelope<Vec<TokenBody>>)))]
pub async fn update(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    headers: HeaderMap,
    Keyed(request, CheckedJson(body)): Keyed<CheckedJson<BulkChangeBody>>,
) -> Result<Idempotent<Envelope<Vec<TokenBody>>>, Fails<(BulkChangeErrors, IdempotencyErrors)>> {
    take_no_if_match(&headers, MANY)?;
    let (chosen, change) = body.read(app.tokens.groups())?;
    let changed = app.tokens.change_all(&caller, &chosen, &change, request.as_ref()).await?;
    let at = app.ledger.now();
    let body = |token: &Token| TokenBody::new(token, &caller.user, &at, &app);
    Ok(changed.map(|changed| Envelope::of(changed.iter().map(body).collect())))
}

/// Change up to 1,000 tokens of any users, or all that match, in the same way, all or none of each user. Call again
/// with `next` as `after` until it is null. Sent again with the same `Idempotency-Key`, each user's tokens are changed
/// once.
#[utoipa::path(patch, path = "/api/admin/tokens/bulk", operation_id = "update_any_tokens", tag = "administration",
    params(IdempotencyKeyHeader), request_body = BulkChangeAnyBody,
    responses((status = 200, body = Envelope<ChangedTokensBody>)))]
pub async fn update_any_users(
    State(app): State<Arc<AppState>>,
    Admin(admin): Admin,
    headers: HeaderMap,
    Keyed(request, CheckedJson(body)): Keyed<CheckedJson<BulkChangeAnyBody>>,
) -> Result<Envelope<ChangedTokensBody>, Fails<(BulkChangeErrors, OwnerErrors, IdempotencyErrors)>> {
    take_no_if_match(&headers, MANY)?;
    let chosen = choose(body.ids, body.filter.as_deref(), app.tokens.groups())?;
    let change = read_set(body.set.as_deref())?;
    let (owner, after) = (body.user_id.map(UserId::new), body.after.map(UserId::new));
    let changed = app.tokens.change_any_users(&admin, (owner, &chosen), &change, after, request.as_ref()).await?;
    Ok(Envelope::of(changed.into()))
}
