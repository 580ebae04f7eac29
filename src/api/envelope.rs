//! The envelopes of answers (spec §4, §4.8, §7.1). Only this file knows `success` and `code`.

use axum::response::{IntoResponse, Response};
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use utoipa::ToSchema;

use super::limits::ExceededBody;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::failure::{About, ApiError, FaultyUser};
use crate::domain::id::UserId;
use crate::service::tokens::BulkPlace;

/// Room for most answers that are not lists.
const USUAL_BYTES: usize = 256;

/// `{success, message, data}`: the answer of most calls.
#[derive(Debug, Serialize, ToSchema)]
pub struct Envelope<T> {
    /// Always true; a failure is a [`Failure`].
    success: bool,
    /// Always empty.
    message: &'static str,
    /// The result.
    data: T,
}

/// `{success, message}` with `data` only on request: the answer of creating a token.
#[derive(Debug, Serialize, ToSchema)]
pub struct OptionalEnvelope<T> {
    /// Always true.
    success: bool,
    /// Always empty.
    message: &'static str,
    /// The result.
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<T>,
}

/// `{success, message}`: the answer of calls that return nothing.
#[derive(Debug, Serialize, ToSchema)]
pub struct Done {
    /// Always true.
    success: bool,
    /// Always empty.
    message: &'static str,
}

/// `{success, data}`: the answer of daily usage, which has no message (spec §4.9).
#[derive(Debug, Serialize, ToSchema)]
pub struct DataOnly<T> {
    /// Always true.
    success: bool,
    /// The result.
    data: T,
}

/// `{code, message, data}`: the answer of usage by key (spec §4.8).
#[derive(Debug, Serialize, ToSchema)]
pub struct KeyEnvelope<T> {
    /// Always true.
    code: bool,
    /// Always `ok`.
    message: &'static str,
    /// The result.
    data: T,
}

/// A failure (spec §7.1). Usage by key adds `"code": false`.
#[derive(Debug, Serialize, ToSchema)]
pub struct Failure<'a> {
    /// False; only usage by key sends it.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<bool>,
    /// Always false.
    success: bool,
    /// One sentence that says what to do.
    message: &'a str,
    /// The stable code, for programs.
    error: ErrorCode,
    /// The period limit that refused the request.
    #[serde(flatten)]
    exceeded: ExceededBody,
    /// The place of the token that is the reason, from 0, if many were to be created.
    #[serde(skip_serializing_if = "Option::is_none")]
    index: Option<usize>,
    /// The id of the token that is the reason, if many were to be changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<i64>,
    /// Each of many users that is a reason; `error` and `message` are of the first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    faults: Vec<FaultBody<'a>>,
}

/// What is wrong with one of many users.
#[derive(Debug, Serialize, ToSchema)]
pub struct FaultBody<'a> {
    /// The line of `csv`, counted from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    line: Option<usize>,
    /// The user's id, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<i64>,
    /// The username, or what was sent as one.
    #[serde(skip_serializing_if = "Option::is_none")]
    username: Option<&'a str>,
    /// The stable code, for programs.
    error: ErrorCode,
    /// One sentence that says what to do.
    message: &'a str,
}

impl<'a> From<&'a FaultyUser> for FaultBody<'a> {
    fn from(FaultyUser { place, code, message }: &'a FaultyUser) -> Self {
        let (line, id) = (place.line, place.id.map(UserId::get));
        Self { line, id, username: place.username.as_deref(), error: *code, message }
    }
}

/// A failure in the shape of the OpenAI API, for the paths that its clients call.
#[derive(Debug, Serialize, ToSchema)]
pub struct OpenAiFailure<'a> {
    /// What went wrong.
    error: OpenAiError<'a>,
}

/// What went wrong, in the shape of the OpenAI API.
#[derive(Debug, Serialize, ToSchema)]
pub struct OpenAiError<'a> {
    /// One sentence that says what to do.
    message: &'a str,
    /// The kind of error, by its status.
    r#type: &'static str,
    /// The stable code, for programs.
    code: ErrorCode,
}

impl<T> Envelope<T> {
    /// Wraps `data`.
    pub const fn of(data: T) -> Self {
        Self { success: true, message: "", data }
    }
}

impl<T> OptionalEnvelope<T> {
    /// Wraps `data`, if there is any.
    pub const fn of(data: Option<T>) -> Self {
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
    pub const fn of(data: T) -> Self {
        Self { success: true, data }
    }
}

impl<T> KeyEnvelope<T> {
    /// Wraps `data`.
    pub const fn of(data: T) -> Self {
        Self { code: true, message: "ok", data }
    }
}

impl<'a> Failure<'a> {
    /// A failure in the form of the route at `path`.
    pub fn on(path: &str, failure: &'a ApiError) -> Self {
        let code = path.starts_with("/api/usage/token").then_some(false);
        let ApiError { message, code: error, about, .. } = failure;
        let (mut index, mut id, mut faults) = (None, None, Vec::new());
        match about {
            Some(About::Place(BulkPlace::Index(at))) => index = Some(*at),
            Some(About::Place(BulkPlace::Id(of))) => id = Some(of.get()),
            Some(About::Users(users)) => faults = users.iter().map(FaultBody::from).collect(),
            Some(About::Limit(_) | About::Version(_)) | None => {}
        }
        Self { code, success: false, message, error: *error, exceeded: failure.exceeded().into(), index, id, faults }
    }
}

impl<'a> OpenAiFailure<'a> {
    /// The same failure in this shape.
    pub fn of(failure: &'a ApiError) -> Self {
        let kind = match failure.status {
            StatusCode::UNAUTHORIZED => "authentication_error",
            StatusCode::FORBIDDEN => "permission_error",
            StatusCode::TOO_MANY_REQUESTS => "rate_limit_error",
            status if status.is_server_error() => "server_error",
            _ => "invalid_request_error",
        };
        Self { error: OpenAiError { message: &failure.message, r#type: kind, code: failure.code } }
    }

    /// Returns true if failures at `path` have this shape.
    pub fn is_used_at(path: &str) -> bool {
        ["/v1", "/dashboard/billing"]
            .iter()
            .filter_map(|root| path.strip_prefix(root))
            .any(|rest| rest.is_empty() || rest.starts_with('/'))
    }
}

impl IntoResponse for OpenAiFailure<'_> {
    fn into_response(self) -> Response {
        json(&self)
    }
}

impl<T: Serialize> IntoResponse for Envelope<T> {
    fn into_response(self) -> Response {
        json(&self)
    }
}

impl<T: Serialize> IntoResponse for OptionalEnvelope<T> {
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

/// A body without an envelope, as other APIs answer.
pub struct Plain<T>(pub T);

impl<T: Serialize> IntoResponse for Plain<T> {
    fn into_response(self) -> Response {
        json(&self.0)
    }
}

/// An answer that contains a secret: no cache may store it.
pub struct NoStore<R>(pub R);

impl<R: IntoResponse> IntoResponse for NoStore<R> {
    fn into_response(self) -> Response {
        let mut answer = self.0.into_response();
        answer.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
        answer
    }
}

#[expect(clippy::expect_used, reason = "no type here has map keys other than strings, the only cause of an error")]
fn json(body: &impl Serialize) -> Response {
    let mut text = Vec::with_capacity(USUAL_BYTES);
    serde_json::to_writer(&mut text, body).expect("serialisable");
    ([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))], text).into_response()
}
