//! Usage over longer ranges, grouped (spec §13.6).

use std::collections::BTreeMap;

use chrono_tz::Tz;

use super::id::{GatewayId, TokenId, UserId};
use super::money::Quota;
use super::time::{Day, UnixTime};
use super::usage_report_request::{Comparison, Dimension, Grouping, ReportRequest, ReportSpan};
use super::user::UserContact;

/// What was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Amounts {
    pub quota: Quota,
    pub requests: i64,
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
}

/// What a line of a report is about. A dimension that the report is not grouped by is `None`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct ReportKey {
    /// Grouped by month alone, the first day of the month.
    pub day: Option<Day>,
    /// The start of an hour.
    pub hour: Option<UnixTime>,
    pub user_id: Option<UserId>,
    pub token_id: Option<TokenId>,
    pub group: Option<String>,
    pub model: Option<String>,
    /// `None` also if the charges have no gateway, or are not kept.
    pub gateway_id: Option<GatewayId>,
}

/// A line of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportRow {
    pub key: ReportKey,
    pub amounts: Amounts,
    /// In the range that it is compared with; `None` without a comparison.
    pub before: Option<Amounts>,
}

/// A report.
#[derive(Debug)]
pub struct UsageReport {
    pub span: ReportSpan,
    /// That of the request.
    pub zone: Option<Tz>,
    pub grouping: Grouping,
    pub comparison: Option<Comparison>,
    /// By day, if it is grouped by day, else the highest spend or the largest change first.
    pub rows: Vec<ReportRow>,
    pub total: Amounts,
    /// Of the range that it is compared with.
    pub total_before: Option<Amounts>,
    /// Also deleted ones.
    pub users: BTreeMap<UserId, UserContact>,
    /// The present names, also of deleted tokens.
    pub token_names: BTreeMap<TokenId, String>,
    /// Of those that are not revoked.
    pub gateway_names: BTreeMap<GatewayId, String>,
}

impl Amounts {
    /// The sum of all these lines.
    pub fn total(rows: &[ReportRow]) -> Self {
        rows.iter().fold(Self::default(), |sum, row| sum.plus(row.amounts))
    }

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
    /// A report of these lines, without names and not compared yet. Grouped by day or hour alone, it has every day or
    /// hour of its zone, or of the one of the settings.
    pub fn new(request: ReportRequest, rows: Vec<ReportRow>, zone_of_settings: Tz) -> Self {
        let ReportRequest { span, zone, grouping, comparison } = request;
        let total = Amounts::total(&rows);
        let is_by = |dimension| grouping.dimensions().eq([dimension]);
        let rows = if is_by(Dimension::Day) {
            every_day(span, &rows)
        } else if is_by(Dimension::Hour) {
            every_hour(span, zone.unwrap_or(zone_of_settings), &rows)
        } else {
            rows
        };
        Self {
            span,
            zone,
            grouping,
            comparison,
            rows,
            total,
            total_before: None,
            users: BTreeMap::new(),
            token_names: BTreeMap::new(),
            gateway_names: BTreeMap::new(),
        }
    }
}

/// One line for every day; days without usage have zeros.
fn every_day(span: ReportSpan, rows: &[ReportRow]) -> Vec<ReportRow> {
    let recorded: BTreeMap<_, _> = rows.iter().map(|row| (row.key.day, row.amounts)).collect();
    let row = |day| {
        let amounts = recorded.get(&Some(day)).copied().unwrap_or_default();
        ReportRow { key: ReportKey { day: Some(day), ..ReportKey::default() }, amounts, before: None }
    };
    span.days().map(row).collect()
}

