//! Numbers as JSON writes them, read exactly and never through a float.

use std::fmt::{Display, Formatter};
use std::num::NonZeroU64;

/// Digits after the point.
const PLACES: i64 = 18;

/// The value of the number 1.
const ONE: i128 = 1_000_000_000_000_000_000;

/// The most digits before the point, as the server reads numbers.
const MAX_WHOLE_DIGITS: i64 = 15;

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
        let digits = digits.trim_start_matches('0').as_bytes();
        if digits.is_empty() {
            return Some(Self::ZERO);
        }
        // The number is 0.d₁d₂d₃… × 10^point.
        let count = |digits: &[u8]| i64::try_from(digits.len()).unwrap_or(i64::MAX);
        let point = exponent.saturating_add(count(digits)).saturating_sub(count(fraction.as_bytes()));
        if is_negative || point > MAX_WHOLE_DIGITS {
            return None;
        }
        // At most 33 digits, so the value is in range.
        let kept = usize::try_from(point.saturating_add(PLACES)).unwrap_or(0);
        let digit = |at: usize| digits.get(at).map_or(0, |digit| i128::from(digit - b'0'));
        let value = (0..kept).fold(0, |sum, at| sum * 10 + digit(at));
        let is_cut = digits.iter().skip(kept).any(|digit| *digit != b'0');
        Some(Self { value: value + i128::from(is_cut) })
    }

    pub fn whole(number: u64) -> Self {
        Self { value: i128::from(number) * ONE }
    }

    pub fn checked_add(self, other: Self) -> Option<Self> {
        Some(Self { value: self.value.checked_add(other.value)? })
    }

    /// What is left of it without `other`: 0 if `other` is larger.
    pub fn without(self, other: Self) -> Self {
        Self { value: self.value.saturating_sub(other.value).max(0) }
    }

    /// Divided by a whole number, rounded up.
    pub fn divided_by(self, divisor: NonZeroU64) -> Self {
        Self { value: round_up(self.value, i128::from(divisor.get())) }
    }

    /// With 9 decimals, rounded up: the server counts units in billionths.
    pub fn in_billionths(self) -> Self {
        let billionth = ONE / 1_000_000_000;
        Self { value: round_up(self.value, billionth).saturating_mul(billionth) }
    }
}

impl Display for ExactNumber {
    /// As JSON writes the number, without an exponent and without zeros at its end.
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let (whole, fraction) = (self.value / ONE, self.value % ONE);
        if fraction == 0 {
            return write!(f, "{whole}");
        }
        write!(f, "{whole}.{}", format!("{fraction:018}").trim_end_matches('0'))
    }
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
        let divided = |text, divisor| number(text).divided_by(NonZeroU64::new(divisor).unwrap());
        assert_eq!(divided("37756000", 10_000_000_000), number("0.0037756"));
        assert_eq!(divided("0.000000000000000001", 3), number("0.000000000000000001"));
        assert_eq!(number("7.0000000001").in_billionths(), number("7.000000001"));
        assert_eq!(number("2").without(number("3")), ExactNumber::ZERO);
    }
}
