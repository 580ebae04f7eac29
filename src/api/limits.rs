//! `period_limits`, `rate_limits` and `period_usage` of requests and answers (docs/limits.md). In all of them -1 is no
//! limit.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

use crate::api::errors::code::ErrorCode;
use crate::api::errors::failure::ApiError;
use crate::domain::bounds;
use crate::domain::calendar::Period;
use crate::domain::limit_change::LimitChange;
use crate::domain::money::Quota;
use crate::domain::period_limits::{PeriodExceeded, PeriodLimits, PeriodLimitsPatch, PeriodUsage};
use crate::domain::rate_limits::{RateLimits, RateLimitsPatch};

/// Stands for no limit.
pub const NO_LIMIT: i64 = -1;

/// A member whose own members are limits, as it was sent. It keeps a member that is there twice, which a parsed
/// [`serde_json::Value`] would not.
pub type RawLimit = Box<RawValue>;

/// Limits that renew, in quota units. An absent or `null` member keeps its limit; -1 removes it; 0 admits nothing.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct PeriodLimitsChange {
    /// Each calendar day of the server's time zone.
    day: Option<i64>,
    /// Each week.
    week: Option<i64>,
    /// Each calendar month.
    month: Option<i64>,
}

impl PeriodLimitsChange {
    /// Reads it from a request. A wrong member is an error: a limit that is ignored costs money.
    pub fn read(value: Option<&RawValue>) -> Result<PeriodLimitsPatch, ApiError> {
        let Some(value) = value else {
            return Ok(PeriodLimitsPatch::default());
        };
        let field = Field { name: "period_limits", code: ErrorCode::InvalidPeriodLimit, max: bounds::MAX_QUOTA };
        let Self { day, week, month } = field.read(value, "`day`, `week` and `month`")?;
        let quota = |member, units| {
            Ok::<_, ApiError>(match field.change(member, units)? {
                LimitChange::Keep => LimitChange::Keep,
                LimitChange::Remove => LimitChange::Remove,
                LimitChange::Set(units) => {
                    LimitChange::Set(Quota::grant(units).map_err(|_| ApiError::new(field.code, field.range(member)))?)
                }
            })
        };
        Ok(PeriodLimitsPatch { day: quota("day", day)?, week: quota("week", week)?, month: quota("month", month)? })
    }
}

/// Rates and concurrency. An absent or `null` member keeps its limit; -1 removes it; 0 admits nothing.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub struct RateLimitsChange {
    /// Charges and reservations per minute.
    requests_per_minute: Option<i64>,
    /// Input and output tokens of models per minute, as gateways report them.
    tokens_per_minute: Option<i64>,
    /// Open reservations.
    concurrency: Option<i64>,
}

impl RateLimitsChange {
    /// Reads it from a request.
    pub fn read(value: Option<&RawValue>) -> Result<RateLimitsPatch, ApiError> {
        let Some(value) = value else {
            return Ok(RateLimitsPatch::default());
        };
        let field = Field { name: "rate_limits", code: ErrorCode::InvalidRateLimit, max: bounds::MAX_RATE };
        let Self { requests_per_minute, tokens_per_minute, concurrency } =
            field.read(value, "`requests_per_minute`, `tokens_per_minute` and `concurrency`")?;
        Ok(RateLimitsPatch {
            requests_per_minute: field.change("requests_per_minute", requests_per_minute)?,
            tokens_per_minute: field.change("tokens_per_minute", tokens_per_minute)?,
            concurrency: field.change("concurrency", concurrency)?,
        })
    }
}

/// A field with limits as its members.
struct Field {
    name: &'static str,
    code: ErrorCode,
    max: i64,
}

impl Field {
    /// Its members. `members` lists their names for people.
    fn read<T: DeserializeOwned>(&self, value: &RawValue, members: &str) -> Result<T, ApiError> {
        let Self { name, code, .. } = *self;
        // serde would accept an array as the members in their order.
        if !value.get().starts_with('{') {
            return Err(ApiError::new(code, format!("`{name}` must be a JSON object with the members {members}")));
        }
        let mut json = serde_json::Deserializer::from_str(value.get());
        serde_path_to_error::deserialize(&mut json).map_err(|error| {
            let (member, text) = (error.path().to_string(), error.inner().to_string());
            let message = if text.starts_with("unknown field") {
                format!("`{name}` has no member `{member}`; its members are {members}")
            } else if let Some(twice) = text.strip_prefix("duplicate field `").and_then(|rest| rest.split('`').next()) {
                format!("`{name}.{twice}` is there twice; send it once")
            } else {
                self.range(&member)
            };
            ApiError::new(code, message)
        })
    }

