//! The log and the metrics, for operators.
//!
//! The request log is an interface: one line of target `keymeter::request` for every answer, with
//! `method`, `route` (the pattern, never the path), `status`, `us` (microseconds), `db_calls` and
//! `db_us` (statements of this request and their time), `request_id`, `ip` and, where known, `user_id`, the error code
//! `error` and the `cause` of a failure that is not the caller's. Every other line that is written for a request has its
//! span `request`. No line contains a key, a cookie, a password or a body.

pub mod caches;
pub mod clock;
pub mod database_calls;
pub mod jobs;
pub mod ledger;
pub mod prices;
pub mod refused_requests;
pub mod requests;
pub mod traces;

use std::io::IsTerminal;

use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::info::Info;
use prometheus_client::registry::Registry;
use traces::Traces;
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

/// The format of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object a line, for programs.
    Json,
}

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

/// Starts the log, on standard error, and the traces.
///
/// # Errors
/// The filter is invalid.
pub fn start_log(filter: &str, format: LogFormat, traces: Option<&Traces>) -> Result<(), String> {
    let filter: Targets =
        filter.parse().map_err(|error| format!("`log.filter` cannot be read: {error}; try \"info\""))?;
    let lines =
        tracing_subscriber::fmt::layer().with_writer(std::io::stderr).with_ansi(std::io::stderr().is_terminal());
    let lines = match format {
        LogFormat::Text => lines.boxed(),
        LogFormat::Json => lines.json().flatten_event(true).with_current_span(false).boxed(),
    };
    let log = tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .with(database_calls::layer())
        .with(traces.map(Traces::layer));
    log.try_init().map_err(|error| format!("the log cannot be started: {error}"))
}

/// What `/metrics` shows. Each layer registers the metrics of what it does.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
}

/// A registry with `build_info`; the name of every metric begins with `keymeter_`.
#[must_use]
pub fn registry() -> Registry {
    let mut registry = Registry::with_prefix("keymeter");
    registry.register("build", "The version of this program", Info::new([("version", env!("CARGO_PKG_VERSION"))]));
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
