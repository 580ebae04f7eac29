//! Limits that renew, as options: in quota units, or in dollars.

use clap::Args;
use serde_json::Value;

use super::members;
use super::values::{amount_option, limit_arg, usd_limit_arg};

/// Options of keys and of users.
#[derive(Debug, Args)]
pub struct PeriodLimitArgs {
    /// Quota units of each day, or none.
    #[arg(long, value_name = "UNITS", value_parser = limit_arg, help_heading = "Limits")]
    per_day: Option<i64>,
    /// Dollars of each day, such as 2.50, or none.
    #[arg(
        long,
        value_name = "DOLLARS",
        value_parser = usd_limit_arg,
        conflicts_with = "per_day",
        help_heading = "Limits"
    )]
    usd_per_day: Option<i64>,
    /// Quota units of each week, or none.
    #[arg(long, value_name = "UNITS", value_parser = limit_arg, help_heading = "Limits")]
    per_week: Option<i64>,
    /// Dollars of each week, or none.
    #[arg(
        long,
        value_name = "DOLLARS",
        value_parser = usd_limit_arg,
        conflicts_with = "per_week",
        help_heading = "Limits"
    )]
    usd_per_week: Option<i64>,
    /// Quota units of each month, or none.
    #[arg(long, value_name = "UNITS", value_parser = limit_arg, help_heading = "Limits")]
    per_month: Option<i64>,
    /// Dollars of each month, or none.
    #[arg(
        long,
        value_name = "DOLLARS",
        value_parser = usd_limit_arg,
        conflicts_with = "per_month",
        help_heading = "Limits"
    )]
    usd_per_month: Option<i64>,
}

impl PeriodLimitArgs {
    /// `period_limits` of the API, if a limit was named.
    pub fn body(&self) -> Option<Value> {
        named_limits(&[
            ("day", self.per_day.or(self.usd_per_day)),
            ("week", self.per_week.or(self.usd_per_week)),
            ("month", self.per_month.or(self.usd_per_month)),
        ])
    }

    /// What its members are called in the API, and which option named them.
    pub fn options(&self) -> Vec<(&'static str, &'static str)> {
        vec![
            ("period_limits.day", amount_option(self.usd_per_day, "--usd-per-day", "--per-day")),
            ("period_limits.week", amount_option(self.usd_per_week, "--usd-per-week", "--per-week")),
            ("period_limits.month", amount_option(self.usd_per_month, "--usd-per-month", "--per-month")),
        ]
    }
}

/// The limits that were named, if any was.
pub fn named_limits(limits: &[(&str, Option<i64>)]) -> Option<Value> {
    let named = members(limits.iter().map(|(name, limit)| (*name, limit.map(Value::from))));
    (!named.is_empty()).then_some(named.into())
}
