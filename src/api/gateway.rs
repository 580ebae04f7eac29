//! Gateways on the wire: verify, charge, reserve, settle, release, and forward-auth.

use std::net::IpAddr;
use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::auth::{Gateway, GatewayInFront, KeyHolder};
use super::envelope::Envelope;
use super::errors::ApiError;
use super::extract::{ClientIp, Json};
use super::state::AppState;
use crate::domain::access::ClientAddress;
use crate::domain::id::{ReservationId, UserId};
use crate::domain::ledger::RequestContext;
use crate::domain::money::Quota;
use crate::domain::policy;
use crate::service::gateway::{ChargeOutcome, ChargeRequest, Ticket, Verification};
use crate::service::ledger::Counts;

/// May this key be used?
#[derive(Deserialize, ToSchema)]
pub struct VerifyBody {
    /// The API key being spent.
    #[schema(required)]
    key: Option<String>,
    /// The model asked for, if it is to be judged.
    model: Option<String>,
    /// The end client's address, if it is to be judged.
    ip: Option<String>,
    /// What it will cost, quota units, if that is to be judged.
    quota: Option<i64>,
}

/// Whether it may, and what a gateway needs to know of it.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct VerificationBody {
    /// Whether it may be used now.
    valid: bool,
    /// Why not: the stable code of the refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    /// The rest is there where the key is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_id: Option<i64>,
    /// Its owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<i64>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// Its group, or its owner's if it names none.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    /// Effective only for the group `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    cross_group_retry: Option<bool>,
    /// Whether the wallet is the only limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    unlimited_quota: Option<bool>,
    /// What the token has left, quota units.
    #[serde(skip_serializing_if = "Option::is_none")]
    remain_quota: Option<i64>,
    /// What can be spent: the smaller of token and wallet, quota units. Advice, at most 2 s old.
    #[serde(skip_serializing_if = "Option::is_none")]
    usable_quota: Option<i64>,
    /// Unix timestamp; 0 means never.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<i64>,
}

impl VerificationBody {
    fn new(verdict: &Verification) -> Self {
        let reason = verdict.refused.map(|refused| ApiError::from(refused).error);
        let Some(seen) = &verdict.seen else {
            return Self { reason, ..Self::default() };
        };
        let token = &seen.token;
        Self {
            valid: reason.is_none(),
            reason,
            token_id: Some(token.id.get()),
            user_id: Some(token.user_id.get()),
            name: Some(token.name.as_str().to_owned()),
            group: Some(verdict.group().to_owned()),
            cross_group_retry: Some(token.cross_group_retry),
            unlimited_quota: Some(token.budget.is_unlimited()),
            remain_quota: Some(token.budget.remain().get()),
            usable_quota: Some(token.usable(seen.wallet.quota).get()),
            expires_at: Some(token.lifetime.expires_at()),
        }
    }
}

/// Take quota now.
#[derive(Deserialize, ToSchema)]
pub struct ChargeBody {
    /// The API key being spent.
    #[schema(required)]
    key: Option<String>,
    /// What it cost, quota units.
    #[schema(required)]
    quota: Option<i64>,
    /// Your own id of this charge, 1 to 128 characters: a retry with it never charges twice.
    request_id: Option<String>,
    /// The model used.
    model: Option<String>,
    /// The end client's address.
    ip: Option<String>,
    /// Input tokens.
    prompt_tokens: Option<i64>,
    /// Output tokens.
    completion_tokens: Option<i64>,
}

/// What was taken.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChargedBody {
    /// Quota units.
    charged: i64,
    /// What the token has left, quota units.
    remain_quota: i64,
    /// Yours, or one made here.
    request_id: String,
}

/// Set quota aside.
#[derive(Deserialize, ToSchema)]
pub struct ReserveBody {
    /// The API key being spent.
    #[schema(required)]
    key: Option<String>,
    /// What it may cost, quota units.
    #[schema(required)]
    quota: Option<i64>,
    /// After how long it is given back by itself: 600 unless said, 86,400 at most.
    ttl_seconds: Option<i64>,
    /// The model asked for.
    model: Option<String>,
    /// The end client's address.
    ip: Option<String>,
}

/// What was set aside.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReservedBody {
    /// By which it is settled or released.
    reservation_id: String,
    /// Unix timestamp.
    expires_at: i64,
    /// Quota units.
    reserved: i64,
    /// What the token has left, quota units.
    remain_quota: i64,
}

