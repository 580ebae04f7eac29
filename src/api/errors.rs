//! The only place that knows a status code: what each refusal of a service or of a rule answers.
//!
//! A refusal travels as an extension of the response; [`super::middleware::errors::render_errors`] gives it its words,
//! so that every failure of every layer has the same shape.

use axum::response::{IntoResponse, Response};
use http::StatusCode;

use crate::domain::ip_allowlist::IpsInvalid;
use crate::domain::ledger::Refusal;
use crate::domain::model_limits::ModelsInvalid;
use crate::domain::money::QuotaInvalid;
use crate::domain::page::PageInvalid;
use crate::domain::search::SearchInvalid;
use crate::domain::status::EnableRefused;
use crate::domain::time::LifetimeInvalid;
use crate::domain::token::{NameInvalid, NoteInvalid};
use crate::domain::user::AccountInvalid;
use crate::service::accounts::AccountsError;
use crate::service::admin::AdminError;
use crate::service::authenticator::AuthError;
use crate::service::keys::KeysError;
use crate::service::ledger::LedgerError;
use crate::service::rate_limiter::RateLimited;
use crate::service::tokens::TokensError;
use crate::service::usage::UsageError;
use crate::service::vault::Unopenable;
use crate::storage::StorageError;

/// Seconds after which to try again when the database is away.
const RETRY_AFTER_OUTAGE: u64 = 1;

/// A failure as the caller is told it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApiError {
    /// Its status.
    pub status: StatusCode,
    /// Its stable code.
    pub error: &'static str,
    /// One sentence that says what to do.
    pub message: String,
    /// Seconds after which it may work.
    pub retry_after: Option<u64>,
}

impl ApiError {
    /// Any refusal.
    pub fn new(status: StatusCode, error: &'static str, message: impl Into<String>) -> Self {
        Self { status, error, message: message.into(), retry_after: None }
    }

    /// 400.
    pub fn bad(error: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, error, message)
    }

    fn forbidden(error: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, error, message)
    }

    fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not_found", message)
    }

    fn conflict(error: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::CONFLICT, error, message)
    }

    fn unauthorized(error: &'static str, message: impl Into<String>) -> Self {
        Self::new(StatusCode::UNAUTHORIZED, error, message)
    }

    /// 500 with one fixed sentence; what happened is in the log under the request id.
    #[must_use]
    pub fn internal() -> Self {
        Self::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            "internal",
            "something went wrong here; the operator finds it in the log under this X-Request-Id",
        )
    }

    /// 503 for the length of an outage.
    #[must_use]
    pub fn unavailable(error: &'static str, message: &str) -> Self {
        let refusal = Self::new(StatusCode::SERVICE_UNAVAILABLE, error, message);
        Self { retry_after: Some(RETRY_AFTER_OUTAGE), ..refusal }
    }

    /// 503 for a connection beyond `server.max_connections`.
    #[must_use]
    pub fn too_many_connections() -> Self {
        Self::unavailable(
            "too_many_connections",
            "this server has as many connections as it may; try again in a moment",
        )
    }

    /// 401 without any credential.
    #[must_use]
    pub fn not_signed_in() -> Self {
        Self::unauthorized("not_signed_in", "sign in, or send an access token in `Authorization`")
    }

    /// 401 where `New-Api-User` names somebody else.
    #[must_use]
    pub fn user_mismatch() -> Self {
        Self::unauthorized(
            "user_mismatch",
            "`New-Api-User` is not the user of this credential; leave it out or correct it",
        )
    }

    /// 401 without a gateway's credential.
    #[must_use]
    pub fn not_a_gateway() -> Self {
        Self::unauthorized("invalid_gateway", "this needs a gateway's credential; an administrator makes one")
    }

    /// 403 for a write by cookie from another site.
    #[must_use]
    pub fn cross_site() -> Self {
        Self::forbidden(
            "cross_site_request",
            "a write with the session cookie must come from this site (`Origin` or `Sec-Fetch-Site`); \
             programs use an access token",
        )
    }

    /// 403 for a page of another site that would sign somebody in or out.
    #[must_use]
    pub fn foreign_page() -> Self {
        Self::forbidden(
            "cross_site_request",
            "a page of another site sent this (`Origin` or `Sec-Fetch-Site`); open this site itself",
        )
    }

    /// 403 before enablement (spec §1, §5.3).
    #[must_use]
    pub fn not_enabled(contact: &str) -> Self {
        let contact = if contact.is_empty() { "your administrator" } else { contact };
        Self::forbidden(
            "token_api_not_enabled",
            format!(
                "the token API is not enabled for this account; ask for it with \
                 POST /api/user/token_api_request, giving a reason, or contact {contact}"
            ),
        )
    }

    /// 403 for a right one does not have.
    #[must_use]
    pub fn not_admin() -> Self {
        Self::forbidden("not_an_administrator", "this needs an administrator's account")
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        let mut answer = self.status.into_response();
        answer.extensions_mut().insert(self);
        answer
    }
}

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
            | StorageError::GivenUp => {
                tracing::warn!(%error, "answered 503");
                Self::unavailable("database_unavailable", "the database is away; try again in a moment")
            }
            StorageError::Busy => {
                Self::unavailable("server_busy", "too many requests are waiting; try again in a moment")
            }
            StorageError::Constraint(_) | StorageError::Broken(_) => {
                tracing::error!(%error, "answered 500");
                Self::internal()
            }
        }
    }
}

