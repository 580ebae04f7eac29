//! Metrics of the cache of keys, and of the invalidation of caches between servers.

use std::sync::atomic::{AtomicI64, AtomicU64};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Upper bounds of the histogram of delays, in seconds.
const SECONDS: [f64; 9] = [0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.0];

/// Look-ups of the cache of keys.
#[derive(Debug, Clone)]
pub struct KeyCacheMetrics {
    hits: Counter<u64, AtomicU64>,
    unknown: Counter<u64, AtomicU64>,
    misses: Counter<u64, AtomicU64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ResultLabels {
    result: &'static str,
}

impl KeyCacheMetrics {
    /// Registers the metrics, all at zero.
    pub fn register(registry: &mut Registry) -> Self {
        let lookups = Family::<ResultLabels, Counter<u64, AtomicU64>>::default();
        let counter = |result| lookups.get_or_create(&ResultLabels { result }).clone();
        let metrics = Self { hits: counter("hit"), unknown: counter("unknown"), misses: counter("miss") };
        registry.register("key_cache_lookups", "Look-ups in the cache of keys, by result", lookups);
        metrics
    }

    /// The key was cached.
    pub fn hit(&self) {
        self.hits.inc();
    }

    /// It was cached that the key does not exist.
    pub fn unknown(&self) {
        self.unknown.inc();
    }

    /// The database was read.
    pub fn miss(&self) {
        self.misses.inc();
    }
}

/// Shows how many keys are cached, read when the metrics are read.
pub fn register_entries(registry: &mut Registry, entries: impl Fn() -> u64 + Send + Sync + 'static) {
    super::register_count(registry, "key_cache_entries", "Cached keys", entries);
}

/// Shows how many imported keys without a checksum are admitted, read when the metrics are read.
pub fn register_foreign_keys(registry: &mut Registry, entries: impl Fn() -> u64 + Send + Sync + 'static) {
    super::register_count(registry, "foreign_keys", "Imported keys without a checksum that are not deleted", entries);
}

/// Changes of cached state that travel between servers.
#[derive(Debug, Clone)]
pub struct InvalidationMetrics {
    connected: Gauge<i64, AtomicI64>,
    delay_seconds: Histogram,
    lost: Counter<u64, AtomicU64>,
}

impl InvalidationMetrics {
    /// Registers the metrics, all at zero.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics =
            Self { connected: Gauge::default(), delay_seconds: Histogram::new(SECONDS), lost: Counter::default() };
        let invalidation = registry.sub_registry_with_prefix("invalidation");
        let help = "1 while this server receives the changes of others";
        invalidation.register("connected", help, metrics.connected.clone());
        let help = "Seconds from this server's commit of a change to its own notification of it";
        invalidation.register("delay_seconds", help, metrics.delay_seconds.clone());
        let help = "How often notifications may have been missed, so that all caches were cleared";
        invalidation.register("lost", help, metrics.lost.clone());
        metrics
    }

    /// Whether this server receives notifications.
    pub fn set_connected(&self, is_connected: bool) {
        self.connected.set(i64::from(is_connected));
    }

    /// A notification of this server came back.
    pub fn delayed(&self, time: Duration) {
        self.delay_seconds.observe(time.as_secs_f64());
    }

    /// Notifications may have been missed.
    pub fn lost(&self) {
        self.lost.inc();
    }
}
