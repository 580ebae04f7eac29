//! For operators: is it alive, is it ready, how is it doing; and what the service is.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::{FromRequestParts, Request, State};
use axum::response::{IntoResponse, Response};
use http::{HeaderValue, header};
use serde::Serialize;
use utoipa::ToSchema;

use super::auth::Admin;
use super::envelope::{Done, Envelope};
use super::errors::ApiError;
use super::state::AppState;
use crate::domain::policy;
use crate::telemetry::MetricsAccess;

/// What this service is, and what is open.
#[derive(Debug, Serialize, ToSchema)]
pub struct StatusBody {
    /// `keymeter`.
    name: &'static str,
    /// The same, as this API family calls it.
    system_name: &'static str,
    /// Of this binary.
    version: &'static str,
    /// Quota units in one dollar.
    quota_per_unit: i64,
    /// Whether anyone may register.
    registration: bool,
    /// `by_request` or `enabled`: whether an account has to be enabled for the token API.
    token_api: &'static str,
    /// Where to ask for enablement, beside the API.
    contact: String,
    /// The time zone of the days of daily usage.
    time_zone: String,
}

/// What this service is, and what is open.
#[utoipa::path(get, path = "/api/status", tag = "operation", responses((status = 200, body = Envelope<StatusBody>)))]
pub async fn status(State(app): State<Arc<AppState>>) -> Envelope<StatusBody> {
    let rules = app.accounts.rules();
    Envelope::of(StatusBody {
        name: "keymeter",
        system_name: "keymeter",
        version: env!("CARGO_PKG_VERSION"),
        quota_per_unit: policy::QUOTA_PER_USD,
        registration: rules.registration_open,
        token_api: if rules.token_api_open { "enabled" } else { "by_request" },
        contact: rules.contact.clone(),
        time_zone: app.time_zone.clone(),
    })
}

/// This document.
#[utoipa::path(get, path = "/api/openapi.json", tag = "operation",
    responses((status = 200, description = "OpenAPI 3.1", body = serde_json::Value)))]
pub async fn openapi(State(app): State<Arc<AppState>>) -> Response {
    let json = HeaderValue::from_static("application/json");
    ([(header::CONTENT_TYPE, json)], app.openapi.to_string()).into_response()
}

/// The process lives.
#[utoipa::path(get, path = "/healthz", tag = "operation", responses((status = 200, body = Done)))]
pub async fn live() -> Done {
    Done::default()
}

/// The database is reachable, migrated and takes writes, this server's clock agrees with the database's, and the service
/// is not about to stop.
#[utoipa::path(get, path = "/readyz", tag = "operation", responses((status = 200, body = Done)))]
pub async fn ready(State(app): State<Arc<AppState>>) -> Result<Done, ApiError> {
    if app.draining.load(Ordering::SeqCst) {
        return Err(ApiError::unavailable("stopping", "this server is stopping; use another one"));
    }
    let health = app.db.health().await?;
    if !health.is_migrated {
        return Err(ApiError::unavailable("not_migrated", "the database is not migrated yet; try again in a moment"));
    }
    if !health.is_writable {
        return Err(ApiError::unavailable("database_read_only", "the database takes no writes; try again in a moment"));
    }
    let skew = app.clock.now().since(health.now);
    if skew.abs() > app.max_clock_skew {
        let message = format!("this server's clock differs from the database's by {skew} s; correct it");
        return Err(ApiError::unavailable("clock_skew", &message));
    }
    Ok(Done::default())
}

/// Numbers for Prometheus. `server.metrics` says who may read them.
#[utoipa::path(get, path = "/metrics", tag = "operation",
    responses((status = 200, body = String, content_type = "text/plain")))]
pub async fn metrics(State(app): State<Arc<AppState>>, request: Request) -> Result<Response, ApiError> {
    match app.metrics_access {
        MetricsAccess::Open => {}
        MetricsAccess::Admin => {
            let (mut parts, _) = request.into_parts();
            Admin::from_request_parts(&mut parts, &app).await?;
        }
        MetricsAccess::Off => {
            return Err(ApiError::new(http::StatusCode::NOT_FOUND, "not_found", "there is nothing at this path"));
        }
    }
    let kind = HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");
    Ok(([(header::CONTENT_TYPE, kind)], app.metrics.render()).into_response())
}
