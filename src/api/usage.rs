//! Usage: by key (spec §2.3, §4.8) and by day (spec §2.4, §4.9).

use std::collections::BTreeMap;
use std::sync::Arc;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;
use utoipa::{IntoParams, ToSchema};

use super::auth::{ApiUser, KeyHolder};
use super::envelope::{DataOnly, KeyEnvelope, NoStore};
use super::extract::{ClientIp, Id, Query};
use super::limits::{PeriodUsageBody, RateLimitsBody};
use super::state::AppState;
use crate::api::errors::code::codes::{InvalidRange, NotFound};
use crate::api::errors::codes_of;
use crate::api::errors::fails::Fails;
use crate::domain::calendar::Moment;
use crate::domain::id::TokenId;
use crate::domain::money::Usd;
use crate::domain::usage::{DailyUsage, DayUsage, KeyUsage};
use crate::service::key_holders::KeyHolderError;
use crate::service::usage::UsageError;

/// Dollars as an exact JSON number with at most six decimal places.
#[derive(Debug, ToSchema)]
#[schema(value_type = f64)]
pub struct Dollars(Usd);

impl From<Usd> for Dollars {
    fn from(amount: Usd) -> Self {
        Self(amount)
    }
}

impl Serialize for Dollars {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serialize_decimal(&self.0, serializer)
    }
}

/// An amount as a JSON number with exactly the digits of its `Display`.
pub fn serialize_decimal<S: Serializer>(amount: &impl std::fmt::Display, serializer: S) -> Result<S::Ok, S::Error> {
    RawValue::from_string(amount.to_string()).map_err(serde::ser::Error::custom)?.serialize(serializer)
}

/// The Token usage object (spec §2.3), and the same amounts in quota units.
#[derive(Debug, Serialize, ToSchema)]
pub struct KeyUsageBody {
    /// Always `token_usage`.
    object: &'static str,
    /// The token's name.
    name: String,
    /// Available + used, USD.
    total_usd_granted: Dollars,
    /// Used, USD.
    total_usd_used: Dollars,
    /// Remaining, USD.
    total_usd_available: Dollars,
    /// Available + used, quota units.
    total_granted: i64,
    /// Used, quota units.
    total_used: i64,
    /// Remaining, quota units.
    total_available: i64,
    /// True if only the wallet limits the token.
    unlimited_quota: bool,
    /// Each allowed model, with `true`.
    model_limits: BTreeMap<String, bool>,
    /// True if `model_limits` applies.
    model_limits_enabled: bool,
    /// Unix timestamp; 0 means never.
    expires_at: i64,
    /// The owner's wallet, USD.
    user_usd_available: Dollars,
    /// What was used in the present periods, and their limits.
    period_usage: PeriodUsageBody,
    /// Limits per minute, and of open reservations.
    rate_limits: RateLimitsBody,
}

impl KeyUsageBody {
    fn new(KeyUsage { token, wallet }: &KeyUsage, at: &Moment) -> Self {
        let (used, available) = (token.account.used, token.account.remain());
        Self {
            object: "token_usage",
            name: token.name.as_str().to_owned(),
            total_usd_granted: Dollars(available.usd() + used.usd()),
            total_usd_used: Dollars(used.usd()),
            total_usd_available: Dollars(available.usd()),
            total_granted: available.get().saturating_add(used.get()),
            total_used: used.get(),
            total_available: available.get(),
            unlimited_quota: token.account.budget.is_unlimited(),
            model_limits: token.policy.model_limits.names().map(|name| (name.to_owned(), true)).collect(),
            model_limits_enabled: token.policy.model_limits_enabled,
            expires_at: token.policy.lifetime.expires_at(),
            user_usd_available: Dollars(wallet.usd()),
            period_usage: token.account.period_usage(at.today, at).into(),
            rate_limits: token.rate_limits.into(),
        }
    }
}

/// The Daily usage object (spec §2.4).
#[derive(Debug, Serialize, ToSchema)]
pub struct DailyUsageBody {
    /// Token ID.
    token_id: i64,
    /// Token name.
    token_name: String,
    /// The first day of the answer, YYYY-MM-DD.
    start_date: String,
    /// The last day of the answer, YYYY-MM-DD.
    end_date: String,
    /// One entry per day, ascending.
    daily: Vec<DayBody>,
}

