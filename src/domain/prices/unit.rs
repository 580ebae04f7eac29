//! The units that a request is counted in, and which is a part of which.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, LazyLock};

use serde::Deserialize;

/// The unit of the request itself. Its count is always 1, and nobody sends it.
pub const REQUESTS: &str = "requests";

/// The unit by which tiers are chosen. Gateways also call it `prompt_tokens`.
pub const INPUT_TOKENS: &str = "input_tokens";

/// Gateways also call it `completion_tokens`.
pub const OUTPUT_TOKENS: &str = "output_tokens";

/// Input tokens that were read from the provider's cache. Gateways also call them `cached_tokens`.
pub const CACHE_READ_TOKENS: &str = "cache_read_tokens";

/// Input tokens that were written to the provider's cache.
pub const CACHE_WRITE_TOKENS: &str = "cache_write_tokens";

/// Every `per` divides it, so that rates of all units have one denominator.
pub const COMMON_PER: i128 = 3_600_000_000_000;

/// A unit: what it is called, and what it is a part of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    name: String,
    data: UnitData,
    wholes: Vec<String>,
    direct_wholes: Vec<(String, String)>,
}

/// A unit as the data has it.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct UnitData {
    /// How many of it a rate is for.
    per: u32,
    /// The name of its rate in the prices of a model.
    price_key: String,
    /// What is counted. A unit with more dimensions is a part of each unit that has some of them with the same values.
    dimensions: BTreeMap<String, String>,
}

impl UnitData {
    /// The name of its rate in the prices of a model.
    pub fn price_key(&self) -> &str {
        &self.price_key
    }
}

impl Unit {
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How many of it a rate is for.
    pub const fn per(&self) -> u32 {
        self.data.per
    }

    /// The name of its rate in the prices of a model.
    pub fn price_key(&self) -> &str {
        &self.data.price_key
    }

    /// How many dimensions it has: more than each of its wholes.
    pub fn depth(&self) -> usize {
        self.data.dimensions.len()
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
        is_part(&self.data.dimensions, &whole.data.dimensions)
    }

    /// The dimensions of what is counted by both, if something can be.
    pub fn overlap(&self, other: &Self) -> Option<BTreeMap<String, String>> {
        let mut joint = self.data.dimensions.clone();
        for (key, value) in &other.data.dimensions {
            if joint.insert(key.clone(), value.clone()).is_some_and(|before| before != *value) {
                return None;
            }
        }
        Some(joint)
    }

    /// Returns true if it is counted in whole numbers: all but durations are.
    pub fn is_whole(&self) -> bool {
        self.data.dimensions.get("family").is_none_or(|family| family != "durations")
    }

    /// The kind of content, such as `audio`, that a request has only if it says so. Text is in every request.
    pub fn special_content(&self) -> Option<&str> {
        self.data.dimensions.get("modality").map(String::as_str).filter(|modality| *modality != "text")
    }

    /// Returns true if a reservation that names it needs its own rate: searches and other calls of tools, sound, and
    /// pictures that are made.
    pub fn needs_own_rate(&self) -> bool {
        let is = |key: &str, value: &str| self.data.dimensions.get(key).is_some_and(|found| found == value);
        !is("family", "tokens")
            || is("modality", "audio")
            || (is("direction", "output") && self.special_content().is_some())
    }
}

/// Members of a model that are no rates.
const NOT_RATES: [&str; 3] = ["provider", "prices", "price_variants"];

/// Names stand in stored prices as they are.
fn is_name(text: &str) -> bool {
    (1..=64).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
}

/// Units that are no table.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum UnitsTableInvalid {
    #[error("the unit `{0}` is for {1}: that must be a divisor of {COMMON_PER}")]
    Per(String, u32),
    #[error(
        "the unit `{0}` and its price key must have 1 to 64 lower-case letters, digits and `_`, and no other meaning"
    )]
    Name(String),
    #[error("the unit `{0}` has no dimension, so it would be the whole of every other one")]
    NoDimension(String),
    #[error("the unit `{0}` is another one, or has its price key or its dimensions")]
    Twice(String),
}

/// All units by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitTable {
    units: BTreeMap<String, Arc<Unit>>,
    by_price_key: HashMap<String, Arc<Unit>>,
    by_dimensions: BTreeMap<BTreeMap<String, String>, String>,
}

/// The units of `genai-prices`, as its newest release names them.
pub static KNOWN_UNITS: LazyLock<BTreeMap<String, UnitData>> =
    LazyLock::new(|| toml::from_str(include_str!("units.toml")).unwrap_or_default());

impl Default for UnitTable {
    /// The units that this version knows. A test checks that they are a table.
    fn default() -> Self {
        let none = Self { units: BTreeMap::new(), by_price_key: HashMap::new(), by_dimensions: BTreeMap::new() };
        Self::with(BTreeMap::new()).unwrap_or(none)
    }
}