/// End a reservation as a charge.
#[derive(Deserialize, ToSchema)]
pub struct SettleBody {
    /// As `reserve` gave it.
    #[schema(required)]
    reservation_id: Option<String>,
    /// What it really cost, quota units.
    #[schema(required)]
    quota: Option<i64>,
    /// Input tokens.
    prompt_tokens: Option<i64>,
    /// Output tokens.
    completion_tokens: Option<i64>,
}

/// What was taken.
#[derive(Debug, Serialize, ToSchema)]
pub struct SettledBody {
    /// Quota units.
    charged: i64,
    /// What neither the reservation nor the balances could cover, quota units.
    shortfall: i64,
    /// Whether it had expired before, so that it was charged like a new request.
    expired: bool,
    /// What the token has left, quota units.
    remain_quota: i64,
}

/// End a reservation.
#[derive(Deserialize, ToSchema)]
pub struct ReleaseBody {
    /// As `reserve` gave it.
    #[schema(required)]
    reservation_id: Option<String>,
}

/// What is left after it.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReleasedBody {
    /// What the token has left, quota units.
    remain_quota: i64,
}

/// Many charges at once.
#[derive(Deserialize, ToSchema)]
pub struct ChargesBody {
    /// 1 to 1,000; each stands for itself.
    #[schema(required)]
    charges: Option<Vec<ChargeBody>>,
}

/// What became of one of them: the charge, or the refusal.
#[derive(Debug, Serialize, ToSchema)]
pub struct OutcomeBody {
    /// Whether it was charged.
    success: bool,
    /// The charge.
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    charged: Option<ChargedBody>,
    /// The sentence of the refusal.
    #[serde(skip_serializing_if = "Option::is_none")]
    message: Option<String>,
    /// Its stable code.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'static str>,
}

impl From<ChargeOutcome> for ChargedBody {
    fn from(outcome: ChargeOutcome) -> Self {
        let ChargeOutcome { charged, remain_quota, request_id } = outcome;
        Self { charged: charged.get(), remain_quota: remain_quota.get(), request_id }
    }
}

impl From<Result<ChargeOutcome, ApiError>> for OutcomeBody {
    fn from(outcome: Result<ChargeOutcome, ApiError>) -> Self {
        match outcome {
            Ok(charged) => Self { success: true, charged: Some(charged.into()), message: None, error: None },
            Err(ApiError { message, error, .. }) => {
                Self { success: false, charged: None, message: Some(message), error: Some(error) }
            }
        }
    }
}

/// May this key be used? 200 also when it may not; see `valid` and `reason`.
#[utoipa::path(post, path = "/api/gateway/verify", tag = "gateway", request_body = VerifyBody,
    responses((status = 200, body = Envelope<VerificationBody>)))]
pub async fn verify(
    State(app): State<Arc<AppState>>,
    _: Gateway,
    Json(body): Json<VerifyBody>,
) -> Result<Envelope<VerificationBody>, ApiError> {
    let asked = asked(body.model, body.ip.as_deref())?;
    let quota = body.quota.map(|units| amount(Some(units))).transpose()?.unwrap_or_default();
    let verdict = app.gateway.verify(body.key.as_deref().unwrap_or_default(), &asked, quota).await?;
    Ok(Envelope::of(VerificationBody::new(&verdict)))
}

/// Take quota from a key and its owner's wallet.
#[utoipa::path(post, path = "/api/gateway/charge", tag = "gateway", request_body = ChargeBody,
    responses((status = 200, body = Envelope<ChargedBody>)))]
pub async fn charge(
    State(app): State<Arc<AppState>>,
    Gateway(gateway): Gateway,
    Json(body): Json<ChargeBody>,
) -> Result<Envelope<ChargedBody>, ApiError> {
    let (key, charge) = charge_asked(body)?;
    Ok(Envelope::of(app.gateway.charge(gateway, &key, charge).await?.into()))
}

/// Take quota for many requests. Each is charged or refused for itself; those of one owner in this
/// order.
#[utoipa::path(post, path = "/api/gateway/charges", tag = "gateway", request_body = ChargesBody,
    responses((status = 200, body = Envelope<Vec<OutcomeBody>>)))]
