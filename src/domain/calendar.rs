//! Days, weeks and months of `usage.time_zone`, and the moment at which something is decided.

use chrono::{Datelike as _, NaiveDateTime, TimeDelta, TimeZone as _, Weekday};
use chrono_tz::Tz;

use super::bounds;
use super::time::{Day, Micros, UnixTime};
use crate::domain::named::named;

named! {
    /// A period after which a limit renews.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Period {
        Day = "day",
        Week = "week",
        Month = "month",
    }
}

impl std::fmt::Display for Period {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The settings `usage.time_zone` and `usage.week_starts`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Calendar {
    pub zone: Tz,
    pub week_starts: Weekday,
}

impl Calendar {
    /// The first day of the period that `day` belongs to.
    pub fn first_day(self, period: Period, day: Day) -> Day {
        match period {
            Period::Day => day,
            Period::Week => day.plus_days(-i64::from(day.date().weekday().days_since(self.week_starts))),
            Period::Month => Day::from(day.date().with_day(1).unwrap_or(day.date())),
        }
    }

    /// The first day of the period after the one that `day` belongs to.
    pub fn next_first_day(self, period: Period, day: Day) -> Day {
        let first = self.first_day(period, day);
        match period {
            Period::Day => first.plus_days(1),
            Period::Week => first.plus_days(7),
            // 31 days after the first of a month is a day of the next month.
            Period::Month => self.first_day(Period::Month, first.plus_days(31)),
        }
    }

    /// The name of the first day of the week, as in the setting.
    pub const fn week_start_name(self) -> &'static str {
        match self.week_starts {
            Weekday::Mon => "monday",
            Weekday::Tue => "tuesday",
            Weekday::Wed => "wednesday",
            Weekday::Thu => "thursday",
            Weekday::Fri => "friday",
            Weekday::Sat => "saturday",
            Weekday::Sun => "sunday",
        }
    }

    /// When the period that `day` belongs to ends.
    pub fn end(self, period: Period, day: Day) -> UnixTime {
        self.start(self.next_first_day(period, day))
    }

    /// The first second of a day. Where daylight saving skips midnight, the day begins later; where a zone skipped a
    /// whole day, it begins with the next one.
    pub fn start(self, day: Day) -> UnixTime {
        const STEP_MINUTES: i64 = 15;
        /// 26 hours.
        const MOST_STEPS: i64 = 104;
        let midnight = NaiveDateTime::from(day.date());
        let at = |step| self.zone.from_local_datetime(&(midnight + TimeDelta::minutes(step * STEP_MINUTES))).earliest();
        let first = (0..=MOST_STEPS).find_map(at).map_or_else(|| midnight.and_utc().timestamp(), |at| at.timestamp());
        UnixTime::new(first)
    }
}

/// When something is decided: one time for a whole batch of the ledger.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    /// In seconds.
    pub now: UnixTime,
    /// The same in microseconds, for rates.
    pub micros: Micros,
    /// The day of `now`.
    pub today: Day,
    pub calendar: Calendar,
}

impl Moment {
    pub fn new(micros: Micros, calendar: Calendar) -> Self {
        let now = micros.seconds();
        Self { now, micros, today: now.day_in(calendar.zone), calendar }
    }

    /// The last day that a charge can have been counted in while the clock was right. Servers agree on the day but for
    /// a change of `usage.time_zone`.
    pub fn last_believable_day(&self) -> Day {
        self.today.plus_days(bounds::MAX_DAYS_AHEAD)
    }

