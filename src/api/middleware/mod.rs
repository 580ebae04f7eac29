//! What every request passes, one file per concern.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use self::errors::FailureFormat;
use self::http_request_id::HttpRequestId;
use self::observe::Observation;
use super::errors::code::ErrorCode;
use super::errors::failure::ApiError;
use super::state::AppState;
use crate::service::rng::Rng;

pub mod compression;
mod cors;
pub mod errors;
pub mod headers;
pub mod http_request_id;
pub mod observe;
mod timeout;

/// What every request passes, from the outside in. One layer: each of them would clone everything inside it for each
/// request. What comes before and after the answer is no future of its own: each of these would copy the ones inside
/// it.
pub async fn every_request(State(app): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let (observation, request) = Observation::begin(&app, request);
    let failure_format = FailureFormat::of(&request);
    let may_come_from_any_origin = cors::may_come_from_any_origin(&request);
    let answer = async |request| {
        if app.is_outdated.load(Ordering::Relaxed) && failure_format.path() != "/healthz" {
            return failure_format.render(false, ApiError::program_too_old().into_response());
        }
        let answer = observation.watch(timeout::limit_time(&app, next.run(request))).await;
        let answer = failure_format.render(app.settings.errors_as_200, answer);
        if is_database_unavailable(&answer) {
            app.core.db.suspect();
        }
        answer
    };
    let answer = if may_come_from_any_origin {
        // Rare and large, so not inside the future of every request.
        Box::pin(cors::allow_any_origin(request, answer)).await
    } else {
        answer(request).await
    };
    observation.end(&app, headers::add_headers(answer))
}

fn is_database_unavailable(answer: &Response) -> bool {
    let is_failure = |failure: &ApiError| failure.code == ErrorCode::DatabaseUnavailable;
    answer.status().is_server_error() && answer.extensions().get().is_some_and(is_failure)
}

/// What requests pass while the server starts: nothing is counted yet, and no setting has been applied.
pub async fn while_starting(rng: Rng, request: Request, next: Next) -> Response {
    let failure_format = FailureFormat::of(&request);
    let (parts, body) = request.into_parts();
    let id = HttpRequestId::of(&parts, &rng);
    let answer = next.run(Request::from_parts(parts, body)).await;
    let mut answer = headers::add_headers(failure_format.render(false, answer));
    id.write(&mut answer);
    answer
}
