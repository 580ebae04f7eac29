//! What administrators do: accounts of others, requests for enablement, wallets, gateways and their
//! credentials, the audit log.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::invalidator::Invalidator;
use super::passwords::{Busy, Passwords};
use super::rng::Rng;
use super::vault::Vault;
use crate::domain::audit::{
    Action, Actor, AuditEntry, AuditFilter, AuditLine, Caller, Details, Origin, Subject, changed,
};
use crate::domain::group::Groups;
use crate::domain::id::{EnablementRequestId, GatewayCredentialId, GatewayId, UserId};
use crate::domain::key::GatewayCredential;
use crate::domain::money::Quota;
use crate::domain::page::{Page, PageRequest};
use crate::domain::policy;
use crate::domain::search::SearchPattern;
use crate::domain::time::Clock;
use crate::domain::user::{
    AccountDisabledByRoot, AccountInvalid, EnablementState, NewPassword, Role, User, UserStatus, Username,
};
use crate::storage::enablement::EnablementRequest;
use crate::storage::gateways::{CredentialRow, GatewayRow};
use crate::storage::users::NewUser;
use crate::storage::{
    self, Conn, Constraint, Db, StorageError, Tx, access_tokens, audit, enablement, gateways, sessions, tokens, users,
};

/// Why a verb was refused.
#[derive(Debug, thiserror::Error)]
pub enum AdminError {
    /// Absent or deleted.
    #[error("there is no such {0}")]
    NotFound(&'static str),
    /// The account, or the role to be given, is not below one's own.
    #[error("your role does not allow this: administrators manage users, root manages everyone")]
    RoleTooLow,
    /// Nobody can lock themselves out.
    #[error("you cannot change the role or status of your own account, or delete it")]
    OwnAccount,
    /// Another live account has it.
    #[error("this username is taken")]
    UsernameTaken,
    /// Another live account's looks like it.
    #[error("this username looks like that of another account; choose a different one")]
    UsernameConfusable,
    /// An input that does not fit.
    #[error(transparent)]
    Invalid(#[from] AccountInvalid),
    /// Not configured.
    #[error("`group` must be one of: {0}")]
    UnknownGroup(String),
    /// Not a limit.
    #[error("`max_tokens` must be a whole number from 0 to {max}, or -1 for the general limit", max = policy::MAX_TOKENS_OVERRIDE)]
    MaxTokens,
    /// Below 0 or above what can be granted.
    #[error("the wallet would be outside 0 to {max}; it holds {0} quota units", max = policy::MAX_QUOTA)]
    WalletRange(i64),
    /// Answered already.
    #[error("this request has been answered already")]
    AlreadyDecided,
    /// Too many passwords to hash.
    #[error(transparent)]
    Busy(#[from] Busy),
    /// Root's decision is not an administrator's to undo.
    #[error(transparent)]
    DisabledByRoot(#[from] AccountDisabledByRoot),
    /// The gateway has as many as it may.
    #[error(
        "a gateway has at most {max} credentials; revoke one that is no longer used",
        max = policy::MAX_GATEWAY_CREDENTIALS
    )]
    TooManyCredentials,
    /// The database.
    #[error(transparent)]
    Storage(StorageError),
}

impl From<StorageError> for AdminError {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Constraint(Constraint::UsernameUnique) => Self::UsernameTaken,
            StorageError::Constraint(Constraint::UsernameSkeletonUnique) => Self::UsernameConfusable,
            StorageError::Constraint(Constraint::OnePendingRequest | Constraint::IdempotencyKeyUnique)
            | StorageError::Unavailable(_)
            | StorageError::Contended(_)
            | StorageError::Locked(_)
            | StorageError::GivenUp
            | StorageError::Busy
            | StorageError::Broken(_) => Self::Storage(error),
        }
    }
}

/// A new account as an administrator asks for it.
pub struct Admission {
    /// Its name.
    pub username: Username,
    /// Its first password.
    pub password: NewPassword,
    /// May be empty.
    pub display_name: String,
    /// May be empty.
    pub email: String,
    /// What it may do; a user unless said.
    pub role: Role,
    /// The configured first group unless said.
    pub group: Option<String>,
    /// The configured first wallet unless said.
    pub quota: Option<Quota>,
    /// Enabled for the token API from the start.
    pub token_api_enabled: bool,
    /// Its own limit of tokens: -1 or absent for the general one.
    pub max_tokens: Option<i64>,
}

