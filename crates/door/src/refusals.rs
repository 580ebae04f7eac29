//! What a client gets that is not let through, in the shape that SDKs of model providers read.

use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderName, HeaderValue, Response, StatusCode};
use keymeter_meter::refusal::MeterRefusal;
use keymeter_meter::route::Route;
use serde_json::{Value, json};

use crate::keymeter::Answered;

/// SDKs do not try again if it is `false`.
const X_SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// A request that is not let through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DoorRefusal {
    pub status: StatusCode,
    /// As OpenAI names it.
    kind: &'static str,
    code: String,
    message: String,
    retry: Retry,
}

/// What an SDK shall do.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Retry {
    Never,
    /// As it likes, or after so many seconds.
    May(Option<String>),
    /// Not by itself, but people may after so many seconds.
    NotBefore(Option<String>),
}

const INVALID_REQUEST: &str = "invalid_request_error";
const PERMISSION: &str = "permission_error";
const RATE_LIMIT: &str = "rate_limit_error";
const API: &str = "api_error";

impl DoorRefusal {
    fn new(status: StatusCode, kind: &'static str, code: &str, message: impl Into<String>, retry: Retry) -> Self {
        Self { status, kind, code: code.to_owned(), message: message.into(), retry }
    }

    fn never(status: StatusCode, kind: &'static str, code: &str, message: impl Into<String>) -> Self {
        Self::new(status, kind, code, message, Retry::Never)
    }

    /// This path is not metered.
    pub fn not_served(method: &str, path: &str) -> Self {
        let path: String = path.chars().take(100).map(|c| if c.is_control() { '?' } else { c }).collect();
        Self::never(
            StatusCode::NOT_FOUND,
            INVALID_REQUEST,
            "not_metered",
            format!("{method} {path} is not served here"),
        )
    }

    pub fn invalid_key(message: &str) -> Self {
        Self::never(StatusCode::UNAUTHORIZED, INVALID_REQUEST, "invalid_api_key", message)
    }

    pub fn invalid_request(message: &str) -> Self {
        Self::never(StatusCode::BAD_REQUEST, INVALID_REQUEST, "invalid_request", message)
    }

    pub fn not_metered(message: &str) -> Self {
        Self::never(StatusCode::FORBIDDEN, PERMISSION, "not_metered", message)
    }

    pub fn compressed() -> Self {
        let message = "send the body without compression";
        Self::never(StatusCode::UNSUPPORTED_MEDIA_TYPE, INVALID_REQUEST, "unsupported_media_type", message)
    }

    pub fn too_large() -> Self {
        let message = "the body is larger than 32 MiB";
        Self::never(StatusCode::PAYLOAD_TOO_LARGE, INVALID_REQUEST, "body_too_large", message)
    }

    pub fn too_slow() -> Self {
        let message = "the body did not arrive in time";
        Self::new(StatusCode::REQUEST_TIMEOUT, INVALID_REQUEST, "request_timeout", message, Retry::May(None))
    }

    /// Keymeter, or this program, has no time for it.
    pub fn unavailable(reason: &str) -> Self {
        tracing::warn!(reason, "a request cannot be metered now, and was refused");
        let message = "API keys cannot be checked now; retry shortly";
        let retry = Retry::May(Some("2".to_owned()));
        Self::new(StatusCode::SERVICE_UNAVAILABLE, API, "keymeter_unavailable", message, retry)
    }

    /// One has all that one may have of what is for everybody.
    pub fn too_many(message: &str) -> Self {
        let retry = Retry::May(Some("2".to_owned()));
        Self::new(StatusCode::TOO_MANY_REQUESTS, RATE_LIMIT, "too_many_concurrent", message, retry)
    }

