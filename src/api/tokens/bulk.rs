//! Many tokens in one call, all or none (spec §15.4).

use std::sync::Arc;

use axum::extract::State;
use http::HeaderMap;
use serde::Deserialize;
use serde_json::value::RawValue;
use utoipa::ToSchema;

use super::requests::{CreateBody, IdsBody, SwitchBody, UpdateBody};
use super::responses::TokenBody;
use crate::api::auth::ApiUser;
use crate::api::envelope::{Envelope, NoStore};
use crate::api::errors::code::ErrorCode;
use crate::api::errors::code::codes::{
    InvalidGroup, InvalidIds, InvalidIfMatch, InvalidTokens, MissingField, NotFound, TokenLimitReached,
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
use crate::domain::id::TokenId;
use crate::domain::idempotency_key::Idempotent;
use crate::domain::token::{Token, TokenWithKey};
use crate::domain::token_patch::NewToken;
use crate::service::tokens::{BulkPlace, TokenChange};

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

/// The bytes of a member that must be an object.
fn object<'a>(name: &str, member: &'a RawValue) -> Result<&'a [u8], ApiError> {
    let text = member.get();
    if !text.starts_with('{') {
        return Err(ApiError::new(ErrorCode::InvalidField, format!("{name} must be an object")));
    }
    Ok(text.as_bytes())
}

/// Tokens to change, and how.
#[derive(Deserialize, ToSchema)]
pub struct BulkChangeBody {
    /// 1 to 1,000 ids. Repeated ids count once.
    #[schema(required)]
    ids: Option<Vec<i64>>,
    /// The fields of an update, and `status`: what is not named stays as it is.
    #[schema(required, value_type = UpdateBody)]
    set: Option<Box<RawValue>>,
}

impl MemberNames for BulkChangeBody {}

impl BulkChangeBody {
    fn read(self) -> Result<(Vec<TokenId>, TokenChange), ApiError> {
        let ids = IdsBody { ids: self.ids }.read(bounds::MAX_BULK_CHANGE)?;
        let set = self.set.ok_or_else(|| ApiError::new(ErrorCode::MissingField, "`set` is required"))?;
        let set = object("`set`", &set)?;
        let body = member_names::read::<UpdateBody>(set)?;
        body.take_no_key()?;
        let patch = body.patch()?;
        let switch = parse::<SwitchBody>(set)?.optional_switch()?;
        Ok((ids, TokenChange { patch, switch }))
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

/// Change up to 1,000 tokens in the same way, all or none. `data` has them by their ids, ascending.
#[utoipa::path(patch, path = "/api/token/bulk", operation_id = "update_tokens", tag = "tokens",
    params(IdempotencyKeyHeader), request_body = BulkChangeBody, responses((status = 200, body = Envelope<Vec<TokenBody>>)))]
pub async fn update(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    headers: HeaderMap,
    Keyed(request, CheckedJson(body)): Keyed<CheckedJson<BulkChangeBody>>,
) -> Result<Idempotent<Envelope<Vec<TokenBody>>>, Fails<(ChangeErrors, InvalidIfMatch, InvalidIds, IdempotencyErrors)>>
{
    take_no_if_match(&headers, MANY)?;
    let (ids, change) = body.read()?;
    let changed = app.tokens.change_all(&caller, &ids, &change, request.as_ref()).await?;
    let at = app.ledger.now();
    let body = |token: &Token| TokenBody::new(token, &caller.user, &at, &app);
    Ok(changed.map(|changed| Envelope::of(changed.iter().map(body).collect())))
}
