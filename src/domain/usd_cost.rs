//! A cost in dollars, as gateways know it. Exact: it is read from its text, never through a float.

use std::str::FromStr;

use super::bounds;
use super::decimal::Decimal;
use super::group::Ratio;
use super::money::{Quota, QuotaInvalid};

/// Decimals of a cost in dollars. Floats that differ only beyond them are the same cost.
const DECIMALS: u8 = 12;

/// Trillionths of a dollar in one quota unit.
const PICOS_PER_QUOTA: i128 = bounds::MICRO_USD_PER_QUOTA * 1_000_000;

/// A cost in dollars, 0 or more, in trillionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct UsdCost {
    picos: i128,
}

/// The text is not a cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a decimal number from 0 to {}", bounds::MAX_QUOTA / bounds::QUOTA_PER_USD)]
pub struct UsdCostInvalid;

impl From<QuotaInvalid> for UsdCostInvalid {
    fn from(_: QuotaInvalid) -> Self {
        Self
    }
}

impl UsdCost {
    /// The least quota that covers it.
    ///
    /// # Errors
    /// It is more than can be granted.
    pub fn quota(self) -> Result<Quota, UsdCostInvalid> {
        self.quota_at(Ratio::ONE)
    }

    /// The least quota that covers it times a ratio.
    ///
    /// # Errors
    /// It is more than can be granted.
    pub fn quota_at(self, ratio: Ratio) -> Result<Quota, UsdCostInvalid> {
        let per_quota = PICOS_PER_QUOTA * i128::from(Ratio::ONE.billionths());
        let product = self.picos.checked_mul(ratio.billionths().into()).ok_or(UsdCostInvalid)?;
        let units = product / per_quota + i128::from(product % per_quota > 0);
        Ok(Quota::grant(i64::try_from(units).map_err(|_| UsdCostInvalid)?)?)
    }
}

impl FromStr for UsdCost {
    type Err = UsdCostInvalid;

