//! Limits of requests and model tokens per minute, and of open reservations.
//!
//! The two rates are leaky buckets in the form of GCRA: one number a rate, the time at which the bucket is empty (the
//! "theoretical arrival time"). A request moves it forward; one that would move it more than a minute ahead of now is
//! refused. So a whole minute's worth may come at once, and afterwards as much as has drained since.

use super::bounds;
use super::limit_change::LimitChange;
use super::time::Micros;
use super::wording::{Count, Wait};

/// `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RateLimits {
    pub requests_per_minute: Option<i64>,
    pub tokens_per_minute: Option<i64>,
    /// The most open reservations.
    pub concurrency: Option<i64>,
}

/// Changes of rate limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RateLimitsPatch {
    pub requests_per_minute: LimitChange<i64>,
    pub tokens_per_minute: LimitChange<i64>,
    pub concurrency: LimitChange<i64>,
}

/// What counts against the limits of a token.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RateCounters {
    /// When the bucket of requests is empty.
    pub requests_tat: Micros,
    /// When the bucket of model tokens is empty.
    pub tokens_tat: Micros,
    pub open_reservations: i64,
}

/// A rate that is used up, said of a token. A limit of 0 admits nothing at any time: there is no `retry_after` then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RateExceeded {
    #[error("may make {} per minute; {}", Count(*.limit, "request"), Retry(*.retry_after))]
    Requests { limit: i64, retry_after: Option<i64> },
    #[error("may use {} per minute; {}", Count(*.limit, "model token"), Retry(*.retry_after))]
    Tokens { limit: i64, retry_after: Option<i64> },
}

/// When to retry, for people.
struct Retry(Option<i64>);

impl std::fmt::Display for Retry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.0 {
            None => f.write_str("no retry can succeed"),
            Some(seconds) => write!(f, "retry after {}", Wait(seconds)),
        }
    }
}

impl RateExceeded {
    /// A refusal of [`admit_request`].
    pub fn requests(limit: i64, seconds: i64) -> Self {
        Self::Requests { limit, retry_after: (limit > 0).then_some(seconds) }
    }

    /// Seconds after which a retry can succeed, if nothing else is admitted before; `None` if it never can.
    pub const fn retry_after(self) -> Option<i64> {
        match self {
            Self::Requests { retry_after, .. } | Self::Tokens { retry_after, .. } => retry_after,
        }
    }
}

impl RateLimits {
    /// These limits after a change.
    pub fn edited(self, patch: RateLimitsPatch) -> Self {
        Self {
            requests_per_minute: patch.requests_per_minute.apply(self.requests_per_minute),
            tokens_per_minute: patch.tokens_per_minute.apply(self.tokens_per_minute),
            concurrency: patch.concurrency.apply(self.concurrency),
        }
    }

    /// The counters after one more request.
    ///
    /// # Errors
    /// A rate is used up; nothing is counted then.
    pub fn admit(&self, counters: RateCounters, now: Micros) -> Result<RateCounters, RateExceeded> {
        let requests_tat = match self.requests_per_minute {
            None => counters.requests_tat,
            Some(limit) => admit_request(limit, counters.requests_tat, now)
                .map_err(|seconds| RateExceeded::requests(limit, seconds))?,
        };
        if let Some(limit) = self.tokens_per_minute {
            // There must be room for one model token; how many a request uses is known only afterwards.
            let latest = now.plus(MINUTE.saturating_sub(1));
            let tat = believable(counters.tokens_tat, MAX_DEBT, now);
            if limit == 0 || tat > latest {
                let retry_after = (limit > 0).then(|| seconds_until(tat, latest));
                return Err(RateExceeded::Tokens { limit, retry_after });
            }
        }
        Ok(RateCounters { requests_tat, ..counters })
    }

