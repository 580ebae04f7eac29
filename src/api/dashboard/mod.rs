//! Serves the dashboard, the built files of `dashboard/`. The dashboard has no rights of its own: it calls the API like
//! any other client.

pub mod files;
pub mod logo;

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::response::{Html, IntoResponse, Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};

pub use self::files::{DashboardFiles, DashboardInvalid};
pub use self::logo::{LOGO_PATH, Logo, LogoInvalid};
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
    <h1>Keymeter is running</h1><p>The dashboard is not built. With Node.js 20 or newer, run <code>make run</code>, or \
    <code>make dashboard</code> and build this program again; or set <code>KEYMETER_DASHBOARD__DIR</code> to where it is.</p>\
    <p>The API works without it: <a href=\"/api/openapi.json\">its description</a>.</p></html>";

/// Serves paths that are not part of the API: the logo, a file of the dashboard, or, for a browser that opens an
/// address, the page of the dashboard, which routes by itself.
pub async fn serve(State(app): State<Arc<AppState>>, request: Request) -> Response {
    let path = request.uri().path();
    let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
    if !is_reading || path == "/api" || path.starts_with("/api/") || OpenAiFailure::is_used_at(path) {
        return not_found();
    }
    let headers = request.headers();
    if path == LOGO_PATH {
        return app.logo.as_ref().map_or_else(not_found, |logo| with_headers(logo.answer(headers), path));
    }
    let is_page = path == "/" || (accepts_html(headers) && !path.starts_with(HASHED));
    let index = || app.dashboard.index().filter(|_| is_page);
    match app.dashboard.get(path.trim_start_matches('/')).or_else(index) {
        Some(file) => with_headers(file.answer(headers), path),
        None if is_page => with_headers(Html(NOT_BUILT).into_response(), path),
        None => not_found(),
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
