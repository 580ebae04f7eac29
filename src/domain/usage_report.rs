//! Usage over longer ranges, grouped (spec §13.6).

use std::collections::{BTreeMap, BTreeSet};

use chrono::Weekday;
use chrono_tz::Tz;

use super::bounds;
use super::calendar::{Calendar, Period};
use super::date_range::{DateRange, DateRangeInvalid};
use super::id::{GatewayId, TokenId, UserId};
use super::money::Quota;
use super::time::{Day, UnixTime};
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
}

named! {
    /// What the lines of a report are grouped by.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Dimension {
        Day = "day",
        /// Of the calendar. Together with `Day`, the rows are those of days.
        Month = "month",
        User = "user",
        Token = "token",
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
    #[error("`group_by` must be `day`, `month`, `token`, `model`, or several of them, separated by commas")]
    Grouping,
    #[error(
        "`group_by` must be `day`, `month`, `user`, `token`, `model`, `gateway`, or several of them, separated by commas"
    )]
    AllUsersGrouping,
    #[error("what a token used is not known by gateway: leave `token` out of `group_by`, and `token_id`")]
    TokenByGateway,
}

/// What was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Amounts {
    pub quota: Quota,
    pub requests: i64,
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
}

/// A line of a report. A dimension that the report is not grouped by is `None`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportRow {
    /// Grouped by month alone, the first day of the month.
    pub day: Option<Day>,
    pub user_id: Option<UserId>,
    pub token_id: Option<TokenId>,
    pub model: Option<String>,
    /// `None` also if the charges have no gateway, or are not kept.
    pub gateway_id: Option<GatewayId>,
    pub amounts: Amounts,
}

/// A report.
#[derive(Debug)]
pub struct UsageReport {
    pub span: ReportSpan,
    /// That of the request.
    pub zone: Option<Tz>,
    pub grouping: Grouping,
    /// By day, if it is grouped by day, else the highest spend first.
    pub rows: Vec<ReportRow>,
    pub total: Amounts,
    pub usernames: BTreeMap<UserId, String>,
    /// The present names, also of deleted tokens.
    pub token_names: BTreeMap<TokenId, String>,
    /// Of those that are not revoked.
    pub gateway_names: BTreeMap<GatewayId, String>,
}

impl ReportSpan {
    /// From `from` and `to` of the API. Without `to`, to today; without `from`, [`bounds::DEFAULT_REPORT_DAYS`] days.
    ///
    /// # Errors
    /// An invalid date; a `from` after `to`; too many days.
    pub fn resolve(from: Option<&str>, to: Option<&str>, today: Day) -> Result<Self, ReportInvalid> {
        let range = DateRange::parse(from, to)?;
        let to = range.to.unwrap_or(today);
        let from = range.from.unwrap_or_else(|| to.plus_days(1 - bounds::DEFAULT_REPORT_DAYS));
        if from > to {
            return Err(DateRangeInvalid::Reversed.into());
        }
        if to.days_since(from) >= bounds::MAX_REPORT_DAYS {
            return Err(ReportInvalid::TooManyDays);
        }
        Ok(Self { from, to })
    }

