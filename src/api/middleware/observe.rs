//! The request log and the HTTP metrics: one line and one count per answer.

use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use axum::extract::{MatchedPath, Request};
use axum::response::Response;
use http::Method;
use http::request::Parts;
use tracing::field::Empty;
use tracing::{Instrument, Span};

use super::http_request_id::HttpRequestId;
use crate::api::errors::failure::ApiError;
use crate::api::extract::ClientIp;
use crate::api::state::AppState;
use crate::domain::id::UserId;
use crate::telemetry::request_notes::RequestNotes;
use crate::telemetry::requests::InFlight;

/// The route of requests that match none.
const NO_ROUTE: &str = "-";

/// What becomes known of a request while it is answered, as an extension of it.
#[derive(Debug, Clone)]
struct Observed {
    user: Arc<OnceLock<UserId>>,
    route: Arc<OnceLock<MatchedPath>>,
    /// The span of the request. The current span may be one inside it.
    span: Span,
}

/// What failed in a request that is answered 200, as an extension of its answer: a batch fails in parts.
#[derive(Debug, Clone)]
pub struct PartialFailure(pub Arc<str>);

/// Records the signed-in user for the request log.
pub fn set_user(parts: &Parts, user: UserId) {
    if let Some(Observed { user: cell, span, .. }) = parts.extensions.get()
        && cell.set(user).is_ok()
    {
        span.record("user_id", user.get());
    }
}

/// Records the route's pattern for the request log, which is outside of the router and does not know it.
pub fn note_route(request: Request) -> Request {
    let extensions = request.extensions();
    if let (Some(route), Some(observed)) = (extensions.get::<MatchedPath>(), extensions.get::<Observed>()) {
        observed.span.record("route", route.as_str());
        let _ = observed.route.set(route.clone());
    }
    request
}

/// A request that is being answered.
pub(super) struct Observation {
    started: Instant,
    _in_flight: InFlight,
    id: HttpRequestId,
    ip: Option<IpAddr>,
    method: Method,
    seen: Observed,
    notes: RequestNotes,
}

impl Observation {
    /// Gives the request its id and its span.
    pub(super) fn begin(app: &AppState, request: Request) -> (Self, Request) {
        let (started, in_flight) = (Instant::now(), app.http_metrics.start());
        let (mut parts, body) = request.into_parts();
        let id = HttpRequestId::of(&parts, &app.core.rng);
        parts.extensions.insert(id.clone());
        let ip = ClientIp::of(&parts, app).0;
        let method = parts.method.clone();
        // The level decides only whether it exists: a filter that leaves out the lines of requests keeps it.
        let span = tracing::error_span!(
            "request", %method, route = Empty, http_request_id = id.0, user_id = Empty, status = Empty, error = Empty,
            db_calls = Empty, db_us = Empty, otel.name = Empty, otel.kind = Empty, otel.status_code = Empty
        );
        let seen = Observed { user: Arc::default(), route: Arc::default(), span };
        parts.extensions.insert(seen.clone());
        let notes = RequestNotes::default();
        (Self { started, _in_flight: in_flight, id, ip, method, seen, notes }, Request::from_parts(parts, body))
    }

    /// Answers it in its span, and notes what becomes known of it.
    pub(super) fn watch<T>(&self, answer: impl Future<Output = T>) -> impl Future<Output = T> {
        self.notes.clone().of(answer.instrument(self.seen.span.clone()))
    }

    /// Writes its line of the log, and counts it.
    pub(super) fn end(self, app: &AppState, mut answer: Response) -> Response {
        let Self { started, _in_flight, id, ip, method, seen, notes } = self;
        let Observed { user, route, span } = seen;
        id.write(&mut answer);
        let route = route.get().map_or(NO_ROUTE, |path: &MatchedPath| path.as_str());
        let status = answer.status().as_u16();
        let failure = answer.extensions().get::<ApiError>();
        let error = failure.map(|failure| failure.code.as_str());
        let partial = answer.extensions().get::<PartialFailure>().map(|failure| &failure.0);
        let cause = failure.and_then(|failure| failure.cause.as_ref()).or(partial).map(|cause| &**cause);
        let user_id = user.get().map(|user: &UserId| user.get());
        let (gateway_id, token_id) = (notes.gateway_id(), notes.token_id());
        let (db_calls, db_us) = (notes.database_calls(), notes.database_micros());
        if cfg!(feature = "otlp") {
            // The log has these on the line of the request.
            span.record("otel.name", format!("{method} {route}")).record("otel.kind", "server");
            span.record("status", status).record("error", error).record("db_calls", db_calls).record("db_us", db_us);
            if answer.status().is_server_error() {
                span.record("otel.status_code", "error");
            }
        }
        let took = started.elapsed();
        app.http_metrics.answer(&method, route, status, took);
        if let Some(error) = error.filter(|_| status == 401) {
            app.http_metrics.auth_failure(error);
        }
        // The level of an event is a constant.
        macro_rules! write_line {
            ($level:ident) => {
                tracing::$level!(
                    target: "keymeter::request",
                    %method, route, status, us = u64::try_from(took.as_micros()).unwrap_or(u64::MAX), db_calls,
                    db_us, http_request_id = id.0,
                    ip = ip.map(tracing::field::display), user_id, gateway_id, token_id,
                    error, cause
                )
            };
        }
        match cause {
            Some(_) if status == 500 => write_line!(error),
            Some(_) => write_line!(warn),
            None => write_line!(info),
        }
        answer
    }
}