/// What an administrator may change. What is absent stays as it is.
#[derive(Default)]
pub struct UserPatch {
    /// New display name.
    pub display_name: Option<String>,
    /// New e-mail address.
    pub email: Option<String>,
    /// New status.
    pub status: Option<UserStatus>,
    /// New role.
    pub role: Option<Role>,
    /// New group.
    pub group: Option<String>,
    /// Enabled for the token API or not.
    pub token_api_enabled: Option<bool>,
    /// New limit of tokens; -1 for the general one.
    pub max_tokens: Option<i64>,
    /// New password; ends all sessions.
    pub password: Option<NewPassword>,
}

/// How a wallet is changed.
#[derive(Debug, Clone, Copy)]
pub enum Grant {
    /// By so many units, up or down.
    By(i64),
    /// To so many units.
    To(i64),
}

/// The administration service.
#[derive(Debug)]
pub struct Admin {
    db: Db,
    vault: Vault,
    rng: Rng,
    clock: Arc<dyn Clock>,
    passwords: Passwords,
    invalidator: Invalidator,
    groups: Groups,
    initial: (String, Quota),
}

impl Admin {
    /// A service on `db`; `initial` is the group and the wallet of accounts made without them.
    #[must_use]
    #[expect(clippy::too_many_arguments, reason = "the parts of a service, named once, in `app`")]
    pub const fn new(
        db: Db,
        vault: Vault,
        rng: Rng,
        clock: Arc<dyn Clock>,
        passwords: Passwords,
        invalidator: Invalidator,
        groups: Groups,
        initial: (String, Quota),
    ) -> Self {
        Self { db, vault, rng, clock, passwords, invalidator, groups, initial }
    }

    /// A page of accounts, all or those of which some name fits.
    ///
    /// # Errors
    /// The database.
    pub async fn list_users(&self, name: Option<SearchPattern>, page: PageRequest) -> Result<Page<User>, AdminError> {
        let like = name.map_or_else(|| "%".to_owned(), |name| name.like());
        let mut conn = self.db.acquire().await?;
        Ok(users::list(&mut conn, &like, page).await?)
    }

    /// A new account.
    ///
    /// # Errors
    /// A role not below one's own, a taken name, an unknown group.
    pub async fn create_user(&self, admin: &Caller, new: Admission) -> Result<User, AdminError> {
        if !admin.user.role.may_manage(new.role) {
            return Err(AdminError::RoleTooLow);
        }
        let group = new.group.unwrap_or_else(|| self.initial.0.clone());
        self.check_group(&group)?;
        let max_tokens = checked_max_tokens(new.max_tokens.unwrap_or(-1))?;
        let password_hash = self.passwords.hash(&new.password).await?;
        let row = NewUser {
            username: &new.username,
            display_name: &new.display_name,
            email: &new.email,
            password_hash: &password_hash,
            role: new.role,
            group: &group,
            quota: new.quota.unwrap_or(self.initial.1),
            token_api_enabled: new.token_api_enabled,
            max_tokens,
        };
        let mut tx = self.db.begin().await?;
        let id = users::insert(&mut tx, &row, self.clock.now()).await?;
        let details = Details::from([("role", new.role.code().to_string())]);
        self.note(&mut tx, admin, Action::AccountCreated, of_user(id), details).await?;
        let user = users::find(&mut tx, id).await?.ok_or(AdminError::NotFound("user"))?;
        storage::commit(tx).await?;
        Ok(user)
    }

