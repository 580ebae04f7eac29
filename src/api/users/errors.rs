//! What the errors of accounts answer.

use crate::api::errors::code::codes::{
    AccountDisabledByRoot, AmbiguousAmount, InsufficientQuota, InvalidEmail, InvalidGroup, InvalidMaxTokens,
    InvalidPassword, InvalidPeriodLimit, InvalidQuota, InvalidRole, InvalidStatus, InvalidText, InvalidUsd,
    InvalidUsername, InvalidUsers, MissingField, NotFound, OwnAccount, RateLimited, RoleTooLow, SignInBusy,
    UserChanged, WrongPassword,
};
use crate::api::errors::codes_of;
use crate::api::errors::failure::{About, ApiError, FaultyUser};
use crate::domain::bulk_users::{ChoiceInvalid, UserFault, UserFaults};
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

/// Why many accounts were not changed.
pub type BulkErrors = (
    (InvalidUsers, InvalidUsername, InvalidQuota, InvalidUsd, AmbiguousAmount, InvalidText, MissingField),
    (InvalidPeriodLimit, InvalidGroup, InvalidStatus),
    (NotFound, RoleTooLow, OwnAccount, AccountDisabledByRoot, InsufficientQuota, UserChanged),
);

/// The failure of the first, with all of them.
impl From<UserFaults> for ApiError {
    fn from(faults: UserFaults) -> Self {
        let of = |fault: &UserFault| Self::from(fault.clone());
        let first = faults.as_slice().first().map_or_else(|| Self::internal("no fault"), |(_, fault)| of(fault));
        let faulty = faults.as_slice().iter().map(|(place, fault)| {
            let Self { code, message, .. } = of(fault);
            FaultyUser { place: place.clone(), code, message }
        });
        let about = Some(About::Users(faulty.collect()));
        Self { message: faults.to_string(), about, ..first }
    }
}

codes_of! {
    ChoiceInvalid {
        Count(_) => InvalidUsers,
        .. Faults
    }
    UserFault {
        Line => InvalidUsers,
        Usd(_) => InvalidUsd,
        DecimalComma => InvalidUsd,
        Twice => InvalidUsers,
        NotFound => NotFound,
        RoleTooLow => RoleTooLow,
        OwnAccount => OwnAccount,
        DisabledByRoot(_) => AccountDisabledByRoot,
        WalletFull(_) => InvalidQuota,
        Insufficient(..) => InsufficientQuota,
        ChangedSince(_) => UserChanged,
        NothingAdded => UserChanged,
        .. Username, Note
    }
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
        .. UsernameConflict, Username, Password, Faults, Keyed, Actor, RateLimited, Storage
    }
}
