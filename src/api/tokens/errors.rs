//! What the errors of tokens answer.

use http::StatusCode;

use crate::api::errors::code::ErrorCode;
use crate::api::errors::code::codes::{
    InsufficientQuota, InvalidExpiry, InvalidGroup, InvalidIfMatch, InvalidIps, InvalidModels, InvalidName,
    InvalidNote, InvalidPeriodLimit, InvalidQuota, InvalidRateLimit, InvalidStatus, MissingField, NotFound,
    SwitchedOffByAdministrator, SwitchedOffByRoot, TokenChanged,
};
use crate::api::errors::fails::{CodeList, CodesByStatus};
use crate::api::errors::failure::{About, ApiError};
use crate::domain::status::EnableError;
use crate::domain::token_patch::EditError;
use crate::service::tokens::{BulkError, TokensError};

/// The fields of a token.
pub type TokenFieldErrors = (
    (InvalidName, InvalidNote, InvalidExpiry, InvalidQuota),
    (InvalidPeriodLimit, InvalidRateLimit, InvalidModels, InvalidIps, InvalidStatus),
);

/// Why tokens were not edited, enabled or disabled.
pub type ChangeErrors =
    (TokenFieldErrors, EnableError, MissingField, InvalidGroup, InvalidStatus, InsufficientQuota, NotFound);

/// Why a change was not made for its `If-Match`.
pub type WrongVersion = (InvalidIfMatch, TokenChanged);

impl CodeList for EnableError {
    fn add_to(codes: &mut CodesByStatus) {
        <(SwitchedOffByAdministrator, SwitchedOffByRoot)>::add_to(codes);
        codes.entry(StatusCode::CONFLICT).or_default().extend([ErrorCode::TokenExpired, ErrorCode::TokenExhausted]);
    }
}

impl From<EnableError> for ApiError {
    fn from(error: EnableError) -> Self {
        let code = match error {
            EnableError::DisabledByAdministrator => ErrorCode::SwitchedOffByAdministrator,
            EnableError::DisabledByRoot => ErrorCode::SwitchedOffByRoot,
            EnableError::Expired => ErrorCode::TokenExpired,
            EnableError::QuotaExhausted => ErrorCode::TokenExhausted,
        };
        let status = match error {
            EnableError::DisabledByAdministrator | EnableError::DisabledByRoot => StatusCode::FORBIDDEN,
            EnableError::Expired | EnableError::QuotaExhausted => StatusCode::CONFLICT,
        };
        Self::new(code, error.to_string()).with_status(status)
    }
}

impl From<BulkError> for ApiError {
    fn from(BulkError { at, error }: BulkError) -> Self {
        Self { about: at.map(About::Place), ..error.into() }
    }
}

impl From<TokensError> for ApiError {
    fn from(error: TokensError) -> Self {
        let message = error.to_string();
        match error {
            TokensError::NotFound => Self::new(ErrorCode::NotFound, message),
            TokensError::LimitReached(_) => Self::new(ErrorCode::TokenLimitReached, message),
            TokensError::Enable(refused) => refused.into(),
            TokensError::Group(_) => Self::new(ErrorCode::InvalidGroup, message),
            TokensError::Edit(EditError::Quota(_) | EditError::TooMuch(_)) => {
                Self::new(ErrorCode::InvalidQuota, message)
            }
            TokensError::Edit(EditError::Insufficient(_)) => Self::new(ErrorCode::InsufficientQuota, message),
            TokensError::Search(invalid) => invalid.into(),
            TokensError::Changed(changed) => changed.into(),
            TokensError::Keyed(keyed) => keyed.into(),
            TokensError::Actor(actor) => actor.into(),
            TokensError::RateLimited(limited) => limited.into(),
            TokensError::Vault(undecryptable) => undecryptable.into(),
            TokensError::Storage(storage) => storage.into(),
        }
    }
}
