//! The lanes of the ledger, which share one queue.

use std::sync::Arc;
use std::time::Duration;

use prometheus_client::registry::Registry;

use super::error::LedgerError;
use super::lane::Lane;
use super::operation::{Operation, Queued};
use super::parts::LedgerParts;
use super::queue::Queue;
use crate::domain::client_addresses::ClientAddresses;
use crate::service::core::Core;
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
    /// What is stored of the addresses of end clients.
    pub client_addresses: ClientAddresses,
}

/// Takes operations and answers them when they are durable.
#[derive(Debug)]
pub struct Lanes {
    db: Db,
    queue: Arc<Queue>,
    metrics: LedgerMetrics,
}

impl Lanes {
    /// Starts the lanes. They end after this is dropped, when everything that waited is answered.
    pub(super) fn start(core: &Core, parts: &LedgerParts, rules: &LedgerRules, registry: &mut Registry) -> Self {
        let metrics = LedgerMetrics::register(registry);
        let lane = Lane {
            core: core.clone(),
            parts: parts.clone(),
            client_addresses: rules.client_addresses,
            metrics: metrics.clone(),
            look_ups: Arc::default(),
        };
        let queue = Arc::new(Queue::new(rules.queue, rules.lanes));
        for _ in 0..rules.lanes.saturating_add(rules.flushes) {
            tokio::spawn(lane.clone().run(Arc::clone(&queue)));
        }
        let counted = Arc::clone(&queue);
        telemetry::ledger::register_queue(registry, move || counted.len());
        Self { db: core.db.clone(), queue, metrics }
    }

    /// Queues an operation and waits until it is durable or refused.
    pub(super) async fn execute<O: Operation>(&self, operation: O) -> Result<O::Outcome, LedgerError> {
        self.queue(operation)?.await
    }

    /// Queues an operation at once and returns its outcome as a future. Operations of one owner are decided in the
    /// order in which they are queued.
    pub(super) fn queue<O: Operation>(
        &self,
        operation: O,
    ) -> Result<impl Future<Output = Result<O::Outcome, LedgerError>> + use<O>, LedgerError> {
        let (queued, outcome) = Queued::new(operation);
        if self.db.is_stalled() || self.queue.push(queued).is_err() {
            self.metrics.answered(O::NAME, OperationOutcome::Busy, Duration::ZERO);
            return Err(LedgerError::Busy);
        }
        Ok(async { outcome.await.unwrap_or_else(|_| Err(StorageError::GivenUp.into())) })
    }
}

impl Drop for Lanes {
    fn drop(&mut self) {
        self.queue.close();
    }
}
