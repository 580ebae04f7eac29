//! Every route, and the middleware in the order in which it runs.

use std::sync::Arc;

use axum::Router;
use axum::extract::Request;
use axum::middleware::{Next, from_fn, from_fn_with_state};
use axum::routing::{MethodFilter, any, get, on};
use tower::Layer;
use tower::util::MapRequestLayer;
use tower_http::catch_panic::CatchPanicLayer;
use tower_http::normalize_path::NormalizePathLayer;
use tower_sessions::cookie::SameSite;
use tower_sessions::{Expiry, SessionManagerLayer};
use utoipa_axum::router::OpenApiRouter;

use super::dialects::{billing, log};
use super::errors::failure::ApiError;
use super::ledger::{charge, extractors, forward_auth, reservations, verify};
use super::openapi::endpoint::{Endpoint, endpoint};
use super::permission::Permission;
use super::state::AppState;
use super::{
    access_tokens, activity, audit, auth, dashboard, enablement, forecasts, gateways, health, imports, keys,
    locked_accounts, middleware, models, old_keys, overview, price_costs, price_versions, prices, refused_requests,
    request_history, sessions, settings, sign_in, system, tokens, usage, usage_reports, users,
};
use crate::service::rng::Rng;
use crate::storage::sessions::SessionTable;

/// GET, which includes HEAD, is declared by the handler itself.
const ANY_BUT_GET: MethodFilter =
    MethodFilter::POST.or(MethodFilter::PUT).or(MethodFilter::PATCH).or(MethodFilter::DELETE).or(MethodFilter::OPTIONS);

/// The credentials of a person or a script: one of these.
const ACCOUNT: &[&[&str]] = &[&["access_token"], &["session"]];

/// Every route, by the permission it needs. The extractor of the handler enforces it; a test calls every route as every
/// kind of caller and compares.
pub(super) fn routes() -> OpenApiRouter<Arc<AppState>> {
    of_gateways().merge(of_others())
}

/// The calls of gateways. They come with every request of a gateway's clients, and know no sessions.
fn of_gateways() -> OpenApiRouter<Arc<AppState>> {
    let gateway = [
        endpoint!(verify::verify),
        endpoint!(charge::charge),
        endpoint!(charge::charges),
        endpoint!(reservations::reserve),
        endpoint!(reservations::extend),
        endpoint!(reservations::settle),
        endpoint!(reservations::release),
        endpoint!(extractors::list),
    ];
    let gateway_in_front = [endpoint!(forward_auth::auth)];
    group(gateway, Some(Permission::Gateway), &[&["gateway"]])
        .merge(group(gateway_in_front, Some(Permission::Gateway), &[&["gateway_in_front", "api_key"]]))
        // Envoy sends the client's method, and appends the client's path.
        .route("/api/gateway/auth", on(ANY_BUT_GET, forward_auth::auth))
        .route("/api/gateway/auth/{*path}", any(forward_auth::auth))
}

fn of_others() -> OpenApiRouter<Arc<AppState>> {
    let anyone = [
        endpoint!(health::status),
        endpoint!(health::openapi),
        endpoint!(health::live),
        endpoint!(health::ready),
        endpoint!(health::metrics),
        endpoint!(sign_in::sign_in),
        endpoint!(sign_in::register),
        endpoint!(sign_in::sign_out),
        endpoint!(sign_in::sign_out_by_post),
    ];

    let key_holder = [
        endpoint!(usage::by_key),
        endpoint!(usage::daily_by_key),
        endpoint!(billing::subscription),
        endpoint!(billing::usage),
        endpoint!(billing::credit_grants),
        endpoint!(billing::subscription).without_v1(),
        endpoint!(billing::usage).without_v1(),
        endpoint!(billing::credit_grants).without_v1(),
        endpoint!(models::list),
        endpoint!(log::by_key),
        endpoint!(request_history::list_of_key),
    ];

    let signed_in = [
        endpoint!(users::show_own),
        endpoint!(users::edit_own),
        endpoint!(overview::show),
        endpoint!(usage_reports::show_own),
        endpoint!(refused_requests::list_own),
        endpoint!(request_history::list_own),
        endpoint!(forecasts::show_own),
        endpoint!(log::list),
        endpoint!(log::spend),
        endpoint!(access_tokens::mint),
        endpoint!(access_tokens::list),
        endpoint!(access_tokens::create),
        endpoint!(access_tokens::revoke),
        endpoint!(sessions::list),
        endpoint!(sessions::end_others),
        endpoint!(sessions::end),
        endpoint!(activity::list),
        endpoint!(enablement::show),
        endpoint!(enablement::request),
        endpoint!(prices::list),
        endpoint!(price_costs::show),
        endpoint!(users::groups),
        endpoint!(users::models),
        endpoint!(users::own_models),
        endpoint!(users::available_models),
    ];

    let api_user = [
        endpoint!(tokens::list),
        endpoint!(tokens::create),
        endpoint!(tokens::bulk::create),
        endpoint!(tokens::bulk::update),
        endpoint!(tokens::export::own),
        endpoint!(tokens::update),
        endpoint!(tokens::search),
        endpoint!(tokens::search_by_post),
        endpoint!(tokens::details),
        endpoint!(tokens::delete_batch),
        endpoint!(keys::list),
        endpoint!(tokens::show),
        endpoint!(tokens::delete),
        endpoint!(tokens::restore),
        endpoint!(keys::show),
        endpoint!(old_keys::rotate),
        endpoint!(old_keys::rotate_all),
        endpoint!(old_keys::list),
        endpoint!(old_keys::end),
        endpoint!(usage::daily),
    ];

    group(anyone, None, &[])
        .merge(group(key_holder, Some(Permission::KeyHolder), &[&["api_key"]]))
        .merge(group(signed_in, Some(Permission::SignedIn), ACCOUNT))
        .merge(group(api_user, Some(Permission::ApiUser), ACCOUNT))
        .merge(group(of_administrators(), Some(Permission::Admin), ACCOUNT))
}

