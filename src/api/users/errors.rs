//! What the errors of accounts answer.

use crate::api::errors::code::codes::{
    AccountDisabledByRoot, InvalidEmail, InvalidGroup, InvalidMaxTokens, InvalidPassword, InvalidPeriodLimit,
    InvalidQuota, InvalidRole, InvalidStatus, InvalidText, InvalidUsername, MissingField, NotFound, OwnAccount,
    RateLimited, RoleTooLow, SignInBusy, WrongPassword,
};
use crate::api::errors::codes_of;
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

codes_of! {
    UsersError {
        NotFound => NotFound,
        RoleTooLow => RoleTooLow,
        OwnAccount => OwnAccount,
        OwnLimits => InvalidField,
        WrongPassword => WrongPassword,
        UnknownGroup(_) => InvalidGroup,
        MaxTokens => InvalidMaxTokens,
        WalletRange(_) => InvalidQuota,
        DisabledByRoot(_) => AccountDisabledByRoot,
        Busy(_) => SignInBusy,
        .. UsernameConflict, Username, Password, Keyed, Actor, RateLimited, Storage
    }
}