pub async fn charges(
    State(app): State<Arc<AppState>>,
    Gateway(gateway): Gateway,
    Json(body): Json<ChargesBody>,
) -> Result<Envelope<Vec<OutcomeBody>>, ApiError> {
    let charges = body.charges.unwrap_or_default();
    if charges.is_empty() || charges.len() > policy::MAX_CHARGES {
        let message = format!("`charges` must have 1 to {} entries", policy::MAX_CHARGES);
        return Err(ApiError::bad("invalid_charges", message));
    }
    let charges = charges.into_iter().map(charge_asked).collect();
    let outcomes = app.gateway.charge_each::<ApiError>(gateway, charges).await;
    Ok(Envelope::of(outcomes.into_iter().map(OutcomeBody::from).collect()))
}

/// Set quota aside for a request whose cost is not known yet.
#[utoipa::path(post, path = "/api/gateway/reserve", tag = "gateway", request_body = ReserveBody,
    responses((status = 200, body = Envelope<ReservedBody>)))]
pub async fn reserve(
    State(app): State<Arc<AppState>>,
    Gateway(gateway): Gateway,
    Json(body): Json<ReserveBody>,
) -> Result<Envelope<ReservedBody>, ApiError> {
    let quota = amount(body.quota)?;
    let seconds = body.ttl_seconds.unwrap_or(policy::RESERVATION_SECONDS);
    if !(1..=policy::MAX_RESERVATION_SECONDS).contains(&seconds) {
        let message = format!("`ttl_seconds` must be 1 to {}", policy::MAX_RESERVATION_SECONDS);
        return Err(ApiError::bad("invalid_ttl", message));
    }
    let asked = asked(body.model, body.ip.as_deref())?;
    let made = app.gateway.reserve(gateway, body.key.as_deref().unwrap_or_default(), quota, asked, seconds).await?;
    Ok(Envelope::of(ReservedBody {
        reservation_id: ticket_text(made.ticket),
        expires_at: made.expires_at.get(),
        reserved: quota.get(),
        remain_quota: made.remain_quota.get(),
    }))
}

/// End a reservation as a charge of what it really cost.
#[utoipa::path(post, path = "/api/gateway/settle", tag = "gateway", request_body = SettleBody,
    responses((status = 200, body = Envelope<SettledBody>)))]
pub async fn settle(
    State(app): State<Arc<AppState>>,
    Gateway(gateway): Gateway,
    Json(body): Json<SettleBody>,
) -> Result<Envelope<SettledBody>, ApiError> {
    let quota = amount(body.quota)?;
    let counts = counts(body.prompt_tokens, body.completion_tokens)?;
    let ticket = ticket(body.reservation_id.as_deref())?;
    let settled = app.gateway.settle(gateway, ticket, quota, counts).await?;
    Ok(Envelope::of(SettledBody {
        charged: settled.settlement.charged.get(),
        shortfall: settled.settlement.shortfall.get(),
        expired: settled.settlement.was_expired,
        remain_quota: settled.remain_quota.get(),
    }))
}

/// End a reservation, giving all back.
#[utoipa::path(post, path = "/api/gateway/release", tag = "gateway", request_body = ReleaseBody,
    responses((status = 200, body = Envelope<ReleasedBody>)))]
pub async fn release(
    State(app): State<Arc<AppState>>,
    Gateway(gateway): Gateway,
    Json(body): Json<ReleaseBody>,
) -> Result<Envelope<ReleasedBody>, ApiError> {
    let ticket = ticket(body.reservation_id.as_deref())?;
    let remain_quota = app.gateway.release(gateway, ticket).await?.get();
    Ok(Envelope::of(ReleasedBody { remain_quota }))
}

/// For nginx, Caddy, Traefik and Envoy: the end client's own `Authorization` passes through, the
/// gateway's credential comes in `X-Gateway-Credential`. 200, or the refusal's status.
#[utoipa::path(get, path = "/api/gateway/auth", tag = "gateway",
    responses((status = 200, body = Envelope<VerificationBody>)))]
