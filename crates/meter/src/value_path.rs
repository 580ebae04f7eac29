//! Where in an answer a value stands.

use std::fmt::{Display, Formatter};

use serde::Deserialize;

use crate::json_value::JsonValue;
use crate::text_rule::TextRule;

/// The steps from an object to one of its values: names of members, and items of lists.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(try_from = "PathData")]
pub struct ValuePath(Vec<Step>);

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Step {
    Member(String),
    /// The first item of a list that matches.
    Item(ItemMatch),
}

/// Matches objects that have a text in a member.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ItemMatch {
    r#type: ItemMatchType,
    field: String,
    r#match: TextRule,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ItemMatchType {
    ArrayMatch,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "a path is a name, or a list of names and array-matches by known rules")]
enum PathData {
    Member(String),
    Steps(Vec<StepData>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum StepData {
    Member(String),
    Item(ItemMatch),
}

/// The path does not end with the name of a member.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a path must end with a name")]
pub struct PathInvalid;

/// A value on the way of a path is of the wrong type.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{path}` is not {expected}")]
pub struct WrongType {
    pub path: String,
    /// What it should be, with its article.
    pub expected: &'static str,
}

impl TryFrom<PathData> for ValuePath {
    type Error = PathInvalid;

    fn try_from(data: PathData) -> Result<Self, PathInvalid> {
        let steps = match data {
            PathData::Member(name) => vec![Step::Member(name)],
            PathData::Steps(steps) => steps.into_iter().map(Step::from).collect(),
        };
        match steps.last() {
            Some(Step::Member(_)) => Ok(Self(steps)),
            Some(Step::Item(_)) | None => Err(PathInvalid),
        }
    }
}

impl From<StepData> for Step {
    fn from(data: StepData) -> Self {
        match data {
            StepData::Member(name) => Self::Member(name),
            StepData::Item(item) => Self::Item(item),
        }
    }
}

impl ValuePath {
    /// The path to a member.
    pub fn member(name: &str) -> Self {
        Self(vec![Step::Member(name.to_owned())])
    }

    pub fn steps(&self) -> &[Step] {
        &self.0
    }
}

impl ItemMatch {
    /// The member that has the text.
    pub fn field(&self) -> &str {
        &self.field
    }

    pub fn matches(&self, item: &JsonValue) -> bool {
        let JsonValue::Object(members) = item else { return false };
        let Some(JsonValue::Text(text)) = members.get(&self.field) else { return false };
        !text.is_empty() && self.r#match.matches(text)
    }
}

/// The value at the end of the steps. `None`: it is absent or null, or what would contain it is.
///
/// # Errors
/// See [`WrongType`].
pub fn find<'a>(steps: &[Step], from: &'a JsonValue) -> Result<Option<&'a JsonValue>, WrongType> {
    let mut value = from;
    for (index, step) in steps.iter().enumerate() {
        let wrong_type = |expected| WrongType { path: path_text(steps.get(..index).unwrap_or_default()), expected };
        let next = match (step, value) {
            (Step::Member(name), JsonValue::Object(members)) => members.get(name),
            (Step::Item(item), JsonValue::List(items)) => items.iter().find(|candidate| item.matches(candidate)),
            (_, JsonValue::Null) => None,
            (Step::Member(_), _) => return Err(wrong_type("an object")),
            (Step::Item(_), _) => return Err(wrong_type("a list")),
        };
        match next {
            Some(found) => value = found,
            None => return Ok(None),
        }
    }
    Ok(Some(value).filter(|value| **value != JsonValue::Null))
}

/// Steps as a reader of an error knows them: `usage.details[modality].count`.
pub fn path_text(steps: &[Step]) -> String {
    if steps.is_empty() {
        return "answer".to_owned();
    }
    steps.iter().fold(String::new(), |path, step| match step {
        Step::Member(name) if path.is_empty() => name.clone(),
        Step::Member(name) => format!("{path}.{name}"),
        Step::Item(item) => format!("{path}[{}]", item.field),
    })
}

impl Display for ValuePath {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str(&path_text(&self.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, json: &str) -> Result<Option<JsonValue>, WrongType> {
        let path: ValuePath = serde_json::from_str(path).unwrap();
        Ok(find(path.steps(), &JsonValue::read(json).unwrap())?.cloned())
    }

    #[test]
    fn a_value_is_found_by_its_steps() {
        let audio =
            r#"["details", {"type": "array-match", "field": "modality", "match": {"equals": "AUDIO"}}, "count"]"#;
        let list = r#"{"details": [1, {"modality": 5}, {"modality": "audio", "count": 7}, {"modality": "AUDIO"}]}"#;
        let number = |text: &str| Ok(Some(JsonValue::Number(text.to_owned())));
        let wrong = |path: &str, expected| Err(WrongType { path: path.to_owned(), expected });
        for (path, json, expected) in [
            (r#""a""#, r#"{"a": 1}"#, number("1")),
            (r#"["a", "b"]"#, r#"{"a": {"b": 2}}"#, number("2")),
            (r#"["a", "b"]"#, r#"{"a": null}"#, Ok(None)),
            (r#"["a", "b"]"#, "{}", Ok(None)),
            (r#""a""#, r#"{"a": null}"#, Ok(None)),
            (r#"["a", "b"]"#, r#"{"a": [1]}"#, wrong("a", "an object")),
            (audio, list, number("7")),
            (audio, r#"{"details": [{"modality": "TEXT", "count": 7}]}"#, Ok(None)),
            (audio, r#"{"details": {"AUDIO": 7}}"#, wrong("details", "a list")),
        ] {
            assert_eq!(found(path, json), expected, "{path} in {json}");
        }
    }

    #[test]
    fn what_is_no_path_is_refused() {
        let step = |members: &str| format!(r#"["a", {{"type": "array-match", "field": "b", {members}}}, "c"]"#);
        assert!(serde_json::from_str::<ValuePath>(&step(r#""match": {"equals": "d"}"#)).is_ok());
        for path in [
            "[]".to_owned(),
            "5".to_owned(),
            r#"["a", 0]"#.to_owned(),
            r#"["a", {"type": "array-match", "field": "b", "match": {"equals": "c"}}]"#.to_owned(),
            step(r#""match": {"regex": "d"}"#),
            step(r#""match": {"equals": "d", "contains": "e"}"#),
            step(r#""match": {"equals": "d"}, "index": 1"#),
            step("\"match\": {}").replace("array-match", "array-index"),
        ] {
            assert!(serde_json::from_str::<ValuePath>(&path).is_err(), "{path}");
        }
    }
}
