//! What every request passes, one file per concern.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use self::errors::FailureFormat;
use self::observe::Observation;
use super::state::AppState;

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
        let answer = observation.watch(timeout::limit_time(&app, next.run(request))).await;
        failure_format.render(&app, answer)
    };
    let answer = if may_come_from_any_origin {
        // Rare and large, so not inside the future of every request.
        Box::pin(cors::allow_any_origin(request, answer)).await
    } else {
        answer(request).await
    };
    observation.end(&app, headers::add_headers(answer))
}
