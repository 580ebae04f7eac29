//! How answers are read, as data: in the shape that `genai-prices` publishes, with what that shape lacks.
//!
//! Ours are `rest`, `count` and `when` of a mapping, and `context` and `costs` of an extractor. An unknown member is an
//! error: an extractor that is read in part counts too little.

use std::collections::BTreeMap;
use std::num::NonZeroU64;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::value_path::{ItemMatch, ValuePath};

/// How the answers of one API of a provider are read.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extractor {
    /// The API: `chat`, `responses`, ….
    #[serde(default = "default_flavor")]
    pub api_flavor: String,
    /// From the answer to the object that has the counts.
    pub root: ValuePath,
    /// From the answer to the name of the model.
    #[serde(default = "default_model_path")]
    pub model_path: ValuePath,
    /// What is counted. Mappings into one unit add up.
    pub mappings: Vec<Mapping>,
    /// From the answer to texts that select prices, such as `service_tier`.
    #[serde(default)]
    pub context: BTreeMap<String, ValuePath>,
    /// What the answer says that it costs. Rules add up.
    #[serde(default)]
    pub costs: Vec<CostRule>,
    #[serde(rename = "comment")]
    _comment: Option<IgnoredAny>,
}

/// A number in an answer, and the unit that it counts.
#[derive(Debug, Clone, Deserialize)]
#[serde(try_from = "MappingData")]
pub struct Mapping {
    pub source: MappingSource,
    pub unit: String,
    /// It counts only if this holds.
    pub when: Option<SumRule>,
}

#[derive(Debug, Clone)]
pub enum MappingSource {
    /// The number at a path from the root.
    Number {
        path: ValuePath,
        is_required: bool,
    },
    Rest(RestRule),
    Count(CountRule),
}

/// By how much a number is larger than others together; 0 if it is not. The paths are from the root.
///
/// It counts what no other number has: `total - prompt - completion`. And where a number has two names, it counts the
/// second one as far as the first does not have it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RestRule {
    pub path: ValuePath,
    pub less: Vec<ValuePath>,
}

/// How many items of a list match. The path is from the answer.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CountRule {
    pub path: ValuePath,
    pub item: ItemMatch,
}

/// Numbers of which the sum is another number: so an answer shows which of them are inside of which. The paths are from
/// the root. A number that is missing in the sum counts as 0.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SumRule {
    pub sum: Vec<ValuePath>,
    pub equals: ValuePath,
}

/// A cost that an answer tells. The paths are from the root.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CostRule {
    pub path: ValuePath,
    /// How many of it make a dollar.
    pub per_dollar: NonZeroU64,
    /// It counts only if this is true, and then it must be there.
    pub r#if: Option<ValuePath>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MappingData {
    path: Option<ValuePath>,
    required: Option<bool>,
    rest: Option<RestRule>,
    count: Option<CountRule>,
    dest: String,
    when: Option<SumRule>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a mapping has one of `path`, `rest` and `count`; only a `path` can be `required`")]
struct MappingInvalid;

impl TryFrom<MappingData> for Mapping {
    type Error = MappingInvalid;

    fn try_from(data: MappingData) -> Result<Self, MappingInvalid> {
        let MappingData { path, required, rest, count, dest, when } = data;
        let source = match (path, rest, count, required) {
            (Some(path), None, None, _) => MappingSource::Number { path, is_required: required.unwrap_or(true) },
            (None, Some(rest), None, None) => MappingSource::Rest(rest),
            (None, None, Some(count), None) => MappingSource::Count(count),
            _ => return Err(MappingInvalid),
        };
        Ok(Self { source, unit: dest, when })
    }
}

impl Mapping {
    /// The path that is counted.
    pub fn path(&self) -> &ValuePath {
        match &self.source {
            MappingSource::Number { path, .. } => path,
            MappingSource::Rest(rest) => &rest.path,
            MappingSource::Count(count) => &count.path,
        }
    }
}

impl Extractor {
    /// The paths of numbers that are counted, from the root. One can be there more than once.
    pub fn number_paths(&self) -> impl Iterator<Item = &ValuePath> {
        self.mappings.iter().flat_map(|mapping| {
            let (path, less) = match &mapping.source {
                MappingSource::Number { path, .. } => (Some(path), [].as_slice()),
                MappingSource::Rest(rest) => (Some(&rest.path), rest.less.as_slice()),
                MappingSource::Count(_) => (None, [].as_slice()),
            };
            let when = mapping.when.iter().flat_map(|when| when.sum.iter().chain([&when.equals]));
            path.into_iter().chain(less).chain(when)
        })
    }

    /// Adds what `other` reads and this one does not. A path that is counted as a unit is not counted as it twice.
    pub fn add(&mut self, other: Self) {
        for mapping in other.mappings {
            let is_same = |own: &Mapping| own.unit == mapping.unit && own.path() == mapping.path();
            if !self.mappings.iter().any(is_same) {
                self.mappings.push(mapping);
            }
        }
        for (name, path) in other.context {
            self.context.entry(name).or_insert(path);
        }
        for rule in other.costs {
            if !self.costs.iter().any(|own| own.path == rule.path) {
                self.costs.push(rule);
            }
        }
    }
}

fn default_flavor() -> String {
    "default".to_owned()
}

fn default_model_path() -> ValuePath {
    ValuePath::member("model")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(members: &str) -> serde_json::Result<Extractor> {
        serde_json::from_str(&format!(r#"{{"root": "usage", {members}}}"#))
    }

    #[test]
    fn what_is_left_out_is_as_the_library_has_it() {
        let extractor = read(r#""mappings": [{"path": "tokens", "dest": "input_tokens"}]"#).unwrap();
        assert_eq!((extractor.api_flavor.as_str(), extractor.model_path.to_string().as_str()), ("default", "model"));
        assert!(matches!(extractor.mappings[0].source, MappingSource::Number { is_required: true, .. }));
    }

    #[test]
    fn an_unknown_member_is_an_error_at_every_level() {
        for members in [
            r#""mappings": [], "unit_rules": []"#,
            r#""mappings": [{"path": "a", "dest": "b", "scale": 1000}]"#,
            r#""mappings": [{"path": "a", "rest": {"path": "a", "less": []}, "dest": "b"}]"#,
            r#""mappings": [{"rest": {"path": "a", "less": []}, "dest": "b", "required": true}]"#,
            r#""mappings": [{"rest": {"path": "a", "less": [], "plus": []}, "dest": "b"}]"#,
            r#""mappings": [{"count": {"path": "a"}, "dest": "b"}]"#,
            r#""mappings": [{"path": "a", "dest": "b", "when": {"sum": ["a"], "is_below": "c"}}]"#,
            r#""mappings": [{"dest": "b"}]"#,
            r#""mappings": [], "costs": [{"path": "cost", "per_dollar": 0}]"#,
            r#""mappings": [], "costs": [{"path": "cost", "per_dollar": 1, "currency": "EUR"}]"#,
        ] {
            assert!(read(members).is_err(), "{members}");
        }
    }
}
