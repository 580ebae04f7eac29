//! Records when replaced keys are used, so that their owner sees which programs still have to change. Each is written at most once a
//! minute by a server, some time after its use: a killed server loses the last ones.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use quick_cache::sync::Cache;

use crate::domain::bounds;
use crate::domain::clock::{Clock, Uptime};
use crate::domain::id::OldKeyId;
use crate::domain::time::UnixTime;
use crate::storage::{Db, StorageError, old_keys};

/// How often what waits is written.
const INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct OldKeyUses {
    db: Db,
    clock: Arc<dyn Clock>,
    /// When the use of a key was last noted.
    recent: Cache<OldKeyId, Uptime>,
    waiting: Mutex<BTreeMap<OldKeyId, UnixTime>>,
}

impl OldKeyUses {
    #[must_use]
    pub fn new(db: Db, clock: Arc<dyn Clock>) -> Self {
        Self { db, clock, recent: Cache::new(bounds::MAX_OLD_KEY_USES), waiting: Mutex::default() }
    }

    /// Notes a use, unless one was noted in the last minute or too many wait.
    pub fn note(&self, id: OldKeyId) {
        let now = self.clock.uptime();
        let is_recent = |then| now.since(then).as_secs() < bounds::LAST_USED_SECONDS.unsigned_abs();
        if self.recent.get(&id).is_some_and(is_recent) {
            return;
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < bounds::MAX_OLD_KEY_USES {
            waiting.insert(id, self.clock.now());
            self.recent.insert(id, now);
        }
    }

    /// Writes what waits.
    ///
    /// # Errors
    /// The database; what waited is given up.
    pub async fn write(&self) -> Result<(), StorageError> {
        let uses = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        if uses.is_empty() {
            return Ok(());
        }
        let uses: Vec<_> = uses.into_iter().collect();
        self.db.bounded(async |conn| old_keys::update_last_used(conn, &uses).await).await
    }

    /// Writes every second, for as long as the server runs.
    pub async fn run(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(INTERVAL);
        loop {
            ticks.tick().await;
            if let Err(error) = self.write().await {
                tracing::warn!(%error, "the last use of replaced keys could not be recorded");
            }
        }
    }
}
