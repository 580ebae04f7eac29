//! Points in time, lifetimes and days.

use chrono::{NaiveDate, TimeDelta, Timelike as _};
use chrono_tz::Tz;

use super::bounds;

/// Seconds of a day. Unix time has no leap seconds.
pub const DAY: i64 = 86_400;

/// Seconds since 1970-01-01 UTC, the only form of time in the API.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize, sqlx::Type,
)]
#[serde(transparent)]
#[sqlx(transparent)]
pub struct UnixTime(i64);

impl UnixTime {
    /// Before every other time.
    pub const FIRST: Self = Self(i64::MIN);

    /// After every other time.
    pub const LAST: Self = Self(i64::MAX);

    pub const fn new(seconds: i64) -> Self {
        Self(seconds)
    }

    pub const fn get(self) -> i64 {
        self.0
    }

    /// This time plus `seconds`; saturates.
    pub const fn plus(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds))
    }

    /// Seconds from `earlier` to this time.
    pub const fn since(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }

    /// Returns true if `seconds` have passed since `last`, or if `last` is later than this time: the clock was set
    /// back.
    pub fn is_due(self, last: Option<Self>, seconds: i64) -> bool {
        last.is_none_or(|last| !(0..seconds).contains(&self.since(last)))
    }

    /// The calendar day of this time in `zone`.
    pub fn day_in(self, zone: Tz) -> Day {
        let utc = chrono::DateTime::from_timestamp(self.0, 0).unwrap_or_default();
        Day(utc.with_timezone(&zone).date_naive())
    }

    /// The start of its hour on the clocks of `zone`.
    pub fn hour_in(self, zone: Tz) -> Self {
        let local = chrono::DateTime::from_timestamp(self.0, 0).unwrap_or_default().with_timezone(&zone);
        self.plus(-i64::from(local.minute() * 60 + local.second()))
    }

    /// The start of its UTC day.
    pub const fn utc_midnight(self) -> Self {
        Self(self.0 - self.0.rem_euclid(DAY))
    }
}

/// Microseconds since 1970-01-01 UTC, for rates. Arithmetic saturates.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, sqlx::Type)]
#[sqlx(transparent)]
pub struct Micros(i64);

impl Micros {
    pub const PER_SECOND: i64 = 1_000_000;

    pub const fn new(micros: i64) -> Self {
        Self(micros)
    }

    pub const fn get(self) -> i64 {
        self.0
    }

    pub const fn plus(self, micros: i64) -> Self {
        Self(self.0.saturating_add(micros))
    }

    /// The second that it belongs to.
    pub const fn seconds(self) -> UnixTime {
        UnixTime(self.0.div_euclid(Self::PER_SECOND))
    }
}

/// When a token expires (spec §2.1 `expired_time`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lifetime {
    #[default]
    Forever,
    /// Expired from this second on.
    Until(UnixTime),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("`expired_time` must be a Unix timestamp in seconds, or -1 for never")]
pub struct LifetimeInvalid;

impl Lifetime {
    /// From `expired_time` of the API: -1 and 0 mean never; a past time is allowed.
    ///
    /// # Errors
    /// Any other negative number; a time after [`bounds::LAST_SECOND`], as milliseconds are.
    pub const fn from_wire(expired_time: i64) -> Result<Self, LifetimeInvalid> {
        match expired_time {
            -1 | 0 => Ok(Self::Forever),
            seconds @ 1..=bounds::LAST_SECOND => Ok(Self::Until(UnixTime(seconds))),
            _ => Err(LifetimeInvalid),
        }
    }

    /// `expired_time` of the Token object: -1 for never (spec §2.1).
    pub const fn expired_time(self) -> i64 {
        match self {
            Self::Forever => -1,
            Self::Until(end) => end.0,
        }
    }

    /// `expires_at` of the usage object: 0 for never (spec §2.3).
    pub const fn expires_at(self) -> i64 {
        match self {
            Self::Forever => 0,
            Self::Until(end) => end.0,
        }
    }

    /// The earlier of its end and `time`.
    pub fn or_earlier(self, time: UnixTime) -> UnixTime {
        match self {
            Self::Forever => time,
            Self::Until(end) => end.min(time),
        }
    }

    pub fn is_over(self, now: UnixTime) -> bool {
        match self {
            Self::Forever => false,
            Self::Until(end) => end <= now,
        }
    }
}

impl From<Option<UnixTime>> for Lifetime {
    fn from(end: Option<UnixTime>) -> Self {
        end.map_or(Self::Forever, Self::Until)
    }
}

impl From<Lifetime> for Option<UnixTime> {
    fn from(lifetime: Lifetime) -> Self {
        match lifetime {
            Lifetime::Forever => None,
            Lifetime::Until(end) => Some(end),
        }
    }
}

