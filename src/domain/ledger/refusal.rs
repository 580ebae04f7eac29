//! Why the ledger refuses an operation.

use crate::domain::period_limits::PeriodExceeded;
use crate::domain::rate_limits::RateExceeded;

/// Why an operation was refused, in the order in which the reasons are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The key is unknown, or its token is deleted.
    #[error("this API key is not valid")]
    InvalidKey,
    /// The token is disabled.
    #[error("this token is disabled")]
    TokenDisabled,
    /// The token's expiry time has come.
    #[error("this token has expired")]
    TokenExpired,
    /// The token's owner is disabled.
    #[error("the account of this token is disabled")]
    UserDisabled,
    /// The owner was moved to another group, or the group was removed from the settings.
    #[error("the owner of this token may not use its group")]
    GroupNotAllowed,
    /// The model is not in the token's `model_limits`.
    #[error("this token may not use this model")]
    ModelNotAllowed,
    /// The address is not in the token's `allow_ips`.
    #[error("this token may not be used from this address")]
    IpNotAllowed,
    /// The token has no quota left.
    #[error("this token has used up its quota")]
    TokenExhausted,
    /// The token has less quota left than the amount.
    #[error("insufficient token quota for this amount")]
    TokenQuotaInsufficient,
    /// The owner's wallet has less quota left than the amount.
    #[error("insufficient account quota for this amount")]
    UserQuotaInsufficient,
    /// The amount does not fit into a period limit of the token.
    #[error("this token {0}")]
    TokenPeriodExceeded(PeriodExceeded),
    /// The amount does not fit into a period limit of the token's owner.
    #[error("this account {0}")]
    UserPeriodExceeded(PeriodExceeded),
    /// A rate of the token is used up.
    #[error(transparent)]
    RateExceeded(RateExceeded),
    /// The token has as many open reservations as it may have.
    #[error("this token has as many requests under way as it may have; retry when one has ended")]
    TooManyConcurrent,
    /// The token may have no open reservation at all.
    #[error("this token may have 0 reservations open; no retry can succeed")]
    NoConcurrency,
    /// Never made, made by another gateway, or deleted long after it ended.
    #[error("reservation not found")]
    NoReservation,
    /// It has ended in another way (L7).
    #[error("this reservation has already ended")]
    ReservationEnded,
}

/// The reason of a refusal, without figures. Named like its error code.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, sqlx::Type)]
#[sqlx(type_name = "text", rename_all = "snake_case")]
pub enum RefusalReason {
    InvalidKey,
    TokenDisabled,
    TokenExpired,
    UserDisabled,
    GroupNotAllowed,
    ModelNotAllowed,
    IpNotAllowed,
    TokenExhausted,
    TokenQuotaInsufficient,
    UserQuotaInsufficient,
    TokenPeriodExceeded,
    UserPeriodExceeded,
    RateLimited,
    TooManyConcurrent,
    ReservationNotFound,
    ReservationEnded,
}

impl RefusalReason {
    /// The name in the API, in metrics and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::InvalidKey => "invalid_key",
            Self::TokenDisabled => "token_disabled",
            Self::TokenExpired => "token_expired",
            Self::UserDisabled => "user_disabled",
            Self::GroupNotAllowed => "group_not_allowed",
            Self::ModelNotAllowed => "model_not_allowed",
            Self::IpNotAllowed => "ip_not_allowed",
            Self::TokenExhausted => "token_exhausted",
            Self::TokenQuotaInsufficient => "token_quota_insufficient",
            Self::UserQuotaInsufficient => "user_quota_insufficient",
            Self::TokenPeriodExceeded => "token_period_exceeded",
            Self::UserPeriodExceeded => "user_period_exceeded",
            Self::RateLimited => "rate_limited",
            Self::TooManyConcurrent => "too_many_concurrent",
            Self::ReservationNotFound => "reservation_not_found",
            Self::ReservationEnded => "reservation_ended",
        }
    }
}

impl Refusal {
    /// Its reason, without figures.
    #[must_use]
    pub const fn reason(self) -> RefusalReason {
        match self {
            Self::InvalidKey => RefusalReason::InvalidKey,
            Self::TokenDisabled => RefusalReason::TokenDisabled,
            Self::TokenExpired => RefusalReason::TokenExpired,
            Self::UserDisabled => RefusalReason::UserDisabled,
            Self::GroupNotAllowed => RefusalReason::GroupNotAllowed,
            Self::ModelNotAllowed => RefusalReason::ModelNotAllowed,
            Self::IpNotAllowed => RefusalReason::IpNotAllowed,
            Self::TokenExhausted => RefusalReason::TokenExhausted,
            Self::TokenQuotaInsufficient => RefusalReason::TokenQuotaInsufficient,
            Self::UserQuotaInsufficient => RefusalReason::UserQuotaInsufficient,
            Self::TokenPeriodExceeded(_) => RefusalReason::TokenPeriodExceeded,
            Self::UserPeriodExceeded(_) => RefusalReason::UserPeriodExceeded,
            Self::RateExceeded(_) => RefusalReason::RateLimited,
            Self::TooManyConcurrent | Self::NoConcurrency => RefusalReason::TooManyConcurrent,
            Self::NoReservation => RefusalReason::ReservationNotFound,
            Self::ReservationEnded => RefusalReason::ReservationEnded,
        }
    }

    /// Seconds after which a retry can succeed, if time alone can help.
    #[must_use]
    pub const fn retry_after(self) -> Option<i64> {
        if let Self::TokenPeriodExceeded(exceeded) | Self::UserPeriodExceeded(exceeded) = self {
            return exceeded.retry_after;
        }
        if let Self::RateExceeded(exceeded) = self {
            return exceeded.retry_after();
        }
        if matches!(self, Self::TooManyConcurrent) { Some(1) } else { None }
    }

