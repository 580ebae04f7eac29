//! Unknown members of bodies that restrict elsewhere, or look like one of ours. Other unknown members are ignored, but
//! a caller who misspells `period_limits` and is answered 200 believes that the money is limited.

use std::sync::Arc;

use axum::extract::{FromRequest, Request};
use serde::de::value::Error as Stop;
use serde::de::{DeserializeOwned, Deserializer, Error as _, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};

use super::extract::{MAX_BODY, body, parse};
use super::members::Members;
use super::other_names::{OtherNames, folded, is_empty};
use super::state::AppState;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::failure::ApiError;

/// The characters of an unknown name that are compared and shown.
const MAX_SHOWN: usize = 50;

/// The least characters of a name that is compared with ours.
const COMPARED: usize = 5;

/// A body of a call that creates or changes tokens or users.
pub trait MemberNames {
    /// Words: members that the call does not read. Our own objects have them, and may be sent back.
    const NOT_READ: &'static str = "";

    /// What restricts elsewhere, under another name.
    const OTHER_NAMES: &'static [OtherNames] = &[];
}

/// [`Json`](super::extract::Json) without unknown members that a caller may take for a restriction: see [`read`].
pub struct CheckedJson<T, const MAX: usize = MAX_BODY>(pub T);

impl<T: DeserializeOwned + MemberNames, const MAX: usize> FromRequest<Arc<AppState>> for CheckedJson<T, MAX> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &Arc<AppState>) -> Result<Self, ApiError> {
        read(&body(request, MAX).await?).map(Self)
    }
}

/// Reads a JSON object.
///
/// # Errors
/// It is not a `T`, or has an unknown member whose name contains `limit`, is one of [`MemberNames::OTHER_NAMES`], or
/// differs from a known one by case or one letter.
pub fn read<T: DeserializeOwned + MemberNames>(body: &[u8]) -> Result<T, ApiError> {
    let value = parse(body)?;
    check::<T>(body)?;
    Ok(value)
}

/// Checks the names of a body that was read as a `T`.
fn check<T: DeserializeOwned + MemberNames>(body: &[u8]) -> Result<(), ApiError> {
    let Members(members) = parse(body)?;
    let known = members_of::<T>();
    for (name, value) in members
        .iter()
        .filter(|(name, _)| !known.contains(&&**name) && !T::NOT_READ.split(' ').any(|other| other == *name))
    {
        let other = OtherNames::find(T::OTHER_NAMES, name, value.get());
        let instead = match other.map(|other| other.instead) {
            Some("") => format!("the known names are {}", list(known)),
            Some(instead) => format!("send {instead}"),
            None if name.to_ascii_lowercase().contains("limit") => {
                let limits = known.iter().filter(|known| known.contains("limit"));
                let nearest = limits.min_by_key(|known| strsim::damerau_levenshtein(&name.to_ascii_lowercase(), known));
                match nearest {
                    Some(nearest) => format!("the nearest known name is `{nearest}`"),
                    None => format!("the known names are {}", list(known)),
                }
            }
            None => match known.iter().find(|known| is_like(name, known)) {
                Some(nearest) if !is_empty(value.get()) => format!("the nearest known name is `{nearest}`"),
                Some(_) | None => continue,
            },
        };
        let name: String = name.chars().take(MAX_SHOWN).collect();
        return Err(ApiError::new(ErrorCode::InvalidField, format!("`{name}` is not known here; {instead}")));
    }
    Ok(())
}

/// Returns true if a name differs from a known one by case, `_` and `-`, or one letter.
fn is_like(name: &str, known: &str) -> bool {
    // Longer ones are more than one letter away from all of ours.
    if name.len() > MAX_SHOWN {
        return false;
    }
    let (name, known) = (folded(name), folded(known));
    name.len().min(known.len()) >= COMPARED && strsim::damerau_levenshtein(&name, &known) <= 1
}

/// `a`, `b` and `c`.
fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => quoted.concat(),
    }
}

