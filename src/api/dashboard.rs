//! The dashboard: the built files of `dashboard/`, for browsers. It has no right of its own; what it
//! shows, it asks of the API like everyone else.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::{Html, IntoResponse, Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use tower::ServiceExt;
use tower_http::services::{ServeDir, ServeFile};

use super::state::AppState;

/// Nothing inline but styles (the component library sets some), and nothing from other hosts.
const CONTENT_SECURITY_POLICY: HeaderValue = HeaderValue::from_static(
    "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; font-src 'self'; \
     connect-src 'self'; object-src 'none'; base-uri 'none'; frame-ancestors 'none'; form-action 'self'",
);

/// Files under this path carry a hash of what is in them in their names.
const HASHED: &str = "/assets/";

const NOT_BUILT: &str = "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><title>Keymeter</title>\
    <h1>Keymeter is running</h1><p>The dashboard is not built. With Node.js 20 or newer, run <code>make dashboard</code> \
    and restart, or set <code>KEYMETER_DASHBOARD__DIR</code> to where it is.</p>\
    <p>The API works without it: <a href=\"/api/openapi.json\">its description</a>.</p></html>";

/// Whatever no route of the API takes: a file of the dashboard, or, where a person opens an address
/// in a browser, the page that finds out itself what is there.
pub async fn serve(State(app): State<Arc<AppState>>, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
    if !is_reading || path == "/api" || path.starts_with("/api/") {
        return not_found();
    }
    let is_page = path == "/" || (accepts_html(request.headers()) && !path.starts_with(HASHED));
    let Some(directory) = &app.dashboard else {
        return if is_page { with_manners(Html(NOT_BUILT).into_response(), &path) } else { not_found() };
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
        Ok(file) => with_manners(file.into_response(), &path),
        Err(never) => match never {},
    }
}

/// How long it may be kept; and for a page, what it may load.
fn with_manners(mut answer: Response, path: &str) -> Response {
    let keep = if path.starts_with(HASHED) { "public, max-age=31536000, immutable" } else { "no-cache" };
    let headers = answer.headers_mut();
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(keep));
    if is_html(headers.get(header::CONTENT_TYPE)) {
        headers.insert(header::CONTENT_SECURITY_POLICY, CONTENT_SECURITY_POLICY);
    }
    answer
}

/// A person opened it, rather than a program that takes anything.
fn accepts_html(headers: &HeaderMap) -> bool {
    headers.get_all(header::ACCEPT).iter().any(|accepted| is_html(Some(accepted)))
}

fn is_html(types: Option<&HeaderValue>) -> bool {
    types.and_then(|types| types.to_str().ok()).is_some_and(|types| types.contains("text/html"))
}

fn not_found() -> Response {
    StatusCode::NOT_FOUND.into_response()
}
