//! What the errors of tokens answer.

use http::StatusCode;

use crate::api::errors::code::ErrorCode;
use crate::api::errors::code::codes::{
    InsufficientQuota, InvalidExpiry, InvalidGroup, InvalidIfMatch, InvalidIps, InvalidModels, InvalidName,
    InvalidNote, InvalidPeriodLimit, InvalidQuota, InvalidRateLimit, InvalidStatus, MissingField, NotFound,
    SwitchedOffByAdministrator, SwitchedOffByRoot, TokenChanged,
};
use crate::api::errors::codes_of;
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

codes_of! {
    EnableError {
        DisabledByAdministrator => SwitchedOffByAdministrator @ FORBIDDEN,
        DisabledByRoot => SwitchedOffByRoot @ FORBIDDEN,
        Expired => TokenExpired @ CONFLICT,
        QuotaExhausted => TokenExhausted @ CONFLICT,
    }
}

impl From<BulkError> for ApiError {
    fn from(BulkError { at, error }: BulkError) -> Self {
        Self { about: at.map(About::Place), ..error.into() }
    }
}

codes_of! {
    EditError {
        Quota(_) => InvalidQuota,
        TooMuch(_) => InvalidQuota,
        Insufficient(_) => InsufficientQuota,
    }
    TokensError {
        NotFound => NotFound,
        LimitReached(_) => TokenLimitReached,
        TooManyMatch => RangeTooLarge,
        .. Group, Enable, Edit, Search, Changed, Keyed, Actor, Owner, RateLimited, Vault, Storage
    }
}
