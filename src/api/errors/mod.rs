//! What the errors answer that several resources have: one arm per variant, so that the compiler leads here. Those of
//! one resource are in the file of that resource.

pub mod code;
pub mod fails;
pub mod failure;
pub mod openai;

use crate::api::errors::code::{ErrorCode, codes};
use crate::api::errors::fails::{CodeList, CodesByStatus};
use crate::api::errors::failure::ApiError;
use crate::domain::date_range::{DateRangeInvalid, TimeRangeInvalid};
use crate::domain::group::GroupRefused;
use crate::domain::ip_allowlist::IpsInvalid;
use crate::domain::model_limits::ModelsInvalid;
use crate::domain::money::QuotaInvalid;
use crate::domain::page::PageInvalid;
use crate::domain::password::PasswordInvalid;
use crate::domain::request_history::PositionInvalid;
use crate::domain::search::SearchInvalid;
use crate::domain::text::TextInvalid;
use crate::domain::time::LifetimeInvalid;
use crate::domain::token::{NameInvalid, NoteInvalid};
use crate::domain::token_listing::ListingInvalid;
use crate::domain::user::UserFilterInvalid;
use crate::domain::username::{UsernameConflict, UsernameInvalid};
use crate::service::actors::{ActorError, OwnerError};
use crate::service::authenticator::AuthError;
use crate::service::key_holders::KeyHolderError;
use crate::service::rate_limiter::RateLimited;
use crate::service::vault::Unopenable;
use crate::storage::StorageError;

impl From<StorageError> for ApiError {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Unavailable(_)
            | StorageError::Contended(_)
            | StorageError::Blocked(_)
            | StorageError::OtherPrices
            | StorageError::GivenUp => Self::database_unavailable().caused_by(error),
            StorageError::NotDurable => Self::new(
                ErrorCode::NotDurable,
                "this was done, but a failover may lose it; look at the current state, or repeat a charge with its `request_id`",
            ),
            StorageError::Stalled => {
                let message =
                    "the database waits for a standby or its disk, and nothing is changed meanwhile; retry shortly";
                Self::new(ErrorCode::ServerBusy, message)
            }
            StorageError::ReadOnly => {
                Self::new(ErrorCode::DatabaseReadOnly, "the database accepts no writes; retry shortly").caused_by(error)
            }
            StorageError::Busy => Self::new(ErrorCode::ServerBusy, "too many requests are waiting; retry shortly"),
            StorageError::Constraint(_) | StorageError::Broken(_) => Self::internal(error),
        }
    }
}

impl From<RateLimited> for ApiError {
    fn from(error: RateLimited) -> Self {
        Self { retry_after: Some(error.retry_after), ..Self::new(ErrorCode::RateLimited, error.to_string()) }
    }
}

impl From<Unopenable> for ApiError {
    fn from(error: Unopenable) -> Self {
        Self::internal(format_args!("{error}; run `keymeter doctor`"))
    }
}

codes_of! {
    KeyHolderError {
        WrongKey => InvalidKey,
        OwnerDisabled => UserDisabled,
        .. RateLimited, Storage
    }
}

impl CodeList for KeyHolderError {
    fn add_to(codes: &mut CodesByStatus) {
        <(codes::InvalidKey, codes::UserDisabled, codes::RateLimited)>::add_to(codes);
    }
}

codes_of! {
    AuthError {
        Unknown => InvalidCredential,
        Disabled => UserDisabled,
        .. RateLimited, Storage
    }
}

codes_of! {
    OwnerError {
        NotFound => NotFound,
        RoleTooLow => RoleTooLow,
        NotEnabled => TokenApiNotEnabled,
        .. Actor
    }
}

impl From<ActorError> for ApiError {
    fn from(error: ActorError) -> Self {
        match error {
            ActorError::Auth(error) => error.into(),
            ActorError::NotAdministrator => Self::not_admin(),
        }
    }
}

codes_of! {
    UsernameConflict {
        Taken => UsernameTaken,
        Confusable => UsernameConfusable,
    }
}

impl CodeList for UsernameConflict {
    fn add_to(codes: &mut CodesByStatus) {
        <(codes::UsernameTaken, codes::UsernameConfusable)>::add_to(codes);
    }
}

impl From<QuotaInvalid> for ApiError {
    fn from(error: QuotaInvalid) -> Self {
        Self::new(ErrorCode::InvalidQuota, format!("`remain_quota` {error}"))
    }
}

codes_of! {
    TextInvalid {
        Email => InvalidEmail,
        Label(_) => InvalidText,
        TooLong(_) => InvalidText,
        Missing(_) => MissingField,
    }
}

/// The code of each variant of an error, whose text is the message. After `..`: variants whose cause has the code.
macro_rules! codes_of {
    ($($error:ident {
        $($variant:ident $(($any:tt))? => $code:ident $(@ $status:ident)?,)*
        $(.. $($cause:ident),+)?
    })*) => {$(
        impl From<$error> for $crate::api::errors::failure::ApiError {
            fn from(error: $error) -> Self {
                match error {
                    $($error::$variant $(($any))? => {
                        Self::new($crate::api::errors::code::ErrorCode::$code, error.to_string())
                            $(.with_status(http::StatusCode::$status))?
                    })*
                    $($($error::$cause(cause) => cause.into(),)+)?
                }
            }
        }
    )*};
}
pub(super) use codes_of;

/// Rules whose errors all have one code.
macro_rules! bad_input {
    ($($error:ty => $code:ident,)*) => {$(
        impl From<$error> for ApiError {
            fn from(error: $error) -> Self {
                Self::new(ErrorCode::$code, error.to_string())
            }
        }
    )*};
}

bad_input! {
    GroupRefused => InvalidGroup,
    NameInvalid => InvalidName,
    NoteInvalid => InvalidNote,
    LifetimeInvalid => InvalidExpiry,
    ModelsInvalid => InvalidModels,
    IpsInvalid => InvalidIps,
    PageInvalid => InvalidPage,
    PositionInvalid => InvalidPage,
    SearchInvalid => InvalidSearch,
    DateRangeInvalid => InvalidRange,
    TimeRangeInvalid => InvalidRange,
    ListingInvalid => InvalidFilter,
    UserFilterInvalid => InvalidFilter,
    UsernameInvalid => InvalidUsername,
    PasswordInvalid => InvalidPassword,
}
