//! The billing calls of the OpenAI API, with which clients of this API family show what a key can still spend.

use std::sync::Arc;

use axum::extract::State;
use serde::{Serialize, Serializer};
use utoipa::ToSchema;

use crate::api::auth::KeyHolder;
use crate::api::envelope::{NoStore, Plain};
use crate::api::errors::fails::Fails;
use crate::api::extract::ClientIp;
use crate::api::state::AppState;
use crate::api::usage::{Dollars, serialize_decimal};
use crate::domain::money::{Cents, Quota, Usd};
use crate::domain::usage::KeyUsage;
use crate::service::key_holders::KeyHolderError;

/// What a key may spend altogether.
#[derive(Debug, Serialize, ToSchema)]
pub struct SubscriptionBody {
    /// Always `billing_subscription`.
    object: &'static str,
    /// Always true.
    has_payment_method: bool,
    /// Remaining + used, USD.
    soft_limit_usd: Dollars,
    /// Remaining + used, USD.
    hard_limit_usd: Dollars,
    /// Remaining + used, USD.
    system_hard_limit_usd: Dollars,
    /// When the key expires, as a Unix timestamp; 0 means never.
    access_until: i64,
}

/// What a key has spent.
#[derive(Debug, Serialize, ToSchema)]
pub struct BilledUsageBody {
    /// Always `list`.
    object: &'static str,
    /// Cents that were ever charged to the key.
    total_usage: CentsBody,
}

/// What a key was granted, has spent and can still spend.
#[derive(Debug, Serialize, ToSchema)]
pub struct CreditGrantsBody {
    /// Always `credit_summary`.
    object: &'static str,
    /// Remaining + used, USD.
    total_granted: Dollars,
    /// Used, USD.
    total_used: Dollars,
    /// Remaining, USD.
    total_available: Dollars,
}

/// Cents as an exact JSON number with at most four decimal places.
#[derive(Debug, ToSchema)]
#[schema(value_type = f64)]
struct CentsBody(Cents);

impl Serialize for CentsBody {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_decimal(&self.0, serializer)
    }
}

/// The limit of this API key. One of unlimited quota shows what is left in its owner's wallet
/// (`compat.unlimited_limit`).
#[utoipa::path(get, path = "/v1/dashboard/billing/subscription", tag = "drop-in",
    responses((status = 200, body = SubscriptionBody)))]
pub async fn subscription(
    State(app): State<Arc<AppState>>,
    ClientIp(ip): ClientIp,
    KeyHolder(key): KeyHolder,
) -> Result<NoStore<Plain<SubscriptionBody>>, Fails<KeyHolderError>> {
    let usage = app.usage.by_key(&key, ip, |limits| &limits.drop_in).await?;
    let limit = || Dollars::from(granted(&usage, &app));
    Ok(NoStore(Plain(SubscriptionBody {
        object: "billing_subscription",
        has_payment_method: true,
        soft_limit_usd: limit(),
        hard_limit_usd: limit(),
        system_hard_limit_usd: limit(),
        access_until: usage.token.policy.lifetime.expires_at(),
    })))
}

/// What was ever charged to this API key. The dates that clients send are ignored: they subtract the number from the
/// limit.
#[utoipa::path(get, path = "/v1/dashboard/billing/usage", operation_id = "billed_usage", tag = "drop-in",
    responses((status = 200, body = BilledUsageBody)))]
pub async fn usage(
    State(app): State<Arc<AppState>>,
    ClientIp(ip): ClientIp,
    KeyHolder(key): KeyHolder,
) -> Result<NoStore<Plain<BilledUsageBody>>, Fails<KeyHolderError>> {
    let usage = app.usage.by_key(&key, ip, |limits| &limits.drop_in).await?;
    Ok(NoStore(Plain(BilledUsageBody {
        object: "list",
        total_usage: CentsBody(usage.token.account.used.usd().cents()),
    })))
}

/// What this API key was granted, has spent and can still spend.
#[utoipa::path(get, path = "/v1/dashboard/billing/credit_grants", tag = "drop-in",
    responses((status = 200, body = CreditGrantsBody)))]
pub async fn credit_grants(
    State(app): State<Arc<AppState>>,
    ClientIp(ip): ClientIp,
    KeyHolder(key): KeyHolder,
) -> Result<NoStore<Plain<CreditGrantsBody>>, Fails<KeyHolderError>> {
    let usage = app.usage.by_key(&key, ip, |limits| &limits.drop_in).await?;
    Ok(NoStore(Plain(CreditGrantsBody {
        object: "credit_summary",
        total_granted: Dollars::from(granted(&usage, &app)),
        total_used: Dollars::from(usage.token.account.used.usd()),
        total_available: Dollars::from(available(&usage, &app).usd()),
    })))
}

fn available(usage: &KeyUsage, app: &AppState) -> Quota {
    app.settings.unlimited_limit.available(&usage.token.account, usage.wallet)
}

fn granted(usage: &KeyUsage, app: &AppState) -> Usd {
    available(usage, app).usd() + usage.token.account.used.usd()
}
