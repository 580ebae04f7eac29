//! A lane: takes the operations that wait, commits them as a batch, and answers them when it is on disk.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Instant;

use futures_util::FutureExt;
use tracing::Instrument;

use super::batch::Batch;
use super::error::LedgerError;
use super::locked::{LockedRows, Locking, RequestIds};
use super::operation::Queued;
use super::parts::LedgerParts;
use super::queue::{Queue, TakenBatch};
use super::rows::NeededRows;
use crate::domain::calendar::Moment;
use crate::domain::client_addresses::ClientAddresses;
use crate::domain::id::PriceId;
use crate::domain::money::Quota;
use crate::domain::prices::cost::GroupPrice;
use crate::domain::prices::priced_by::HoldReason;
use crate::domain::time::Micros;
use crate::service::clock;
use crate::service::core::Core;
use crate::storage::ledger::{self, Changes, NewCharge};
use crate::storage::notifications::{self, Change};
use crate::storage::{self, Conn, Constraint, PoolConnection, StorageError, old_keys, tokens};
use crate::telemetry::ledger::{BatchStats, LedgerMetrics, Retry};

/// How often a batch is tried after a deadlock or a race between servers.
const TRIES: usize = 5;

/// After an id that was sent before, so many batches of all lanes look ids up: a gateway that sends one again often
/// sends more.
const LOOK_UPS: u32 = 64;

/// What a lane needs to commit a batch.
#[derive(Clone)]
pub(super) struct Lane {
    pub(super) core: Core,
    pub(super) parts: LedgerParts,
    pub(super) client_addresses: ClientAddresses,
    pub(super) metrics: LedgerMetrics,
    /// How many batches of all lanes still look up the ids of their requests.
    pub(super) look_ups: Arc<AtomicU32>,
}

/// A commit that a crash of PostgreSQL may still lose.
struct Committed {
    /// The connection that made it.
    conn: PoolConnection,
    /// The ids of the prices of its charges.
    price_ids: BTreeMap<GroupPrice, PriceId>,
}

impl Lane {
    /// Commits and answers what waits, until nothing can come any more and everything is answered.
    pub(super) async fn run(self, queue: Arc<Queue>) {
        while let Some(batch) = queue.take().await {
            let span = tracing::error_span!("batch", operations = batch.operations.len());
            // A panic fails these operations and none after them.
            let work = self.commit_and_reply(batch).instrument(span.clone());
            if AssertUnwindSafe(work).catch_unwind().await.is_err() {
                span.in_scope(|| tracing::error!("a batch panicked; its operations were not answered"));
            }
        }
    }

    /// Commits a batch, and answers it when it is on disk; meanwhile others may have its wallets. The operations that
    /// have to wait for a blocked wallet go back to the queue.
    async fn commit_and_reply(&self, mut batch: TakenBatch) {
        let committed = self.commit(&mut batch.operations, batch.locking).await;
        let operations = std::mem::take(&mut batch.operations);
        let (blocked, mut decided): (Vec<_>, Vec<_>) =
            operations.into_iter().partition(|one| !one.is_decided() && one.may_wait());
        let refused = batch.end(blocked);
        if let Some(committed) = committed {
            self.flush(committed, &mut decided).await;
        }
        let at = Moment::new(self.core.clock.micros(), self.core.calendar);
        for mut one in decided.into_iter().chain(refused) {
            if !one.is_decided() {
                one.fail(LedgerError::Busy);
            }
            if let Some(request) = one.refused(at.now) {
                self.parts.refused_requests.record(&request, &at);
            }
            one.reply(&self.metrics);
        }
    }

