//! Resolves credentials to users and gateways, cached for two seconds. Every change of an account or of a credential
//! clears the caches, so that a revocation takes effect on the next request. When an entry is one second old, one
//! request reads it again, and the others do not wait. Credentials that wait to be read are read in one statement.
//! Unknown ones are remembered as well.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use quick_cache::sync::Cache;

use crate::domain::bounds;
use crate::domain::clock::{Clock, Uptime};
use crate::domain::id::{GatewayId, UserId};
use crate::domain::key::Digest;
use crate::domain::secrets::{AccessTokenSecret, GatewaySecret};
use crate::domain::time::UnixTime;
use crate::domain::user::{User, UserStatus};
use crate::service::base::Base;
use crate::service::rate_limiter::{RateLimited, RateLimiter};
use crate::service::vault::Vault;
use crate::storage::loader::{Loader, Loads};
use crate::storage::{Conn, Db, StorageError, access_tokens, gateways, users};

/// Maximum number of cached credentials of each kind; an entry is smaller than 1 KiB.
const CAPACITY: usize = 20_000;

/// Maximum number of remembered unknown credentials of each kind.
const UNKNOWN: usize = 10_000;

/// Why a credential was refused.
#[derive(Debug, thiserror::Error)]
pub enum AuthError {
    /// Unknown, revoked or expired.
    #[error("the credential is not valid; sign in again or use a valid access token")]
    Unknown,
    /// The account is disabled.
    #[error("this account is disabled; ask your administrator")]
    Disabled,
    /// The credential is unknown, like too many others from the same address.
    #[error(transparent)]
    RateLimited(#[from] RateLimited),
    /// The database.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Authenticates users and gateways.
pub struct Authenticator {
    clock: Arc<dyn Clock>,
    vault: Vault,
    rate_limiter: Arc<RateLimiter>,
    users: Credentials<AccessTokens>,
    gateways: Credentials<GatewayCredentials>,
    live_users: Loader<LiveUsers>,
    /// Incremented by every change; entries of an earlier generation are not used.
    generation: AtomicU64,
}

/// Credentials of one kind.
struct Credentials<S: Loads<Key = Digest>> {
    loader: Loader<S>,
    known: Cache<Digest, Cached<S::Row>>,
    /// Digests that no credential has. They have a place of their own, so that guesses evict no credential.
    unknown: Cache<Digest, ReadAt>,
}

impl<S: Loads<Key = Digest>> Credentials<S> {
    fn start(source: S) -> Self {
        Self { loader: Loader::start(source), known: Cache::new(CAPACITY), unknown: Cache::new(UNKNOWN) }
    }
}

/// When a credential was read.
#[derive(Debug, Clone, Copy)]
struct ReadAt {
    uptime: Uptime,
    generation: u64,
}

impl ReadAt {
    /// The time from this to `now`; `None` if it is too long ago, or something changed since.
    fn age(self, now: Self) -> Option<Duration> {
        let age = now.uptime.since(self.uptime);
        (self.generation == now.generation && age < bounds::CACHE_AGE).then_some(age)
    }
}

/// Live accounts by id.
struct LiveUsers(Db);

impl Loads for LiveUsers {
    type Key = UserId;
    type Row = Arc<User>;

    async fn read(&self, ids: &[UserId]) -> Result<HashMap<UserId, Arc<User>>, StorageError> {
        let users = self.0.bounded_not_reserved(async |conn: &mut Conn| users::list_live(conn, ids).await).await?;
        Ok(users.into_iter().map(|user| (user.id, Arc::new(user))).collect())
    }
}

/// A cached credential.
#[derive(Debug, Clone)]
struct Cached<T> {
    owner: T,
    read_at: ReadAt,
    /// True once a request has begun to read it again. Clones share it.
    is_refreshing: Arc<AtomicBool>,
}

/// The owner of an access token, and its expiry.
pub type AccessTokenOwner = (Arc<User>, Option<UnixTime>);

/// Access tokens of live accounts. Those that are read are recorded as used, at most once a minute.
struct AccessTokens {
    db: Db,
    clock: Arc<dyn Clock>,
}

impl Loads for AccessTokens {
    type Key = Digest;
    type Row = AccessTokenOwner;

    async fn read(&self, digests: &[Digest]) -> Result<HashMap<Digest, AccessTokenOwner>, StorageError> {
        let read = async |conn: &mut Conn| {
            let found = access_tokens::list_by_digests(conn, digests).await?;
            let now = self.clock.now();
            for token in &found {
                let is_live = token.expires_at.is_none_or(|expiry| expiry > now);
                // Access tokens keep working when the database takes no writes.
                if is_live
                    && now.is_due(token.last_used_time, bounds::LAST_USED_SECONDS)
                    && let Err(error) = access_tokens::update_last_used(conn, &token.digest, now).await
                {
                    tracing::warn!(%error, "the last use of an access token was not recorded");
                }
            }
            let owners: Vec<UserId> = found.iter().map(|token| token.owner).collect();
            let owners: HashMap<UserId, Arc<User>> =
                users::list_live(conn, &owners).await?.into_iter().map(|user| (user.id, Arc::new(user))).collect();
            let with_owner = |token: access_tokens::AccessTokenUse| {
                Some((token.digest, (Arc::clone(owners.get(&token.owner)?), token.expires_at)))
            };
            Ok(found.into_iter().filter_map(with_owner).collect())
        };
        self.db.bounded_not_reserved(read).await
    }
}

/// Credentials of gateways. Those that are read are recorded as used, at most once a minute.
struct GatewayCredentials {
    db: Db,
    clock: Arc<dyn Clock>,
}

impl Loads for GatewayCredentials {
    type Key = Digest;
    type Row = GatewayId;

    async fn read(&self, digests: &[Digest]) -> Result<HashMap<Digest, GatewayId>, StorageError> {
        let read = async |conn: &mut Conn| {
            let found = gateways::list_by_digests(conn, digests).await?;
            let now = self.clock.now();
            for credential in &found {
                // Gateways keep working when the database takes no writes.
                if now.is_due(credential.last_used_time, bounds::LAST_USED_SECONDS)
                    && let Err(error) = gateways::update_last_used(conn, &credential.digest, now).await
                {
                    let gateway = credential.gateway_id;
                    tracing::warn!(%error, %gateway, "the last use of a gateway credential could not be recorded");
                }
            }
            Ok(found.into_iter().map(|credential| (credential.digest, credential.gateway_id)).collect())
        };
        self.db.read_soon(read).await
    }
}

impl Authenticator {
    /// An authenticator with empty caches. Starts the tasks that read accounts and credentials.
    pub fn new(base: &Base, rate_limiter: Arc<RateLimiter>) -> Self {
        let Base { db, clock, vault, .. } = base.clone();
        Self {
            users: Credentials::start(AccessTokens { db: db.clone(), clock: Arc::clone(&clock) }),
            gateways: Credentials::start(GatewayCredentials { db: db.clone(), clock: Arc::clone(&clock) }),
            live_users: Loader::start(LiveUsers(db.clone())),
            clock,
            vault,
            rate_limiter,
            generation: AtomicU64::new(0),
        }
    }

    /// The owner of an access token, and its expiry. `ip` is the address of the request.
    ///
    /// # Errors
    /// See [`AuthError`].
    pub async fn by_access_token(
        &self,
        secret: &AccessTokenSecret,
        ip: Option<IpAddr>,
    ) -> Result<AccessTokenOwner, AuthError> {
        let digest = self.vault.digests().digest(secret.expose());
        let (user, expires_at) = self.find_owner(&self.users, digest, ip).await?;
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

    /// The gateway of a credential. `ip` is the address of the request.
    ///
    /// # Errors
    /// See [`AuthError`].
    pub async fn gateway(&self, secret: &GatewaySecret, ip: Option<IpAddr>) -> Result<GatewayId, AuthError> {
        let digest = self.vault.digests().digest(secret.expose());
        self.find_owner(&self.gateways, digest, ip).await
    }

    /// Clears the caches. Called after every change of an account or of a credential.
    pub fn forget(&self) {
        self.generation.fetch_add(1, Ordering::SeqCst);
    }

    /// The owner of a credential, from the caches or the database. A credential that was not remembered is always
    /// looked up, however many wrong ones its address has sent: a right one is never refused for them.
    async fn find_owner<S: Loads<Key = Digest>>(
        &self,
        credentials: &Credentials<S>,
        digest: Digest,
        ip: Option<IpAddr>,
    ) -> Result<S::Row, AuthError> {
        let now = ReadAt { uptime: self.clock.uptime(), generation: self.generation.load(Ordering::SeqCst) };
        let cached = credentials.known.get(&digest).and_then(|cached| Some((cached.read_at.age(now)?, cached)));
        if let Some((age, cached)) = &cached
            && (*age < bounds::CACHE_REFRESH_AGE || cached.is_refreshing.swap(true, Ordering::Relaxed))
        {
            return Ok(cached.owner.clone());
        }
        if cached.is_none() && credentials.unknown.get(&digest).is_some_and(|read_at| read_at.age(now).is_some()) {
            return Err(AuthError::Unknown);
        }
        // Boxed, because it is large and most requests do not come here.
        match (Box::pin(credentials.loader.load(digest.clone())).await, cached) {
            (Ok(Some(owner)), _) => {
                let cached = Cached { owner: owner.clone(), read_at: now, is_refreshing: Arc::default() };
                credentials.known.insert(digest, cached);
                Ok(owner)
            }
            (Ok(None), _) => {
                credentials.known.remove(&digest);
                credentials.unknown.insert(digest, now);
                self.rate_limiter.wrong_credentials.take(ip)?;
                Err(AuthError::Unknown)
            }
            // The entry is still valid for up to a second.
            (Err(_), Some((_, cached))) => Ok(cached.owner),
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
