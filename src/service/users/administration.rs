//! Accounts, as administrators manage them.

use super::{Users, UsersError};
use crate::domain::account::Budget;
use crate::domain::audit::{Action, Actor, AuditEntry, Subject};
use crate::domain::bounds;
use crate::domain::caller::Caller;
use crate::domain::id::UserId;
use crate::domain::idempotency_key::{Idempotent, IdempotentRequest};
use crate::domain::money::Quota;
use crate::domain::page::{Page, PageRequest};
use crate::domain::password::NewPassword;
use crate::domain::search::SearchPattern;
use crate::domain::time::UnixTime;
use crate::domain::user::{Role, User, UserFilter, UserPatch, UserStatus};
use crate::domain::username::Username;
use crate::service::{actors, idempotency_keys};
use crate::storage::{Conn, StorageError, access_tokens, audit, sessions, tokens, users};

/// An account to create.
pub struct NewUser {
    pub username: Username,
    pub password: NewPassword,
    /// The wallet; `None` for the configured initial quota.
    pub quota: Option<Quota>,
    /// The other fields. Those that are `None` stay empty; the group becomes the configured initial one.
    pub fields: UserPatch,
}

/// What an administrator changes of an account.
#[derive(Default)]
pub struct UserChange {
    pub fields: UserPatch,
    pub status: Option<UserStatus>,
    /// New password; ends all sessions.
    pub password: Option<NewPassword>,
}

/// A change of a wallet.
#[derive(Debug, Clone, Copy)]
pub enum Grant {
    /// Add this many quota units; negative to take some away.
    By(i64),
    /// Set the wallet to this many quota units.
    To(i64),
}

impl Users {
    /// Lists accounts whose name matches, or all. In another order than the newest first, only the
    /// [`bounds::MAX_LISTED_USERS`] newest.
    ///
    /// # Errors
    /// The database.
    pub async fn list(
        &self,
        name: Option<SearchPattern>,
        filter: &UserFilter,
        page: PageRequest,
    ) -> Result<Page<User>, UsersError> {
        let like = name.map_or_else(|| "%".to_owned(), |name| name.like());
        let mut conn = self.core.db.acquire().await?;
        if filter.is_newest_first() {
            Ok(users::list(&mut conn, &like, filter, page).await?)
        } else {
            Ok(users::list_sorted(&mut conn, &like, filter, page).await?)
        }
    }

    /// An account.
    ///
    /// # Errors
    /// The account does not exist or was deleted; the database.
    pub async fn show(&self, id: UserId) -> Result<User, UsersError> {
        let mut conn = self.core.db.acquire().await?;
        users::find(&mut conn, id).await?.ok_or(UsersError::NotFound)
    }

    /// Creates an account.
    ///
    /// # Errors
    /// A role that the actor may not manage; an unknown group; a taken username; the database.
    pub async fn create(&self, actor: Actor<'_>, new: NewUser) -> Result<User, UsersError> {
        let NewUser { username, password, quota, fields } = new;
        let role = fields.role.unwrap_or(Role::User);
        if !actor.may_manage(role) {
            return Err(UsersError::RoleTooLow);
        }
        let group = fields.group.unwrap_or_else(|| self.rules.initial_group.clone());
        self.check_group(&group)?;
        check_max_tokens(fields.max_tokens)?;
        let fields = UserPatch { group: Some(group), ..fields };
        let password_hash = self.passwords.hash(&password).await?;
        let now = self.core.clock.now();
        let mut tx = self.core.db.begin().await?;
        if let Some(admin) = actor.user() {
            let (admin, _) = actors::lock_admin(&mut tx, admin.id, admin.id).await?;
            if !admin.role.may_manage(role) {
                return Err(UsersError::RoleTooLow);
            }
        }
        let quota = quota.unwrap_or(self.rules.initial_quota);
        let user = insert(&mut tx, username, &password_hash, fields, quota, now).await?;
        let created = AuditEntry::new(now, actor, Action::AccountCreated, Subject::user(user.id))
            .with([("role", role.code().to_string())]);
        let entries = [Some(created), AuditEntry::starting_balance(now, actor, user.id, quota)];
        audit::insert_many(&mut tx, &entries.into_iter().flatten().collect::<Vec<_>>()).await?;
        self.core.invalidator.commit(tx, user.id).await?;
        Ok(user)
    }