    /// Commits operations, and tries again after failures that can pass. If one row may be the cause, the halves are
    /// committed one by one, until only the operations on that row fail. Operations on blocked wallets stay undecided.
    ///
    /// Returns a commit that is not on disk yet.
    async fn commit(&self, operations: &mut [Queued], mut locking: Locking) -> Option<Committed> {
        let one_less = |left: u32| left.checked_sub(1);
        let looks_up = self.look_ups.fetch_update(Ordering::Relaxed, Ordering::Relaxed, one_less).is_ok();
        let mut ids = if looks_up { RequestIds::LookUp } else { RequestIds::TakeForNew };
        let (mut tries, mut was_blocked) = (0, false);
        loop {
            tries += 1;
            // Also between the halves of a batch.
            if self.core.db.is_stalled() {
                for one in operations {
                    one.fail(LedgerError::Busy);
                }
                return None;
            }
            match self.try_commit(operations, locking, ids).await {
                Ok(committed) => return Some(committed),
                Err(StorageError::Contended(_) | StorageError::Constraint(Constraint::ReservationIdUnique))
                    if tries < TRIES =>
                {
                    self.metrics.retried(Retry::Contended);
                }
                Err(StorageError::OtherPrices) if tries < TRIES => {
                    self.metrics.retried(Retry::Contended);
                    self.parts.prices.load().await;
                }
                // A repeated request id can surface as any constraint error.
                Err(error)
                    if ids == RequestIds::TakeForNew
                        && error.may_concern_one_row()
                        && operations.iter().any(|one| one.gateway_request_id().is_some()) =>
                {
                    self.metrics.retried(Retry::IdempotencyKey);
                    self.look_ups.store(LOOK_UPS, Ordering::Relaxed);
                    ids = RequestIds::LookUp;
                }
                Err(StorageError::Constraint(Constraint::RequestIdUnique)) if tries < TRIES => {
                    self.metrics.retried(Retry::IdempotencyKey);
                }
                // Rows that were waited for, for a moment only, or a whole table.
                Err(StorageError::Blocked(_)) if !was_blocked => {
                    self.metrics.retried(Retry::Blocked);
                    (was_blocked, locking) = (locking == Locking::Skip, Locking::Skip);
                }
                Err(error) if operations.len() > 1 && error.may_concern_one_row() => {
                    self.metrics.retried(Retry::Halved);
                    // If one of the first half is left out for a blocked wallet, one of the second may be decided
                    // before it. Both are unanswered, so nobody was promised an order.
                    let (first, second) = operations.split_at_mut(operations.len() / 2);
                    for half in [first, second] {
                        if let Some(committed) = Box::pin(self.commit(half, locking)).await {
                            self.flush(committed, half).await;
                        }
                    }
                    return None;
                }
                Err(error) => {
                    tracing::warn!(%error, operations = operations.len(), "a batch was not committed");
                    let error = LedgerError::Storage(error);
                    for one in operations {
                        one.fail(error.clone());
                    }
                    return None;
                }
            }
        }
    }

    /// Waits until a commit is on disk, if anyone is told of it (L4). Operations that repeat an answer wrote nothing,
    /// but may have read what is not on disk either. If this fails, the commit may be lost.
    async fn flush(&self, committed: Committed, operations: &mut [Queued]) {
        if !operations.iter().any(Queued::tells_of_a_commit) {
            return;
        }
        let started = Instant::now();
        let Committed { conn, price_ids } = committed;
        match self.core.db.flush(conn).await {
            Ok(()) => {
                self.metrics.flushed(started.elapsed());
                self.parts.prices.remember(&price_ids);
                self.parts.last_answers.remember(operations.iter().rev().filter_map(Queued::acknowledged));
            }
            Err(error) => {
                tracing::warn!(%error, operations = operations.len(), "a batch may not be on disk");
                let error = LedgerError::Storage(error);
                for one in operations.iter_mut().filter(|one| one.tells_of_a_commit()) {
                    one.fail(error.clone());
                }
            }
        }
    }

