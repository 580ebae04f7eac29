//! Reads the body of a request so that every parser reads the same: whose names are one, and of bounded size.

use std::borrow::Cow;
use std::cell::Cell;
use std::collections::HashSet;
use std::fmt::Formatter;

use serde::de::{DeserializeSeed, Error, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::refusal::MeterRefusal;

/// Lists, objects, texts and members in a body.
pub const MAX_VALUES: u32 = 100_000;

/// Numbers in a body: embeddings are asked for with lists of tokens.
pub const MAX_NUMBERS: u32 = 2_000_000;

/// Members of a body itself: every API has fewer.
const MAX_MEMBERS: usize = 1_000;

/// Bytes of a name.
const MAX_NAME: usize = 10_000;

/// A JSON value of a request. Of numbers, only whole ones are known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestJson<'b> {
    Null,
    Bool(bool),
    /// A whole number; of others and of larger ones `None`.
    Number(Option<i64>),
    Text(Cow<'b, str>),
    List(Vec<RequestJson<'b>>),
    Object(Vec<(Cow<'b, str>, RequestJson<'b>)>),
}

/// The members of a body, each with its text.
#[derive(Debug)]
pub struct RequestMembers<'b>(pub Vec<RequestMember<'b>>);

#[derive(Debug)]
pub struct RequestMember<'b> {
    pub name: Cow<'b, str>,
    pub value: RequestJson<'b>,
    pub text: &'b str,
}

impl<'b> RequestMembers<'b> {
    /// Reads a JSON object.
    ///
    /// # Errors
    /// It is none, or has too much in it, or two members whose names some parsers take for one.
    pub fn read(body: &'b [u8]) -> serde_json::Result<Self> {
        let text = str::from_utf8(body).map_err(serde_json::Error::custom)?;
        let left = Left { values: Cell::new(MAX_VALUES), numbers: Cell::new(MAX_NUMBERS) };
        let Raw(raw) = serde_json::from_str(text)?;
        let member = |(name, raw): (Cow<'b, str>, &'b RawValue)| {
            let value = read_value(raw.get(), &left)?;
            Ok(RequestMember { name, value, text: raw.get() })
        };
        raw.into_iter().map(member).collect::<Result<_, _>>().map(Self)
    }

    /// The value of a member that is not null.
    pub fn get(&self, name: &str) -> Option<&RequestJson<'b>> {
        let found = self.0.iter().find(|member| member.name == name).map(|member| &member.value);
        found.filter(|value| **value != RequestJson::Null)
    }
}

impl<'b> RequestJson<'b> {
    /// The value of a member that is not null, of an object.
    ///
    /// # Errors
    /// There is one whose name some parsers take for this.
    pub fn get(&self, name: &str) -> Result<Option<&Self>, MeterRefusal> {
        let Self::Object(members) = self else { return Ok(None) };
        let Some((found, value)) = members.iter().find(|(member, _)| member == name || folded(member) == name) else {
            return Ok(None);
        };
        if found != name {
            return Err(MeterRefusal::request(format!("write `{name}`, not `{found}`")));
        }
        Ok(Some(value).filter(|value| **value != Self::Null))
    }

    /// The text of a member; `None` if it has none, or something else.
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub fn get_text(&self, name: &str) -> Result<Option<&str>, MeterRefusal> {
        Ok(self.get(name)?.and_then(Self::text))
    }

    /// The names of the members of an object.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let members = if let Self::Object(members) = self { members.as_slice() } else { &[] };
        members.iter().map(|(name, _)| name.as_ref())
    }

    pub fn text(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// The items of a list; of anything else none.
    pub fn items(&self) -> &[RequestJson<'b>] {
        if let Self::List(items) = self { items } else { &[] }
    }
}

/// A name as the most forgiving parser reads it: those of Go ignore case, also of letters beyond ASCII.
pub fn folded(name: &str) -> String {
    name.to_uppercase().to_lowercase()
}

/// The members of an object, in their order, and no two that are one.
struct Raw<'b>(Vec<(Cow<'b, str>, &'b RawValue)>);

impl<'de> Deserialize<'de> for Raw<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;

        impl<'de> Visitor<'de> for Members {
            type Value = Raw<'de>;

            fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Raw<'de>, A::Error> {
                let (mut members, mut names) = (Vec::new(), Names::default());
                while let Some(Name(name)) = map.next_key()? {
                    names.add(&name)?;
                    members.push((name, map.next_value()?));
                    if members.len() > MAX_MEMBERS {
                        return Err(A::Error::custom(format_args!("more than {MAX_MEMBERS} members")));
                    }
                }
                Ok(Raw(members))
            }
        }

        deserializer.deserialize_map(Members)
    }
}

/// A name, borrowed where it has no escapes.
#[derive(Deserialize)]
struct Name<'b>(#[serde(borrow)] Cow<'b, str>);

/// The names of one object.
#[derive(Default)]
struct Names(HashSet<String>);

impl Names {
    fn add<E: Error>(&mut self, name: &str) -> Result<(), E> {
        if name.len() > MAX_NAME {
            return Err(E::custom("a name that is too long"));
        }
        if self.0.insert(folded(name)) { Ok(()) } else { Err(E::custom(format_args!("ambiguous member `{name}`"))) }
    }
}