/// The names of the members that a struct reads. serde tells them to whatever it reads from.
fn members_of<'de, T: Deserialize<'de>>() -> &'static [&'static str] {
    struct Listener<'a>(&'a mut &'static [&'static str]);
    impl<'de> Deserializer<'de> for Listener<'_> {
        type Error = Stop;

        fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Stop> {
            Err(Stop::custom("not a struct"))
        }

        fn deserialize_struct<V: Visitor<'de>>(
            self,
            _: &'static str,
            fields: &'static [&'static str],
            _: V,
        ) -> Result<V::Value, Stop> {
            *self.0 = fields;
            Err(Stop::custom("the names are enough"))
        }

        forward_to_deserialize_any! {
            bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option unit unit_struct
            newtype_struct seq tuple tuple_struct map enum identifier ignored_any
        }
    }
    let mut names: &'static [&'static str] = &[];
    drop(T::deserialize(Listener(&mut names)));
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only the names matter")]
    struct Limited {
        id: Option<i64>,
        period_limits: Option<i64>,
        rate_limits: Option<i64>,
        #[serde(rename = "unlimited_quota")]
        _unlimited: Option<bool>,
    }

    impl MemberNames for Limited {
        const NOT_READ: &'static str = "daily_limit";
    }

    #[derive(Deserialize)]
    #[expect(dead_code, reason = "only the names matter")]
    struct Plain {
        id: Option<i64>,
        note: Option<i64>,
        status: Option<i64>,
    }

    impl MemberNames for Plain {}

    fn refused<T: DeserializeOwned + MemberNames>(body: &str) -> Option<String> {
        check::<T>(body.as_bytes()).err().map(|error| {
            assert_eq!(error.code, ErrorCode::InvalidField);
            error.message
        })
    }

    #[test]
    fn an_unknown_name_with_limit_is_refused_with_the_nearest_known_one() {
        assert_eq!(members_of::<Limited>(), ["id", "period_limits", "rate_limits", "unlimited_quota"]);
        let table = [
            ("period_limit", "period_limits"),
            ("periodLimits", "period_limits"),
            ("Period_Limits", "period_limits"),
            ("rate_limit", "rate_limits"),
            ("rateLimits", "rate_limits"),
            ("ratelimits", "rate_limits"),
            ("unlimited_qouta", "unlimited_quota"),
            ("UNLIMITED_QUOTA", "unlimited_quota"),
        ];
        for (name, nearest) in table {
            let message = format!("`{name}` is not known here; the nearest known name is `{nearest}`");
            assert_eq!(refused::<Limited>(&format!(r#"{{"id":1,"colour":2,"{name}":null}}"#)), Some(message));
        }
        let message = "`rate_limits` is not known here; the known names are `id`, `note` and `status`";
        assert_eq!(refused::<Plain>(r#"{"rate_limits":{}}"#).as_deref(), Some(message));
    }

    #[test]
    fn a_name_that_differs_by_case_or_a_letter_is_refused_unless_it_says_nothing() {
        for name in ["Unlimited_Quota", "rateLimits"] {
            assert!(refused::<Limited>(&format!(r#"{{"{name}":1}}"#)).is_some(), "{name}");
        }
        for name in ["Status", "STATUS", "statuss", "statsu", "sta_tus", "statu", "xstatus"] {
            let message = format!("`{name}` is not known here; the nearest known name is `status`");
            assert_eq!(refused::<Plain>(&format!(r#"{{"{name}":2}}"#)), Some(message));
            for nothing in ["null", "\"\"", "[]", "{}"] {
                assert_eq!(refused::<Plain>(&format!(r#"{{"{name}":{nothing}}}"#)), None, "{name}");
            }
        }
        for name in ["state", "Note", "ID", "notes", "stats1", "x"] {
            assert_eq!(refused::<Plain>(&format!(r#"{{"{name}":2}}"#)), None, "{name}");
        }
    }

    #[test]
    fn known_names_and_other_unknown_ones_pass() {
        for body in [
            "{}",
            r#"{"id":1,"period_limits":{},"rate_limits":{},"unlimited_quota":true}"#,
            r#"{"daily_limit":1}"#,
            r#"{"colour":"limit","lim":1,"nested":{"period_limit":1}}"#,
        ] {
            assert_eq!(refused::<Limited>(body), None, "{body}");
        }
    }

    #[test]
    fn a_long_name_is_cut() {
        let message = refused::<Limited>(&format!(r#"{{"limit{}":1}}"#, "ü".repeat(100_000))).unwrap();
        let shown = format!("`limit{}` is not known here", "ü".repeat(45));
        assert!(message.starts_with(&shown), "{message}");
    }
}
