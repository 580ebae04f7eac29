//! Sign-in by password, and registration (spec §5.1). Nothing here changes what servers cache, so transactions are
//! committed without the [`Invalidator`](super::invalidator::Invalidator).

use std::sync::Arc;

use super::passwords::{PasswordCheck, Passwords, PasswordsBusy};
use super::rate_limiter::RateLimited;
use super::sign_in_limits::{AttemptError, SignInLimits};
use super::users::{AccountRules, insert};
use crate::domain::audit::{Action, Actor, AuditEntry, Subject};
use crate::domain::caller::Origin;
use crate::domain::id::UserId;
use crate::domain::password::{NewPassword, TypedPassword};
use crate::domain::user::{User, UserPatch, UserStatus};
use crate::domain::username::{Username, UsernameConflict};
use crate::service::core::Core;
use crate::storage::{self, StorageError, audit, users};

/// Why a sign-in or a registration was refused.
#[derive(Debug, thiserror::Error)]
pub enum SignInError {
    /// Unknown username or wrong password. The caller cannot tell which.
    #[error("the username or the password is wrong")]
    WrongCredentials,
    /// The account is disabled.
    #[error("this account is disabled; ask your administrator")]
    Disabled,
    /// Only administrators create accounts.
    #[error("registration is closed; ask your administrator for an account")]
    RegistrationClosed,
    #[error(transparent)]
    UsernameConflict(#[from] UsernameConflict),
    /// Too many attempts.
    #[error(transparent)]
    RateLimited(#[from] RateLimited),
    /// Too many passwords wait to be checked.
    #[error(transparent)]
    Busy(#[from] PasswordsBusy),
    /// The database.
    #[error(transparent)]
    Storage(StorageError),
}

impl From<StorageError> for SignInError {
    fn from(error: StorageError) -> Self {
        error.username_conflict().map_or(Self::Storage(error), Self::UsernameConflict)
    }
}

impl From<AttemptError> for SignInError {
    fn from(error: AttemptError) -> Self {
        match error {
            AttemptError::RateLimited(limited) => limited.into(),
            AttemptError::Storage(storage) => storage.into(),
        }
    }
}

/// The password hash that a sign-in was checked against.
pub struct SignInProof(String);

/// The sign-in service.
#[derive(Debug)]
pub struct SignIn {
    core: Core,
    limits: Arc<SignInLimits>,
    passwords: Passwords,
    rules: Arc<AccountRules>,
}

impl SignIn {
    pub const fn new(core: Core, limits: Arc<SignInLimits>, passwords: Passwords, rules: Arc<AccountRules>) -> Self {
        Self { core, limits, passwords, rules }
    }

    /// Counts an attempt to sign in from an address. Call it before anything of the attempt is read.
    ///
    /// # Errors
    /// Too many attempts from this address.
    pub fn may_sign_in(&self, origin: &Origin) -> Result<(), SignInError> {
        Ok(self.core.rate_limiter.login.take(origin.ip)?)
    }

    /// Counts a registration from an address. Call it before anything of the registration is read.
    ///
    /// # Errors
    /// Registration is closed; too many registrations from this address.
    pub fn may_register(&self, origin: &Origin) -> Result<(), SignInError> {
        if !self.rules.registration_open {
            return Err(SignInError::RegistrationClosed);
        }
        Ok(self.core.rate_limiter.register.take(origin.ip)?)
    }

    /// Checks a username and a password of an address that [`SignIn::may_sign_in`] has admitted. Start a session, then
    /// call [`SignIn::confirm`] with the proof. `None` stands for a text that cannot be a username; it takes as long as
    /// an unknown username and gets the same error.
    ///
    /// # Errors
    /// Wrong username or password; a disabled account; too many attempts; the database.
    pub async fn sign_in(
        &self,
        username: Option<&Username>,
        password: &TypedPassword,
        origin: &Origin,
    ) -> Result<(User, SignInProof), SignInError> {
        let permit = self.passwords.queue()?;
        let found = {
            let mut conn = self.core.db.acquire().await?;
            match username {
                Some(name) => users::find_by_name(&mut conn, name).await?,
                None => None,
            }
        };
        let (user, hash) = found.unzip();
        let attempt = match username {
            Some(name) => Some(self.limits.begin(name, user.as_ref().map(|user| user.id), origin.ip).await?),
            None => None,
        };
        let check = self.passwords.verify_and_rehash(permit, hash.clone(), password).await;
        let fits = !matches!(check, PasswordCheck::Wrong);
        let (actor, action) = match &user {
            Some(user) if fits => (Actor::User(user, origin), Action::SignedIn),
            Some(_) | None => (Actor::Anonymous(origin), Action::SignInFailed),
        };
        let subject = user.as_ref().map_or(Subject::unknown_user(), |user| Subject::user(user.id));
        {
            let mut tx = self.core.db.begin().await?;
            audit::insert(&mut tx, AuditEntry::new(self.core.clock.now(), actor, action, subject)).await?;
            storage::commit(tx).await?;
        }
        let (Some(user), Some(hash), true) = (user, hash, fits) else {
            return Err(SignInError::WrongCredentials);
        };
        if let Some(attempt) = &attempt {
            let signed_in = (user.status == UserStatus::Enabled).then_some(user.id);
            self.limits.succeeded(attempt, signed_in).await?;
        }
        match (user.status, check) {
            (UserStatus::Disabled, _) => Err(SignInError::Disabled),
            (UserStatus::Enabled, PasswordCheck::RightWithOldHash(new)) => {
                let current = self.replace_hash(user.id, hash, new, password).await?;
                Ok((user, SignInProof(current)))
            }
            (UserStatus::Enabled, PasswordCheck::Right | PasswordCheck::Wrong) => Ok((user, SignInProof(hash))),
        }
    }

    /// Stores a new hash of the same password, and returns the hash that is stored then. Of two sign-ins at once, one
    /// stores its hash, and the other checks its password against that.
    async fn replace_hash(
        &self,
        id: UserId,
        old: String,
        new: String,
        password: &TypedPassword,
    ) -> Result<String, SignInError> {
        let stored = {
            let mut tx = self.core.db.begin().await?;
            if users::replace_password_hash(&mut tx, id, &old, &new).await? {
                storage::commit(tx).await?;
                return Ok(new);
            }
            users::find_password_hash(&mut tx, id).await?
        };
        let permit = self.passwords.queue()?;
        if self.passwords.verify(permit, stored.clone(), password).await {
            stored.ok_or(SignInError::WrongCredentials)
        } else {
            Err(SignInError::WrongCredentials)
        }
    }

    /// Confirms after the session was stored that the password and the account have not changed since
    /// [`SignIn::sign_in`]. It locks the account: a change either committed before and is seen here, or comes later and
    /// deletes the session.
    ///
    /// # Errors
    /// The password or the account changed: end the session. The database.
    pub async fn confirm(&self, id: UserId, proof: &SignInProof) -> Result<(), SignInError> {
        let mut tx = self.core.db.begin().await?;
        let user = users::lock(&mut tx, id).await?.ok_or(SignInError::WrongCredentials)?;
        let hash = users::find_password_hash(&mut tx, id).await?;
        storage::commit(tx).await?;
        match user.status {
            UserStatus::Disabled => Err(SignInError::Disabled),
            UserStatus::Enabled if hash.as_ref() == Some(&proof.0) => Ok(()),
            UserStatus::Enabled => Err(SignInError::WrongCredentials),
        }
    }

    /// Creates an account for its owner, whose address [`SignIn::may_register`] has admitted.
    ///
    /// # Errors
    /// The username is taken; too many passwords wait; the database.
    pub async fn register(
        &self,
        username: &Username,
        password: &NewPassword,
        email: &str,
        origin: &Origin,
    ) -> Result<UserId, SignInError> {
        let password_hash = self.passwords.hash(password).await?;
        let group = Some(self.rules.initial_group.clone());
        let fields = UserPatch { email: Some(email.to_owned()), group, ..UserPatch::default() };
        let (now, quota) = (self.core.clock.now(), self.rules.initial_quota);
        let mut tx = self.core.db.begin().await?;
        let id = insert(&mut tx, username.clone(), &password_hash, fields, quota, now).await?.id;
        let actor = Actor::Anonymous(origin);
        let created = AuditEntry::new(now, actor, Action::AccountCreated, Subject::user(id));
        let entries = [Some(created), AuditEntry::starting_balance(now, actor, id, quota)];
        audit::insert_many(&mut tx, &entries.into_iter().flatten().collect::<Vec<_>>()).await?;
        storage::commit(tx).await?;
        Ok(id)
    }
}
