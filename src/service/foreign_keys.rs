//! Keys that another service issued and an import brought here. They have no checksum, so a forged one looks like a
//! real one. Every server keeps the first 8 bytes of the digest of each foreign key, sorted: 8 MB for 1,000,000 keys. A
//! text without a valid checksum is looked up only if its digest is among them. Nobody can find such a text without the
//! master key, so a forgery costs one HMAC and no query.
//!
//! The set only admits to a look-up; whether the key is valid is read like that of any other key. So a deleted key may
//! stay in the set, but a new one must be in it: it is loaded at the start, when an import announces new keys, and when
//! announcements may have been missed. Deleted keys are loaded too for as long as the answer
//! of a charge is kept: a retry gets it, as with a key of ours (L4). So are those that a rotation replaced.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::Notify;

use super::vault::Vault;
use crate::domain::bounds;
use crate::domain::clock::Clock;
use crate::domain::id::{OldKeyId, TokenId};
use crate::domain::key::{ApiKey, Digest, KeyMalformed};
use crate::service::base::Base;
use crate::storage::{Db, StorageError, keys, old_keys};

/// How long to wait before loading again after a failure.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// The digests of all foreign keys, shortened.
pub struct ForeignKeys {
    db: Db,
    clock: Arc<dyn Clock>,
    /// Replaced as a whole.
    loaded: RwLock<Loaded>,
    requested: Notify,
}

#[derive(Clone, Default)]
struct Loaded {
    /// Sorted.
    prefixes: Arc<[u64]>,
    /// How many of the keys are not deleted.
    live: usize,
}

impl ForeignKeys {
    /// An empty set; see [`ForeignKeys::load`].
    pub fn new(base: &Base) -> Self {
        let (db, clock) = (base.db.clone(), Arc::clone(&base.clock));
        Self { db, clock, loaded: RwLock::default(), requested: Notify::new() }
    }

    /// The number of keys that were not deleted when they were loaded.
    pub fn len(&self) -> usize {
        self.current().live
    }

    /// Returns true if [`ForeignKeys::len`] is 0.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if a foreign key may have this digest, and false if none has.
    pub fn may_contain(&self, digest: &Digest) -> bool {
        self.current().prefixes.binary_search(&digest.prefix()).is_ok()
    }

    /// Loads all foreign keys, some thousand rows at a time.
    ///
    /// # Errors
    /// The database; the set stays as it was.
    pub async fn load(&self) -> Result<(), StorageError> {
        let since = self.clock.now().plus(-bounds::IDEMPOTENCY_RECORD_SECONDS);
        let (mut prefixes, mut live, mut after) = (Vec::new(), 0, TokenId::new(0));
        loop {
            let rows = keys::list_foreign_after(&mut *self.db.acquire().await?, after, since).await?;
            let Some(last) = rows.last() else {
                break;
            };
            after = last.id;
            prefixes.extend(rows.iter().map(|key| key.digest.prefix()));
            live += rows.iter().filter(|key| key.is_live).count();
        }
        // After the current keys: a rotation moves a digest from there to here.
        let since = self.clock.now().plus(-bounds::ENDED_KEY_SECONDS);
        let mut after = OldKeyId::new(0);
        loop {
            let rows = old_keys::list_foreign_after(&mut *self.db.acquire().await?, after, since).await?;
            let Some((last, _)) = rows.last() else {
                break;
            };
            after = *last;
            prefixes.extend(rows.iter().map(|(_, digest)| digest.prefix()));
        }
        prefixes.sort_unstable();
        let loaded = Loaded { prefixes: prefixes.into(), live };
        *self.loaded.write().unwrap_or_else(PoisonError::into_inner) = loaded;
        Ok(())
    }

    /// Asks [`ForeignKeys::run_loader`] to load the set again. Requests during a load become one load after it.
    pub fn request_load(&self) {
        self.requested.notify_one();
    }

    /// Loads the set whenever it is requested, and until it succeeds.
    pub async fn run_loader(self: Arc<Self>) {
        loop {
            self.requested.notified().await;
            while let Err(error) = self.load().await {
                tracing::warn!(%error, "cannot load the imported keys; retrying");
                tokio::time::sleep(RETRY_DELAY).await;
            }
        }
    }

    fn current(&self) -> Loaded {
        self.loaded.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl std::fmt::Debug for ForeignKeys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("ForeignKeys(…)")
    }
}

/// Computes the digest that finds the key a caller sent.
#[derive(Debug, Clone)]
pub struct KeyReader {
    vault: Vault,
    foreign: Arc<ForeignKeys>,
}

impl KeyReader {
    pub const fn new(vault: Vault, foreign: Arc<ForeignKeys>) -> Self {
        Self { vault, foreign }
    }

    /// The digest of a key of ours or of a foreign one.
    ///
    /// # Errors
    /// No key is like this, neither ours nor a foreign one.
    pub fn digest(&self, text: &str) -> Result<Digest, KeyMalformed> {
        match ApiKey::parse(text) {
            Ok(key) => Ok(self.vault.digest(&key)),
            Err(malformed) => {
                let digest = self.vault.digest(&ApiKey::parse_foreign(text)?);
                if self.foreign.may_contain(&digest) { Ok(digest) } else { Err(malformed) }
            }
        }
    }
}