    /// One transaction: lock, apply, write, commit. Then `verify` on this server knows the new balances.
    async fn try_commit(
        &self,
        operations: &mut [Queued],
        locking: Locking,
        ids: RequestIds,
    ) -> Result<Committed, StorageError> {
        let mut conn = self.core.db.acquire_reserved().await?;
        let price_ids = self
            .core
            .db
            .bounded_on(&mut conn, async |conn| {
                let started = Instant::now();
                let mut tx = match locking {
                    Locking::Wait => storage::begin_asynchronous_and_wait(conn).await?,
                    Locking::Skip => storage::begin_asynchronous(conn).await?,
                };
                let (changes, locked_at) = match self.write(&mut tx, operations, locking, ids).await {
                    Ok(written) => written,
                    Err(error) => {
                        // Now: another try would find its own rows locked.
                        let _ = storage::rollback(tx).await;
                        return Err(error);
                    }
                };
                let written_at = Instant::now();
                storage::commit_asynchronous(tx).await?;
                self.parts.recent_balances.record(&changes);
                changes.begun_graces.iter().for_each(|(owner, ..)| self.parts.key_cache.forget(*owner));
                let sum = |amount: fn(&NewCharge) -> Quota| {
                    changes.charges.iter().map(|charge| amount(charge).get().unsigned_abs()).sum()
                };
                self.metrics.committed(BatchStats {
                    operations: operations.iter().filter(|one| one.is_decided()).count(),
                    quota: sum(|charge| charge.quota),
                    shortfall: sum(|charge| charge.shortfall),
                    lock: locked_at - started,
                    write: written_at - locked_at,
                    commit: written_at.elapsed(),
                });
                let mut charges: BTreeMap<_, u64> = BTreeMap::new();
                for charge in &changes.charges {
                    let priced_by = charge.priced_by();
                    let reason = priced_by.hold_reason().map_or("", HoldReason::as_str);
                    *charges.entry((priced_by.as_str(), reason)).or_default() += 1;
                }
                for ((by, reason), count) in charges {
                    self.metrics.charged(by, reason, count);
                }
                self.metrics.unread(changes.unread_usages);
                Ok(changes.price_ids)
            })
            .await?;
        Ok(Committed { conn, price_ids })
    }

    /// Locks, applies and writes. Returns what was written, and when the rows were locked.
    async fn write(
        &self,
        conn: &mut Conn,
        operations: &mut [Queued],
        locking: Locking,
        ids: RequestIds,
    ) -> Result<(Changes, Instant), StorageError> {
        let mut rows = NeededRows::default();
        for one in operations.iter() {
            one.require(&mut rows);
        }
        let locked = LockedRows::read(conn, rows, locking, ids, &self.core.groups).await?;
        let locked_at = Instant::now();
        // Not in the statement that locks: its time would be from before the wait.
        if !self.core.clock.is_current() {
            clock::correct(conn, &*self.core.clock).await?;
        }
        let at = Moment::new(self.core.clock.micros(), self.core.calendar);
        locked.check(&self.parts.repairs, &at);
        let prices = self.parts.prices.read_of(locked.price_version).ok_or(StorageError::OtherPrices)?;
        let mut batch = Batch::new(locked, at, prices, &self.core.rng, self.client_addresses);
        for one in operations.iter_mut() {
            one.apply(&mut batch);
        }
        let mut changes = batch.into_changes();
        if ids == RequestIds::TakeForNew && is_any_recorded(conn, operations).await? {
            return Err(StorageError::Constraint(Constraint::RequestIdUnique));
        }
        let prices = changes.charges.iter().filter_map(|charge| charge.price.clone()).collect();
        changes.price_ids = self.parts.prices.ids(conn, prices, at.now).await?;
        if !changes.is_empty() {
            ledger::write(conn, &changes).await?;
        }
        begin_graces(conn, &changes, self.core.clock.micros()).await?;
        Ok((changes, locked_at))
    }
}

/// Lets the grace periods of old keys begin: newer ones were used. Other servers learn of it with the commit.
async fn begin_graces(conn: &mut Conn, changes: &Changes, now: Micros) -> Result<(), StorageError> {
    if changes.begun_graces.is_empty() {
        return Ok(());
    }
    let used: Vec<_> = changes.begun_graces.iter().map(|(_, token, used)| (*token, *used)).collect();
    old_keys::start_grace(conn, &used, changes.now).await?;
    let tokens: Vec<_> = used.into_iter().map(|(token, _)| token).collect();
    tokens::raise_version(conn, &tokens, now).await?;
    for owner in changes.begun_graces.iter().map(|(owner, ..)| *owner).collect::<BTreeSet<_>>() {
        notifications::notify(conn, Change::User(owner)).await?;
    }
    Ok(())
}

/// Returns true if an operation that fails now was recorded before. It writes no record, which would tell; and a retry
/// gets the first answer, also if it would be refused now.
async fn is_any_recorded(conn: &mut Conn, operations: &[Queued]) -> Result<bool, StorageError> {
    let unrecorded: Vec<_> =
        operations.iter().filter(|one| one.has_failed()).filter_map(Queued::gateway_request_id).collect();
    Ok(!unrecorded.is_empty() && !ledger::list_idempotency_records(conn, &unrecorded).await?.is_empty())
}
