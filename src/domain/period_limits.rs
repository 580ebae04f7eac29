//! Limits that renew every day, week or month.
//!
//! No job resets a counter: it carries the day on which it was last changed, and one of a past period counts as
//! nothing. Every token and wallet is counted, with a limit or without, so that a limit set at noon is exact at once.

use super::calendar::{Calendar, Moment, Period};
use super::limit_change::LimitChange;
use super::money::Quota;
use super::time::{Day, UnixTime};
use super::wording::{Count, Wait};

/// What may be used in a day, a week and a month; `None` is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PeriodLimits {
    pub day: Option<Quota>,
    pub week: Option<Quota>,
    pub month: Option<Quota>,
}

/// Changes of period limits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PeriodLimitsPatch {
    pub day: LimitChange<Quota>,
    pub week: LimitChange<Quota>,
    pub month: LimitChange<Quota>,
}

/// What was used in the day, the week and the month of `day`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeriodCounters {
    /// The day of the last change. It never moves back.
    pub day: Day,
    pub day_used: Quota,
    pub week_used: Quota,
    pub month_used: Quota,
}

/// The limit that an amount does not fit into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PeriodExceeded {
    pub period: Period,
    pub limit: Quota,
    /// What was used in the period, without open reservations.
    pub used: Quota,
    pub resets_at: UnixTime,
    /// Seconds from now until then; `None` if the amount is larger than the whole limit, so that it never fits.
    pub retry_after: Option<i64>,
}

impl PeriodExceeded {
    /// The one that ends later. One that never ends is later than all others; of two that end together, `self`.
    pub fn or_later(self, other: Self) -> Self {
        let end = |exceeded: Self| (exceeded.retry_after.is_none(), exceeded.resets_at);
        if end(other) > end(self) { other } else { self }
    }
}

/// What is said of the token or the account that has the limit.
impl std::fmt::Display for PeriodExceeded {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { period, limit, used, .. } = self;
        write!(f, "may use {} per {period}", Count(limit.get(), "quota unit"))?;
        match self.retry_after {
            None => f.write_str(", so this request can never fit"),
            Some(seconds) => write!(f, " and has used {}; the {period} ends in {}", used.get(), Wait(seconds)),
        }
    }
}

impl PeriodLimits {
    pub const fn get(&self, period: Period) -> Option<Quota> {
        match period {
            Period::Day => self.day,
            Period::Week => self.week,
            Period::Month => self.month,
        }
    }

    /// These limits after a change.
    pub fn edited(self, patch: PeriodLimitsPatch) -> Self {
        Self { day: patch.day.apply(self.day), week: patch.week.apply(self.week), month: patch.month.apply(self.month) }
    }
}

impl PeriodCounters {
    /// Nothing was used yet.
    pub const NONE: Self =
        Self { day: Day::FIRST, day_used: Quota::ZERO, week_used: Quota::ZERO, month_used: Quota::ZERO };

    /// The counters on `today`: those of past periods are 0. A day before the last change counts as the day of that
    /// change, so that a server whose clock is behind reopens no period.
    pub fn on(self, today: Day, calendar: Calendar) -> Self {
        let today = today.max(self.day);
        if today == self.day {
            return self;
        }
        let is_same = |period| calendar.first_day(period, today) == calendar.first_day(period, self.day);
        let kept = |period, used| if is_same(period) { used } else { Quota::ZERO };
        Self {
            day: today,
            day_used: Quota::ZERO,
            week_used: kept(Period::Week, self.week_used),
            month_used: kept(Period::Month, self.month_used),
        }
    }

    /// Counts a charge of the day of these counters.
    pub fn plus(self, quota: Quota) -> Self {
        let sum = |used: Quota| used.checked_add(quota).unwrap_or(Quota::MAX);
        Self { day_used: sum(self.day_used), week_used: sum(self.week_used), month_used: sum(self.month_used), ..self }
    }

    pub const fn used(&self, period: Period) -> Quota {
        match period {
            Period::Day => self.day_used,
            Period::Week => self.week_used,
            Period::Month => self.month_used,
        }
    }
}

