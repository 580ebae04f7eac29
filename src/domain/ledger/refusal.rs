//! Why the ledger refuses an operation.

use std::fmt::{Display, Formatter};

use crate::domain::named::named;
use crate::domain::period_limits::PeriodExceeded;
use crate::domain::rate_limits::RateExceeded;

/// Declares [`RefusalReason`]. A reason has a name, which is also its error code, and a sentence; where a refusal has
/// [`Figures`], these say more.
macro_rules! refusal_reasons {
    ($($(#[doc = $meaning:literal])+ $reason:ident = $name:literal, $sentence:literal;)*) => {
        named! {
            /// Why an operation was refused, in the order in which the reasons are checked. The names are those of the
            /// API, of metrics and of the database.
            #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, sqlx::Type)]
            #[sqlx(type_name = "text")]
            pub enum RefusalReason {
                $(
                    $(#[doc = $meaning])+
                    #[sqlx(rename = $name)]
                    $reason = $name,
                )*
            }
        }

        impl RefusalReason {
            const fn sentence(self) -> &'static str {
                match self {
                    $(Self::$reason => $sentence,)*
                }
            }
        }
    };
}

refusal_reasons! {
    /// The key is unknown, or its token is deleted.
    InvalidKey = "invalid_key", "this API key is not valid";
    /// The token is disabled.
    TokenDisabled = "token_disabled", "this token is disabled";
    /// The token's expiry time has come.
    TokenExpired = "token_expired", "this token has expired";
    /// The token's owner is disabled.
    UserDisabled = "user_disabled", "the account of this token is disabled";
    /// The owner was moved to another group, or the group was removed from the settings.
    GroupNotAllowed = "group_not_allowed", "the owner of this token may not use its group";
    /// The model is not in the token's `model_limits`.
    ModelNotAllowed = "model_not_allowed", "this token may not use this model";
    /// The address is not in the token's `allow_ips`.
    IpNotAllowed = "ip_not_allowed", "this token may not be used from this address";
    /// The gateway sent no amount, and the price list has no price for the model.
    ModelNotPriced = "model_not_priced", "this model has no price";
    /// The token has no quota left.
    TokenExhausted = "token_exhausted", "this token has used up its quota";
    /// The token has less quota left than the amount.
    TokenQuotaInsufficient = "token_quota_insufficient", "insufficient token quota for this amount";
    /// The owner's wallet has less quota left than the amount.
    UserQuotaInsufficient = "user_quota_insufficient", "insufficient account quota for this amount";
    /// The amount does not fit into a period limit of the token.
    TokenPeriodExceeded = "token_period_exceeded", "this token has used up the limit of a period";
    /// The amount does not fit into a period limit of the token's owner.
    UserPeriodExceeded = "user_period_exceeded", "this account has used up the limit of a period";
    /// A rate of the token is used up.
    RateLimited = "rate_limited", "this token has used up a rate";
    /// The token has as many open reservations as it may have.
    TooManyConcurrent = "too_many_concurrent", "this token has too many requests under way";
    /// Never made, made by another gateway, or deleted long after it ended.
    ReservationNotFound = "reservation_not_found", "reservation not found";
    /// It has ended in another way (L7).
    ReservationEnded = "reservation_ended", "this reservation has already ended";
}

impl RefusalReason {
    /// Whether somebody has to act: a key, an account or a limit stops what it should serve. The others are mistakes of
    /// a request, or pass by themselves within a minute.
    pub const fn is_alarming(self) -> bool {
        match self {
            Self::TokenDisabled
            | Self::TokenExpired
            | Self::UserDisabled
            | Self::GroupNotAllowed
            | Self::TokenExhausted
            | Self::TokenQuotaInsufficient
            | Self::UserQuotaInsufficient
            | Self::TokenPeriodExceeded
            | Self::UserPeriodExceeded => true,
            Self::InvalidKey
            | Self::ModelNotAllowed
            | Self::IpNotAllowed
            | Self::ModelNotPriced
            | Self::RateLimited
            | Self::TooManyConcurrent
            | Self::ReservationNotFound
            | Self::ReservationEnded => false,
        }
    }

    /// Whether the key may not be used. The others are about a reservation that was made with it before.
    pub fn concerns_key(self) -> bool {
        self < Self::ReservationNotFound
    }
}

/// A refused operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub struct Refusal {
    pub reason: RefusalReason,
    pub figures: Figures,
}

/// The limit that refused, where the reason is a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Figures {
    None,
    Period(PeriodExceeded),
    Rate(RateExceeded),
    /// The most reservations that may be open.
    Concurrency(i64),
}

