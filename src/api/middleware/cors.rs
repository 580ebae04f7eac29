//! Lets web pages of any origin call what takes only an API key. Tools that show the balance of a key are such pages.

use std::convert::Infallible;
use std::time::Duration;

use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, Method, header};
use tower::{Layer, ServiceExt};
use tower_http::cors::{AllowHeaders, Any, CorsLayer};

/// How long a browser need not ask again.
const MAX_AGE: Duration = Duration::from_hours(1);

/// Paths that take an API key, or nothing. Nothing here takes a session, and browsers send no cookies, because the
/// answers do not allow credentials.
const PATHS: [&str; 5] = ["/v1", "/dashboard/billing", "/api/log/token", "/api/usage/token", "/api/status"];

/// Whether the answer gets CORS headers.
pub(super) fn may_come_from_any_origin(request: &Request) -> bool {
    let is_preflight = request.headers().contains_key(header::ACCESS_CONTROL_REQUEST_METHOD);
    // The layer answers every OPTIONS, but one that is no preflight is an unknown method.
    let is_other_options = request.method() == Method::OPTIONS && !is_preflight;
    !is_other_options && is_open(request.uri().path())
}

/// Adds the CORS headers to the answer, and answers a preflight.
pub(super) async fn allow_any_origin(request: Request, next: impl AsyncFnOnce(Request) -> Response) -> Response {
    let layer = CorsLayer::new()
        .allow_origin(Any)
        .allow_methods([Method::GET])
        .allow_headers(AllowHeaders::mirror_request())
        .expose_headers([
            header::RETRY_AFTER,
            HeaderName::from_static("x-error-code"),
            HeaderName::from_static("x-request-id"),
        ])
        .max_age(MAX_AGE);
    let mut next = Some(next);
    let inner = tower::service_fn(|request| {
        let next = next.take();
        async {
            let answer = match next {
                Some(next) => next(request).await,
                // A service is called once for a request.
                None => Response::default(),
            };
            Ok::<_, Infallible>(answer)
        }
    });
    match layer.layer(inner).oneshot(request).await {
        Ok(response) => response.into_response(),
        Err(never) => match never {},
    }
}

fn is_open(path: &str) -> bool {
    let is_below = |open: &str| path.strip_prefix(open).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    PATHS.into_iter().any(is_below)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_take_an_api_key_are_open() {
        for open in
            ["/v1/models", "/v1/nothing", "/dashboard/billing/usage", "/api/usage/token/", "/api/usage/token/daily"]
        {
            assert!(is_open(open), "{open}");
        }
        for closed in [
            "/",
            "/v10",
            "/dashboard",
            "/api/usage/tokens",
            "/api/usage",
            "/api/log/self",
            "/api/token",
            "/api/user/self",
        ] {
            assert!(!is_open(closed), "{closed}");
        }
    }
}
