//! The OpenAPI document, generated from the routes.

pub(super) mod endpoint;
mod failures;
mod limits;

use std::sync::LazyLock;

use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, OpenApi, OpenApiBuilder};

use super::envelope::{Failure, FaultBody, OpenAiError, OpenAiFailure};
use super::file::File;
use super::permission::Permission;
use super::router::routes;
use crate::api::errors::code::ErrorCode;

const DESCRIPTION: &str = "API keys with quotas. Every path works with and without a slash at its end. Every answer has \
    the header `X-Request-Id`. A failure is a `Failure`, below `/v1` and `/dashboard/billing` an `OpenAiFailure`; each \
    operation lists its error codes by status, and docs/errors.md explains them. With the setting `http.errors_as_200`, \
    failures of 400, 404 and 409 have status 200, except below `/api/gateway`, `/v1` and `/dashboard/billing`.";

/// The OpenAPI document of the whole API. The paths of its two collections end in `/`, as in the specification.
pub fn openapi() -> OpenApi {
    let (_, mut document) = routes().split_for_parts();
    document.info =
        InfoBuilder::new().title("Keymeter").version(env!("CARGO_PKG_VERSION")).description(Some(DESCRIPTION)).build();
    document.extensions = Some(limits::extension());
    let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    let header = SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new("Authorization")));
    let in_front = SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new("X-Gateway-Credential")));
    let cookie = SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new("session")));
    let components = document.components.take().unwrap_or_default();
    let mut components = ComponentsBuilder::from(components)
        .schema_from::<Failure<'_>>()
        .schema_from::<FaultBody<'_>>()
        .schema_from::<OpenAiFailure<'_>>()
        .schema_from::<OpenAiError<'_>>()
        .schema_from::<ErrorCode>()
        .schema_from::<Permission>()
        .security_scheme("api_key", bearer)
        .security_scheme("gateway", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)))
        .security_scheme("gateway_in_front", in_front)
        .security_scheme("access_token", header)
        .security_scheme("session", cookie)
        .build();
    limits::add_to(&mut components);
    for collection in ["/api/token", "/api/usage/token"] {
        if let Some(item) = document.paths.paths.remove(collection) {
            document.paths.paths.insert(format!("{collection}/"), item);
        }
    }
    OpenApiBuilder::from(document).components(Some(components)).build()
}

/// The document, as it is served.
pub(super) static FILE: LazyLock<File> =
    LazyLock::new(|| File::compressed("application/json", openapi_json().into_bytes()));

/// The document as JSON.
#[expect(clippy::expect_used, clippy::missing_panics_doc, reason = "a document of our own making is serialisable")]
pub fn openapi_json() -> String {
    openapi().to_pretty_json().expect("serialisable")
}
