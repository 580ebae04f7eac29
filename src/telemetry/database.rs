//! Metrics of the database itself, read once a minute.

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

/// The room on the disk of the private PostgreSQL.
#[derive(Debug, Clone, Default)]
pub struct DiskMetrics {
    pub free: Gauge,
    pub days_left: Gauge,
}

impl DiskMetrics {
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        let free = "Bytes that the private PostgreSQL may still write";
        registry.register_with_unit("disk_free", free, Unit::Bytes, metrics.free.clone());
        let left = "Days until they are written, if each day adds as much as yesterday; at most 36500";
        let days = Unit::Other("days".to_owned());
        registry.register_with_unit("disk_left", left, days, metrics.days_left.clone());
        metrics
    }
}

/// How full the database is, and what waits in it.
#[derive(Debug, Clone, Default)]
pub struct DatabaseMetrics {
    pub reservations_open: Gauge,
    pub reservations_overdue: Gauge,
    pub partitions_ahead: Gauge,
    pub default_partition_rows: Gauge,
    pub size: Gauge,
    pub idempotency_records: Gauge,
    pub archiver_failed: Gauge,
    standbys: Family<StandbyLabels, Gauge>,
    invariant_violations: Family<InvariantLabels, Gauge>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StandbyLabels {
    sync_state: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct InvariantLabels {
    invariant: String,
}

impl DatabaseMetrics {
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        metrics.set_standbys(0, 0);
        for invariant in ["L3", "L5", "L9", "L10"] {
            metrics.set_violations(invariant, 0);
        }
        let open = "Open reservations, up to a million";
        registry.register("reservations_open", open, metrics.reservations_open.clone());
        let overdue = "For how long the oldest open reservation should have ended";
        registry.register_with_unit(
            "reservations_overdue",
            overdue,
            Unit::Seconds,
            metrics.reservations_overdue.clone(),
        );
        let ahead = "Of the next seven days, those that have a partition of charges";
        let days = Unit::Other("days".to_owned());
        registry.register_with_unit("partitions_ahead", ahead, days, metrics.partitions_ahead.clone());
        let rest = "Charges of days without a partition, up to a million";
        registry.register("default_partition_rows", rest, metrics.default_partition_rows.clone());
        let size = "Size of the database";
        registry.register_with_unit("database", size, Unit::Bytes, metrics.size.clone());
        let records = "Size of the records of request ids";
        registry.register_with_unit("idempotency_records", records, Unit::Bytes, metrics.idempotency_records.clone());
        let failed = "Files of PostgreSQL's log that could not be archived, since its statistics began";
        registry.register("archiver_failures", failed, metrics.archiver_failed.clone());
        let standbys = "Standbys that are connected; sync_state is known to roles with pg_monitor, others see async";
        registry.register("standbys", standbys, metrics.standbys.clone());
        let violations = "Violations of an invariant of the ledger, of the last whole proof or the running one";
        registry.register("invariant_violations", violations, metrics.invariant_violations.clone());
        metrics
    }

    pub fn set_violations(&self, invariant: &str, count: i64) {
        self.invariant_violations.get_or_create(&InvariantLabels { invariant: invariant.to_owned() }).set(count);
    }

    pub fn set_standbys(&self, synchronous: i64, others: i64) {
        for (sync_state, count) in [("sync", synchronous), ("async", others)] {
            self.standbys.get_or_create(&StandbyLabels { sync_state }).set(count);
        }
    }
}
