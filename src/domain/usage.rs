//! Usage by day (spec §2.4, §4.9, §8).

use super::account::Account;
use super::bounds;
use super::id::TokenId;
use super::money::Quota;
use super::time::{Day, DayInvalid};
use super::token::{Token, TokenName};

/// The days of an answer, including both ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct UsageRange {
    first: Day,
    last: Day,
}

/// Why a range was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RangeInvalid {
    /// `start_date` is not a date.
    #[error("`start_date` {0}")]
    Start(DayInvalid),
    /// `end_date` is not a date.
    #[error("`end_date` {0}")]
    End(DayInvalid),
    /// The start is after the end.
    #[error("`start_date` is after `end_date`")]
    Reversed,
    /// Only a start was given, and it is after today.
    #[error("`start_date` is in the future")]
    Future,
}

impl UsageRange {
    /// The range for these dates (spec §8). No dates: today. Only a start: from there to today. Only an end: that day.
    /// A longer range is cut to end 7 days after its start.
    ///
    /// # Errors
    /// Invalid dates; a start after the end or after today.
    pub fn resolve(start: Option<&str>, end: Option<&str>, today: Day) -> Result<Self, RangeInvalid> {
        let start = given(start).map(Day::parse).transpose().map_err(RangeInvalid::Start)?;
        let end = given(end).map(Day::parse).transpose().map_err(RangeInvalid::End)?;
        let (first, last) = match (start, end) {
            (None, None) => (today, today),
            (None, Some(end)) => (end, end),
            (Some(start), None) if start > today => return Err(RangeInvalid::Future),
            (Some(start), None) => (start, today),
            (Some(start), Some(end)) if start > end => return Err(RangeInvalid::Reversed),
            (Some(start), Some(end)) => (start, end),
        };
        Ok(Self { first, last: last.min(first.plus_days(bounds::MAX_USAGE_DAYS)) })
    }

    /// The last `days` days, including today.
    pub fn latest(days: i64, today: Day) -> Self {
        Self { first: today.plus_days(1 - days), last: today }
    }

    /// The first day.
    pub const fn first(self) -> Day {
        self.first
    }

    /// The last day, included.
    pub const fn last(self) -> Day {
        self.last
    }

    /// Every day of the range, ascending.
    pub fn days(self) -> impl Iterator<Item = Day> {
        (0..=self.last.days_since(self.first)).map(move |n| self.first.plus_days(n))
    }

    /// One entry for every day of the range; days without a record are zero.
    pub fn fill(self, recorded: &[DayUsage]) -> Vec<DayUsage> {
        let day = |day| recorded.iter().find(|entry| entry.day == day).copied().unwrap_or(DayUsage::none(day));
        self.days().map(day).collect()
    }
}

/// An empty parameter counts as omitted.
fn given(text: Option<&str>) -> Option<&str> {
    text.filter(|text| !text.is_empty())
}

/// A token and the quota in its owner's wallet, as its key reads them (spec §2.3).
#[derive(Debug, Clone)]
pub struct KeyUsage {
    pub token: Token,
    pub wallet: Quota,
}

/// What the billing calls show as the limit of a key of unlimited quota (`compat.unlimited_limit`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnlimitedLimit {
    /// What is left in the owner's wallet, and what the key has used.
    Wallet,
    /// [`bounds::UNLIMITED_SENTINEL`].
    Sentinel,
}

impl UnlimitedLimit {
    /// What a key can still spend, as the billing calls show it.
    pub const fn available(self, account: &Account, wallet: Quota) -> Quota {
        match (account.budget.is_unlimited(), self) {
            (false, _) => account.remain(),
            (true, Self::Wallet) => wallet,
            (true, Self::Sentinel) => Quota::UNLIMITED_SENTINEL.saturating_sub(account.used),
        }
    }
}

/// The spend of a token on one day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DayUsage {
    /// The day.
    pub day: Day,
    /// The charged quota.
    pub quota: Quota,
    /// Number of charges.
    pub requests: i64,
    /// Input tokens.
    pub prompt_tokens: i64,
    /// Output tokens.
    pub completion_tokens: i64,
}

impl DayUsage {
    /// A day without usage.
    pub const fn none(day: Day) -> Self {
        Self { day, quota: Quota::ZERO, requests: 0, prompt_tokens: 0, completion_tokens: 0 }
    }
}

/// Spec §2.4: one entry for every day of the range.
#[derive(Debug, Clone)]
pub struct DailyUsage {
    /// The token.
    pub token_id: TokenId,
    /// Its name.
    pub token_name: TokenName,
    /// The days of the answer.
    pub range: UsageRange,
    /// Ascending, without gaps.
    pub daily: Vec<DayUsage>,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::account::Budget;
    use super::*;

