//! Limits as the API shows them at [`START`](super::START).

use serde_json::{Value, json};

use super::START;

pub const DAY_ENDS: i64 = START + 12 * 3_600;
/// The Monday after.
pub const WEEK_ENDS: i64 = DAY_ENDS + 5 * 86_400;
/// The first of April.
pub const MONTH_ENDS: i64 = DAY_ENDS + 21 * 86_400;

/// `period_limits` with these limits of a day, a week and a month.
pub fn period_limits([day, week, month]: [i64; 3]) -> Value {
    json!({ "day": day, "week": week, "month": month })
}

/// `period_limits` without any limit.
pub fn no_period_limits() -> Value {
    period_limits([-1, -1, -1])
}

/// `period_usage` of a token or a user that has no limit and used nothing.
pub fn no_period_usage() -> Value {
    let period = |resets_at| json!({ "limit": -1, "used": 0, "remaining": -1, "resets_at": resets_at });
    json!({ "day": period(DAY_ENDS), "week": period(WEEK_ENDS), "month": period(MONTH_ENDS) })
}

/// `rate_limits` without any limit.
pub fn no_rate_limits() -> Value {
    json!({ "requests_per_minute": -1, "tokens_per_minute": -1, "concurrency": -1 })
}
