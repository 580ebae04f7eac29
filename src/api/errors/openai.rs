//! The failures of forward-auth as the SDKs of model providers read them. Proxies pass them on to the client unchanged.

use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;

use crate::api::envelope::Plain;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::failure::ApiError;

/// The header of a request that asks for this shape.
const X_ERROR_SHAPE: HeaderName = HeaderName::from_static("x-error-shape");

/// The SDKs of `OpenAI` and Anthropic obey this header. They repeat a 429 and a 5xx otherwise.
const X_SHOULD_RETRY: HeaderName = HeaderName::from_static("x-should-retry");

/// Seconds after which a client may try again if nothing is known about its key.
const RETRY_AFTER_UNAVAILABLE: u64 = 2;

/// A failure of forward-auth in the shape of the OpenAI API.
#[derive(Debug, PartialEq, Eq)]
pub struct ForwardAuthFailure<'a> {
    pub status: StatusCode,
    kind: &'static str,
    code: &'static str,
    message: &'a str,
    retry_after: Option<u64>,
    /// Whether a client may repeat the request by itself.
    may_retry: bool,
}

impl<'a> ForwardAuthFailure<'a> {
    /// Returns true if this request is answered in this shape.
    pub fn is_asked_for(path: &str, headers: &HeaderMap) -> bool {
        let is_forward_auth =
            path.strip_prefix("/api/gateway/auth").is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        is_forward_auth && headers.get(X_ERROR_SHAPE).is_some_and(|shape| shape == "openai")
    }

    /// The same failure in this shape. What the operator of the gateway has to mend is only in the log.
    pub fn of(failure: &'a ApiError) -> Self {
        let (code, retry_after) = (failure.code.as_str(), failure.retry_after);
        let refused = |kind, code| {
            let (status, message) = (failure.status, failure.message.as_str());
            Self { status, kind, code, message, retry_after, may_retry: false }
        };
        match (failure.status, failure.code) {
            (_, ErrorCode::InvalidKey) => refused("invalid_request_error", "invalid_api_key"),
            (StatusCode::PAYMENT_REQUIRED, _) => refused("insufficient_quota", code),
            (StatusCode::FORBIDDEN, _) => refused("permission_error", code),
            // A rate of 0 has no time after which to retry.
            (_, ErrorCode::RateLimited | ErrorCode::TooManyConcurrent) => {
                Self { may_retry: retry_after.is_some(), ..refused("rate_limit_error", code) }
            }
            (StatusCode::TOO_MANY_REQUESTS, _) => refused("rate_limit_error", code),
            (status, _) if status.is_server_error() => Self {
                status: StatusCode::SERVICE_UNAVAILABLE,
                kind: "api_error",
                code: "keymeter_unavailable",
                message: "this API key cannot be checked now; retry shortly",
                retry_after: Some(RETRY_AFTER_UNAVAILABLE),
                may_retry: true,
            },
            _ => Self {
                status: StatusCode::INTERNAL_SERVER_ERROR,
                kind: "api_error",
                code: "keymeter_misconfigured",
                message: "this gateway cannot check API keys; its operator finds the reason in the log of Keymeter",
                retry_after: None,
                may_retry: true,
            },
        }
    }
}

#[derive(Serialize)]
struct Body<'a> {
    error: BodyError<'a>,
}

#[derive(Serialize)]
struct BodyError<'a> {
    message: &'a str,
    r#type: &'static str,
    /// Always null: the SDKs expect it.
    param: Option<&'static str>,
    code: &'static str,
}

impl IntoResponse for ForwardAuthFailure<'_> {
    fn into_response(self) -> Response {
        let Self { status, kind, code, message, retry_after, may_retry } = self;
        let mut answer = Plain(Body { error: BodyError { message, r#type: kind, param: None, code } }).into_response();
        *answer.status_mut() = status;
        let headers = answer.headers_mut();
        if let Some(seconds) = retry_after {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if !may_retry {
            headers.insert(X_SHOULD_RETRY, HeaderValue::from_static("false"));
        }
        if status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_failure_has_a_status_a_type_and_a_code_that_sdks_know() {
        let table = [
            (ErrorCode::InvalidKey, None, 401, "invalid_request_error", "invalid_api_key", None, false),
            (ErrorCode::TokenExhausted, None, 402, "insufficient_quota", "token_exhausted", None, false),
            (ErrorCode::UserQuotaInsufficient, None, 402, "insufficient_quota", "user_quota_insufficient", None, false),
            (ErrorCode::TokenDisabled, None, 403, "permission_error", "token_disabled", None, false),
            (ErrorCode::IpNotAllowed, None, 403, "permission_error", "ip_not_allowed", None, false),
            (ErrorCode::TokenPeriodExceeded, Some(9), 429, "rate_limit_error", "token_period_exceeded", Some(9), false),
            (ErrorCode::UserPeriodExceeded, None, 429, "rate_limit_error", "user_period_exceeded", None, false),
            (ErrorCode::RateLimited, Some(7), 429, "rate_limit_error", "rate_limited", Some(7), true),
            (ErrorCode::RateLimited, None, 429, "rate_limit_error", "rate_limited", None, false),
            (ErrorCode::TooManyConcurrent, Some(1), 429, "rate_limit_error", "too_many_concurrent", Some(1), true),
            (ErrorCode::DatabaseUnavailable, Some(1), 503, "api_error", "keymeter_unavailable", Some(2), true),
            (ErrorCode::Timeout, Some(1), 503, "api_error", "keymeter_unavailable", Some(2), true),
            (ErrorCode::Internal, None, 503, "api_error", "keymeter_unavailable", Some(2), true),
            (ErrorCode::InvalidGateway, None, 500, "api_error", "keymeter_misconfigured", None, true),
            (ErrorCode::InvalidQuery, None, 500, "api_error", "keymeter_misconfigured", None, true),
            (ErrorCode::NotFound, None, 500, "api_error", "keymeter_misconfigured", None, true),
        ];
        for (code, given, status, kind, shown, retry_after, may_retry) in table {
            let failure = ApiError { retry_after: given, ..ApiError::new(code, "why") };
            let refusal = ForwardAuthFailure::of(&failure);
            let seen = (refusal.status.as_u16(), refusal.kind, refusal.code, refusal.retry_after, refusal.may_retry);
            assert_eq!(seen, (status, kind, shown, retry_after, may_retry), "{code:?}");
            assert_eq!(refusal.message == "why", kind != "api_error", "{code:?}");
        }
    }

    #[test]
    fn only_forward_auth_answers_in_this_shape_and_only_if_it_is_asked_to() {
        let asked = |path: &str, shape: &'static str| {
            let headers = HeaderMap::from_iter([(X_ERROR_SHAPE, HeaderValue::from_static(shape))]);
            ForwardAuthFailure::is_asked_for(path, &headers)
        };
        assert!(asked("/api/gateway/auth", "openai") && asked("/api/gateway/auth/v1/chat", "openai"));
        assert!(!asked("/api/gateway/auth", "anthropic") && !asked("/api/gateway/auth", ""));
        assert!(!asked("/api/gateway/authority", "openai") && !asked("/api/gateway/charge", "openai"));
        assert!(!ForwardAuthFailure::is_asked_for("/api/gateway/auth", &HeaderMap::new()));
    }
}
