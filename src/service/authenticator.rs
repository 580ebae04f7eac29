//! Resolves credentials to users and gateways, cached for two seconds. Every change of an account or of a credential
//! clears the cache, so that a revocation takes effect on the next request. When an entry is one second old, one request
//! reads it again, and the others do not wait.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use quick_cache::sync::Cache;

use crate::domain::bounds;
use crate::domain::clock::{Clock, Uptime};
use crate::domain::id::{GatewayId, UserId};
use crate::domain::key::Digest;
use crate::domain::secrets::{AccessTokenSecret, GatewaySecret};
use crate::domain::time::UnixTime;
use crate::domain::user::{User, UserStatus};
use crate::service::vault::Vault;
use crate::storage::loader::{Loader, Source};
use crate::storage::{Conn, Db, PoolConnection, StorageError, access_tokens, gateways, users};

/// Maximum number of cached credentials of each kind; an entry is smaller than 1 KiB.
const CAPACITY: usize = 20_000;

/// Why a credential was refused.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// Unknown, revoked or expired.
    #[error("the credential is not valid; sign in again or use a valid access token")]
    Unknown,
    /// The account is disabled.
    #[error("this account is disabled; ask your administrator")]
    Disabled,
    /// The database.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Authenticates users and gateways.
pub struct Authenticator {
    db: Db,
    clock: Arc<dyn Clock>,
    vault: Vault,
    users: Cache<Digest, Cached<AccessTokenOwner>>,
    gateways: Cache<Digest, Cached<GatewayId>>,
    live_users: Loader<LiveUsers>,
    /// Incremented by every change; entries of an earlier generation are not used.
    generation: AtomicU64,
}

/// Live accounts by id.
struct LiveUsers(Db);

impl Source for LiveUsers {
    type Key = UserId;
    type Row = Arc<User>;

    async fn read(&self, ids: &[UserId]) -> Result<HashMap<UserId, Arc<User>>, StorageError> {
        let users = self.0.bounded_of_people(async |conn: &mut Conn| users::list_live(conn, ids).await).await?;
        Ok(users.into_iter().map(|user| (user.id, Arc::new(user))).collect())
    }
}

/// The owner of a credential, as it was read.
#[derive(Clone)]
struct Cached<T> {
    owner: T,
    read_at: Uptime,
    generation: u64,
    /// True while a request reads it again.
    is_refreshing: Arc<AtomicBool>,
}

/// The owner of an access token and its expiry; `None` means never.
pub type AccessTokenOwner = (Arc<User>, Option<UnixTime>);

impl Authenticator {
    /// An authenticator with an empty cache. Starts the task that reads accounts.
    #[must_use]
    pub fn new(db: Db, clock: Arc<dyn Clock>, vault: Vault) -> Self {
        Self {
            live_users: Loader::start(LiveUsers(db.clone())),
            db,
            clock,
            vault,
            users: Cache::new(CAPACITY),
            gateways: Cache::new(CAPACITY),
            generation: AtomicU64::new(0),
        }
    }

    /// The owner of an access token, and its expiry. When it reads the access token from the database, it records the use,
    /// at most once a minute.
    ///
    /// # Errors
    /// See [`AuthError`].
    pub async fn by_access_token(&self, secret: &AccessTokenSecret) -> Result<AccessTokenOwner, AuthError> {
        let digest = self.vault.digests().digest(secret.expose());
        let read = async |conn: &mut Conn| {
            let Some(token) = access_tokens::find(conn, &digest).await? else {
                return Ok(None);
            };
            let now = self.clock.now();
            let is_live = token.expires_at.is_none_or(|expiry| expiry > now);
            let is_due = now.is_due(token.last_used_time, bounds::LAST_USED_SECONDS);
            // Access tokens keep working when the database takes no writes.
            if is_live
                && is_due
                && let Err(error) = access_tokens::update_last_used(conn, &digest, now).await
            {
                tracing::warn!(%error, "the last use of an access token was not recorded");
            }
            Ok(users::find(conn, token.owner).await?.map(|user| (Arc::new(user), token.expires_at)))
        };
        let (user, expires_at) = self.find_owner(&self.users, &digest, async || self.db.acquire().await, read).await?;
        if expires_at.is_some_and(|expiry| expiry <= self.clock.now()) {
            return Err(AuthError::Unknown);
        }
        Ok((enabled(user)?, expires_at))
    }

    /// The user of a session. Not cached, but read with those of other requests.
    ///
    /// # Errors
    /// See [`AuthError`].
    pub async fn by_session(&self, id: UserId) -> Result<Arc<User>, AuthError> {
        enabled(self.live_users.load(id).await?.ok_or(AuthError::Unknown)?)
    }

    /// The gateway of a credential. When it reads the credential from the database, it records the use, at most once a
    /// minute.
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
            let is_due = now.is_due(last_used, bounds::LAST_USED_SECONDS);
            // Gateways keep working when the database takes no writes.
            if is_due && let Err(error) = gateways::update_last_used(conn, &digest, now).await {
                tracing::warn!(%error, %gateway, "the last use of a gateway credential could not be recorded");
            }
            Ok(Some(gateway))
        };
        self.find_owner(&self.gateways, &digest, async || self.db.acquire_reserved().await, read).await
    }

    /// Clears the cache. Called after every change of an account or of a credential.
    pub fn forget(&self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
    }

    /// The owner of a credential, from the cache or the database.
    async fn find_owner<T: Clone + Send + Sync + 'static>(
        &self,
        cache: &Cache<Digest, Cached<T>>,
        digest: &Digest,
        connect: impl AsyncFnOnce() -> Result<PoolConnection, StorageError>,
        read: impl AsyncFnOnce(&mut Conn) -> Result<Option<T>, StorageError>,
    ) -> Result<T, AuthError> {
        let read_at = self.clock.uptime();
        let generation = self.generation.load(Ordering::SeqCst);
        let age = |cached: &Cached<T>| read_at.since(cached.read_at);
        let is_valid = |cached: &Cached<T>| cached.generation == generation && age(cached) < bounds::CACHE_AGE;
        let cached = cache.get(digest).filter(is_valid);
        if let Some(cached) = &cached
            && (age(cached) < bounds::CACHE_REFRESH_AGE || cached.is_refreshing.swap(true, Ordering::Relaxed))
        {
            return Ok(cached.owner.clone());
        }
        // Boxed, because it is large and most requests do not come here.
        let read = Box::pin(async { read(&mut *connect().await?).await }).await;
        match (read, cached) {
            (Ok(Some(owner)), _) => {
                let entry = Cached { owner: owner.clone(), read_at, generation, is_refreshing: Arc::default() };
                cache.insert(digest.clone(), entry);
                Ok(owner)
            }
            (Ok(None), _) => {
                cache.remove(digest);
                Err(AuthError::Unknown)
            }
            // The entry is still valid for up to a second.
            (Err(_), Some(cached)) => Ok(cached.owner),
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
