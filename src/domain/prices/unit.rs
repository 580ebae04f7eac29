//! The units that a request is counted in, and which is a part of which.

use std::collections::{BTreeMap, HashMap};
use std::sync::LazyLock;

use serde::Deserialize;

/// The unit of the request itself. Its count is always 1, and nobody sends it.
pub const REQUESTS: &str = "requests";

/// The unit by which tiers are chosen.
pub const INPUT_TOKENS: &str = "input_tokens";

/// Every `per` divides it, so that rates of all units have one denominator.
pub const COMMON_PER: i128 = 3_600_000_000_000;

/// A unit: what it is called, and what it is a part of.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    /// How many of it a rate is for.
    per: u32,
    /// The name of its rate in the prices of a model.
    price_key: String,
    /// What is counted. A unit with more dimensions is a part of each unit that has some of them with the same values.
    dimensions: BTreeMap<String, String>,
    #[serde(skip)]
    wholes: Vec<String>,
    #[serde(skip)]
    direct_wholes: Vec<(String, String)>,
}

impl Unit {
    pub const fn per(&self) -> u32 {
        self.per
    }

    pub fn price_key(&self) -> &str {
        &self.price_key
    }

    /// How many dimensions it has: more than each of its wholes.
    pub fn depth(&self) -> usize {
        self.dimensions.len()
    }

    /// The names of the units that it is a part of.
    pub fn wholes(&self) -> &[String] {
        &self.wholes
    }

    /// The wholes that lack one of its dimensions, each with the name of that dimension.
    pub fn direct_wholes(&self) -> &[(String, String)] {
        &self.direct_wholes
    }

    pub fn is_part_of(&self, whole: &Self) -> bool {
        let mut of_whole = whole.dimensions.iter();
        self.depth() > whole.depth() && of_whole.all(|(key, value)| self.dimensions.get(key) == Some(value))
    }

    /// The dimensions of what is counted by both, if something can be.
    pub fn overlap(&self, other: &Self) -> Option<BTreeMap<String, String>> {
        let mut joint = self.dimensions.clone();
        for (key, value) in &other.dimensions {
            if joint.insert(key.clone(), value.clone()).is_some_and(|before| before != *value) {
                return None;
            }
        }
        Some(joint)
    }

    /// The kind of content, such as `audio`, that a request has only if it says so. Text is in every request.
    pub fn special_content(&self) -> Option<&str> {
        self.dimensions.get("modality").map(String::as_str).filter(|modality| *modality != "text")
    }

    /// Returns true if a reservation that names it needs its own rate: searches and other calls of tools, sound, and
    /// pictures that are made.
    pub fn needs_own_rate(&self) -> bool {
        let is = |key: &str, value: &str| self.dimensions.get(key).is_some_and(|found| found == value);
        !is("family", "tokens")
            || is("modality", "audio")
            || (is("direction", "output") && self.special_content().is_some())
    }
}

/// Units that are no table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitsTableInvalid {
    #[error("the unit `{0}` is for {1}: that must be a divisor of {COMMON_PER}")]
    Per(String, u32),
    #[error("the unit `{0}` has no dimension, so it would be the whole of every other one")]
    NoDimension(String),
    #[error("the unit `{0}` has the price key or the dimensions of another one")]
    Twice(String),
}

/// All units by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitTable {
    units: BTreeMap<String, Unit>,
    by_price_key: HashMap<String, String>,
    by_dimensions: BTreeMap<BTreeMap<String, String>, String>,
}

/// The units of `genai-prices`, as its newest release names them.
static KNOWN: LazyLock<UnitTable> = LazyLock::new(|| {
    let units = serde_json::from_str(include_str!("units.json")).unwrap_or_default();
    UnitTable::new(units).unwrap_or_else(|_| UnitTable::empty())
});

