//! What comes in: bodies, queries, ids, the client's address. Axum's own extractors are banned,
//! because their refusals do not speak our envelope.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use axum::body::Bytes;
use axum::extract::{ConnectInfo, FromRequest, FromRequestParts, Request};
use http::StatusCode;
use http::request::Parts;
use serde::de::DeserializeOwned;

use super::errors::ApiError;
use super::middleware::request_id::RequestId;
use super::state::AppState;
use crate::domain::audit::Origin;

/// Bytes of a body at most.
const MAX_BODY: usize = 1024 * 1024;

/// Trusted proxies in a row that are followed through `X-Forwarded-For`.
const MAX_PROXIES: usize = 32;

/// A JSON body, whatever its Content-Type says. `null` and unknown fields are for `T` to ignore.
pub struct Json<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<AppState>> for Json<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &Arc<AppState>) -> Result<Self, ApiError> {
        let body = body(request).await?;
        if body.iter().all(u8::is_ascii_whitespace) {
            return Err(ApiError::bad("invalid_json", "a JSON object is needed as the body"));
        }
        parse(&body).map(Self)
    }
}

/// A body that may be absent, which then counts as `{}`.
pub struct OptionalJson<T>(pub T);

impl<T: DeserializeOwned> FromRequest<Arc<AppState>> for OptionalJson<T> {
    type Rejection = ApiError;

    async fn from_request(request: Request, _: &Arc<AppState>) -> Result<Self, ApiError> {
        let body = body(request).await?;
        let empty = body.iter().all(u8::is_ascii_whitespace);
        parse(if empty { b"{}" } else { &body }).map(Self)
    }
}

async fn body(request: Request) -> Result<Bytes, ApiError> {
    match axum::body::to_bytes(request.into_body(), MAX_BODY).await {
        Ok(body) => Ok(body),
        Err(error) if is_too_large(&error) => Err(too_large()),
        Err(_) => Err(ApiError::bad("invalid_body", "the body did not arrive whole")),
    }
}

/// 413.
fn too_large() -> ApiError {
    ApiError::new(StatusCode::PAYLOAD_TOO_LARGE, "body_too_large", "the body is larger than 1 MiB")
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

fn parse<T: DeserializeOwned>(body: &[u8]) -> Result<T, ApiError> {
    // The parser looks only at the text of fields that are read; this looks at all of them.
    let body = std::str::from_utf8(body).map_err(|_| ApiError::bad("invalid_json", "the body is not valid UTF-8"))?;
    // serde would read an array as the fields in their order.
    if body.trim_ascii_start().starts_with('[') {
        return Err(ApiError::bad("invalid_json", "the body must be a JSON object"));
    }
    let mut json = serde_json::Deserializer::from_str(body);
    let value = serde_path_to_error::deserialize(&mut json).map_err(|error| {
        let path = error.path().to_string();
        wrong_json(&path, error.inner())
    })?;
    json.end().map_err(|error| wrong_json(".", &error))?;
    Ok(value)
}

/// Says which field is wrong and what it must be, without repeating what it was.
fn wrong_json(path: &str, error: &serde_json::Error) -> ApiError {
    if !error.is_data() {
        let place = format!("line {}, column {}", error.line(), error.column());
        return ApiError::bad("invalid_json", format!("the body is not valid JSON ({place})"));
    }
    let text = error.to_string();
    if text.starts_with("duplicate field") {
        return ApiError::bad("invalid_json", "the body names a field twice");
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
        return ApiError::bad("invalid_json", format!("the body must be {expected}"));
    }
    ApiError::bad("invalid_field", format!("`{path}` must be {expected}"))
}

/// The query string. Unknown parameters are for `T` to ignore.
pub struct Query<T>(pub T);

impl<T: DeserializeOwned> FromRequestParts<Arc<AppState>> for Query<T> {
    type Rejection = ApiError;

    #[expect(clippy::disallowed_types, reason = "this is the extractor that the ban points to")]
    async fn from_request_parts(parts: &mut Parts, _: &Arc<AppState>) -> Result<Self, ApiError> {
        axum::extract::Query::try_from_uri(&parts.uri)
            .map(|axum::extract::Query(query)| Self(query))
            .map_err(|_| ApiError::bad("invalid_query", "the query string cannot be read; send each parameter once"))
    }
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
            .ok_or_else(|| ApiError::bad("invalid_id", "the id in the path must be a whole number"))
    }
}

/// The `{id}` of the path and the `{cid}` behind it.
pub struct Ids(pub i64, pub i64);

impl FromRequestParts<Arc<AppState>> for Ids {
    type Rejection = ApiError;

    #[expect(clippy::disallowed_types, reason = "this is the extractor that the ban points to")]
    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, ApiError> {
        let path = axum::extract::Path::<(i64, i64)>::from_request_parts(parts, app).await;
        path.map(|axum::extract::Path((id, cid))| Self(id, cid))
            .map_err(|_| ApiError::bad("invalid_id", "the id in the path must be a whole number"))
    }
}

/// The client's address; `None` where it is not known. It is the peer's, or, where the peer is a trusted proxy, the
/// right-most hop of `X-Forwarded-For` that is not. A hop on the way there that cannot be read makes it unknown: it
/// stands for somebody, and never for the proxy that wrote it down. An IPv4-mapped IPv6 address is an IPv4 address.
#[derive(Debug, Clone, Copy)]
pub struct ClientIp(pub Option<IpAddr>);

impl FromRequestParts<Arc<AppState>> for ClientIp {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, Self::Rejection> {
        Ok(Self::of(parts, app))
    }
}

impl ClientIp {
    /// The address behind these headers.
    pub fn of(parts: &Parts, app: &AppState) -> Self {
        let peer = parts.extensions.get::<ConnectInfo<SocketAddr>>().map(|peer| peer.0.ip().to_canonical());
        let trusted = |ip: &IpAddr| app.trusted_proxies.iter().any(|net| net.contains(ip));
        if !peer.as_ref().is_some_and(trusted) {
            return Self(peer);
        }
        let headers = parts.headers.get_all("x-forwarded-for");
        let mut hops = headers.iter().rev().flat_map(|value| value.as_bytes().rsplit(|byte| *byte == b','));
        let mut client = peer;
        for hop in hops.by_ref().take(MAX_PROXIES) {
            client = hop_ip(hop);
            if !client.as_ref().is_some_and(trusted) {
                return Self(client);
            }
        }
        // Trusted to the last one: that is the client. More of them than that are a loop, or a lie.
        Self(client.filter(|_| hops.next().is_none()))
    }
}

/// An address as proxies write it: bare, in brackets, with or without a port.
fn hop_ip(hop: &[u8]) -> Option<IpAddr> {
    let text = std::str::from_utf8(hop).ok()?.trim();
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    let ip = bare.map_or_else(
        || text.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|hop| hop.ip())),
        |bare| bare.parse().ok().map(IpAddr::V6),
    );
    ip.map(|ip: IpAddr| ip.to_canonical())
}

/// Where the request came from, for the audit log.
pub fn origin(parts: &Parts, app: &AppState) -> Origin {
    let request_id = parts.extensions.get::<RequestId>().map(|id| id.0.clone()).unwrap_or_default();
    Origin { ip: ClientIp::of(parts, app).0, request_id }
}

/// [`origin`] as an extractor, for calls without a signed-in caller.
pub struct Visitor(pub Origin);

impl FromRequestParts<Arc<AppState>> for Visitor {
    type Rejection = std::convert::Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &Arc<AppState>) -> Result<Self, Self::Rejection> {
        Ok(Self(origin(parts, app)))
    }
}
