//! What the refusals of tokens answer.

use http::StatusCode;

use crate::api::api_error::ApiError;
use crate::api::error_code::ErrorCode;
use crate::domain::status::EnableRefused;
use crate::domain::token::EditRefused;
use crate::service::tokens::TokensError;

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
            TokensError::Actor(actor) => actor.into(),
            TokensError::RateLimited(limited) => limited.into(),
            TokensError::Vault(undecryptable) => undecryptable.into(),
            TokensError::Storage(storage) => storage.into(),
        }
    }
}