    /// The counters after `tokens` were used.
    pub fn count_tokens(&self, counters: RateCounters, tokens: i64, now: Micros) -> RateCounters {
        let Some(limit) = self.tokens_per_minute.filter(|limit| *limit > 0) else {
            return counters;
        };
        let micros = (i128::from(tokens) * i128::from(MINUTE) + i128::from(limit) - 1) / i128::from(limit);
        let tat = believable(counters.tokens_tat, MAX_DEBT, now);
        let filled = tat.plus(i64::try_from(micros).unwrap_or(i64::MAX));
        // A wrong count must not lock the token for good.
        RateCounters { tokens_tat: filled.min(now.plus(MAX_DEBT)), ..counters }
    }

    /// The counters without what was counted while the clock was ahead: a bucket that would be empty later than a full
    /// one is full. Nothing is given back.
    pub fn cut(&self, counters: RateCounters, now: Micros) -> RateCounters {
        let requests = self.requests_per_minute.filter(|limit| *limit > 0).map_or(MINUTE, full_bucket);
        RateCounters {
            requests_tat: cut(counters.requests_tat, requests, now),
            tokens_tat: cut(counters.tokens_tat, MAX_DEBT, now),
            ..counters
        }
    }

    /// Whether one more reservation may be open.
    pub fn admit_reservation(&self, counters: RateCounters) -> bool {
        self.concurrency.is_none_or(|limit| counters.open_reservations < limit)
    }
}

const MINUTE: i64 = 60 * Micros::PER_SECOND;
const MAX_DEBT: i64 = bounds::MAX_RATE_DEBT_SECONDS * Micros::PER_SECOND;
const TOLERANCE: i64 = Micros::PER_SECOND;

/// When a bucket is empty, not before `now`. A full bucket is empty after `most` microseconds. What is later was
/// written while the clock was ahead: the bucket counts as full. Two servers may estimate the database's time a little
/// differently.
fn believable(tat: Micros, most: i64, now: Micros) -> Micros {
    if tat > now.plus(most.saturating_add(TOLERANCE)) { now.plus(most) } else { tat.max(now) }
}

/// For [`RateLimits::cut`]: a time that is believable stays as it is, also in the past.
fn cut(tat: Micros, most: i64, now: Micros) -> Micros {
    if tat > now { believable(tat, most, now) } else { tat }
}

/// The microseconds in which a full bucket of `limit` requests per minute drains. Not a minute, which may be less than
/// `limit` rounded intervals.
pub const fn full_bucket(limit: i64) -> i64 {
    interval(limit).saturating_mul(limit)
}

/// Microseconds for each request. Rounded up, so that no minute ever has more than the limit.
pub const fn interval(limit: i64) -> i64 {
    (MINUTE + limit - 1) / limit
}

/// GCRA: the new arrival time of a bucket of `limit` requests per minute.
///
/// # Errors
/// The bucket is full; returns the seconds until there is room. With a limit of 0 there never is.
pub fn admit_request(limit: i64, tat: Micros, now: Micros) -> Result<Micros, i64> {
    if limit <= 0 {
        return Err(60);
    }
    let full = full_bucket(limit);
    let (next, latest) = (believable(tat, full, now).plus(interval(limit)), now.plus(full));
    if next > latest { Err(seconds_until(next, latest)) } else { Ok(next) }
}

