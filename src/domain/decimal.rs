//! Decimal numbers, read from their text and never through a float.

/// A decimal number, 0 or more, as a whole number of its last place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Decimal {
    /// The number times 10 to the power of the places that were asked for.
    pub value: i128,
    /// Whether nothing was rounded.
    pub is_exact: bool,
}

/// The text is not a number, or it is negative or has more than 15 digits before the point.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a decimal number, 0 or more")]
pub struct NotADecimal;

/// The most digits before the point. Every number here is far below.
const MAX_WHOLE_DIGITS: i64 = 15;

impl Decimal {
    /// Reads a number as JSON writes it, also with an exponent. What has more than `places` decimals is rounded to
    /// them, half to even. `places` is at most 18.
    ///
    /// # Errors
    /// See [`NotADecimal`].
    pub fn read(text: &str, places: u8) -> Result<Self, NotADecimal> {
        let (is_negative, text) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
        let (mantissa, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (whole, part) = mantissa.split_once('.').unwrap_or((mantissa, "0"));
        if !is_digits(whole) || !is_digits(part) {
            return Err(NotADecimal);
        }
        let digits: Vec<u8> = [whole, part].concat().bytes().map(|digit| digit - b'0').collect();
        let zeros = digits.iter().take_while(|digit| **digit == 0).count();
        let digits = digits.get(zeros..).unwrap_or_default();
        let exponent = exponent_of(exponent)?;
        // The number is 0.d₁d₂d₃… × 10^point.
        let leading = |count: usize| i64::try_from(count).unwrap_or(i64::MAX);
        let point = exponent.saturating_add(leading(whole.len())).saturating_sub(leading(zeros));
        if digits.is_empty() {
            return Ok(Self { value: 0, is_exact: true });
        }
        if is_negative || point > MAX_WHOLE_DIGITS {
            return Err(NotADecimal);
        }
        Ok(rounded(digits, point.saturating_add(places.into())))
    }
}

/// 0.d₁d₂d₃… × 10^point as a whole number, half to even. `point` is at most 33, so it is in range.
fn rounded(digits: &[u8], point: i64) -> Decimal {
    let Ok(kept) = usize::try_from(point) else {
        return Decimal { value: 0, is_exact: false };
    };
    let digit = |at: usize| digits.get(at).copied().unwrap_or(0);
    let has_more_after = |at: usize| digits.iter().skip(at).any(|digit| *digit > 0);
    let whole = (0..kept).fold(0, |sum: i128, at| sum * 10 + i128::from(digit(at)));
    let is_more_than_half = digit(kept) > 5 || (digit(kept) == 5 && has_more_after(kept + 1));
    let is_half = digit(kept) == 5 && !is_more_than_half;
    let value = whole + i128::from(is_more_than_half || (is_half && whole % 2 == 1));
    Decimal { value, is_exact: !has_more_after(kept) }
}

/// A number of last places as a decimal without zeros at its end.
pub fn text(value: i128, places: u8) -> String {
    let one = 10_i128.pow(places.into());
    let (whole, part) = (value / one, value % one);
    if part == 0 {
        return whole.to_string();
    }
    format!("{whole}.{}", format!("{part:0>places$}", places = usize::from(places)).trim_end_matches('0'))
}

fn exponent_of(text: &str) -> Result<i64, NotADecimal> {
    let (is_negative, digits) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let digits = digits.strip_prefix('+').filter(|_| !is_negative).unwrap_or(digits);
    if !is_digits(digits) {
        return Err(NotADecimal);
    }
    // What does not fit is beyond every bound all the same.
    let size = digits.parse().unwrap_or(i64::MAX / 2);
    Ok(if is_negative { -size } else { size })
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    // What is a number and how it is rounded is tested with costs in dollars (`usd_cost`).

    #[test]
    fn a_number_says_whether_it_was_rounded() {
        let table = [
            ("1.25", 9, 1_250_000_000, true),
            ("0.000000001", 9, 1, true),
            ("1.0000000000", 9, 1_000_000_000, true),
            ("0.0000000015", 9, 2, false),
            ("1e-10", 9, 0, false),
            ("1e-99999999999999999999", 9, 0, false),
            ("0e-30", 9, 0, true),
            ("1.25e-6", 18, 1_250_000_000_000, true),
            ("999999999999999.999999999999999999", 18, 999_999_999_999_999_999_999_999_999_999_999, true),
        ];
        for (text, places, value, is_exact) in table {
            assert_eq!(Decimal::read(text, places), Ok(Decimal { value, is_exact }), "{text}");
        }
        assert_eq!(Decimal::read("1e15", 9), Err(NotADecimal));
    }
}
