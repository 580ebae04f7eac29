//! Unknown members of bodies that are named like a limit. Other unknown members are ignored, but a caller who misspells
//! `period_limits` and is answered 200 believes that the money is limited.

use std::fmt;
use std::sync::Arc;

use axum::extract::{FromRequest, Request};
use serde::de::value::Error as Stop;
use serde::de::{DeserializeOwned, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde::{Deserialize, forward_to_deserialize_any};

use super::api_error::ApiError;
use super::error_code::ErrorCode;
use super::extract::{MAX_BODY, body, parse};
use super::state::AppState;

/// The characters of an unknown name that are compared and shown.
const MAX_SHOWN: usize = 50;

/// A body of a call that creates or changes tokens or users.
pub trait MemberNames {
    /// Members with such names that the call does not read. Our own objects have them, and may be sent back.
    const NOT_READ: &'static [&'static str] = &[];
}

/// [`Json`](super::extract::Json) without unknown members whose names contain `limit`.
pub struct CheckedJson<T, const MAX: usize = MAX_BODY>(pub T);

impl<T: DeserializeOwned + MemberNames, const MAX: usize> FromRequest<Arc<AppState>> for CheckedJson<T, MAX> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &Arc<AppState>) -> Result<Self, ApiError> {
        read(&body(request, MAX).await?).map(Self)
    }
}

/// Reads a JSON object without such members.
///
/// # Errors
/// It is not a `T`, or has an unknown member that is named like a limit.
pub fn read<T: DeserializeOwned + MemberNames>(body: &[u8]) -> Result<T, ApiError> {
    let value = parse(body)?;
    check::<T>(body)?;
    Ok(value)
}

/// Checks the names of a body that was read as a `T`.
fn check<T: DeserializeOwned + MemberNames>(body: &[u8]) -> Result<(), ApiError> {
    let Names(names) = parse(body)?;
    let known = members_of::<T>();
    let is_unknown = |name: &String| {
        let is_known = known.iter().chain(T::NOT_READ).any(|known| *known == name.as_str());
        name.to_ascii_lowercase().contains("limit") && !is_known
    };
    names.into_iter().find(is_unknown).map_or(Ok(()), |name| Err(refusal(&name, known)))
}

fn refusal(name: &str, known: &[&str]) -> ApiError {
    let name: String = name.chars().take(MAX_SHOWN).collect();
    let limits = known.iter().filter(|known| known.contains("limit"));
    let nearest = limits.min_by_key(|known| strsim::damerau_levenshtein(&name.to_ascii_lowercase(), known));
    let message = match nearest {
        Some(nearest) => format!("`{name}` is not known here; the nearest known name is `{nearest}`"),
        None => format!("`{name}` is not known here; the known names are {}", list(known)),
    };
    ApiError::new(ErrorCode::InvalidField, message)
}

/// `a`, `b` and `c`.
fn list(names: &[&str]) -> String {
    let quoted: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    match quoted.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => quoted.concat(),
    }
}

/// The names of the members of a JSON object.
struct Names(Vec<String>);

impl<'de> Deserialize<'de> for Names {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = Names;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Names, A::Error> {
                let mut names = Vec::new();
                while let Some((name, _)) = members.next_entry::<String, IgnoredAny>()? {
                    names.push(name);
                }
                Ok(Names(names))
            }
        }
        deserializer.deserialize_map(Members)
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
        const NOT_READ: &'static [&'static str] = &["daily_limit"];
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
