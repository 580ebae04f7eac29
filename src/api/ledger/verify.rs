//! `POST /api/gateway/verify`: may this key be used?

use std::sync::Arc;

use axum::extract::State;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::counts::{ContextFields, CountFields, CountText, UnitsText, count_fields};
use super::requests::{UsdText, context, cost};
use crate::api::auth::CallingGateway;
use crate::api::envelope::Envelope;
use crate::api::errors::code::codes::{
    AmbiguousAmount, InvalidContext, InvalidCount, InvalidIp, InvalidModel, InvalidQuota, InvalidUsd, MissingField,
};
use crate::api::errors::fails::Fails;
use crate::api::extract::Json;
use crate::api::ledger::errors::ReasonBody;
use crate::api::limits::ExceededBody;
use crate::api::state::AppState;
use crate::domain::ledger::Refusal;
use crate::domain::refusals::RefusedCall;
use crate::service::ledger::Verification;

/// May this key be used? Omitted fields are not checked.
#[derive(Deserialize, ToSchema)]
pub struct VerifyBody {
    /// The API key being spent. Without it, the answer is `invalid_key`.
    key: Option<String>,
    /// The model requested.
    model: Option<String>,
    /// The end client's IP address.
    ip: Option<String>,
    /// The expected cost in quota units.
    quota: Option<i64>,
    /// The expected cost in dollars, instead of `quota`.
    usd: Option<UsdText>,
    /// The most input tokens.
    prompt_tokens: Option<CountText>,
    /// The most output tokens.
    completion_tokens: Option<CountText>,
    /// Of the input tokens, those that will be read from the provider's cache.
    cached_tokens: Option<CountText>,
    /// Of the input tokens, those that will be written to the provider's cache.
    cache_write_tokens: Option<CountText>,
    /// Counts by unit, instead of or beside those above, which are four of them.
    units: Option<UnitsText>,
    /// What the price depends on besides the model, such as `{"service_tier": "priority"}`.
    context: Option<ContextFields>,
    /// Whose price of the model counts, if the price list has several.
    provider: Option<String>,
}

/// Whether the key may be used. All other fields are present if the key is known.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct VerificationBody {
    /// Whether the key may be used now.
    valid: bool,
    /// The error code of the refusal if `valid` is false.
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<ReasonBody>,
    /// The token's id.
    #[serde(skip_serializing_if = "Option::is_none")]
    token_id: Option<i64>,
    /// The id of the token's owner.
    #[serde(skip_serializing_if = "Option::is_none")]
    user_id: Option<i64>,
    /// The token's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<String>,
    /// The token's group, or its owner's if the token has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    /// Effective only for the group `auto`.
    #[serde(skip_serializing_if = "Option::is_none")]
    cross_group_retry: Option<bool>,
    /// Whether only the owner's wallet limits the token.
    #[serde(skip_serializing_if = "Option::is_none")]
    unlimited_quota: Option<bool>,
    /// The token's remaining quota in quota units.
    #[serde(skip_serializing_if = "Option::is_none")]
    remain_quota: Option<i64>,
    /// What can be spent in quota units: the least of token, wallet and period limits. Advisory; at most 2 s old.
    #[serde(skip_serializing_if = "Option::is_none")]
    usable_quota: Option<i64>,
    /// Unix timestamp; 0 means never.
    #[serde(skip_serializing_if = "Option::is_none")]
    expires_at: Option<i64>,
    /// Unix timestamp at which this key stops working, if it was replaced by another key of its token: change to that
    /// one.
    #[serde(skip_serializing_if = "Option::is_none")]
    key_expires_at: Option<i64>,
    /// The period limit that refuses the key.
    #[serde(flatten)]
    exceeded: ExceededBody,
    /// Seconds after which the key may be valid again; absent if time alone cannot help.
    #[serde(skip_serializing_if = "Option::is_none")]
    retry_after: Option<i64>,
}

impl From<&Verification> for VerificationBody {
    fn from(verification: &Verification) -> Self {
        let reason = verification.refusal.map(|refusal| refusal.reason.into());
        let Some(key) = &verification.key else {
            return Self { reason, ..Self::default() };
        };
        let token = &key.token;
        Self {
            valid: reason.is_none(),
            reason,
            token_id: Some(token.id.get()),
            user_id: Some(token.user_id.get()),
            name: Some(token.name.as_str().to_owned()),
            group: Some(key.group().to_owned()),
            cross_group_retry: Some(token.policy.cross_group_retry),
            unlimited_quota: Some(token.account.budget.is_unlimited()),
            remain_quota: Some(token.account.remain().get()),
            usable_quota: Some(verification.usable.get()),
            expires_at: Some(token.policy.lifetime.expires_at()),
            key_expires_at: key.used.old.map(|old| token.policy.lifetime.or_earlier(old.deadline).get()),
            exceeded: verification.refusal.and_then(Refusal::exceeded).into(),
            retry_after: verification.refusal.and_then(Refusal::retry_after),
        }
    }
}

/// Why nothing was checked.
type VerifyErrors = (
    InvalidModel,
    InvalidIp,
    (AmbiguousAmount, InvalidQuota, InvalidUsd),
    (InvalidCount, InvalidContext),
    MissingField,
);

/// Check whether a key may be used. Answers 200 also if it may not: see `valid` and `reason`.
#[utoipa::path(post, path = "/api/gateway/verify", tag = "gateway", request_body = VerifyBody,
    responses((status = 200, body = Envelope<VerificationBody>)))]
pub async fn verify(
    State(app): State<Arc<AppState>>,
    CallingGateway(gateway): CallingGateway,
    Json(body): Json<VerifyBody>,
) -> Result<Envelope<VerificationBody>, Fails<VerifyErrors>> {
    let context = context(body.model, body.ip.as_deref())?;
    let counts = count_fields!(body);
    let amount = (body.quota, body.usd.as_ref());
    // Without an amount and both counts, costs are not checked.
    let is_checked = amount.0.is_some() || amount.1.is_some() || counts.say_cost();
    let cost = is_checked.then(|| cost(amount, &counts, context.model.as_deref())).transpose()?;
    let key = body.key.as_deref().unwrap_or_default();
    let verification = app.ledger.verify((gateway, RefusedCall::Verify), key, &context, cost.as_ref()).await?;
    app.ledger.note_use(&verification);
    Ok(Envelope::of(VerificationBody::from(&verification)))
}

impl VerificationBody {
    /// The headers of a forward-auth answer.
    pub(super) fn headers(&self) -> [(&'static str, Option<String>); 5] {
        [
            ("x-token-id", self.token_id.map(|id| id.to_string())),
            ("x-user-id", self.user_id.map(|id| id.to_string())),
            ("x-token-group", self.group.clone()),
            ("x-key-expires-at", self.key_expires_at.map(|time| time.to_string())),
            ("x-remain-quota", self.usable_quota.map(|units| units.to_string())),
        ]
    }
}