/// The limits of a token or a wallet with all that counts against them.
#[derive(Debug, Clone, Copy)]
pub struct PeriodUsage {
    limits: PeriodLimits,
    counters: PeriodCounters,
    /// Open reservations; they count in every period until they end.
    held: Quota,
    calendar: Calendar,
    now: UnixTime,
}

impl PeriodUsage {
    /// What counts at a moment. `not_before` is a day that has begun on another server, if it is later.
    pub fn new(limits: PeriodLimits, counters: PeriodCounters, held: Quota, not_before: Day, at: &Moment) -> Self {
        let counters = counters.on(at.today.max(not_before), at.calendar);
        Self { limits, counters, held, calendar: at.calendar, now: at.now }
    }

    pub const fn limit(&self, period: Period) -> Option<Quota> {
        self.limits.get(period)
    }

    /// What was used in the period, without open reservations.
    pub const fn used(&self, period: Period) -> Quota {
        self.counters.used(period)
    }

    /// What may still be used in the period; `None` without a limit.
    pub fn remaining(&self, period: Period) -> Option<Quota> {
        let counted = self.used(period).checked_add(self.held).unwrap_or(Quota::MAX);
        self.limit(period).map(|limit| limit.saturating_sub(counted))
    }

    /// When the period ends.
    pub fn resets_at(&self, period: Period) -> UnixTime {
        self.calendar.end(period, self.counters.day)
    }

    /// What may still be used in every period; `None` without any limit.
    pub fn remaining_in_all(&self) -> Option<Quota> {
        Period::ALL.into_iter().filter_map(|period| self.remaining(period)).min()
    }

    /// Whether `quota` fits into every limit. A limit of 0 admits nothing, not even a request without cost.
    ///
    /// # Errors
    /// Of the limits that it does not fit into, the one that ends last: no retry before can succeed. A limit that is
    /// smaller than `quota` never ends. Of those that end together, the shortest.
    pub fn admit(&self, quota: Quota) -> Result<(), PeriodExceeded> {
        let is_exceeded = |period: &Period| {
            let counted = self.used(*period).checked_add(self.held).and_then(|counted| counted.checked_add(quota));
            let fits = |limit: Quota| !limit.is_zero() && counted.is_some_and(|counted| counted <= limit);
            !self.limit(*period).is_none_or(fits)
        };
        let exceeded = Period::ALL.into_iter().filter(is_exceeded).map(|period| {
            let (limit, resets_at) = (self.limit(period).unwrap_or_default(), self.resets_at(period));
            let ever_fits = !limit.is_zero() && quota <= limit;
            let retry_after = ever_fits.then(|| resets_at.since(self.now).max(1));
            PeriodExceeded { period, limit, used: self.used(period), resets_at, retry_after }
        });
        exceeded.reduce(PeriodExceeded::or_later).map_or(Ok(()), Err)
    }
}

#[cfg(test)]
mod tests {
    use chrono::Weekday;
    use chrono_tz::Tz;

    use super::*;
    use crate::domain::time::Micros;

    fn quota(units: i64) -> Quota {
        Quota::grant(units).unwrap()
    }

    #[test]
    fn what_remains_is_the_limit_without_what_was_used_and_what_is_held() {
        let at = Moment::new(Micros::new(1_700_000_000_000_000), Calendar { zone: Tz::UTC, week_starts: Weekday::Mon });
        let counters =
            PeriodCounters { day: at.today, day_used: quota(10), week_used: quota(20), month_used: quota(30) };
        let remaining = |day, week, month, held| {
            let limits = PeriodLimits { day, week, month };
            let usage = PeriodUsage::new(limits, counters, quota(held), at.today, &at);
            (
                Period::ALL.map(|period| usage.remaining(period).map(Quota::get)),
                usage.remaining_in_all().map(Quota::get),
            )
        };
        assert_eq!(remaining(None, None, None, 5), ([None; 3], None));
        let (day, week, month) = (Some(quota(15)), Some(quota(100)), Some(quota(42)));
        assert_eq!(remaining(day, week, month, 0), ([Some(5), Some(80), Some(12)], Some(5)));
        assert_eq!(remaining(None, week, month, 4), ([None, Some(76), Some(8)], Some(8)));
        assert_eq!(remaining(day, None, None, 6), ([Some(0), None, None], Some(0)));
    }
}
