//! Serves the dashboard, the built files of `dashboard/`. The dashboard has no rights of its own: it calls the API like
//! any other client.

pub mod files;

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::response::{Html, IntoResponse, Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};

use self::files::File;
pub use self::files::{DashboardFiles, DashboardInvalid};
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

/// Serves paths that are not part of the API: a file of the dashboard, or, for a browser that opens an address, the page
/// of the dashboard, which routes by itself.
pub async fn serve(State(app): State<Arc<AppState>>, request: Request) -> Response {
    let path = request.uri().path();
    let is_reading = matches!(*request.method(), Method::GET | Method::HEAD);
    if !is_reading || path == "/api" || path.starts_with("/api/") || OpenAiFailure::is_used_at(path) {
        return not_found();
    }
    let headers = request.headers();
    let is_page = path == "/" || (accepts_html(headers) && !path.starts_with(HASHED));
    let index = || app.dashboard.index().filter(|_| is_page);
    match app.dashboard.get(path.trim_start_matches('/')).or_else(index) {
        Some(file) => answer(file, path, headers),
        None if is_page => with_headers(Html(NOT_BUILT).into_response(), path),
        None => not_found(),
    }
}

/// A file, compressed if the client accepts it; 304 if the client has it.
fn answer(file: &File, path: &str, request: &HeaderMap) -> Response {
    let compressed = [("br", &file.brotli), ("gzip", &file.gzip)].into_iter().find_map(|(coding, bytes)| {
        let bytes = bytes.as_ref()?;
        accepts_coding(request, coding).then_some((coding, bytes))
    });
    let (etag, bytes) = match compressed {
        Some((coding, bytes)) => (format!("\"{}-{coding}\"", file.hash), bytes),
        None => (format!("\"{}\"", file.hash), &file.plain),
    };
    let mut answer = if has(request, &etag) {
        StatusCode::NOT_MODIFIED.into_response()
    } else {
        ([(header::CONTENT_TYPE, file.content_type)], Body::from(Bytes::clone(bytes))).into_response()
    };
    let headers = answer.headers_mut();
    if let Some((coding, _)) = compressed {
        headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding));
    }
    if let Ok(etag) = HeaderValue::try_from(etag) {
        headers.insert(header::ETAG, etag);
    }
    headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
    with_headers(answer, path)
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

/// The entries of a header that is a list.
fn entries(headers: &HeaderMap, name: header::HeaderName) -> impl Iterator<Item = &str> {
    headers
        .get_all(name)
        .into_iter()
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(str::trim)
}

/// Returns true if `Accept-Encoding` names the coding, and not with `q=0`.
fn accepts_coding(request: &HeaderMap, coding: &str) -> bool {
    entries(request, header::ACCEPT_ENCODING).any(|entry| {
        let (name, weight) = entry.split_once(';').unwrap_or((entry, ""));
        let weight = weight.trim().trim_start_matches("q=");
        name.trim().eq_ignore_ascii_case(coding) && (weight.is_empty() || weight.contains(|c| matches!(c, '1'..='9')))
    })
}

/// Returns true if `If-None-Match` names the content.
fn has(request: &HeaderMap, etag: &str) -> bool {
    entries(request, header::IF_NONE_MATCH).any(|entry| entry == "*" || entry.trim_start_matches("W/") == etag)
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