/// One line for every hour, in the same way.
fn every_hour(span: ReportSpan, zone: Tz, rows: &[ReportRow]) -> Vec<ReportRow> {
    let recorded: BTreeMap<_, _> = rows.iter().filter_map(|row| Some((row.key.hour?, row.amounts))).collect();
    let mut hours = span.hours(zone);
    hours.extend(recorded.keys());
    let row = |hour: UnixTime| {
        let amounts = recorded.get(&hour).copied().unwrap_or_default();
        let key = ReportKey { day: Some(hour.day_in(zone)), hour: Some(hour), ..ReportKey::default() };
        ReportRow { key, amounts, before: None }
    };
    hours.into_iter().map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn day(text: &str) -> Day {
        Day::parse(text).unwrap()
    }

    #[test]
    fn a_report_by_hour_has_every_hour_of_the_clocks_of_its_zone() {
        let hours = |zone: Tz, from, to, at: &[i64]| {
            let span = ReportSpan { from: day(from), to: day(to) };
            let grouping = Grouping::parse(Some("hour")).unwrap();
            let request = ReportRequest { span, zone: Some(zone), grouping, comparison: None };
            let row = |at: &i64| ReportRow {
                key: ReportKey { hour: Some(UnixTime::new(*at).hour_in(zone)), ..ReportKey::default() },
                amounts: Amounts { requests: 1, ..Amounts::default() },
                before: None,
            };
            let report = UsageReport::new(request, at.iter().map(row).collect(), Tz::UTC);
            let used = report.rows.iter().enumerate().filter(|(_, row)| row.amounts.requests > 0);
            assert!(report.rows.iter().all(|row| (day(from)..=day(to)).contains(&row.key.day.unwrap())));
            (report.rows.len(), used.map(|(n, _)| n).collect::<Vec<_>>())
        };
        // 2026-03-10 at midnight in UTC, and 2026-10-25 at 00:30: 02:30 in Berlin, as it is an hour later.
        let (midnight, twice) = (1_773_100_800, 1_792_888_200);
        let two_days = hours(Tz::UTC, "2026-03-10", "2026-03-11", &[midnight, midnight + 7_199, midnight + 172_799]);
        assert_eq!(two_days, (48, vec![0, 1, 47]));
        assert_eq!(hours(Tz::Europe__Berlin, "2026-10-25", "2026-10-25", &[twice, twice + 3_600]), (25, vec![2, 3]));
        assert_eq!(hours(Tz::Europe__Berlin, "2026-03-29", "2026-03-29", &[]).0, 23);
        assert_eq!(hours(Tz::Asia__Kathmandu, "2026-03-10", "2026-03-10", &[midnight]), (24, vec![5]));
        // Its clocks are put forward by half an hour at 02:00, so that the hour from then on has half an hour.
        assert_eq!(hours(Tz::Australia__Lord_Howe, "2026-10-04", "2026-10-04", &[]).0, 24);
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
            key: ReportKey { day: Some(day(date)), token_id: token.map(TokenId::new), ..ReportKey::default() },
            amounts: amounts(quota),
            before: None,
        };
        let span = ReportSpan { from: day("2026-03-01"), to: day("2026-03-03") };
        let by = |text| {
            let grouping = Grouping::parse(Some(text)).unwrap();
            ReportRequest { span, zone: None, grouping, comparison: None }
        };
        let rows = vec![row("2026-03-01", None, 5), row("2026-03-03", None, 7)];
        let report = UsageReport::new(by("day"), rows, Tz::UTC);
        let total = Amounts { requests: 2, completion_tokens: 6, ..amounts(12) };
        assert_eq!(report.total, total);
        let quotas: Vec<_> =
            report.rows.iter().map(|row| (row.key.day.unwrap().to_string(), row.amounts.quota.get())).collect();
        let expected = [("2026-03-01", 5), ("2026-03-02", 0), ("2026-03-03", 7)];
        assert_eq!(quotas, expected.map(|(day, quota)| (day.to_owned(), quota)));
        let by_both = UsageReport::new(by("day,token"), vec![row("2026-03-01", Some(1), 5)], Tz::UTC);
        assert_eq!(by_both.rows.len(), 1);
    }
}
