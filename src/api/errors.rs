//! What each error of a service or of a rule answers: one arm per variant, so that the compiler leads here.

use http::StatusCode;

use super::api_error::ApiError;
use super::error_code::ErrorCode;
use crate::domain::date_range::DateRangeInvalid;
use crate::domain::ip_allowlist::IpsInvalid;
use crate::domain::ledger::{Refusal, RefusalReason};
use crate::domain::model_limits::ModelsInvalid;
use crate::domain::money::QuotaInvalid;
use crate::domain::page::PageInvalid;
use crate::domain::password::PasswordInvalid;
use crate::domain::search::SearchInvalid;
use crate::domain::status::EnableRefused;
use crate::domain::text::TextInvalid;
use crate::domain::time::LifetimeInvalid;
use crate::domain::token::{EditRefused, NameInvalid, NoteInvalid};
use crate::domain::token_listing::ListingInvalid;
use crate::domain::usage_report::ReportInvalid;
use crate::domain::user::UserFilterInvalid;
use crate::domain::username::{UsernameConflict, UsernameInvalid};
use crate::service::access_tokens::AccessTokensError;
use crate::service::actors::ActorError;
use crate::service::audit::AuditError;
use crate::service::authenticator::AuthError;
use crate::service::charge_history::ChargeHistoryError;
use crate::service::enablement::EnablementError;
use crate::service::gateways::GatewaysError;
use crate::service::key_holders::KeyHolderError;
use crate::service::keys::KeysError;
use crate::service::ledger::LedgerError;
use crate::service::rate_limiter::RateLimited;
use crate::service::report_queue::ReportRefused;
use crate::service::sessions::SessionsError;
use crate::service::sign_in::SignInError;
use crate::service::tokens::TokensError;
use crate::service::usage::UsageError;
use crate::service::usage_reports::UsageReportsError;
use crate::service::users::UsersError;
use crate::service::vault::Unopenable;
use crate::storage::StorageError;

impl From<StorageError> for ApiError {
    fn from(error: StorageError) -> Self {
        Self::from(&error)
    }
}