pub async fn auth(
    State(app): State<Arc<AppState>>,
    _: GatewayInFront,
    KeyHolder(key): KeyHolder,
    ClientIp(ip): ClientIp,
) -> Result<Response, ApiError> {
    let asked = RequestContext { model: None, ip: ip.map_or(ClientAddress::Unknown, ClientAddress::Known) };
    let one = Quota::grant(1).unwrap_or_default();
    let verdict = app.gateway.verify(&key, &asked, one).await?;
    if let Some(refused) = verdict.refused {
        return Err(refused.into());
    }
    let body = VerificationBody::new(&verdict);
    let facts = [
        ("x-token-id", body.token_id.map(|id| id.to_string())),
        ("x-user-id", body.user_id.map(|id| id.to_string())),
        ("x-token-group", body.group.clone()),
        ("x-remain-quota", body.usable_quota.map(|units| units.to_string())),
    ];
    let mut answer = Envelope::of(body).into_response();
    for (name, value) in facts {
        if let Some(value) = value.and_then(|value| HeaderValue::from_str(&value).ok()) {
            answer.headers_mut().insert(HeaderName::from_static(name), value);
        }
    }
    Ok(answer)
}

/// The key and the charge of a body.
fn charge_asked(body: ChargeBody) -> Result<(String, ChargeRequest), ApiError> {
    if body.request_id.as_ref().is_some_and(|id| !is_sane(id)) {
        let message = "`request_id` must have 1 to 128 visible characters";
        return Err(ApiError::bad("invalid_request_id", message));
    }
    let charge = ChargeRequest {
        quota: amount(body.quota)?,
        asked: asked(body.model, body.ip.as_deref())?,
        counts: counts(body.prompt_tokens, body.completion_tokens)?,
        request_id: body.request_id,
    };
    Ok((body.key.unwrap_or_default(), charge))
}

fn is_sane(request_id: &str) -> bool {
    (1..=128).contains(&request_id.chars().count()) && request_id.chars().all(|c| !c.is_control())
}

fn amount(units: Option<i64>) -> Result<Quota, ApiError> {
    let units = units.ok_or_else(|| ApiError::bad("missing_field", "`quota` is required"))?;
    Quota::grant(units).map_err(|invalid| ApiError::bad("invalid_quota", format!("`quota` {invalid}")))
}

fn asked(model: Option<String>, ip: Option<&str>) -> Result<RequestContext, ApiError> {
    let model = model.filter(|model| !model.is_empty());
    if model
        .as_ref()
        .is_some_and(|model| model.chars().count() > policy::MAX_MODEL_CHARS || model.chars().any(char::is_control))
    {
        let message = format!("`model` must have at most {} characters", policy::MAX_MODEL_CHARS);
        return Err(ApiError::bad("invalid_model", message));
    }
    let ip = match ip {
        None | Some("") => ClientAddress::NotSent,
        Some(text) => {
            let ip: Result<IpAddr, _> = text.trim().parse();
            let ip = ip.map_err(|_| ApiError::bad("invalid_ip", "`ip` must be an IPv4 or IPv6 address"))?;
            ClientAddress::Known(ip.to_canonical())
        }
    };
    Ok(RequestContext { model, ip })
}

fn counts(prompt_tokens: Option<i64>, completion_tokens: Option<i64>) -> Result<Counts, ApiError> {
    let count = |name: &str, count: Option<i64>| match count.unwrap_or(0) {
        count if (0..=policy::MAX_COUNT).contains(&count) => Ok(count),
        _ => Err(ApiError::bad("invalid_count", format!("`{name}` must be 0 to {}", policy::MAX_COUNT))),
    };
    Ok(Counts {
        prompt_tokens: count("prompt_tokens", prompt_tokens)?,
        completion_tokens: count("completion_tokens", completion_tokens)?,
    })
}

/// `r7.123`: the owner, who decides the lane, and the reservation.
fn ticket_text(ticket: Ticket) -> String {
    format!("r{}.{}", ticket.owner, ticket.reservation)
}

fn ticket(text: Option<&str>) -> Result<Ticket, ApiError> {
    let text = text.ok_or_else(|| ApiError::bad("missing_field", "`reservation_id` is required"))?;
    let parts = text.strip_prefix('r').and_then(|rest| rest.split_once('.'));
    let ids = parts.and_then(|(owner, id)| Some((owner.parse().ok()?, id.parse().ok()?)));
    ids.map(|(owner, id)| Ticket { owner: UserId::new(owner), reservation: ReservationId::new(id) })
        .ok_or_else(|| ApiError::from(crate::domain::ledger::Refused::NoReservation))
}
