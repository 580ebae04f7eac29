//! The metric of the clocks.

use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};

/// How far this machine's clock is from the database's.
#[derive(Debug, Clone, Default)]
pub struct ClockMetrics {
    skew: Gauge,
}

impl ClockMetrics {
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self::default();
        registry.register_with_unit(
            "clock_skew",
            "By how much this server's clock is ahead of the database's; beyond server.max_clock_skew_seconds nothing is \
             deleted for its age",
            Unit::Seconds,
            metrics.skew.clone(),
        );
        metrics
    }

    /// This server's clock is ahead by these seconds.
    pub fn skewed(&self, seconds: i64) {
        self.skew.set(seconds);
    }
}
