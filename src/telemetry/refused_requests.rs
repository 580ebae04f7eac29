//! Metrics of refused requests. No label is a key or a user.

use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::registry::Registry;

/// Counts refused requests by reason.
#[derive(Debug, Clone)]
pub struct RefusedMetrics {
    refused: Family<ReasonLabels, Counter<u64, AtomicU64>>,
    uncounted: Counter<u64, AtomicU64>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReasonLabels {
    reason: &'static str,
}

impl RefusedMetrics {
    /// Registers the metrics.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self { refused: Family::default(), uncounted: Counter::default() };
        let help = "Requests of gateways that were refused, by reason";
        registry.register("refused_requests", help, metrics.refused.clone());
        let help = "Refused requests that are missing in reports, because too many kinds waited to be written";
        registry.register("refused_requests_uncounted", help, metrics.uncounted.clone());
        metrics
    }

    /// Counts a refused request.
    pub fn refused(&self, reason: &'static str) {
        self.refused.get_or_create(&ReasonLabels { reason }).inc();
    }

    /// Counts requests that reports will not show.
    pub fn uncounted(&self, requests: i64) {
        self.uncounted.inc_by(requests.unsigned_abs());
    }
}