/// Whole seconds from `now` to `then`, rounded up, at least one.
fn seconds_until(then: Micros, now: Micros) -> i64 {
    let micros = then.get().saturating_sub(now.get()).max(1);
    (micros - 1) / Micros::PER_SECOND + 1
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const START: Micros = Micros::new(1_795_392_000_000_000);

    fn requests(limit: i64) -> RateLimits {
        RateLimits { requests_per_minute: Some(limit), ..RateLimits::default() }
    }

    fn tokens(limit: i64) -> RateLimits {
        RateLimits { tokens_per_minute: Some(limit), ..RateLimits::default() }
    }

    #[test]
    fn the_whole_limit_may_come_at_once_and_then_one_request_each_interval() {
        for limit in [1, 2, 7, 60, 61, 999, 100_000] {
            let mut counters = RateCounters::default();
            for nth in 1..=limit {
                counters = requests(limit).admit(counters, START).unwrap_or_else(|_| panic!("{nth} of {limit}"));
            }
            let refused = requests(limit).admit(counters, START).unwrap_err();
            let interval = (60_000_000 + limit - 1) / limit;
            assert_eq!(refused.retry_after(), Some((interval + 999_999) / 1_000_000), "{limit}");
            assert!(requests(limit).admit(counters, START.plus(interval - 1)).is_err(), "{limit}");
            assert!(requests(limit).admit(counters, START.plus(interval)).is_ok(), "{limit}");
        }
    }

    #[test]
    fn a_limit_of_zero_admits_nothing_and_no_limit_everything() {
        assert_eq!(
            requests(0).admit(RateCounters::default(), START),
            Err(RateExceeded::Requests { limit: 0, retry_after: None })
        );
        assert_eq!(
            tokens(0).admit(RateCounters::default(), START),
            Err(RateExceeded::Tokens { limit: 0, retry_after: None })
        );
        let full = RateCounters {
            requests_tat: Micros::new(i64::MAX),
            tokens_tat: Micros::new(i64::MAX),
            open_reservations: 9,
        };
        assert_eq!(RateLimits::default().admit(full, START), Ok(full));
        assert!(RateLimits::default().admit_reservation(full));
    }

    #[test]
    fn a_limit_of_zero_model_tokens_counts_none() {
        let counters = RateCounters { requests_tat: START, tokens_tat: START, open_reservations: 1 };
        assert_eq!(tokens(0).count_tokens(counters, 5, START), counters);
    }

    #[test]
    fn as_many_reservations_may_be_open_as_the_limit() {
        let admits = |limit, open_reservations| {
            let limits = RateLimits { concurrency: Some(limit), ..RateLimits::default() };
            limits.admit_reservation(RateCounters { open_reservations, ..RateCounters::default() })
        };
        for (limit, open, admitted) in [(2, 0, true), (2, 1, true), (2, 2, false), (2, 3, false), (0, 0, false)] {
            assert_eq!(admits(limit, open), admitted, "{open} of {limit}");
        }
    }

    #[test]
    fn model_tokens_are_admitted_while_there_is_room_for_one_and_overshoot_by_what_is_in_flight() {
        let limits = tokens(600);
        let counters = limits.count_tokens(RateCounters::default(), 599, START);
        assert!(limits.admit(counters, START).is_ok());
        let full = limits.count_tokens(counters, 1, START);
        let refused = limits.admit(full, START).unwrap_err();
        assert_eq!(refused, RateExceeded::Tokens { limit: 600, retry_after: Some(1) });
        assert!(limits.admit(full, START.plus(1)).is_ok());
        // 1,200 tokens too many: two more minutes.
        let over = limits.count_tokens(full, 1_200, START);
        assert_eq!(limits.admit(over, START).unwrap_err().retry_after(), Some(121));
        assert!(limits.admit(over, START.plus(120_000_001)).is_ok());
    }

    #[test]
    fn a_wrong_count_of_model_tokens_locks_a_token_for_an_hour_at_most() {
        let limits = tokens(1);
        let counters = limits.count_tokens(RateCounters::default(), i64::MAX, START);
        assert!(limits.admit(counters, START.plus(3_600_000_000)).is_ok());
        assert!(limits.admit(counters, START.plus(3_500_000_000)).is_err());
    }

    #[test]
    fn a_clock_that_was_ahead_leaves_full_buckets_that_drain_from_now_on() {
        let limits = RateLimits { requests_per_minute: Some(2), tokens_per_minute: Some(10), ..RateLimits::default() };
        for ahead in [2 * MINUTE, 4 * 86_400 * Micros::PER_SECOND] {
            let then = START.plus(ahead);
            let mut counters = limits.admit(RateCounters::default(), then).unwrap();
            counters = limits.count_tokens(limits.admit(counters, then).unwrap(), 1_000, then);
            assert_eq!(limits.admit(counters, START).unwrap_err().retry_after(), Some(30), "the limit is not void");
            let cut = limits.cut(counters, START);
            assert_eq!(cut.requests_tat, START.plus(MINUTE));
            assert_eq!(cut.tokens_tat, START.plus(MAX_DEBT));
            assert_eq!(requests(2).admit(cut, START.plus(30 * Micros::PER_SECOND)).map(|_| ()), Ok(()));
            assert!(requests(2).admit(counters, START.plus(30 * Micros::PER_SECOND)).is_err(), "it stays full uncut");
        }
    }

    #[test]
    fn what_a_clock_that_was_right_wrote_is_not_cut() {
        let limits = RateLimits { requests_per_minute: Some(7), tokens_per_minute: Some(10), ..RateLimits::default() };
        let mut counters = RateCounters { requests_tat: START.plus(-MINUTE), ..RateCounters::default() };
        assert_eq!(limits.cut(counters, START), counters);
        while let Ok(next) = limits.admit(counters, START) {
            counters = next;
        }
        counters = limits.count_tokens(counters, i64::MAX, START);
        assert_eq!(limits.cut(counters, START), counters, "full");
        assert_eq!(limits.cut(counters, START.plus(-TOLERANCE)), counters, "another server's estimate of the time");
        assert_ne!(limits.cut(counters, START.plus(-TOLERANCE - 1)), counters);
    }

    #[test]
    fn a_rate_that_is_set_later_is_not_locked_by_a_clock_that_was_ahead() {
        let ahead = RateCounters { requests_tat: START.plus(9 * MINUTE), ..RateCounters::default() };
        for limits in [RateLimits::default(), requests(0)] {
            assert_eq!(limits.cut(ahead, START).requests_tat, START.plus(MINUTE));
        }
    }

    #[test]
    fn a_limit_that_changes_applies_at_once() {
        let mut counters = RateCounters::default();
        for _ in 0..10 {
            counters = requests(10).admit(counters, START).unwrap();
        }
        assert!(requests(10).admit(counters, START).is_err());
        let lifted =
            requests(10).edited(RateLimitsPatch { requests_per_minute: LimitChange::Remove, ..Default::default() });
        assert_eq!(lifted, RateLimits::default());
        assert_eq!(requests(10).edited(RateLimitsPatch::default()), requests(10));
        assert!(lifted.admit(counters, START).is_ok());
    }

    proptest! {
        /// In any minute at most the limit beyond what had drained before: a bucket that holds the limit and drains
        /// evenly.
        #[test]
        fn requests_are_admitted_exactly_as_by_a_leaky_bucket(
            limit in 1_i64..500,
            gaps in prop::collection::vec(prop_oneof![Just(0_i64), 0_i64..100_000, 0_i64..5_000_000, 0_i64..90_000_000], 1..300),
        ) {
            let interval = (60_000_000 + limit - 1) / limit;
            let (mut counters, mut now, mut admitted) = (RateCounters::default(), START, Vec::<Micros>::new());
            // The bucket as a plain model: its content in microseconds of draining.
            let (mut content, mut drained_at) = (0_i64, START);
            for gap in gaps {
                now = now.plus(gap);
                content = (content - (now.get() - drained_at.get())).max(0);
                drained_at = now;
                let fits = content + interval <= interval * limit;
                match requests(limit).admit(counters, now) {
                    Ok(next) => {
                        prop_assert!(fits);
                        content += interval;
                        counters = next;
                        admitted.push(now);
                    }
                    Err(refused) => {
                        prop_assert!(!fits);
                        let later = now.plus(refused.retry_after().unwrap() * 1_000_000);
                        prop_assert!(requests(limit).admit(counters, later).is_ok());
                    }
                }
            }
            // The limit at once, and then one for each interval.
            for (first, start) in admitted.iter().enumerate() {
                for (nth, at) in admitted.iter().enumerate().skip(first) {
                    let most = limit + (at.get() - start.get()) / interval;
                    prop_assert!(i64::try_from(nth - first).unwrap() < most);
                }
            }
        }
    }
}