    /// Changes an account. Re-enabling one ends the sessions it had before.
    ///
    /// # Errors
    /// A role not below one's own, one's own role or status, an unknown group.
    pub async fn edit_user(&self, admin: &Caller, id: UserId, patch: UserPatch) -> Result<User, AdminError> {
        if id == admin.user.id && (patch.role.is_some() || patch.status.is_some()) {
            return Err(AdminError::OwnAccount);
        }
        if let Some(group) = &patch.group {
            self.check_group(group)?;
        }
        let max_tokens = patch.max_tokens.map(checked_max_tokens).transpose()?;
        let details = changed_fields(&patch);
        let new_hash = match &patch.password {
            Some(password) => Some(self.passwords.hash(password).await?),
            None => None,
        };
        let mut tx = self.db.begin().await?;
        let mut user = self.lock_below(&mut tx, admin, id).await?;
        if patch.role.is_some_and(|role| !admin.user.role.may_manage(role)) {
            return Err(AdminError::RoleTooLow);
        }
        let sessions_end =
            new_hash.is_some() || (user.status, patch.status) == (UserStatus::Disabled, Some(UserStatus::Enabled));
        user = match patch.status {
            Some(UserStatus::Enabled) => user.enable(admin.user.role)?,
            Some(UserStatus::Disabled) => user.disable(admin.user.role),
            None => user,
        };
        user.display_name = patch.display_name.unwrap_or(user.display_name);
        user.email = patch.email.unwrap_or(user.email);
        user.role = patch.role.unwrap_or(user.role);
        user.group = patch.group.unwrap_or(user.group);
        user.token_api_enabled = patch.token_api_enabled.unwrap_or(user.token_api_enabled);
        user.max_tokens = max_tokens.unwrap_or(user.max_tokens);
        users::save(&mut tx, &user).await?;
        if let Some(hash) = new_hash {
            users::save_password(&mut tx, id, &hash).await?;
        }
        if sessions_end {
            sessions::remove_all_of(&mut tx, id).await?;
        }
        self.note(&mut tx, admin, Action::AccountEdited, of_user(id), details).await?;
        self.invalidator.notify_replicas(&mut tx, id).await?;
        storage::commit(tx).await?;
        self.invalidator.account_changed(id);
        Ok(user)
    }

    /// Softly deletes an account with its tokens, and ends all its credentials.
    ///
    /// # Errors
    /// A role not below one's own, one's own account.
    pub async fn delete_user(&self, admin: &Caller, id: UserId) -> Result<(), AdminError> {
        if id == admin.user.id {
            return Err(AdminError::OwnAccount);
        }
        let now = self.clock.now();
        let mut tx = self.db.begin().await?;
        self.lock_below(&mut tx, admin, id).await?;
        tokens::remove_all_of(&mut tx, id, now).await?;
        access_tokens::remove_all_of(&mut tx, id).await?;
        sessions::remove_all_of(&mut tx, id).await?;
        users::remove(&mut tx, id, now).await?;
        self.note(&mut tx, admin, Action::AccountDeleted, of_user(id), Details::new()).await?;
        self.invalidator.notify_replicas(&mut tx, id).await?;
        storage::commit(tx).await?;
        self.invalidator.account_changed(id);
        Ok(())
    }

    /// Tops a wallet up, takes from it, or sets it.
    ///
    /// # Errors
    /// A role not below one's own; a wallet below 0 or beyond what can be granted.
    pub async fn grant(&self, admin: &Caller, id: UserId, grant: Grant) -> Result<User, AdminError> {
        let mut tx = self.db.begin().await?;
        // Root may fill its own wallet; administrators only those of users.
        let mut user = self.lock_below(&mut tx, admin, id).await?;
        let held = user.quota.get();
        let wanted = match grant {
            Grant::By(delta) => held.checked_add(delta),
            Grant::To(units) => Some(units),
        };
        let wanted = wanted.and_then(|units| Quota::grant(units).ok());
        user.quota = wanted.ok_or(AdminError::WalletRange(held))?;
        users::save(&mut tx, &user).await?;
        let details = Details::from([("from", held.to_string()), ("to", user.quota.get().to_string())]);
        self.note(&mut tx, admin, Action::QuotaGranted, of_user(id), details).await?;
        self.invalidator.notify_replicas(&mut tx, id).await?;
        storage::commit(tx).await?;
        self.invalidator.account_changed(id);
        Ok(user)
    }

    /// A page of requests for enablement.
    ///
    /// # Errors
    /// The database.
    pub async fn list_requests(
        &self,
        state: Option<EnablementState>,
        page: PageRequest,
    ) -> Result<Page<EnablementRequest>, AdminError> {
        let mut conn = self.db.acquire().await?;
        Ok(enablement::list(&mut conn, state, page).await?)
    }

