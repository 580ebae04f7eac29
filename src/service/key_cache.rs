//! A cache of keys with their tokens and owners. `verify` answers from it without a query.
//!
//! A change on this server takes effect on the next request; a change on another server arrives as a notification
//! within milliseconds. An entry older than two seconds is never used without reading it again. A key in use is read
//! again in the background before that, so that no request waits. All keys that wait to be read are read in one
//! statement. Cached balances are only for `verify`: a charge reads its rows under their locks (L6). It goes by the
//! cached policy only if the locked row has its version.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use prometheus_client::registry::Registry;
use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::recent_balances::RecentBalances;
use crate::domain::bounds;
use crate::domain::clock::{Clock, Uptime};
use crate::domain::id::UserId;
use crate::domain::key::Digest;
use crate::domain::ledger::Wallet;
use crate::domain::old_key::UsedKey;
use crate::domain::token::{Token, TokenIdentity};
use crate::service::base::Base;
use crate::storage::keys::FoundKey;
use crate::storage::loader::{Loader, Loads};
use crate::storage::{Conn, Db, StorageError, keys};
use crate::telemetry;
use crate::telemetry::caches::KeyCacheMetrics;

/// Memory of the cache in bytes: about 100,000 typical keys, fewer with long lists.
const CACHE_BYTES: u64 = 96 * 1_024 * 1_024;

/// Bytes of a cached key besides its texts, including the overhead of the cache.
const ENTRY_BYTES: usize = 1_000;

/// About as many keys as [`CACHE_BYTES`] are enough for.
const TYPICAL_KEYS: usize = 100_000;

/// Unknown keys in the cache. They are stored separately, so that guessed keys do not evict real ones.
const UNKNOWN_KEYS: usize = 10_000;

/// Counters of changes, shared by all users. A change of one user also invalidates the few that share its counter.
const COUNTERS: usize = 4_096;

/// A token and its owner, as last read.
#[derive(Debug)]
pub struct CachedKey {
    pub digest: Digest,
    /// Which of the token's keys it is, as of the version of the token's policy. An old one may have ended.
    pub used: UsedKey,
    /// The token.
    pub token: Token,
    /// Its owner's wallet.
    pub wallet: Wallet,
    /// Its owner's group, for tokens without a group of their own.
    pub owner_group: String,
    read_at: Uptime,
    /// The number of changes before it was read. It may not include later changes.
    read_after: u64,
    /// The number of the ledger's batches before it was read.
    balances_after: u64,
    /// True if it is already being read again.
    is_refreshing: AtomicBool,
    /// True if the grace period of older keys was asked to begin since it was read.
    begins_grace: Arc<AtomicBool>,
}

impl CachedKey {
    /// The token's group, or its owner's if the token has none.
    pub fn group(&self) -> &str {
        self.token.policy.group.name_or(&self.owner_group)
    }

    /// What a gateway is told about the token.
    pub fn identity(&self) -> TokenIdentity {
        let Token { id, user_id, ref name, .. } = self.token;
        TokenIdentity { id, user_id, name: name.clone(), group: self.group().to_owned() }
    }

    /// Returns true once if its use begins the grace period of older keys, and nobody has asked for that since it was
    /// read.
    pub fn may_begin_grace(&self) -> bool {
        self.used.starts_grace && !self.begins_grace.swap(true, Ordering::Relaxed)
    }

    /// Its approximate size in memory.
    fn bytes(&self) -> usize {
        let (token, policy) = (&self.token, &self.token.policy);
        let texts = [token.name.as_str(), token.note.as_str(), policy.model_limits.as_str(), policy.group.as_str()];
        let texts: usize = texts.iter().map(|text| text.len()).sum();
        ENTRY_BYTES + texts + policy.allow_ips.size() + self.owner_group.len()
    }
}

/// Weighs cached keys in bytes.
#[derive(Clone)]
struct Bytes;

impl Weighter<Digest, Arc<CachedKey>> for Bytes {
    fn weight(&self, _: &Digest, key: &Arc<CachedKey>) -> u64 {
        key.bytes().try_into().unwrap_or(u64::MAX)
    }
}

/// The cache.
pub struct KeyCache {
    snapshot: Arc<Snapshot>,
    loader: Loader<Arc<Snapshot>>,
    metrics: KeyCacheMetrics,
}

/// The result of reading a key; `None` if the key is unknown.
type ReadResult = Result<Option<Arc<CachedKey>>, StorageError>;