    /// This moment as one of the days that are not closed. Days that a clock closed which was far ahead are taken for
    /// open: the repair opens them.
    pub fn after_closed_days(self, closed_until: Day) -> Self {
        let is_believable = closed_until <= self.last_believable_day();
        if is_believable { Self { today: self.today.max(closed_until), ..self } } else { self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        Day::parse(text).unwrap()
    }

    fn calendar(zone: Tz, week_starts: Weekday) -> Calendar {
        Calendar { zone, week_starts }
    }

    #[test]
    fn a_charge_counts_after_the_closed_days_unless_a_clock_that_was_far_ahead_closed_them() {
        let at = Moment::new(Micros::new(1_773_144_000_000_000), calendar(Tz::UTC, Weekday::Mon));
        let on = |closed: &str| at.after_closed_days(day(closed)).today.to_string();
        assert_eq!(at.today.to_string(), "2026-03-10");
        assert_eq!([on("2026-03-09"), on("2026-03-10")], ["2026-03-10", "2026-03-10"]);
        assert_eq!([on("2026-03-11"), on("2026-03-12")], ["2026-03-11", "2026-03-10"]);
    }

    #[test]
    fn periods_have_their_names_of_the_api() {
        assert_eq!(Period::ALL.map(Period::as_str), ["day", "week", "month"]);
        assert_eq!(Period::ALL.map(|period| period.to_string()), ["day", "week", "month"]);
    }

    #[test]
    fn the_first_day_of_the_week_has_its_name_of_the_setting() {
        let mut day = Weekday::Mon;
        for _ in 0..7 {
            assert_eq!(calendar(Tz::UTC, day).week_start_name().parse::<Weekday>(), Ok(day));
            day = day.succ();
        }
    }

    #[test]
    fn periods_begin_and_end_with_the_calendar() {
        let monday = calendar(Tz::UTC, Weekday::Mon);
        let sunday = calendar(Tz::UTC, Weekday::Sun);
        let table = [
            // 2026-11-22 is a Sunday.
            (monday, Period::Day, "2026-11-22", "2026-11-22", "2026-11-23"),
            (monday, Period::Week, "2026-11-22", "2026-11-16", "2026-11-23"),
            (sunday, Period::Week, "2026-11-22", "2026-11-22", "2026-11-29"),
            (sunday, Period::Week, "2026-11-21", "2026-11-15", "2026-11-22"),
            (monday, Period::Month, "2026-11-30", "2026-11-01", "2026-12-01"),
            (monday, Period::Month, "2026-12-31", "2026-12-01", "2027-01-01"),
            (monday, Period::Month, "2028-02-29", "2028-02-01", "2028-03-01"),
            (monday, Period::Month, "2026-01-31", "2026-01-01", "2026-02-01"),
        ];
        for (calendar, period, of, first, next) in table {
            assert_eq!(calendar.first_day(period, day(of)), day(first), "{period} of {of}");
            assert_eq!(calendar.next_first_day(period, day(of)), day(next), "{period} of {of}");
        }
    }

    #[test]
    fn a_day_ends_at_the_local_midnight_also_when_clocks_change() {
        let table = [
            (Tz::UTC, "2026-11-22", 1_795_392_000),
            // 23 hours, then 25 hours.
            (Tz::Europe__Berlin, "2026-03-29", 1_774_821_600),
            (Tz::Europe__Berlin, "2026-10-25", 1_792_969_200),
            // Clocks in Beirut go from 24:00 to 01:00: there is no midnight.
            (Tz::Asia__Beirut, "2026-03-28", 1_774_735_200),
        ];
        for (zone, of, end) in table {
            assert_eq!(calendar(zone, Weekday::Mon).end(Period::Day, day(of)), UnixTime::new(end), "{zone} {of}");
            assert_eq!(UnixTime::new(end).day_in(zone), day(of).plus_days(1), "{zone} {of}");
            assert_eq!(UnixTime::new(end - 1).day_in(zone), day(of), "{zone} {of}");
            assert_eq!(calendar(zone, Weekday::Mon).start(day(of).plus_days(1)), UnixTime::new(end), "{zone} {of}");
        }
    }

    #[test]
    fn a_day_that_a_zone_skipped_begins_with_the_next_one() {
        // Samoa had no 2011-12-30.
        let end = calendar(Tz::Pacific__Apia, Weekday::Mon).end(Period::Day, day("2011-12-29"));
        assert_eq!(end.day_in(Tz::Pacific__Apia), day("2011-12-31"));
        assert_eq!(UnixTime::new(end.get() - 1).day_in(Tz::Pacific__Apia), day("2011-12-29"));
    }
}
