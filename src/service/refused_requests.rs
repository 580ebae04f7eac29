//! Records requests of gateways that the ledger refused, so that the owners of tokens see why: all of them as counts
//! (spec §13.7), some of them as single rows (spec §13.8).
//!
//! `verify` writes nothing and a refused charge neither, so both are kept in memory and written every few seconds. They
//! are not balances: a server that is killed loses those of the last seconds.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use prometheus_client::registry::Registry;

use crate::domain::bounds;
use crate::domain::calendar::Moment;
use crate::domain::client_addresses::{ClientAddresses, StoredAddress};
use crate::domain::clock::Clock;
use crate::domain::ledger::RefusalReason;
use crate::domain::refusals::{RefusalSample, RefusalSampler, RefusedRequest};
use crate::domain::refused_requests::RefusedKind;
use crate::domain::time::UnixTime;
use crate::service::base::Base;
use crate::storage::{Db, StorageError, refusals, refused_requests};
use crate::telemetry::refused_requests::RefusedMetrics;

/// Kinds in one statement.
const BATCH: usize = 1_000;

/// Counts refused requests and samples them, and writes both.
#[derive(Debug)]
pub struct RefusedRequests {
    db: Db,
    clock: Arc<dyn Clock>,
    addresses: ClientAddresses,
    waiting: Mutex<Waiting>,
    sampler: Mutex<RefusalSampler>,
    metrics: RefusedMetrics,
}

impl RefusedRequests {
    /// `addresses` says what is stored of the addresses of end clients.
    pub fn new(base: &Base, addresses: ClientAddresses, registry: &mut Registry) -> Self {
        let (db, clock) = (base.db.clone(), Arc::clone(&base.clock));
        let (waiting, sampler, metrics) = (Mutex::default(), Mutex::default(), RefusedMetrics::register(registry));
        Self { db, clock, addresses, waiting, sampler, metrics }
    }

    /// Records a refused request. Does not wait for the database.
    pub fn record(&self, request: &RefusedRequest<'_>, at: &Moment) {
        let reason = request.refusal.reason;
        // A key that is deleted just now is still known. Keys deleted earlier are not, and so are not counted either.
        if let Some((user_id, token_id)) = request.token
            && reason != RefusalReason::InvalidKey
        {
            self.metrics.refused(reason.as_str());
            self.add(RefusedKind { user_id, day: at.today, token_id, reason }, 1);
        }
        lock(&self.sampler).offer(request);
    }

    /// Writes what waits. Counts that cannot be written wait on; samples are given up.
    ///
    /// # Errors
    /// The database failed.
    pub async fn write(&self) -> Result<(), StorageError> {
        let samples = self.take_samples(self.clock.now());
        let counted = self.write_counts().await;
        if samples.is_empty() {
            return counted;
        }
        counted.and(self.db.bounded(async |conn| refusals::insert(conn, &samples).await).await)
    }

    fn take_samples(&self, now: UnixTime) -> Vec<(RefusalSample, Option<StoredAddress>)> {
        let samples = lock(&self.sampler).take(now, bounds::MAX_REFUSALS_WRITTEN);
        let with_address = |sample: RefusalSample| {
            let ip = sample.ip.and_then(|ip| self.addresses.stored(ip));
            (sample, ip)
        };
        samples.into_iter().map(with_address).collect()
    }

    async fn write_counts(&self) -> Result<(), StorageError> {
        let counts: Vec<_> = std::mem::take(&mut lock(&self.waiting).0).into_iter().collect();
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
                tracing::warn!(%error, "refused requests could not be written; the next round writes the counts");
            }
        }
    }

    fn add(&self, kind: RefusedKind, requests: i64) {
        if !lock(&self.waiting).add(kind, requests) {
            self.metrics.uncounted(requests);
        }
    }
}

/// A panic elsewhere leaves counts and samples as they were.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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
    use crate::domain::id::{TokenId, UserId};
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
