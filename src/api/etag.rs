//! `ETag` and `If-Match` (RFC 9110): a client that edits what it read overwrites no edit that it has not seen (spec
//! §15.2).

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::{HeaderMap, HeaderValue, header};

use super::state::AppState;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::failure::{About, ApiError};
use crate::domain::expected_version::{ExpectedVersion, VersionChanged};

/// An answer about one token, with the token's version as its entity tag.
pub struct Tagged<R>(pub i64, pub R);

impl<R: IntoResponse> IntoResponse for Tagged<R> {
    fn into_response(self) -> Response {
        let mut answer = self.1.into_response();
        answer.headers_mut().insert(header::ETAG, etag(self.0));
        answer
    }
}

/// The entity tag of a version.
#[expect(clippy::expect_used, clippy::missing_panics_doc, reason = "digits and quotes")]
pub fn etag(version: i64) -> HeaderValue {
    HeaderValue::from_str(&format!("\"{version}\"")).expect("visible ASCII")
}

/// The versions that `If-Match` names. Without it, and with `*`, any.
pub struct IfMatch(pub ExpectedVersion);

impl FromRequestParts<Arc<AppState>> for IfMatch {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, _: &Arc<AppState>) -> Result<Self, ApiError> {
        let values = parts.headers.get_all(header::IF_MATCH);
        if values.iter().next().is_none() {
            return Ok(Self(ExpectedVersion::Any));
        }
        let mut tags = Vec::new();
        for value in &values {
            let text = value.to_str().map_err(|_| malformed())?;
            if text.trim() == "*" {
                return Ok(Self(ExpectedVersion::Any));
            }
            tags.extend(parse_tags(text).ok_or_else(malformed)?);
        }
        if tags.is_empty() {
            return Err(malformed());
        }
        // A tag that is no version is of no token.
        Ok(Self(ExpectedVersion::OneOf(tags.iter().filter_map(|tag| tag.parse().ok()).collect())))
    }
}

fn malformed() -> ApiError {
    ApiError::new(ErrorCode::InvalidIfMatch, "`If-Match` must be `*`, or entity tags in quotes, separated by commas")
}

/// The tags of a list, without their quotes. Weak ones match too: a proxy that compresses answers makes ours weak, or
/// adds the coding to them, and a tag names a version of the token, not the bytes of an answer. Members of a list may
/// be empty (RFC 9110, section 5.6.1). `None` if it is no such list.
fn parse_tags(text: &str) -> Option<Vec<&str>> {
    let (mut tags, mut rest) = (Vec::new(), text.trim());
    while !rest.is_empty() {
        if let Some(next) = rest.strip_prefix(',') {
            rest = next.trim_start();
            continue;
        }
        let quoted = rest.strip_prefix("W/").unwrap_or(rest);
        let (tag, after) = quoted.strip_prefix('"')?.split_once('"')?;
        let bare = ["-gzip", "-br", "-zstd"].into_iter().find_map(|coding| tag.strip_suffix(coding));
        tags.push(bare.unwrap_or(tag));
        rest = after.trim_start();
        if !rest.is_empty() && !rest.starts_with(',') {
            return None;
        }
    }
    Some(tags)
}

/// Why a call about many tokens takes no `If-Match`.
pub const MANY: &str = "this call changes many tokens and takes no `If-Match`; change them one by one";

/// Refuses a header `If-Match` of a call that compares no versions: it would be ignored, and the caller believe that it
/// was not.
///
/// # Errors
/// There is one.
pub fn take_no_if_match(headers: &HeaderMap, why: &str) -> Result<(), ApiError> {
    if headers.contains_key(header::IF_MATCH) {
        return Err(ApiError::new(ErrorCode::InvalidIfMatch, why));
    }
    Ok(())
}

impl From<VersionChanged> for ApiError {
    fn from(changed: VersionChanged) -> Self {
        Self { about: Some(About::Version(changed.version)), ..Self::new(ErrorCode::TokenChanged, changed.to_string()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn s15_2_tags_are_read_from_a_list() {
        assert_eq!(parse_tags("\"1\""), Some(vec!["1"]));
        assert_eq!(parse_tags(" \"1\" ,\"a,b\", W/\"3\",,\"4\" ,"), Some(vec!["1", "a,b", "3", "4"]));
        assert_eq!(parse_tags("\"1-gzip\", W/\"2-br\",\"x-\""), Some(vec!["1", "2", "x-"]));
        for empty in ["", ",", " , ,"] {
            assert_eq!(parse_tags(empty), Some(vec![]), "{empty}");
        }
        for bad in ["1", "\"1", "\"1\" \"2\"", "w/\"1\"", "\"1\"x", "*, \"1\""] {
            assert_eq!(parse_tags(bad), None, "{bad}");
        }
    }
}
