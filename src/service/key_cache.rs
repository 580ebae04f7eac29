//! The keys that gateways ask about, as last seen: what `verify` answers from without the database.
//!
//! An edit on this server is seen by the next request. Other servers' edits are heard within
//! milliseconds, and nothing older than two seconds is trusted without reading it again; a key in
//! use is read again before that, so that nobody waits for it. All that wait to be read are read in
//! one statement, and the next ones gather meanwhile. Balances here are advice; what a charge obeys
//! is read under its lock (L6).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use moka::policy::EvictionPolicy;
use moka::sync::Cache;
use prometheus_client::registry::Registry;
use tokio::sync::{mpsc, oneshot};

use super::recent_balances::RecentBalances;
use crate::domain::id::UserId;
use crate::domain::key::Digest;
use crate::domain::ledger::Wallet;
use crate::domain::policy;
use crate::domain::time::{Clock, UnixTime};
use crate::domain::token::{Budget, Token};
use crate::storage::{Conn, Db, StorageError, tokens};
use crate::telemetry;
use crate::telemetry::caches::KeyCacheMetrics;

/// Bytes that remembered keys may take: about 120,000 keys of the usual kind, and fewer with long lists.
const REMEMBERED_BYTES: u64 = 96 * 1_024 * 1_024;

/// Bytes of a remembered key beside its texts: what is in it, and what the cache keeps of it.
const ENTRY_BYTES: usize = 640;

/// Unknown keys remembered at once, apart from the others, so that guesses push nothing out.
const REMEMBERED_UNKNOWN: u64 = 10_000;

/// Users share these counters; a change of one makes its few neighbours be read again too.
const COUNTERS: usize = 4_096;

/// Keys read in one statement, and keys that may wait for the next, at most.
const BATCH: usize = 1_024;

/// A token and its owner, as last seen.
#[derive(Debug)]
pub struct CachedKey {
    /// The token.
    pub token: Token,
    /// Its owner's wallet.
    pub wallet: Wallet,
    /// Its owner's group, for tokens that name none.
    pub owner_group: String,
    read_at: UnixTime,
    /// The count of changes before it was read: one counted after that may not be in it.
    read_after: u64,
    /// The count of the ledger's batches before it was read.
    balances_after: u64,
    /// Whether it was asked for again already.
    is_asked_again: AtomicBool,
}

impl CachedKey {
    /// About how much memory it takes.
    fn bytes(&self) -> u32 {
        let token = &self.token;
        let texts = [token.name.as_str(), token.note.as_str(), token.model_limits.as_str(), token.group.as_str()];
        let texts: usize = texts.iter().map(|text| text.len()).sum();
        u32::try_from(ENTRY_BYTES + texts + token.allow_ips.size() + self.owner_group.len()).unwrap_or(u32::MAX)
    }
}

/// The snapshot, and the way to its reader, which ends with it.
pub struct KeyCache {
    snapshot: Arc<Snapshot>,
    asks: mpsc::Sender<Ask>,
    metrics: KeyCacheMetrics,
}

/// What a key opens, once it is read.
type Answer = Result<Option<Arc<CachedKey>>, Arc<StorageError>>;

/// A key to be read; for somebody who waits, or only to have it at hand.
struct Ask {
    digest: Digest,
    tell: Option<oneshot::Sender<Answer>>,
}

impl KeyCache {
    /// Knows nothing yet.
    #[must_use]
    pub fn start(db: Db, clock: Arc<dyn Clock>, balances: Arc<RecentBalances>, registry: &mut Registry) -> Self {
        let snapshot = Arc::new(Snapshot::new(db, clock, balances));
        let metrics = KeyCacheMetrics::register(registry);
        let known = snapshot.known.clone();
        telemetry::caches::register_entries(registry, move || {
            known.run_pending_tasks();
            known.entry_count()
        });
        let (asks, waiting) = mpsc::channel(BATCH);
        tokio::spawn(Arc::clone(&snapshot).read(waiting));
        Self { snapshot, asks, metrics }
    }

