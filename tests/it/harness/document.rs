//! Checks every answer that a test receives against the OpenAPI document.

use std::sync::LazyLock;

use http::{HeaderMap, Method, StatusCode};
use serde_json::Value;

static DOCUMENT: LazyLock<Value> =
    LazyLock::new(|| serde_json::from_str(&keymeter::app::openapi_json()).expect("the document is JSON"));

/// The failures that `http.errors_as_200` answers as 200.
const AS_200: [&str; 3] = ["400", "404", "409"];

/// Asserts that the document declares this status, this error code and this content type for the operation that was
/// called. Paths that are no operation may answer only that they do not exist, or that the request came too late.
pub fn assert_declared(method: &Method, path: &str, status: StatusCode, headers: &HeaderMap) {
    let path = path.split('?').next().unwrap_or(path);
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok());
    // The answer to a preflight is for browsers, whatever the operation.
    if *method == Method::OPTIONS && header("access-control-allow-methods").is_some() {
        return;
    }
    let error = header("x-error-code");
    let Some(operation) = operation(method, path) else {
        if path.starts_with("/api/") {
            let known = ["not_found", "method_not_allowed", "too_many_connections", "timeout"];
            assert!(error.is_some_and(|code| known.contains(&code)), "{method} {path}: {status} {error:?}");
        }
        return;
    };
    let declared = |status: &str| operation["responses"].get(status);
    let response = declared(status.as_str()).unwrap_or_else(|| panic!("{method} {path}: undeclared status {status}"));
    if let Some(code) = error {
        let statuses = if status == 200 { AS_200.to_vec() } else { vec![status.as_str()] };
        let of = |status: &str| declared(status).map(codes).unwrap_or_default();
        let known = statuses.into_iter().any(|status| of(status).contains(&code));
        assert!(known, "{method} {path}: undeclared code {code} with {status}");
    }
    let content_type = header("content-type").and_then(|text| text.split(';').next()).unwrap_or_default();
    let content = response["content"].as_object();
    if *method != Method::HEAD && status != StatusCode::NOT_MODIFIED {
        let known = content.is_some_and(|types| types.contains_key(content_type));
        assert!(known, "{method} {path}: undeclared content type {content_type:?} with {status}");
    }
    if status == 200 && error.is_some() {
        return;
    }
    for name in response["headers"].as_object().into_iter().flat_map(|headers| headers.keys()) {
        // A limit that can never admit a charge has no time after which to retry.
        let is_of_limit = status == 429 && path.starts_with("/api/gateway");
        let is_optional = matches!(name.as_str(), "Preference-Applied" | "Idempotency-Replayed")
            || (name == "Retry-After" && is_of_limit);
        assert!(is_optional || header(name).is_some(), "{method} {path}: {status} lacks the header {name}");
    }
}

/// The codes that a response of the document lists.
fn codes(response: &Value) -> Vec<&str> {
    let parts = response["content"]["application/json"]["schema"]["allOf"].as_array();
    let errors = parts.into_iter().flatten().map(|part| &part["properties"]["error"]);
    // The second shape is that of the OpenAI API.
    let listed = errors.flat_map(|error| [&error["enum"], &error["properties"]["code"]["enum"]]);
    listed.filter_map(Value::as_array).flatten().filter_map(Value::as_str).collect()
}

fn operation(method: &Method, path: &str) -> Option<&'static Value> {
    let (method, path) = match (method.as_str(), path) {
        // Forward-auth answers to every method, and below its path.
        (_, path) if path.starts_with("/api/gateway/auth") => ("get".to_owned(), "/api/gateway/auth"),
        ("HEAD", path) => ("get".to_owned(), path),
        (method, path) => (method.to_lowercase(), path),
    };
    let paths = DOCUMENT["paths"].as_object().expect("paths");
    // A path without parameters comes before one with them.
    let exact = paths.iter().find(|(template, _)| trimmed(template) == trimmed(path));
    let (_, item) = exact.or_else(|| paths.iter().find(|(template, _)| fits(template, path)))?;
    item.get(&method)
}

fn trimmed(path: &str) -> &str {
    path.trim_end_matches('/')
}

fn fits(template: &str, path: &str) -> bool {
    let (template, path) = (trimmed(template).split('/'), trimmed(path).split('/'));
    let mut pairs = template.clone().zip(path.clone());
    template.count() == path.count()
        && pairs.all(|(wanted, segment)| wanted == segment || (wanted.starts_with('{') && !segment.is_empty()))
}
