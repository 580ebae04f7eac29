//! Rotation of keys, and the keys that it replaced (spec §15.1).

use std::sync::Arc;

use axum::extract::State;
use http::{HeaderMap, StatusCode};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::auth::ApiUser;
use super::envelope::{Done, Envelope, NoStore};
use super::etag::{IfMatch, MANY, take_no_if_match};
use super::extract::{Id, Ids, OptionalJson, Query, query_flag};
use super::idempotency_key::{IdempotencyErrors, IdempotencyKeyHeader, Keyed};
use super::member_names::{CheckedJson, MemberNames};
use super::other_names::{self, OtherNames};
use super::state::AppState;
use super::tokens::IdsBody;
use super::tokens::errors::WrongVersion;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::code::codes::{
    InvalidGrace, InvalidIds, InvalidIfMatch, MissingField, NotFound, TooManyOldKeys,
};
use crate::api::errors::codes_of;
use crate::api::errors::fails::{CodeList, CodesByStatus, Fails};
use crate::api::errors::failure::ApiError;
use crate::domain::bounds;
use crate::domain::id::{OldKeyId, TokenId};
use crate::domain::idempotency_key::Idempotent;
use crate::domain::old_key::{Grace, GraceFrom, GraceInvalid, OldKey};
use crate::domain::time::UnixTime;
use crate::service::old_keys::{BulkRotateError, OldKeysError, Rotated, RotatedToken};
use crate::service::tokens::BulkPlace;

/// How long the replaced key works on.
#[derive(Debug, Deserialize, ToSchema)]
pub struct RotateBody {
    /// Seconds, 0 to 2,592,000 (30 days). The default is 86,400, a day.
    grace_seconds: Option<i64>,
    /// `first_use`, the default: the seconds begin with the first use of the new key, and at the latest 30 days after
    /// the rotation. `now`: they begin at once; with 0 seconds, the replaced key ends with this answer.
    grace_from: Option<String>,
}

impl MemberNames for RotateBody {
    const OTHER_NAMES: &'static [OtherNames] = other_names::OF_ROTATIONS;
}

impl RotateBody {
    pub(super) fn read(&self) -> Result<Grace, GraceInvalid> {
        let from = self.grace_from.as_deref().map_or(Some(GraceFrom::FirstUse), GraceFrom::parse);
        let from = from.ok_or(GraceInvalid::From)?;
        Grace::new(self.grace_seconds.unwrap_or(bounds::DEFAULT_GRACE_SECONDS), from)
    }
}

/// A token's new key. It is shown here to its owner, who can read it again like any key.
#[derive(Debug, Serialize, ToSchema)]
pub struct RotatedBody {
    /// The new key.
    key: String,
    #[serde(flatten)]
    token: RotatedTokenBody,
}

/// A token whose key was replaced, without the new one.
#[derive(Debug, Serialize, ToSchema)]
pub struct RotatedTokenBody {
    /// Token ID. It stays the same.
    id: i64,
    /// The new key as lists show it.
    masked_key: String,
    /// The token's replaced keys that still work, the last rotation first.
    old_keys: Vec<OldKeyBody>,
}

impl RotatedBody {
    fn new(rotated: &Rotated, now: UnixTime) -> Self {
        Self { key: rotated.key.expose().to_owned(), token: RotatedTokenBody::new(&rotated.token, now) }
    }
}

impl RotatedTokenBody {
    pub(super) fn new(rotated: &RotatedToken, now: UnixTime) -> Self {
        Self {
            id: rotated.id.get(),
            masked_key: rotated.key_hint.masked(),
            old_keys: rotated.old_keys.iter().map(|key| OldKeyBody::new(key, now)).collect(),
        }
    }
}

/// A replaced key. The key itself is not stored.
#[derive(Debug, Serialize, ToSchema)]
pub struct OldKeyBody {
    /// Its id, by which it can be ended.
    id: i64,
    /// Its first and last four characters.
    masked_key: String,
    /// Unix timestamp of the rotation that replaced it.
    rotated_at: i64,
    /// Unix timestamp from which on it does not work; `null` until a newer key is used, for 30 days at most.
    expires_at: Option<i64>,
    /// Unix timestamp of its last use since the rotation, up to about a minute old; `null` if it was not used.
    last_used_at: Option<i64>,
}

impl OldKeyBody {
    fn new(key: &OldKey, now: UnixTime) -> Self {
        Self {
            id: key.id.get(),
            masked_key: key.key_hint.masked(),
            rotated_at: key.rotated_at.get(),
            expires_at: key.ends_at(now).map(UnixTime::get),
            last_used_at: key.last_used_time.map(UnixTime::get),
        }
    }
}

/// Which replaced keys to list.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct OldKeysQuery {
    /// With `1`, the keys that do not work any more, for 90 days after their end.
    ended: Option<String>,
}

impl OldKeysQuery {
    fn is_ended(&self) -> bool {
        query_flag(self.ended.as_deref())
    }
}

/// Replace the key of a token. The token keeps its id, balance, limits and history, and the replaced key works for a
/// while longer.
#[utoipa::path(post, path = "/api/token/{id}/rotate", operation_id = "rotate", tag = "tokens",
    params(("id" = i64, Path), IdempotencyKeyHeader, ("If-Match" = Option<String>, Header, description = "The `ETag` of the token as you know it")),
    request_body = RotateBody,
    responses((status = 200, body = Envelope<RotatedBody>)))]
