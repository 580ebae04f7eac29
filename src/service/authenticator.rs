//! Whom a credential belongs to. It is remembered for two seconds at most, and everything is
//! forgotten when any account changes here, so that a revocation counts at once. After the first of
//! the two seconds, one of those who bring it reads it again and the others need not wait for that.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use moka::sync::Cache;

use crate::domain::id::{GatewayId, UserId};
use crate::domain::key::Digest;
use crate::domain::policy;
use crate::domain::secrets::{AccessTokenSecret, GatewaySecret};
use crate::domain::time::{Clock, UnixTime};
use crate::domain::user::{User, UserStatus};
use crate::service::vault::Vault;
use crate::storage::{Conn, Db, PoolConnection, StorageError, access_tokens, gateways, users};

/// Access tokens remembered at once, each below 1 KiB.
const REMEMBERED: u64 = 20_000;

/// Why a credential opens nothing.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// Unknown, revoked or expired.
    #[error("the credential is not valid; sign in again or use a valid access token")]
    Unknown,
    /// The account was switched off.
    #[error("this account is disabled; ask your administrator")]
    Disabled,
    /// The database was away.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Recognises callers.
pub struct Authenticator {
    db: Db,
    clock: Arc<dyn Clock>,
    vault: Vault,
    users: Cache<Digest, Remembered<AccessTokenOwner>>,
    gateways: Cache<Digest, Remembered<GatewayId>>,
    /// Counts changes of accounts; what was read before the last one is not trusted.
    changes: AtomicU64,
}

/// What a credential opens, and when that was so.
#[derive(Clone)]
struct Remembered<T> {
    opens: T,
    read_at: UnixTime,
    after_change: u64,
    /// Whether somebody is reading it again.
    is_read_again: Arc<AtomicBool>,
}

/// Whose access token, and until when.
pub type AccessTokenOwner = (Arc<User>, Option<UnixTime>);

impl Authenticator {
    /// Knows nobody yet.
    #[must_use]
    pub fn new(db: Db, clock: Arc<dyn Clock>, vault: Vault) -> Self {
        Self {
            db,
            clock,
            vault,
            users: Cache::new(REMEMBERED),
            gateways: Cache::new(REMEMBERED),
            changes: AtomicU64::new(0),
        }
    }

    /// The account of an access token, and when the token ends; never if absent.
    ///
    /// # Errors
    /// See [`AuthError`].
    pub async fn by_access_token(&self, secret: &AccessTokenSecret) -> Result<AccessTokenOwner, AuthError> {
        let digest = self.vault.digests().digest(secret.expose());
        let read = async |conn: &mut Conn| match access_tokens::find_owner(conn, &digest).await? {
            Some((owner, ends)) => Ok(users::find(conn, owner).await?.map(|user| (Arc::new(user), ends))),
            None => Ok(None),
        };
        let (user, ends) = self.recognise(&self.users, &digest, self.db.acquire(), read).await?;
        if ends.is_some_and(|end| end <= self.clock.now()) {
            return Err(AuthError::Unknown);
        }
        Ok((enabled(user)?, ends))
    }

    /// The account that signed in with a session.
    ///
    /// # Errors
    /// See [`AuthError`].
    pub async fn by_session(&self, id: UserId) -> Result<Arc<User>, AuthError> {
        let mut conn = self.db.acquire().await?;
        let user = users::find(&mut conn, id).await?.ok_or(AuthError::Unknown)?;
        enabled(Arc::new(user))
    }

    /// The gateway of a credential. Its use is written down where the credential is read anyway, once a minute.
    ///
    /// # Errors
    /// See [`AuthError`].
    pub async fn gateway(&self, secret: &GatewaySecret) -> Result<GatewayId, AuthError> {
        let digest = self.vault.digests().digest(secret.expose());
        let read = async |conn: &mut Conn| {
            let Some((gateway, last_used)) = gateways::find_by_credential(conn, &digest).await? else {
                return Ok(None);
            };
            let now = self.clock.now();
            let is_due = last_used.is_none_or(|then| now.since(then) >= policy::LAST_USED_SECONDS);
            // A gateway goes on working where nothing can be written.
            if is_due && let Err(error) = gateways::update_last_used(conn, &digest, now).await {
                tracing::warn!(%error, %gateway, "the last use of a gateway's credential was not written");
            }
            Ok(Some(gateway))
        };
        self.recognise(&self.gateways, &digest, self.db.acquire_reserved(), read).await
    }

    /// To be called after every change of an account or of a credential.
    pub fn forget(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
    }

    /// What a credential opens: as remembered, or as read now.
    async fn recognise<T: Clone + Send + Sync + 'static>(
        &self,
        remembered: &Cache<Digest, Remembered<T>>,
        digest: &Digest,
        connection: impl Future<Output = Result<PoolConnection, StorageError>>,
        read: impl AsyncFnOnce(&mut Conn) -> Result<Option<T>, StorageError>,
    ) -> Result<T, AuthError> {
        let read_at = self.clock.now();
        let after_change = self.changes.load(Ordering::SeqCst);
        let age = |known: &Remembered<T>| read_at.since(known.read_at);
        let is_current =
            |known: &Remembered<T>| known.after_change == after_change && age(known) < policy::TRUSTED_SECONDS;
        let known = remembered.get(digest).filter(is_current);
        if let Some(known) = &known
            && (age(known) < policy::FRESH_SECONDS || known.is_read_again.swap(true, Ordering::Relaxed))
        {
            return Ok(known.opens.clone());
        }
        let read = async { read(&mut *connection.await?).await }.await;
        match (read, known) {
            (Ok(Some(opens)), _) => {
                let is_read_again = Arc::default();
                let entry = Remembered { opens: opens.clone(), read_at, after_change, is_read_again };
                remembered.insert(digest.clone(), entry);
                Ok(opens)
            }
            (Ok(None), _) => {
                remembered.invalidate(digest);
                Err(AuthError::Unknown)
            }
            (Err(_), Some(known)) => Ok(known.opens),
            (Err(error), None) => Err(error.into()),
        }
    }
}

impl std::fmt::Debug for Authenticator {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Authenticator(…)")
    }
}

fn enabled(user: Arc<User>) -> Result<Arc<User>, AuthError> {
    match user.status {
        UserStatus::Enabled => Ok(user),
        UserStatus::Disabled => Err(AuthError::Disabled),
    }
}
