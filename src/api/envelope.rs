//! The only place that knows `success` and `code`: how answers are wrapped (spec §4, §4.8, §7.1).

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use serde::Serialize;
use utoipa::ToSchema;

/// `{success, message, data}`: the answer of most calls.
#[derive(Debug, Serialize, ToSchema)]
pub struct Envelope<T> {
    /// Always true here; a failure is a [`Failure`].
    success: bool,
    /// Always empty here.
    message: &'static str,
    /// What was asked for.
    data: T,
}

/// `{success, message}`: the answer of calls that return nothing.
#[derive(Debug, Serialize, ToSchema)]
pub struct Done {
    /// Always true here.
    success: bool,
    /// Always empty here.
    message: &'static str,
}

/// `{success, data}`: the answer of daily usage, which has no message (spec §4.9).
#[derive(Debug, Serialize, ToSchema)]
pub struct DataOnly<T> {
    /// Always true here.
    success: bool,
    /// What was asked for.
    data: T,
}

/// `{code, message, data}`: the answer of usage by key (spec §4.8).
#[derive(Debug, Serialize, ToSchema)]
pub struct KeyEnvelope<T> {
    /// Always true here.
    code: bool,
    /// Always `ok` here.
    message: &'static str,
    /// What was asked for.
    data: T,
}

/// Every failure (spec §7.1), with a stable code. Usage by key adds `"code": false`.
#[derive(Debug, Serialize, ToSchema)]
pub struct Failure<'a> {
    /// Only from usage by key: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<bool>,
    /// Always false.
    success: bool,
    /// One sentence that says what to do.
    message: &'a str,
    /// For programs: stable, in snake case.
    error: &'a str,
}

impl<T> Envelope<T> {
    /// Wraps `data`.
    #[must_use]
    pub const fn of(data: T) -> Self {
        Self { success: true, message: "", data }
    }
}

impl Default for Done {
    fn default() -> Self {
        Self { success: true, message: "" }
    }
}

impl<T> DataOnly<T> {
    /// Wraps `data`.
    #[must_use]
    pub const fn of(data: T) -> Self {
        Self { success: true, data }
    }
}

impl<T> KeyEnvelope<T> {
    /// Wraps `data`.
    #[must_use]
    pub const fn of(data: T) -> Self {
        Self { code: true, message: "ok", data }
    }
}

impl<'a> Failure<'a> {
    /// A failure as the route at `path` words it.
    #[must_use]
    pub fn on(path: &str, message: &'a str, error: &'a str) -> Self {
        let code = path.starts_with("/api/usage/token").then_some(false);
        Self { code, success: false, message, error }
    }
}

impl<T: Serialize> IntoResponse for Envelope<T> {
    fn into_response(self) -> Response {
        json(&self)
    }
}

impl IntoResponse for Done {
    fn into_response(self) -> Response {
        json(&self)
    }
}

impl<T: Serialize> IntoResponse for DataOnly<T> {
    fn into_response(self) -> Response {
        json(&self)
    }
}

impl<T: Serialize> IntoResponse for KeyEnvelope<T> {
    fn into_response(self) -> Response {
        json(&self)
    }
}

impl IntoResponse for Failure<'_> {
    fn into_response(self) -> Response {
        json(&self)
    }
}

/// An answer that shows a secret, and so must be kept nowhere.
pub struct NoStore<R>(pub R);

impl<R: IntoResponse> IntoResponse for NoStore<R> {
    fn into_response(self) -> Response {
        let mut answer = self.0.into_response();
        answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        answer
    }
}

#[expect(clippy::expect_used, reason = "our own types have no maps with keys that are not strings")]
fn json(body: &impl Serialize) -> Response {
    let body = serde_json::to_vec(body).expect("serialisable");
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], body).into_response()
}
