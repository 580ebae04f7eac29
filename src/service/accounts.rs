//! What people do with their own account: sign in, change it, make access tokens, ask to be
//! enabled for the token API (spec §1, §5).

use std::sync::Arc;

use secrecy::{ExposeSecret, SecretString};
use zeroize::Zeroizing;

use super::invalidator::Invalidator;
use super::passwords::{Busy, Passwords};
use super::rate_limiter::{RateLimited, RateLimiter};
use super::rng::Rng;
use super::vault::Vault;
use crate::domain::audit::{Action, Actor, AuditEntry, Caller, Details, Origin, Subject};
use crate::domain::id::{AccessTokenId, UserId};
use crate::domain::key::{self, AccessToken};
use crate::domain::money::Quota;
use crate::domain::policy;
use crate::domain::time::{Clock, Lifetime, UnixTime};
use crate::domain::user::{AccountInvalid, NewPassword, Role, TypedPassword, User, UserStatus, Username};
use crate::storage::access_tokens::AccessTokenRow;
use crate::storage::enablement::EnablementRequest;
use crate::storage::users::NewUser;
use crate::storage::{self, Constraint, Db, StorageError, access_tokens, audit, enablement, sessions, users};

/// What an operator decides about accounts.
#[derive(Debug, Clone)]
pub struct AccountRules {
    /// Whether anyone may register.
    pub registration_open: bool,
    /// Whether every account may use the token API without being enabled.
    pub token_api_open: bool,
    /// Where to ask for enablement.
    pub contact: String,
    /// The wallet of a new account.
    pub initial_quota: Quota,
    /// The group of a new account.
    pub initial_group: String,
}

/// Why a verb was refused.
#[derive(Debug, thiserror::Error)]
pub enum AccountsError {
    /// Unknown name or wrong password; nobody can tell which.
    #[error("the username or the password is wrong")]
    WrongCredentials,
    /// Switched off.
    #[error("this account is disabled; ask your administrator")]
    Disabled,
    /// The operator makes the accounts.
    #[error("registration is closed; ask your administrator for an account")]
    RegistrationClosed,
    /// Another live account has it.
    #[error("this username is taken")]
    UsernameTaken,
    /// Another live account's looks like it.
    #[error("this username looks like that of another account; choose a different one")]
    UsernameConfusable,
    /// Not a change without it.
    #[error("the old password is wrong; send it as `original_password`")]
    WrongPassword,
    /// An input that does not fit.
    #[error(transparent)]
    Invalid(#[from] AccountInvalid),
    /// Absent or somebody else's; nobody can tell which.
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// A bound that keeps lists readable.
    #[error("you have {0} access tokens, which is the limit; revoke one first")]
    TooManyAccessTokens(i64),
    /// An access token that would be dead at birth.
    #[error("`expires_at` has passed already; it must lie in the future, or be -1 for never")]
    ExpiryPast,
    /// An access token that would outlive the one it is made with.
    #[error("`expires_at` may be {0} at most, when the access token that asks ends; sign in for a later one")]
    ExpiryTooLate(i64),
    /// Nothing to ask for.
    #[error("the token API is enabled for this account already")]
    AlreadyEnabled,
    /// One at a time.
    #[error("a request for this account is waiting for an administrator already")]
    AlreadyRequested,
    /// Only for oneself.
    #[error("`account` must be your own username; others have to ask for themselves")]
    ForeignAccount,
    /// Not now.
    #[error(transparent)]
    RateLimited(#[from] RateLimited),
    /// Not now, for nobody.
    #[error(transparent)]
    Busy(#[from] Busy),
    /// The database.
    #[error(transparent)]
    Storage(StorageError),
}

impl From<StorageError> for AccountsError {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Constraint(Constraint::UsernameUnique) => Self::UsernameTaken,
            StorageError::Constraint(Constraint::UsernameSkeletonUnique) => Self::UsernameConfusable,
            StorageError::Constraint(Constraint::OnePendingRequest) => Self::AlreadyRequested,
            StorageError::Constraint(Constraint::IdempotencyKeyUnique)
            | StorageError::Unavailable(_)
            | StorageError::Contended(_)
            | StorageError::Locked(_)
            | StorageError::GivenUp
            | StorageError::Busy
            | StorageError::Broken(_) => Self::Storage(error),
        }
    }
}

/// What a person may change about the own account. What is absent stays as it is.
#[derive(Default)]
pub struct SelfPatch {
    /// New display name.
    pub display_name: Option<String>,
    /// New e-mail address.
    pub email: Option<String>,
    /// New password, together with the old one.
    pub password: Option<(NewPassword, TypedPassword)>,
}

/// The password hash that a sign-in was checked against.
pub struct SignInProof(String);

/// The accounts service.
#[derive(Debug)]
pub struct Accounts {
    db: Db,
    vault: Vault,
    rng: Rng,
    clock: Arc<dyn Clock>,
    rate_limiter: Arc<RateLimiter>,
    passwords: Passwords,
    invalidator: Invalidator,
    rules: AccountRules,
}

impl Accounts {
    /// A service on `db`.
    #[must_use]
    #[expect(clippy::too_many_arguments, reason = "the parts of a service, named once, in `app`")]
    pub const fn new(
        db: Db,
        vault: Vault,
        rng: Rng,
        clock: Arc<dyn Clock>,
        rate_limiter: Arc<RateLimiter>,
        passwords: Passwords,
        invalidator: Invalidator,
        rules: AccountRules,
    ) -> Self {
        Self { db, vault, rng, clock, rate_limiter, passwords, invalidator, rules }
    }