impl KeyCache {
    /// An empty cache. Starts the task that reads keys.
    pub fn start(base: &Base, balances: Arc<RecentBalances>, registry: &mut Registry) -> Self {
        let snapshot = Arc::new(Snapshot::new(base.db.clone(), Arc::clone(&base.clock), balances));
        let metrics = KeyCacheMetrics::register(registry);
        let counted = Arc::clone(&snapshot);
        telemetry::caches::register_entries(registry, move || counted.known.len() as u64);
        let loader = Loader::start(Arc::clone(&snapshot));
        Self { snapshot, loader, metrics }
    }

    /// The live token of a key and its live owner, read at most two seconds ago, with the balances after the last
    /// charge on this server. `None` if the key is unknown.
    ///
    /// # Errors
    /// The database, if the key had to be read.
    pub async fn find(&self, digest: &Digest) -> ReadResult {
        match self.snapshot.find(digest) {
            Lookup::Known(key) => {
                self.metrics.hit();
                self.refresh_in_background(digest, &key);
                Ok(Some(self.snapshot.with_recent_balances(key)))
            }
            Lookup::Unknown => {
                self.metrics.unknown();
                Ok(None)
            }
            Lookup::Missing => {
                self.metrics.miss();
                self.loader.load(digest.clone()).await
            }
        }
    }

    /// Like [`KeyCache::find`], but of any age, if no change is known of since. For the ledger: the token and the owner
    /// of a key never change, it reads accounts and rates under its locks, and a policy and the deadline of a key
    /// decide only if the locked row has their version.
    ///
    /// # Errors
    /// The database, if the key had to be read.
    pub async fn find_of_any_age(&self, digest: &Digest) -> ReadResult {
        match self.snapshot.known.get(digest).filter(|key| self.snapshot.is_unchanged(key)) {
            Some(key) => {
                self.metrics.hit();
                Ok(Some(key))
            }
            None => self.find(digest).await,
        }
    }

    /// Invalidates the keys of a user, after a change of the user or of one of its tokens.
    pub fn forget(&self, user: UserId) {
        self.snapshot.forget(user);
    }

    /// Invalidates what is known of unknown keys, when one became valid.
    pub fn forget_unknown(&self) {
        self.snapshot.forget_unknown();
    }

    /// Invalidates everything, when changes may have been missed.
    pub fn forget_all(&self) {
        self.snapshot.forget_all();
    }

    /// Reads a key in use again in the background. If the queue is full, a later request reads it and waits.
    fn refresh_in_background(&self, digest: &Digest, key: &CachedKey) {
        let is_fresh = self.snapshot.clock.uptime().since(key.read_at) < bounds::CACHE_REFRESH_AGE;
        if !is_fresh && !key.is_refreshing.swap(true, Ordering::Relaxed) {
            self.loader.refresh(digest.clone());
        }
    }
}

impl std::fmt::Debug for KeyCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyCache(…)")
    }
}

/// The result of a look-up in the cache.
enum Lookup {
    Known(Arc<CachedKey>),
    /// The database has no such key.
    Unknown,
    /// Not in the cache, too old, or changed since: it must be read.
    Missing,
}

impl Loads for Arc<Snapshot> {
    type Key = Digest;
    type Row = Arc<CachedKey>;

    async fn read(&self, digests: &[Digest]) -> Result<HashMap<Digest, Arc<CachedKey>>, StorageError> {
        let (read_at, read_after) = (self.clock.uptime(), self.changes.load(Ordering::SeqCst));
        let balances_after = self.balances.batches();
        let read = async |conn: &mut Conn| {
            let read = keys::list_with_owners(conn, digests).await?;
            if read.is_read_only { Err(StorageError::ReadOnly) } else { Ok(read.found) }
        };
        let rows = self.db.read_soon(read).await?;
        let mut found = HashMap::with_capacity(rows.len());
        for FoundKey { digest, used, token, wallet, owner_group } in rows {
            let key = Arc::new(CachedKey {
                digest: digest.clone(),
                used,
                token,
                wallet,
                owner_group,
                read_at,
                read_after,
                balances_after,
                is_refreshing: AtomicBool::new(false),
                begins_grace: Arc::default(),
            });
            self.known.insert(digest.clone(), Arc::clone(&key));
            found.insert(digest, key);
        }
        for digest in digests.iter().filter(|digest| !found.contains_key(digest)) {
            self.known.remove(digest);
            self.unknown.insert(digest.clone(), (read_at, read_after));
        }
        Ok(found)
    }
}

