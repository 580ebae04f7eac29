//! The time limit of a request, `server.request_timeout_seconds`.

use axum::response::{IntoResponse, Response};
use futures_util::FutureExt;

use crate::api::errors::code::ErrorCode;
use crate::api::errors::failure::ApiError;
use crate::api::state::AppState;

/// Cancels a request that takes longer than the operator allows.
pub(super) fn limit_time(app: &AppState, answer: impl Future<Output = Response>) -> impl Future<Output = Response> {
    tokio::time::timeout(app.settings.request_timeout, answer).map(|answer| {
        answer.unwrap_or_else(|_| {
            let message = "the request took too long and was cancelled; retry shortly";
            ApiError::new(ErrorCode::Timeout, message).into_response()
        })
    })
}