    /// From `from`, `to` and `tz` of the API, in the same way. `today` is the present day in a zone, or in that of
    /// the settings.
    ///
    /// # Errors
    /// Also an unknown zone, and more than [`bounds::MAX_OWN_ZONE_DAYS`] days of one.
    pub fn resolve_in(
        zone: Option<&str>,
        from: Option<&str>,
        to: Option<&str>,
        today: impl FnOnce(Option<Tz>) -> Day,
    ) -> Result<(Self, Option<Tz>), ReportInvalid> {
        let zone = zone.filter(|zone| !zone.is_empty());
        let zone = zone.map(|zone| zone.parse::<Tz>().map_err(|_| ReportInvalid::Zone)).transpose()?;
        let span = Self::resolve(from, to, today(zone))?;
        if zone.is_some() && span.to.days_since(span.from) >= bounds::MAX_OWN_ZONE_DAYS {
            return Err(ReportInvalid::TooManyDaysOfZone);
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
    fn days(self) -> impl Iterator<Item = Day> {
        (0..=self.to.days_since(self.from)).map(move |n| self.from.plus_days(n))
    }
}

impl Grouping {
    /// From `group_by` of a user's own report; by day if it is absent or empty.
    ///
    /// # Errors
    /// An unknown dimension.
    pub fn parse(text: Option<&str>) -> Result<Self, ReportInvalid> {
        let known = [Dimension::Day, Dimension::Month, Dimension::Token, Dimension::Model];
        Self::among(&known, text).ok_or(ReportInvalid::Grouping)
    }

    /// From `group_by` of a report of all users. Grouping by token also groups by owner.
    ///
    /// # Errors
    /// An unknown dimension.
    pub fn parse_all_users(text: Option<&str>) -> Result<Self, ReportInvalid> {
        let known =
            [Dimension::Day, Dimension::Month, Dimension::User, Dimension::Token, Dimension::Model, Dimension::Gateway];
        let mut grouping = Self::among(&known, text).ok_or(ReportInvalid::AllUsersGrouping)?;
        if grouping.has(Dimension::Token) && grouping.has(Dimension::Gateway) {
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

    /// The finer one of the dimensions of time, if there is one.
    pub fn time(&self) -> Option<Dimension> {
        [Dimension::Day, Dimension::Month].into_iter().find(|dimension| self.has(*dimension))
    }

    pub fn dimensions(&self) -> impl Iterator<Item = Dimension> {
        self.0.iter().copied()
    }
}

impl Amounts {
    /// The sum; saturates.
    pub fn plus(self, more: Self) -> Self {
        Self {
            quota: self.quota.checked_add(more.quota).unwrap_or(Quota::MAX),
            requests: self.requests.saturating_add(more.requests),
            prompt_tokens: self.prompt_tokens.saturating_add(more.prompt_tokens),
            completion_tokens: self.completion_tokens.saturating_add(more.completion_tokens),
        }
    }
}

impl UsageReport {
    /// A report of these lines, without names. Grouped by day alone, it has every day.
    pub fn new(ReportRequest { span, zone, grouping }: ReportRequest, rows: Vec<ReportRow>) -> Self {
        let total = rows.iter().fold(Amounts::default(), |sum, row| sum.plus(row.amounts));
        let rows = if grouping.0.iter().eq(&[Dimension::Day]) { every_day(span, &rows) } else { rows };
        Self {
            span,
            zone,
            grouping,
            rows,
            total,
            usernames: BTreeMap::new(),
            token_names: BTreeMap::new(),
            gateway_names: BTreeMap::new(),
        }
    }
}

/// One line for every day; days without usage have zeros.
fn every_day(span: ReportSpan, rows: &[ReportRow]) -> Vec<ReportRow> {
    let recorded: BTreeMap<_, _> = rows.iter().map(|row| (row.day, row.amounts)).collect();
    let row = |day| {
        let amounts = recorded.get(&Some(day)).copied().unwrap_or_default();
        ReportRow { day: Some(day), user_id: None, token_id: None, model: None, gateway_id: None, amounts }
    };
    span.days().map(row).collect()
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
    fn the_first_month_of_a_report_is_the_first_that_it_may_have_whole() {
        for (from, first) in [("2026-03-01", "2026-03-01"), ("2026-03-02", "2026-04-01"), ("2025-12-31", "2026-01-01")]
        {
            let span = ReportSpan { from: day(from), to: day("2026-12-31") };
            assert_eq!(span.first_month(), day(first), "{from}");
        }
    }

    #[test]
    fn reports_are_grouped_by_known_dimensions() {
        use Dimension::{Day, Gateway, Model, Token, User};
        let own = |text| Grouping::parse(Some(text)).map(|grouping| grouping.dimensions().collect::<Vec<_>>());
        for (text, dimensions) in [
            ("", vec![Day]),
            ("day", vec![Day]),
            ("token", vec![Token]),
            ("token, day,token", vec![Day, Token]),
            ("model", vec![Model]),
            ("model,day,token", vec![Day, Token, Model]),
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
        assert_eq!(all("models"), Err(ReportInvalid::AllUsersGrouping));
        assert_eq!(all("token,gateway"), Err(ReportInvalid::TokenByGateway));
    }

    #[test]
    fn a_report_by_day_has_every_day_and_the_total_of_all() {
        let amounts = |quota| Amounts {
            quota: Quota::grant(quota).unwrap(),
            requests: 1,
            prompt_tokens: i64::MAX,
            completion_tokens: 3,
        };
        let row = |date: &str, token: Option<i64>, quota| ReportRow {
            day: Some(day(date)),
            user_id: None,
            token_id: token.map(TokenId::new),
            model: None,
            gateway_id: None,
            amounts: amounts(quota),
        };
        let span = ReportSpan { from: day("2026-03-01"), to: day("2026-03-03") };
        let by_day = Grouping::parse(Some("day")).unwrap();
        let rows = vec![row("2026-03-01", None, 5), row("2026-03-03", None, 7)];
        let report = UsageReport::new(ReportRequest { span, zone: None, grouping: by_day }, rows);
        let total = Amounts { requests: 2, completion_tokens: 6, ..amounts(12) };
        assert_eq!(report.total, total);
        let quotas: Vec<_> =
            report.rows.iter().map(|row| (row.day.unwrap().to_string(), row.amounts.quota.get())).collect();
        let expected = [("2026-03-01", 5), ("2026-03-02", 0), ("2026-03-03", 7)];
        assert_eq!(quotas, expected.map(|(day, quota)| (day.to_owned(), quota)));
        let by_both = Grouping::parse(Some("day,token")).unwrap();
        assert_eq!(
            UsageReport::new(
                ReportRequest { span, zone: None, grouping: by_both },
                vec![row("2026-03-01", Some(1), 5)]
            )
            .rows
            .len(),
            1
        );
    }
}