    /// The live token of a key and its live owner, as seen at most two seconds ago; balances as the last charge on this
    /// server left them.
    ///
    /// # Errors
    /// The database, if it had to be asked.
    pub async fn find(&self, digest: &Digest) -> Answer {
        match self.snapshot.recall(digest) {
            Recalled::Known(seen) => {
                self.metrics.hit();
                self.freshen(digest, &seen);
                Ok(Some(self.snapshot.with_recent_balances(seen)))
            }
            Recalled::Unknown => {
                self.metrics.unknown();
                Ok(None)
            }
            Recalled::Nothing => {
                self.metrics.miss();
                self.ask(digest).await
            }
        }
    }

    /// The same however long ago it was seen. Which token a key is, and whose, never changes; for the ledger, which looks
    /// at everything else under its lock.
    ///
    /// # Errors
    /// The database, if it had to be asked.
    pub async fn find_of_any_age(&self, digest: &Digest) -> Answer {
        match self.snapshot.known.get(digest) {
            Some(seen) => {
                self.metrics.hit();
                Ok(Some(seen))
            }
            None => self.find(digest).await,
        }
    }

    /// To be called after every change of a user or of one of its tokens.
    pub fn forget(&self, user: UserId) {
        self.snapshot.forget(user);
    }

    /// To be called when changes may have been missed.
    pub fn forget_all(&self) {
        self.snapshot.forget_all();
    }

    async fn ask(&self, digest: &Digest) -> Answer {
        let (tell, told) = oneshot::channel();
        let ask = Ask { digest: digest.clone(), tell: Some(tell) };
        let gone = || Arc::new(StorageError::GivenUp);
        self.asks.send(ask).await.map_err(|_| gone())?;
        told.await.unwrap_or_else(|_| Err(gone()))
    }

    /// Has a key in use read again in the background. If that fails, somebody will wait for it soon.
    fn freshen(&self, digest: &Digest, seen: &CachedKey) {
        let is_fresh = self.snapshot.clock.now().since(seen.read_at) < policy::FRESH_SECONDS;
        if !is_fresh && !seen.is_asked_again.swap(true, Ordering::Relaxed) {
            let _ = self.asks.try_send(Ask { digest: digest.clone(), tell: None });
        }
    }
}

impl std::fmt::Debug for KeyCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("KeyCache(…)")
    }
}

/// What may be told of a key without reading.
enum Recalled {
    Known(Arc<CachedKey>),
    /// There is none.
    Unknown,
    /// It is to be read.
    Nothing,
}

/// What is remembered, and what changed since.
struct Snapshot {
    db: Db,
    clock: Arc<dyn Clock>,
    balances: Arc<RecentBalances>,
    known: Cache<Digest, Arc<CachedKey>>,
    unknown: Cache<Digest, (UnixTime, u64)>,
    /// Counts changes.
    count: AtomicU64,
    /// The count at the last change of a user, by the user's id.
    changed: Box<[AtomicU64]>,
    /// The count when everything was last forgotten.
    all_changed: AtomicU64,
}

impl Snapshot {
    fn new(db: Db, clock: Arc<dyn Clock>, balances: Arc<RecentBalances>) -> Self {
        // The keys in use now count, not those that were popular before.
        let known = Cache::builder()
            .weigher(|_: &Digest, seen: &Arc<CachedKey>| seen.bytes())
            .max_capacity(REMEMBERED_BYTES)
            .eviction_policy(EvictionPolicy::lru())
            .build();
        Self {
            db,
            clock,
            balances,
            known,
            unknown: Cache::new(REMEMBERED_UNKNOWN),
            count: AtomicU64::new(0),
            changed: std::iter::repeat_with(AtomicU64::default).take(COUNTERS).collect(),
            all_changed: AtomicU64::new(0),
        }
    }

