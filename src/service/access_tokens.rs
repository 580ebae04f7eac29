//! Access tokens of users (spec §5.1).

use super::actors::{self, ActorError};
use crate::domain::access_token::AccessToken;
use crate::domain::audit::{Action, Actor, AuditEntry, Subject};
use crate::domain::bounds;
use crate::domain::caller::Caller;
use crate::domain::id::AccessTokenId;
use crate::domain::secrets::AccessTokenSecret;
use crate::domain::time::{Lifetime, UnixTime};
use crate::service::core::Core;
use crate::storage::{StorageError, access_tokens, audit};

/// Why a request about access tokens was refused.
#[derive(Debug, thiserror::Error)]
pub enum AccessTokensError {
    /// The access token does not exist or belongs to another user.
    #[error("there is no such access token")]
    NotFound,
    /// The caller may no longer do this.
    #[error(transparent)]
    Actor(#[from] ActorError),
    /// The user has the maximum number of access tokens.
    #[error("you have {max} access tokens, which is the limit; revoke one first", max = bounds::MAX_ACCESS_TOKENS)]
    TooMany,
    /// The new access token would be expired.
    #[error("`expires_at` has passed already; it must lie in the future, or be -1 for never")]
    ExpiryPast,
    /// The new access token would outlive the one that creates it; holds the latest expiry.
    #[error("`expires_at` may be {0} at most, when this access token expires; sign in for a later one")]
    ExpiryTooLate(i64),
    /// The database.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// The access token service.
#[derive(Debug)]
pub struct AccessTokens {
    core: Core,
}

impl AccessTokens {
    /// A service on `db`.
    pub const fn new(core: Core) -> Self {
        Self { core }
    }

    /// Lists the caller's access tokens, newest first.
    ///
    /// # Errors
    /// The database.
    pub async fn list(&self, caller: &Caller) -> Result<Vec<AccessToken>, AccessTokensError> {
        let mut conn = self.core.db.acquire().await?;
        Ok(access_tokens::list(&mut conn, caller.user.id).await?)
    }

    /// Creates an access token. The secret is shown only once. Without a `lifetime`, the token expires when the
    /// caller's own credential does. An access token creates none that outlives it.
    ///
    /// # Errors
    /// The expiry has passed or is too late; the user has the maximum number of access tokens; the database.
    pub async fn create(
        &self,
        caller: &Caller,
        name: &str,
        lifetime: Option<Lifetime>,
    ) -> Result<(AccessToken, AccessTokenSecret), AccessTokensError> {
        let now = self.core.clock.now();
        let latest_expiry = caller.credential.latest_expiry();
        let lifetime = lifetime.unwrap_or_else(|| Lifetime::from(latest_expiry));
        let expires_at: Option<UnixTime> = lifetime.into();
        if lifetime.is_over(now) {
            return Err(AccessTokensError::ExpiryPast);
        }
        if let Some(latest) = latest_expiry
            && expires_at.is_none_or(|expiry| expiry > latest)
        {
            return Err(AccessTokensError::ExpiryTooLate(latest.get()));
        }
        let secret = self.core.rng.generate(|rng| AccessTokenSecret::generate(rng));
        let digest = self.core.vault.digests().digest(secret.expose());
        let owner = caller.user.id;
        let mut tx = self.core.db.begin().await?;
        actors::lock_caller(&mut tx, owner).await?;
        // The job deletes them, but not while the clocks differ; their number must be bounded then too.
        access_tokens::delete_expired_of(&mut tx, owner, now, 2 * bounds::MAX_ACCESS_TOKENS).await?;
        if access_tokens::count_live(&mut tx, owner, now).await? >= bounds::MAX_ACCESS_TOKENS {
            return Err(AccessTokensError::TooMany);
        }
        let id = access_tokens::insert(&mut tx, owner, name, &digest, expires_at, now).await?;
        let subject = Subject::access_token(id, owner);
        audit::insert(&mut tx, AuditEntry::new(now, Actor::from(caller), Action::AccessTokenCreated, subject)).await?;
        self.core.invalidator.commit(tx, owner).await?;
        let token = AccessToken { id, name: name.to_owned(), created_time: now, expires_at, last_used_time: None };
        Ok((token, secret))
    }

    /// Deletes one of the caller's access tokens. It stops working at once.
    ///
    /// # Errors
    /// The caller has no such access token; the database.
    pub async fn revoke(&self, caller: &Caller, id: AccessTokenId) -> Result<(), AccessTokensError> {
        let owner = caller.user.id;
        let mut tx = self.core.db.begin().await?;
        if !access_tokens::delete(&mut tx, owner, id).await? {
            return Err(AccessTokensError::NotFound);
        }
        let (at, subject) = (self.core.clock.now(), Subject::access_token(id, owner));
        audit::insert(&mut tx, AuditEntry::new(at, Actor::from(caller), Action::AccessTokenRevoked, subject)).await?;
        self.core.invalidator.commit(tx, owner).await?;
        Ok(())
    }
}
