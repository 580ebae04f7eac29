//! How many of a unit: tokens are whole numbers, seconds may be fractions.

use std::fmt::{Display, Formatter};

use crate::domain::bounds;
use crate::domain::decimal::{self, Decimal};

/// Decimals of a count.
const DECIMALS: u8 = 9;

/// A number of units, from 0 to [`MAX_COUNT`](bounds::MAX_COUNT), in billionths.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct UnitCount {
    nanos: i128,
}

/// The text is not a count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("must be a number from 0 to {}, with {DECIMALS} decimals at most", bounds::MAX_COUNT)]
pub struct UnitCountInvalid;

impl UnitCount {
    pub const ZERO: Self = Self { nanos: 0 };

    /// Reads a number as JSON writes it.
    ///
    /// # Errors
    /// See [`UnitCountInvalid`].
    pub fn read(text: &str) -> Result<Self, UnitCountInvalid> {
        match Decimal::read(text, DECIMALS) {
            Ok(Decimal { value: nanos, is_exact: true }) if nanos <= Self::whole(bounds::MAX_COUNT).nanos => {
                Ok(Self { nanos })
            }
            Ok(_) | Err(_) => Err(UnitCountInvalid),
        }
    }

    /// So many whole units.
    pub const fn whole(number: i64) -> Self {
        Self { nanos: number as i128 * 1_000_000_000 }
    }

    /// So many billionths of a unit, 0 or more.
    pub(super) const fn from_nanos(nanos: i128) -> Self {
        Self { nanos }
    }

    pub const fn is_whole(self) -> bool {
        self.nanos % Self::whole(1).nanos == 0
    }

    /// The whole units in it.
    pub fn floor(self) -> i64 {
        i64::try_from(self.nanos / Self::whole(1).nanos).unwrap_or(i64::MAX)
    }

    /// The count in billionths of a unit.
    pub const fn nanos(self) -> i128 {
        self.nanos
    }
}

impl Display for UnitCount {
    /// As JSON writes the number.
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&decimal::text(self.nanos, DECIMALS))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_read_exactly_and_written_as_it_was_read() {
        let table = [("0", Some("0")), ("368", Some("368")), ("12.5", Some("12.5")), ("1e3", Some("1000"))]
            .into_iter()
            .chain([("0.000000001", Some("0.000000001")), ("1000000000000", Some("1000000000000"))])
            .chain(["-1", "0.0000000001", "1000000000000.1", "1e18", "", "true", "NaN"].map(|text| (text, None)));
        for (text, written) in table {
            assert_eq!(UnitCount::read(text).ok().map(|count| count.to_string()).as_deref(), written, "{text}");
        }
    }
}
