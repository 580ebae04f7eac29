//! The parts of which the spend of a range of seconds is summed. A user may have millions of charges in it, so whole
//! days are read from the daily usage, and only the charges near the two ends one by one.

use super::bounds;
use super::money::Quota;
use super::time::{DAY, Day, UnixTime};

/// What a user spent in a range, and in the last minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spend {
    /// The sum of the range.
    pub quota: Quota,
    /// Charges of the last minute.
    pub requests_per_minute: i64,
    /// Input and output tokens of the last minute.
    pub tokens_per_minute: i64,
}

/// What to add up. The spend of the range is the daily usage of `days`, plus the charges of `edges` that are in the
/// range and count in no day of `days`, less those that are outside of the range and count in one.
///
/// That is exact although the day in which a charge counts may differ from the day of its time (`charges.day`): after a
/// change of `usage.time_zone`, and after the database's clock was wrong. Wherever it differs by no more than any two
/// time zones and [`bounds::MAX_DAYS_AHEAD`] do, the edges contain all charges in question, whatever zone their day was
/// one of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpendParts {
    /// The first and the last day; `None` if the charges alone are read.
    pub days: Option<(Day, Day)>,
    /// Ranges of seconds, both ends included, which do not overlap.
    pub edges: Vec<(UnixTime, UnixTime)>,
}

/// How long before the beginning of its UTC day the first charge of a day may be made: its zone is at most 14 hours
/// ahead of UTC, and the charge counts at most [`bounds::MAX_DAYS_AHEAD`] days ahead.
const EARLIEST: i64 = 14 * 3_600 + bounds::MAX_DAYS_AHEAD * DAY;

/// How long after the end of its UTC day the last charge of a day may be made: its zone is at most 12 hours behind UTC.
const LATEST: i64 = 12 * 3_600;

/// A shorter range has fewer charges than its edges would have.
const SHORTEST: i64 = 4 * DAY;

/// The seconds in which charges were made that count in the days from `first` to before `until`.
pub fn charged_between(first: Day, until: Day) -> (UnixTime, UnixTime) {
    let midnight = |day: Day| UnixTime::new(day.days_since(Day::FIRST) * DAY);
    (midnight(first).plus(-EARLIEST), midnight(until).plus(LATEST - 1))
}

impl SpendParts {
    /// The parts of the range from `from` to `to`, both included. All charges from `charges_since` on are kept (`None`:
    /// all charges); no charge is later than `now`, unless the clock was wrong.
    pub fn new(from: UnixTime, to: UnixTime, charges_since: Option<UnixTime>, now: UnixTime) -> Self {
        // There are no charges before 1970.
        let (from, to) = (from.get().max(0), to.get().min(bounds::LAST_SECOND));
        if from > to {
            return Self { days: None, edges: Vec::new() };
        }
        let range = || Self { days: None, edges: vec![(UnixTime::new(from), UnixTime::new(to))] };
        if to.min(now.get()).saturating_sub(from) < SHORTEST {
            return range();
        }
        let mut edges = Vec::new();
        let first_day = if from == 0 && charges_since.is_none() {
            Day::FIRST
        } else {
            // Every charge that counts from this day on is kept.
            let kept = charges_since.map_or(0, |since| since.get().max(0) + EARLIEST);
            let midnight = midnight_from(from.max(kept));
            edges.push((from.min(midnight - EARLIEST), midnight + LATEST - 1));
            day(midnight)
        };
        let last_day = if to >= now.get() {
            edges.push((to + 1, i64::MAX));
            day(bounds::LAST_SECOND)
        } else {
            let midnight = midnight_from(to + 1);
            edges.push((midnight - EARLIEST, midnight + LATEST - 1));
            day(midnight - DAY)
        };
        if first_day > last_day {
            return range();
        }
        if let [first, second] = edges[..]
            && first.1 >= second.0
        {
            edges = vec![(first.0.min(second.0), first.1.max(second.1))];
        }
        let edges = edges.into_iter().map(|(first, last)| (UnixTime::new(first), UnixTime::new(last)));
        Self { days: Some((first_day, last_day)), edges: edges.collect() }
    }
}

/// The first UTC midnight at or after `second`.
fn midnight_from(second: i64) -> i64 {
    UnixTime::new(second + DAY - 1).utc_midnight().get()
}

/// The UTC day of a second from 1970 to 9999.
fn day(second: i64) -> Day {
    Day::FIRST.plus_days(second.div_euclid(DAY))
}

#[cfg(test)]
mod tests {
    use super::*;
    use chrono_tz::Tz;
    use proptest::prelude::*;

    /// 2026-03-10 00:00 UTC.
    const MIDNIGHT: i64 = 20_522 * DAY;

