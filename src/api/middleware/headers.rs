//! The security headers of every answer.

use axum::extract::{MatchedPath, Request};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderValue, header};

use super::observe::set_route;

/// Adds the security headers, and tells the request log, which is outside, the route's pattern: it is known only here,
/// inside the router.
pub async fn add_headers(matched: Option<MatchedPath>, request: Request, next: Next) -> Response {
    if let Some(matched) = matched {
        set_route(request.extensions(), matched);
    }
    let mut answer = next.run(request).await;
    let headers = answer.headers_mut();
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(header::REFERRER_POLICY, HeaderValue::from_static("same-origin"));
    headers.insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    answer
}
