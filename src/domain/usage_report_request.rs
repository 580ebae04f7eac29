//! What a usage report may be asked for: its days, its grouping, and what it is compared with (spec §13.6).

use std::collections::BTreeSet;

use chrono::Weekday;
use chrono_tz::Tz;

use super::bounds;
use super::calendar::{Calendar, Period};
use super::date_range::{DateRange, DateRangeInvalid};
use super::time::{Day, DayInvalid, UnixTime};
use crate::domain::named::named;

/// The days of a report, both ends included; at most [`bounds::MAX_REPORT_DAYS`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReportSpan {
    pub from: Day,
    pub to: Day,
}

/// A report that is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportRequest {
    pub span: ReportSpan,
    /// The days are those of this zone, instead of the setting's. Then it is summed from single charges.
    pub zone: Option<Tz>,
    pub grouping: Grouping,
    pub comparison: Option<Comparison>,
}

/// The range that a report is compared with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Comparison {
    pub span: ReportSpan,
    /// The largest change of spend comes first, instead of the highest spend.
    pub by_change: bool,
}

named! {
    /// What the lines of a report are grouped by.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Dimension {
        /// Of the clock. Together with `Day` or `Month`, the rows are those of hours.
        Hour = "hour",
        Day = "day",
        /// Of the calendar. Together with `Day`, the rows are those of days.
        Month = "month",
        User = "user",
        Token = "token",
        /// The present one of the token, or its owner's.
        Group = "group",
        /// As the gateways name them; without a name, the empty text.
        Model = "model",
        /// That charged it.
        Gateway = "gateway",
    }
}

/// The dimensions of a report; never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grouping(BTreeSet<Dimension>);

/// Why a report was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReportInvalid {
    #[error(transparent)]
    Range(#[from] DateRangeInvalid),
    #[error("a report may have at most {max} days", max = bounds::MAX_REPORT_DAYS)]
    TooManyDays,
    #[error("`tz` must be a time zone, such as `Europe/Berlin`")]
    Zone,
    #[error("with `tz` a report may have at most {max} days", max = bounds::MAX_OWN_ZONE_DAYS)]
    TooManyDaysOfZone,
    #[error("by `hour` a report may have at most {max} days", max = bounds::MAX_HOURLY_DAYS)]
    TooManyDaysByHour,
    #[error(
        "`group_by` must be `hour`, `day`, `month`, `token`, `group`, `model`, or several of them, separated by commas"
    )]
    Grouping,
    #[error(
        "`group_by` must be `hour`, `day`, `month`, `user`, `token`, `group`, `model`, `gateway`, or several of them, \
         separated by commas"
    )]
    AllUsersGrouping,
    #[error("what a token used is not known by gateway: leave `token` and `group` out of `group_by`, and `token_id`")]
    TokenByGateway,
    #[error("`compare_from` and `compare_to` belong together: send both or none")]
    HalfComparison,
    #[error("`compare_from` {0}")]
    CompareFrom(DayInvalid),
    #[error("`compare_to` {0}")]
    CompareTo(DayInvalid),
    #[error("`compare_from` is after `compare_to`")]
    ReversedComparison,
    #[error(
        "hours, days and months of two ranges cannot be compared: name something else in `group_by`, such as `model`"
    )]
    ComparisonByTime,
    #[error("`sort` must be `change`, beside `compare_from` and `compare_to`")]
    Sort,
}

impl ReportSpan {
    /// From `from` and `to` of the API. Without `to`, to today; without `from`, [`bounds::DEFAULT_REPORT_DAYS`] days.
    ///
    /// # Errors
    /// An invalid date; a `from` after `to`; too many days.
    pub fn resolve(from: Option<&str>, to: Option<&str>, today: Day) -> Result<Self, ReportInvalid> {
        Self::resolve_or(from, to, today, bounds::DEFAULT_REPORT_DAYS)
    }

    /// In the same way. Without `from`, so many days.
    fn resolve_or(from: Option<&str>, to: Option<&str>, today: Day, days: i64) -> Result<Self, ReportInvalid> {
        let range = DateRange::parse(from, to)?;
        let to = range.to.unwrap_or(today);
        let from = range.from.unwrap_or_else(|| to.plus_days(1 - days));
        if from > to {
            return Err(DateRangeInvalid::Reversed.into());
        }
        Self { from, to }.limited(None)
    }

    /// The same, if it is not too long for a report in the days of `zone`.
    ///
    /// # Errors
    /// Too many days.
    fn limited(self, zone: Option<Tz>) -> Result<Self, ReportInvalid> {
        let days = self.to.days_since(self.from);
        if days >= bounds::MAX_REPORT_DAYS {
            return Err(ReportInvalid::TooManyDays);
        }
        if zone.is_some() && days >= bounds::MAX_OWN_ZONE_DAYS {
            return Err(ReportInvalid::TooManyDaysOfZone);
        }
        Ok(self)
    }