/// The cached keys, and the counters that show which of them changed since they were read.
struct Snapshot {
    db: Db,
    clock: Arc<dyn Clock>,
    balances: Arc<RecentBalances>,
    known: Cache<Digest, Arc<CachedKey>, Bytes>,
    unknown: Cache<Digest, (Uptime, u64)>,
    /// The number of changes so far.
    changes: AtomicU64,
    /// `changes` at the last change of a user; the index is the user's id modulo [`COUNTERS`].
    changed: Box<[AtomicU64]>,
    /// `changes` when everything was last invalidated.
    all_changed: AtomicU64,
    /// `changes` when an unknown key last became valid.
    unknown_changed: AtomicU64,
}

impl Snapshot {
    fn new(db: Db, clock: Arc<dyn Clock>, balances: Arc<RecentBalances>) -> Self {
        Self {
            db,
            clock,
            balances,
            known: Cache::with_weighter(TYPICAL_KEYS, CACHE_BYTES, Bytes),
            unknown: Cache::new(UNKNOWN_KEYS),
            changes: AtomicU64::new(0),
            changed: std::iter::repeat_with(AtomicU64::default).take(COUNTERS).collect(),
            all_changed: AtomicU64::new(0),
            unknown_changed: AtomicU64::new(0),
        }
    }

    fn find(&self, digest: &Digest) -> Lookup {
        let now = self.clock.uptime();
        let recent = |read_at: Uptime| now.since(read_at) < bounds::CACHE_AGE;
        let all_changed = self.all_changed.load(Ordering::SeqCst);
        if let Some(key) = self.known.get(digest) {
            let is_current = recent(key.read_at) && self.is_unchanged(&key);
            return if is_current { Lookup::Known(key) } else { Lookup::Missing };
        }
        let unknown_changed = self.unknown_changed.load(Ordering::SeqCst).max(all_changed);
        match self.unknown.get(digest) {
            Some((read_at, read_after)) if recent(read_at) && unknown_changed <= read_after => Lookup::Unknown,
            Some(_) | None => Lookup::Missing,
        }
    }

    /// Returns true if this server knows of no change of the key's user since it was read.
    fn is_unchanged(&self, key: &CachedKey) -> bool {
        let all_changed = self.all_changed.load(Ordering::SeqCst);
        self.counter(key.token.user_id).load(Ordering::SeqCst).max(all_changed) <= key.read_after
    }

    /// The cached key with the balances after later charges on this server.
    fn with_recent_balances(&self, key: Arc<CachedKey>) -> Arc<CachedKey> {
        let token = self.balances.of_token(key.token.id, key.balances_after);
        let wallet = self.balances.of_wallet(key.token.user_id, key.balances_after);
        if token.is_none() && wallet.is_none() {
            return key;
        }
        let mut current = CachedKey {
            digest: key.digest.clone(),
            used: key.used,
            token: key.token.clone(),
            wallet: key.wallet,
            owner_group: key.owner_group.clone(),
            read_at: key.read_at,
            read_after: key.read_after,
            balances_after: key.balances_after,
            is_refreshing: AtomicBool::new(true),
            begins_grace: Arc::clone(&key.begins_grace),
        };
        if let Some(token) = token {
            current.token.account = current.token.account.with_sums_of(&token);
        }
        if let Some(wallet) = wallet {
            current.wallet.account = current.wallet.account.with_sums_of(&wallet);
        }
        Arc::new(current)
    }

    fn forget(&self, user: UserId) {
        let now = self.changes.fetch_add(1, Ordering::SeqCst) + 1;
        self.counter(user).fetch_max(now, Ordering::SeqCst);
    }

    fn forget_unknown(&self) {
        let now = self.changes.fetch_add(1, Ordering::SeqCst) + 1;
        self.unknown_changed.fetch_max(now, Ordering::SeqCst);
    }

    fn forget_all(&self) {
        let now = self.changes.fetch_add(1, Ordering::SeqCst) + 1;
        self.all_changed.fetch_max(now, Ordering::SeqCst);
    }

    fn counter(&self, user: UserId) -> &AtomicU64 {
        let at = usize::try_from(user.get().unsigned_abs()).unwrap_or(0) % COUNTERS;
        &self.changed[at]
    }
}