/// The usage of one day.
#[derive(Debug, Serialize, ToSchema)]
pub struct DayBody {
    /// YYYY-MM-DD.
    date: String,
    /// Spend of the day, USD.
    usd: Dollars,
    /// Number of requests.
    requests: i64,
    /// Input tokens.
    prompt_tokens: i64,
    /// Output tokens.
    completion_tokens: i64,
}

impl From<DayUsage> for DayBody {
    fn from(day: DayUsage) -> Self {
        Self {
            date: day.day.to_string(),
            usd: Dollars(day.quota.usd()),
            requests: day.requests,
            prompt_tokens: day.prompt_tokens,
            completion_tokens: day.completion_tokens,
        }
    }
}

impl From<DailyUsage> for DailyUsageBody {
    fn from(usage: DailyUsage) -> Self {
        Self {
            token_id: usage.token_id.get(),
            token_name: usage.token_name.as_str().to_owned(),
            start_date: usage.range.first().to_string(),
            end_date: usage.range.last().to_string(),
            daily: usage.daily.into_iter().map(DayBody::from).collect(),
        }
    }
}

/// A range of days.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct RangeQuery {
    /// First day, YYYY-MM-DD. Default: the end date, or today if that is omitted too.
    start_date: Option<String>,
    /// Last day, YYYY-MM-DD. Default: today. A later day than 7 days after the start is replaced by that day.
    end_date: Option<String>,
}

/// The used and remaining quota of this API key (spec §4.8).
#[utoipa::path(get, path = "/api/usage/token", tag = "usage",
    responses((status = 200, body = KeyEnvelope<KeyUsageBody>)))]
pub async fn by_key(
    State(app): State<Arc<AppState>>,
    ClientIp(ip): ClientIp,
    KeyHolder(key): KeyHolder,
) -> Result<NoStore<KeyEnvelope<KeyUsageBody>>, Fails<KeyHolderError>> {
    let usage = app.usage.by_key(&key, ip, |limits| &limits.usage).await?;
    Ok(NoStore(KeyEnvelope::of(KeyUsageBody::new(&usage, &app.ledger.now()))))
}

/// Daily spend of a token (spec §4.9), at most 10 minutes old; see `Age`.
#[utoipa::path(get, path = "/api/token/{id}/usage", tag = "usage", params(("id" = i64, Path), RangeQuery),
    responses((status = 200, body = DataOnly<DailyUsageBody>,
        headers(("Age" = i64, description = "Age of the numbers in seconds")))))]
pub async fn daily(
    State(app): State<Arc<AppState>>,
    ApiUser(caller): ApiUser,
    Id(id): Id,
    Query(range): Query<RangeQuery>,
) -> Result<Response, Fails<(InvalidRange, NotFound)>> {
    let (start, end) = (range.start_date.as_deref(), range.end_date.as_deref());
    let (usage, age) = app.usage.daily(&caller, TokenId::new(id), start, end).await?;
    Ok(with_age(usage, age))
}

/// Daily spend of this API key, in the same format as the daily usage of a token.
#[utoipa::path(get, path = "/api/usage/token/daily", tag = "usage", params(RangeQuery),
    responses((status = 200, body = DataOnly<DailyUsageBody>,
        headers(("Age" = i64, description = "Age of the numbers in seconds")))))]
pub async fn daily_by_key(
    State(app): State<Arc<AppState>>,
    ClientIp(ip): ClientIp,
    KeyHolder(key): KeyHolder,
    Query(range): Query<RangeQuery>,
) -> Result<Response, Fails<(KeyHolderError, InvalidRange, NotFound)>> {
    let (start, end) = (range.start_date.as_deref(), range.end_date.as_deref());
    let (usage, age) = app.usage.daily_by_key(&key, ip, start, end).await?;
    Ok(with_age(usage, age))
}

fn with_age(usage: DailyUsage, age: i64) -> Response {
    let mut answer = DataOnly::of(DailyUsageBody::from(usage)).into_response();
    answer.headers_mut().insert(header::AGE, HeaderValue::from(age));
    answer
}

codes_of! {
    UsageError {
        NotFound => NotFound,
        Range(_) => InvalidRange,
        .. Key, Storage
    }
}
