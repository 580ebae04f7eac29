//! What the refusals of tokens answer.

use http::StatusCode;

use crate::api::api_error::{About, ApiError};
use crate::api::error_code::ErrorCode;
use crate::api::error_code::codes::{
    InsufficientQuota, InvalidExpiry, InvalidGroup, InvalidIfMatch, InvalidIps, InvalidModels, InvalidName,
    InvalidNote, InvalidPeriodLimit, InvalidQuota, InvalidRateLimit, InvalidStatus, MissingField, NotFound,
    SwitchedOffByAdministrator, SwitchedOffByRoot, TokenChanged,
};
use crate::api::refused::{CodeList, CodesByStatus};
use crate::domain::status::EnableRefused;
use crate::domain::token_patch::EditRefused;
use crate::service::tokens::{BulkError, TokensError};

/// The fields of a token.
pub type TokenFields = (
    (InvalidName, InvalidNote, InvalidExpiry, InvalidQuota),
    (InvalidPeriodLimit, InvalidRateLimit, InvalidModels, InvalidIps, InvalidStatus),
);

/// Why tokens were not edited, enabled or disabled.
pub type ChangeRefused =
    (TokenFields, EnableRefused, MissingField, InvalidGroup, InvalidStatus, InsufficientQuota, NotFound);

/// Why a change was not made for its `If-Match`.
pub type WrongVersion = (InvalidIfMatch, TokenChanged);

impl CodeList for EnableRefused {
    fn add_to(codes: &mut CodesByStatus) {
        <(SwitchedOffByAdministrator, SwitchedOffByRoot)>::add_to(codes);
        codes.entry(StatusCode::CONFLICT).or_default().extend([ErrorCode::TokenExpired, ErrorCode::TokenExhausted]);
    }
}

impl From<EnableRefused> for ApiError {
    fn from(error: EnableRefused) -> Self {
        let code = match error {
            EnableRefused::DisabledByAdministrator => ErrorCode::SwitchedOffByAdministrator,
            EnableRefused::DisabledByRoot => ErrorCode::SwitchedOffByRoot,
            EnableRefused::Expired => ErrorCode::TokenExpired,
            EnableRefused::QuotaExhausted => ErrorCode::TokenExhausted,
        };
        let status = match error {
            EnableRefused::DisabledByAdministrator | EnableRefused::DisabledByRoot => StatusCode::FORBIDDEN,
            EnableRefused::Expired | EnableRefused::QuotaExhausted => StatusCode::CONFLICT,
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
            TokensError::Edit(EditRefused::Quota(_) | EditRefused::TooMuch(_)) => {
                Self::new(ErrorCode::InvalidQuota, message)
            }
            TokensError::Edit(EditRefused::Insufficient(_)) => Self::new(ErrorCode::InsufficientQuota, message),
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
