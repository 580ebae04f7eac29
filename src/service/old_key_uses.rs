//! Records when replaced keys are used, so that their owner sees which programs still have to change. Each is written
//! at most once a minute by a server, some time after its use: a killed server loses the last ones.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::recent::Recent;
use crate::domain::bounds;
use crate::domain::clock::Clock;
use crate::domain::id::OldKeyId;
use crate::domain::time::UnixTime;
use crate::service::base::Base;
use crate::storage::{Db, StorageError, old_keys};

/// How often what waits is written.
const INTERVAL: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct OldKeyUses {
    db: Db,
    clock: Arc<dyn Clock>,
    /// Keys whose use was noted in the last minute.
    recent: Recent<OldKeyId>,
    waiting: Mutex<BTreeMap<OldKeyId, UnixTime>>,
}

impl OldKeyUses {
    pub fn new(base: &Base) -> Self {
        let (db, clock) = (base.db.clone(), Arc::clone(&base.clock));
        let recent = Recent::new(Arc::clone(&clock), bounds::LAST_USED_INTERVAL, bounds::MAX_OLD_KEY_USES);
        Self { db, clock, recent, waiting: Mutex::default() }
    }

    /// Notes a use, unless one was noted in the last minute or too many wait.
    pub fn note(&self, id: OldKeyId) {
        if self.recent.contains(&id) {
            return;
        }
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        if waiting.len() < bounds::MAX_OLD_KEY_USES {
            waiting.insert(id, self.clock.now());
            self.recent.note(id);
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