    fn parts(from: i64, to: i64, since: Option<i64>) -> SpendParts {
        let time = UnixTime::new;
        SpendParts::new(time(from), time(to), since.map(time), time(MIDNIGHT))
    }

    fn text(parts: &SpendParts) -> (String, Vec<(i64, i64)>) {
        let days = parts.days.map_or_else(String::new, |(first, last)| format!("{first} {last}"));
        (days, parts.edges.iter().map(|(first, last)| (first.get(), last.get())).collect())
    }

    #[test]
    fn whole_days_are_summed_and_two_days_at_each_end_are_read() {
        let (from, to) = (MIDNIGHT - 29 * DAY - 5, MIDNIGHT - 9 * DAY + 5);
        let edge = |midnight| (midnight - EARLIEST, midnight + LATEST - 1);
        let both = vec![edge(MIDNIGHT - 29 * DAY), edge(MIDNIGHT - 8 * DAY)];
        assert_eq!(text(&parts(from, to, None)), ("2026-02-09 2026-03-01".to_owned(), both.clone()));
        assert!(both.iter().all(|(first, last)| last - first < 51 * 3_600));
        // Nothing was charged after now, so the end is not read.
        let open = text(&parts(from, MIDNIGHT, None));
        assert_eq!(open, ("2026-02-09 9999-12-31".to_owned(), vec![both[0], (MIDNIGHT + 1, i64::MAX)]));
        let all = text(&parts(i64::MIN, i64::MAX, None));
        assert_eq!(all, ("1970-01-01 9999-12-31".to_owned(), vec![(bounds::LAST_SECOND + 1, i64::MAX)]));
    }

    #[test]
    fn the_charges_of_days_are_made_within_an_edge_at_both_ends() {
        let (first, until) = (day(MIDNIGHT - 3 * DAY), day(MIDNIGHT));
        let seconds = charged_between(first, until);
        assert_eq!((seconds.0.get(), seconds.1.get()), (MIDNIGHT - 3 * DAY - EARLIEST, MIDNIGHT + LATEST - 1));
    }

    #[test]
    fn a_short_range_and_one_without_a_whole_day_are_read() {
        let (from, to) = (MIDNIGHT - 9 * DAY, MIDNIGHT - 5 * DAY - 1);
        assert_eq!(text(&parts(from, to, None)), (String::new(), vec![(from, to)]));
        assert_eq!(text(&parts(to, from, None)), (String::new(), vec![]));
        assert_eq!(text(&parts(i64::MIN, -1, None)), (String::new(), vec![]));
        // Charges of the first days were deleted.
        let (from, to) = (MIDNIGHT - 90 * DAY, MIDNIGHT - 10 * DAY);
        assert_eq!(text(&parts(from, to, Some(to - DAY))), (String::new(), vec![(from, to)]));
    }

    #[test]
    fn days_whose_charges_were_deleted_are_not_summed() {
        let (from, since) = (MIDNIGHT - 90 * DAY, MIDNIGHT - 30 * DAY);
        let (days, edges) = text(&parts(from, MIDNIGHT, Some(since)));
        assert_eq!(days, "2026-02-10 9999-12-31");
        assert_eq!(edges[0], (from, MIDNIGHT - 28 * DAY + LATEST - 1));
    }

    proptest! {
        /// The identity by which the sum is exact, for one charge and any days that it may count in.
        #[test]
        fn every_charge_of_the_range_counts_once_and_no_other_does(
            from in -10_i64..60 * DAY,
            length in 0..60 * DAY,
            at in 0..90 * DAY,
            zone in 0..chrono_tz::TZ_VARIANTS.len(),
            ahead in 0..=bounds::MAX_DAYS_AHEAD,
            since in proptest::option::of(0..40 * DAY),
        ) {
            let start = MIDNIGHT - 80 * DAY;
            let zone: Tz = chrono_tz::TZ_VARIANTS[zone];
            let (from, to) = (start + from, start + from + length);
            let at = UnixTime::new(start + at);
            let counted = at.day_in(zone).plus_days(ahead);
            let since = since.map(|since| start + since);
            let found = parts(from, to, since);
            let in_range = (from..=to).contains(&at.get());
            let in_days = found.days.is_some_and(|(first, last)| (first..=last).contains(&counted));
            let is_read = found.edges.iter().any(|(first, last)| (*first..=*last).contains(&at));
            if since.is_some_and(|since| at.get() < since) {
                prop_assert!(!in_days, "the charge may have been deleted");
                prop_assert!(!in_range || is_read, "the charge may still be there");
            } else {
                prop_assert!(is_read || in_range == in_days);
            }
            let overlap = found.edges.windows(2).any(|pair| pair[0].1 >= pair[1].0);
            prop_assert!(!overlap && found.edges.iter().all(|(first, last)| first <= last));
        }
    }
}
