//! Quota and dollars. Integers only: 1 USD is 500,000 quota units (spec §1), so one unit is exactly
//! 2 millionths of a dollar and no float is needed.

use super::bounds;

/// An amount of quota units, never negative, with checked arithmetic.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, serde::Serialize, sqlx::Type)]
#[serde(transparent)]
#[sqlx(transparent)]
pub struct Quota(i64);

/// Why an amount was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a whole number from 0 to {}", bounds::MAX_QUOTA)]
pub struct QuotaInvalid;

impl Quota {
    /// No quota.
    pub const ZERO: Self = Self(0);

    /// The least amount that is not nothing.
    pub const LEAST: Self = Self(1);

    /// What stands for an unlimited amount in the billing calls.
    pub const UNLIMITED_SENTINEL: Self = Self(bounds::UNLIMITED_SENTINEL);

    /// The largest amount that can be counted.
    pub const MAX: Self = Self(i64::MAX);

    /// An amount in the range that can be granted: 0 to 1,000,000,000 × `QuotaPerUnit` (spec §8).
    ///
    /// # Errors
    /// Negative amounts and amounts above that.
    pub const fn grant(units: i64) -> Result<Self, QuotaInvalid> {
        if units < 0 || units > bounds::MAX_QUOTA {
            return Err(QuotaInvalid);
        }
        Ok(Self(units))
    }

    /// The quota units.
    pub const fn get(self) -> i64 {
        self.0
    }

    /// Returns true if the amount is zero.
    pub const fn is_zero(self) -> bool {
        self.0 == 0
    }

    /// The sum; `None` on overflow.
    pub const fn checked_add(self, more: Self) -> Option<Self> {
        match self.0.checked_add(more.0) {
            Some(sum) => Some(Self(sum)),
            None => None,
        }
    }

    /// The difference; `None` if it would be negative.
    pub const fn checked_sub(self, less: Self) -> Option<Self> {
        match self.0.checked_sub(less.0) {
            Some(rest) if rest >= 0 => Some(Self(rest)),
            _ => None,
        }
    }

    /// The amount changed by `units`; `None` if it would be negative or overflow.
    pub const fn changed_by(self, units: i64) -> Option<Self> {
        match self.0.checked_add(units) {
            Some(sum) if sum >= 0 => Some(Self(sum)),
            _ => None,
        }
    }

    /// The difference; zero if it would be negative.
    pub const fn saturating_sub(self, less: Self) -> Self {
        match self.checked_sub(less) {
            Some(rest) => rest,
            None => Self::ZERO,
        }
    }

    /// The same amount in dollars, exactly.
    pub fn usd(self) -> Usd {
        Usd { micros: i128::from(self.0) * bounds::MICRO_USD_PER_QUOTA }
    }
}

/// Dollars, in millionths; negative only as a difference. Its `Display` is an exact decimal of at most six places.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct Usd {
    micros: i128,
}

impl Usd {
    /// The same amount in cents, exactly.
    pub const fn cents(self) -> Cents {
        Cents(self)
    }
}

/// Cents. Its `Display` is an exact decimal of at most four places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cents(Usd);

impl std::ops::Add for Usd {
    type Output = Self;

    /// Exact: the sum of any two quotas is far inside the range of `i128`.
    fn add(self, more: Self) -> Self {
        Self { micros: self.micros + more.micros }
    }
}

impl std::ops::Sub for Usd {
    type Output = Self;

    /// Exact, for the same reason.
    fn sub(self, less: Self) -> Self {
        Self { micros: self.micros - less.micros }
    }
}

impl std::fmt::Display for Usd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write_decimal(f, self.micros, 6)
    }
}

impl std::fmt::Display for Cents {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write_decimal(f, self.0.micros, 4)
    }
}

