//! The body of every failure: those of handlers, of the framework, and panics.

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};

use crate::api::envelope::{Failure, OpenAiFailure};
use crate::api::errors::code::ErrorCode;
use crate::api::errors::failure::{About, ApiError};
use crate::api::errors::openai::ForwardAuthFailure;
use crate::api::etag::etag;
use crate::api::extract::MAX_BODY;

/// The code of a failure as a header, for proxies that do not read bodies.
const X_ERROR_CODE: HeaderName = HeaderName::from_static("x-error-code");

/// What the body of a failure depends on, besides the [`ApiError`] that travels as an extension of the answer.
pub(super) struct FailureFormat {
    path: String,
    is_for_sdk: bool,
}

impl FailureFormat {
    pub(super) fn of(request: &Request) -> Self {
        let path = request.uri().path().to_owned();
        let is_for_sdk = ForwardAuthFailure::is_asked_for(&path, request.headers());
        Self { path, is_for_sdk }
    }

    pub(super) fn path(&self) -> &str {
        &self.path
    }

    /// Writes the body of a failure. Other answers stay as they are.
    pub(super) fn render(&self, errors_as_200: bool, answer: Response) -> Response {
        if !answer.status().is_client_error() && !answer.status().is_server_error() {
            return answer;
        }
        let of_handler = answer.extensions().get::<ApiError>().cloned();
        // Of a proxy that asks at a mistyped address, 200 would let every request in.
        let may_be_200 = of_handler.is_some() && !is_of_gateways(&self.path);
        let failure = of_handler.unwrap_or_else(|| of_framework(answer.status()));
        if self.is_for_sdk {
            let mut answer = ForwardAuthFailure::of(&failure).into_response();
            answer.extensions_mut().insert(failure);
            return answer;
        }
        let (mut parts, _) = answer.into_parts();
        parts.status = failure.status;
        let is_openai = OpenAiFailure::is_used_at(&self.path);
        if errors_as_200 && may_be_200 && is_business(failure.status) && !is_openai {
            parts.status = StatusCode::OK;
        }
        parts.headers.remove(header::CONTENT_LENGTH);
        parts.headers.remove(header::CONTENT_TYPE);
        if let Some(seconds) = failure.retry_after {
            parts.headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if let Some(About::Version(version)) = failure.about {
            parts.headers.insert(header::ETAG, etag(version));
        }
        parts.headers.insert(X_ERROR_CODE, HeaderValue::from_static(failure.code.as_str()));
        if failure.status == StatusCode::UNAUTHORIZED {
            parts.headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        let rendered = if is_openai {
            OpenAiFailure::of(&failure).into_response()
        } else {
            Failure::on(&self.path, &failure).into_response()
        };
        parts.headers.extend(rendered.headers().clone());
        parts.extensions.insert(failure);
        Response::from_parts(parts, rendered.into_body())
    }
}

/// The answer to a panic: 500, as for every defect.
#[expect(clippy::needless_pass_by_value, reason = "the signature that CatchPanicLayer requires")]
pub fn catch_panic(panic: Box<dyn std::any::Any + Send + 'static>) -> Response {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    ApiError::internal(format_args!("panic: {}", text.unwrap_or("of an unknown kind"))).into_response()
}

/// The failures of axum and tower-http, which have a status and no code.
fn of_framework(status: StatusCode) -> ApiError {
    match status {
        StatusCode::NOT_FOUND => ApiError::no_such_path(),
        StatusCode::METHOD_NOT_ALLOWED => {
            ApiError::new(ErrorCode::MethodNotAllowed, "this path does not accept this method; see `Allow`")
        }
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::body_too_large(MAX_BODY),
        status if status.is_server_error() => {
            ApiError::internal(format_args!("a library answered {} and has logged why", status.as_u16()))
        }
        status => {
            let message = "the request cannot be processed as it is";
            ApiError { status, ..ApiError::new(ErrorCode::BadRequest, message) }
        }
    }
}

/// Gateways and proxies decide by the status.
fn is_of_gateways(path: &str) -> bool {
    path.strip_prefix("/api/gateway").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The failures that old clients need as 200 (`http.errors_as_200`).
const fn is_business(status: StatusCode) -> bool {
    matches!(status, StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND | StatusCode::CONFLICT)
}
