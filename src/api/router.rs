//! Every route, and the middleware in the order in which it runs.

use std::sync::Arc;

use axum::routing::{MethodFilter, any, get, on};
use axum::{Router, middleware as axum_middleware};
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::normalize_path::NormalizePathLayer;
use tower_sessions::cookie::SameSite;
use tower_sessions::{Expiry, SessionManagerLayer};
use utoipa::openapi::security::SecurityRequirement;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::ledger::{charge, forward_auth, reservations, verify};
use super::openapi::refusals;
use super::permission::Permission;
use super::state::AppState;
use super::{
    access_tokens, activity, api_error, audit, auth, billing, charge_history, dashboard, enablement, gateways, health,
    imports, keys, locked_accounts, middleware, models, overview, refused_requests, sessions, settings, sign_in,
    tokens, usage, usage_reports, users,
};
use crate::storage::sessions::SessionTable;

/// GET, which includes HEAD, is declared by the handler itself.
const ANY_BUT_GET: MethodFilter =
    MethodFilter::POST.or(MethodFilter::PUT).or(MethodFilter::PATCH).or(MethodFilter::DELETE).or(MethodFilter::OPTIONS);

/// The credentials of a person or a script: one of these.
const ACCOUNT: &[&[&str]] = &[&["access_token"], &["session"]];

/// Every route, by the permission it needs. The extractor of the handler enforces it; a test calls every route as every kind
/// of caller and compares.
pub(super) fn routes() -> OpenApiRouter<Arc<AppState>> {
    let anyone = OpenApiRouter::new()
        .routes(routes!(health::status))
        .routes(routes!(health::openapi))
        .routes(routes!(health::live))
        .routes(routes!(health::ready))
        .routes(routes!(health::metrics))
        .routes(routes!(sign_in::sign_in))
        .routes(routes!(sign_in::register))
        .routes(routes!(sign_in::sign_out, sign_in::sign_out_by_post));

    let key_holder = OpenApiRouter::new()
        .routes(routes!(usage::by_key))
        .routes(routes!(usage::daily_by_key))
        .routes(routes!(billing::subscription))
        .routes(routes!(billing::usage))
        .routes(routes!(billing::credit_grants))
        .routes(routes!(billing::without_v1::subscription))
        .routes(routes!(billing::without_v1::usage))
        .routes(routes!(billing::without_v1::credit_grants))
        .routes(routes!(models::list))
        .routes(routes!(charge_history::by_key));

    let signed_in = OpenApiRouter::new()
        .routes(routes!(users::show_own, users::edit_own))
        .routes(routes!(overview::show))
        .routes(routes!(usage_reports::show_own))
        .routes(routes!(refused_requests::list_own))
        .routes(routes!(charge_history::list))
        .routes(routes!(charge_history::spend))
        .routes(routes!(access_tokens::mint))
        .routes(routes!(access_tokens::list, access_tokens::create))
        .routes(routes!(access_tokens::revoke))
        .routes(routes!(sessions::list, sessions::end_others))
        .routes(routes!(sessions::end))
        .routes(routes!(activity::list))
        .routes(routes!(enablement::show, enablement::request))
        .routes(routes!(users::groups))
        .routes(routes!(users::models))
        .routes(routes!(users::own_models))
        .routes(routes!(users::available_models));

    let api_user = OpenApiRouter::new()
        .routes(routes!(tokens::list, tokens::create, tokens::update))
        .routes(routes!(tokens::search, tokens::search_by_post))
        .routes(routes!(tokens::details))
        .routes(routes!(tokens::delete_batch))
        .routes(routes!(keys::list))
        .routes(routes!(tokens::show, tokens::delete))
        .routes(routes!(keys::show))
        .routes(routes!(usage::daily));

    let admin = OpenApiRouter::new()
        .routes(routes!(users::list, users::create))
        .routes(routes!(users::show, users::edit, users::delete))
        .routes(routes!(users::grant))
        .routes(routes!(enablement::list))
        .routes(routes!(enablement::decide))
        .routes(routes!(tokens::administration::list))
        .routes(routes!(tokens::administration::search))
        .routes(routes!(tokens::administration::show))
        .routes(routes!(tokens::administration::switch))
        .routes(routes!(gateways::list, gateways::create))
        .routes(routes!(gateways::revoke))
        .routes(routes!(gateways::create_credential))
        .routes(routes!(gateways::revoke_credential))
        .routes(routes!(audit::list))
        .routes(routes!(imports::list))
        .routes(routes!(locked_accounts::list))
        .routes(routes!(settings::list))
        .routes(routes!(usage_reports::show))
        .routes(routes!(refused_requests::list));

    let gateway = OpenApiRouter::new()
        .routes(routes!(verify::verify))
        .routes(routes!(charge::charge))
        .routes(routes!(charge::charges))
        .routes(routes!(reservations::reserve))
        .routes(routes!(reservations::settle))
        .routes(routes!(reservations::release));

    let gateway_in_front = OpenApiRouter::new()
        .routes(routes!(forward_auth::auth))
        // Envoy sends the client's method, and appends the client's path.
        .route("/api/gateway/auth", on(ANY_BUT_GET, forward_auth::auth))
        .route("/api/gateway/auth/{*path}", any(forward_auth::auth));

    public(anyone)
        .merge(needing(gateway, Permission::Gateway, &[&["gateway"]]))
        .merge(needing(gateway_in_front, Permission::Gateway, &[&["gateway_in_front", "api_key"]]))
        .merge(needing(key_holder, Permission::KeyHolder, &[&["api_key"]]))
        .merge(needing(signed_in, Permission::SignedIn, ACCOUNT))
        .merge(needing(api_user, Permission::ApiUser, ACCOUNT))
        .merge(needing(admin, Permission::Admin, ACCOUNT))
}

