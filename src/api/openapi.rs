//! The OpenAPI document, made from the routes.

use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityScheme};
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, OpenApi, OpenApiBuilder};

use super::router::routes;

/// The OpenAPI document of everything. Its two collections are spelled as the spec spells them.
#[must_use]
pub fn openapi() -> OpenApi {
    let (_, mut document) = routes().split_for_parts();
    document.info = InfoBuilder::new()
        .title("Keymeter")
        .version(env!("CARGO_PKG_VERSION"))
        .description(Some("API keys with quotas. Both slash forms of every path answer."))
        .build();
    let bearer = SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer));
    let header = SecurityScheme::ApiKey(ApiKey::Header(ApiKeyValue::new("Authorization")));
    let cookie = SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new("session")));
    let components = document.components.take().unwrap_or_default();
    let components = ComponentsBuilder::from(components)
        .security_scheme("api_key", bearer)
        .security_scheme("gateway", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)))
        .security_scheme("access_token", header)
        .security_scheme("session", cookie)
        .build();
    for collection in ["/api/token", "/api/usage/token"] {
        if let Some(item) = document.paths.paths.remove(collection) {
            document.paths.paths.insert(format!("{collection}/"), item);
        }
    }
    OpenApiBuilder::from(document).components(Some(components)).build()
}
