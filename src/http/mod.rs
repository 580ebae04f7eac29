//! HTTP: every route on one page, then the layers in the order they run. Knows no SQL and no
//! configuration file.

#![expect(clippy::missing_errors_doc, reason = "handlers' docs are the OpenAPI document; `error` says what fails how")]

pub mod accounts;
pub mod admin;
pub mod auth;
pub mod dashboard;
pub mod envelope;
pub mod error;
pub mod extract;
pub mod gateway;
pub mod health;
pub mod layers;
pub mod overview;
pub mod page;
pub mod tokens;
pub mod usage;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use axum::routing::{MethodFilter, any, get, on};
use axum::{Router, middleware};
use ipnet::IpNet;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::normalize_path::NormalizePathLayer;
use tower_sessions::cookie::SameSite;
use tower_sessions::{Expiry, SessionManagerLayer};
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ComponentsBuilder, InfoBuilder, OpenApi, OpenApiBuilder};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use crate::domain::time::Clock;
use crate::service::accounts::Accounts;
use crate::service::admin::Admin;
use crate::service::callers::Callers;
use crate::service::dice::Dice;
use crate::service::gateway::Gateway;
use crate::service::overview::Overviews;
use crate::service::tokens::Tokens;
use crate::service::usage::Usage;
use crate::storage::Db;
use crate::storage::sessions::SessionTable;
use crate::telemetry::{Metrics, MetricsAccess};

/// Everything handlers reach.
#[expect(missing_docs, reason = "the services say what they are; the rest are settings, documented there")]
pub struct Site {
    pub tokens: Tokens,
    pub usage: Usage,
    pub overviews: Overviews,
    pub accounts: Accounts,
    pub admin: Admin,
    pub gateway: Arc<Gateway>,
    pub callers: Arc<Callers>,
    pub clock: Arc<dyn Clock>,
    pub dice: Dice,
    pub metrics: Metrics,
    /// Asked only whether it is ready.
    pub db: Db,
    /// Set when the server begins to stop.
    pub draining: AtomicBool,
    /// The OpenAPI document, as JSON.
    pub openapi: Arc<str>,
    pub metrics_access: MetricsAccess,
    pub trusted_proxies: Vec<IpNet>,
    pub request_timeout: Duration,
    /// Seconds by which this server's clock may differ from the database's.
    pub max_clock_skew: i64,
    pub errors_as_200: bool,
    pub masked_list_key: bool,
    pub models: Vec<String>,
    /// Where the built dashboard lies.
    pub dashboard: Option<PathBuf>,
    pub time_zone: String,
    /// `http.public_url`: the address that people type; may be empty.
    pub public_url: String,
}

/// GET, and HEAD with it, is in the document.
const ANY_BUT_GET: MethodFilter =
    MethodFilter::POST.or(MethodFilter::PUT).or(MethodFilter::PATCH).or(MethodFilter::DELETE).or(MethodFilter::OPTIONS);

