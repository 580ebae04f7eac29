//! Accounts: managed by administrators, one (`administration`) or many (`bulk`), by the operator (`operator`) and by
//! their users (`own_account`).

mod administration;
mod bulk;
mod operator;
mod own_account;

use std::sync::Arc;

pub(in crate::service) use administration::insert;
pub use administration::{Grant, NewUser, UserChange};
pub use bulk::{ChangedUser, ChangedUsers, UndoRequest};
pub use own_account::OwnAccountPatch;

use super::actors::ActorError;
use super::passwords::{Passwords, PasswordsBusy};
use super::rate_limiter::RateLimited;
use super::sign_in_limits::{AttemptError, SignInLimits};
use crate::domain::bounds;
use crate::domain::bulk_users::UserFaults;
use crate::domain::money::Quota;
use crate::domain::password::PasswordInvalid;
use crate::domain::user::AccountDisabledByRoot;
use crate::domain::username::{UsernameConflict, UsernameInvalid};
use crate::service::core::Core;
use crate::service::idempotency_keys::IdempotencyKeyError;
use crate::storage::StorageError;

/// The operator's settings for accounts.
#[derive(Debug)]
pub struct AccountRules {
    /// Anyone may register.
    pub registration_open: bool,
    /// Every account may use the token API without enablement.
    pub token_api_open: bool,
    /// Where users ask for enablement.
    pub contact: String,
    /// The wallet of a new account.
    pub initial_quota: Quota,
    /// The group of a new account.
    pub initial_group: String,
}

/// Why a request about accounts was refused.
#[derive(Debug, thiserror::Error)]
pub enum UsersError {
    /// The account does not exist or was deleted.
    #[error("there is no such user")]
    NotFound,
    /// The actor may not manage this account or give this role.
    #[error("your role does not allow this: administrators manage users, root manages everyone")]
    RoleTooLow,
    /// Administrators cannot lock themselves out.
    #[error("you cannot change the role or status of your own account, or delete it")]
    OwnAccount,
    /// Users cannot change their own limits.
    #[error("`period_limits` cannot be changed here; ask an administrator")]
    OwnLimits,
    #[error(transparent)]
    UsernameConflict(#[from] UsernameConflict),
    /// Not a username.
    #[error(transparent)]
    Username(#[from] UsernameInvalid),
    /// Not a password.
    #[error(transparent)]
    Password(#[from] PasswordInvalid),
    /// The current password is wrong.
    #[error("the current password is wrong; send it as `original_password`")]
    WrongPassword,
    /// The group is not configured; holds the names of those that are.
    #[error("`group` must be one of: {0}")]
    UnknownGroup(String),
    /// Not a limit of tokens.
    #[error("`max_tokens` must be a whole number from 0 to {max}, or -1 for the general limit", max = bounds::MAX_TOKENS_OVERRIDE)]
    MaxTokens,
    /// The wallet would leave its range; holds its current quota.
    #[error("the wallet would be outside 0 to {max}; it holds {0} quota units", max = bounds::MAX_QUOTA)]
    WalletRange(i64),
    /// Only root enables what root disabled.
    #[error(transparent)]
    DisabledByRoot(#[from] AccountDisabledByRoot),
    /// Of many accounts, some cannot be changed.
    #[error(transparent)]
    Faults(#[from] UserFaults),
    #[error(transparent)]
    Keyed(#[from] IdempotencyKeyError),
    /// The caller may no longer do this.
    #[error(transparent)]
    Actor(#[from] ActorError),
    /// Too many attempts to give the current password.
    #[error(transparent)]
    RateLimited(#[from] RateLimited),
    /// Too many passwords wait to be hashed.
    #[error(transparent)]
    Busy(#[from] PasswordsBusy),
    /// The database.
    #[error(transparent)]
    Storage(StorageError),
}

impl From<StorageError> for UsersError {
    fn from(error: StorageError) -> Self {
        error.username_conflict().map_or(Self::Storage(error), Self::UsernameConflict)
    }
}

impl From<AttemptError> for UsersError {
    fn from(error: AttemptError) -> Self {
        match error {
            AttemptError::RateLimited(limited) => limited.into(),
            AttemptError::Storage(storage) => storage.into(),
        }
    }
}

/// The user service.
#[derive(Debug)]
pub struct Users {
    core: Core,
    sign_in_limits: Arc<SignInLimits>,
    passwords: Passwords,
    rules: Arc<AccountRules>,
}

impl Users {
    pub const fn new(
        core: Core,
        sign_in_limits: Arc<SignInLimits>,
        passwords: Passwords,
        rules: Arc<AccountRules>,
    ) -> Self {
        Self { core, sign_in_limits, passwords, rules }
    }

    fn check_group(&self, group: &str) -> Result<(), UsersError> {
        if self.core.groups.contains(group) { Ok(()) } else { Err(UsersError::UnknownGroup(self.core.groups.names())) }
    }
}
