//! `POST /api/gateway/reserve`, `/extend`, `/settle` and `/release`: hold quota for a request whose cost is not known
//! yet.

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::counts::{ContextFields, CountFields, CountText, UnitsText, UsageText, count_fields};
use super::requests::{UsdText, context, cost, model, optional_amount, request_id, settled_cost};
use super::responses::{PricedByBody, TokenIdentityBody};
use crate::api::auth::CallingGateway;
use crate::api::envelope::Envelope;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::code::codes::{
    AmbiguousAmount, InvalidContext, InvalidCount, InvalidIp, InvalidModel, InvalidOnExpiry, InvalidQuota,
    InvalidRequestId, InvalidTtl, InvalidUsd, LedgerBusy, MissingField, ModelNotPriced, RequestIdReused,
    ReservationEnded, ReservationNotFound, TooManyConcurrent,
};
use crate::api::errors::fails::Fails;
use crate::api::errors::failure::ApiError;
use crate::api::extract::Json;
use crate::api::ledger::errors::KeyErrors;
use crate::api::state::AppState;
use crate::domain::bounds;
use crate::domain::ledger::{OnExpiry, Refusal, RefusalReason, ReservationHandle};
use crate::domain::prices::priced_by::HoldReason;
use crate::service::ledger::{ExtendRequest, QuotaRequest, ReserveOutcome, Reserved, Term};

/// A hold on quota.
#[derive(Deserialize, ToSchema)]
pub struct ReserveBody {
    /// The API key being spent.
    #[schema(required)]
    key: Option<String>,
    /// The quota units to hold. Without this and `usd`, the counts are required, and what they cost at most is held.
    quota: Option<i64>,
    /// The dollars to hold, instead of `quota`.
    usd: Option<UsdText>,
    /// The most input tokens.
    prompt_tokens: Option<CountText>,
    /// The most output tokens.
    completion_tokens: Option<CountText>,
    /// Of the input tokens, those that will be read from the provider's cache.
    cached_tokens: Option<CountText>,
    /// Of the input tokens, those that will be written to the provider's cache.
    cache_write_tokens: Option<CountText>,
    /// The most of each unit, instead of or beside those above, which are four of them.
    units: Option<UnitsText>,
    /// What the price depends on besides the model, such as `{"service_tier": "priority"}`.
    context: Option<ContextFields>,
    /// Whose price of the model counts, if the price list has several.
    provider: Option<String>,
    /// Your id of this reservation, 1 to 128 characters. A retry with the same id returns the first reservation.
    request_id: Option<String>,
    /// Seconds after which the reservation expires if it is not settled: 1 to 86,400, default 600.
    ttl_seconds: Option<i64>,
    /// What becomes of the hold after that: `release` (the default) gives it back; `charge` charges it as a whole, and
    /// the reservation cannot be settled any more.
    on_expiry: Option<String>,
    /// The model requested.
    model: Option<String>,
    /// The end client's IP address.
    ip: Option<String>,
}

/// A reservation that was made.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReservedBody {
    /// Settle or release the reservation by this id.
    reservation_id: String,
    /// Unix timestamp at which the reservation expires.
    expires_at: i64,
    /// The quota units held.
    reserved: i64,
    /// The token's remaining quota in quota units.
    remain_quota: i64,
    /// Your id of this reservation, or a generated one if you sent none.
    request_id: String,
    /// The token whose quota is held.
    #[serde(flatten)]
    token: TokenIdentityBody,
}

impl From<Reserved> for ReservedBody {
    fn from(reservation: Reserved) -> Self {
        let ReserveOutcome { handle, expires_at, reserved, remain_quota } = reservation.outcome;
        Self {
            reservation_id: handle.to_string(),
            expires_at: expires_at.get(),
            reserved: reserved.get(),
            remain_quota: remain_quota.get(),
            request_id: reservation.request_id,
            token: reservation.token.into(),
        }
    }
}

/// What a reservation should be. It never holds less than before, nor for a shorter time.
#[derive(Deserialize, ToSchema)]
pub struct ExtendBody {
    /// The `reservation_id` that `reserve` returned.
    #[schema(required)]
    reservation_id: Option<String>,
    /// All the quota units that it should hold.
    quota: Option<i64>,
    /// All the dollars that it should hold, instead of `quota`.
    usd: Option<UsdText>,
    /// Seconds from now for which it should hold them: 1 to 86,400.
    ttl_seconds: Option<i64>,
}