    pub fn misconfigured() -> Self {
        let message = "internal error; tell your operator";
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, API, "keymeter_misconfigured", message, Retry::May(None))
    }

    /// A proxy does not say whose request it is, so a key's `allow_ips` could not be checked.
    pub fn unknown_address() -> Self {
        tracing::error!("the address of a client is not told, or a trusted proxy's `X-Forwarded-For` cannot be read");
        Self::misconfigured()
    }

    /// The upstream was not reached, or broke before its answer.
    pub fn bad_gateway() -> Self {
        let message = "the upstream did not answer";
        Self::new(StatusCode::BAD_GATEWAY, API, "upstream_unavailable", message, Retry::May(None))
    }

    /// The upstream was too slow. Its work is charged, so it is not to be repeated by itself.
    pub fn gateway_timeout() -> Self {
        Self::never(StatusCode::GATEWAY_TIMEOUT, API, "upstream_timeout", "the upstream did not answer in time")
    }

    /// What Keymeter refused.
    pub fn of_keymeter(answered: &Answered) -> Self {
        let Answered { status, body, retry_after } = answered;
        let (code, message) = (body.error.as_str(), body.message.as_str());
        match status {
            500.. => Self::unavailable("it failed"),
            _ if code == "invalid_key" => Self::invalid_key(message),
            402 => Self::never(StatusCode::PAYMENT_REQUIRED, "insufficient_quota", code, message),
            403 => Self::never(StatusCode::FORBIDDEN, PERMISSION, code, message),
            429 if code.ends_with("_period_exceeded") => {
                let retry = Retry::NotBefore(retry_after.clone());
                Self::new(StatusCode::TOO_MANY_REQUESTS, RATE_LIMIT, code, message, retry)
            }
            429 => {
                let retry = Retry::May(retry_after.clone());
                Self::new(StatusCode::TOO_MANY_REQUESTS, RATE_LIMIT, code, message, retry)
            }
            _ => {
                tracing::error!(status, code, message, "Keymeter refuses this gateway itself");
                Self::misconfigured()
            }
        }
    }

    /// Why a key may not be used, as `verify` says it.
    pub fn of_reason(reason: &str) -> Self {
        let message = format!("this API key may not be used: {reason}");
        match reason {
            "invalid_key" => Self::invalid_key(&message),
            _ if reason.ends_with("_exceeded") || matches!(reason, "rate_limited" | "too_many_concurrent") => {
                Self::new(StatusCode::TOO_MANY_REQUESTS, RATE_LIMIT, reason, message, Retry::NotBefore(None))
            }
            _ if reason.ends_with("_exhausted") || reason.ends_with("_insufficient") => {
                Self::never(StatusCode::PAYMENT_REQUIRED, "insufficient_quota", reason, message)
            }
            _ => Self::never(StatusCode::FORBIDDEN, PERMISSION, reason, message),
        }
    }

    /// What a log calls it.
    pub fn code(&self) -> &str {
        &self.code
    }

    /// The answer, in the shape of the API of the route.
    pub fn answer(&self, route: Option<Route>) -> Response<String> {
        let body = if matches!(route, Some(Route::Messages | Route::CountTokens)) {
            json!({ "type": "error", "error": { "type": self.anthropic_kind(), "message": self.message } })
        } else {
            let error = json!({ "message": self.message, "type": self.kind, "param": Value::Null, "code": self.code });
            json!({ "error": error })
        };
        let mut answer = Response::new(body.to_string());
        *answer.status_mut() = self.status;
        let headers = answer.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        let (is_final, seconds) = match &self.retry {
            Retry::Never => (true, None),
            Retry::May(seconds) => (false, seconds.as_ref()),
            Retry::NotBefore(seconds) => (true, seconds.as_ref()),
        };
        if is_final {
            headers.insert(X_SHOULD_RETRY, HeaderValue::from_static("false"));
        }
        if let Some(seconds) = seconds.and_then(|seconds| HeaderValue::from_str(seconds).ok()) {
            headers.insert(RETRY_AFTER, seconds);
        }
        answer
    }

    fn anthropic_kind(&self) -> &'static str {
        match self.status.as_u16() {
            401 => "authentication_error",
            402 => "billing_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            400..500 => "invalid_request_error",
            _ => "api_error",
        }
    }
}

impl From<MeterRefusal> for DoorRefusal {
    fn from(MeterRefusal { status, code, message }: MeterRefusal) -> Self {
        let status = StatusCode::from_u16(status).unwrap_or(StatusCode::BAD_REQUEST);
        let kind = if status == StatusCode::FORBIDDEN { PERMISSION } else { INVALID_REQUEST };
        Self::never(status, kind, code, message)
    }
}