    /// What a member asks for.
    fn change(&self, member: &str, number: Option<i64>) -> Result<LimitChange<i64>, ApiError> {
        match number {
            None => Ok(LimitChange::Keep),
            Some(NO_LIMIT) => Ok(LimitChange::Remove),
            Some(number) if (0..=self.max).contains(&number) => Ok(LimitChange::Set(number)),
            Some(_) => Err(ApiError::new(self.code, self.range(member))),
        }
    }

    fn range(&self, member: &str) -> String {
        format!("`{}.{member}` must be a whole number from 0 to {}, or -1 for no limit", self.name, self.max)
    }
}

/// Limits that renew, in quota units; -1 is no limit.
#[derive(Debug, Serialize, ToSchema)]
pub struct PeriodLimitsBody {
    day: i64,
    week: i64,
    month: i64,
}

impl From<PeriodLimits> for PeriodLimitsBody {
    fn from(limits: PeriodLimits) -> Self {
        let units = |limit: Option<Quota>| limit.map_or(NO_LIMIT, Quota::get);
        Self { day: units(limits.day), week: units(limits.week), month: units(limits.month) }
    }
}

/// Rates and concurrency; -1 is no limit.
#[derive(Debug, Serialize, ToSchema)]
pub struct RateLimitsBody {
    /// Charges and reservations per minute.
    requests_per_minute: i64,
    /// Input and output tokens of models per minute.
    tokens_per_minute: i64,
    /// Open reservations.
    concurrency: i64,
}

impl From<RateLimits> for RateLimitsBody {
    fn from(limits: RateLimits) -> Self {
        let number = |limit: Option<i64>| limit.unwrap_or(NO_LIMIT);
        Self {
            requests_per_minute: number(limits.requests_per_minute),
            tokens_per_minute: number(limits.tokens_per_minute),
            concurrency: number(limits.concurrency),
        }
    }
}

/// What was used in the present day, week and month.
#[derive(Debug, Serialize, ToSchema)]
pub struct PeriodUsageBody {
    day: PeriodBody,
    week: PeriodBody,
    month: PeriodBody,
}

/// One period.
#[derive(Debug, Serialize, ToSchema)]
pub struct PeriodBody {
    /// Quota units; -1 is no limit.
    limit: i64,
    /// Quota units that were charged in the period.
    used: i64,
    /// Quota units that can still be used: the limit without what was used and what is reserved. -1 without a limit.
    remaining: i64,
    /// Unix timestamp at which the next period begins.
    resets_at: i64,
}

impl From<PeriodUsage> for PeriodUsageBody {
    fn from(usage: PeriodUsage) -> Self {
        let units = |quota: Option<Quota>| quota.map_or(NO_LIMIT, Quota::get);
        let body = |period| PeriodBody {
            limit: units(usage.limit(period)),
            used: usage.used(period).get(),
            remaining: units(usage.remaining(period)),
            resets_at: usage.resets_at(period).get(),
        };
        Self { day: body(Period::Day), week: body(Period::Week), month: body(Period::Month) }
    }
}

/// The period limit that refused a request; absent for other refusals.
#[derive(Debug, Default, Serialize, ToSchema)]
pub struct ExceededBody {
    /// `day`, `week` or `month`.
    #[serde(skip_serializing_if = "Option::is_none")]
    period: Option<&'static str>,
    /// Quota units.
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<i64>,
    /// Quota units that were charged in the period.
    #[serde(skip_serializing_if = "Option::is_none")]
    used: Option<i64>,
    /// Unix timestamp at which the next period begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    resets_at: Option<i64>,
}

impl From<Option<PeriodExceeded>> for ExceededBody {
    fn from(exceeded: Option<PeriodExceeded>) -> Self {
        let Some(PeriodExceeded { period, limit, used, resets_at, .. }) = exceeded else {
            return Self::default();
        };
        Self {
            period: Some(period.as_str()),
            limit: Some(limit.get()),
            used: Some(used.get()),
            resets_at: Some(resets_at.get()),
        }
    }
}