/// A reservation that was extended.
#[derive(Debug, Serialize, ToSchema)]
pub struct ExtendedBody {
    /// The reservation.
    reservation_id: String,
    /// All the quota units that it holds.
    reserved: i64,
    /// Unix timestamp at which the reservation expires.
    expires_at: i64,
    /// The token's remaining quota in quota units.
    remain_quota: i64,
}

/// The actual cost of a reservation.
#[derive(Deserialize, ToSchema)]
pub struct SettleBody {
    /// The `reservation_id` that `reserve` returned.
    #[schema(required)]
    reservation_id: Option<String>,
    /// The actual cost in quota units. Without this and `usd`, the counts are required, and the price of the model says
    /// what they cost.
    quota: Option<i64>,
    /// The actual cost in dollars, instead of `quota`.
    usd: Option<UsdText>,
    /// The model that answered, if it is not the one that was requested.
    model: Option<String>,
    /// Input tokens.
    prompt_tokens: Option<CountText>,
    /// Output tokens.
    completion_tokens: Option<CountText>,
    /// Of the input tokens, those that were read from the provider's cache.
    cached_tokens: Option<CountText>,
    /// Of the input tokens, those that were written to the provider's cache.
    cache_write_tokens: Option<CountText>,
    /// Counts by unit, instead of or beside those above, which are four of them.
    units: Option<UnitsText>,
    /// What the price depends on besides the model, such as `{"service_tier": "priority"}`.
    context: Option<ContextFields>,
    /// Whose price of the model counts, if the price list has several, and whose `usage` it is.
    provider: Option<String>,
    /// What the provider's answer says that was used, instead of `units`.
    usage: Option<UsageText>,
    /// The API of the provider that `usage` is of, such as `chat`, `responses` or `embeddings`; found by default.
    flavor: Option<String>,
}

/// A reservation that was settled.
#[derive(Debug, Serialize, ToSchema)]
pub struct SettledBody {
    /// What was taken in quota units.
    charged: i64,
    /// The part of the cost that neither the hold nor the balances could cover, in quota units.
    shortfall: i64,
    /// Whether the reservation had expired before, so that the charge was made without a hold.
    expired: bool,
    /// The token's remaining quota in quota units.
    remain_quota: i64,
    #[serde(flatten)]
    priced_by: PricedByBody,
}

/// A reservation to release.
#[derive(Deserialize, ToSchema)]
pub struct ReleaseBody {
    /// The `reservation_id` that `reserve` returned.
    #[schema(required)]
    reservation_id: Option<String>,
}

/// A reservation that was released.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReleasedBody {
    /// The token's remaining quota in quota units.
    remain_quota: i64,
}

/// Why an amount was not read.
type AmountErrors = (MissingField, AmbiguousAmount, InvalidQuota, InvalidUsd);

/// Why nothing was reserved.
type ReserveErrors = (
    (KeyErrors, AmountErrors, InvalidCount, ModelNotPriced, InvalidModel, InvalidIp, InvalidTtl, InvalidOnExpiry),
    (InvalidContext, InvalidRequestId, RequestIdReused, ReservationEnded, TooManyConcurrent, LedgerBusy),
);

/// Why a reservation was not extended.
type ExtendErrors = ((KeyErrors, AmountErrors, InvalidTtl), ReservationNotFound, ReservationEnded, LedgerBusy);

/// Why a reservation was not ended.
type ReservationErrors = (MissingField, ReservationNotFound, ReservationEnded, LedgerBusy);

/// Hold quota for a request whose cost is not known yet.
#[utoipa::path(post, path = "/api/gateway/reserve", tag = "gateway", request_body = ReserveBody,
    responses((status = 200, body = Envelope<ReservedBody>)))]
pub async fn reserve(
    State(app): State<Arc<AppState>>,
    CallingGateway(gateway): CallingGateway,
    Json(body): Json<ReserveBody>,
) -> Result<Envelope<ReservedBody>, Fails<ReserveErrors>> {
    let request_id = request_id(body.request_id)?;
    let counts = count_fields!(body);
    let seconds = ttl(body.ttl_seconds)?.unwrap_or(bounds::RESERVATION_SECONDS);
    let context = context(body.model, body.ip.as_deref())?;
    let cost = cost((body.quota, body.usd.as_ref()), &counts, context.model.as_deref())?;
    let on_expiry = on_expiry(body.on_expiry.as_deref())?;
    let request = QuotaRequest { cost, usage: None, context, request_id };
    let key = body.key.as_deref().unwrap_or_default();
    let reserved = app.ledger.reserve(gateway, key, request, Term { seconds, on_expiry }).await?;
    Ok(Envelope::of(reserved.into()))
}

