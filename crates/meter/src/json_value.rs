//! JSON with numbers as their text.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};

use serde_json::value::RawValue;

/// Bytes of a JSON text.
pub const MAX_BYTES: usize = 64 * 1024;

/// Levels of lists and objects.
pub const MAX_DEPTH: usize = 32;

/// JSON of bounded size and depth.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum JsonValue {
    Null,
    Bool(bool),
    Number(String),
    Text(String),
    List(Vec<JsonValue>),
    /// Of two members of one name the last counts.
    Object(BTreeMap<String, JsonValue>),
}

#[derive(Debug, thiserror::Error)]
pub enum JsonValueError {
    #[error("it is larger than {MAX_BYTES} bytes")]
    TooLarge,
    #[error("it is nested more than {MAX_DEPTH} levels deep")]
    TooDeep,
    #[error("it is not JSON: {0}")]
    NotJson(#[from] serde_json::Error),
}

impl Display for JsonValue {
    /// As JSON, members in the order of their names.
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let text = |text: &str| serde_json::to_string(text).map_err(|_| std::fmt::Error);
        let list = |items: Vec<String>| items.join(",");
        match self {
            Self::Null => f.write_str("null"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Number(number) => f.write_str(number),
            Self::Text(value) => f.write_str(&text(value)?),
            Self::List(items) => write!(f, "[{}]", list(items.iter().map(Self::to_string).collect())),
            Self::Object(members) => {
                let member = |(name, value): (&String, &Self)| Ok(format!("{}:{value}", text(name)?));
                write!(f, "{{{}}}", list(members.iter().map(member).collect::<Result<_, std::fmt::Error>>()?))
            }
        }
    }
}

impl JsonValue {
    /// # Errors
    /// See [`JsonValueError`].
    pub fn read(text: &str) -> Result<Self, JsonValueError> {
        if text.len() > MAX_BYTES {
            return Err(JsonValueError::TooLarge);
        }
        let value: &RawValue = serde_json::from_str(text)?;
        read_value(value.get(), 0)
    }
}

/// Reads one level after the other: the text of each member stays a text until its own turn.
fn read_value(text: &str, depth: usize) -> Result<JsonValue, JsonValueError> {
    let is_nested = text.starts_with(['[', '{']);
    if is_nested && depth == MAX_DEPTH {
        return Err(JsonValueError::TooDeep);
    }
    Ok(match text.bytes().next() {
        Some(b'{') => {
            let members: BTreeMap<String, &RawValue> = serde_json::from_str(text)?;
            let members = members.into_iter().map(|(name, value)| Ok((name, read_value(value.get(), depth + 1)?)));
            JsonValue::Object(members.collect::<Result<_, JsonValueError>>()?)
        }
        Some(b'[') => {
            let items: Vec<&RawValue> = serde_json::from_str(text)?;
            let items = items.into_iter().map(|item| read_value(item.get(), depth + 1));
            JsonValue::List(items.collect::<Result<_, _>>()?)
        }
        Some(b'"') => JsonValue::Text(serde_json::from_str(text)?),
        Some(b't' | b'f') => JsonValue::Bool(serde_json::from_str(text)?),
        Some(b'n') => JsonValue::Null,
        _ => JsonValue::Number(text.to_owned()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_their_text() {
        let JsonValue::Object(members) = JsonValue::read(r#" {"a": 1e400, "b": 0.10, "a\u0062": 3} "#).unwrap() else {
            panic!("it is an object");
        };
        let texts = members.into_iter().collect::<Vec<_>>();
        let number = |name: &str, text: &str| (name.to_owned(), JsonValue::Number(text.to_owned()));
        assert_eq!(texts, [number("a", "1e400"), number("ab", "3"), number("b", "0.10")]);
    }

    #[test]
    fn two_texts_that_mean_the_same_are_written_the_same() {
        let written = |text: &str| JsonValue::read(text).unwrap().to_string();
        let text = r#"{"a":[1.50,null,true],"b":"x\"y\n"}"#;
        assert_eq!(written(r#" {"b": "x\u0022y\n", "a": [ 1.50, null, true ]}"#), text);
        assert_eq!(written(text), text);
    }

    #[test]
    fn size_and_depth_are_bounded() {
        let nested = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(JsonValue::read(&nested(MAX_DEPTH)).is_ok());
        assert!(matches!(JsonValue::read(&nested(MAX_DEPTH + 1)), Err(JsonValueError::TooDeep)));
        assert!(matches!(JsonValue::read(&nested(MAX_BYTES / 2)), Err(JsonValueError::TooDeep)));
        assert!(matches!(JsonValue::read(&" ".repeat(MAX_BYTES + 1)), Err(JsonValueError::TooLarge)));
        for text in ["", "[", "{\"a\"}", "1 2", "nul", "\"\\ud800\"", "01"] {
            assert!(matches!(JsonValue::read(text), Err(JsonValueError::NotJson(_))), "{text}");
        }
    }
}