    /// Spec §1: enables the requesting account, or does not. Counts at the next request.
    ///
    /// # Errors
    /// Absent, answered already.
    pub async fn decide(
        &self,
        admin: &Caller,
        id: EnablementRequestId,
        approve: bool,
        note: &str,
    ) -> Result<EnablementRequest, AdminError> {
        let (state, action) = if approve {
            (EnablementState::Approved, Action::ApiRequestApproved)
        } else {
            (EnablementState::Refused, Action::ApiRequestRefused)
        };
        let mut tx = self.db.begin().await?;
        let request = enablement::find(&mut tx, id).await?.ok_or(AdminError::NotFound("request"))?;
        let mut user = users::lock(&mut tx, request.user_id).await?.ok_or(AdminError::NotFound("user"))?;
        if !enablement::decide(&mut tx, id, state, admin.user.id, note, self.clock.now()).await? {
            return Err(AdminError::AlreadyDecided);
        }
        if approve {
            user.token_api_enabled = true;
            users::save(&mut tx, &user).await?;
        }
        let subject = Subject { kind: "token_api_request", id: Some(id.get()), user_id: Some(user.id) };
        self.note(&mut tx, admin, action, subject, Details::new()).await?;
        let request = enablement::find(&mut tx, id).await?.ok_or(AdminError::NotFound("request"))?;
        self.invalidator.notify_replicas(&mut tx, request.user_id).await?;
        storage::commit(tx).await?;
        self.invalidator.account_changed(request.user_id);
        Ok(request)
    }

    /// All gateways with their credentials, without the secrets; both newest first.
    ///
    /// # Errors
    /// The database.
    pub async fn list_gateways(&self) -> Result<Vec<(GatewayRow, Vec<CredentialRow>)>, AdminError> {
        let mut conn = self.db.acquire().await?;
        let gateways = gateways::list(&mut conn).await?;
        let mut credentials: BTreeMap<GatewayId, Vec<CredentialRow>> = BTreeMap::new();
        for credential in gateways::list_credentials(&mut conn).await? {
            credentials.entry(credential.gateway_id).or_default().push(credential);
        }
        let with_its_own = |row: GatewayRow| {
            let own = credentials.remove(&row.id).unwrap_or_default();
            (row, own)
        };
        Ok(gateways.into_iter().map(with_its_own).collect())
    }

    /// A new gateway with its first credential, shown this once.
    ///
    /// # Errors
    /// No name; the database.
    pub async fn create_gateway(
        &self,
        admin: &Caller,
        name: &str,
    ) -> Result<(CredentialRow, GatewayCredential), AdminError> {
        self.new_gateway(Some(&admin.user), &admin.origin, name).await
    }

    /// Ends a gateway with all its credentials. Its open reservations expire by themselves.
    ///
    /// # Errors
    /// Absent; the database.
    pub async fn revoke_gateway(&self, admin: &Caller, id: GatewayId) -> Result<(), AdminError> {
        self.end_gateway(Some(&admin.user), &admin.origin, id).await
    }

    /// One more credential of a gateway, shown this once.
    ///
    /// # Errors
    /// The gateway is absent, or has as many as it may; the database.
    pub async fn create_credential(
        &self,
        admin: &Caller,
        gateway: GatewayId,
    ) -> Result<(CredentialRow, GatewayCredential), AdminError> {
        self.new_credential(Some(&admin.user), &admin.origin, gateway).await
    }

    /// Ends a credential of a gateway; the gateway's others go on.
    ///
    /// # Errors
    /// Absent; the database.
    pub async fn revoke_credential(
        &self,
        admin: &Caller,
        gateway: GatewayId,
        id: GatewayCredentialId,
    ) -> Result<(), AdminError> {
        self.end_credential(Some(&admin.user), &admin.origin, gateway, id).await
    }

    /// A page of the audit log.
    ///
    /// # Errors
    /// The database.
    pub async fn list_audit(&self, filter: &AuditFilter, page: PageRequest) -> Result<Page<AuditLine>, AdminError> {
        let mut tx = self.db.begin().await?;
        let page = audit::list(&mut tx, filter, page).await?;
        storage::commit(tx).await?;
        Ok(page)
    }

    /// `keymeter user create`: a new account by whoever runs the service.
    ///
    /// # Errors
    /// A taken name; the database.
    pub async fn create_by_operator(
        &self,
        username: &Username,
        password: &NewPassword,
        role: Role,
        token_api_enabled: bool,
        origin: &Origin,
    ) -> Result<UserId, AdminError> {
        let password_hash = self.passwords.hash(password).await?;
        let row = NewUser {
            username,
            display_name: username.as_str(),
            email: "",
            password_hash: &password_hash,
            role,
            group: &self.initial.0,
            quota: self.initial.1,
            token_api_enabled,
            max_tokens: None,
        };
        let mut tx = self.db.begin().await?;
        let id = users::insert(&mut tx, &row, self.clock.now()).await?;
        let details = Details::from([("role", role.code().to_string())]);
        self.write(&mut tx, None, origin, Action::AccountCreated, of_user(id), details).await?;
        storage::commit(tx).await?;
        Ok(id)
    }

