//! How much of each unit a request used.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;

use crate::domain::bounds;

use super::count::{UnitCount, UnitCountInvalid};
use super::unit::{CACHE_READ_TOKENS, CACHE_WRITE_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS, REQUESTS, UnitTable};

/// The units that charges have columns for.
const WITH_COLUMN: [&str; 4] = [INPUT_TOKENS, OUTPUT_TOKENS, CACHE_READ_TOKENS, CACHE_WRITE_TOKENS];

/// Counts by unit. Units that are missing are 0.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Units {
    counts: BTreeMap<Cow<'static, str>, UnitCount>,
}

/// Counts that no request can have.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitsInvalid {
    #[error("the unit `{0}` is not known")]
    Unknown(String),
    #[error("`{unit}` {invalid}")]
    UnitCount { unit: String, invalid: UnitCountInvalid },
    #[error("`units` must be an object of numbers by the names of units, at most {}", bounds::MAX_UNITS)]
    NotUnits,
    #[error("`{0}` must be a whole number")]
    Fraction(String),
    #[error("`{0}` was sent twice, with different numbers")]
    Different(String),
    #[error("`{part}` counts a part of `{whole}`, so it must not be more than that")]
    Part { part: String, whole: String },
    #[error("nothing was counted; to charge nothing, send `quota`: 0")]
    NothingUsed,
    /// Parts overlap, and how much of them is both was not sent.
    #[error("`{0}` is missing: other units were counted that may be the same")]
    Missing(String),
    #[error("`{0}` is less than its parts")]
    LessThanParts(String),
    #[error("`{}` are parts of `{whole}`, so together they must not be more than that", parts.join("` and `"))]
    Parts { parts: Vec<String>, whole: String },
}

impl Units {
    /// Adds the count of a unit. A second one, under another name of the unit, must be equal.
    ///
    /// # Errors
    /// See [`UnitsInvalid::Different`].
    pub fn add(&mut self, unit: &str, count: UnitCount) -> Result<(), UnitsInvalid> {
        match self.counts.entry(Cow::Owned(unit.to_owned())) {
            Entry::Vacant(entry) => {
                entry.insert(count);
            }
            Entry::Occupied(entry) if *entry.get() != count => return Err(UnitsInvalid::Different(unit.to_owned())),
            Entry::Occupied(_) => {}
        }
        Ok(())
    }

    /// Checks them against the table, whatever the prices.
    ///
    /// # Errors
    /// A unit is unknown, or parts are more than their whole.
    pub fn check(&self, table: &UnitTable) -> Result<(), UnitsInvalid> {
        if self.counts.len() > bounds::MAX_UNITS {
            return Err(UnitsInvalid::NotUnits);
        }
        let mut sums: BTreeMap<&(String, String), i128> = BTreeMap::new();
        for (name, count) in &self.counts {
            let unit = table.get(name).filter(|_| name != REQUESTS);
            let unit = unit.ok_or_else(|| UnitsInvalid::Unknown(name.to_string()))?;
            if unit.is_whole() && !count.is_whole() {
                return Err(UnitsInvalid::Fraction(name.to_string()));
            }
            if let Some(whole) = unit.wholes().iter().find(|whole| self.get(whole) < *count) {
                return Err(UnitsInvalid::Part { part: name.to_string(), whole: whole.clone() });
            }
            for whole in unit.direct_wholes() {
                *sums.entry(whole).or_default() += count.nanos();
            }
        }
        let Some((direct, _)) = sums.into_iter().find(|((whole, _), sum)| self.get(whole).nanos() < *sum) else {
            return Ok(());
        };
        let is_part = |name: &&str| table.get(name).is_some_and(|unit| unit.direct_wholes().contains(direct));
        let parts = self.used().map(|(name, _)| name).filter(is_part).map(str::to_owned).collect();
        Err(UnitsInvalid::Parts { parts, whole: direct.0.clone() })
    }

    /// The count of a unit, 0 if it is missing.
    pub fn get(&self, unit: &str) -> UnitCount {
        self.reported(unit).unwrap_or(UnitCount::ZERO)
    }

    /// The count of a unit, also 0, if it was sent.
    pub fn reported(&self, unit: &str) -> Option<UnitCount> {
        self.counts.get(unit).copied()
    }