/// How much more a body may have.
struct Left {
    values: Cell<u32>,
    numbers: Cell<u32>,
}

fn read_value<'b>(text: &'b str, left: &Left) -> serde_json::Result<RequestJson<'b>> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = Value { left }.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

#[derive(Clone, Copy)]
struct Value<'c> {
    left: &'c Left,
}

impl Value<'_> {
    fn count<E: Error>(self) -> Result<(), E> {
        let left = self.left.values.get().checked_sub(1);
        self.left.values.set(left.ok_or_else(|| E::custom(format_args!("more than {MAX_VALUES} values")))?);
        Ok(())
    }

    fn number<'de, E: Error>(self, number: Option<i64>) -> Result<RequestJson<'de>, E> {
        let left = self.left.numbers.get().checked_sub(1);
        self.left.numbers.set(left.ok_or_else(|| E::custom(format_args!("more than {MAX_NUMBERS} numbers")))?);
        Ok(RequestJson::Number(number))
    }
}

impl<'de> DeserializeSeed<'de> for Value<'_> {
    type Value = RequestJson<'de>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<RequestJson<'de>, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Value<'_> {
    type Value = RequestJson<'de>;

    fn expecting(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<RequestJson<'de>, E> {
        Ok(RequestJson::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<RequestJson<'de>, E> {
        Ok(RequestJson::Bool(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<RequestJson<'de>, E> {
        self.number(Some(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<RequestJson<'de>, E> {
        self.number(i64::try_from(value).ok())
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<RequestJson<'de>, E> {
        self.number(None)
    }

    fn visit_borrowed_str<E: Error>(self, text: &'de str) -> Result<RequestJson<'de>, E> {
        self.count()?;
        Ok(RequestJson::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<RequestJson<'de>, E> {
        self.count()?;
        Ok(RequestJson::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<RequestJson<'de>, A::Error> {
        self.count()?;
        let mut items = Vec::new();
        while let Some(item) = seq.next_element_seed(self)? {
            items.push(item);
        }
        Ok(RequestJson::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<RequestJson<'de>, A::Error> {
        self.count()?;
        let (mut members, mut names) = (Vec::new(), Names::default());
        while let Some(Name(name)) = map.next_key()? {
            self.count()?;
            names.add(&name)?;
            members.push((name, map.next_value_seed(self)?));
        }
        Ok(RequestJson::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(body: &str) -> String {
        RequestMembers::read(body.as_bytes()).unwrap_err().to_string()
    }

    #[test]
    fn two_names_that_some_parser_takes_for_one_are_refused_at_every_depth() {
        for body in [
            r#"{"model": 1, "model": 2}"#,
            r#"{"model": 1, "Model": 2}"#,
            r#"{"model": 1, "mod\u0065l": 2}"#,
            r#"{"a": [{"k": 1, "\u212a": 2}]}"#,
            r#"{"a": {"b": {"s": 1, "\u017f": 2}}}"#,
        ] {
            assert!(refused(body).starts_with("ambiguous member `"), "{body}: {}", refused(body));
        }
        assert!(RequestMembers::read(br#"{"a": {"b": 1}, "b": {"a": 1}, "c": [{"d": 1}, {"d": 1}]}"#).is_ok());
    }

    #[test]
    fn what_is_no_json_object_or_too_much_is_refused() {
        let many = |values: u32| format!(r#"{{"a": [{}]}}"#, vec!["[]"; values as usize].join(","));
        assert!(RequestMembers::read(many(MAX_VALUES - 1).as_bytes()).is_ok());
        assert!(refused(&many(MAX_VALUES)).starts_with("more than 100000 values"));
        assert!(refused(&"[".repeat(1_000_000)).starts_with("invalid type: sequence"));
        let deep = |levels: usize| format!(r#"{{"a": {}{}}}"#, "[".repeat(levels), "]".repeat(levels));
        assert!(refused(&deep(1_000_000)).starts_with("recursion limit exceeded"));
        for body in ["", "[]", "null", "{} {}", r#"{"a": "\ud800"}"#, r#"{"a": NaN}"#, r#"{"a": 1,}"#, "\u{feff}{}"] {
            assert!(RequestMembers::read(body.as_bytes()).is_err(), "{body}");
        }
        assert!(RequestMembers::read(b"{\"a\": \"\xff\"}").is_err());
    }

    #[test]
    fn members_keep_their_text() {
        let members = RequestMembers::read(br#" { "a" : [1, 2.0, -3, 1e2], "b":{"c": "d"} , "e": null} "#).unwrap();
        let texts: Vec<_> = members.0.iter().map(|member| (member.name.as_ref(), member.text)).collect();
        assert_eq!(texts, [("a", "[1, 2.0, -3, 1e2]"), ("b", r#"{"c": "d"}"#), ("e", "null")]);
        let number = RequestJson::Number;
        assert_eq!(members.get("a").unwrap().items(), [number(Some(1)), number(None), number(Some(-3)), number(None)]);
        assert_eq!(members.get("b").unwrap().get_text("c"), Ok(Some("d")));
        assert!(members.get("e").is_none());
    }
}