    /// `keymeter user password`: the way back in. Ends the account's sessions.
    ///
    /// # Errors
    /// No such account; the database.
    pub async fn reset_password(
        &self,
        username: &str,
        password: &NewPassword,
        origin: &Origin,
    ) -> Result<(), AdminError> {
        let hash = self.passwords.hash(password).await?;
        let mut tx = self.db.begin().await?;
        let username = Username::typed(username)?;
        let (user, _) = users::find_by_name(&mut tx, &username).await?.ok_or(AdminError::NotFound("user"))?;
        users::save_password(&mut tx, user.id, &hash).await?;
        sessions::remove_all_of(&mut tx, user.id).await?;
        self.write(&mut tx, None, origin, Action::PasswordChanged, of_user(user.id), Details::new()).await?;
        storage::commit(tx).await?;
        Ok(())
    }

    /// `keymeter gateway create`.
    ///
    /// # Errors
    /// No name; the database.
    pub async fn create_gateway_by_operator(
        &self,
        name: &str,
        origin: &Origin,
    ) -> Result<(CredentialRow, GatewayCredential), AdminError> {
        self.new_gateway(None, origin, name).await
    }

    /// `keymeter gateway revoke`.
    ///
    /// # Errors
    /// Absent; the database.
    pub async fn revoke_gateway_by_operator(&self, id: GatewayId, origin: &Origin) -> Result<(), AdminError> {
        self.end_gateway(None, origin, id).await
    }

    /// `keymeter gateway credential create`.
    ///
    /// # Errors
    /// The gateway is absent, or has as many as it may; the database.
    pub async fn create_credential_by_operator(
        &self,
        gateway: GatewayId,
        origin: &Origin,
    ) -> Result<(CredentialRow, GatewayCredential), AdminError> {
        self.new_credential(None, origin, gateway).await
    }

    /// `keymeter gateway credential revoke`.
    ///
    /// # Errors
    /// Absent; the database.
    pub async fn revoke_credential_by_operator(
        &self,
        gateway: GatewayId,
        id: GatewayCredentialId,
        origin: &Origin,
    ) -> Result<(), AdminError> {
        self.end_credential(None, origin, gateway, id).await
    }

    /// Locks an account whose role is below the administrator's; root may manage its own too.
    async fn lock_below(&self, conn: &mut Conn, admin: &Caller, id: UserId) -> Result<User, AdminError> {
        let user = users::lock(conn, id).await?.ok_or(AdminError::NotFound("user"))?;
        if admin.user.role.may_manage(user.role) { Ok(user) } else { Err(AdminError::RoleTooLow) }
    }

    fn check_group(&self, group: &str) -> Result<(), AdminError> {
        if self.groups.contains(group) { Ok(()) } else { Err(AdminError::UnknownGroup(self.groups.names())) }
    }

    async fn new_gateway(
        &self,
        actor: Option<&User>,
        origin: &Origin,
        name: &str,
    ) -> Result<(CredentialRow, GatewayCredential), AdminError> {
        if name.is_empty() {
            return Err(AccountInvalid::Missing("name").into());
        }
        let mut tx = self.db.begin().await?;
        let id = gateways::insert(&mut tx, name, actor.map(|user| user.id), self.clock.now()).await?;
        let (row, credential) = self.insert_credential(&mut tx, actor, id).await?;
        let details = Details::from([("name", name.to_owned()), ("credential", row.id.to_string())]);
        self.write(&mut tx, actor, origin, Action::GatewayCreated, of_gateway(id), details).await?;
        storage::commit(tx).await?;
        Ok((row, credential))
    }

    async fn end_gateway(&self, actor: Option<&User>, origin: &Origin, id: GatewayId) -> Result<(), AdminError> {
        let mut tx = self.db.begin().await?;
        let name = gateways::remove(&mut tx, id).await?.ok_or(AdminError::NotFound("gateway"))?;
        let details = Details::from([("name", name)]);
        self.write(&mut tx, actor, origin, Action::GatewayRevoked, of_gateway(id), details).await?;
        self.commit_revocation(tx).await
    }

