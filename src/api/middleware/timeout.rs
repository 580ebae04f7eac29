//! The time limit of a request, `server.request_timeout_seconds`.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::api::api_error::ApiError;
use crate::api::error_code::ErrorCode;
use crate::api::state::AppState;

/// Cancels a request that takes longer than the operator allows.
pub async fn limit_time(State(app): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    let Ok(answer) = tokio::time::timeout(app.request_timeout, next.run(request)).await else {
        let message = "the request took too long and was cancelled; retry shortly";
        return ApiError::new(ErrorCode::Timeout, message).into_response();
    };
    answer
}