impl From<RateLimited> for ApiError {
    fn from(error: RateLimited) -> Self {
        let refusal = Self::new(StatusCode::TOO_MANY_REQUESTS, "rate_limited", error.to_string());
        Self { retry_after: Some(error.retry_after), ..refusal }
    }
}

impl From<EnableRefused> for ApiError {
    fn from(error: EnableRefused) -> Self {
        match error {
            EnableRefused::SwitchedOffByAdministrator => {
                Self::forbidden("switched_off_by_administrator", error.to_string())
            }
            EnableRefused::SwitchedOffByRoot => Self::forbidden("switched_off_by_root", error.to_string()),
            EnableRefused::Expired => Self::conflict("token_expired", error.to_string()),
            EnableRefused::QuotaExhausted => Self::conflict("token_exhausted", error.to_string()),
        }
    }
}

impl From<TokensError> for ApiError {
    fn from(error: TokensError) -> Self {
        match error {
            TokensError::NotFound => Self::not_found(error.to_string()),
            TokensError::LimitReached(_) => Self::conflict("token_limit_reached", error.to_string()),
            TokensError::Enable(refused) => refused.into(),
            TokensError::Group(refused) => Self::bad("invalid_group", refused.to_string()),
            TokensError::Quota(invalid) => invalid.into(),
            TokensError::RateLimited(too_often) => too_often.into(),
            TokensError::Vault(undecryptable) => undecryptable.into(),
            TokensError::Storage(storage) => storage.into(),
        }
    }
}

impl From<KeysError> for ApiError {
    fn from(error: KeysError) -> Self {
        match error {
            KeysError::NotFound => Self::not_found(error.to_string()),
            KeysError::Vault(undecryptable) => undecryptable.into(),
            KeysError::Storage(storage) => storage.into(),
            KeysError::Audit(storage) => storage.as_ref().into(),
        }
    }
}

impl From<Unopenable> for ApiError {
    fn from(error: Unopenable) -> Self {
        tracing::error!(%error, "answered 500; run `keymeter doctor`");
        Self::internal()
    }
}

impl From<UsageError> for ApiError {
    fn from(error: UsageError) -> Self {
        match error {
            UsageError::WrongKey => Self::unauthorized("invalid_key", error.to_string()),
            UsageError::OwnerDisabled => Self::forbidden("user_disabled", error.to_string()),
            UsageError::NotFound => Self::not_found(error.to_string()),
            UsageError::Range(invalid) => Self::bad("invalid_range", invalid.to_string()),
            UsageError::RateLimited(too_often) => too_often.into(),
            UsageError::Storage(storage) => storage.into(),
        }
    }
}

impl From<AuthError> for ApiError {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::Unknown => Self::unauthorized("invalid_credential", error.to_string()),
            AuthError::Disabled => Self::forbidden("user_disabled", error.to_string()),
            AuthError::Storage(storage) => storage.into(),
        }
    }
}

impl From<Refusal> for ApiError {
    fn from(refusal: Refusal) -> Self {
        let message = refusal.to_string();
        let payment = |error| Self::new(StatusCode::PAYMENT_REQUIRED, error, message.clone());
        match refusal {
            Refusal::InvalidKey => Self::unauthorized("invalid_key", message),
            Refusal::TokenDisabled => Self::forbidden("token_disabled", message),
            Refusal::TokenExpired => Self::forbidden("token_expired", message),
            Refusal::UserDisabled => Self::forbidden("user_disabled", message),
            Refusal::GroupNotAllowed => Self::forbidden("group_not_allowed", message),
            Refusal::ModelNotAllowed => Self::forbidden("model_not_allowed", message),
            Refusal::IpNotAllowed => Self::forbidden("ip_not_allowed", message),
            Refusal::TokenExhausted => payment("token_exhausted"),
            Refusal::TokenQuotaInsufficient => payment("token_quota_insufficient"),
            Refusal::UserQuotaInsufficient => payment("user_quota_insufficient"),
            Refusal::NoReservation => Self::new(StatusCode::NOT_FOUND, "reservation_not_found", message),
            Refusal::ReservationEnded => Self::conflict("reservation_ended", message),
        }
    }
}