pub async fn rotate(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    Id(id): Id,
    IfMatch(expected): IfMatch,
    Keyed(request, OptionalJson(body)): Keyed<OptionalJson<RotateBody>>,
) -> Result<
    Idempotent<NoStore<Envelope<RotatedBody>>>,
    Fails<(InvalidGrace, NotFound, TooManyOldKeys, ExpiredToken, WrongVersion, IdempotencyErrors)>,
> {
    let rotated = app.old_keys.rotate(&caller, TokenId::new(id), body.read()?, &expected, request.as_ref()).await?;
    let now = app.core.clock.now();
    Ok(rotated.map(|rotated| NoStore(Envelope::of(RotatedBody::new(&rotated, now)))))
}

/// Tokens whose keys to replace, and how long the replaced ones work on.
#[derive(Debug, Deserialize, ToSchema)]
pub struct BulkRotateBody {
    /// 1 to 100 ids. Repeated ids count once.
    #[schema(required)]
    ids: Option<Vec<i64>>,
    /// As for one token.
    grace_seconds: Option<i64>,
    /// As for one token.
    grace_from: Option<String>,
}

impl MemberNames for BulkRotateBody {
    const OTHER_NAMES: &'static [OtherNames] = other_names::OF_ROTATIONS;
}

/// Replace the keys of up to 100 tokens, all or none. `data` has them by their ids, ascending, with the new keys.
#[utoipa::path(post, path = "/api/token/bulk/rotate", operation_id = "rotate_tokens", tag = "tokens",
    params(IdempotencyKeyHeader), request_body = BulkRotateBody,
    responses((status = 200, body = Envelope<Vec<RotatedBody>>)))]
pub async fn rotate_all(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    headers: HeaderMap,
    Keyed(request, CheckedJson(body)): Keyed<CheckedJson<BulkRotateBody>>,
) -> Result<
    Idempotent<NoStore<Envelope<Vec<RotatedBody>>>>,
    Fails<(
        InvalidIds,
        MissingField,
        InvalidIfMatch,
        InvalidGrace,
        NotFound,
        TooManyOldKeys,
        ExpiredToken,
        IdempotencyErrors,
    )>,
> {
    take_no_if_match(&headers, MANY)?;
    let BulkRotateBody { ids, grace_seconds, grace_from } = body;
    let ids = IdsBody { ids }.read(bounds::MAX_BULK_ROTATE)?;
    let grace = RotateBody { grace_seconds, grace_from }.read()?;
    let rotated = app.old_keys.rotate_all(&caller, &ids, grace, request.as_ref()).await?;
    let now = app.core.clock.now();
    let bodies = |rotated: Vec<Rotated>| rotated.iter().map(|rotated| RotatedBody::new(rotated, now)).collect();
    Ok(rotated.map(|rotated| NoStore(Envelope::of(bodies(rotated)))))
}

/// The replaced keys of a token that still work, the last rotation first; at most 100.
#[utoipa::path(get, path = "/api/token/{id}/old_keys", operation_id = "list_old_keys", tag = "tokens",
    params(("id" = i64, Path), OldKeysQuery), responses((status = 200, body = Envelope<Vec<OldKeyBody>>)))]
pub async fn list(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    Id(id): Id,
    Query(query): Query<OldKeysQuery>,
) -> Result<Envelope<Vec<OldKeyBody>>, Fails<NotFound>> {
    let keys = app.old_keys.list(&caller, TokenId::new(id), query.is_ended()).await?;
    let now = app.core.clock.now();
    Ok(Envelope::of(keys.iter().map(|key| OldKeyBody::new(key, now)).collect()))
}

/// End a replaced key at once.
#[utoipa::path(delete, path = "/api/token/{id}/old_keys/{key_id}", operation_id = "end_old_key", tag = "tokens",
    params(("id" = i64, Path), ("key_id" = i64, Path)), responses((status = 200, body = Done)))]
pub async fn end(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    Ids(id, key): Ids,
) -> Result<Done, Fails<NotFound>> {
    app.old_keys.end(&caller, TokenId::new(id), OldKeyId::new(key)).await?;
    Ok(Done::default())
}

/// The code `token_expired` with status 409.
#[derive(Debug)]
pub enum ExpiredToken {}

impl CodeList for ExpiredToken {
    fn add_to(codes: &mut CodesByStatus) {
        codes.entry(StatusCode::CONFLICT).or_default().insert(ErrorCode::TokenExpired);
    }
}

impl From<BulkRotateError> for ApiError {
    fn from(BulkRotateError { at, error }: BulkRotateError) -> Self {
        let failure = Self::from(error);
        match at {
            Some(id) => failure.at(BulkPlace::Id(id)),
            None => failure,
        }
    }
}

impl From<GraceInvalid> for ApiError {
    fn from(invalid: GraceInvalid) -> Self {
        Self::new(ErrorCode::InvalidGrace, invalid.to_string())
    }
}

codes_of! {
    OldKeysError {
        NotFound => NotFound,
        KeyNotFound => NotFound,
        Expired => TokenExpired @ CONFLICT,
        TooMany => TooManyOldKeys,
        .. Changed, Keyed, Owner, RateLimited, Storage
    }
}