    /// What the operator decided.
    #[must_use]
    pub const fn rules(&self) -> &AccountRules {
        &self.rules
    }

    /// Makes `root` if there is no account at all. Returns the password if one had to be made up.
    ///
    /// # Errors
    /// The given password does not fit; the database.
    pub async fn ensure_root(&self, given: Option<&SecretString>) -> Result<Option<Zeroizing<String>>, AccountsError> {
        {
            let mut conn = self.db.acquire().await?;
            if users::exist(&mut conn).await? {
                return Ok(None);
            }
        }
        let made_up = given.is_none().then(|| self.rng.generate(|rng| key::random_password(rng)));
        let password = match (given, &made_up) {
            (Some(given), _) => NewPassword::parse(given.expose_secret())?,
            (None, Some(made_up)) => NewPassword::parse(made_up)?,
            (None, None) => return Err(AccountInvalid::Password.into()),
        };
        let password_hash = self.passwords.hash(&password).await?;
        let root = NewUser {
            username: &Username::parse("root")?,
            display_name: "Root",
            email: "",
            password_hash: &password_hash,
            role: Role::Root,
            group: &self.rules.initial_group,
            quota: self.rules.initial_quota,
            token_api_enabled: true,
            max_tokens: None,
        };
        let mut conn = self.db.acquire().await?;
        match users::insert(&mut conn, &root, self.clock.now()).await {
            Ok(_) => Ok(made_up),
            // Another replica was first, and printed its password.
            Err(StorageError::Constraint(Constraint::UsernameUnique | Constraint::UsernameSkeletonUnique)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Spec §5.1: who signs in, and the proof to confirm it with once the session stands. A name that cannot be one is as
    /// wrong as an unknown one, and costs the same.
    ///
    /// # Errors
    /// Wrong name or password, a disabled account, too many tries, too many passwords to check.
    pub async fn sign_in(
        &self,
        username: Option<&Username>,
        password: &TypedPassword,
        origin: &Origin,
    ) -> Result<(User, SignInProof), AccountsError> {
        self.rate_limiter.may_sign_in(username, origin.ip)?;
        let turn = self.passwords.queue()?;
        let found = {
            let mut conn = self.db.acquire().await?;
            match username {
                Some(name) => users::find_by_name(&mut conn, name).await?,
                None => None,
            }
        };
        let (user, hash) = found.unzip();
        let fits = self.passwords.verify(turn, hash.clone(), password).await;
        let action = if fits { Action::SignedIn } else { Action::SignInFailed };
        let subject = user.as_ref().map_or(Subject { kind: "user", id: None, user_id: None }, |user| of_user(user.id));
        {
            let mut conn = self.db.acquire().await?;
            let actor = user.as_ref().filter(|_| fits);
            audit::insert(&mut conn, self.entry(actor, origin, action, subject, Details::new())).await?;
        }
        let (Some(user), Some(hash), true) = (user, hash, fits) else {
            return Err(AccountsError::WrongCredentials);
        };
        match user.status {
            UserStatus::Disabled => Err(AccountsError::Disabled),
            UserStatus::Enabled => Ok((user, SignInProof(hash))),
        }
    }

    /// Whether the password and the account are still those of the sign-in. Checked under the
    /// account's lock once the session stands: whoever changes them ends all sessions, and so either
    /// ends this one or is seen here.
    ///
    /// # Errors
    /// Changed meanwhile; the database.
    pub async fn confirm_sign_in(&self, id: UserId, proof: &SignInProof) -> Result<(), AccountsError> {
        let mut tx = self.db.begin().await?;
        let user = users::lock(&mut tx, id).await?.ok_or(AccountsError::WrongCredentials)?;
        let hash = users::password_hash(&mut tx, id).await?;
        storage::commit(tx).await?;
        match user.status {
            UserStatus::Disabled => Err(AccountsError::Disabled),
            UserStatus::Enabled if hash.as_ref() == Some(&proof.0) => Ok(()),
            UserStatus::Enabled => Err(AccountsError::WrongCredentials),
        }
    }

    /// A new account by its owner, where the operator allows it.
    ///
    /// # Errors
    /// Closed; a taken name; too many from one address.
    pub async fn register(
        &self,
        username: &Username,
        password: &NewPassword,
        email: &str,
        origin: &Origin,
    ) -> Result<UserId, AccountsError> {
        if !self.rules.registration_open {
            return Err(AccountsError::RegistrationClosed);
        }
        self.rate_limiter.may_register(origin.ip)?;
        let password_hash = self.passwords.hash(password).await?;
        let new = NewUser {
            username,
            display_name: username.as_str(),
            email,
            password_hash: &password_hash,
            role: Role::User,
            group: &self.rules.initial_group,
            quota: self.rules.initial_quota,
            token_api_enabled: false,
            max_tokens: None,
        };
        let mut tx = self.db.begin().await?;
        let id = users::insert(&mut tx, &new, self.clock.now()).await?;
        let entry = self.entry(None, origin, Action::AccountCreated, of_user(id), Details::new());
        audit::insert(&mut tx, entry).await?;
        storage::commit(tx).await?;
        Ok(id)
    }

    /// The caller's account as it is now.
    ///
    /// # Errors
    /// Deleted meanwhile; the database.
    pub async fn show(&self, caller: &Caller) -> Result<User, AccountsError> {
        let mut conn = self.db.acquire().await?;
        users::find(&mut conn, caller.user.id).await?.ok_or(AccountsError::NotFound("account"))
    }

    /// Changes the caller's account. A new password ends all its sessions.
    ///
    /// # Errors
    /// A wrong old password; too many tries of it, or of all; the database.
    pub async fn edit(&self, caller: &Caller, patch: SelfPatch) -> Result<User, AccountsError> {
        let id = caller.user.id;
        let hashes = match &patch.password {
            Some((new, old)) => {
                self.rate_limiter.may_sign_in(Some(&caller.user.username), caller.origin.ip)?;
                let turn = self.passwords.queue()?;
                let hash = {
                    let mut conn = self.db.acquire().await?;
                    users::password_hash(&mut conn, id).await?
                };
                if !self.passwords.verify(turn, hash.clone(), old).await {
                    return Err(AccountsError::WrongPassword);
                }
                Some((hash, self.passwords.hash(new).await?))
            }
            None => None,
        };
        let mut tx = self.db.begin().await?;
        let mut user = users::lock(&mut tx, id).await?.ok_or(AccountsError::NotFound("account"))?;
        user.display_name = patch.display_name.unwrap_or(user.display_name);
        user.email = patch.email.unwrap_or(user.email);
        users::save(&mut tx, &user).await?;
        let mut action = Action::AccountEdited;
        if let Some((checked, hash)) = hashes {
            // Under the lock: of two changes with the same old password, the second one's is no longer the old one.
            if users::password_hash(&mut tx, id).await? != checked {
                return Err(AccountsError::WrongPassword);
            }
            users::save_password(&mut tx, id, &hash).await?;
            sessions::remove_all_of(&mut tx, id).await?;
            action = Action::PasswordChanged;
        }
        let entry = self.entry(Some(&user), &caller.origin, action, of_user(id), Details::new());
        audit::insert(&mut tx, entry).await?;
        self.invalidator.notify_replicas(&mut tx, id).await?;
        storage::commit(tx).await?;
        self.invalidator.account_changed(id);
        Ok(user)
    }

    /// A new access token, shown this once, and how long it lives: as asked, or, where nothing is asked, as long as the
    /// credential allows that the caller shows. An access token makes none that outlives it.
    ///
    /// # Errors
    /// An end that has passed or is too late; too many already; the database.
    pub async fn mint_access_token(
        &self,
        caller: &Caller,
        name: &str,
        asked: Option<Lifetime>,
    ) -> Result<(AccessTokenId, AccessToken, Lifetime), AccountsError> {
        let now = self.clock.now();
        let latest = caller.credential.latest_end();
        let lifetime = asked.unwrap_or_else(|| Lifetime::from(latest));
        let expires_at: Option<UnixTime> = lifetime.into();
        if lifetime.is_over(now) {
            return Err(AccountsError::ExpiryPast);
        }
        if let Some(latest) = latest
            && expires_at.is_none_or(|end| end > latest)
        {
            return Err(AccountsError::ExpiryTooLate(latest.get()));
        }
        let token = self.rng.generate(|rng| AccessToken::generate(rng));
        let digest = self.vault.digests().digest(token.expose());
        let owner = caller.user.id;
        let mut tx = self.db.begin().await?;
        users::lock(&mut tx, owner).await?.ok_or(AccountsError::NotFound("account"))?;
        access_tokens::remove_expired_of(&mut tx, owner, now).await?;
        if access_tokens::count_live(&mut tx, owner, now).await? >= policy::MAX_ACCESS_TOKENS {
            return Err(AccountsError::TooManyAccessTokens(policy::MAX_ACCESS_TOKENS));
        }
        let id = access_tokens::insert(&mut tx, owner, name, &digest, expires_at, now).await?;
        let entry = self.entry(
            Some(&caller.user),
            &caller.origin,
            Action::AccessTokenCreated,
            of_access_token(id, owner),
            Details::new(),
        );
        audit::insert(&mut tx, entry).await?;
        storage::commit(tx).await?;
        Ok((id, token, lifetime))
    }

    /// The caller's access tokens, newest first.
    ///
    /// # Errors
    /// The database.
    pub async fn list_access_tokens(&self, caller: &Caller) -> Result<Vec<AccessTokenRow>, AccountsError> {
        let mut conn = self.db.acquire().await?;
        Ok(access_tokens::list(&mut conn, caller.user.id).await?)
    }

    /// Ends one of the caller's access tokens, at once.
    ///
    /// # Errors
    /// Not the caller's; the database.
    pub async fn revoke_access_token(&self, caller: &Caller, id: AccessTokenId) -> Result<(), AccountsError> {
        let owner = caller.user.id;
        let mut tx = self.db.begin().await?;
        if !access_tokens::remove(&mut tx, owner, id).await? {
            return Err(AccountsError::NotFound("access token"));
        }
        let entry = self.entry(
            Some(&caller.user),
            &caller.origin,
            Action::AccessTokenRevoked,
            of_access_token(id, owner),
            Details::new(),
        );
        audit::insert(&mut tx, entry).await?;
        self.invalidator.notify_replicas(&mut tx, owner).await?;
        storage::commit(tx).await?;
        self.invalidator.account_changed(owner);
        Ok(())
    }

    /// Spec §1: asks that the own account be enabled for the token API.
    ///
    /// # Errors
    /// No reason, somebody else's account, enabled or asked already.
    pub async fn request_token_api(
        &self,
        caller: &Caller,
        reason: &str,
        account: Option<&str>,
    ) -> Result<EnablementRequest, AccountsError> {
        if reason.is_empty() {
            return Err(AccountInvalid::Missing("reason").into());
        }
        let mut tx = self.db.begin().await?;
        let user = users::lock(&mut tx, caller.user.id).await?.ok_or(AccountsError::NotFound("account"))?;
        let own = [user.email.to_lowercase(), user.id.to_string()];
        let is_own = |account: &str| {
            let is_name = Username::typed(account).is_ok_and(|name| name.folded() == user.username.folded());
            is_name || own.contains(&account.to_lowercase())
        };
        if account.map(str::trim).is_some_and(|account| !account.is_empty() && !is_own(account)) {
            return Err(AccountsError::ForeignAccount);
        }
        if user.may_use_token_api(self.rules.token_api_open) {
            return Err(AccountsError::AlreadyEnabled);
        }
        let id = enablement::insert(&mut tx, user.id, user.id, reason, self.clock.now()).await?;
        let subject = Subject { kind: "token_api_request", id: Some(id.get()), user_id: Some(user.id) };
        let entry = self.entry(Some(&user), &caller.origin, Action::ApiRequested, subject, Details::new());
        audit::insert(&mut tx, entry).await?;
        let request = enablement::find(&mut tx, id).await?.ok_or(AccountsError::NotFound("request"))?;
        storage::commit(tx).await?;
        Ok(request)
    }

    /// The newest request for the caller's account, and whether it is enabled now.
    ///
    /// # Errors
    /// The database.
    pub async fn token_api_request(&self, caller: &Caller) -> Result<(bool, Option<EnablementRequest>), AccountsError> {
        let user = self.show(caller).await?;
        let mut conn = self.db.acquire().await?;
        let request = enablement::find_newest(&mut conn, user.id).await?;
        Ok((user.may_use_token_api(self.rules.token_api_open), request))
    }

    fn entry(
        &self,
        actor: Option<&User>,
        origin: &Origin,
        action: Action,
        subject: Subject,
        details: Details,
    ) -> AuditEntry {
        let (actor, origin) = (actor.map(Actor::from), origin.clone());
        AuditEntry { at: self.clock.now(), actor, origin, action, subject, details }
    }
}

const fn of_user(id: UserId) -> Subject {
    Subject { kind: "user", id: Some(id.get()), user_id: Some(id) }
}

const fn of_access_token(id: AccessTokenId, owner: UserId) -> Subject {
    Subject { kind: "access_token", id: Some(id.get()), user_id: Some(owner) }
}
