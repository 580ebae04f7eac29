//! Metrics of the connections to the database.

use std::sync::Arc;
use std::time::{Duration, Instant};

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use sqlx::PgPool;

use super::durability::Durability;

/// Upper bounds of the histogram of waiting times, in seconds.
const BUCKETS: [f64; 11] = [0.000_1, 0.000_5, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 2.5, 5.0];

/// Counts connections, and times how long requests wait for one.
#[derive(Debug, Clone)]
pub(super) struct DbMetrics {
    pools: Vec<PgPool>,
    durability: Arc<Durability>,
    acquire_seconds: Histogram,
}

impl DbMetrics {
    /// Of these pools; each is given once.
    pub(super) fn new(pools: Vec<PgPool>, durability: Arc<Durability>) -> Self {
        Self { pools, durability, acquire_seconds: Histogram::new(BUCKETS) }
    }

    /// Times `acquire`, whether it succeeds or not.
    ///
    /// What waits for a connection may have to open one, and is 14 KiB large. It is boxed, or every request would be as
    /// large, also one that needs no connection.
    pub(super) fn time<T>(&self, acquire: impl Future<Output = T>) -> impl Future<Output = T> {
        let acquire = Box::pin(acquire);
        async {
            let started = Instant::now();
            let acquired = acquire.await;
            self.waited(started.elapsed());
            acquired
        }
    }

    fn waited(&self, time: Duration) {
        self.acquire_seconds.observe(time.as_secs_f64());
    }

    pub(super) fn register(&self, registry: &mut Registry) {
        let help = "Seconds that a request waits for a connection to the database";
        registry.register("db_acquire_seconds", help, self.acquire_seconds.clone());
        registry.register_collector(Box::new(Connections(self.pools.clone())));
        registry.register_collector(Box::new(OldestFlush(Arc::clone(&self.durability))));
    }
}

/// Asks how old the oldest wait is when the metrics are read.
#[derive(Debug)]
struct OldestFlush(Arc<Durability>);

impl Collector for OldestFlush {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let help = "Seconds that the oldest commit has waited for the disk and for synchronous standbys";
        let family = encoder.encode_descriptor("flush_oldest_seconds", help, None, MetricType::Gauge)?;
        ConstGauge::new(self.0.oldest().as_secs_f64()).encode(family)
    }
}

/// Reads the pools when the metrics are read.
#[derive(Debug)]
struct Connections(Vec<PgPool>);

impl Collector for Connections {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let count = |number: usize| i64::try_from(number).unwrap_or(i64::MAX);
        let open: i64 = self.0.iter().map(|pool| i64::from(pool.size())).sum();
        let idle: i64 = self.0.iter().map(|pool| count(pool.num_idle())).sum();
        let mut family = encoder.encode_descriptor(
            "db_connections",
            "Connections to the database, by state",
            None,
            MetricType::Gauge,
        )?;
        // The two numbers are read one after the other, so that their difference may be negative for a moment.
        for (state, number) in [("idle", idle), ("in_use", (open - idle).max(0))] {
            ConstGauge::new(number).encode(family.encode_family(&[("state", state)])?)?;
        }
        Ok(())
    }
}
