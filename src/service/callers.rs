//! Whom a credential belongs to. Access tokens are remembered for two seconds at most, and
//! everything is forgotten when any account changes here, so that a revocation counts at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use moka::sync::Cache;

use crate::domain::id::{GatewayId, UserId};
use crate::domain::key::{AccessToken, Digest, GatewayCredential};
use crate::domain::time::{Clock, UnixTime};
use crate::domain::user::{User, UserStatus};
use crate::service::vault::Vault;
use crate::storage::{Db, StorageError, access_tokens, gateways, users};

/// Seconds after which what was read is read again: the bound for changes made on other replicas.
const TRUSTED_SECONDS: i64 = 2;

/// Access tokens remembered at once, each below 1 KiB.
const REMEMBERED: u64 = 20_000;

/// Why a credential opens nothing.
#[derive(Debug, thiserror::Error)]
pub enum Unrecognised {
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
pub struct Callers {
    db: Db,
    clock: Arc<dyn Clock>,
    vault: Vault,
    known: Cache<Digest, Known>,
    gateways: Cache<Digest, (GatewayId, UnixTime, u64)>,
    /// Counts changes of accounts; what was read before the last one is not trusted.
    changes: AtomicU64,
}

#[derive(Clone)]
struct Known {
    user: Arc<User>,
    ends: Option<UnixTime>,
    read_at: UnixTime,
    after_change: u64,
}

impl Callers {
    /// Knows nobody yet.
    #[must_use]
    pub fn new(db: Db, clock: Arc<dyn Clock>, vault: Vault) -> Self {
        Self {
            db,
            clock,
            vault,
            known: Cache::new(REMEMBERED),
            gateways: Cache::new(REMEMBERED),
            changes: AtomicU64::new(0),
        }
    }

    /// The account of an access token.
    ///
    /// # Errors
    /// See [`Unrecognised`].
    pub async fn by_access_token(&self, token: &AccessToken) -> Result<Arc<User>, Unrecognised> {
        let digest = self.vault.digests().digest(token.expose());
        let now = self.clock.now();
        let change = self.changes.load(Ordering::SeqCst);
        let known = match self.known.get(&digest) {
            Some(known) if known.after_change == change && now.since(known.read_at) < TRUSTED_SECONDS => known,
            _ => {
                let known = self.read(&digest, now, change).await?;
                self.known.insert(digest, known.clone());
                known
            }
        };
        if known.ends.is_some_and(|end| end <= now) {
            return Err(Unrecognised::Unknown);
        }
        enabled(known.user)
    }

    /// The account that signed in with a session.
    ///
    /// # Errors
    /// See [`Unrecognised`].
    pub async fn by_session(&self, id: UserId) -> Result<Arc<User>, Unrecognised> {
        let mut conn = self.db.acquire().await?;
        let user = users::find(&mut conn, id).await?.ok_or(Unrecognised::Unknown)?;
        enabled(Arc::new(user))
    }

    /// The gateway of a credential.
    ///
    /// # Errors
    /// See [`Unrecognised`].
    pub async fn gateway(&self, credential: &GatewayCredential) -> Result<GatewayId, Unrecognised> {
        let digest = self.vault.digests().digest(credential.expose());
        let now = self.clock.now();
        let change = self.changes.load(Ordering::SeqCst);
        match self.gateways.get(&digest) {
            Some((id, read_at, after)) if after == change && now.since(read_at) < TRUSTED_SECONDS => Ok(id),
            _ => {
                let mut conn = self.db.acquire().await?;
                let id = gateways::find(&mut conn, &digest).await?.ok_or(Unrecognised::Unknown)?;
                self.gateways.insert(digest, (id, now, change));
                Ok(id)
            }
        }
    }

    /// To be called after every change of an account or of a credential.
    pub fn forget(&self) {
        self.changes.fetch_add(1, Ordering::SeqCst);
    }

    async fn read(&self, digest: &Digest, now: UnixTime, change: u64) -> Result<Known, Unrecognised> {
        let mut conn = self.db.acquire().await?;
        let (owner, ends) = access_tokens::find_owner(&mut conn, digest).await?.ok_or(Unrecognised::Unknown)?;
        let user = users::find(&mut conn, owner).await?.ok_or(Unrecognised::Unknown)?;
        Ok(Known { user: Arc::new(user), ends, read_at: now, after_change: change })
    }
}

impl std::fmt::Debug for Callers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Callers(…)")
    }
}

fn enabled(user: Arc<User>) -> Result<Arc<User>, Unrecognised> {
    match user.status {
        UserStatus::Enabled => Ok(user),
        UserStatus::Disabled => Err(Unrecognised::Disabled),
    }
}