    fn recall(&self, digest: &Digest) -> Recalled {
        let now = self.clock.now();
        let recent = |read_at: UnixTime| now.since(read_at) < policy::TRUSTED_SECONDS;
        let all_changed = self.all_changed.load(Ordering::SeqCst);
        if let Some(seen) = self.known.get(digest) {
            let change = self.counter(seen.token.user_id).load(Ordering::SeqCst).max(all_changed);
            let is_current = recent(seen.read_at) && change <= seen.read_after;
            return if is_current { Recalled::Known(seen) } else { Recalled::Nothing };
        }
        match self.unknown.get(digest) {
            Some((read_at, read_after)) if recent(read_at) && all_changed <= read_after => Recalled::Unknown,
            Some(_) | None => Recalled::Nothing,
        }
    }

    /// Reads what is asked for, all that waits at once, until nobody can ask any more.
    async fn read(self: Arc<Self>, mut asks: mpsc::Receiver<Ask>) {
        let mut batch = Vec::new();
        while asks.recv_many(&mut batch, BATCH).await > 0 {
            let digests: HashSet<Digest> = batch.iter().map(|ask| ask.digest.clone()).collect();
            let read = self.look_up(&Vec::from_iter(digests)).await.map_err(Arc::new);
            for Ask { digest, tell } in batch.drain(..) {
                let answer = read.as_ref().map(|found| found.get(&digest).cloned()).map_err(Arc::clone);
                // Whoever left is not told.
                let _ = tell.map(|tell| tell.send(answer));
            }
        }
    }

    async fn look_up(&self, digests: &[Digest]) -> Result<HashMap<Digest, Arc<CachedKey>>, StorageError> {
        let (read_at, read_after) = (self.clock.now(), self.count.load(Ordering::SeqCst));
        let balances_after = self.balances.batches();
        let rows = self.db.bounded(async |conn: &mut Conn| tokens::list_with_owners(conn, digests).await).await?;
        let mut found = HashMap::with_capacity(rows.len());
        for (digest, token, wallet, owner_group) in rows {
            let is_asked_again = AtomicBool::new(false);
            let seen = CachedKey { token, wallet, owner_group, read_at, read_after, balances_after, is_asked_again };
            let seen = Arc::new(seen);
            self.known.insert(digest.clone(), Arc::clone(&seen));
            found.insert(digest, seen);
        }
        for digest in digests.iter().filter(|digest| !found.contains_key(digest)) {
            self.known.invalidate(digest);
            self.unknown.insert(digest.clone(), (read_at, read_after));
        }
        Ok(found)
    }

    /// What was seen, with the balances that a charge on this server left since.
    fn with_recent_balances(&self, seen: Arc<CachedKey>) -> Arc<CachedKey> {
        let token = self.balances.of_token(seen.token.id, seen.balances_after);
        let wallet = self.balances.of_wallet(seen.token.user_id, seen.balances_after);
        if token.is_none() && wallet.is_none() {
            return seen;
        }
        let mut current = CachedKey {
            token: seen.token.clone(),
            wallet: seen.wallet,
            owner_group: seen.owner_group.clone(),
            read_at: seen.read_at,
            read_after: seen.read_after,
            balances_after: seen.balances_after,
            is_asked_again: AtomicBool::new(true),
        };
        if let Some(token) = token {
            current.token.budget = Budget::new(token.remain, current.token.budget.is_unlimited());
            current.token.used_quota = token.used;
        }
        if let Some(wallet) = wallet {
            (current.wallet.quota, current.wallet.used_quota) = (wallet.remain, wallet.used);
        }
        Arc::new(current)
    }

    fn forget(&self, user: UserId) {
        let now = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        self.counter(user).fetch_max(now, Ordering::SeqCst);
    }

    fn forget_all(&self) {
        let now = self.count.fetch_add(1, Ordering::SeqCst) + 1;
        self.all_changed.fetch_max(now, Ordering::SeqCst);
    }

    fn counter(&self, user: UserId) -> &AtomicU64 {
        let at = usize::try_from(user.get().unsigned_abs()).unwrap_or(0) % COUNTERS;
        &self.changed[at]
    }
}
