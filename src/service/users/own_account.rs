//! A user's own account.

use super::{Users, UsersError};
use crate::domain::audit::{Action, Actor, AuditEntry, Subject};
use crate::domain::caller::Caller;
use crate::domain::password::{NewPassword, TypedPassword};
use crate::domain::period_limits::PeriodLimitsPatch;
use crate::domain::user::User;
use crate::service::actors;
use crate::storage::{audit, sessions, users};

/// What users may change about their own account. `None` leaves a field as it is.
#[derive(Default)]
pub struct OwnAccountPatch {
    /// New display name.
    pub display_name: Option<String>,
    /// New e-mail address.
    pub email: Option<String>,
    /// New password and the current one.
    pub password: Option<(NewPassword, TypedPassword)>,
    /// May only repeat what the account has.
    pub period_limits: PeriodLimitsPatch,
}

impl Users {
    /// The caller's account, read from the database.
    ///
    /// # Errors
    /// The account was deleted; the database.
    pub async fn show_own(&self, caller: &Caller) -> Result<User, UsersError> {
        let mut conn = self.core.db.acquire().await?;
        users::find(&mut conn, caller.user.id).await?.ok_or(UsersError::NotFound)
    }

    /// Changes the caller's account. A new password ends all its sessions.
    ///
    /// # Errors
    /// A wrong current password; other period limits than the account has; too many attempts; the database.
    pub async fn edit_own(&self, caller: &Caller, patch: OwnAccountPatch) -> Result<User, UsersError> {
        let id = caller.user.id;
        let hashes = match &patch.password {
            Some((new, current)) => {
                self.core.rate_limiter.login.take(caller.origin.ip)?;
                let permit = self.passwords.queue()?;
                let attempt = self.sign_in_limits.begin(&caller.user.username, Some(id), caller.origin.ip).await?;
                let hash = {
                    let mut conn = self.core.db.acquire().await?;
                    users::find_password_hash(&mut conn, id).await?
                };
                if !self.passwords.verify(permit, hash.clone(), current).await {
                    return Err(UsersError::WrongPassword);
                }
                self.sign_in_limits.succeeded(&attempt, Some(id)).await?;
                Some((hash, self.passwords.hash(new).await?))
            }
            None => None,
        };
        let mut tx = self.core.db.begin().await?;
        let mut user = actors::lock_caller(&mut tx, id).await?;
        if user.wallet.period_limits.edited(patch.period_limits) != user.wallet.period_limits {
            return Err(UsersError::OwnLimits);
        }
        let old = user.clone();
        user.display_name = patch.display_name.unwrap_or(user.display_name);
        user.email = patch.email.unwrap_or(user.email);
        users::update(&mut tx, &user).await?;
        let mut action = Action::AccountEdited;
        let mut changes = user.changes_since(&old);
        if let Some((verified_hash, new_hash)) = hashes {
            // Checked again under the lock: of two concurrent changes with the same current password, one fails.
            if users::find_password_hash(&mut tx, id).await? != verified_hash {
                return Err(UsersError::WrongPassword);
            }
            users::update_password_hash(&mut tx, id, &new_hash).await?;
            sessions::delete_all_of(&mut tx, id).await?;
            action = Action::PasswordChanged;
            changes.secret("password");
        }
        let actor = Actor::User(&user, &caller.origin);
        let entry = AuditEntry::new(self.core.clock.now(), actor, action, Subject::user(id)).with_changes(changes);
        audit::insert(&mut tx, entry).await?;
        self.core.invalidator.commit(tx, id).await?;
        Ok(user)
    }
}