impl UnitTable {
    /// The units that this version knows.
    pub fn known() -> &'static Self {
        &KNOWN
    }

    fn empty() -> Self {
        Self { units: BTreeMap::new(), by_price_key: HashMap::new(), by_dimensions: BTreeMap::new() }
    }

    /// A table of these units.
    ///
    /// # Errors
    /// See [`UnitsTableInvalid`].
    pub fn new(mut units: BTreeMap<String, Unit>) -> Result<Self, UnitsTableInvalid> {
        let mut table = Self::empty();
        for (name, unit) in &units {
            if unit.per == 0 || COMMON_PER % i128::from(unit.per) != 0 {
                return Err(UnitsTableInvalid::Per(name.clone(), unit.per));
            }
            if unit.dimensions.is_empty() {
                return Err(UnitsTableInvalid::NoDimension(name.clone()));
            }
            let same_key = table.by_price_key.insert(unit.price_key.clone(), name.clone());
            let same_dimensions = table.by_dimensions.insert(unit.dimensions.clone(), name.clone());
            if same_key.is_some() || same_dimensions.is_some() {
                return Err(UnitsTableInvalid::Twice(name.clone()));
            }
        }
        let wholes_of = |part: &Unit| {
            let wholes = units.iter().filter(|(_, whole)| part.is_part_of(whole));
            wholes.map(|(name, _)| name.clone()).collect()
        };
        let direct_wholes_of = |part: &Unit| {
            let without = |key: &String| {
                let mut dimensions = part.dimensions.clone();
                dimensions.remove(key);
                table.by_dimensions(&dimensions).map(|whole| (whole.to_owned(), key.clone()))
            };
            part.dimensions.keys().filter_map(without).collect()
        };
        let wholes: Vec<_> = units.values().map(|unit| (wholes_of(unit), direct_wholes_of(unit))).collect();
        for (unit, (wholes, direct_wholes)) in units.values_mut().zip(wholes) {
            unit.wholes = wholes;
            unit.direct_wholes = direct_wholes;
        }
        table.units = units;
        Ok(table)
    }

    pub fn get(&self, name: &str) -> Option<&Unit> {
        self.units.get(name)
    }

    /// The unit that has this rate, and its name.
    pub fn by_price_key(&self, key: &str) -> Option<(&str, &Unit)> {
        let (name, unit) = self.units.get_key_value(self.by_price_key.get(key)?)?;
        Some((name, unit))
    }

    /// The name of the unit with exactly these dimensions.
    pub fn by_dimensions(&self, dimensions: &BTreeMap<String, String>) -> Option<&str> {
        self.by_dimensions.get(dimensions).map(String::as_str)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.units.keys().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_units_are_a_table() {
        let table = UnitTable::known();
        assert_eq!(table.names().count(), 59);
        let wholes = |name: &str| table.get(name).unwrap().wholes().join(" ");
        assert_eq!(wholes("input_tokens"), "");
        assert_eq!(wholes("cache_write_1h_tokens"), "cache_write_tokens input_tokens");
        assert_eq!(wholes("cache_audio_read_tokens"), "cache_read_tokens input_audio_tokens input_tokens");
        assert_eq!(wholes("input_audio_seconds"), "audio_seconds");
        assert_eq!(table.by_price_key("audio_hours").unwrap().0, "audio_seconds");
    }

    #[test]
    fn what_is_counted_by_two_units_is_a_unit_or_nothing() {
        let table = UnitTable::known();
        let joint = |one, other| {
            let overlap = table.get(one).unwrap().overlap(table.get(other).unwrap());
            overlap.map(|dimensions| table.by_dimensions(&dimensions))
        };
        assert_eq!(joint("input_audio_tokens", "cache_read_tokens"), Some(Some("cache_audio_read_tokens")));
        assert_eq!(joint("input_audio_tokens", "input_image_tokens"), None);
        assert_eq!(joint("input_tokens", "web_searches"), None);
    }

    #[test]
    fn units_that_are_no_table_are_refused() {
        let refused = |json: &str| UnitTable::new(serde_json::from_str(json).unwrap()).unwrap_err().to_string();
        let unit = |per: u32, key: &str, family: &str| {
            format!(r#"{{"per": {per}, "price_key": "{key}", "dimensions": {{"family": "{family}"}}}}"#)
        };
        assert!(refused(&format!(r#"{{"a": {}}}"#, unit(7, "a", "a"))).contains("must be a divisor"));
        assert!(refused(&format!(r#"{{"a": {}}}"#, unit(0, "a", "a"))).contains("must be a divisor"));
        let same_key = format!(r#"{{"a": {}, "b": {}}}"#, unit(1, "a", "a"), unit(1, "a", "b"));
        let same_dimensions = format!(r#"{{"a": {}, "b": {}}}"#, unit(1, "a", "a"), unit(1, "b", "a"));
        for twice in [same_key, same_dimensions] {
            assert_eq!(refused(&twice), "the unit `b` has the price key or the dimensions of another one");
        }
        let none = r#"{"a": {"per": 1, "price_key": "a", "dimensions": {}}}"#;
        assert!(refused(none).contains("has no dimension"));
    }
}
