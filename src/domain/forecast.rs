//! When quota ends, at the pace of the last days (spec §13.9). Whole numbers: an estimate needs no fractions.

use super::account::Account;
use super::calendar::{Moment, Period};
use super::money::Quota;
use super::time::Day;
use super::usage::DayUsage;

/// Full days whose spend is the pace. A week has each day of the week once.
pub const FORECAST_DAYS: i64 = 7;

/// With fewer days of spend there is no forecast.
const MIN_DAYS_OF_SPEND: usize = 3;

/// The spend of the last full days.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    /// Of all of them.
    sum: Quota,
    /// Of the day with the most spend, and of that with the least among those with any.
    most: Quota,
    least: Quota,
}

/// In how many days something ends: 0 is today.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Forecast {
    pub days: i64,
    /// If every day is like the one with the most spend.
    pub earliest: i64,
    /// If every day is like the one with the least.
    pub latest: i64,
}

/// What ends when. `None` if it does not: there is no limit, or a period is over first.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct AccountForecast {
    /// What is left.
    pub quota: Option<Forecast>,
    pub week: Option<Forecast>,
    pub month: Option<Forecast>,
}

impl Pace {
    /// The pace of the last [`FORECAST_DAYS`] full days, of which those without spend may be absent. `None` if too few
    /// have spend.
    pub fn of(days: &[DayUsage]) -> Option<Self> {
        let spends: Vec<Quota> = days.iter().map(|day| day.quota).filter(|quota| !quota.is_zero()).collect();
        if spends.len() < MIN_DAYS_OF_SPEND {
            return None;
        }
        let sum = spends.iter().fold(Quota::ZERO, |sum, spend| sum.checked_add(*spend).unwrap_or(Quota::MAX));
        Some(Self { sum, most: spends.iter().copied().max()?, least: spends.iter().copied().min()? })
    }

    /// In how many days `left` is spent.
    pub fn forecast(&self, left: Quota) -> Forecast {
        // No spend is 0.
        let days = |per_days: i64, spend: Quota| {
            let days = i128::from(left.get()) * i128::from(per_days) / i128::from(spend.get());
            i64::try_from(days).unwrap_or(i64::MAX)
        };
        Forecast { days: days(FORECAST_DAYS, self.sum), earliest: days(1, self.most), latest: days(1, self.least) }
    }

    /// When an account ends: what is left of it, and of its limits that renew. A limit of a day is reached today or not
    /// at all.
    pub fn of_account(&self, account: &Account, at: &Moment) -> AccountForecast {
        let usage = account.period_usage(at.today, at);
        let left = |period: Period| {
            let forecast = self.forecast(usage.remaining(period)?);
            let renews = at.calendar.next_first_day(period, at.today).days_since(at.today);
            (forecast.days < renews).then_some(forecast)
        };
        AccountForecast {
            quota: (!account.budget.is_unlimited()).then(|| self.forecast(account.remain())),
            week: left(Period::Week),
            month: left(Period::Month),
        }
    }
}

impl Forecast {
    /// The days on which it ends: probably, at the earliest, at the latest. `None` for days too far away to be a date.
    pub fn dates(self, today: Day) -> [Option<Day>; 3] {
        // About a hundred years.
        const MAX_DAYS: i64 = 36_525;
        [self.days, self.earliest, self.latest].map(|days| (days <= MAX_DAYS).then(|| today.plus_days(days)))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn quota(units: i64) -> Quota {
        Quota::grant(units).unwrap()
    }

    fn pace(spends: &[i64]) -> Option<Pace> {
        let day = Day::parse("2026-03-01").unwrap();
        let days: Vec<DayUsage> =
            spends.iter().map(|units| DayUsage { quota: quota(*units), ..DayUsage::none(day) }).collect();
        Pace::of(&days)
    }

    #[test]
    fn fewer_than_three_days_of_spend_are_no_pace() {
        for spends in [&[][..], &[5], &[5, 5], &[5, 0, 5, 0, 0, 0, 0]] {
            assert_eq!(pace(spends), None, "{spends:?}");
        }
        assert!(pace(&[1, 1, 1]).is_some());
    }

    #[test]
    fn the_mean_counts_days_without_spend_and_the_extremes_do_not() {
        // 70 in seven days are 10 a day, between 10 and 40.
        let pace = pace(&[10, 0, 20, 40, 0, 0, 0]).unwrap();
        let forecast = |days, earliest, latest| Forecast { days, earliest, latest };
        assert_eq!(pace.forecast(quota(100)), forecast(10, 2, 10));
        assert_eq!(pace.forecast(quota(9)), forecast(0, 0, 0));
        assert_eq!(pace.forecast(Quota::ZERO), forecast(0, 0, 0));
    }

    #[test]
    fn dates_end_where_nobody_plans() {
        let today = Day::parse("2026-03-10").unwrap();
        let dates = Forecast { days: 21, earliest: 0, latest: i64::MAX }.dates(today);
        assert_eq!(
            dates.map(|day| day.map(|day| day.to_string())),
            [Some("2026-03-31".into()), Some("2026-03-10".into()), None]
        );
    }

    proptest! {
        #[test]
        fn the_earliest_day_is_not_after_the_latest(
            spends in proptest::collection::vec(0_i64..=500_000_000_000_000, 3..=7),
            left in 0_i64..=500_000_000_000_000,
        ) {
            if let Some(pace) = pace(&spends) {
                let Forecast { days, earliest, latest } = pace.forecast(quota(left));
                prop_assert!(0 <= earliest && earliest <= latest);
                prop_assert!(earliest <= days);
            }
        }
    }
}