impl From<LedgerError> for ApiError {
    fn from(error: LedgerError) -> Self {
        match error {
            LedgerError::Refused(refusal) => refusal.into(),
            LedgerError::RequestIdReused => Self::conflict("request_id_reused", error.to_string()),
            LedgerError::Busy => Self::unavailable("ledger_busy", &error.to_string()),
            LedgerError::Storage(storage) => storage.as_ref().into(),
        }
    }
}

impl From<AccountsError> for ApiError {
    fn from(error: AccountsError) -> Self {
        let message = error.to_string();
        match error {
            AccountsError::WrongCredentials => Self::unauthorized("wrong_credentials", message),
            AccountsError::Disabled => Self::forbidden("user_disabled", message),
            AccountsError::RegistrationClosed => Self::forbidden("registration_closed", message),
            AccountsError::UsernameTaken => Self::conflict("username_taken", message),
            AccountsError::UsernameConfusable => Self::conflict("username_confusable", message),
            AccountsError::WrongPassword => Self::forbidden("wrong_password", message),
            AccountsError::Invalid(invalid) => invalid.into(),
            AccountsError::NotFound(_) => Self::not_found(message),
            AccountsError::TooManyAccessTokens(_) => Self::conflict("access_token_limit_reached", message),
            AccountsError::ExpiryPast | AccountsError::ExpiryTooLate(_) => Self::bad("invalid_expiry", message),
            AccountsError::AlreadyEnabled => Self::conflict("token_api_enabled", message),
            AccountsError::AlreadyRequested => Self::conflict("token_api_requested", message),
            AccountsError::ForeignAccount => Self::forbidden("foreign_account", message),
            AccountsError::RateLimited(too_often) => too_often.into(),
            AccountsError::Busy(_) => Self::unavailable("sign_in_busy", &message),
            AccountsError::Storage(storage) => storage.into(),
        }
    }
}

impl From<AdminError> for ApiError {
    fn from(error: AdminError) -> Self {
        let message = error.to_string();
        match error {
            AdminError::NotFound(_) => Self::not_found(message),
            AdminError::RoleTooLow => Self::forbidden("role_too_low", message),
            AdminError::OwnAccount => Self::conflict("own_account", message),
            AdminError::UsernameTaken => Self::conflict("username_taken", message),
            AdminError::UsernameConfusable => Self::conflict("username_confusable", message),
            AdminError::Invalid(invalid) => invalid.into(),
            AdminError::UnknownGroup(_) => Self::bad("invalid_group", message),
            AdminError::MaxTokens => Self::bad("invalid_max_tokens", message),
            AdminError::WalletRange(_) => Self::bad("invalid_quota", message),
            AdminError::DisabledByRoot(_) => Self::forbidden("account_disabled_by_root", message),
            AdminError::TooManyCredentials => Self::conflict("credential_limit_reached", message),
            AdminError::AlreadyDecided => Self::conflict("already_decided", message),
            AdminError::Busy(_) => Self::unavailable("sign_in_busy", &message),
            AdminError::Storage(storage) => storage.into(),
        }
    }
}

impl From<QuotaInvalid> for ApiError {
    fn from(error: QuotaInvalid) -> Self {
        Self::bad("invalid_quota", format!("`remain_quota` {error}"))
    }
}

impl From<AccountInvalid> for ApiError {
    fn from(error: AccountInvalid) -> Self {
        let code = match error {
            AccountInvalid::Username | AccountInvalid::UsernameCharacters => "invalid_username",
            AccountInvalid::Password => "invalid_password",
            AccountInvalid::Email => "invalid_email",
            AccountInvalid::Label(_) | AccountInvalid::Text(_) => "invalid_text",
            AccountInvalid::Missing(_) => "missing_field",
        };
        Self::bad(code, error.to_string())
    }
}

/// Rules with one answer for all their errors.
macro_rules! bad_input {
    ($($error:ty => $code:literal,)*) => {$(
        impl From<$error> for ApiError {
            fn from(error: $error) -> Self {
                Self::bad($code, error.to_string())
            }
        }
    )*};
}

bad_input! {
    NameInvalid => "invalid_name",
    NoteInvalid => "invalid_note",
    LifetimeInvalid => "invalid_expiry",
    ModelsInvalid => "invalid_models",
    IpsInvalid => "invalid_ips",
    PageInvalid => "invalid_page",
    SearchInvalid => "invalid_search",
}
