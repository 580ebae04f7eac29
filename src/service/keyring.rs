//! The keys that gateways ask about, as last seen: what `verify` answers from without the database.
//!
//! An edit on this server is seen by the next request. Other servers' edits are heard within
//! milliseconds, and nothing older than two seconds is trusted without reading it again. Balances
//! here are advice; what a charge obeys is read under its lock (L6).

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use moka::policy::EvictionPolicy;
use moka::sync::Cache;

use super::vault::Vault;
use crate::domain::id::{TokenId, UserId};
use crate::domain::key::{ApiKey, Digest};
use crate::domain::ledger::Wallet;
use crate::domain::time::{Clock, UnixTime};
use crate::domain::token::Token;
use crate::storage::{Db, StorageError, tokens};

/// Seconds after which what was read is read again.
const TRUSTED_SECONDS: i64 = 2;

/// Keys remembered at once, each below 1 KiB.
const REMEMBERED: u64 = 120_000;

/// Unknown keys remembered at once, apart from the others, so that guesses push nothing out.
const REMEMBERED_UNKNOWN: u64 = 10_000;

/// Users share these counters; a change of one makes its few neighbours be read again too.
const COUNTERS: usize = 4_096;

/// A token and its owner, as last seen.
#[derive(Debug)]
pub struct Seen {
    /// The token.
    pub token: Token,
    /// Its owner's wallet.
    pub wallet: Wallet,
    /// Its owner's group, for tokens that name none.
    pub owner_group: String,
}

/// The snapshot.
pub struct Keyring {
    db: Db,
    clock: Arc<dyn Clock>,
    vault: Vault,
    known: Cache<Digest, Entry>,
    unknown: Cache<Digest, (UnixTime, u64)>,
    /// Counts changes.
    count: AtomicU64,
    /// The count at the last change of a user, by the user's id.
    changed: Box<[AtomicU64]>,
    /// The count when everything was last forgotten.
    all_changed: AtomicU64,
}

#[derive(Clone)]
struct Entry {
    seen: Arc<Seen>,
    read_at: UnixTime,
    /// The count before it was read: a change counted after that may not be in it.
    read_after: u64,
}

impl Keyring {
    /// Knows nothing yet.
    #[must_use]
    pub fn new(db: Db, clock: Arc<dyn Clock>, vault: Vault) -> Self {
        Self {
            db,
            clock,
            vault,
            // The keys in use now count, not those that were popular before.
            known: Cache::builder().max_capacity(REMEMBERED).eviction_policy(EvictionPolicy::lru()).build(),
            unknown: Cache::new(REMEMBERED_UNKNOWN),
            count: AtomicU64::new(0),
            changed: std::iter::repeat_with(AtomicU64::default).take(COUNTERS).collect(),
            all_changed: AtomicU64::new(0),
        }
    }

    /// Where a key is found.
    #[must_use]
    pub fn digest(&self, key: &ApiKey) -> Digest {
        self.vault.digest(key)
    }

    /// The live token of a key and its live owner, as seen at most two seconds ago.
    ///
    /// # Errors
    /// The database, if it had to be asked.
    pub async fn find(&self, key: &ApiKey) -> Result<Option<Arc<Seen>>, StorageError> {
        let digest = self.vault.digest(key);
        let now = self.clock.now();
        let recent = |read_at: UnixTime| now.since(read_at) < TRUSTED_SECONDS;
        if let Some(entry) = self.known.get(&digest) {
            let change = self.counter(entry.seen.token.user_id).load(Ordering::SeqCst);
            let change = change.max(self.all_changed.load(Ordering::SeqCst));
            if recent(entry.read_at) && change <= entry.read_after {
                return Ok(Some(entry.seen));
            }
        }
        let read_after = self.count.load(Ordering::SeqCst);
        if let Some((read_at, after)) = self.unknown.get(&digest)
            && recent(read_at)
            && self.all_changed.load(Ordering::SeqCst) <= after
        {
            return Ok(None);
        }
        let mut conn = self.db.acquire().await?;
        let Some((token, wallet, owner_group)) = tokens::find_with_owner(&mut conn, &digest).await? else {
            self.known.invalidate(&digest);
            self.unknown.insert(digest, (now, read_after));
            return Ok(None);
        };
        let seen = Arc::new(Seen { token, wallet, owner_group });
        self.known.insert(digest, Entry { seen: Arc::clone(&seen), read_at: now, read_after });
        Ok(Some(seen))
    }

    /// Which token a key is, and whose: that never changes, so nothing here is too old to tell it. For
    /// those who look at everything else under its lock.
    ///
    /// # Errors
    /// The database, if it had to be asked.
    pub async fn whose(&self, key: &ApiKey) -> Result<Option<(TokenId, UserId)>, StorageError> {
        if let Some(entry) = self.known.get(&self.vault.digest(key)) {
            return Ok(Some((entry.seen.token.id, entry.seen.token.user_id)));
        }
        Ok(self.find(key).await?.map(|seen| (seen.token.id, seen.token.user_id)))
    }

    /// To be called after every change of a user or of one of its tokens.
    pub fn forget(&self, user: UserId) {
        let now = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        self.counter(user).fetch_max(now, Ordering::SeqCst);
    }

    /// To be called when changes may have been missed.
    pub fn forget_all(&self) {
        let now = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        self.all_changed.fetch_max(now, Ordering::SeqCst);
    }

    fn counter(&self, user: UserId) -> &AtomicU64 {
        let at = usize::try_from(user.get().unsigned_abs()).unwrap_or(0) % COUNTERS;
        &self.changed[at]
    }
}

impl std::fmt::Debug for Keyring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Keyring(…)")
    }
}
