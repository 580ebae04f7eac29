//! Admits those who call with an API key alone: usage by key (spec §4.8), and the calls of other APIs of this family.

use std::net::IpAddr;
use std::sync::Arc;

use super::foreign_keys::KeyReader;
use super::rate_limiter::{Bucket, RateLimited, RateLimiter};
use super::recent::Recent;
use crate::domain::bounds;
use crate::domain::key::Digest;
use crate::domain::time::UnixTime;
use crate::domain::token::Token;
use crate::domain::user::UserStatus;
use crate::service::core::Core;
use crate::storage::keys::{self, FoundKey};
use crate::storage::{Conn, StorageError};

/// Remembered keys, each below 1 KiB.
const CACHE_ENTRIES: usize = 20_000;

#[derive(Debug, thiserror::Error)]
pub enum KeyHolderError {
    /// No live token has this key.
    #[error("this API key is not valid")]
    WrongKey,
    #[error("the account of this API key is disabled")]
    OwnerDisabled,
    #[error(transparent)]
    RateLimited(#[from] RateLimited),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// The limit that a call counts against.
pub type Limit = fn(&RateLimiter) -> &Bucket<Digest>;

#[derive(Debug)]
pub struct KeyHolders {
    key_reader: KeyReader,
    rate_limiter: Arc<RateLimiter>,
    /// Keys that were valid lately. They skip the limit on wrong keys, so that guesses from the same address do not
    /// lock them out.
    valid_keys: Recent<Digest>,
}

impl KeyHolders {
    pub fn new(core: &Core, key_reader: KeyReader) -> Self {
        let rate_limiter = Arc::clone(&core.rate_limiter);
        let valid_keys = Recent::new(Arc::clone(&core.clock), bounds::VALID_KEY_REMEMBERED, CACHE_ENTRIES);
        Self { key_reader, rate_limiter, valid_keys }
    }

    /// The digest of `key`, before it is looked up.
    ///
    /// # Errors
    /// It is not a key (counted against `ip`); too many wrong keys from `ip`; `limit` is reached.
    pub fn admit(&self, key: &str, ip: Option<IpAddr>, limit: Limit) -> Result<Digest, KeyHolderError> {
        let digest = self.key_reader.digest(key).map_err(|_| wrong_key(self.rate_limiter.malformed_keys.take(ip)))?;
        // Checked before the query, so that guesses beyond the limit cost no query.
        if !self.valid_keys.contains(&digest) {
            self.rate_limiter.wrong_keys.look(ip)?;
        }
        limit(&self.rate_limiter).take(digest.clone())?;
        Ok(digest)
    }

    /// The live token with an admitted key, if the key still works `now`.
    ///
    /// # Errors
    /// As [`KeyHolders::check_found`]; the database.
    pub async fn find_token(
        &self,
        conn: &mut Conn,
        digest: &Digest,
        ip: Option<IpAddr>,
        now: UnixTime,
    ) -> Result<Token, KeyHolderError> {
        let found = keys::list_with_owners(conn, std::slice::from_ref(digest)).await?.found.pop();
        Ok(self.check_found(digest, found, ip, now)?.token)
    }

    /// What was found by an admitted key, if the key still works `now`. Remembers valid keys, and counts wrong ones
    /// against `ip`.
    ///
    /// # Errors
    /// Nothing was found; the owner is disabled.
    pub fn check_found(
        &self,
        digest: &Digest,
        found: Option<FoundKey>,
        ip: Option<IpAddr>,
        now: UnixTime,
    ) -> Result<FoundKey, KeyHolderError> {
        let found = found.filter(|key| key.used.is_live(now));
        if found.is_some() {
            self.valid_keys.note(digest.clone());
        } else {
            self.valid_keys.forget(digest);
        }
        let found = found.ok_or_else(|| wrong_key(self.rate_limiter.wrong_keys.take(ip)))?;
        match found.wallet.status {
            UserStatus::Enabled => Ok(found),
            UserStatus::Disabled => Err(KeyHolderError::OwnerDisabled),
        }
    }
}

/// The error for a wrong key, after it was counted.
fn wrong_key(counted: Result<(), RateLimited>) -> KeyHolderError {
    counted.map_or_else(KeyHolderError::RateLimited, |()| KeyHolderError::WrongKey)
}
