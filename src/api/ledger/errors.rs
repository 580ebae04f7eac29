//! What the refusals of the ledger answer.

use std::borrow::Cow;

use serde::Serialize;
use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};

use crate::api::errors::code::ErrorCode;
use crate::api::errors::code::codes::{
    GroupNotAllowed, InvalidKey, IpNotAllowed, ModelNotAllowed, RateLimited, TokenDisabled, TokenExhausted,
    TokenExpired, TokenPeriodExceeded, TokenQuotaInsufficient, UserDisabled, UserPeriodExceeded, UserQuotaInsufficient,
};
use crate::api::errors::failure::{About, ApiError};
use crate::domain::ledger::{Refusal, RefusalReason};
use crate::domain::prices::unknown::Unknown;
use crate::service::ledger::LedgerError;

/// Why a key may not be used.
pub type KeyErrors = (
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
    /// The code of the same name.
    fn from(reason: RefusalReason) -> Self {
        let code = Self::ALL.iter().find(|code| code.as_str() == reason.as_str());
        code.copied().unwrap_or(Self::Internal)
    }
}

/// Why the ledger refuses a request: an error code.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct ReasonBody(ErrorCode);

impl From<RefusalReason> for ReasonBody {
    fn from(reason: RefusalReason) -> Self {
        Self(reason.into())
    }
}

impl PartialSchema for ReasonBody {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("Why the ledger refuses a request: an error code."))
            .enum_values(Some(RefusalReason::ALL.iter().map(|reason| reason.as_str())))
            .into()
    }
}

impl ToSchema for ReasonBody {
    fn name() -> Cow<'static, str> {
        "RefusalReason".into()
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let retry_after = refusal.retry_after().map(i64::unsigned_abs);
        let about = refusal.exceeded().map(About::Limit);
        Self { retry_after, about, ..Self::new(refusal.reason.into(), refusal.to_string()) }
    }
}

impl From<LedgerError> for ApiError {
    fn from(error: LedgerError) -> Self {
        let message = error.to_string();
        match error {
            LedgerError::Refused(refusal) => refusal.into(),
            LedgerError::RequestIdReused => Self::new(ErrorCode::RequestIdReused, message),
            LedgerError::UnknownCost { why: Unknown::NotPriced(_), .. } => {
                Self::new(ErrorCode::ModelNotPriced, message)
            }
            LedgerError::UnknownCost { why: Unknown::Invalid(_) | Unknown::TooExpensive(_), .. } => {
                Self::new(ErrorCode::InvalidCount, message)
            }
            LedgerError::InvalidUsage(_) => Self::new(ErrorCode::InvalidUsage, message),
            LedgerError::Busy => Self::new(ErrorCode::LedgerBusy, message),
            LedgerError::Storage(storage) => storage.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_and_its_code_have_the_same_name() {
        for reason in RefusalReason::ALL {
            assert_eq!(ErrorCode::from(reason).as_str(), reason.as_str());
        }
    }
}