    /// Changes an account. Enabling it again ends the sessions it had before.
    ///
    /// # Errors
    /// An account or a role that the administrator may not manage; the administrator's own role or status; an unknown
    /// group; the database.
    pub async fn edit(&self, admin: &Caller, id: UserId, change: UserChange) -> Result<User, UsersError> {
        let UserChange { fields, status, password } = change;
        if id == admin.user.id && (fields.role.is_some() || status.is_some()) {
            return Err(UsersError::OwnAccount);
        }
        if let Some(group) = &fields.group {
            self.check_group(group)?;
        }
        check_max_tokens(fields.max_tokens)?;
        let new_hash = match &password {
            Some(password) => Some(self.passwords.hash(password).await?),
            None => None,
        };
        let mut tx = self.core.db.begin().await?;
        let (own_role, mut user) = lock_managed(&mut tx, admin, id).await?;
        if fields.role.is_some_and(|role| !own_role.may_manage(role)) {
            return Err(UsersError::RoleTooLow);
        }
        let sessions_end =
            new_hash.is_some() || (user.status, status) == (UserStatus::Disabled, Some(UserStatus::Enabled));
        let old = user.clone();
        user = match status {
            Some(UserStatus::Enabled) => user.enable(own_role)?,
            Some(UserStatus::Disabled) => user.disable(own_role),
            None => user,
        };
        user = user.edited(fields);
        users::update(&mut tx, &user).await?;
        let mut changes = user.changes_since(&old);
        if let Some(hash) = new_hash {
            changes.secret("password");
            users::update_password_hash(&mut tx, id, &hash).await?;
        }
        if sessions_end {
            sessions::delete_all_of(&mut tx, id).await?;
        }
        let entry =
            AuditEntry::new(self.core.clock.now(), Actor::from(admin), Action::AccountEdited, Subject::user(id))
                .with_changes(changes);
        audit::insert(&mut tx, entry).await?;
        self.core.invalidator.commit(tx, id).await?;
        Ok(user)
    }

    /// Deletes an account softly, with its tokens. All its credentials stop working.
    ///
    /// # Errors
    /// An account that the administrator may not manage, or the administrator's own; the database.
    pub async fn delete(&self, admin: &Caller, id: UserId) -> Result<(), UsersError> {
        if id == admin.user.id {
            return Err(UsersError::OwnAccount);
        }
        let now = self.core.clock.now();
        let mut tx = self.core.db.begin().await?;
        lock_managed(&mut tx, admin, id).await?;
        tokens::delete_all_of(&mut tx, id, now).await?;
        access_tokens::delete_all_of(&mut tx, id).await?;
        sessions::delete_all_of(&mut tx, id).await?;
        users::delete(&mut tx, id, now).await?;
        let entry = AuditEntry::new(now, Actor::from(admin), Action::AccountDeleted, Subject::user(id));
        audit::insert(&mut tx, entry).await?;
        self.core.invalidator.commit(tx, id).await?;
        Ok(())
    }

    /// Changes a wallet. Root may change its own; administrators change those of users. The audit log has the note, if
    /// it is not empty.
    ///
    /// # Errors
    /// An account that the administrator may not manage; a wallet outside its range; the database.
    pub async fn grant(
        &self,
        admin: &Caller,
        id: UserId,
        grant: Grant,
        note: &str,
        request: Option<&IdempotentRequest>,
    ) -> Result<Idempotent<User>, UsersError> {
        let mut tx = self.core.db.begin().await?;
        let (_, mut user) = lock_managed(&mut tx, admin, id).await?;
        if idempotency_keys::find(&mut tx, admin.user.id, request).await?.is_some() {
            self.core.invalidator.commit_unchanged(tx).await?;
            return Ok(Idempotent::replayed(user));
        }
        let before = user.wallet.remain();
        let after = match grant {
            Grant::By(delta) => before.get().checked_add(delta),
            Grant::To(units) => Some(units),
        };
        let remain = after.and_then(|units| Quota::grant(units).ok()).ok_or(UsersError::WalletRange(before.get()))?;
        user.wallet.budget = Budget::Limited { remain };
        users::update(&mut tx, &user).await?;
        let mut entry = AuditEntry::quota_granted(self.core.clock.now(), Actor::from(admin), id, before, remain);
        if !note.is_empty() {
            entry = entry.with([("note", note.to_owned())]);
        }
        audit::insert(&mut tx, entry).await?;
        idempotency_keys::record(&mut tx, admin.user.id, request, &[], self.core.clock.now()).await?;
        self.core.invalidator.commit(tx, id).await?;
        Ok(Idempotent::now(user))
    }
}

/// Locks an account that the administrator may manage, and the administrator's own. The locked role decides, so of two
/// roots who take each other's role away, one remains. Returns that role and the account.
async fn lock_managed(conn: &mut Conn, admin: &Caller, id: UserId) -> Result<(Role, User), UsersError> {
    let (admin, user) = actors::lock_admin(conn, admin.user.id, id).await?;
    let user = user.ok_or(UsersError::NotFound)?;
    if admin.role.may_manage(user.role) { Ok((admin.role, user)) } else { Err(UsersError::RoleTooLow) }
}

fn check_max_tokens(limit: Option<i64>) -> Result<(), UsersError> {
    match limit {
        None | Some(-1 | 0..=bounds::MAX_TOKENS_OVERRIDE) => Ok(()),
        Some(_) => Err(UsersError::MaxTokens),
    }
}

/// Inserts an account with these fields and this wallet.
pub(in crate::service) async fn insert(
    conn: &mut Conn,
    username: Username,
    password_hash: &str,
    fields: UserPatch,
    quota: Quota,
    now: UnixTime,
) -> Result<User, StorageError> {
    let id = users::insert(conn, &username, password_hash, now).await?;
    let mut user = User::empty(id, username, now).edited(fields);
    user.wallet.budget = Budget::Limited { remain: quota };
    users::update(conn, &user).await?;
    Ok(user)
}
