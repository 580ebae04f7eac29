//! Ranges of days, or of seconds, that callers give as `from` and `to` (spec §13).

use super::bounds;
use super::calendar::{Calendar, Period};
use super::time::{Day, DayInvalid, UnixTime};

/// The days from `from` to `to`, both included; `None` is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DateRange {
    pub from: Option<Day>,
    pub to: Option<Day>,
}

/// Why a range was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum DateRangeInvalid {
    #[error("`from` {0}")]
    From(DayInvalid),
    #[error("`to` {0}")]
    To(DayInvalid),
    #[error("`from` is after `to`")]
    Reversed,
}

impl DateRange {
    /// From the texts of the API; `None` and an empty text are open.
    ///
    /// # Errors
    /// See [`DateRangeInvalid`].
    pub fn parse(from: Option<&str>, to: Option<&str>) -> Result<Self, DateRangeInvalid> {
        let [from, to] = [from, to].map(|text| text.filter(|text| !text.is_empty()));
        let from = from.map(Day::parse).transpose().map_err(DateRangeInvalid::From)?;
        let to = to.map(Day::parse).transpose().map_err(DateRangeInvalid::To)?;
        match (from, to) {
            (Some(from), Some(to)) if from > to => Err(DateRangeInvalid::Reversed),
            (from, to) => Ok(Self { from, to }),
        }
    }
}

/// The seconds from `from` to `to`, both included; `None` is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeRange {
    pub from: Option<UnixTime>,
    pub to: Option<UnixTime>,
}

/// Why a range was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TimeRangeInvalid {
    #[error("`from` {0}")]
    From(MomentInvalid),
    #[error("`to` {0}")]
    To(MomentInvalid),
    #[error("`from` is after `to`")]
    Reversed,
}

/// A text that is neither a day nor a Unix time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a date written YYYY-MM-DD, such as 2026-01-05, or a Unix timestamp in seconds")]
pub struct MomentInvalid;

impl TimeRange {
    /// From the texts of the API: each is a day of `calendar`, of which `to` includes all, or a second; `None` and an
    /// empty text are open.
    ///
    /// # Errors
    /// See [`TimeRangeInvalid`].
    pub fn parse(from: Option<&str>, to: Option<&str>, calendar: Calendar) -> Result<Self, TimeRangeInvalid> {
        let [from, to] = [from, to].map(|text| text.filter(|text| !text.is_empty()));
        let first = |text| seconds(text, calendar).map(|(first, _)| first);
        let last = |text| seconds(text, calendar).map(|(_, last)| last);
        let from = from.map(first).transpose().map_err(TimeRangeInvalid::From)?;
        let to = to.map(last).transpose().map_err(TimeRangeInvalid::To)?;
        match (from, to) {
            (Some(from), Some(to)) if from > to => Err(TimeRangeInvalid::Reversed),
            (from, to) => Ok(Self { from, to }),
        }
    }
}

/// The first and the last second of a day, or one second twice.
fn seconds(text: &str, calendar: Calendar) -> Result<(UnixTime, UnixTime), MomentInvalid> {
    if text.bytes().all(|byte| byte.is_ascii_digit()) {
        let second = text.parse::<i64>().ok().filter(|second| *second <= bounds::LAST_SECOND).ok_or(MomentInvalid)?;
        return Ok((UnixTime::new(second), UnixTime::new(second)));
    }
    let day = Day::parse(text).map_err(|_| MomentInvalid)?;
    Ok((calendar.start(day), calendar.end(Period::Day, day).plus(-1)))
}

#[cfg(test)]
mod tests {
    use chrono::Weekday;
    use chrono_tz::Tz;

    use super::*;

    #[test]
    fn both_ends_are_optional_and_in_order() {
        let day = |text: &str| Day::parse(text).ok();
        let range = |from, to| Ok(DateRange { from: day(from), to: day(to) });
        for (from, to) in [("", ""), ("2026-03-01", ""), ("", "2026-03-01"), ("2026-03-01", "2026-03-01")] {
            assert_eq!(DateRange::parse(Some(from), Some(to)), range(from, to), "{from} {to}");
        }
        assert_eq!(DateRange::parse(None, None), Ok(DateRange::default()));
        let refused = |from, to| DateRange::parse(Some(from), Some(to)).map_err(|error| error.to_string());
        let date = "must be a date of the calendar written YYYY-MM-DD, such as 2026-01-05";
        assert_eq!(refused("2026-3-1", ""), Err(format!("`from` {date}")));
        assert_eq!(refused("", "2026-02-30"), Err(format!("`to` {date}")));
        assert_eq!(refused("2026-03-02", "2026-03-01"), Err("`from` is after `to`".to_owned()));
    }

    #[test]
    fn a_range_of_time_has_days_of_the_calendar_or_seconds() {
        let calendar = Calendar { zone: Tz::Europe__Berlin, week_starts: Weekday::Mon };
        let parse = |from, to| TimeRange::parse(Some(from), Some(to), calendar);
        let time = |second| Some(UnixTime::new(second));
        // 2026-03-29 has 23 hours in Berlin: from 1774738800 to 1774821599.
        for (from, to, expected) in [
            ("", "", (None, None)),
            ("2026-03-29", "2026-03-29", (time(1_774_738_800), time(1_774_821_599))),
            ("1774821599", "2026-03-29", (time(1_774_821_599), time(1_774_821_599))),
            ("2026-03-29", "1774738800", (time(1_774_738_800), time(1_774_738_800))),
            ("0", "253402300799", (time(0), time(253_402_300_799))),
        ] {
            assert_eq!(parse(from, to), Ok(TimeRange { from: expected.0, to: expected.1 }), "{from} {to}");
        }
        assert_eq!(TimeRange::parse(None, None, calendar), Ok(TimeRange::default()));
        // Milliseconds, a sign, an hour, a day that does not exist.
        for text in ["253402300800", "1774738800000", "-1", "+1", "1.5", "14:02", "2026-02-30", "99999999999999999999"]
        {
            assert_eq!(parse(text, ""), Err(TimeRangeInvalid::From(MomentInvalid)), "{text}");
            assert_eq!(parse("", text), Err(TimeRangeInvalid::To(MomentInvalid)), "{text}");
        }
        for (from, to) in [("1774821600", "2026-03-29"), ("2026-03-29", "1774738799"), ("2", "1")] {
            assert_eq!(parse(from, to), Err(TimeRangeInvalid::Reversed), "{from} {to}");
        }
        let message = TimeRangeInvalid::To(MomentInvalid).to_string();
        assert_eq!(
            message,
            "`to` must be a date written YYYY-MM-DD, such as 2026-01-05, or a Unix timestamp in seconds"
        );
    }
}
