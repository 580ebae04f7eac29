//! Numbers as JSON writes them, read exactly and never through a float.

use std::fmt::{Display, Formatter};

/// Digits behind the point.
const PLACES: usize = 18;

/// The most digits before the point, as the server reads numbers.
const MAX_WHOLE_DIGITS: usize = 15;

/// A number from 0 to below 10^15 when it is read, with 18 decimals. Sums may be larger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct ExactNumber {
    /// The number times 10^18.
    value: i128,
}

impl ExactNumber {
    pub const ZERO: Self = Self { value: 0 };

    /// Reads a number as JSON writes it, also with an exponent. More than 18 decimals are rounded up. `None` if it is
    /// not a number, below 0 or too large.
    pub fn read(text: &str) -> Option<Self> {
        let (is_negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
        if !is_digits(whole) || !is_digits(fraction) {
            return None;
        }
        let exponent = read_exponent(exponent)?;
        let digits = [whole, fraction].concat();
        let significant = digits.trim_start_matches('0');
        if significant.is_empty() {
            return Some(Self::ZERO);
        }
        if is_negative {
            return None;
        }
        // The digits before the point of the value; fewer than none if zeros follow the point of the value.
        let count = |text: &str| i64::try_from(text.len()).unwrap_or(i64::MAX);
        let whole_digits = exponent.saturating_add(count(significant)).saturating_sub(count(fraction));
        let places = i64::try_from(PLACES).unwrap_or_default();
        if whole_digits > i64::try_from(MAX_WHOLE_DIGITS).unwrap_or_default() {
            return None;
        }
        let kept = usize::try_from(whole_digits.saturating_add(places)).unwrap_or(0);
        let (kept_digits, cut_digits) = significant.split_at(kept.min(significant.len()));
        let number = kept_digits.bytes().fold(0, |sum: i128, digit| sum * 10 + i128::from(digit - b'0'));
        let zeros = u32::try_from(kept.saturating_sub(significant.len())).unwrap_or(0);
        let rounding = i128::from(cut_digits.bytes().any(|digit| digit != b'0'));
        Some(Self { value: number.checked_mul(10_i128.checked_pow(zeros)?)?.checked_add(rounding)? })
    }

    pub fn whole(number: u32) -> Self {
        Self { value: i128::from(number) * one() }
    }

    pub fn checked_add(self, other: Self) -> Option<Self> {
        Some(Self { value: self.value.checked_add(other.value)? })
    }

    /// What is left of it without `other`: 0 if `other` is larger.
    pub fn without(self, other: Self) -> Self {
        Self { value: self.value.saturating_sub(other.value).max(0) }
    }

    /// Divided by a whole number, rounded up. A division by 0 changes nothing.
    pub fn divided_by(self, divisor: u64) -> Self {
        Self { value: round_up(self.value, i128::from(divisor.max(1))) }
    }

    /// With 9 decimals, rounded up: the server counts units in billionths.
    pub fn in_billionths(self) -> Self {
        let billionth = one() / 1_000_000_000;
        Self { value: round_up(self.value, billionth).saturating_mul(billionth) }
    }
}

impl Display for ExactNumber {
    /// As JSON writes the number, without an exponent and without zeros at its end.
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (whole, fraction) = (self.value / one(), self.value % one());
        if fraction == 0 {
            return write!(f, "{whole}");
        }
        write!(f, "{whole}.{}", format!("{fraction:0>PLACES$}").trim_end_matches('0'))
    }
}

const fn one() -> i128 {
    1_000_000_000_000_000_000
}

fn round_up(value: i128, divisor: i128) -> i128 {
    value / divisor + i128::from(value % divisor != 0)
}

fn read_exponent(text: &str) -> Option<i64> {
    let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let digits = digits.strip_prefix('+').filter(|_| !is_negative).unwrap_or(digits);
    if !is_digits(digits) {
        return None;
    }
    // What does not fit is beyond every bound all the same.
    let size = digits.parse().unwrap_or(i64::MAX / 2);
    Some(if is_negative { -size } else { size })
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(text: &str) -> Option<String> {
        ExactNumber::read(text).map(|number| number.to_string())
    }

    #[test]
    fn a_number_is_read_exactly() {
        for (text, expected) in [
            ("0", "0"),
            ("-0.0", "0"),
            ("0e999999999999999999999", "0"),
            ("368", "368"),
            ("12.50", "12.5"),
            ("1.5e3", "1500"),
            ("1E+2", "100"),
            ("4.1400000000000003e-05", "0.000041400000000001"),
            ("0.000000000000000001", "0.000000000000000001"),
            ("1e-19", "0.000000000000000001"),
            ("1e-99999999999999999999", "0.000000000000000001"),
            ("999999999999999.999999999999999999", "999999999999999.999999999999999999"),
            ("000000000000000000000000000000000000000000007", "7"),
        ] {
            assert_eq!(written(text).as_deref(), Some(expected), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_in_range_is_not_read() {
        for text in ["", "-1", "1e15", "1e400", "1e99999999999999999999", "NaN", "1.", ".5", "1e", "1e+-2", "0x1", "²"]
        {
            assert_eq!(written(text), None, "{text}");
        }
    }

    #[test]
    fn divisions_are_rounded_up() {
        let number = |text| ExactNumber::read(text).unwrap();
        assert_eq!(number("37756000").divided_by(10_000_000_000), number("0.0037756"));
        assert_eq!(number("0.000000000000000001").divided_by(3), number("0.000000000000000001"));
        assert_eq!(number("7.0000000001").in_billionths(), number("7.000000001"));
        assert_eq!(number("2").without(number("3")), ExactNumber::ZERO);
    }
}
