//! Metrics of the ledger. No label is a key or a user.

use std::sync::atomic::AtomicU64;
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Upper bounds of the histograms of times, in seconds.
const SECONDS: [f64; 12] = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 5.0];

/// Upper bounds of the histogram of batch sizes.
const OPERATIONS: [f64; 8] = [1.0, 4.0, 16.0, 64.0, 128.0, 256.0, 512.0, 1_024.0];

/// Counts and times of operations and batches.
#[derive(Debug, Clone)]
pub struct LedgerMetrics {
    operations: Family<OperationLabels, Counter<u64, AtomicU64>>,
    quota: Counter<u64, AtomicU64>,
    shortfall_quota: Counter<u64, AtomicU64>,
    unread_usages: Counter<u64, AtomicU64>,
    charges: Family<ChargeLabels, Counter<u64, AtomicU64>>,
    batch_operations: Histogram,
    batch_seconds: Family<StepLabels, Histogram>,
    wait_seconds: Histogram,
    retries: Family<ReasonLabels, Counter<u64, AtomicU64>>,
    busy: Counter<u64, AtomicU64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct OperationLabels {
    operation: &'static str,
    outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ChargeLabels {
    priced_by: &'static str,
    hold_reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StepLabels {
    step: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabels {
    reason: &'static str,
}

/// How an operation ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperationOutcome {
    /// It is committed, or an earlier request had done it.
    Ok,
    /// The rules refused it.
    Refused,
    /// The queue was full, or its wallet was blocked for too long.
    Busy,
    /// The database failed.
    Failed,
}

impl OperationOutcome {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Ok => "ok",
            Self::Refused => "refused",
            Self::Busy => "busy",
            Self::Failed => "failed",
        }
    }
}

/// Why a batch is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// A deadlock, a serialization failure, or an id that another batch used for a reservation.
    Contended,
    /// A request id was or may have been sent before, or another server wrote it at the same time; the batch looks ids
    /// up.
    IdempotencyKey,
    /// Another transaction holds a row; the batch goes on without its operations.
    Blocked,
    /// One row may be the cause; the batch goes on in halves.
    Halved,
}

impl Retry {
    const fn as_str(self) -> &'static str {
        match self {
            Self::Contended => "contended",
            Self::IdempotencyKey => "idempotency_key",
            Self::Blocked => "locked",
            Self::Halved => "halved",
        }
    }
}

/// A committed batch.
#[derive(Debug, Clone, Copy)]
pub struct BatchStats {
    pub operations: usize,
    /// The quota that its charges took.
    pub quota: u64,
    /// The part of its settlements that no balance could cover.
    pub shortfall: u64,
    /// Locking and reading rows.
    pub lock: Duration,
    /// Applying the operations and writing.
    pub write: Duration,
    /// Without waiting for the disk.
    pub commit: Duration,
}

impl LedgerMetrics {
    /// Registers the metrics, all at zero. Retries are rare, so their series exist from the start.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self {
            operations: Family::default(),
            quota: Counter::default(),
            shortfall_quota: Counter::default(),
            unread_usages: Counter::default(),
            charges: Family::default(),
            batch_operations: Histogram::new(OPERATIONS),
            batch_seconds: Family::new_with_constructor(|| Histogram::new(SECONDS)),
            wait_seconds: Histogram::new(SECONDS),
            retries: Family::default(),
            busy: Counter::default(),
        };
        let ledger = registry.sub_registry_with_prefix("ledger");
        ledger.register("operations", "Answered operations, by outcome", metrics.operations.clone());
        ledger.register("quota", "Quota units charged", metrics.quota.clone());
        let help = "Quota units of settlements that neither hold nor balances could cover";
        ledger.register("shortfall_quota", help, metrics.shortfall_quota.clone());
        let help = "Charges, by what decided their amount, and why it was the hold of their reservation";
        ledger.register("charges", help, metrics.charges.clone());
        let help = "Usages of providers with a number that nothing reads; the log names them";
        ledger.register("unread_usages", help, metrics.unread_usages.clone());
        ledger.register("batch_operations", "Operations in a committed batch", metrics.batch_operations.clone());
        ledger.register("batch_seconds", "Seconds of a committed batch, by step", metrics.batch_seconds.clone());
        let help = "Seconds from queueing an operation to its answer";
        ledger.register("wait_seconds", help, metrics.wait_seconds.clone());
        ledger.register("retries", "Batches that were tried again, by reason", metrics.retries.clone());
        for reason in [Retry::Contended, Retry::IdempotencyKey, Retry::Blocked, Retry::Halved] {
            let _ = metrics.retries.get_or_create(&ReasonLabels { reason: reason.as_str() });
        }
        let help = "Operations refused because a queue was full or a wallet was blocked";
        ledger.register("busy", help, metrics.busy.clone());
        metrics
    }

    /// Counts an answered operation.
    pub fn answered(&self, operation: &'static str, outcome: OperationOutcome, waited: Duration) {
        if outcome == OperationOutcome::Busy {
            self.busy.inc();
        }
        self.operations.get_or_create(&OperationLabels { operation, outcome: outcome.as_str() }).inc();
        self.wait_seconds.observe(waited.as_secs_f64());
    }

    /// Counts a committed batch.
    pub fn committed(&self, batch: BatchStats) {
        self.quota.inc_by(batch.quota);
        self.shortfall_quota.inc_by(batch.shortfall);
        self.batch_operations.observe(f64::from(u32::try_from(batch.operations).unwrap_or(u32::MAX)));
        for (step, time) in [("lock", batch.lock), ("write", batch.write), ("commit", batch.commit)] {
            self.observe_step(step, time);
        }
    }

    /// Counts the charges of a committed batch: `units`, `told` or `hold`, and why the hold.
    pub fn charged(&self, priced_by: &'static str, hold_reason: &'static str, charges: u64) {
        self.charges.get_or_create(&ChargeLabels { priced_by, hold_reason }).inc_by(charges);
    }

    /// Counts usages with a number that nothing reads.
    pub fn unread(&self, usages: u64) {
        self.unread_usages.inc_by(usages);
    }

    /// Counts a committed batch that is on disk.
    pub fn flushed(&self, time: Duration) {
        self.observe_step("flush", time);
    }

    fn observe_step(&self, step: &'static str, time: Duration) {
        self.batch_seconds.get_or_create(&StepLabels { step }).observe(time.as_secs_f64());
    }

    /// Counts a batch that is tried again.
    pub fn retried(&self, reason: Retry) {
        self.retries.get_or_create(&ReasonLabels { reason: reason.as_str() }).inc();
    }
}

/// Shows how many operations wait, read when the metrics are read.
pub fn register_queue(registry: &mut Registry, waiting: impl Fn() -> usize + Send + Sync + 'static) {
    super::register_count(registry, "ledger_queue", "Operations that wait", waiting);
}

/// How many answers the database has lost.
#[derive(Debug, Clone, Default)]
pub struct LostAnswers(Counter<u64, AtomicU64>);

impl LostAnswers {
    pub fn register(registry: &mut Registry) -> Self {
        let lost = Self::default();
        let help =
            "Answers of this server that the database does not know any more, of the last 100 before it was lost";
        registry.register("acknowledged_lost", help, lost.0.clone());
        lost
    }

    pub fn add(&self, count: usize) {
        self.0.inc_by(count.try_into().unwrap_or(u64::MAX));
    }
}
