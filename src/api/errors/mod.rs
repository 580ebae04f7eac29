//! What the errors answer that several resources have: one arm per variant, so that the compiler leads here. Those of
//! one resource are in the file of that resource.

pub mod code;
pub mod fails;
pub mod failure;
pub mod openai;

use crate::api::errors::code::{ErrorCode, codes};
use crate::api::errors::fails::{CodeList, CodesByStatus};
use crate::api::errors::failure::ApiError;
use crate::domain::date_range::DateRangeInvalid;
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
use crate::service::actors::ActorError;
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
            | StorageError::GivenUp => Self::database_unavailable().caused_by(error),
            StorageError::NotDurable => Self::new(
                ErrorCode::NotDurable,
                "this was done, but a failover may lose it; look at the current state, or repeat a charge with its `request_id`",
            ),
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

impl From<KeyHolderError> for ApiError {
    fn from(error: KeyHolderError) -> Self {
        let message = error.to_string();
        match error {
            KeyHolderError::WrongKey => Self::new(ErrorCode::InvalidKey, message),
            KeyHolderError::OwnerDisabled => Self::new(ErrorCode::UserDisabled, message),
            KeyHolderError::RateLimited(limited) => limited.into(),
            KeyHolderError::Storage(storage) => storage.into(),
        }
    }
}

impl CodeList for KeyHolderError {
    fn add_to(codes: &mut CodesByStatus) {
        <(codes::InvalidKey, codes::UserDisabled, codes::RateLimited)>::add_to(codes);
    }
}

impl From<AuthError> for ApiError {
    fn from(error: AuthError) -> Self {
        let message = error.to_string();
        match error {
            AuthError::Unknown => Self::new(ErrorCode::InvalidCredential, message),
            AuthError::Disabled => Self::new(ErrorCode::UserDisabled, message),
            AuthError::RateLimited(limited) => limited.into(),
            AuthError::Storage(storage) => storage.into(),
        }
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

impl From<UsernameConflict> for ApiError {
    fn from(conflict: UsernameConflict) -> Self {
        let code = match conflict {
            UsernameConflict::Taken => ErrorCode::UsernameTaken,
            UsernameConflict::Confusable => ErrorCode::UsernameConfusable,
        };
        Self::new(code, conflict.to_string())
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

impl From<TextInvalid> for ApiError {
    fn from(error: TextInvalid) -> Self {
        let code = match error {
            TextInvalid::Email => ErrorCode::InvalidEmail,
            TextInvalid::Label(_) | TextInvalid::TooLong(_) => ErrorCode::InvalidText,
            TextInvalid::Missing(_) => ErrorCode::MissingField,
        };
        Self::new(code, error.to_string())
    }
}

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
    NameInvalid => InvalidName,
    NoteInvalid => InvalidNote,
    LifetimeInvalid => InvalidExpiry,
    ModelsInvalid => InvalidModels,
    IpsInvalid => InvalidIps,
    PageInvalid => InvalidPage,
    PositionInvalid => InvalidPage,
    SearchInvalid => InvalidSearch,
    DateRangeInvalid => InvalidRange,
    ListingInvalid => InvalidFilter,
    UserFilterInvalid => InvalidFilter,
    UsernameInvalid => InvalidUsername,
    PasswordInvalid => InvalidPassword,
}
