//! Rates: dollars for so many of a unit.

use std::fmt::{Display, Formatter};

use crate::domain::bounds;
use crate::domain::decimal::{self, Decimal};

/// Decimals of a rate.
const DECIMALS: u8 = 18;

/// Dollars for as many of a unit as its price is for, such as a million tokens, with 18 decimals at most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct UnitRate {
    attos: i128,
}

/// The text is not a rate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be dollars from 0 to {}, with {DECIMALS} decimals at most", bounds::MAX_UNIT_RATE_USD)]
pub struct UnitRateInvalid;

impl UnitRate {
    /// What costs nothing.
    pub const FREE: Self = Self { attos: 0 };

    /// Reads a number as JSON writes it.
    ///
    /// # Errors
    /// See [`UnitRateInvalid`].
    pub fn read(text: &str) -> Result<Self, UnitRateInvalid> {
        match Decimal::read(text, DECIMALS) {
            Ok(Decimal { value: attos, is_exact: true }) if attos <= MAX_ATTOS => Ok(Self { attos }),
            Ok(_) | Err(_) => Err(UnitRateInvalid),
        }
    }

    /// A rate in billionths of a dollar, 0 or more.
    pub const fn from_nanos(nanos: i64) -> Self {
        Self { attos: nanos as i128 * 1_000_000_000 }
    }

    /// The rate in units of 10⁻¹⁸ dollars.
    pub const fn attos(self) -> i128 {
        self.attos
    }
}

const MAX_ATTOS: i128 = bounds::MAX_UNIT_RATE_USD as i128 * 1_000_000_000_000_000_000;

impl Display for UnitRate {
    /// Dollars as a decimal without zeros at its end.
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&decimal::text(self.attos, DECIMALS))
    }
}

/// The rate of a unit: one, or another above so many input tokens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TieredRate {
    pub base: UnitRate,
    /// By rising `start`.
    pub tiers: Vec<RateTier>,
}

/// A rate for all of a request whose input tokens are more than `start`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RateTier {
    pub start: i64,
    pub rate: UnitRate,
}

impl From<UnitRate> for TieredRate {
    fn from(base: UnitRate) -> Self {
        Self { base, tiers: Vec::new() }
    }
}

impl TieredRate {
    /// The rate of a request with so many input tokens, in billionths.
    pub fn at(&self, input_nanos: i128) -> UnitRate {
        let tier = self.tiers.iter().rev().find(|tier| tier.is_reached(input_nanos));
        tier.map_or(self.base, |tier| tier.rate)
    }

    /// The dearest rate of a request with at most so many input tokens, in billionths.
    pub fn dearest(&self, input_nanos: i128) -> UnitRate {
        let reached = self.tiers.iter().filter(|tier| tier.is_reached(input_nanos));
        reached.map(|tier| tier.rate).fold(self.base, Ord::max)
    }
}

impl Display for TieredRate {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        self.base.fmt(f)?;
        self.tiers.iter().try_for_each(|RateTier { start, rate }| write!(f, ", above {start} input tokens {rate}"))
    }
}

impl RateTier {
    fn is_reached(self, input_nanos: i128) -> bool {
        input_nanos > i128::from(self.start) * 1_000_000_000
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_read_exactly() {
        let table = [("0.8", Some("0.8")), ("1e-18", Some("0.000000000000000001")), ("1000000000", Some("1000000000"))];
        let refused = ["1e-19", "1000000000.1", "-1", "one"].map(|text| (text, None));
        for (text, written) in table.into_iter().chain(refused) {
            assert_eq!(UnitRate::read(text).ok().map(|rate| rate.to_string()).as_deref(), written, "{text}");
        }
    }

    #[test]
    fn a_tier_counts_above_its_start() {
        let rate = |text| UnitRate::read(text).unwrap();
        let tiers = vec![RateTier { start: 0, rate: rate("2") }, RateTier { start: 200, rate: rate("1") }];
        let tiered = TieredRate { base: rate("0.5"), tiers };
        let table = [(0, "0.5", "0.5"), (1, "2", "2"), (200, "2", "2"), (201, "1", "2")];
        for (input, at, dearest) in table {
            let nanos = input * 1_000_000_000;
            assert_eq!((tiered.at(nanos), tiered.dearest(nanos)), (rate(at), rate(dearest)), "{input}");
        }
        assert_eq!(tiered.at(200 * 1_000_000_000 + 1), rate("1"));
    }
}