impl Refusal {
    /// A period limit of the token or of its owner refuses.
    pub const fn period(reason: RefusalReason, exceeded: PeriodExceeded) -> Self {
        Self { reason, figures: Figures::Period(exceeded) }
    }

    /// As many reservations are open as may be.
    pub const fn concurrency(limit: i64) -> Self {
        Self { reason: RefusalReason::TooManyConcurrent, figures: Figures::Concurrency(limit) }
    }

    /// Seconds after which a retry can succeed, if time alone can help.
    pub const fn retry_after(self) -> Option<i64> {
        match self.figures {
            Figures::Period(exceeded) => exceeded.retry_after,
            Figures::Rate(exceeded) => exceeded.retry_after(),
            Figures::Concurrency(limit) if limit > 0 => Some(1),
            Figures::Concurrency(_) | Figures::None => None,
        }
    }

    /// The period limit that refused.
    pub const fn exceeded(self) -> Option<PeriodExceeded> {
        if let Figures::Period(exceeded) = self.figures { Some(exceeded) } else { None }
    }
}

impl From<RefusalReason> for Refusal {
    fn from(reason: RefusalReason) -> Self {
        Self { reason, figures: Figures::None }
    }
}

impl From<RateExceeded> for Refusal {
    fn from(exceeded: RateExceeded) -> Self {
        Self { reason: RefusalReason::RateLimited, figures: Figures::Rate(exceeded) }
    }
}