fn of_administrators() -> impl IntoIterator<Item = Endpoint> {
    [
        endpoint!(users::list),
        endpoint!(users::create),
        endpoint!(users::show),
        endpoint!(users::edit),
        endpoint!(users::delete),
        endpoint!(users::grant),
        endpoint!(users::bulk::change),
        endpoint!(enablement::list),
        endpoint!(enablement::decide),
        endpoint!(tokens::administration::list),
        endpoint!(tokens::administration::search),
        endpoint!(tokens::administration::show),
        endpoint!(tokens::administration::switch),
        endpoint!(tokens::administration::create),
        endpoint!(tokens::administration::update),
        endpoint!(tokens::administration::delete),
        endpoint!(tokens::administration::rotate),
        endpoint!(tokens::bulk::update_any_users),
        endpoint!(tokens::export::any_users),
        endpoint!(gateways::list),
        endpoint!(gateways::create),
        endpoint!(gateways::revoke),
        endpoint!(gateways::create_credential),
        endpoint!(gateways::revoke_credential),
        endpoint!(price_versions::show),
        endpoint!(price_versions::set),
        endpoint!(price_versions::compare),
        endpoint!(price_versions::list),
        endpoint!(price_versions::show_version),
        endpoint!(audit::list),
        endpoint!(imports::list),
        endpoint!(locked_accounts::list),
        endpoint!(settings::list),
        endpoint!(system::show),
        endpoint!(overview::show_all_users),
        endpoint!(usage_reports::show),
        endpoint!(refused_requests::list),
        endpoint!(request_history::list),
        endpoint!(forecasts::show),
    ]
}

/// The routes of endpoints that need the same permission; without one, anyone may call them. A caller needs all
/// credentials of one entry of `credentials`.
fn group(
    endpoints: impl IntoIterator<Item = Endpoint>,
    permission: Option<Permission>,
    credentials: &[&[&str]],
) -> OpenApiRouter<Arc<AppState>> {
    endpoints
        .into_iter()
        .fold(OpenApiRouter::new(), |router, endpoint| router.routes(endpoint.needing(permission, credentials)))
}

/// The whole service. Layers run from the last one to the first, and those of a tuple from the first to the last.
pub fn router(app: Arc<AppState>, sessions: SessionTable, secure_cookies: bool) -> Router {
    let sessions = SessionManagerLayer::new(sessions)
        .with_name("session")
        .with_http_only(true)
        .with_same_site(SameSite::Lax)
        .with_secure(secure_cookies)
        .with_expiry(Expiry::OnInactivity(auth::session_lifetime()));
    let (of_gateways, _) = of_gateways().split_for_parts();
    let (of_others, _) = of_others().split_for_parts();
    let note_route = MapRequestLayer::new(middleware::observe::note_route);
    let of_gateways = of_gateways.layer((note_route.clone(), middleware::compression::layer()));
    let of_others = of_others
        .layer(middleware::compression::layer())
        // Its files are stored compressed.
        .fallback(dashboard::serve)
        .layer((sessions, note_route));
    layered(of_gateways.merge(of_others).with_state(Arc::clone(&app)), app)
}

/// Serves connections beyond `server.max_connections`: liveness and readiness, and 503 for everything else.
pub fn router_when_full(app: Arc<AppState>) -> Router {
    let routes = Router::new()
        .route("/healthz", get(health::live))
        .route("/readyz", get(health::ready))
        .fallback(async || ApiError::too_many_connections())
        .layer(MapRequestLayer::new(middleware::observe::note_route))
        .with_state(Arc::clone(&app));
    layered(routes, app)
}

/// Serves while the server waits for its database: liveness, and 503 for everything else.
pub fn router_while_starting() -> Router {
    let rng = Rng::system();
    let routes = Router::new().route("/healthz", get(health::live)).fallback(async || ApiError::database_unavailable());
    let layers = (
        from_fn(move |request: Request, next: Next| middleware::while_starting(rng.clone(), request, next)),
        NormalizePathLayer::trim_trailing_slash(),
    );
    Router::new().fallback_service(layers.layer(routes))
}

/// Adds the layers that every request passes.
fn layered(routes: Router, app: Arc<AppState>) -> Router {
    let layers = (
        from_fn_with_state(app, middleware::every_request),
        CatchPanicLayer::custom(middleware::errors::catch_panic),
        // Runs before routing, so that a path with a slash at its end is the same path.
        NormalizePathLayer::trim_trailing_slash(),
    );
    Router::new().fallback_service(layers.layer(routes))
}
