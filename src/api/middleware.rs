//! What every request passes: its id, the request log, the words of a failure, the catch of a
//! panic, the time limit, the security headers.

use std::sync::{Arc, OnceLock};
use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use http::{HeaderName, HeaderValue, StatusCode, header};

use super::envelope::Failure;
use super::errors::ApiError;
use super::extract::ClientIp;
use super::state::AppState;
use crate::domain::id::UserId;

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The stable code of a failure once more: for proxies, which see no bodies.
const X_ERROR_CODE: HeaderName = HeaderName::from_static("x-error-code");

/// The id of a request: the caller's, if sane, else ours.
#[derive(Debug, Clone)]
pub struct RequestId(pub String);

/// Who was recognised, for the request log.
#[derive(Debug, Clone, Default)]
pub struct Known(Arc<OnceLock<UserId>>);

impl Known {
    /// Remembers who it is.
    pub fn is(parts: &Parts, user: UserId) {
        if let Some(known) = parts.extensions.get::<Self>() {
            let _ = known.0.set(user);
        }
    }
}

/// Outermost: gives the request its id, and writes one line and one count for its answer.
pub async fn observe(State(app): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let (mut parts, body) = request.into_parts();
    let id = sane_id(&parts).unwrap_or_else(|| app.rng.generate_fast(|rng| format!("{:032x}", random_bits(rng))));
    let known = Known::default();
    parts.extensions.insert(RequestId(id.clone()));
    parts.extensions.insert(known.clone());
    let ip = ClientIp::of(&parts, &app).0;
    let method = parts.method.clone();
    let mut answer = next.run(Request::from_parts(parts, body)).await;
    if let Ok(value) = HeaderValue::from_str(&id) {
        answer.headers_mut().insert(X_REQUEST_ID, value);
    }
    let route = answer.extensions().get::<MatchedPath>().map_or("-", |path| path.as_str());
    let status = answer.status().as_u16();
    let error = answer.extensions().get::<ApiError>().map(|refusal| refusal.error);
    let user_id = known.0.get().map(|user| user.get());
    let took = started.elapsed();
    app.metrics.count(&method, route, status, took.as_secs_f64());
    tracing::info!(
        target: "keymeter::request",
        %method, route, status, us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX), request_id = id,
        ip = ip.map(tracing::field::display), user_id, error
    );
    answer
}

/// Gives every failure its words, also those that no handler of ours made.
pub async fn render_errors(State(app): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let path = request.uri().path().to_owned();
    let answer = next.run(request).await;
    if !answer.status().is_client_error() && !answer.status().is_server_error() {
        return answer;
    }
    let refusal = answer.extensions().get::<ApiError>().cloned().unwrap_or_else(|| unspoken(answer.status()));
    if refusal.error == "database_unavailable" {
        app.db.suspect();
    }
    let (mut parts, _) = answer.into_parts();
    parts.status = refusal.status;
    if app.errors_as_200 && is_business(refusal.status) {
        parts.status = StatusCode::OK;
    }
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.remove(header::CONTENT_TYPE);
    if let Some(seconds) = refusal.retry_after {
        parts.headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    parts.headers.insert(X_ERROR_CODE, HeaderValue::from_static(refusal.error));
    if refusal.status == StatusCode::UNAUTHORIZED {
        parts.headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
    }
    let spoken = Failure::on(&path, &refusal.message, refusal.error).into_response();
    parts.headers.extend(spoken.headers().clone());
    parts.extensions.insert(refusal);
    Response::from_parts(parts, spoken.into_body())
}

/// A panic is a defect, and answers like one.
#[expect(clippy::needless_pass_by_value, reason = "the shape that CatchPanicLayer asks for")]
pub fn panicked(panic: Box<dyn std::any::Any + Send + 'static>) -> Response {
    let text = panic.downcast_ref::<&str>().copied().or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    tracing::error!(panic = text.unwrap_or("of an unknown kind"), "a handler panicked; answered 500");
    ApiError::internal().into_response()
}

/// Ends what takes longer than the operator allows.
pub async fn limit_time(State(app): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    match tokio::time::timeout(app.request_timeout, next.run(request)).await {
        Ok(answer) => answer,
        Err(_) => ApiError::unavailable("timeout", "this took too long and was given up; try again in a moment")
            .into_response(),
    }
}

/// Innermost: hands the route's pattern out to the log, and adds the headers of a careful API.
pub async fn finish(matched: Option<MatchedPath>, request: Request, next: Next) -> Response {
    let mut answer = next.run(request).await;
    if let Some(matched) = matched {
        answer.extensions_mut().insert(matched);
    }
    let headers = answer.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("no-referrer"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    answer
}

/// What the framework refused without a word of ours.
fn unspoken(status: StatusCode) -> ApiError {
    match status {
        StatusCode::NOT_FOUND => ApiError::new(status, "not_found", "there is nothing at this path"),
        StatusCode::METHOD_NOT_ALLOWED => {
            ApiError::new(status, "method_not_allowed", "this path does not take this method; see `Allow`")
        }
        StatusCode::PAYLOAD_TOO_LARGE => ApiError::new(status, "body_too_large", "the body is larger than 1 MiB"),
        status if status.is_server_error() => ApiError::internal(),
        status => ApiError::new(status, "bad_request", "the request cannot be understood"),
    }
}

/// The failures that old clients want as 200 (`http.errors_as_200`).
const fn is_business(status: StatusCode) -> bool {
    matches!(status, StatusCode::BAD_REQUEST | StatusCode::NOT_FOUND | StatusCode::CONFLICT)
}

fn sane_id(parts: &Parts) -> Option<String> {
    let id = parts.headers.get(X_REQUEST_ID)?.to_str().ok()?;
    let sane = (1..=64).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.'));
    sane.then(|| id.to_owned())
}

fn random_bits(rng: &mut dyn rand::CryptoRng) -> u128 {
    let mut bytes = [0; 16];
    rng.fill_bytes(&mut bytes);
    u128::from_be_bytes(bytes)
}