/// Let a reservation hold more, or for longer, if a reservation made now would be admitted.
#[utoipa::path(post, path = "/api/gateway/extend", tag = "gateway", request_body = ExtendBody,
    responses((status = 200, body = Envelope<ExtendedBody>)))]
pub async fn extend(
    State(app): State<Arc<AppState>>,
    CallingGateway(gateway): CallingGateway,
    Json(body): Json<ExtendBody>,
) -> Result<Envelope<ExtendedBody>, Fails<ExtendErrors>> {
    let quota = optional_amount(body.quota, body.usd.as_ref())?;
    let seconds = ttl(body.ttl_seconds)?;
    if quota.is_none() && seconds.is_none() {
        let message = "`quota`, `usd` or `ttl_seconds` is required";
        return Err(ApiError::new(ErrorCode::MissingField, message).into());
    }
    let reservation = handle(body.reservation_id.as_deref())?;
    let extended = app.ledger.extend(gateway, reservation, ExtendRequest { quota, seconds }).await?;
    Ok(Envelope::of(ExtendedBody {
        reservation_id: reservation.to_string(),
        reserved: extended.reserved.get(),
        expires_at: extended.expires_at.get(),
        remain_quota: extended.remain_quota.get(),
    }))
}

/// End a reservation as a charge of its actual cost.
#[utoipa::path(post, path = "/api/gateway/settle", tag = "gateway", request_body = SettleBody,
    responses((status = 200, body = Envelope<SettledBody>)))]
pub async fn settle(
    State(app): State<Arc<AppState>>,
    CallingGateway(gateway): CallingGateway,
    Json(body): Json<SettleBody>,
) -> Result<Envelope<SettledBody>, Fails<(ReservationErrors, AmountErrors, InvalidModel)>> {
    let counts = CountFields { has_usage: body.usage.is_some(), ..count_fields!(body) };
    let cost = settled_cost((body.quota, body.usd.as_ref()), &counts)?;
    let usage = body.usage.map(|usage| usage.read(body.flavor)).transpose();
    let cost = match usage {
        // Beside an amount it is only recorded.
        Err(_) if cost.as_ref().is_ok_and(|cost| cost.quota.is_none()) => Err(HoldReason::InvalidUsage),
        usage => cost.map(|cost| (cost, usage.unwrap_or_default())),
    };
    let model = model(body.model)?;
    let reservation = handle(body.reservation_id.as_deref())?;
    let settled = app.ledger.settle(gateway, reservation, cost, model).await?;
    Ok(Envelope::of(SettledBody {
        charged: settled.settlement.charged.get(),
        shortfall: settled.settlement.shortfall.get(),
        expired: settled.settlement.was_expired,
        remain_quota: settled.remain_quota.get(),
        priced_by: settled.priced_by.into(),
    }))
}

/// End a reservation and give its hold back.
#[utoipa::path(post, path = "/api/gateway/release", tag = "gateway", request_body = ReleaseBody,
    responses((status = 200, body = Envelope<ReleasedBody>)))]
pub async fn release(
    State(app): State<Arc<AppState>>,
    CallingGateway(gateway): CallingGateway,
    Json(body): Json<ReleaseBody>,
) -> Result<Envelope<ReleasedBody>, Fails<ReservationErrors>> {
    let reservation = handle(body.reservation_id.as_deref())?;
    let remain_quota = app.ledger.release(gateway, reservation).await?.get();
    Ok(Envelope::of(ReleasedBody { remain_quota }))
}

/// The optional field `on_expiry`.
fn on_expiry(text: Option<&str>) -> Result<OnExpiry, ApiError> {
    let Some(text) = text else {
        return Ok(OnExpiry::default());
    };
    let invalid = || ApiError::new(ErrorCode::InvalidOnExpiry, "`on_expiry` must be `release` or `charge`");
    OnExpiry::parse(text).ok_or_else(invalid)
}

/// The optional field `ttl_seconds`.
fn ttl(seconds: Option<i64>) -> Result<Option<i64>, ApiError> {
    if seconds.is_some_and(|seconds| !(1..=bounds::MAX_RESERVATION_SECONDS).contains(&seconds)) {
        let message = format!("`ttl_seconds` must be 1 to {}", bounds::MAX_RESERVATION_SECONDS);
        return Err(ApiError::new(ErrorCode::InvalidTtl, message));
    }
    Ok(seconds)
}

fn handle(reservation_id: Option<&str>) -> Result<ReservationHandle, ApiError> {
    let text = reservation_id.ok_or_else(|| ApiError::new(ErrorCode::MissingField, "`reservation_id` is required"))?;
    text.parse().map_err(|_| ApiError::from(Refusal::from(RefusalReason::ReservationNotFound)))
}