/// Writes `micros` with the point before its last `places` digits, without zeros at the end.
fn write_decimal(f: &mut std::fmt::Formatter<'_>, micros: i128, places: u8) -> std::fmt::Result {
    let (sign, unit) = (if micros < 0 { "-" } else { "" }, 10_u128.pow(places.into()));
    let (whole, part) = (micros.unsigned_abs() / unit, micros.unsigned_abs() % unit);
    if part == 0 {
        return write!(f, "{sign}{whole}");
    }
    let digits = format!("{part:0width$}", width = usize::from(places));
    write!(f, "{sign}{whole}.{}", digits.trim_end_matches('0'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn one_dollar_is_500_000_quota() {
        let shown = |units| Quota(units).usd().to_string();
        assert_eq!(shown(500_000), "1");
        assert_eq!(shown(0), "0");
        assert_eq!(shown(1), "0.000002");
        assert_eq!(shown(250_000), "0.5");
        assert_eq!(shown(617_283), "1.234566");
        assert_eq!(shown(bounds::MAX_QUOTA), "1000000000");
        assert_eq!(shown(i64::MAX), "18446744073709.551614");
    }

    #[test]
    fn cents_are_exact_decimals() {
        let shown = |units| Quota(units).usd().cents().to_string();
        let table = [(0, "0"), (1, "0.0002"), (5_000, "1"), (617_283, "123.4566"), (500_000, "100"), (52_500, "10.5")];
        for (units, cents) in table {
            assert_eq!(shown(units), cents);
        }
        assert_eq!(shown(i64::MAX), "1844674407370955.1614");
    }

    #[test]
    fn a_saturating_difference_is_never_negative() {
        assert_eq!(Quota(5).saturating_sub(Quota(3)), Quota(2));
        assert_eq!(Quota(3).saturating_sub(Quota(5)), Quota::ZERO);
    }

    #[test]
    fn grants_are_bounded_by_the_spec() {
        assert_eq!(Quota::grant(-1), Err(QuotaInvalid));
        assert_eq!(Quota::grant(0), Ok(Quota::ZERO));
        assert_eq!([Quota::ZERO, Quota(1)].map(Quota::is_zero), [true, false]);
        assert_eq!(Quota::grant(500_000_000_000_000).map(Quota::get), Ok(500_000_000_000_000));
        assert_eq!(Quota::grant(500_000_000_000_001), Err(QuotaInvalid));
    }

    #[test]
    fn an_amount_changes_by_any_number_that_leaves_it_countable() {
        let changed = |units| Quota(5).changed_by(units).map(Quota::get);
        assert_eq!([0, 3, -5].map(changed), [Some(5), Some(8), Some(0)]);
        assert_eq!([-6, i64::MIN, i64::MAX].map(changed), [None; 3]);
    }

    #[test]
    fn dollars_are_added_exactly() {
        assert_eq!((Quota(1).usd() + Quota(617_283).usd()).to_string(), "1.234568");
        assert_eq!((Usd::default() + Usd::default()).to_string(), "0");
    }

    #[test]
    fn differences_of_dollars_have_a_sign() {
        let shown = |units, less| (Quota(units).usd() - Quota(less).usd()).to_string();
        assert_eq!(shown(7, 7), "0");
        assert_eq!(shown(0, 1), "-0.000002");
        assert_eq!(shown(1, 500_001), "-1");
        assert_eq!(shown(617_283, 0), "1.234566");
        assert_eq!(shown(0, i64::MAX), "-18446744073709.551614");
    }

    proptest! {
        #[test]
        fn dollars_are_exact(units in 0..=i64::MAX) {
            let shown = Quota(units).usd().to_string();
            let (whole, part) = shown.split_once('.').unwrap_or((&shown, ""));
            prop_assert!(part.len() <= 6);
            let micros: i128 = format!("{whole}{part:0<6}").parse().unwrap();
            prop_assert_eq!(micros, i128::from(units) * 2);
        }

        #[test]
        fn subtraction_reverses_addition(a in 0..=i64::MAX, b in 0..=i64::MAX) {
            match Quota(a).checked_add(Quota(b)) {
                Some(sum) => prop_assert_eq!(sum.checked_sub(Quota(b)), Some(Quota(a))),
                None => prop_assert!(a.checked_add(b).is_none()),
            }
            prop_assert_eq!(Quota(a).checked_sub(Quota(b)).is_some(), a >= b);
        }
    }
}
