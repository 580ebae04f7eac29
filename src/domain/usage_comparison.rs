//! What changed between two ranges of days: a usage report beside that of another range (spec §13.6).

use std::cmp::Reverse;
use std::collections::HashMap;

use super::money::Usd;
use super::usage_report::{Amounts, ReportKey, ReportRow, UsageReport};

/// A difference of [`Amounts`]; a number is negative if less was used than before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AmountsChange {
    pub quota: i64,
    pub usd: Usd,
    pub requests: i64,
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
}

impl AmountsChange {
    /// Exact: the numbers are not negative, so no difference overflows.
    pub fn between(before: Amounts, now: Amounts) -> Self {
        Self {
            quota: now.quota.get().saturating_sub(before.quota.get()),
            usd: now.quota.usd() - before.quota.usd(),
            requests: now.requests.saturating_sub(before.requests),
            prompt_tokens: now.prompt_tokens.saturating_sub(before.prompt_tokens),
            completion_tokens: now.completion_tokens.saturating_sub(before.completion_tokens),
        }
    }
}

impl UsageReport {
    /// This report beside the lines of the range that it is compared with. It has a line for each key of either range.
    pub fn compared_with(mut self, before: &[ReportRow], by_change: bool) -> Self {
        self.total_before = Some(Amounts::total(before));
        self.rows = joined(self.rows, before);
        if by_change {
            self.rows.sort_by_key(|row| Reverse(row.change().map(|change| change.quota.unsigned_abs())));
        }
        self
    }
}

impl ReportRow {
    /// What was used more than before; `None` without a comparison.
    pub fn change(&self) -> Option<AmountsChange> {
        self.before.map(|before| AmountsChange::between(before, self.amounts))
    }
}

/// These lines with what was used before, then those of keys that were used only before. Each part keeps its order.
fn joined(rows: Vec<ReportRow>, before: &[ReportRow]) -> Vec<ReportRow> {
    let mut unmatched: HashMap<&ReportKey, Amounts> = before.iter().map(|row| (&row.key, row.amounts)).collect();
    let mut all: Vec<_> = rows
        .into_iter()
        .map(|row| ReportRow { before: Some(unmatched.remove(&row.key).unwrap_or_default()), ..row })
        .collect();
    all.extend(before.iter().filter(|row| unmatched.contains_key(&row.key)).map(|row| ReportRow {
        key: row.key.clone(),
        amounts: Amounts::default(),
        before: Some(row.amounts),
    }));
    all
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use chrono_tz::Tz;
    use proptest::prelude::*;

    use super::*;
    use crate::domain::bounds;
    use crate::domain::money::Quota;
    use crate::domain::time::Day;
    use crate::domain::usage_report_request::{Comparison, Grouping, ReportRequest, ReportSpan};

    fn amounts(quota: i64, requests: i64) -> Amounts {
        Amounts { quota: Quota::grant(quota).unwrap(), requests, prompt_tokens: 2, completion_tokens: 1 }
    }

    fn row(model: &str, amounts: Amounts) -> ReportRow {
        ReportRow { key: ReportKey { model: Some(model.to_owned()), ..ReportKey::default() }, amounts, before: None }
    }

    fn compared(rows: Vec<ReportRow>, before: &[ReportRow], by_change: bool) -> UsageReport {
        let day = |text| Day::parse(text).unwrap();
        let span = ReportSpan { from: day("2026-03-01"), to: day("2026-03-10") };
        let comparison = Comparison { span: ReportSpan { from: day("2026-02-01"), to: day("2026-02-10") }, by_change };
        let grouping = Grouping::parse(Some("model")).unwrap();
        let request = ReportRequest { span, zone: None, grouping, comparison: Some(comparison) };
        UsageReport::new(request, rows, Tz::UTC).compared_with(before, by_change)
    }

    /// The model, the quota and the quota before of each line.
    fn lines(report: &UsageReport) -> Vec<(&str, i64, i64)> {
        let rows = report.rows.iter();
        rows.map(|row| (row.key.model.as_deref().unwrap(), row.amounts.quota.get(), row.before.unwrap().quota.get()))
            .collect()
    }

    #[test]
    fn a_comparison_has_the_lines_of_either_range_in_their_orders() {
        let now = vec![row("o1", amounts(50, 5)), row("o2", amounts(9, 1)), row("new", amounts(3, 1))];
        let before = vec![row("gone", amounts(40, 1)), row("o2", amounts(29, 1)), row("old", amounts(1, 1))];
        let report = compared(now.clone(), &before, false);
        let expected = [("o1", 50, 0), ("o2", 9, 29), ("new", 3, 0), ("gone", 0, 40), ("old", 0, 1)];
        assert_eq!(lines(&report), expected);
        let total = |quota, requests| Amounts { prompt_tokens: 6, completion_tokens: 3, ..amounts(quota, requests) };
        assert_eq!((report.total, report.total_before), (total(62, 7), Some(total(70, 3))));
        let by_change = compared(now, &before, true);
        let expected = [("o1", 50, 0), ("gone", 0, 40), ("o2", 9, 29), ("new", 3, 0), ("old", 0, 1)];
        assert_eq!(lines(&by_change), expected);
    }

    #[test]
    fn a_change_is_negative_if_less_was_used() {
        let change = AmountsChange::between(amounts(500_000, 7), amounts(250_000, 9));
        assert_eq!((change.quota, change.usd.to_string(), change.requests), (-250_000, "-0.5".to_owned(), 2));
        assert_eq!((change.prompt_tokens, change.completion_tokens), (0, 0));
        assert_eq!(row("o1", amounts(1, 1)).change(), None);
    }

    fn usage() -> impl Strategy<Value = BTreeMap<String, Amounts>> {
        let amounts = (0..=bounds::MAX_QUOTA, 0..=i64::MAX).prop_map(|(quota, requests)| amounts(quota, requests));
        prop::collection::btree_map("[a-f]", amounts, 0..6)
    }

    proptest! {
        #[test]
        fn nothing_is_lost_or_counted_twice(now in usage(), before in usage(), by_change in any::<bool>()) {
            let rows = |of: &BTreeMap<String, Amounts>| -> Vec<ReportRow> {
                of.iter().map(|(model, sum)| row(model, *sum)).collect()
            };
            let report = compared(rows(&now), &rows(&before), by_change);
            let models: BTreeSet<_> = now.keys().chain(before.keys()).cloned().collect();
            prop_assert_eq!(report.rows.len(), models.len());
            for row in &report.rows {
                let model = row.key.model.as_ref().unwrap();
                let of = |range: &BTreeMap<String, Amounts>| range.get(model).copied().unwrap_or_default();
                prop_assert_eq!((row.amounts, row.before), (of(&now), Some(of(&before))));
                let change = row.change().unwrap();
                prop_assert_eq!(of(&before).quota.get() + change.quota, of(&now).quota.get());
                prop_assert_eq!(of(&before).quota.usd() - of(&now).quota.usd() + change.usd, Usd::default());
                prop_assert_eq!(of(&before).requests + change.requests, of(&now).requests);
            }
            prop_assert_eq!(report.total_before, Some(Amounts::total(&rows(&before))));
            if by_change {
                let changes = report.rows.iter().map(|row| row.change().unwrap().quota.unsigned_abs());
                prop_assert!(changes.is_sorted_by(|larger, smaller| larger >= smaller));
            }
        }
    }
}