impl UnitTable {
    /// The units that this version knows, and `own` ones.
    ///
    /// # Errors
    /// See [`UnitsTableInvalid`].
    pub fn with(own: BTreeMap<String, UnitData>) -> Result<Self, UnitsTableInvalid> {
        let mut by_price_key = HashMap::new();
        let mut by_dimensions = BTreeMap::new();
        let mut all = KNOWN_UNITS.clone();
        for (name, unit) in own {
            if !is_name(&name) || !is_name(&unit.price_key) || NOT_RATES.contains(&unit.price_key.as_str()) {
                return Err(UnitsTableInvalid::Name(name));
            }
            // This version may know a unit that was one's own before.
            if all.insert(name.clone(), unit.clone()).is_some_and(|known| known != unit) {
                return Err(UnitsTableInvalid::Twice(name));
            }
        }
        for (name, unit) in &all {
            if unit.per == 0 || COMMON_PER % i128::from(unit.per) != 0 {
                return Err(UnitsTableInvalid::Per(name.clone(), unit.per));
            }
            if unit.dimensions.is_empty() {
                return Err(UnitsTableInvalid::NoDimension(name.clone()));
            }
            if by_dimensions.insert(unit.dimensions.clone(), name.clone()).is_some() {
                return Err(UnitsTableInvalid::Twice(name.clone()));
            }
        }
        let mut units = BTreeMap::new();
        for (name, data) in &all {
            let wholes = all.iter().filter(|(_, whole)| is_part(&data.dimensions, &whole.dimensions));
            let wholes = wholes.map(|(name, _)| name.clone()).collect();
            let direct_wholes = data.dimensions.keys().filter_map(|key| {
                let mut dimensions = data.dimensions.clone();
                dimensions.remove(key);
                by_dimensions.get(&dimensions).map(|whole| (whole.clone(), key.clone()))
            });
            let direct_wholes = direct_wholes.collect();
            let unit = Arc::new(Unit { name: name.clone(), data: data.clone(), wholes, direct_wholes });
            if by_price_key.insert(data.price_key.clone(), Arc::clone(&unit)).is_some() {
                return Err(UnitsTableInvalid::Twice(name.clone()));
            }
            units.insert(name.clone(), unit);
        }
        Ok(Self { units, by_price_key, by_dimensions })
    }

    pub fn get(&self, name: &str) -> Option<&Arc<Unit>> {
        self.units.get(name)
    }

    /// The unit that has this rate.
    pub fn by_price_key(&self, key: &str) -> Option<&Unit> {
        self.by_price_key.get(key).map(Arc::as_ref)
    }

    /// The name of the unit with exactly these dimensions.
    pub fn by_dimensions(&self, dimensions: &BTreeMap<String, String>) -> Option<&str> {
        self.by_dimensions.get(dimensions).map(String::as_str)
    }

    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.units.keys().map(String::as_str)
    }
}

/// Returns true if what has the one dimensions is a part of what has the others.
fn is_part(part: &BTreeMap<String, String>, whole: &BTreeMap<String, String>) -> bool {
    part.len() > whole.len() && whole.iter().all(|(key, value)| part.get(key) == Some(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_known_units_are_a_table() {
        let table = UnitTable::with(BTreeMap::new()).unwrap();
        assert_eq!(table.names().count(), 59);
        let wholes = |name: &str| table.get(name).unwrap().wholes().join(" ");
        assert_eq!(wholes("input_tokens"), "");
        assert_eq!(wholes("cache_write_1h_tokens"), "cache_write_tokens input_tokens");
        assert_eq!(wholes("cache_audio_read_tokens"), "cache_read_tokens input_audio_tokens input_tokens");
        assert_eq!(wholes("input_audio_seconds"), "audio_seconds");
        assert_eq!(table.by_price_key("audio_hours").unwrap().name(), "audio_seconds");
    }

    #[test]
    fn what_is_counted_by_two_units_is_a_unit_or_nothing() {
        let table = UnitTable::with(BTreeMap::new()).unwrap();
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
        let refused = |json: &str| UnitTable::with(serde_json::from_str(json).unwrap()).unwrap_err().to_string();
        let unit = |per: u32, key: &str, family: &str| {
            format!(r#"{{"per": {per}, "price_key": "{key}", "dimensions": {{"family": "{family}"}}}}"#)
        };
        assert!(refused(&format!(r#"{{"a": {}}}"#, unit(7, "a", "a"))).contains("must be a divisor"));
        assert!(refused(&format!(r#"{{"a": {}}}"#, unit(0, "a", "a"))).contains("must be a divisor"));
        let same_key = format!(r#"{{"a": {}, "b": {}}}"#, unit(1, "a", "a"), unit(1, "a", "b"));
        let same_dimensions = format!(r#"{{"a": {}, "b": {}}}"#, unit(1, "a", "a"), unit(1, "b", "a"));
        for twice in [same_key, same_dimensions] {
            assert_eq!(refused(&twice), "the unit `b` is another one, or has its price key or its dimensions");
        }
        let known = format!(r#"{{"input_tokens": {}}}"#, unit(1, "a", "a"));
        assert!(refused(&known).starts_with("the unit `input_tokens` is another one"));
        for key in ["a b", "prices", "A", ""] {
            let named = format!(r#"{{"a": {}}}"#, unit(1, key, "a"));
            assert!(refused(&named).contains("must have 1 to 64 lower-case letters"), "{key}");
        }
        let same = r#"{"input_tokens": {"per": 1000000, "price_key": "input_mtok",
            "dimensions": {"family": "tokens", "direction": "input"}}}"#;
        assert!(UnitTable::with(serde_json::from_str(same).unwrap()).is_ok(), "as this version knows it");
        let none = r#"{"a": {"per": 1, "price_key": "a", "dimensions": {}}}"#;
        assert!(refused(none).contains("has no dimension"));
    }
}
