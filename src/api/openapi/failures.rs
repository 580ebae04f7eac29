//! Which error codes each operation can answer, grouped by status.
//!
//! Most follow from what the document already says: the permission that an operation needs, its parameters and its
//! body. The error of its handler has the rest (`Fails`). The tests check every answer they receive against the result.

use std::collections::BTreeSet;

use http::{Method, StatusCode};
use utoipa::openapi::header::Header;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn};
use utoipa::openapi::schema::{AllOfBuilder, ObjectBuilder, Type};
use utoipa::openapi::{ContentBuilder, Object, Ref, RefOr, Response, ResponseBuilder};

use crate::api::envelope::OpenAiFailure;
use crate::api::errors::code::ErrorCode::{
    self, BodyTooLarge, CrossSiteRequest, DatabaseReadOnly, DatabaseUnavailable, Internal, InvalidBody,
    InvalidCredential, InvalidField, InvalidGateway, InvalidId, InvalidJson, InvalidPage, InvalidQuery,
    NotAnAdministrator, NotDurable, NotSignedIn, ProgramTooOld, RateLimited, ServerBusy, Timeout, TokenApiNotEnabled,
    TooManyConnections, UnsupportedEncoding, UserDisabled, UserMismatch,
};
use crate::api::errors::fails::CodesByStatus;
use crate::api::permission::Permission;

/// The last two while a server starts, and when a newer program needs the database for itself.
const EVERYWHERE: [ErrorCode; 5] = [Internal, TooManyConnections, Timeout, DatabaseUnavailable, ProgramTooOld];
const DATABASE: [ErrorCode; 3] = [DatabaseReadOnly, NotDurable, ServerBusy];
const BODY: [ErrorCode; 5] = [InvalidJson, InvalidField, InvalidBody, BodyTooLarge, UnsupportedEncoding];
const SIGNED_IN: [ErrorCode; 5] = [NotSignedIn, InvalidCredential, UserMismatch, UserDisabled, RateLimited];

/// Adds to an operation the failures that it can answer: those of its error (`own`; `None` if it has none), and those
/// that follow from its permission, parameters and body.
pub fn declare(
    method: &Method,
    path: &str,
    operation: &mut Operation,
    permission: Option<Permission>,
    own: Option<&CodesByStatus>,
) {
    describe_success(operation);
    let takes_key = |parameter: &Parameter| parameter.name == "Idempotency-Key";
    if operation.parameters.iter().flatten().filter_map(as_value).any(takes_key)
        && let Some(RefOr::T(success)) = operation.responses.responses.get_mut("200")
    {
        let text = "`true` if the request was carried out before, and this is its answer again.";
        success.headers.insert("Idempotency-Replayed".to_owned(), header(text, Type::String).into());
    }
    for (status, codes) in codes_of(method, operation, permission, own) {
        let response = RefOr::T(response(path, status, &codes));
        operation.responses.responses.insert(status.as_str().to_owned(), response);
    }
}

fn codes_of(
    method: &Method,
    operation: &Operation,
    permission: Option<Permission>,
    own: Option<&CodesByStatus>,
) -> CodesByStatus {
    let mut found = own.cloned().unwrap_or_default();
    let mut add = |codes: &[ErrorCode]| {
        for code in codes {
            found.entry(code.status()).or_default().insert(*code);
        }
    };
    add(&EVERYWHERE);
    // The others answer what the server knows.
    if own.is_some() || permission.is_some() {
        add(&DATABASE);
    }
    let parameters: Vec<&Parameter> = operation.parameters.iter().flatten().filter_map(as_value).collect();
    let has = |place: &ParameterIn| parameters.iter().any(|parameter| parameter.parameter_in == *place);
    if has(&ParameterIn::Path) {
        add(&[InvalidId]);
    }
    if has(&ParameterIn::Query) {
        add(&[InvalidQuery]);
    }
    if parameters.iter().any(|parameter| parameter.name == "page_size") {
        add(&[InvalidPage]);
    }
    if operation.request_body.is_some() {
        add(&BODY);
    }
    if permission.is_some_and(Permission::is_of_account) {
        add(&SIGNED_IN);
        if !method.is_safe() {
            add(&[CrossSiteRequest]);
        }
    }
    match permission {
        None | Some(Permission::KeyHolder | Permission::SignedIn) => {}
        Some(Permission::ApiUser) => add(&[TokenApiNotEnabled]),
        Some(Permission::Admin) => add(&[NotAnAdministrator]),
        Some(Permission::Gateway) => add(&[InvalidGateway, RateLimited]),
    }
    found
}

fn as_value(parameter: &RefOr<Parameter>) -> Option<&Parameter> {
    match parameter {
        RefOr::T(parameter) => Some(parameter),
        RefOr::Ref(_) => None,
    }
}

/// The failure schema of `path`, narrowed to these codes.
fn response(path: &str, status: StatusCode, codes: &BTreeSet<ErrorCode>) -> Response {
    let names: Vec<&str> = codes.iter().map(|code| code.as_str()).collect();
    let code = ObjectBuilder::new().schema_type(Type::String).enum_values(Some(names.clone()));
    let (name, error) = if OpenAiFailure::is_used_at(path) {
        ("OpenAiFailure", ObjectBuilder::new().property("code", code))
    } else {
        ("Failure", code)
    };
    let narrowed = ObjectBuilder::new().property("error", error);
    let schema = AllOfBuilder::new().item(Ref::from_schema_name(name)).item(narrowed);
    let description = format!("`{}`", names.join("`, `"));
    let content = ContentBuilder::new().schema(Some(schema)).build();
    let response = ResponseBuilder::new().description(description).content("application/json", content);
    match status {
        StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
            let text = "Seconds after which to retry. Absent if the request does not fit into the whole limit.";
            let text = if path.starts_with("/api/gateway") { text } else { "Seconds after which to retry." };
            response.header("Retry-After", header(text, Type::Integer))
        }
        StatusCode::PRECONDITION_FAILED => {
            response.header("ETag", header("The present version of the token.", Type::String))
        }
        StatusCode::UNAUTHORIZED => response.header("WWW-Authenticate", header("Always `Bearer`.", Type::String)),
        _ => response,
    }
    .build()
}

fn header(description: &str, kind: Type) -> Header {
    let mut header = Header::new(Object::with_type(kind));
    header.description = Some(description.to_owned());
    header
}

/// Adds the description that OpenAPI requires of each response. What it contains is said by the operation and by its
/// schema.
fn describe_success(operation: &mut Operation) {
    for response in operation.responses.responses.values_mut() {
        if let RefOr::T(response) = response
            && response.description.is_empty()
        {
            "Success".clone_into(&mut response.description);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_declared_by_an_operation_or_is_of_the_framework() {
        let text = super::super::openapi().to_json().unwrap();
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let declared = document["paths"].to_string();
        for code in
            ErrorCode::ALL.iter().filter(|code| !matches!(code, ErrorCode::BadRequest | ErrorCode::MethodNotAllowed))
        {
            assert!(declared.contains(&format!("\"{}\"", code.as_str())), "{code:?}");
        }
    }
}