    /// Reads a decimal number as JSON writes it. What has more than 12 decimals is rounded to them, half to even.
    fn from_str(text: &str) -> Result<Self, UsdCostInvalid> {
        let number = Decimal::read(text, DECIMALS).map_err(|_| UsdCostInvalid)?;
        Ok(Self { picos: number.value })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn quota(text: &str) -> Result<i64, UsdCostInvalid> {
        Ok(text.parse::<UsdCost>()?.quota()?.get())
    }

    fn picos(text: &str) -> i128 {
        text.parse::<UsdCost>().unwrap().picos
    }

    #[test]
    fn a_cost_takes_the_least_quota_that_covers_it() {
        let table = [
            ("0", 0),
            ("-0", 0),
            ("-0.0e5", 0),
            ("1", 500_000),
            ("0.000002", 1),
            ("0.000002000001", 2),
            ("0.0000020000001", 1),
            ("0.000000000001", 1),
            ("0.003", 1_500),
            // Floats: 0.1 + 0.2, and 0.0213 as its exact binary value.
            ("0.30000000000000004", 150_000),
            ("0.0213000000000000009298117831235686", 10_650),
            ("0.02129999999999999968", 10_650),
            ("2.13e-2", 10_650),
            ("213E-4", 10_650),
            ("1e+2", 50_000_000),
            ("00.5", 250_000),
            ("1000000000", 500_000_000_000_000),
            ("1e9", 500_000_000_000_000),
            ("0.0000000001e19", 500_000_000_000_000),
            ("1000000000.0000000000004", 500_000_000_000_000),
            ("1e-99999999999999999999999", 0),
            ("0e99999999999999999999999", 0),
        ];
        for (text, units) in table {
            assert_eq!(quota(text), Ok(units), "{text}");
        }
    }

    #[test]
    fn what_is_no_cost_is_refused() {
        let long = format!("1{}", "0".repeat(500_000));
        let wrong = [
            "",
            "-",
            ".",
            "1.",
            ".5",
            "+1",
            "--1",
            "1e",
            "1e+",
            "1e-",
            "1e+-1",
            "1e-+1",
            "1e1.5",
            "1e1e1",
            "0x10",
            "1_000",
            "1,5",
            " 1",
            "1 ",
            "NaN",
            "Infinity",
            "null",
            "true",
            "$1",
            "١",
            "-1",
            "-0.000000000001",
            "-1e-400",
            "1000000000.000001",
            "1000000001",
            "1e10",
            "1e15",
            "1e16",
            "1e400",
            "9e99999999999999999999999",
            &long,
        ];
        for text in wrong {
            assert_eq!(quota(text), Err(UsdCostInvalid), "{}", text.get(..40).unwrap_or(text));
        }
        assert_eq!(UsdCostInvalid.to_string(), "must be a decimal number from 0 to 1000000000");
    }

    #[test]
    fn a_cost_is_rounded_half_to_even_at_12_decimals() {
        let table = [
            ("0.0000000000005", 0),
            ("0.00000000000050000000000000000000000000000000000001", 1),
            ("0.0000000000015", 2),
            ("0.0000000000025", 2),
            ("0.0000000000024999999999999999999999999999999999", 2),
            ("0.0000000000035", 4),
            ("0.9999999999995", 1_000_000_000_000),
            ("0.9999999999994", 999_999_999_999),
            ("0.00000000000049", 0),
            ("5e-13", 0),
            ("6e-13", 1),
            ("9e-14", 0),
        ];
        for (text, expected) in table {
            assert_eq!(picos(text), expected, "{text}");
        }
    }

    #[test]
    fn a_very_long_text_is_read_in_time_linear_in_its_length() {
        let long = format!("0.{}1", "3".repeat(1_000_000));
        assert_eq!(quota(&long), Ok(166_667));
    }

    /// `digits` with the point `decimals` places from its end, in a form with the exponent `shift`.
    fn written(digits: i128, decimals: i32, shift: i32) -> String {
        let places = usize::try_from(decimals.max(0)).unwrap();
        let padded = format!("{digits:0width$}", width = places + 1);
        let (whole, part) = padded.split_at(padded.len() - places);
        let point = if part.is_empty() { "" } else { "." };
        if shift == 0 { format!("{whole}{point}{part}") } else { format!("{whole}{point}{part}e{shift}") }
    }

    proptest! {
        /// Against the rational `digits / 10^decimals`, however it is written.
        #[test]
        fn a_cost_is_exact(digits in 0..10_i128.pow(15), decimals in 6_i32..20, shift in -5_i32..=5) {
            let text = written(digits, decimals + shift, shift);
            let one = 10_i128.pow(decimals.unsigned_abs());
            let (exact, rest) = (digits * 1_000_000_000_000 / one, digits * 1_000_000_000_000 % one);
            let up = rest * 2 > one || (rest * 2 == one && exact % 2 == 1);
            let rounded = exact + i128::from(up);
            prop_assert_eq!(picos(&text), rounded, "{}", text);
            let units = quota(&text).unwrap();
            // Never below the cost, and less than one unit above it.
            let above = i128::from(units) * PICOS_PER_QUOTA - rounded;
            prop_assert!((0..PICOS_PER_QUOTA).contains(&above), "{} {}", text, units);
        }

        #[test]
        fn a_whole_quota_in_dollars_is_that_quota(units in 0..=bounds::MAX_QUOTA) {
            let text = Quota::grant(units).unwrap().usd().to_string();
            prop_assert_eq!(quota(&text), Ok(units));
        }

        #[test]
        fn more_dollars_never_take_less_quota(one in 0_f64..1e9, other in 0_f64..1e9) {
            let (less, more) = if one < other { (one, other) } else { (other, one) };
            prop_assert!(quota(&less.to_string()).unwrap() <= quota(&more.to_string()).unwrap());
        }

        #[test]
        fn no_text_panics(text in "[-+0-9eE. ]{0,30}") {
            let _ = quota(&text);
        }
    }
}
