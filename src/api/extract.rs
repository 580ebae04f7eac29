//! Extractors for bodies, queries, path ids and the client's address. They replace axum's own, which lints ban because
//! their rejections are not an [`ApiError`].

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{ConnectInfo, FromRequest, FromRequestParts, Request};
use http::request::Parts;
use http::{HeaderMap, header};
use secrecy::{ExposeSecret, SecretString};
use serde::de::DeserializeOwned;

use super::member_names::{self, MemberNames};
use super::middleware::http_request_id::HttpRequestId;
use super::state::AppState;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::failure::ApiError;
use crate::domain::caller::Origin;
use crate::domain::ip_allowlist;

/// Maximum size of a body in bytes.
pub const MAX_BODY: usize = 1024 * 1024;

/// Maximum size of the body of a caller who is not known yet. Everyone may send such bodies on many connections at
/// once, and each is in memory as a whole.
pub const MAX_STRANGERS_BODY: usize = 8 * 1024;

/// Maximum number of trusted proxies in a row in `X-Forwarded-For`.
const MAX_PROXIES: usize = 32;

/// A JSON body of at most `MAX` bytes, whatever its Content-Type. `T` ignores `null` and unknown fields.
pub struct Json<T, const MAX: usize = MAX_BODY>(pub T);

impl<T: DeserializeOwned, const MAX: usize> FromRequest<Arc<AppState>> for Json<T, MAX> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &Arc<AppState>) -> Result<Self, ApiError> {
        parse(&body(request, MAX).await?).map(Self)
    }
}

/// A JSON body that may be absent; an absent body is read as `{}`. What looks like a restriction must be known: see
/// [`member_names`].
pub struct OptionalJson<T>(pub T);

impl<T: DeserializeOwned + MemberNames> FromRequest<Arc<AppState>> for OptionalJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &Arc<AppState>) -> Result<Self, ApiError> {
        let body = body(request, MAX_BODY).await?;
        let empty = body.iter().all(u8::is_ascii_whitespace);
        member_names::read(if empty { b"{}" } else { &body }).map(Self)
    }
}

/// The body of a request. If its length is announced and too large, nothing of it is read.
///
/// # Errors
/// It is encoded, has more than `max` bytes, or is incomplete.
pub async fn body(request: Request, max: usize) -> Result<Bytes, ApiError> {
    refuse_encodings(request.headers())?;
    let announced = request.headers().get(header::CONTENT_LENGTH).and_then(|length| length.to_str().ok()?.parse().ok());
    if announced.is_some_and(|announced: usize| announced > max) {
        return Err(ApiError::body_too_large(max));
    }
    match axum::body::to_bytes(request.into_body(), max).await {
        Ok(body) => Ok(body),
        Err(error) if is_too_large(&error) => Err(ApiError::body_too_large(max)),
        Err(_) => Err(ApiError::new(ErrorCode::InvalidBody, "the body is incomplete; send it again")),
    }
}

/// Refuses a compressed body by the name of its encoding: it would be no JSON.
fn refuse_encodings(headers: &HeaderMap) -> Result<(), ApiError> {
    let values = headers.get_all(header::CONTENT_ENCODING).iter();
    let codings = values.flat_map(|value| value.to_str().unwrap_or("?").split(',')).map(str::trim);
    match codings.into_iter().find(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity")) {
        None => Ok(()),
        Some(coding) => {
            let coding: String = coding.chars().take(50).collect();
            let message =
                format!("the body has the encoding `{coding}`, which is not read; send it without `Content-Encoding`");
            Err(ApiError::new(ErrorCode::UnsupportedEncoding, message))
        }
    }
}

fn is_too_large(error: &axum::Error) -> bool {
    let mut cause: Option<&dyn std::error::Error> = Some(error);
    while let Some(error) = cause {
        if error.is::<http_body_util::LengthLimitError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

/// Whether a parameter that switches something on is there: not if it is empty, `0` or `false`.
pub fn query_flag(text: Option<&str>) -> bool {
    !matches!(text, None | Some("" | "0" | "false"))
}

/// Reads a JSON object.
///
/// # Errors
/// It is empty, not JSON, or not a `T`.
pub fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    if body.iter().all(u8::is_ascii_whitespace) {
        return Err(ApiError::new(ErrorCode::InvalidJson, "send a JSON object as the body"));
    }
    // The parser validates UTF-8 only in the fields that `T` reads; this validates the whole body.
    let body =
        std::str::from_utf8(body).map_err(|_| ApiError::new(ErrorCode::InvalidJson, "the body is not valid UTF-8"))?;
    // serde would accept an array as the fields of a struct in their order.
    if body.trim_ascii_start().starts_with('[') {
        return Err(ApiError::new(ErrorCode::InvalidJson, "the body must be a JSON object"));
    }
    // Following the path of a possible error takes as long as parsing, and most bodies are right.
    if let Ok(value) = serde_json::from_str(body) {
        return Ok(value);
    }
    let mut json = serde_json::Deserializer::from_str(body);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        json_error(&path, error.inner())
    })?;
    json.end().map_err(|error| json_error(".", &error))?;
    Ok(value)
}

