//! The log and the metrics, for operators.

pub mod caches;
pub mod clock;
pub mod database_calls;
pub mod jobs;
pub mod ledger;
pub mod log;
pub mod prices;
pub mod refused_requests;
pub mod requests;
pub mod traces;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;

/// Who may read the metrics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MetricsAccess {
    /// Anyone who reaches the port.
    Open,
    /// Administrators.
    Admin,
    /// No one: the path does not exist.
    Off,
}

/// What `/metrics` shows. Each layer registers the metrics of what it does.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
}

/// A registry with the metrics of the process; the name of every metric begins with `keymeter_`.
#[must_use]
pub fn registry() -> Registry {
    let mut registry = Registry::with_prefix("keymeter");
    registry.register("build", "The version of this program", Info::new([("version", env!("CARGO_PKG_VERSION"))]));
    registry.register_collector(Box::new(log::DroppedLines));
    registry
}

impl Metrics {
    /// Shows the metrics of this registry.
    #[must_use]
    pub const fn new(registry: Registry) -> Self {
        Self { registry }
    }

    /// In the `OpenMetrics` text format, which Prometheus reads.
    #[must_use]
    pub fn render(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}
