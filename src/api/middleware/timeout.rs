//! The time limit of a request, `server.request_timeout_seconds`.

use axum::response::{IntoResponse, Response};

use crate::api::api_error::ApiError;
use crate::api::error_code::ErrorCode;
use crate::api::state::AppState;

/// Cancels a request that takes longer than the operator allows.
pub(super) async fn limit_time(app: &AppState, answer: impl Future<Output = Response>) -> Response {
    let Ok(answer) = tokio::time::timeout(app.request_timeout, answer).await else {
        let message = "the request took too long and was cancelled; retry shortly";
        return ApiError::new(ErrorCode::Timeout, message).into_response();
    };
    answer
}
