//! The time limit of a request, `server.request_timeout_seconds`.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::api::error_code::ErrorCode;
use crate::api::errors::ApiError;
use crate::api::state::AppState;

/// Cancels a request that takes longer than the operator allows.
pub async fn limit_time(State(app): State<Arc<AppState>>, request: Request, next: Next) -> Response {
    match tokio::time::timeout(app.request_timeout, next.run(request)).await {
        Ok(answer) => answer,
        Err(_) => {
            let message = "the request took too long and was cancelled; retry shortly";
            ApiError::new(ErrorCode::Timeout, message).into_response()
        }
    }
}