impl From<&StorageError> for ApiError {
    fn from(error: &StorageError) -> Self {
        match error {
            StorageError::Unavailable(_)
            | StorageError::Contended(_)
            | StorageError::Locked(_)
            | StorageError::GivenUp => Self::database_unavailable().caused_by(error),
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

impl From<KeysError> for ApiError {
    fn from(error: KeysError) -> Self {
        match error {
            KeysError::NotFound => Self::new(ErrorCode::NotFound, error.to_string()),
            KeysError::Vault(undecryptable) => undecryptable.into(),
            KeysError::Storage(storage) => storage.into(),
            KeysError::Audit(storage) => storage.as_ref().into(),
        }
    }
}

impl From<Unopenable> for ApiError {
    fn from(error: Unopenable) -> Self {
        Self::internal(format_args!("{error}; run `keymeter doctor`"))
    }
}

impl From<UsageError> for ApiError {
    fn from(error: UsageError) -> Self {
        let message = error.to_string();
        match error {
            UsageError::Key(error) => error.into(),
            UsageError::NotFound => Self::new(ErrorCode::NotFound, message),
            UsageError::Range(_) => Self::new(ErrorCode::InvalidRange, message),
            UsageError::Storage(storage) => storage.into(),
        }
    }
}

impl From<ChargeHistoryError> for ApiError {
    fn from(error: ChargeHistoryError) -> Self {
        match error {
            ChargeHistoryError::RateLimited(limited) => limited.into(),
            ChargeHistoryError::Refused(refused) => refused.into(),
            ChargeHistoryError::Storage(storage) => storage.into(),
        }
    }
}

impl From<ReportRefused> for ApiError {
    fn from(error: ReportRefused) -> Self {
        let refusal = Self::new(ErrorCode::ReportsBusy, error.to_string());
        match error {
            ReportRefused::OwnLineFull => refusal.with_status(StatusCode::TOO_MANY_REQUESTS),
            ReportRefused::LineFull => refusal,
        }
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

impl From<AuthError> for ApiError {
    fn from(error: AuthError) -> Self {
        let message = error.to_string();
        match error {
            AuthError::Unknown => Self::new(ErrorCode::InvalidCredential, message),
            AuthError::Disabled => Self::new(ErrorCode::UserDisabled, message),
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

impl From<UsernameConflict> for ApiError {
    fn from(conflict: UsernameConflict) -> Self {
        let code = match conflict {
            UsernameConflict::Taken => ErrorCode::UsernameTaken,
            UsernameConflict::Confusable => ErrorCode::UsernameConfusable,
        };
        Self::new(code, conflict.to_string())
    }
}

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
            UsersError::Actor(actor) => actor.into(),
            UsersError::RateLimited(limited) => limited.into(),
            UsersError::Busy(_) => Self::new(ErrorCode::SignInBusy, message),
            UsersError::Storage(storage) => storage.into(),
        }
    }
}

impl From<SignInError> for ApiError {
    fn from(error: SignInError) -> Self {
        let message = error.to_string();
        match error {
            SignInError::WrongCredentials => Self::new(ErrorCode::WrongCredentials, message),
            SignInError::Disabled => Self::new(ErrorCode::UserDisabled, message),
            SignInError::RegistrationClosed => Self::new(ErrorCode::RegistrationClosed, message),
            SignInError::UsernameConflict(conflict) => conflict.into(),
            SignInError::RateLimited(limited) => limited.into(),
            SignInError::Busy(_) => Self::new(ErrorCode::SignInBusy, message),
            SignInError::Storage(storage) => storage.into(),
        }
    }
}

impl From<AuditError> for ApiError {
    fn from(error: AuditError) -> Self {
        match error {
            AuditError::TooMany => Self::new(ErrorCode::RangeTooLarge, error.to_string()),
            AuditError::Refused(refused) => refused.into(),
            AuditError::Storage(storage) => storage.into(),
        }
    }
}

impl From<UsageReportsError> for ApiError {
    fn from(error: UsageReportsError) -> Self {
        let message = error.to_string();
        match error {
            UsageReportsError::TokenNotFound | UsageReportsError::UserNotFound => {
                Self::new(ErrorCode::NotFound, message)
            }
            UsageReportsError::TooManyRows | UsageReportsError::TooMuchUsage => {
                Self::new(ErrorCode::RangeTooLarge, message)
            }
            UsageReportsError::Refused(refused) => refused.into(),
            UsageReportsError::Storage(storage) => storage.into(),
        }
    }
}

impl From<ReportInvalid> for ApiError {
    fn from(error: ReportInvalid) -> Self {
        let code = match error {
            ReportInvalid::Range(_) => ErrorCode::InvalidRange,
            ReportInvalid::TooManyDays => ErrorCode::RangeTooLarge,
            ReportInvalid::Grouping | ReportInvalid::EveryonesGrouping => ErrorCode::InvalidFilter,
        };
        Self::new(code, error.to_string())
    }
}

impl From<SessionsError> for ApiError {
    fn from(error: SessionsError) -> Self {
        match error {
            SessionsError::NotFound => Self::new(ErrorCode::NotFound, error.to_string()),
            SessionsError::Storage(storage) => storage.into(),
        }
    }
}

impl From<AccessTokensError> for ApiError {
    fn from(error: AccessTokensError) -> Self {
        let message = error.to_string();
        match error {
            AccessTokensError::NotFound => Self::new(ErrorCode::NotFound, message),
            AccessTokensError::Actor(actor) => actor.into(),
            AccessTokensError::TooMany => Self::new(ErrorCode::AccessTokenLimitReached, message),
            AccessTokensError::ExpiryPast | AccessTokensError::ExpiryTooLate(_) => {
                Self::new(ErrorCode::InvalidExpiry, message)
            }
            AccessTokensError::Storage(storage) => storage.into(),
        }
    }
}

impl From<EnablementError> for ApiError {
    fn from(error: EnablementError) -> Self {
        let message = error.to_string();
        match error {
            EnablementError::NotFound | EnablementError::AccountDeleted => Self::new(ErrorCode::NotFound, message),
            EnablementError::Actor(actor) => actor.into(),
            EnablementError::AlreadyEnabled => Self::new(ErrorCode::TokenApiEnabled, message),
            EnablementError::AlreadyRequested => Self::new(ErrorCode::TokenApiRequested, message),
            EnablementError::ForeignAccount => Self::new(ErrorCode::ForeignAccount, message),
            EnablementError::AlreadyDecided => Self::new(ErrorCode::AlreadyDecided, message),
            EnablementError::Storage(storage) => storage.into(),
        }
    }
}

impl From<GatewaysError> for ApiError {
    fn from(error: GatewaysError) -> Self {
        let message = error.to_string();
        match error {
            GatewaysError::NotFound | GatewaysError::CredentialNotFound => Self::new(ErrorCode::NotFound, message),
            GatewaysError::Actor(actor) => actor.into(),
            GatewaysError::TooManyCredentials => Self::new(ErrorCode::CredentialLimitReached, message),
            GatewaysError::Storage(storage) => storage.into(),
        }
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
    SearchInvalid => InvalidSearch,
    DateRangeInvalid => InvalidRange,
    ListingInvalid => InvalidFilter,
    UserFilterInvalid => InvalidFilter,
    UsernameInvalid => InvalidUsername,
    PasswordInvalid => InvalidPassword,
}
