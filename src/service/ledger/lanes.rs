//! The lanes of the ledger, which share one queue.

use std::sync::Arc;
use std::time::Duration;

use prometheus_client::registry::Registry;

use super::error::LedgerError;
use super::lane::Lane;
use super::operation::{Operation, Queued};
use super::queue::Queue;
use crate::domain::calendar::Calendar;
use crate::domain::client_addresses::ClientAddresses;
use crate::domain::clock::Clock;
use crate::domain::group::Groups;
use crate::service::clock_repair::ClockRepairs;
use crate::service::key_cache::KeyCache;
use crate::service::prices::Prices;
use crate::service::recent_balances::RecentBalances;
use crate::service::refused_requests::RefusedRequests;
use crate::service::rng::Rng;
use crate::storage::{Db, StorageError};
use crate::telemetry::{
    self,
    ledger::{LedgerMetrics, OperationOutcome},
};

/// Settings of the ledger.
#[derive(Debug, Clone)]
pub struct LedgerRules {
    /// The number of batches that may be under way at once, at least 1.
    pub lanes: u32,
    /// The number of batches that may wait for the disk beside these. If it is 0, each lane waits itself.
    pub flushes: u32,
    /// How many operations may wait, beside those for blocked wallets.
    pub queue: usize,
    /// The days that `usage_daily` counts, and the periods of limits.
    pub calendar: Calendar,
    /// The groups of the settings.
    pub groups: Groups,
    /// What is stored of the addresses of end clients.
    pub client_addresses: ClientAddresses,
}

/// Takes operations and answers them when they are durable.
#[derive(Debug)]
pub struct Lanes {
    queue: Arc<Queue>,
    metrics: LedgerMetrics,
}

impl Lanes {
    /// Starts the lanes. They end after this is dropped, when everything that waited is answered.
    #[expect(clippy::too_many_arguments, reason = "the parts of the service, put together in one place")]
    pub fn start(
        db: &Db,
        clock: &Arc<dyn Clock>,
        repairs: &ClockRepairs,
        rng: &Rng,
        recent_balances: &Arc<RecentBalances>,
        key_cache: &Arc<KeyCache>,
        refused_requests: &Arc<RefusedRequests>,
        prices: &Arc<Prices>,
        rules: &LedgerRules,
        registry: &mut Registry,
    ) -> Self {
        let metrics = LedgerMetrics::register(registry);
        let lane = Lane {
            db: db.clone(),
            clock: Arc::clone(clock),
            repairs: repairs.clone(),
            rng: rng.clone(),
            recent_balances: Arc::clone(recent_balances),
            key_cache: Arc::clone(key_cache),
            calendar: rules.calendar,
            groups: rules.groups.clone(),
            client_addresses: rules.client_addresses,
            refused_requests: Arc::clone(refused_requests),
            prices: Arc::clone(prices),
            metrics: metrics.clone(),
            look_ups: Arc::default(),
        };
        let queue = Arc::new(Queue::new(rules.queue, rules.lanes));
        for _ in 0..rules.lanes.saturating_add(rules.flushes) {
            tokio::spawn(lane.clone().run(Arc::clone(&queue)));
        }
        let counted = Arc::clone(&queue);
        telemetry::ledger::register_queue(registry, move || counted.len());
        Self { queue, metrics }
    }

    /// Queues an operation and waits until it is durable or refused.
    pub(super) async fn execute<O: Operation>(&self, operation: O) -> Result<O::Outcome, LedgerError> {
        self.queue(operation)?.await
    }

    /// Queues an operation at once and returns its outcome as a future. Operations of one owner are decided in the order
    /// in which they are queued.
    pub(super) fn queue<O: Operation>(
        &self,
        operation: O,
    ) -> Result<impl Future<Output = Result<O::Outcome, LedgerError>> + use<O>, LedgerError> {
        let (queued, outcome) = Queued::new(operation);
        self.queue.push(queued).map_err(|_| {
            self.metrics.answered(O::NAME, OperationOutcome::Busy, Duration::ZERO);
            LedgerError::Busy
        })?;
        Ok(async { outcome.await.unwrap_or_else(|_| Err(StorageError::GivenUp.into())) })
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        self.queue.close();
    }
}