    /// From `from`, `to` and `tz` of the API, in the same way. By hour, without `from`,
    /// [`bounds::MAX_HOURLY_DAYS`] days. `today` is the present day in a zone, or in that of the settings.
    ///
    /// # Errors
    /// Also an unknown zone, more than [`bounds::MAX_OWN_ZONE_DAYS`] days of one, and too many days by hour.
    pub fn resolve_in(
        zone: Option<&str>,
        from: Option<&str>,
        to: Option<&str>,
        grouping: &Grouping,
        today: impl FnOnce(Option<Tz>) -> Day,
    ) -> Result<(Self, Option<Tz>), ReportInvalid> {
        let zone = zone.filter(|zone| !zone.is_empty());
        let zone = zone.map(|zone| zone.parse::<Tz>().map_err(|_| ReportInvalid::Zone)).transpose()?;
        let by_hour = grouping.has(Dimension::Hour);
        let days = if by_hour { bounds::MAX_HOURLY_DAYS } else { bounds::DEFAULT_REPORT_DAYS };
        let span = Self::resolve_or(from, to, today(zone), days)?.limited(zone)?;
        if by_hour && span.to.days_since(span.from) >= bounds::MAX_HOURLY_DAYS {
            return Err(ReportInvalid::TooManyDaysByHour);
        }
        Ok((span, zone))
    }

    /// The first and the last second in a zone.
    pub fn seconds(self, zone: Tz) -> (UnixTime, UnixTime) {
        let calendar = Calendar { zone, week_starts: Weekday::Mon };
        (calendar.start(self.from), calendar.start(self.to.plus_days(1)).plus(-1))
    }

    /// The first day of a month from `from` on.
    pub fn first_month(self) -> Day {
        let calendar = Calendar { zone: Tz::UTC, week_starts: Weekday::Mon };
        calendar.next_first_day(Period::Month, self.from.plus_days(-1))
    }

    /// Every day, ascending.
    pub(super) fn days(self) -> impl Iterator<Item = Day> {
        (0..=self.to.days_since(self.from)).map(move |n| self.from.plus_days(n))
    }

    /// The start of every hour on the clocks of a zone. Their offsets are whole quarters of an hour.
    pub(super) fn hours(self, zone: Tz) -> BTreeSet<UnixTime> {
        const QUARTER: usize = 15 * 60;
        let (first, last) = self.seconds(zone);
        (first.get()..=last.get()).step_by(QUARTER).map(|at| UnixTime::new(at).hour_in(zone)).collect()
    }
}

impl Comparison {
    /// From `compare_from`, `compare_to` and `sort` of the API; `None` without any of them. It has the limits of the
    /// report's own range, with its `zone`.
    ///
    /// # Errors
    /// Half a range, an invalid one, or one that is too long; a grouping by time; an unknown order, or one of nothing.
    pub fn parse(
        [from, to, sort]: [Option<&str>; 3],
        zone: Option<Tz>,
        grouping: &Grouping,
    ) -> Result<Option<Self>, ReportInvalid> {
        let [from, to, sort] = [from, to, sort].map(|text| text.filter(|text| !text.is_empty()));
        let from = from.map(Day::parse).transpose().map_err(ReportInvalid::CompareFrom)?;
        let to = to.map(Day::parse).transpose().map_err(ReportInvalid::CompareTo)?;
        let by_change = sort.is_some();
        if sort.is_some_and(|sort| sort != "change") {
            return Err(ReportInvalid::Sort);
        }
        let span = match (from, to) {
            (None, None) if by_change => return Err(ReportInvalid::Sort),
            (None, None) => return Ok(None),
            (Some(from), Some(to)) if from > to => return Err(ReportInvalid::ReversedComparison),
            (Some(from), Some(to)) => ReportSpan { from, to }.limited(zone)?,
            (Some(_), None) | (None, Some(_)) => return Err(ReportInvalid::HalfComparison),
        };
        if grouping.time().is_some() {
            return Err(ReportInvalid::ComparisonByTime);
        }
        Ok(Some(Self { span, by_change }))
    }
}

impl Grouping {
    /// From `group_by` of a user's own report; by day if it is absent or empty.
    ///
    /// # Errors
    /// An unknown dimension.
    pub fn parse(text: Option<&str>) -> Result<Self, ReportInvalid> {
        let known =
            [Dimension::Hour, Dimension::Day, Dimension::Month, Dimension::Token, Dimension::Group, Dimension::Model];
        Self::among(&known, text).ok_or(ReportInvalid::Grouping)
    }