/// A calendar day of `usage.time_zone`, written `YYYY-MM-DD`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, sqlx::Type)]
#[sqlx(transparent)]
pub struct Day(NaiveDate);

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a date of the calendar written YYYY-MM-DD, such as 2026-01-05")]
pub struct DayInvalid;

impl Day {
    /// A day before every charge.
    pub const FIRST: Self = match NaiveDate::from_ymd_opt(1970, 1, 1) {
        Some(date) => Self(date),
        None => Self(NaiveDate::MIN),
    };

    pub const fn date(self) -> NaiveDate {
        self.0
    }

    /// Reads `YYYY-MM-DD`: exactly ten characters, and a day that exists.
    ///
    /// # Errors
    /// Another format (`2026-1-5`), or a day that does not exist.
    pub fn parse(text: &str) -> Result<Self, DayInvalid> {
        let well_formed = text.len() == 10
            && text.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        if !well_formed {
            return Err(DayInvalid);
        }
        NaiveDate::parse_from_str(text, "%Y-%m-%d").map(Self).map_err(|_| DayInvalid)
    }

    /// This day plus `days`; unchanged if the result is outside the calendar.
    pub fn plus_days(self, days: i64) -> Self {
        let moved = TimeDelta::try_days(days).and_then(|by| self.0.checked_add_signed(by));
        moved.map_or(self, Self)
    }

    /// Whole days from `earlier` to this day.
    pub fn days_since(self, earlier: Self) -> i64 {
        self.0.signed_duration_since(earlier.0).num_days()
    }
}

impl From<NaiveDate> for Day {
    fn from(date: NaiveDate) -> Self {
        Self(date)
    }
}

impl std::fmt::Display for Day {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minus_one_and_zero_mean_never_and_other_negatives_are_refused() {
        assert_eq!(Lifetime::from_wire(-1), Ok(Lifetime::Forever));
        assert_eq!(Lifetime::from_wire(0), Ok(Lifetime::Forever));
        assert_eq!(Lifetime::from_wire(7), Ok(Lifetime::Until(UnixTime(7))));
        assert_eq!(Lifetime::from_wire(-2), Err(LifetimeInvalid));
        assert_eq!(Lifetime::from_wire(bounds::LAST_SECOND), Ok(Lifetime::Until(UnixTime(253_402_300_799))));
        for beyond in [253_402_300_800, 1_900_000_000_000, 9_999_999_999_999, i64::MAX, i64::MIN] {
            assert_eq!(Lifetime::from_wire(beyond), Err(LifetimeInvalid));
        }
    }

    #[test]
    fn a_lifetime_is_over_from_its_last_second_on() {
        let life = Lifetime::Until(UnixTime(100));
        assert!(!life.is_over(UnixTime(99)));
        assert!(life.is_over(UnixTime(100)));
        assert!(!Lifetime::Forever.is_over(UnixTime(i64::MAX)));
    }

    #[test]
    fn a_day_must_be_well_formed_and_exist() {
        assert_eq!(Day::parse("2024-02-29").map(|d| d.to_string()), Ok("2024-02-29".into()));
        for bad in [
            "2026-1-5",
            "2026-02-29",
            "20260105",
            "2026-01-05 ",
            "+026-01-05",
            "",
            "2026-13-01",
            "２026-01-0",
            "2026-01-1",
        ] {
            assert_eq!(Day::parse(bad), Err(DayInvalid), "{bad}");
        }
    }

    #[test]
    fn the_day_depends_on_the_time_zone() {
        let late_evening_utc = UnixTime(1_767_222_000); // 2025-12-31 23:00 UTC
        assert_eq!(late_evening_utc.day_in(Tz::UTC).to_string(), "2025-12-31");
        assert_eq!(late_evening_utc.day_in(Tz::Europe__Berlin).to_string(), "2026-01-01");
    }

    #[test]
    fn never_is_minus_one_as_expired_time_and_zero_as_expires_at() {
        let end = UnixTime(7);
        assert_eq!((Lifetime::Forever.expired_time(), Lifetime::Until(end).expired_time()), (-1, 7));
        assert_eq!((Lifetime::Forever.expires_at(), Lifetime::Until(end).expires_at()), (0, 7));
        for stored in [None, Some(end)] {
            assert_eq!(Option::<UnixTime>::from(Lifetime::from(stored)), stored);
        }
    }

    #[test]
    fn times_are_compared_and_moved_in_seconds() {
        assert_eq!(UnixTime(100).plus(30).since(UnixTime(90)), 40);
        assert_eq!(UnixTime(i64::MAX).plus(1), UnixTime(i64::MAX));
        for (time, midnight) in [(0, 0), (DAY - 1, 0), (DAY, DAY), (DAY + 1, DAY), (-1, -DAY)] {
            assert_eq!(UnixTime(time).utc_midnight(), UnixTime(midnight));
        }
    }
}
