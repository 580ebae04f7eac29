//! The log and the metrics, for operators.

pub mod caches;
pub mod clock;
pub mod database;
pub mod disk;
pub mod jobs;
pub mod ledger;
pub mod log;
mod process;
pub mod recent_figures;
pub mod refused_requests;
pub mod request_notes;
pub mod requests;
pub mod seldom;
pub mod traces;
pub mod warnings;

use self::process::ProcessMetrics;
use prometheus_client::collector::Collector;
use prometheus_client::encoding::text::{encode, encode_registry};
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::gauge::ConstGauge;
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
    /// Without our prefix.
    process: Registry,
}

/// A registry with the metrics of this server; the name of every metric begins with `keymeter_`.
pub fn registry(server: &str, commit: Option<&str>) -> Registry {
    let mut registry = Registry::with_prefix("keymeter");
    let build = [("version", env!("CARGO_PKG_VERSION")), ("commit", commit.unwrap_or_default()), ("server", server)];
    // The library writes values as they are.
    let escaped = |value: &str| value.replace('\\', r"\\").replace('"', r#"\""#);
    let build = Info::new(build.map(|(name, value)| (name, escaped(value))));
    registry.register("build", "The program of this server, and the server's name", build);
    registry.register_collector(Box::new(log::DroppedLines));
    registry
}

impl Metrics {
    /// Shows the metrics of this registry.
    pub fn new(registry: Registry) -> Self {
        let mut process = Registry::default();
        process.register_collector(Box::new(ProcessMetrics::new()));
        Self { registry, process }
    }

    /// In the `OpenMetrics` text format, which Prometheus reads.
    pub fn render(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = encode_registry(&mut text, &self.process);
        let _ = encode(&mut text, &self.registry);
        text
    }
}

/// Registers a number that is counted when the metrics are read.
fn register_count<N: TryInto<i64>>(
    registry: &mut Registry,
    name: &'static str,
    help: &'static str,
    count: impl Fn() -> N + Send + Sync + 'static,
) {
    let value = Box::new(move || count().try_into().unwrap_or(i64::MAX));
    registry.register_collector(Box::new(Count { name, help, value }));
}

struct Count {
    name: &'static str,
    help: &'static str,
    value: Box<dyn Fn() -> i64 + Send + Sync>,
}

impl std::fmt::Debug for Count {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Count").field(&self.name).finish()
    }
}

impl Collector for Count {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let family = encoder.encode_descriptor(self.name, self.help, None, MetricType::Gauge)?;
        ConstGauge::new((self.value)()).encode(family)
    }
}
