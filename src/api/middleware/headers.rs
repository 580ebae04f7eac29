//! The security headers of every answer.

use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderValue, header};

/// Adds the security headers, and makes the route's pattern an extension of the answer: it is known only here, inside
/// the router, and the request log is outside.
pub async fn add_headers(matched: Option<MatchedPath>, request: Request, next: Next) -> Response {
    let mut answer = next.run(request).await;
    if let Some(matched) = matched {
        answer.extensions_mut().insert(matched);
    }
    let headers = answer.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    answer
}
