//! A failure of the API, and the failures that do not come from a service.
//!
//! An [`ApiError`] travels as an extension of the response; `middleware/errors.rs` writes its
//! body, so that the failures of every layer have the same shape.

use std::fmt::Display;
use std::sync::Arc;

use axum::response::{IntoResponse, Response};
use http::StatusCode;

use crate::api::errors::code::ErrorCode;
use crate::domain::bulk_users::UserPlace;
use crate::domain::period_limits::PeriodExceeded;
use crate::service::tokens::BulkPlace;

/// Seconds after which a caller may retry a 503.
const RETRY_AFTER_UNAVAILABLE: u64 = 1;

/// A failure as it is answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// One of the statuses of `code`.
    pub status: StatusCode,
    /// The stable code.
    pub code: ErrorCode,
    /// One sentence that says what to do.
    pub message: String,
    /// Seconds after which the caller may retry, for `Retry-After`.
    pub retry_after: Option<u64>,
    /// What it is about, beyond the call.
    pub about: Option<About>,
    /// What failed, for the line of the request in the log. Never answered.
    pub cause: Option<Arc<str>>,
}

/// What a failure is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum About {
    /// The period limit that refused it.
    Limit(PeriodExceeded),
    /// One of many tokens.
    Place(BulkPlace),
    /// The present version of a token, for `ETag`.
    Version(i64),
    /// Some of many users.
    Users(Arc<[FaultyUser]>),
}

/// What is wrong with one of many users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultyUser {
    pub place: UserPlace,
    pub code: ErrorCode,
    pub message: String,
}

impl ApiError {
    /// A failure with the usual status of `code`.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        let status = code.status();
        let retry_after = (status == StatusCode::SERVICE_UNAVAILABLE).then_some(RETRY_AFTER_UNAVAILABLE);
        Self { status, code, message: message.into(), retry_after, about: None, cause: None }
    }

    /// The same failure with another of the statuses of its code.
    pub fn with_status(self, status: StatusCode) -> Self {
        debug_assert!(self.code.statuses().contains(&status), "{:?} does not declare {status}", self.code);
        Self { status, ..self }
    }

    /// The period limit that refused it.
    pub const fn exceeded(&self) -> Option<PeriodExceeded> {
        match self.about {
            Some(About::Limit(exceeded)) => Some(exceeded),
            Some(About::Place(_) | About::Version(_) | About::Users(_)) | None => None,
        }
    }

    /// The same failure, of one of many tokens.
    pub fn at(self, place: BulkPlace) -> Self {
        Self { about: Some(About::Place(place)), ..self }
    }

    /// The same failure with its cause for the log. It must not contain a secret.
    pub fn caused_by(self, cause: impl Display) -> Self {
        Self { cause: Some(cause.to_string().into()), ..self }
    }

    /// 500 with one fixed sentence; the log has `cause` under the request id.
    pub fn internal(cause: impl Display) -> Self {
        Self::new(ErrorCode::Internal, "internal error; quote X-Request-Id to your operator").caused_by(cause)
    }

    /// 503: the database does not answer.
    pub fn database_unavailable() -> Self {
        Self::new(ErrorCode::DatabaseUnavailable, "database unavailable; retry shortly")
    }

    /// 503 when a newer program needs the database for itself.
    pub fn program_too_old() -> Self {
        Self::new(
            ErrorCode::ProgramTooOld,
            "a newer program has changed the database, and this server ends; use another one",
        )
    }

    /// 503 for a connection beyond `server.max_connections`.
    pub fn too_many_connections() -> Self {
        Self::new(ErrorCode::TooManyConnections, "this server has too many connections; retry shortly")
    }

    /// 413 for a body of more than `max` bytes.
    pub fn body_too_large(max: usize) -> Self {
        let max =
            if max < 1024 * 1024 { format!("{} KiB", max / 1024) } else { format!("{} MiB", max / (1024 * 1024)) };
        Self::new(ErrorCode::BodyTooLarge, format!("the body is larger than {max}"))
    }

    /// 404 for a path that does not exist.
    pub fn no_such_path() -> Self {
        Self::new(ErrorCode::NotFound, "this path does not exist")
    }

    /// 401 without any credential.
    pub fn not_signed_in() -> Self {
        Self::new(ErrorCode::NotSignedIn, "sign in, or send an access token in `Authorization`")
    }

    /// 401 if `New-Api-User` is not the user of the credential.
    pub fn user_mismatch() -> Self {
        let message = "`New-Api-User` names another user than the credential; correct it or leave it out";
        Self::new(ErrorCode::UserMismatch, message)
    }

    /// 401 without a gateway credential.
    pub fn not_a_gateway() -> Self {
        let message = "a gateway credential is required; an administrator can create one";
        Self::new(ErrorCode::InvalidGateway, message)
    }

    /// 403 for a write by cookie from another site.
    pub fn cross_site() -> Self {
        Self::new(
            ErrorCode::CrossSiteRequest,
            "a write with the session cookie must come from this site (`Origin` or `Sec-Fetch-Site`); \
             programs use an access token",
        )
    }

    /// 403 for a GET by cookie that changes something and may come from another site.
    pub fn cross_site_get() -> Self {
        Self::new(
            ErrorCode::CrossSiteRequest,
            "this GET changes something, so with the session cookie it must come from this site (`Sec-Fetch-Site`, \
             `Origin` or `Referer`) or have `New-Api-User`; programs use an access token",
        )
    }

    /// 403 for a page of another site that tries to sign a user in or out.
    pub fn foreign_page() -> Self {
        Self::new(
            ErrorCode::CrossSiteRequest,
            "a page of another site sent this request (`Origin` or `Sec-Fetch-Site`); open this site directly",
        )
    }

    /// 403 before enablement (spec §1, §5.3).
    pub fn not_enabled(contact: &str) -> Self {
        let contact = if contact.is_empty() { "your administrator" } else { contact };
        Self::new(
            ErrorCode::TokenApiNotEnabled,
            format!(
                "the token API is not enabled for this account; ask for it with \
                 POST /api/user/token_api_request, giving a reason, or contact {contact}"
            ),
        )
    }

    /// 403 for a user who is not an administrator.
    pub fn not_admin() -> Self {
        Self::new(ErrorCode::NotAnAdministrator, "an administrator account is required")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut answer = self.status.into_response();
        answer.extensions_mut().insert(self);
        answer
    }
}
