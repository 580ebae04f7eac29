//! Counts requests of gateways that the ledger refused, so that the owners of tokens see why (spec §13.7).
//!
//! `verify` writes nothing and a refused charge neither, so counts are kept in memory and added to the table every few
//! seconds. They are not balances: a server that is killed loses those of the last seconds.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prometheus_client::registry::Registry;

use crate::domain::bounds;
use crate::domain::calendar::Moment;
use crate::domain::id::{TokenId, UserId};
use crate::domain::ledger::{Refusal, RefusalReason};
use crate::domain::refused_requests::RefusedKind;
use crate::storage::{Db, StorageError, refused_requests};
use crate::telemetry::refused_requests::RefusedMetrics;

/// Kinds in one statement.
const BATCH: usize = 1_000;

/// Counts refused requests, and writes the counts.
#[derive(Debug)]
pub struct RefusedRequests {
    db: Db,
    waiting: Mutex<Waiting>,
    metrics: RefusedMetrics,
}

impl RefusedRequests {
    #[must_use]
    pub fn new(db: Db, registry: &mut Registry) -> Self {
        Self { db, waiting: Mutex::default(), metrics: RefusedMetrics::register(registry) }
    }

    /// Counts a refused request of a token.
    pub fn count(&self, user_id: UserId, token_id: TokenId, refusal: Refusal, at: &Moment) {
        let reason = refusal.reason;
        // Deleted just now. Keys deleted earlier are not found, and so not counted either.
        if reason == RefusalReason::InvalidKey {
            return;
        }
        self.metrics.refused(reason.as_str());
        self.add(RefusedKind { user_id, day: at.today, token_id, reason }, 1);
    }

    /// Writes what waits. What cannot be written waits on.
    ///
    /// # Errors
    /// The database failed.
    pub async fn write(&self) -> Result<(), StorageError> {
        let counts: Vec<_> = std::mem::take(&mut self.waiting().0).into_iter().collect();
        for (n, batch) in counts.chunks(BATCH).enumerate() {
            let written = async { refused_requests::add(&mut *self.db.acquire().await?, batch).await };
            if let Err(error) = written.await {
                for (kind, requests) in counts.iter().skip(n * BATCH) {
                    self.add(*kind, *requests);
                }
                return Err(error);
            }
        }
        Ok(())
    }

    /// Writes every few seconds, for as long as the server runs.
    pub async fn run(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(Duration::from_secs(bounds::REFUSED_WRITE_SECONDS));
        loop {
            ticks.tick().await;
            if let Err(error) = self.write().await {
                tracing::warn!(%error, "counts of refused requests could not be written; the next round tries again");
            }
        }
    }

    fn add(&self, kind: RefusedKind, requests: i64) {
        if !self.waiting().add(kind, requests) {
            self.metrics.uncounted(requests);
        }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Counts that are not written yet, in the order in which their rows are locked.
#[derive(Debug, Default)]
struct Waiting(BTreeMap<RefusedKind, i64>);

impl Waiting {
    /// Adds requests of a kind. Returns false at the bound, where only kinds that wait already are counted.
    fn add(&mut self, kind: RefusedKind, requests: i64) -> bool {
        let is_full = self.0.len() >= bounds::MAX_REFUSED_WAITING;
        match self.0.entry(kind) {
            Entry::Occupied(mut count) => {
                let sum = count.get().saturating_add(requests);
                count.insert(sum);
                true
            }
            Entry::Vacant(_) if is_full => false,
            Entry::Vacant(new) => {
                new.insert(requests);
                true
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::time::Day;

    #[test]
    fn kinds_are_bounded_and_their_counts_are_not_lost() {
        let kind = |token| RefusedKind {
            user_id: UserId::new(1),
            day: Day::parse("2026-03-10").unwrap(),
            token_id: TokenId::new(token),
            reason: RefusalReason::TokenExpired,
        };
        let mut waiting = Waiting::default();
        let bound = i64::try_from(bounds::MAX_REFUSED_WAITING).unwrap();
        assert!((0..bound).all(|token| waiting.add(kind(token), 1)));
        assert!(!waiting.add(kind(bound), 1), "a kind beyond the bound");
        assert!(waiting.add(kind(7), 2), "a kind that waits already");
        assert_eq!(waiting.0.len(), bounds::MAX_REFUSED_WAITING);
        assert_eq!((waiting.0[&kind(7)], waiting.0[&kind(8)]), (3, 1));
        assert!(waiting.add(kind(7), i64::MAX));
        assert_eq!(waiting.0[&kind(7)], i64::MAX);
    }
}