impl Display for Refusal {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let subject = if self.reason == RefusalReason::UserPeriodExceeded { "this account" } else { "this token" };
        match self.figures {
            Figures::None => f.write_str(self.reason.sentence()),
            Figures::Period(exceeded) => write!(f, "{subject} {exceeded}"),
            Figures::Rate(exceeded) => write!(f, "{subject} {exceeded}"),
            Figures::Concurrency(0) => write!(f, "{subject} may have 0 reservations open; no retry can succeed"),
            Figures::Concurrency(_) => {
                write!(f, "{subject} has as many requests under way as it may have; retry when one has ended")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RefusalReason::*;
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
    fn a_key_or_an_account_that_is_stopped_alarms_and_a_mistake_of_a_request_does_not() {
        let alarming: Vec<_> = RefusalReason::ALL.iter().filter(|reason| reason.is_alarming()).collect();
        let stopped = [
            TokenDisabled,
            TokenExpired,
            UserDisabled,
            GroupNotAllowed,
            TokenExhausted,
            TokenQuotaInsufficient,
            UserQuotaInsufficient,
            TokenPeriodExceeded,
            UserPeriodExceeded,
        ];
        assert_eq!(alarming, stopped.iter().collect::<Vec<_>>());
    }

    #[test]
    fn the_names_of_reasons_are_stable_because_clients_and_the_database_know_them() {
        let table = [
            (InvalidKey, "invalid_key"),
            (TokenDisabled, "token_disabled"),
            (TokenExpired, "token_expired"),
            (UserDisabled, "user_disabled"),
            (GroupNotAllowed, "group_not_allowed"),
            (ModelNotAllowed, "model_not_allowed"),
            (IpNotAllowed, "ip_not_allowed"),
            (ModelNotPriced, "model_not_priced"),
            (TokenExhausted, "token_exhausted"),
            (TokenQuotaInsufficient, "token_quota_insufficient"),
            (UserQuotaInsufficient, "user_quota_insufficient"),
            (TokenPeriodExceeded, "token_period_exceeded"),
            (UserPeriodExceeded, "user_period_exceeded"),
            (RateLimited, "rate_limited"),
            (TooManyConcurrent, "too_many_concurrent"),
            (ReservationNotFound, "reservation_not_found"),
            (ReservationEnded, "reservation_ended"),
        ];
        for (reason, name) in table {
            assert_eq!(reason.as_str(), name);
        }
    }

    #[test]
    fn all_reasons_but_those_of_reservations_concern_the_key() {
        assert!([InvalidKey, TokenExhausted, TooManyConcurrent].into_iter().all(RefusalReason::concerns_key));
        assert!(![ReservationNotFound, ReservationEnded].into_iter().any(RefusalReason::concerns_key));
    }

    #[test]
    fn only_limits_of_periods_rates_and_reservations_say_when_to_retry() {
        let table = [
            (Refusal::period(TokenPeriodExceeded, EXCEEDED), Some(700), Some(EXCEEDED)),
            (Refusal::period(UserPeriodExceeded, EXCEEDED), Some(700), Some(EXCEEDED)),
            (Refusal::from(RateExceeded::Requests { limit: 5, retry_after: Some(9) }), Some(9), None),
            (Refusal::concurrency(3), Some(1), None),
            (Refusal::period(TokenPeriodExceeded, NEVER), None, Some(NEVER)),
            (Refusal::period(UserPeriodExceeded, NEVER), None, Some(NEVER)),
            (Refusal::from(RateExceeded::Requests { limit: 0, retry_after: None }), None, None),
            (Refusal::concurrency(0), None, None),
            (TokenExhausted.into(), None, None),
            (UserQuotaInsufficient.into(), None, None),
            (ReservationEnded.into(), None, None),
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
        let requests = |limit, retry_after| Refusal::from(RateExceeded::Requests { limit, retry_after });
        let tokens = |limit, retry_after| Refusal::from(RateExceeded::Tokens { limit, retry_after });
        let table = [
            (
                Refusal::period(TokenPeriodExceeded, period(100, 60, Period::Day, Some(82_260))),
                "this token may use 100 quota units per day and has used 60; the day ends in 22 h 51 min",
            ),
            (
                Refusal::period(UserPeriodExceeded, period(1, 1, Period::Month, Some(59))),
                "this account may use 1 quota unit per month and has used 1; the month ends in 59 s",
            ),
            (
                Refusal::period(TokenPeriodExceeded, period(100, 60, Period::Week, None)),
                "this token may use 100 quota units per week, so this request can never fit",
            ),
            (
                Refusal::period(UserPeriodExceeded, period(0, 0, Period::Day, None)),
                "this account may use 0 quota units per day, so this request can never fit",
            ),
            (requests(1, Some(60)), "this token may make 1 request per minute; retry after 1 min"),
            (requests(60, Some(1)), "this token may make 60 requests per minute; retry after 1 s"),
            (requests(0, None), "this token may make 0 requests per minute; no retry can succeed"),
            (tokens(1, Some(3_600)), "this token may use 1 model token per minute; retry after 1 h"),
            (tokens(100, Some(37)), "this token may use 100 model tokens per minute; retry after 37 s"),
            (tokens(0, None), "this token may use 0 model tokens per minute; no retry can succeed"),
            (
                Refusal::concurrency(3),
                "this token has as many requests under way as it may have; retry when one has ended",
            ),
            (Refusal::concurrency(0), "this token may have 0 reservations open; no retry can succeed"),
            (TokenExhausted.into(), "this token has used up its quota"),
        ];
        for (refusal, text) in table {
            assert_eq!(refusal.to_string(), text);
        }
    }
}
