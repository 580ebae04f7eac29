//! Keys that another service issued and an import brought here. They have no checksum, so a forged one looks like a real
//! one. Every server keeps the first 8 bytes of the digest of each foreign key, sorted: 8 MB for 1,000,000 keys. A text
//! without a valid checksum is looked up only if its digest is among them. Nobody can find such a text without the master
//! key, so a forgery costs one HMAC and no query.
//!
//! The set only admits to a look-up; whether the key is valid is read like that of any other key. So a revoked key may
//! stay in the set until the next reload, but a new one must be in it: it is loaded at the start, when an import
//! announces new keys, and when announcements may have been missed.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use tokio::sync::Notify;

use super::vault::Vault;
use crate::domain::id::TokenId;
use crate::domain::key::{ApiKey, Digest, KeyMalformed};
use crate::storage::{Db, StorageError, keys};

/// How long to wait before loading again after a failure.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// The digests of all foreign keys, shortened.
pub struct ForeignKeys {
    db: Db,
    /// Sorted. Replaced as a whole.
    prefixes: RwLock<Arc<[u64]>>,
    requested: Notify,
}

impl ForeignKeys {
    /// An empty set; see [`ForeignKeys::load`].
    #[must_use]
    pub fn new(db: Db) -> Self {
        Self { db, prefixes: RwLock::new(Arc::new([])), requested: Notify::new() }
    }

    /// The number of keys.
    #[must_use]
    pub fn len(&self) -> usize {
        self.current().len()
    }

    /// Returns true if there is no foreign key.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns true if a foreign key may have this digest, and false if none has.
    #[must_use]
    pub fn may_contain(&self, digest: &Digest) -> bool {
        self.current().binary_search(&digest.prefix()).is_ok()
    }

    /// Loads all foreign keys, some thousand rows at a time.
    ///
    /// # Errors
    /// The database; the set stays as it was.
    pub async fn load(&self) -> Result<(), StorageError> {
        let (mut prefixes, mut after) = (Vec::new(), TokenId::new(0));
        loop {
            let rows = keys::list_foreign_after(&mut *self.db.acquire().await?, after).await?;
            let Some((last, _)) = rows.last() else {
                break;
            };
            after = *last;
            prefixes.extend(rows.iter().map(|(_, digest)| digest.prefix()));
        }
        prefixes.sort_unstable();
        *self.prefixes.write().unwrap_or_else(PoisonError::into_inner) = prefixes.into();
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

    fn current(&self) -> Arc<[u64]> {
        Arc::clone(&self.prefixes.read().unwrap_or_else(PoisonError::into_inner))
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
    #[must_use]
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
