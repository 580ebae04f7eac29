//! What the operator does with accounts: the first account, a new password for one, and to unlock one.

use secrecy::{ExposeSecret, SecretString};
use zeroize::Zeroizing;

use super::{Users, UsersError, insert};
use crate::domain::audit::{Action, Actor, AuditEntry, Subject};
use crate::domain::password::{NewPassword, random_password};
use crate::domain::user::{Role, UserPatch};
use crate::domain::username::Username;
use crate::storage::{self, audit, sessions, users};

impl Users {
    /// Creates `root` if no account exists. Returns the password if it was generated here.
    ///
    /// # Errors
    /// `password` is too short or too long; the database.
    pub async fn ensure_root(&self, password: Option<&SecretString>) -> Result<Option<Zeroizing<String>>, UsersError> {
        {
            let mut conn = self.core.db.acquire().await?;
            if users::exist(&mut conn).await? {
                return Ok(None);
            }
        }
        let generated = password.is_none().then(|| self.core.rng.generate(|rng| random_password(rng)));
        let text =
            password.map_or_else(|| generated.as_ref().map_or("", |text| text.as_str()), |text| text.expose_secret());
        let password_hash = self.passwords.hash(&NewPassword::parse(text)?).await?;
        let fields = UserPatch {
            display_name: Some("Root".to_owned()),
            role: Some(Role::Root),
            group: Some(self.rules.initial_group.clone()),
            token_api_enabled: Some(true),
            ..UserPatch::default()
        };
        let now = self.core.clock.now();
        let mut tx = self.core.db.begin().await?;
        match insert(&mut tx, Username::parse("root")?, &password_hash, fields, self.rules.initial_quota, now).await {
            Ok(_) => {
                storage::commit(tx).await?;
                Ok(generated)
            }
            // Another replica was first and printed its password.
            Err(error) if error.username_conflict().is_some() => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Gives an account a new password and ends its sessions, for a user who cannot sign in.
    ///
    /// # Errors
    /// No account has this username; the database.
    pub async fn reset_password(&self, username: &str, password: &NewPassword) -> Result<(), UsersError> {
        let hash = self.passwords.hash(password).await?;
        let username = Username::typed(username)?;
        let mut tx = self.core.db.begin().await?;
        let (user, _) = users::find_by_name(&mut tx, &username).await?.ok_or(UsersError::NotFound)?;
        users::update_password_hash(&mut tx, user.id, &hash).await?;
        sessions::delete_all_of(&mut tx, user.id).await?;
        let subject = Subject::user(user.id);
        let entry = AuditEntry::new(self.core.clock.now(), Actor::Operator, Action::PasswordChanged, subject);
        audit::insert(&mut tx, entry).await?;
        self.core.invalidator.commit(tx, user.id).await?;
        Ok(())
    }

    /// Forgets wrong passwords at an account, so that its owner can sign in from everywhere.
    ///
    /// # Errors
    /// No account has this username; the database.
    pub async fn unlock(&self, username: &str) -> Result<(), UsersError> {
        let username = Username::typed(username)?;
        let mut tx = self.core.db.begin().await?;
        let (user, _) = users::find_by_name(&mut tx, &username).await?.ok_or(UsersError::NotFound)?;
        self.sign_in_limits.clear(&mut tx, &username).await?;
        let subject = Subject::user(user.id);
        let entry = AuditEntry::new(self.core.clock.now(), Actor::Operator, Action::AccountUnlocked, subject);
        audit::insert(&mut tx, entry).await?;
        storage::commit(tx).await?;
        Ok(())
    }
}
