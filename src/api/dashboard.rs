//! Serves the dashboard, the built files of `dashboard/`. The dashboard has no rights of its own: it calls the API like
//! any other client.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::{Html, IntoResponse, Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use tower::ServiceExt;
use tower_http::services::{ServeDir, ServeFile};

use super::envelope::OpenAiFailure;
use super::state::AppState;

/// Allows nothing from other hosts, and nothing inline except styles, which the component library sets.
const CONTENT_SECURITY_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; \
     connect-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
);

/// Files under this path have a hash of their content in their name.
const HASHED: &str = "/assets/";

const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Keymeter</title>\
    <h1>Keymeter is running</h1><p>The dashboard is not built. With Node.js 20 or newer, run <code>make dashboard</code> \
    and restart, or set <code>KEYMETER_DASHBOARD__DIR</code> to where it is.</p>\
    <p>The API works without it: <a href=\"/api/openapi.json\">its description</a>.</p></html>";

/// Serves paths that are not part of the API: a file of the dashboard, or, for a browser that opens an address, the page
/// of the dashboard, which routes by itself.
pub async fn serve(State(app): State<Arc<AppState>>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
    if !is_reading || path == "/api" || path.starts_with("/api/") || OpenAiFailure::is_used_at(&path) {
        return not_found();
    }
    let is_page = path == "/" || (accepts_html(request.headers()) && !path.starts_with(HASHED));
    let Some(directory) = &app.dashboard else {
        return if is_page { with_headers(Html(NOT_BUILT).into_response(), &path) } else { not_found() };
    };
    let files =
        ServeDir::new(directory).append_index_html_on_directories(false).precompressed_br().precompressed_gzip();
    let file = if is_page {
        let index = ServeFile::new(directory.join("index.html")).precompressed_br().precompressed_gzip();
        files.fallback(index).oneshot(request).await
    } else {
        files.oneshot(request).await
    };
    match file {
        Ok(file) if file.status() == StatusCode::NOT_FOUND => not_found(),
        Ok(file) => with_headers(file.into_response(), &path),
        Err(never) => match never {},
    }
}

/// Adds the cache policy, and for a page its content security policy.
fn with_headers(mut answer: Response, path: &str) -> Response {
    let keep = if path.starts_with(HASHED) { "public, max-age=31536000, immutable" } else { "no-cache" };
    let headers = answer.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    if is_html(headers.get(header::CONTENT_TYPE)) {
        headers.insert(header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY);
    }
    answer
}

/// Returns true for a browser that opens an address, not for a program that accepts anything.
fn accepts_html(headers: &HeaderMap) -> bool {
    headers.get_all(header::ACCEPT).iter().any(|accepted| is_html(Some(accepted)))
}

fn is_html(types: Option<&HeaderValue>) -> bool {
    types.and_then(|types| types.to_str().ok()).is_some_and(|types| types.contains("text/html"))
}

fn not_found() -> Response {
    StatusCode::NOT_FOUND.into_response()
}
