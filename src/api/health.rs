//! Liveness, readiness and metrics for operators, and what this service is.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::{FromRequestParts, Request, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, HeaderValue, header};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::auth::Admin;
use super::dashboard::LOGO_PATH;
use super::envelope::{Done, Envelope};
use super::extract::Query;
use super::openapi;
use super::state::AppState;
use crate::api::errors::code::ErrorCode;
use crate::api::errors::code::codes::{
    DatabaseReadOnly, InvalidCredential, NotAnAdministrator, NotDurable, NotFound, NotMigrated, NotSignedIn,
    RateLimited, Stopping, UserDisabled, UserMismatch,
};
use crate::api::errors::fails::Fails;
use crate::api::errors::failure::ApiError;
use crate::domain::bounds;
use crate::telemetry::MetricsAccess;

/// What this service is, and what it allows.
#[derive(Debug, Serialize, ToSchema)]
pub struct StatusBody {
    /// `keymeter`.
    name: &'static str,
    /// Name of this installation, `Keymeter` if it has no other. Other servers of this API family use this name, too.
    system_name: String,
    /// Path of the logo of this installation, a PNG or SVG file; empty if it has none.
    logo: &'static str,
    /// Version of this server.
    version: &'static str,
    /// Quota units per US dollar.
    quota_per_unit: i64,
    /// Always `USD`: other servers of this API family can show quota in other units.
    quota_display_type: &'static str,
    /// Whether users may register themselves.
    registration: bool,
    /// `by_request` if an account must be enabled for the token API, else `enabled`.
    token_api: &'static str,
    /// Whom to ask for an account, a new password or enablement: an e-mail address, a link or words; may be empty.
    contact: String,
    /// Time zone of the days of daily usage.
    time_zone: String,
    /// First day of the week in that time zone, such as `monday`.
    week_starts: &'static str,
    /// Base URL of the API that keys are for, at the gateway, without a slash at its end; may be empty.
    api_base_url: String,
    /// A wallet is low if it is empty, or lasts fewer days than these at the pace of a usage report without dates.
    low_wallet_days: i64,
}

/// Name, version and what this server allows.
#[utoipa::path(get, path = "/api/status", tag = "operation", responses((status = 200, body = Envelope<StatusBody>)))]
pub async fn status(State(app): State<Arc<AppState>>) -> Envelope<StatusBody> {
    let rules = &app.account_rules;
    Envelope::of(StatusBody {
        name: "keymeter",
        system_name: app.settings.dashboard_name.clone(),
        logo: app.logo.as_ref().map_or("", |_| LOGO_PATH),
        version: env!("CARGO_PKG_VERSION"),
        quota_per_unit: bounds::QUOTA_PER_USD,
        quota_display_type: "USD",
        registration: rules.registration_open,
        token_api: if rules.token_api_open { "enabled" } else { "by_request" },
        contact: rules.contact.clone(),
        time_zone: app.settings.time_zone.clone(),
        week_starts: app.core.calendar.week_start_name(),
        api_base_url: app.settings.api_base_url.clone(),
        low_wallet_days: bounds::LOW_WALLET_DAYS,
    })
}

/// This OpenAPI document.
#[utoipa::path(get, path = "/api/openapi.json", tag = "operation",
    responses((status = 200, description = "OpenAPI 3.1", body = serde_json::Value)))]
pub async fn openapi(headers: HeaderMap) -> Response {
    openapi::FILE.answer(&headers)
}

/// Liveness: the process answers.
#[utoipa::path(get, path = "/healthz", tag = "operation", responses((status = 200, body = Done)))]
pub async fn live() -> Done {
    Done::default()
}

/// What a server that is ready cannot do.
#[derive(Debug, Serialize, ToSchema)]
pub struct Readiness {
    /// `not_durable` while a commit waits for the disk or a standby for longer than `ledger.patience_seconds`: keys are
    /// verified and reads are answered, and changes are refused. It is so on all servers of a database at once. Empty
    /// if there is nothing.
    degraded: Vec<ErrorCode>,
}

/// What readiness includes.
#[derive(Debug, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ReadinessQuery {
    /// Not ready while changes are refused. For balancers that use all servers if none is ready. Needs no value.
    durable: Option<String>,
}

/// Readiness: the database is reachable, migrated and writable, and the server is not stopping.
#[utoipa::path(get, path = "/readyz", tag = "operation", params(ReadinessQuery),
    responses((status = 200, body = Envelope<Readiness>)))]
pub async fn ready(
    State(app): State<Arc<AppState>>,
    Query(query): Query<ReadinessQuery>,
) -> Result<Envelope<Readiness>, Fails<(Stopping, NotMigrated, DatabaseReadOnly, NotDurable)>> {
    if app.draining.load(Ordering::SeqCst) {
        return Err(ApiError::new(ErrorCode::Stopping, "this server is stopping; use another one").into());
    }
    let health = app.core.db.health().await?;
    if !health.is_migrated {
        return Err(ApiError::new(ErrorCode::NotMigrated, "the database is not migrated yet; retry shortly").into());
    }
    if !health.is_writable {
        return Err(ApiError::new(ErrorCode::DatabaseReadOnly, "the database accepts no writes; retry shortly").into());
    }
    let degraded: Vec<_> = app.core.db.is_stalled().then_some(ErrorCode::NotDurable).into_iter().collect();
    if query.durable.is_some() && !degraded.is_empty() {
        let message = "a commit waits for the disk or a standby, and changes are refused meanwhile; retry shortly";
        return Err(ApiError::new(ErrorCode::NotDurable, message).into());
    }
    Ok(Envelope::of(Readiness { degraded }))
}

/// Metrics in the `OpenMetrics` text format, for Prometheus. The setting `server.metrics` decides who may read them.
#[utoipa::path(get, path = "/metrics", tag = "operation",
    responses((status = 200, body = String, content_type = "application/openmetrics-text")))]
pub async fn metrics(
    State(app): State<Arc<AppState>>,
    request: Request,
) -> Result<
    Response,
    Fails<(NotSignedIn, InvalidCredential, UserMismatch, UserDisabled, RateLimited, NotAnAdministrator, NotFound)>,
> {
    match app.settings.metrics_access {
        MetricsAccess::Open => {}
        MetricsAccess::Admin => {
            let (mut parts, _) = request.into_parts();
            Admin::from_request_parts(&mut parts, &app).await?;
        }
        MetricsAccess::Off => {
            return Err(ApiError::no_such_path().into());
        }
    }
    let kind = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, kind)], app.metrics.render()).into_response())
}