    /// From `group_by` of a report of all users. Grouping by token also groups by owner.
    ///
    /// # Errors
    /// An unknown dimension.
    pub fn parse_all_users(text: Option<&str>) -> Result<Self, ReportInvalid> {
        let mut grouping = Self::among(&Dimension::ALL, text).ok_or(ReportInvalid::AllUsersGrouping)?;
        if grouping.is_by_token() && grouping.has(Dimension::Gateway) {
            return Err(ReportInvalid::TokenByGateway);
        }
        if grouping.has(Dimension::Token) {
            grouping.0.insert(Dimension::User);
        }
        Ok(grouping)
    }

    fn among(known: &[Dimension], text: Option<&str>) -> Option<Self> {
        let text = text.filter(|text| !text.is_empty()).unwrap_or(Dimension::Day.as_str());
        let read = |name: &str| known.iter().find(|dimension| dimension.as_str() == name.trim()).copied();
        text.split(',').map(read).collect::<Option<_>>().map(Self)
    }

    pub fn has(&self, dimension: Dimension) -> bool {
        self.0.contains(&dimension)
    }

    /// Returns true if a report needs to know which token was used.
    pub fn is_by_token(&self) -> bool {
        self.has(Dimension::Token) || self.has(Dimension::Group)
    }

    /// The finest one of the dimensions of time, if there is one.
    pub fn time(&self) -> Option<Dimension> {
        [Dimension::Hour, Dimension::Day, Dimension::Month].into_iter().find(|dimension| self.has(*dimension))
    }

    pub fn dimensions(&self) -> impl Iterator<Item = Dimension> {
        self.0.iter().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        Day::parse(text).unwrap()
    }

    #[test]
    fn a_report_has_thirty_days_until_today_unless_the_caller_says_otherwise() {
        let resolve = |from, to| {
            let span = ReportSpan::resolve(Some(from), Some(to), day("2026-03-10"));
            span.map(|span| (span.from.to_string(), span.to.to_string())).map_err(|error| error.to_string())
        };
        let days = |from: &str, to: &str| Ok((from.to_owned(), to.to_owned()));
        assert_eq!(resolve("", ""), days("2026-02-09", "2026-03-10"));
        assert_eq!(resolve("2026-03-01", ""), days("2026-03-01", "2026-03-10"));
        assert_eq!(resolve("", "2026-01-31"), days("2026-01-02", "2026-01-31"));
        assert_eq!(resolve("2026-03-10", "2026-03-10"), days("2026-03-10", "2026-03-10"));
        assert_eq!(resolve("2025-01-01", "2026-01-01"), days("2025-01-01", "2026-01-01"));
        let too_many = Err("a report may have at most 366 days".to_owned());
        assert_eq!(resolve("2025-01-01", "2026-01-02"), too_many);
        assert_eq!(resolve("0001-01-01", ""), too_many);
        assert_eq!(resolve("2026-03-11", ""), Err("`from` is after `to`".to_owned()));
    }

    #[test]
    fn a_report_by_hour_has_two_days_at_most_and_the_last_two_by_default() {
        let grouping = Grouping::parse(Some("hour,model")).unwrap();
        let resolve = |from, to| {
            let span = ReportSpan::resolve_in(Some("Asia/Tokyo"), Some(from), Some(to), &grouping, |zone| {
                day(if zone == Some(Tz::Asia__Tokyo) { "2026-03-11" } else { "2026-03-10" })
            });
            span.map(|(span, _)| (span.from.to_string(), span.to.to_string()))
        };
        let days = |from: &str, to: &str| Ok((from.to_owned(), to.to_owned()));
        assert_eq!(resolve("", ""), days("2026-03-10", "2026-03-11"));
        assert_eq!(resolve("2026-02-01", "2026-02-01"), days("2026-02-01", "2026-02-01"));
        assert_eq!(resolve("2026-02-01", "2026-02-02"), days("2026-02-01", "2026-02-02"));
        assert_eq!(resolve("2026-02-01", "2026-02-03"), Err(ReportInvalid::TooManyDaysByHour));
        assert_eq!(resolve("2026-03-09", ""), Err(ReportInvalid::TooManyDaysByHour));
    }