    fn resolve(start: Option<&str>, end: Option<&str>) -> Result<(String, String), RangeInvalid> {
        let today = Day::parse("2026-03-10").unwrap();
        UsageRange::resolve(start, end, today).map(|r| (r.first().to_string(), r.last().to_string()))
    }

    #[test]
    fn the_range_rules_of_spec_8() {
        let days = |a: &str, b: &str| Ok((a.to_owned(), b.to_owned()));
        assert_eq!(resolve(None, None), days("2026-03-10", "2026-03-10"));
        assert_eq!(resolve(Some(""), Some("")), days("2026-03-10", "2026-03-10"));
        assert_eq!(resolve(Some("2026-03-10"), None), days("2026-03-10", "2026-03-10"));
        assert_eq!(resolve(Some("2026-03-01"), Some("2026-03-01")), days("2026-03-01", "2026-03-01"));
        assert_eq!(resolve(Some("2026-03-08"), None), days("2026-03-08", "2026-03-10"));
        assert_eq!(resolve(Some("2026-02-01"), None), days("2026-02-01", "2026-02-08"));
        assert_eq!(resolve(None, Some("2026-02-01")), days("2026-02-01", "2026-02-01"));
        assert_eq!(resolve(Some("2026-03-01"), Some("2026-03-08")), days("2026-03-01", "2026-03-08"));
        assert_eq!(resolve(Some("2026-03-01"), Some("2026-03-09")), days("2026-03-01", "2026-03-08"));
        assert_eq!(resolve(Some("2026-03-02"), Some("2026-03-01")), Err(RangeInvalid::Reversed));
        assert_eq!(resolve(Some("2026-03-11"), None), Err(RangeInvalid::Future));
        assert_eq!(resolve(Some("2026-3-1"), None), Err(RangeInvalid::Start(DayInvalid)));
        assert_eq!(resolve(None, Some("2026-02-30")), Err(RangeInvalid::End(DayInvalid)));
    }

    #[test]
    fn the_latest_days_end_today() {
        let today = Day::parse("2026-03-02").unwrap();
        let days = |n| UsageRange::latest(n, today).days().map(|day| day.to_string()).collect::<Vec<_>>();
        assert_eq!(days(1), ["2026-03-02"]);
        assert_eq!(days(3), ["2026-02-28", "2026-03-01", "2026-03-02"]);
    }

    #[test]
    fn days_without_a_record_are_filled_with_zero() {
        let today = Day::parse("2026-03-02").unwrap();
        let used = |back| DayUsage {
            quota: Quota::grant(5).unwrap(),
            requests: 1,
            prompt_tokens: 2,
            completion_tokens: 3,
            ..DayUsage::none(today.plus_days(back))
        };
        let filled = UsageRange::latest(3, today).fill(&[used(0), used(-2), used(-9)]);
        assert_eq!(filled, [used(-2), DayUsage::none(today.plus_days(-1)), used(0)]);
    }

    #[test]
    fn a_key_of_unlimited_quota_can_spend_its_wallet_or_up_to_the_sentinel() {
        let quota = |units| Quota::grant(units).unwrap();
        let account = |unlimited| Account { used: quota(5), ..Account::new(Budget::new(quota(7), unlimited)) };
        let table = [
            (false, UnlimitedLimit::Wallet, 7),
            (false, UnlimitedLimit::Sentinel, 7),
            (true, UnlimitedLimit::Wallet, 30),
            (true, UnlimitedLimit::Sentinel, bounds::UNLIMITED_SENTINEL - 5),
        ];
        for (unlimited, limit, available) in table {
            assert_eq!(limit.available(&account(unlimited), quota(30)).get(), available, "{unlimited} {limit:?}");
        }
    }

    proptest! {
        #[test]
        fn every_range_has_one_to_eight_days_without_gaps(start in 0_i64..4000, length in 0_i64..4000) {
            let epoch = Day::parse("2020-01-01").unwrap();
            let (start, end) = (epoch.plus_days(start), epoch.plus_days(start + length));
            let range = UsageRange::resolve(Some(&start.to_string()), Some(&end.to_string()), epoch).unwrap();
            let days: Vec<_> = range.days().collect();
            prop_assert_eq!(i64::try_from(days.len()).unwrap(), length.min(7) + 1);
            prop_assert_eq!((days.first(), days.last()), (Some(&range.first()), Some(&range.last())));
            prop_assert!(days.windows(2).all(|pair| pair[1].days_since(pair[0]) == 1));
        }
    }
}