/// Every route, by the right it needs. A handler's extractor enforces the right; a test walks this
/// table with every kind of caller and compares.
fn routes() -> OpenApiRouter<Arc<Site>> {
    let anyone = OpenApiRouter::new()
        .routes(routes!(health::status))
        .routes(routes!(health::openapi))
        .routes(routes!(health::live))
        .routes(routes!(health::ready))
        .routes(routes!(health::metrics))
        .routes(routes!(accounts::login))
        .routes(routes!(accounts::register))
        .routes(routes!(accounts::logout, accounts::logout_by_post));

    let key_holder = OpenApiRouter::new().routes(routes!(usage::by_key)).routes(routes!(usage::daily_by_key));

    let signed_in = OpenApiRouter::new()
        .routes(routes!(accounts::show, accounts::edit))
        .routes(routes!(overview::show))
        .routes(routes!(accounts::mint))
        .routes(routes!(accounts::list_access_tokens, accounts::create_access_token))
        .routes(routes!(accounts::revoke_access_token))
        .routes(routes!(accounts::token_api_request, accounts::request_token_api))
        .routes(routes!(accounts::groups))
        .routes(routes!(accounts::models))
        .routes(routes!(accounts::own_models));

    let api_user = OpenApiRouter::new()
        .routes(routes!(tokens::list, tokens::create, tokens::update))
        .routes(routes!(tokens::search))
        .routes(routes!(tokens::delete_batch))
        .routes(routes!(tokens::keys))
        .routes(routes!(tokens::show, tokens::delete))
        .routes(routes!(tokens::key))
        .routes(routes!(usage::daily));

    let admin = OpenApiRouter::new()
        .routes(routes!(admin::list_users, admin::create_user))
        .routes(routes!(admin::edit_user, admin::delete_user))
        .routes(routes!(admin::grant))
        .routes(routes!(admin::list_requests))
        .routes(routes!(admin::decide))
        .routes(routes!(admin::list_tokens))
        .routes(routes!(admin::switch_token))
        .routes(routes!(admin::list_gateways, admin::create_gateway))
        .routes(routes!(admin::revoke_gateway))
        .routes(routes!(admin::create_credential))
        .routes(routes!(admin::revoke_credential))
        .routes(routes!(admin::list_audit));

    let gateway = OpenApiRouter::new()
        .routes(routes!(gateway::verify))
        .routes(routes!(gateway::charge))
        .routes(routes!(gateway::charges))
        .routes(routes!(gateway::reserve))
        .routes(routes!(gateway::settle))
        .routes(routes!(gateway::release))
        .routes(routes!(gateway::auth))
        // Envoy asks with the client's own method, at the client's own path behind this one.
        .route("/api/gateway/auth", on(ANY_BUT_GET, gateway::auth))
        .route("/api/gateway/auth/{*path}", any(gateway::auth));

    anyone
        .merge(needing(gateway, "gateway", &["gateway"]))
        .merge(needing(key_holder, "key_holder", &["api_key"]))
        .merge(needing(signed_in, "signed_in", &["access_token", "session"]))
        .merge(needing(api_user, "api_user", &["access_token", "session"]))
        .merge(needing(admin, "admin", &["access_token", "session"]))
}

/// The whole service. Layers run from the last one here to the first.
pub fn router(site: Arc<Site>, sessions: SessionTable, secure_cookies: bool) -> Router {
    let sessions = SessionManagerLayer::new(sessions)
        .with_name("session")
        .with_http_only(true)
        .with_same_site(SameSite::Lax)
        .with_secure(secure_cookies)
        .with_expiry(Expiry::OnInactivity(auth::session_lifetime()));
    let (routes, _) = routes().split_for_parts();
    let routes = routes
        .fallback(dashboard::serve)
        .layer(middleware::from_fn(layers::finish))
        .layer(sessions)
        .with_state(Arc::clone(&site));
    layered(routes, site)
}

/// What answers on a connection beyond `server.max_connections`: whether the server lives and is ready, and 503 to
/// everything else.
pub fn router_when_full(site: Arc<Site>) -> Router {
    let routes = Router::new()
        .route("/healthz", get(health::live))
        .route("/readyz", get(health::ready))
        .fallback(async || error::Refusal::too_many_connections())
        .layer(middleware::from_fn(layers::finish))
        .with_state(Arc::clone(&site));
    layered(routes, site)
}

/// The layers that every request passes, whatever answers it.
fn layered(routes: Router, site: Arc<Site>) -> Router {
    // Both slash forms of every path are the same path, before any route is chosen.
    let both_slash_forms = tower::Layer::layer(&NormalizePathLayer::trim_trailing_slash(), routes);
    Router::new()
        .fallback_service(both_slash_forms)
        .layer(middleware::from_fn_with_state(Arc::clone(&site), layers::limit_time))
        .layer(CatchPanicLayer::custom(layers::panicked))
        .layer(middleware::from_fn_with_state(Arc::clone(&site), layers::speak))
        .layer(middleware::from_fn_with_state(site, layers::observe))
}

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

/// Declares the right that every route of `routes` needs, as the scope of its credentials.
fn needing(mut routes: OpenApiRouter<Arc<Site>>, right: &str, credentials: &[&str]) -> OpenApiRouter<Arc<Site>> {
    for item in routes.get_openapi_mut().paths.paths.values_mut() {
        let operations = [&mut item.get, &mut item.put, &mut item.post, &mut item.delete, &mut item.patch];
        for operation in operations.into_iter().flatten() {
            let needs = credentials.iter().map(|credential| SecurityRequirement::new(*credential, [right]));
            operation.security = Some(needs.collect());
        }
    }
    routes
}