/// Names the wrong field and the type it must have, without repeating its value: that may be a secret.
fn json_error(path: &str, error: &serde_json::Error) -> ApiError {
    if !error.is_data() {
        let place = format!("line {}, column {}", error.line(), error.column());
        return ApiError::new(ErrorCode::InvalidJson, format!("the body is not valid JSON ({place})"));
    }
    let text = error.to_string();
    if text.starts_with("duplicate field") {
        return ApiError::new(ErrorCode::InvalidJson, "the body contains a field twice");
    }
    let expected = text.split_once("expected ").map_or("something else", |(_, rest)| rest);
    let expected = expected.split(" at line ").next().unwrap_or(expected);
    let expected = match expected {
        "i64" | "u64" | "u32" | "i32" => "a whole number",
        "a boolean" => "true or false",
        "a sequence" => "an array",
        expected if expected.starts_with("struct ") || expected.starts_with("a map") => "a JSON object",
        expected => expected,
    };
    if path == "." {
        return ApiError::new(ErrorCode::InvalidJson, format!("the body must be {expected}"));
    }
    ApiError::new(ErrorCode::InvalidField, format!("`{path}` must be {expected}"))
}

/// The query string. `T` ignores unknown parameters.
pub struct Query<T>(pub T);

impl<T: DeserializeOwned> FromRequestParts<Arc<AppState>> for Query<T> {
    type Rejection = ApiError;

    #[expect(clippy::disallowed_types, reason = "this is the extractor that the ban points to")]
    async fn from_request_parts(parts: &mut Parts, _: &Arc<AppState>) -> Result<Self, ApiError> {
        axum::extract::Query::try_from_uri(&parts.uri).map(|axum::extract::Query(query)| Self(query)).map_err(|_| {
            ApiError::new(ErrorCode::InvalidQuery, "the query string cannot be read; send each parameter once")
        })
    }
}

/// A text in the query string; `None` if it is absent or empty. PostgreSQL refuses NUL, and no name has control
/// characters.
pub fn query_text(name: &str, text: Option<String>) -> Result<Option<String>, ApiError> {
    match text.filter(|text| !text.is_empty()) {
        Some(text) if text.chars().any(char::is_control) => {
            Err(ApiError::new(ErrorCode::InvalidQuery, format!("`{name}` contains control characters")))
        }
        text => Ok(text),
    }
}

/// A number in the query string; `None` if it is absent or empty.
pub fn query_number(name: &str, text: Option<&str>) -> Result<Option<i64>, ApiError> {
    match text {
        None | Some("") => Ok(None),
        Some(digits) => match digits.parse() {
            Ok(number) => Ok(Some(number)),
            Err(_) => Err(ApiError::new(ErrorCode::InvalidQuery, format!("`{name}` must be a whole number"))),
        },
    }
}

/// A secret in a body; empty if it is absent.
pub fn exposed(secret: Option<&SecretString>) -> &str {
    secret.map(ExposeSecret::expose_secret).unwrap_or_default()
}

/// The `{id}` of the path.
pub struct Id(pub i64);

impl FromRequestParts<Arc<AppState>> for Id {
    type Rejection = ApiError;

    #[expect(clippy::disallowed_types, reason = "this is the extractor that the ban points to")]
    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, ApiError> {
        let path = axum::extract::Path::<String>::from_request_parts(parts, app).await;
        path.ok()
            .and_then(|axum::extract::Path(text)| text.parse().ok())
            .map(Self)
            .ok_or_else(|| ApiError::new(ErrorCode::InvalidId, "the id in the path must be a whole number"))
    }
}

/// The `{id}` and the `{cid}` of the path.
pub struct Ids(pub i64, pub i64);

impl FromRequestParts<Arc<AppState>> for Ids {
    type Rejection = ApiError;

    #[expect(clippy::disallowed_types, reason = "this is the extractor that the ban points to")]
    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, ApiError> {
        let path = axum::extract::Path::<(i64, i64)>::from_request_parts(parts, app).await;
        path.map(|axum::extract::Path((id, cid))| Self(id, cid))
            .map_err(|_| ApiError::new(ErrorCode::InvalidId, "the id in the path must be a whole number"))
    }
}

/// The client's address, or `None` if it is unknown.
///
/// It is the peer's address, or, if the peer is a trusted proxy, the right-most hop of `X-Forwarded-For` that is not a
/// trusted proxy. An unreadable hop before that makes the address unknown: the client must not count as the proxy.
/// IPv4-mapped IPv6 addresses are unwrapped.
#[derive(Debug, Clone, Copy)]
pub struct ClientIp(pub Option<IpAddr>);

impl FromRequestParts<Arc<AppState>> for ClientIp {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, Self::Rejection> {
        Ok(Self::of(parts, app))
    }
}

impl ClientIp {
    /// Reads the address from the peer and the headers.
    pub fn of(parts: &Parts, app: &AppState) -> Self {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip().to_canonical());
        let trusted = |ip: &IpAddr| app.settings.trusted_proxies.iter().any(|net| net.contains(ip));
        if !peer.as_ref().is_some_and(trusted) {
            return Self(peer);
        }
        let headers = parts.headers.get_all("x-forwarded-for");
        let mut hops = headers.iter().rev().flat_map(|value| value.as_bytes().rsplit(|byte| *byte == b','));
        let mut client = peer;
        for hop in hops.by_ref().take(MAX_PROXIES) {
            client = std::str::from_utf8(hop).ok().and_then(ip_allowlist::address);
            if !client.as_ref().is_some_and(trusted) {
                return Self(client);
            }
        }
        // Every hop is trusted: the last one is the client. More hops than the limit are a loop or forged.
        Self(client.filter(|_| hops.next().is_none()))
    }
}

/// The client's address and the request id, for the audit log.
pub fn origin(parts: &Parts, app: &AppState) -> Origin {
    let request_id = parts.extensions.get::<HttpRequestId>().map(|id| id.0.clone()).unwrap_or_default();
    Origin { ip: ClientIp::of(parts, app).0, request_id }
}

/// [`origin`] as an extractor, for calls without a signed-in user.
pub struct Visitor(pub Origin);

impl FromRequestParts<Arc<AppState>> for Visitor {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, Self::Rejection> {
        Ok(Self(origin(parts, app)))
    }
}
