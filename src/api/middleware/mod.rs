//! What every request passes, one file per concern.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;

use super::state::AppState;

pub mod compression;
mod cors;
pub mod errors;
pub mod headers;
pub mod observe;
pub mod request_id;
mod timeout;

/// What every request passes, from the outside in. One layer: each of them would clone everything inside it for each request.
pub async fn every_request(State(app): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let app = &*app;
    observe::observe(app, request, async |request| {
        let answer = cors::allow_any_origin(request, async |request| {
            errors::render_errors(app, request, async |request| timeout::limit_time(app, next.run(request)).await).await
        });
        headers::add_headers(answer.await)
    })
    .await
}
