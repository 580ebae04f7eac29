//! What a cost is the sum of.

use num_bigint::BigInt;

use super::count::UnitCount;
use super::rate::UnitRate;
use super::unit::{COMMON_PER, Unit};
use crate::domain::decimal;

/// So many of a unit, without its parts that have rates of their own, at a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CostLine<'a> {
    /// The unit that the rate is of.
    pub unit: &'a Unit,
    pub count: UnitCount,
    pub rate: UnitRate,
}

/// 10²⁰ dollars.
const MAX_ATTOS: i128 = 100_000_000_000_000_000_000_000_000_000_000_000_000;

impl CostLine<'_> {
    /// What it costs, in 10⁻²⁷ dollars divided by [`COMMON_PER`].
    pub fn amount(&self) -> BigInt {
        let per = COMMON_PER / i128::from(self.unit.per());
        BigInt::from(self.count.nanos()) * BigInt::from(self.rate.attos()) * BigInt::from(per)
    }

    /// The same in dollars, as a decimal with at most 18 places, rounded up; stops at 10²⁰ dollars. It is for people:
    /// sums are rounded once.
    pub fn usd(&self) -> String {
        let one = BigInt::from(COMMON_PER) * BigInt::from(1_000_000_000);
        let attos = (self.amount() + &one - BigInt::from(1)) / one;
        decimal::text(i128::try_from(&attos).unwrap_or(MAX_ATTOS).min(MAX_ATTOS), 18)
    }
}