    /// The period limit that refused.
    #[must_use]
    pub const fn exceeded(self) -> Option<PeriodExceeded> {
        if let Self::TokenPeriodExceeded(exceeded) | Self::UserPeriodExceeded(exceeded) = self {
            return Some(exceeded);
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::calendar::Period;
    use crate::domain::money::Quota;
    use crate::domain::time::UnixTime;

    const EXCEEDED: PeriodExceeded = PeriodExceeded {
        period: Period::Day,
        limit: Quota::LEAST,
        used: Quota::LEAST,
        resets_at: UnixTime::new(1_700),
        retry_after: Some(700),
    };
    const NEVER: PeriodExceeded = PeriodExceeded { retry_after: None, ..EXCEEDED };

    #[test]
    fn the_names_of_reasons_are_stable_because_clients_and_the_database_know_them() {
        let table = [
            (Refusal::InvalidKey, "invalid_key"),
            (Refusal::TokenDisabled, "token_disabled"),
            (Refusal::TokenExpired, "token_expired"),
            (Refusal::UserDisabled, "user_disabled"),
            (Refusal::GroupNotAllowed, "group_not_allowed"),
            (Refusal::ModelNotAllowed, "model_not_allowed"),
            (Refusal::IpNotAllowed, "ip_not_allowed"),
            (Refusal::TokenExhausted, "token_exhausted"),
            (Refusal::TokenQuotaInsufficient, "token_quota_insufficient"),
            (Refusal::UserQuotaInsufficient, "user_quota_insufficient"),
            (Refusal::TokenPeriodExceeded(EXCEEDED), "token_period_exceeded"),
            (Refusal::UserPeriodExceeded(EXCEEDED), "user_period_exceeded"),
            (Refusal::RateExceeded(RateExceeded::Tokens { limit: 5, retry_after: Some(9) }), "rate_limited"),
            (Refusal::TooManyConcurrent, "too_many_concurrent"),
            (Refusal::NoConcurrency, "too_many_concurrent"),
            (Refusal::NoReservation, "reservation_not_found"),
            (Refusal::ReservationEnded, "reservation_ended"),
        ];
        for (refusal, name) in table {
            assert_eq!(refusal.reason().as_str(), name);
        }
    }

    #[test]
    fn only_limits_of_periods_rates_and_reservations_say_when_to_retry() {
        let table = [
            (Refusal::TokenPeriodExceeded(EXCEEDED), Some(700), Some(EXCEEDED)),
            (Refusal::UserPeriodExceeded(EXCEEDED), Some(700), Some(EXCEEDED)),
            (Refusal::RateExceeded(RateExceeded::Requests { limit: 5, retry_after: Some(9) }), Some(9), None),
            (Refusal::TooManyConcurrent, Some(1), None),
            (Refusal::TokenPeriodExceeded(NEVER), None, Some(NEVER)),
            (Refusal::UserPeriodExceeded(NEVER), None, Some(NEVER)),
            (Refusal::RateExceeded(RateExceeded::Requests { limit: 0, retry_after: None }), None, None),
            (Refusal::NoConcurrency, None, None),
            (Refusal::TokenExhausted, None, None),
            (Refusal::UserQuotaInsufficient, None, None),
            (Refusal::ReservationEnded, None, None),
        ];
        for (refusal, retry_after, exceeded) in table {
            assert_eq!((refusal.retry_after(), refusal.exceeded()), (retry_after, exceeded), "{refusal:?}");
        }
    }

    #[test]
    fn limits_are_said_in_words_that_fit_their_numbers() {
        let period = |limit, used, period, retry_after| {
            let quota = |units| Quota::grant(units).unwrap();
            let (limit, used) = (quota(limit), quota(used));
            PeriodExceeded { period, limit, used, resets_at: UnixTime::new(0), retry_after }
        };
        let requests = |limit, retry_after| Refusal::RateExceeded(RateExceeded::Requests { limit, retry_after });
        let tokens = |limit, retry_after| Refusal::RateExceeded(RateExceeded::Tokens { limit, retry_after });
        let table = [
            (
                Refusal::TokenPeriodExceeded(period(100, 60, Period::Day, Some(82_260))),
                "this token may use 100 quota units per day and has used 60; the day ends in 22 h 51 min",
            ),
            (
                Refusal::UserPeriodExceeded(period(1, 1, Period::Month, Some(59))),
                "this account may use 1 quota unit per month and has used 1; the month ends in 59 s",
            ),
            (
                Refusal::TokenPeriodExceeded(period(100, 60, Period::Week, None)),
                "this token may use 100 quota units per week, so this request can never fit",
            ),
            (
                Refusal::UserPeriodExceeded(period(0, 0, Period::Day, None)),
                "this account may use 0 quota units per day, so this request can never fit",
            ),
            (requests(1, Some(60)), "this token may make 1 request per minute; retry after 1 min"),
            (requests(60, Some(1)), "this token may make 60 requests per minute; retry after 1 s"),
            (requests(0, None), "this token may make 0 requests per minute; no retry can succeed"),
            (tokens(1, Some(3_600)), "this token may use 1 model token per minute; retry after 1 h"),
            (tokens(100, Some(37)), "this token may use 100 model tokens per minute; retry after 37 s"),
            (tokens(0, None), "this token may use 0 model tokens per minute; no retry can succeed"),
        ];
        for (refusal, text) in table {
            assert_eq!(refusal.to_string(), text);
        }
    }
}