    /// A number of tokens, if it was sent.
    pub fn tokens(&self, unit: &str) -> Option<i64> {
        self.reported(unit).map(UnitCount::floor)
    }

    /// Only the tokens in and out of a model.
    pub fn in_and_out(&self) -> Self {
        [INPUT_TOKENS, OUTPUT_TOKENS].into_iter().map(|unit| (unit, self.tokens(unit))).collect()
    }

    /// All tokens in and out of a model; stops at the largest number.
    pub fn model_tokens(&self) -> i64 {
        let tokens = |unit| self.tokens(unit).unwrap_or(0);
        tokens(INPUT_TOKENS).saturating_add(tokens(OUTPUT_TOKENS))
    }

    /// Units with a count above 0 beside those that charges have columns for.
    pub fn others(&self) -> impl Iterator<Item = (&str, UnitCount)> {
        self.used().filter(|(unit, _)| !WITH_COLUMN.contains(unit))
    }

    /// Units with a count above 0.
    pub fn used(&self) -> impl Iterator<Item = (&str, UnitCount)> {
        let used = self.counts.iter().filter(|(_, count)| **count > UnitCount::ZERO);
        used.map(|(unit, count)| (unit.as_ref(), *count))
    }
}

impl<const N: usize> From<[(&'static str, i64); N]> for Units {
    fn from(counts: [(&'static str, i64); N]) -> Self {
        counts.into_iter().map(|(unit, count)| (unit, Some(count))).collect()
    }
}

impl FromIterator<(&'static str, Option<i64>)> for Units {
    /// Whole numbers of units; `None` is missing.
    fn from_iter<T: IntoIterator<Item = (&'static str, Option<i64>)>>(counts: T) -> Self {
        let known = counts.into_iter().filter_map(|(unit, count)| Some((unit, count?)));
        Self { counts: known.map(|(unit, count)| (Cow::Borrowed(unit), UnitCount::whole(count))).collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_never_more_than_their_whole() {
        let check = |units: Units| {
            units.check(&UnitTable::with(BTreeMap::new()).unwrap()).map_err(|invalid| invalid.to_string())
        };
        let ok = [
            Units::from([("input_tokens", 10), ("cache_read_tokens", 6), ("cache_write_tokens", 4)]),
            Units::from([("input_tokens", 10), ("cache_read_tokens", 10), ("input_audio_tokens", 10)]),
            Units::from([("input_tokens", 0), ("cache_read_tokens", 0)]),
            Units::from([("web_searches", 3)]),
            Units::default(),
        ];
        for units in ok {
            assert_eq!(check(units.clone()), Ok(()), "{units:?}");
        }
        let part =
            |part: &str, whole: &str| format!("`{part}` counts a part of `{whole}`, so it must not be more than that");
        let refused = [
            (Units::from([("input_token", 1)]), "the unit `input_token` is not known".to_owned()),
            (Units::from([("requests", 1)]), "the unit `requests` is not known".to_owned()),
            (Units::from([("cache_read_tokens", 1)]), part("cache_read_tokens", "input_tokens")),
            (Units::from([("input_tokens", 1), ("cache_read_tokens", 2)]), part("cache_read_tokens", "input_tokens")),
            (
                Units::from([("input_tokens", 9), ("cache_read_tokens", 5), ("cache_write_tokens", 5)]),
                "`cache_read_tokens` and `cache_write_tokens` are parts of `input_tokens`, so together they must not be more \
                 than that"
                    .to_owned(),
            ),
            (
                Units::from([("input_tokens", 9), ("input_audio_tokens", 2), ("cache_audio_read_tokens", 1)]),
                part("cache_audio_read_tokens", "cache_read_tokens"),
            ),
        ];
        for (units, message) in refused {
            assert_eq!(check(units.clone()), Err(message), "{units:?}");
        }
    }

    #[test]
    fn a_unit_that_was_sent_twice_must_be_one_number() {
        let mut units = Units::from([("input_tokens", 7)]);
        assert_eq!(units.add("input_tokens", UnitCount::whole(7)), Ok(()));
        assert_eq!(units.add("input_tokens", UnitCount::whole(8)), Err(UnitsInvalid::Different("input_tokens".into())));
        assert_eq!(units.used().collect::<Vec<_>>(), [("input_tokens", UnitCount::whole(7))]);
    }
}
