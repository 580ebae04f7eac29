//! Which error codes each operation can answer, grouped by status.
//!
//! Most follow from what the document already says: the permission that an operation needs, its parameters and its body.
//! [`OWN`] lists the rest. The tests check every answer they receive against the result.

#![allow(clippy::enum_glob_use, reason = "a table that names nearly every code")]

use std::collections::{BTreeMap, BTreeSet};

use http::{Method, StatusCode};
use utoipa::openapi::header::Header;
use utoipa::openapi::path::{Operation, Parameter, ParameterIn};
use utoipa::openapi::schema::{AllOfBuilder, ObjectBuilder, Type};
use utoipa::openapi::{ContentBuilder, Object, Paths, Ref, RefOr, Response, ResponseBuilder};

use crate::api::envelope::OpenAiFailure;
use crate::api::error_code::ErrorCode::{self, *};
use crate::api::permission::Permission;

/// The codes of one operation: a method, its path, and the codes beyond those that follow from the document.
type Own = (&'static str, &'static str, &'static [ErrorCode]);

/// Operations that answer without the database.
const STATIC: [&str; 3] = ["/api/status", "/api/openapi.json", "/healthz"];

const EVERYWHERE: [ErrorCode; 3] = [Internal, TooManyConnections, Timeout];
const DATABASE: [ErrorCode; 2] = [DatabaseUnavailable, ServerBusy];
const BODY: [ErrorCode; 4] = [InvalidJson, InvalidField, InvalidBody, BodyTooLarge];
const SIGNED_IN: [ErrorCode; 4] = [NotSignedIn, InvalidCredential, UserMismatch, UserDisabled];
const TOKEN_FIELDS: [ErrorCode; 8] = [
    InvalidName,
    InvalidNote,
    InvalidExpiry,
    InvalidQuota,
    InvalidPeriodLimit,
    InvalidRateLimit,
    InvalidModels,
    InvalidIps,
];
const ENABLE: [ErrorCode; 4] = [SwitchedOffByAdministrator, SwitchedOffByRoot, TokenExpired, TokenExhausted];
const KEY_HOLDER: [ErrorCode; 3] = [InvalidKey, UserDisabled, RateLimited];
/// The refusals of a key, in the order in which they are looked for.
const KEY: [ErrorCode; 13] = [
    InvalidKey,
    TokenDisabled,
    TokenExpired,
    UserDisabled,
    GroupNotAllowed,
    ModelNotAllowed,
    IpNotAllowed,
    TokenExhausted,
    TokenQuotaInsufficient,
    UserQuotaInsufficient,
    TokenPeriodExceeded,
    UserPeriodExceeded,
    RateLimited,
];

/// Codes that do not follow from permission, parameters and body.
const OWN: &[Own] = &[
    ("GET", "/readyz", &[Stopping, NotMigrated, DatabaseReadOnly]),
    ("GET", "/metrics", &[NotSignedIn, InvalidCredential, UserMismatch, UserDisabled, NotAnAdministrator, NotFound]),
    ("POST", "/api/user/login", &[CrossSiteRequest, WrongCredentials, UserDisabled, RateLimited, SignInBusy]),
    ("GET", "/api/user/logout", &[CrossSiteRequest]),
    ("POST", "/api/user/logout", &[CrossSiteRequest]),
    (
        "POST",
        "/api/user/register",
        &[
            InvalidUsername,
            InvalidPassword,
            InvalidEmail,
            MissingField,
            CrossSiteRequest,
            RegistrationClosed,
            UsernameTaken,
            UsernameConfusable,
            RateLimited,
            SignInBusy,
        ],
    ),
    ("GET", "/api/usage/token", &KEY_HOLDER),
    ("GET", "/v1/dashboard/billing/subscription", &KEY_HOLDER),
    ("GET", "/v1/dashboard/billing/usage", &KEY_HOLDER),
    ("GET", "/v1/dashboard/billing/credit_grants", &KEY_HOLDER),
    ("GET", "/dashboard/billing/subscription", &KEY_HOLDER),
    ("GET", "/dashboard/billing/usage", &KEY_HOLDER),
    ("GET", "/dashboard/billing/credit_grants", &KEY_HOLDER),
    ("GET", "/v1/models", &KEY_HOLDER),
    ("GET", "/api/log/token", &KEY_HOLDER),
    ("GET", "/api/log/self", &[RateLimited, ReportsBusy]),
    ("GET", "/api/log/self/stat", &[RateLimited, ReportsBusy]),
    ("GET", "/api/usage/token/daily", &[InvalidKey, UserDisabled, RateLimited, InvalidRange, NotFound]),
    (
        "PUT",
        "/api/user/self",
        &[
            InvalidText,
            InvalidEmail,
            InvalidPassword,
            InvalidPeriodLimit,
            WrongPassword,
            MissingField,
            RateLimited,
            SignInBusy,
            NotFound,
        ],
    ),
    ("GET", "/api/user/self", &[NotFound]),
    ("GET", "/api/user/token", &[CrossSiteRequest, AccessTokenLimitReached, NotFound]),
    ("POST", "/api/user/access_tokens", &[InvalidText, MissingField, InvalidExpiry, AccessTokenLimitReached, NotFound]),
    ("DELETE", "/api/user/access_tokens/{id}", &[NotFound]),
    ("DELETE", "/api/user/sessions/{id}", &[NotFound]),
    ("GET", "/api/user/activity", &[InvalidRange]),
    ("GET", "/api/usage", &[InvalidRange, InvalidFilter, RangeTooLarge, ReportsBusy, NotFound]),
    ("GET", "/api/admin/usage", &[InvalidRange, InvalidFilter, RangeTooLarge, ReportsBusy, NotFound]),
    ("GET", "/api/usage/refused_requests", &[InvalidRange, RangeTooLarge, ReportsBusy, NotFound]),
    ("GET", "/api/admin/usage/refused_requests", &[InvalidRange, RangeTooLarge, ReportsBusy, NotFound]),
    ("GET", "/api/admin/audit", &[InvalidRange, InvalidFilter, RangeTooLarge, ReportsBusy]),
    (
        "POST",
        "/api/user/token_api_request",
        &[InvalidText, MissingField, ForeignAccount, TokenApiEnabled, TokenApiRequested, NotFound],
    ),
    ("GET", "/api/token", &[InvalidFilter]),
    ("GET", "/api/token/search", &[InvalidSearch, InvalidFilter, RateLimited]),
    ("POST", "/api/token/search", &[InvalidSearch, InvalidFilter, InvalidPage, RateLimited]),
    ("POST", "/api/token", &[InvalidGroup, TokenLimitReached]),
    ("PUT", "/api/token", &[MissingField, InvalidGroup, InvalidStatus, InsufficientQuota, NotFound]),
    ("POST", "/api/token/batch", &[MissingField, InvalidIds]),
    ("POST", "/api/token/batch/keys", &[MissingField, InvalidIds]),
    ("GET", "/api/token/{id}", &[NotFound]),
    ("GET", "/api/token/{id}/details", &[NotFound]),
    ("DELETE", "/api/token/{id}", &[NotFound]),
    ("POST", "/api/token/{id}/key", &[NotFound]),
    ("GET", "/api/token/{id}/usage", &[InvalidRange, NotFound]),
    ("GET", "/api/admin/users", &[InvalidSearch, InvalidFilter]),
    ("GET", "/api/admin/users/{id}", &[NotFound]),
    (
        "POST",
        "/api/admin/users",
        &[
            InvalidUsername,
            InvalidPassword,
            InvalidText,
            InvalidEmail,
            InvalidRole,
            InvalidGroup,
            InvalidQuota,
            InvalidMaxTokens,
            InvalidPeriodLimit,
            MissingField,
            RoleTooLow,
            UsernameTaken,
            UsernameConfusable,
            SignInBusy,
        ],
    ),
    (
        "PATCH",
        "/api/admin/users/{id}",
        &[
            InvalidText,
            InvalidEmail,
            InvalidStatus,
            InvalidRole,
            InvalidGroup,
            InvalidMaxTokens,
            InvalidPeriodLimit,
            InvalidPassword,
            RoleTooLow,
            OwnAccount,
            AccountDisabledByRoot,
            SignInBusy,
            NotFound,
        ],
    ),
    ("DELETE", "/api/admin/users/{id}", &[RoleTooLow, OwnAccount, NotFound]),
    ("POST", "/api/admin/users/{id}/quota", &[InvalidQuota, InvalidText, RoleTooLow, NotFound]),
    ("GET", "/api/admin/token_api_requests", &[InvalidState]),
    (
        "POST",
        "/api/admin/token_api_requests/{id}",
        &[InvalidDecision, InvalidText, AlreadyDecided, RoleTooLow, NotFound],
    ),
    ("GET", "/api/admin/tokens", &[InvalidSearch, InvalidFilter]),
    ("POST", "/api/admin/tokens/search", &[InvalidSearch, InvalidFilter, InvalidPage, RateLimited]),
    ("GET", "/api/admin/tokens/{id}", &[NotFound]),
    ("POST", "/api/admin/tokens/{id}/status", &[InvalidStatus, RoleTooLow, NotFound]),
    ("POST", "/api/admin/gateways", &[InvalidText, MissingField]),
    ("DELETE", "/api/admin/gateways/{id}", &[NotFound]),
    ("POST", "/api/admin/gateways/{id}/credentials", &[CredentialLimitReached, NotFound]),
    ("DELETE", "/api/admin/gateways/{id}/credentials/{cid}", &[NotFound]),
    ("POST", "/api/gateway/verify", &[InvalidModel, InvalidIp, InvalidQuota]),
    (
        "POST",
        "/api/gateway/charge",
        &[
            MissingField,
            InvalidModel,
            InvalidIp,
            InvalidQuota,
            InvalidCount,
            InvalidRequestId,
            RequestIdReused,
            LedgerBusy,
        ],
    ),
    ("POST", "/api/gateway/charges", &[InvalidCharges]),
    (
        "POST",
        "/api/gateway/reserve",
        &[MissingField, InvalidModel, InvalidIp, InvalidQuota, InvalidTtl, TooManyConcurrent, LedgerBusy],
    ),
    (
        "POST",
        "/api/gateway/settle",
        &[MissingField, InvalidQuota, InvalidCount, ReservationNotFound, ReservationEnded, LedgerBusy],
    ),
    ("POST", "/api/gateway/release", &[MissingField, ReservationNotFound, ReservationEnded, LedgerBusy]),
];

/// Operations that also answer one of these sets. A code with several statuses has this status here.
const SETS: &[(&str, &str, &[ErrorCode], Option<StatusCode>)] = &[
    ("POST", "/api/token", &TOKEN_FIELDS, None),
    ("PUT", "/api/token", &TOKEN_FIELDS, None),
    ("PUT", "/api/token", &ENABLE, Some(StatusCode::CONFLICT)),
    ("POST", "/api/admin/tokens/{id}/status", &ENABLE, Some(StatusCode::CONFLICT)),
    ("POST", "/api/gateway/charge", &KEY, None),
    ("POST", "/api/gateway/reserve", &KEY, None),
    ("GET", "/api/gateway/auth", &KEY, None),
    ("GET", "/api/log/self", &[ReportsBusy], Some(StatusCode::TOO_MANY_REQUESTS)),
    ("GET", "/api/log/self/stat", &[ReportsBusy], Some(StatusCode::TOO_MANY_REQUESTS)),
    ("GET", "/api/usage", &[ReportsBusy], Some(StatusCode::TOO_MANY_REQUESTS)),
    ("GET", "/api/admin/usage", &[ReportsBusy], Some(StatusCode::TOO_MANY_REQUESTS)),
    ("GET", "/api/usage/refused_requests", &[ReportsBusy], Some(StatusCode::TOO_MANY_REQUESTS)),
    ("GET", "/api/admin/usage/refused_requests", &[ReportsBusy], Some(StatusCode::TOO_MANY_REQUESTS)),
    ("GET", "/api/admin/audit", &[ReportsBusy], Some(StatusCode::TOO_MANY_REQUESTS)),
];

/// Adds to every operation of `paths` the statuses and codes that it can answer. They all need the same
/// `permission`; `None` if anyone may call them.
pub fn declare(paths: &mut Paths, permission: Option<Permission>) {
    for (path, item) in &mut paths.paths {
        let operations = [
            (Method::GET, &mut item.get),
            (Method::POST, &mut item.post),
            (Method::PUT, &mut item.put),
            (Method::PATCH, &mut item.patch),
            (Method::DELETE, &mut item.delete),
        ];
        for (method, operation) in operations {
            let Some(operation) = operation else { continue };
            super::describe_success(operation);
            for (status, codes) in codes_of(&method, path, operation, permission) {
                let response = RefOr::T(response(path, status, &codes));
                operation.responses.responses.insert(status.as_str().to_owned(), response);
            }
        }
    }
}

fn codes_of(
    method: &Method,
    path: &str,
    operation: &Operation,
    permission: Option<Permission>,
) -> BTreeMap<StatusCode, BTreeSet<ErrorCode>> {
    let mut found = BTreeMap::<StatusCode, BTreeSet<ErrorCode>>::new();
    let mut add = |codes: &[ErrorCode], preferred: Option<StatusCode>| {
        for code in codes {
            let status = preferred.filter(|status| code.statuses().contains(status)).unwrap_or(code.status());
            found.entry(status).or_default().insert(*code);
        }
    };
    add(&EVERYWHERE, None);
    if !STATIC.contains(&path) {
        add(&DATABASE, None);
    }
    let parameters: Vec<&Parameter> = operation.parameters.iter().flatten().filter_map(as_value).collect();
    let has = |place: &ParameterIn| parameters.iter().any(|parameter| parameter.parameter_in == *place);
    if has(&ParameterIn::Path) {
        add(&[InvalidId], None);
    }
    if has(&ParameterIn::Query) {
        add(&[InvalidQuery], None);
    }
    if parameters.iter().any(|parameter| parameter.name == "page_size") {
        add(&[InvalidPage], None);
    }
    if operation.request_body.is_some() {
        add(&BODY, None);
    }
    if permission.is_some_and(Permission::is_of_account) {
        add(&SIGNED_IN, None);
        if !method.is_safe() {
            add(&[CrossSiteRequest], None);
        }
    }
    match permission {
        None | Some(Permission::KeyHolder | Permission::SignedIn) => {}
        Some(Permission::ApiUser) => add(&[TokenApiNotEnabled], None),
        Some(Permission::Admin) => add(&[NotAnAdministrator], None),
        Some(Permission::Gateway) => add(&[InvalidGateway], None),
    }
    let is_this = |its_method: &str, its_path: &str| its_method == method.as_str() && its_path == path;
    for (_, _, codes) in OWN.iter().filter(|(method, path, _)| is_this(method, path)) {
        add(codes, None);
    }
    for (_, _, codes, status) in SETS.iter().filter(|(method, path, ..)| is_this(method, path)) {
        add(codes, *status);
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_entry_names_an_operation() {
        let document = super::super::openapi();
        let known = |method: &str, path: &str| {
            let item = document.paths.paths.get(path).or_else(|| document.paths.paths.get(&format!("{path}/")));
            item.is_some_and(|item| match method {
                "GET" => item.get.is_some(),
                "POST" => item.post.is_some(),
                "PUT" => item.put.is_some(),
                "PATCH" => item.patch.is_some(),
                "DELETE" => item.delete.is_some(),
                _ => false,
            })
        };
        let entries = OWN.iter().map(|own| (own.0, own.1)).chain(SETS.iter().map(|set| (set.0, set.1)));
        let unknown: Vec<_> = entries.filter(|(method, path)| !known(method, path)).collect();
        assert!(unknown.is_empty(), "{unknown:?}");
    }

    #[test]
    fn every_code_is_declared_by_an_operation_or_is_of_the_framework() {
        let text = super::super::openapi().to_json().unwrap();
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let declared = document["paths"].to_string();
        for code in ErrorCode::ALL.iter().filter(|code| !matches!(code, BadRequest | MethodNotAllowed)) {
            assert!(declared.contains(&format!("\"{}\"", code.as_str())), "{code:?}");
        }
    }
}