/// The whole service. Layers run from the last one to the first.
pub fn router(app: Arc<AppState>, sessions: SessionTable, secure_cookies: bool) -> Router {
    let sessions = SessionManagerLayer::new(sessions)
        .with_name("session")
        .with_http_only(true)
        .with_same_site(SameSite::Lax)
        .with_secure(secure_cookies)
        .with_expiry(Expiry::OnInactivity(auth::session_lifetime()));
    let (routes, _) = routes().split_for_parts();
    let routes = routes
        .layer(middleware::compression::layer())
        // Its files are stored compressed.
        .fallback(dashboard::serve)
        .layer(axum_middleware::from_fn(middleware::headers::add_headers))
        .layer(sessions)
        .with_state(Arc::clone(&app));
    layered(routes, app)
}

/// Serves connections beyond `server.max_connections`: liveness and readiness, and 503 for everything else.
pub fn router_when_full(app: Arc<AppState>) -> Router {
    let routes = Router::new()
        .route("/healthz", get(health::live))
        .route("/readyz", get(health::ready))
        .fallback(async || api_error::ApiError::too_many_connections())
        .layer(axum_middleware::from_fn(middleware::headers::add_headers))
        .with_state(Arc::clone(&app));
    layered(routes, app)
}

/// Adds the layers that every request passes.
fn layered(routes: Router, app: Arc<AppState>) -> Router {
    // Runs before routing, so that a path with a slash at its end is the same path.
    let both_slash_forms = tower::Layer::layer(&NormalizePathLayer::trim_trailing_slash(), routes);
    Router::new()
        .fallback_service(both_slash_forms)
        .layer(axum_middleware::from_fn_with_state(Arc::clone(&app), middleware::timeout::limit_time))
        .layer(CatchPanicLayer::custom(middleware::errors::catch_panic))
        .layer(axum_middleware::from_fn_with_state(Arc::clone(&app), middleware::errors::render_errors))
        .layer(axum_middleware::from_fn(middleware::cors::allow_any_origin))
        .layer(axum_middleware::from_fn_with_state(app, middleware::observe::observe))
}

/// Declares the permission that every route of `routes` needs, and the refusals that follow. A caller needs all
/// credentials of one entry of `credentials`; the permission is their scope.
fn needing(
    mut routes: OpenApiRouter<Arc<AppState>>,
    permission: Permission,
    credentials: &[&[&str]],
) -> OpenApiRouter<Arc<AppState>> {
    for item in routes.get_openapi_mut().paths.paths.values_mut() {
        let operations = [&mut item.get, &mut item.put, &mut item.post, &mut item.delete, &mut item.patch];
        for operation in operations.into_iter().flatten() {
            let needed = |all: &&[&str]| {
                all.iter().fold(SecurityRequirement::default(), |needed, credential| {
                    needed.add(*credential, [permission.as_str()])
                })
            };
            operation.security = Some(credentials.iter().map(needed).collect());
        }
    }
    refusals::declare(&mut routes.get_openapi_mut().paths, Some(permission));
    routes
}

/// Declares that anyone may call every route of `routes`.
fn public(mut routes: OpenApiRouter<Arc<AppState>>) -> OpenApiRouter<Arc<AppState>> {
    refusals::declare(&mut routes.get_openapi_mut().paths, None);
    routes
}
