//! What the operator does with accounts: the first account, a new password for one, and to unlock one.

use secrecy::{ExposeSecret, SecretString};
use zeroize::Zeroizing;

use super::{Users, UsersError};
use crate::domain::audit::{Action, Actor, AuditEntry, Subject};
use crate::domain::password::{NewPassword, random_password};
use crate::domain::period_limits::PeriodLimits;
use crate::domain::user::{NewUser, Role};
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
            period_limits: PeriodLimits::default(),
        };
        let mut conn = self.core.db.acquire().await?;
        match users::insert(&mut conn, &root, self.core.clock.now()).await {
            Ok(_) => Ok(generated),
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
