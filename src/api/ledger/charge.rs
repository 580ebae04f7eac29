//! `POST /api/gateway/charge` and `/charges`: take quota.

use std::sync::Arc;

use axum::Extension;
use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::counts::{ContextFields, CountFields, CountText, UnitsText, UsageText, count_fields};
use super::requests::{UsdText, context, cost, request_id};
use super::responses::{PricedByBody, TokenIdentityBody};
use crate::api::auth::CallingGateway;
use crate::api::envelope::Envelope;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::code::codes::{
    AmbiguousAmount, InvalidCharges, InvalidContext, InvalidCount, InvalidIp, InvalidModel, InvalidQuota,
    InvalidRequestId, InvalidUsage, InvalidUsd, LedgerBusy, MissingField, ModelNotPriced, RequestIdReused,
};
use crate::api::errors::fails::Fails;
use crate::api::errors::failure::ApiError;
use crate::api::extract::Json;
use crate::api::ledger::errors::KeyErrors;
use crate::api::limits::ExceededBody;
use crate::api::middleware::observe::PartialFailure;
use crate::api::state::AppState;
use crate::domain::bounds;
use crate::domain::ledger::ChargeOutcome;
use crate::service::ledger::{Charged, QuotaRequest};

/// A charge.
#[derive(Deserialize, ToSchema)]
pub struct ChargeBody {
    /// The API key being spent.
    #[schema(required)]
    key: Option<String>,
    /// The cost in quota units. Without this and `usd`, the counts are required, and the price of the model says what
    /// they cost.
    quota: Option<i64>,
    /// The cost in dollars, instead of `quota`.
    usd: Option<UsdText>,
    /// Your id of this charge, 1 to 128 characters. A retry with the same id never charges twice.
    request_id: Option<String>,
    /// The model used.
    model: Option<String>,
    /// The end client's IP address.
    ip: Option<String>,
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

impl ChargeBody {
    /// The key and the charge.
    fn parse(self) -> Result<(String, QuotaRequest), ApiError> {
        let counts = CountFields { has_usage: self.usage.is_some(), ..count_fields!(self) };
        let usage = self.usage.map(|usage| usage.read(self.flavor)).transpose()?;
        let request_id = request_id(self.request_id)?;
        let context = context(self.model, self.ip.as_deref())?;
        let cost = cost((self.quota, self.usd.as_ref()), &counts, context.model.as_deref())?;
        let charge = QuotaRequest { cost, usage, context, request_id };
        Ok((self.key.unwrap_or_default(), charge))
    }
}

/// A charge that was made.
#[derive(Debug, Serialize, ToSchema)]
pub struct ChargedBody {
    /// What was taken in quota units.
    charged: i64,
    /// The token's remaining quota in quota units.
    remain_quota: i64,
    /// Your id of this charge, or a generated one if you sent none.
    request_id: String,
    #[serde(flatten)]
    priced_by: PricedByBody,
    /// The token that was charged.
    #[serde(flatten)]
    token: TokenIdentityBody,
}

impl From<Charged> for ChargedBody {
    fn from(charge: Charged) -> Self {
        let Charged { outcome: ChargeOutcome { charged, remain_quota }, priced_by, request_id, token } = charge;
        Self {
            charged: charged.get(),
            remain_quota: remain_quota.get(),
            request_id,
            priced_by: priced_by.into(),
            token: token.into(),
        }
    }
}

/// Many charges in one call.
#[derive(Deserialize, ToSchema)]
pub struct ChargesBody {
    /// 1 to 1,000 charges. Each succeeds or fails on its own.
    #[schema(required)]
    charges: Option<Vec<ChargeBody>>,
}

/// The outcome of one of many charges: the charge or its refusal.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum OutcomeBody {
    /// It was charged.
    Charged {
        /// Always true.
        success: bool,
        /// The charge.
        #[serde(flatten)]
        charged: ChargedBody,
    },
    /// It was refused.
    Refused {
        /// Always false.
        success: bool,
        /// Why, as one sentence.
        message: String,
        /// Why, as a stable code.
        error: ErrorCode,
        /// The period limit that refused it.
        #[serde(flatten)]
        exceeded: ExceededBody,
        /// Seconds after which a retry can succeed; absent if time alone cannot help.
        #[serde(skip_serializing_if = "Option::is_none")]
        retry_after: Option<u64>,
    },
}

impl From<Result<Charged, ApiError>> for OutcomeBody {
    fn from(outcome: Result<Charged, ApiError>) -> Self {
        match outcome {
            Ok(charged) => Self::Charged { success: true, charged: charged.into() },
            Err(error) => {
                let exceeded = error.exceeded().into();
                let ApiError { message, code, retry_after, .. } = error;
                Self::Refused { success: false, message, error: code, exceeded, retry_after }
            }
        }
    }
}

/// Why nothing was charged.
type ChargeErrors = (
    (KeyErrors, MissingField, InvalidModel, InvalidIp, InvalidQuota, InvalidCount, InvalidContext),
    (AmbiguousAmount, InvalidUsd, InvalidUsage, ModelNotPriced, InvalidRequestId, RequestIdReused, LedgerBusy),
);

/// Take quota from a key and its owner's wallet.
#[utoipa::path(post, path = "/api/gateway/charge", tag = "gateway", request_body = ChargeBody,
    responses((status = 200, body = Envelope<ChargedBody>)))]
pub async fn charge(
    State(app): State<Arc<AppState>>,
    CallingGateway(gateway): CallingGateway,
    Json(body): Json<ChargeBody>,
) -> Result<Envelope<ChargedBody>, Fails<ChargeErrors>> {
    let (key, charge) = body.parse()?;
    Ok(Envelope::of(app.ledger.charge(gateway, &key, charge).await?.into()))
}

/// Take quota for many requests. Each is charged or refused on its own; charges of one owner are decided in the order
/// of the list.
#[utoipa::path(post, path = "/api/gateway/charges", tag = "gateway", request_body = ChargesBody,
    responses((status = 200, body = Envelope<Vec<OutcomeBody>>)))]
pub async fn charges(
    State(app): State<Arc<AppState>>,
    CallingGateway(gateway): CallingGateway,
    Json(body): Json<ChargesBody>,
) -> Result<(Option<Extension<PartialFailure>>, Envelope<Vec<OutcomeBody>>), Fails<InvalidCharges>> {
    let charges = body.charges.unwrap_or_default();
    if charges.is_empty() || charges.len() > bounds::MAX_CHARGES {
        let message = format!("`charges` must have 1 to {} entries", bounds::MAX_CHARGES);
        return Err(ApiError::new(ErrorCode::InvalidCharges, message).into());
    }
    let charges = charges.into_iter().map(ChargeBody::parse).collect();
    let outcomes = app.ledger.charge_each::<ApiError>(gateway, charges).await;
    let cause = outcomes.iter().find_map(|outcome| outcome.as_ref().err()?.cause.clone());
    let outcomes = Envelope::of(outcomes.into_iter().map(OutcomeBody::from).collect());
    Ok((cause.map(|cause| Extension(PartialFailure(cause))), outcomes))
}
