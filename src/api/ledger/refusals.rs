//! What the refusals of the ledger answer.

use crate::api::api_error::ApiError;
use crate::api::error_code::ErrorCode;
use crate::api::error_code::codes::{
    GroupNotAllowed, InvalidKey, IpNotAllowed, ModelNotAllowed, RateLimited, TokenDisabled, TokenExhausted,
    TokenExpired, TokenPeriodExceeded, TokenQuotaInsufficient, UserDisabled, UserPeriodExceeded, UserQuotaInsufficient,
};
use crate::domain::ledger::{Refusal, RefusalReason};
use crate::service::ledger::LedgerError;

/// Why a key may not be used.
pub type KeyRefused = (
    (InvalidKey, TokenDisabled, TokenExpired, UserDisabled, GroupNotAllowed, ModelNotAllowed, IpNotAllowed),
    (
        TokenExhausted,
        TokenQuotaInsufficient,
        UserQuotaInsufficient,
        TokenPeriodExceeded,
        UserPeriodExceeded,
        RateLimited,
    ),
);

impl From<RefusalReason> for ErrorCode {
    fn from(reason: RefusalReason) -> Self {
        match reason {
            RefusalReason::InvalidKey => Self::InvalidKey,
            RefusalReason::TokenDisabled => Self::TokenDisabled,
            RefusalReason::TokenExpired => Self::TokenExpired,
            RefusalReason::UserDisabled => Self::UserDisabled,
            RefusalReason::GroupNotAllowed => Self::GroupNotAllowed,
            RefusalReason::ModelNotAllowed => Self::ModelNotAllowed,
            RefusalReason::IpNotAllowed => Self::IpNotAllowed,
            RefusalReason::TokenExhausted => Self::TokenExhausted,
            RefusalReason::TokenQuotaInsufficient => Self::TokenQuotaInsufficient,
            RefusalReason::UserQuotaInsufficient => Self::UserQuotaInsufficient,
            RefusalReason::TokenPeriodExceeded => Self::TokenPeriodExceeded,
            RefusalReason::UserPeriodExceeded => Self::UserPeriodExceeded,
            RefusalReason::RateLimited => Self::RateLimited,
            RefusalReason::TooManyConcurrent => Self::TooManyConcurrent,
            RefusalReason::ReservationNotFound => Self::ReservationNotFound,
            RefusalReason::ReservationEnded => Self::ReservationEnded,
        }
    }
}

impl From<Refusal> for ErrorCode {
    fn from(refusal: Refusal) -> Self {
        refusal.reason().into()
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let retry_after = refusal.retry_after().map(i64::unsigned_abs);
        let exceeded = refusal.exceeded();
        Self { retry_after, exceeded, ..Self::new(refusal.into(), refusal.to_string()) }
    }
}

impl From<LedgerError> for ApiError {
    fn from(error: LedgerError) -> Self {
        let message = error.to_string();
        match error {
            LedgerError::Refused(refusal) => refusal.into(),
            LedgerError::RequestIdReused => Self::new(ErrorCode::RequestIdReused, message),
            LedgerError::Busy => Self::new(ErrorCode::LedgerBusy, message),
            LedgerError::Storage(storage) => storage.as_ref().into(),
        }
    }
}