    async fn new_credential(
        &self,
        actor: Option<&User>,
        origin: &Origin,
        gateway: GatewayId,
    ) -> Result<(CredentialRow, GatewayCredential), AdminError> {
        let mut tx = self.db.begin().await?;
        if !gateways::lock(&mut tx, gateway).await? {
            return Err(AdminError::NotFound("gateway"));
        }
        if gateways::count_credentials(&mut tx, gateway).await? >= policy::MAX_GATEWAY_CREDENTIALS {
            return Err(AdminError::TooManyCredentials);
        }
        let (row, credential) = self.insert_credential(&mut tx, actor, gateway).await?;
        let details = Details::from([("credential", row.id.to_string())]);
        self.write(&mut tx, actor, origin, Action::GatewayCredentialCreated, of_gateway(gateway), details).await?;
        storage::commit(tx).await?;
        Ok((row, credential))
    }

    async fn end_credential(
        &self,
        actor: Option<&User>,
        origin: &Origin,
        gateway: GatewayId,
        id: GatewayCredentialId,
    ) -> Result<(), AdminError> {
        let mut tx = self.db.begin().await?;
        if !gateways::remove_credential(&mut tx, gateway, id).await? {
            return Err(AdminError::NotFound("credential"));
        }
        let details = Details::from([("credential", id.to_string())]);
        self.write(&mut tx, actor, origin, Action::GatewayCredentialRevoked, of_gateway(gateway), details).await?;
        self.commit_revocation(tx).await
    }

    async fn insert_credential(
        &self,
        conn: &mut Conn,
        actor: Option<&User>,
        gateway: GatewayId,
    ) -> Result<(CredentialRow, GatewayCredential), StorageError> {
        let credential = self.rng.generate(|rng| GatewayCredential::generate(rng));
        let digest = self.vault.digests().digest(credential.expose());
        let created_by = actor.map(|user| user.id);
        let row =
            gateways::insert_credential(conn, gateway, &credential, &digest, created_by, self.clock.now()).await?;
        Ok((row, credential))
    }

    /// Commits the end of credentials, and makes every server forget them.
    async fn commit_revocation(&self, mut tx: Tx) -> Result<(), AdminError> {
        // No user: every server forgets its callers all the same.
        let nobody = UserId::new(0);
        self.invalidator.notify_replicas(&mut tx, nobody).await?;
        storage::commit(tx).await?;
        self.invalidator.account_changed(nobody);
        Ok(())
    }

    async fn note(
        &self,
        conn: &mut Conn,
        admin: &Caller,
        action: Action,
        subject: Subject,
        details: Details,
    ) -> Result<(), StorageError> {
        self.write(conn, Some(&admin.user), &admin.origin, action, subject, details).await
    }

    async fn write(
        &self,
        conn: &mut Conn,
        actor: Option<&User>,
        origin: &Origin,
        action: Action,
        subject: Subject,
        details: Details,
    ) -> Result<(), StorageError> {
        let (at, actor, origin) = (self.clock.now(), actor.map(Actor::from), origin.clone());
        audit::insert(conn, AuditEntry { at, actor, origin, action, subject, details }).await
    }
}

fn checked_max_tokens(asked: i64) -> Result<Option<i64>, AdminError> {
    match asked {
        -1 => Ok(None),
        limit if (0..=policy::MAX_TOKENS_OVERRIDE).contains(&limit) => Ok(Some(limit)),
        _ => Err(AdminError::MaxTokens),
    }
}

/// What the audit log remembers of an edit.
fn changed_fields(patch: &UserPatch) -> Details {
    let mut details = changed([
        ("display_name", patch.display_name.is_some()),
        ("email", patch.email.is_some()),
        ("status", patch.status.is_some()),
        ("role", patch.role.is_some()),
        ("group", patch.group.is_some()),
        ("token_api_enabled", patch.token_api_enabled.is_some()),
        ("max_tokens", patch.max_tokens.is_some()),
        ("password", patch.password.is_some()),
    ]);
    details.extend(patch.status.map(|status| ("status", status.code().to_string())));
    details.extend(patch.role.map(|role| ("role", role.code().to_string())));
    details
}

const fn of_user(id: UserId) -> Subject {
    Subject { kind: "user", id: Some(id.get()), user_id: Some(id) }
}

const fn of_gateway(id: GatewayId) -> Subject {
    Subject { kind: "gateway", id: Some(id.get()), user_id: None }
}
