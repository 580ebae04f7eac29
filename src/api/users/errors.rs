//! What the errors of accounts answer.

use crate::api::errors::code::ErrorCode;
use crate::api::errors::code::codes::{
    AccountDisabledByRoot, InvalidEmail, InvalidGroup, InvalidMaxTokens, InvalidPassword, InvalidPeriodLimit,
    InvalidQuota, InvalidRole, InvalidStatus, InvalidText, InvalidUsername, MissingField, NotFound, OwnAccount,
    RateLimited, RoleTooLow, SignInBusy, WrongPassword,
};
use crate::api::errors::failure::ApiError;
use crate::domain::username::UsernameConflict;
use crate::service::users::UsersError;

/// Why your account was not edited.
pub type EditOwnErrors = (
    (InvalidText, InvalidEmail, InvalidPassword, InvalidPeriodLimit, WrongPassword, MissingField),
    (RateLimited, SignInBusy, NotFound),
);

/// The fields that an administrator sets.
type AccountFields =
    (InvalidText, InvalidEmail, InvalidPassword, InvalidRole, InvalidGroup, InvalidMaxTokens, InvalidPeriodLimit);

/// Why an account was not created.
pub type CreateErrors = (
    (AccountFields, InvalidUsername, InvalidQuota, InvalidStatus, MissingField),
    (RoleTooLow, UsernameConflict, SignInBusy),
);

/// Why an account was not edited.
pub type EditErrors =
    (AccountFields, InvalidStatus, RoleTooLow, OwnAccount, AccountDisabledByRoot, SignInBusy, NotFound);

impl From<UsersError> for ApiError {
    fn from(error: UsersError) -> Self {
        let message = error.to_string();
        match error {
            UsersError::NotFound => Self::new(ErrorCode::NotFound, message),
            UsersError::RoleTooLow => Self::new(ErrorCode::RoleTooLow, message),
            UsersError::OwnAccount => Self::new(ErrorCode::OwnAccount, message),
            UsersError::OwnLimits => Self::new(ErrorCode::InvalidField, message),
            UsersError::UsernameConflict(conflict) => conflict.into(),
            UsersError::Username(invalid) => invalid.into(),
            UsersError::Password(invalid) => invalid.into(),
            UsersError::WrongPassword => Self::new(ErrorCode::WrongPassword, message),
            UsersError::UnknownGroup(_) => Self::new(ErrorCode::InvalidGroup, message),
            UsersError::MaxTokens => Self::new(ErrorCode::InvalidMaxTokens, message),
            UsersError::WalletRange(_) => Self::new(ErrorCode::InvalidQuota, message),
            UsersError::DisabledByRoot(_) => Self::new(ErrorCode::AccountDisabledByRoot, message),
            UsersError::Keyed(keyed) => keyed.into(),
            UsersError::Actor(actor) => actor.into(),
            UsersError::RateLimited(limited) => limited.into(),
            UsersError::Busy(_) => Self::new(ErrorCode::SignInBusy, message),
            UsersError::Storage(storage) => storage.into(),
        }
    }
}