    #[test]
    fn a_comparison_has_a_whole_range_of_at_most_the_days_of_a_report_and_no_dimension_of_time() {
        let grouping = Grouping::parse(Some("model")).unwrap();
        let parse = |texts: [&str; 3], zone| {
            let comparison = Comparison::parse(texts.map(Some), zone, &grouping);
            comparison.map(|found| found.map(|it| (it.span.from.to_string(), it.span.to.to_string(), it.by_change)))
        };
        let days = |from: &str, to: &str, by_change| Ok(Some((from.to_owned(), to.to_owned(), by_change)));
        let utc = Some(Tz::UTC);
        assert_eq!(Comparison::parse([None; 3], utc, &Grouping::parse(None).unwrap()), Ok(None));
        assert_eq!(parse(["", "", ""], utc), Ok(None));
        assert_eq!(parse(["2026-02-01", "2026-02-28", ""], None), days("2026-02-01", "2026-02-28", false));
        assert_eq!(parse(["2026-02-01", "2026-02-01", "change"], utc), days("2026-02-01", "2026-02-01", true));
        assert_eq!(parse(["2026-02-01", "2026-03-03", ""], utc), days("2026-02-01", "2026-03-03", false));
        assert_eq!(parse(["2026-02-01", "2026-03-04", ""], utc), Err(ReportInvalid::TooManyDaysOfZone));
        assert_eq!(parse(["2025-02-01", "2026-02-02", ""], None), Err(ReportInvalid::TooManyDays));
        assert_eq!(parse(["2026-02-01", "", ""], None), Err(ReportInvalid::HalfComparison));
        assert_eq!(parse(["", "2026-02-01", "change"], None), Err(ReportInvalid::HalfComparison));
        assert_eq!(parse(["2026-02-02", "2026-02-01", ""], None), Err(ReportInvalid::ReversedComparison));
        assert_eq!(parse(["2026-02-30", "2026-02-01", ""], None), Err(ReportInvalid::CompareFrom(DayInvalid)));
        assert_eq!(parse(["2026-02-01", "02/28", ""], None), Err(ReportInvalid::CompareTo(DayInvalid)));
        assert_eq!(parse(["", "", "change"], None), Err(ReportInvalid::Sort));
        assert_eq!(parse(["2026-02-01", "2026-02-28", "quota"], None), Err(ReportInvalid::Sort));
        for by in ["day", "month", "hour", "model,day"] {
            let grouping = Grouping::parse(Some(by)).unwrap();
            let refused = Comparison::parse([Some("2026-02-01"), Some("2026-02-28"), None], None, &grouping);
            assert_eq!(refused, Err(ReportInvalid::ComparisonByTime), "{by}");
        }
    }

    #[test]
    fn the_first_month_of_a_report_is_the_first_that_it_may_have_whole() {
        for (from, first) in [("2026-03-01", "2026-03-01"), ("2026-03-02", "2026-04-01"), ("2025-12-31", "2026-01-01")]
        {
            let span = ReportSpan { from: day(from), to: day("2026-12-31") };
            assert_eq!(span.first_month(), day(first), "{from}");
        }
    }

    #[test]
    fn reports_are_grouped_by_known_dimensions() {
        use Dimension::{Day, Gateway, Group, Hour, Model, Token, User};
        let own = |text| Grouping::parse(Some(text)).map(|grouping| grouping.dimensions().collect::<Vec<_>>());
        for (text, dimensions) in [
            ("", vec![Day]),
            ("day", vec![Day]),
            ("token", vec![Token]),
            ("token, day,token", vec![Day, Token]),
            ("model", vec![Model]),
            ("model,day,token", vec![Day, Token, Model]),
            ("hour", vec![Hour]),
            ("model,group,hour", vec![Hour, Group, Model]),
        ] {
            assert_eq!(own(text), Ok(dimensions), "{text}");
        }
        for text in ["user", "models", "day,", ",", "Day"] {
            assert_eq!(own(text), Err(ReportInvalid::Grouping), "{text}");
        }
        let all =
            |text| Grouping::parse_all_users(Some(text)).map(|grouping| grouping.dimensions().collect::<Vec<_>>());
        assert_eq!(all(""), Ok(vec![Day]));
        assert_eq!(all("user"), Ok(vec![User]));
        assert_eq!(all("token"), Ok(vec![User, Token]));
        assert_eq!(all("day,user"), Ok(vec![Day, User]));
        assert_eq!(all("token,model"), Ok(vec![User, Token, Model]));
        assert_eq!(all("gateway,day"), Ok(vec![Day, Gateway]));
        assert_eq!(all("user,group,model"), Ok(vec![User, Group, Model]));
        assert_eq!(all("hour,gateway"), Ok(vec![Hour, Gateway]));
        assert_eq!(all("group,gateway"), Err(ReportInvalid::TokenByGateway));
        assert_eq!(all("models"), Err(ReportInvalid::AllUsersGrouping));
        assert_eq!(all("token,gateway"), Err(ReportInvalid::TokenByGateway));
    }
}
