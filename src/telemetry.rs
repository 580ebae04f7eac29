//! What an operator sees: the log and the metrics.
//!
//! The request log is an interface: one line of target `keymeter::request` for every answer, with
//! `method`, `route` (the pattern, never the path), `status`, `us` (microseconds), `request_id`, `ip` and, where
//! known, `user_id` and the stable `error`. No line holds a key, a cookie, a password or a body.

use std::io::IsTerminal;
use std::sync::atomic::AtomicU64;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use tracing_subscriber::EnvFilter;

/// How the log is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// For people.
    Text,
    /// For machines: one JSON object a line.
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
    /// Nobody.
    Off,
}

/// Starts the log, on standard error.
///
/// # Errors
/// A filter that cannot be read.
pub fn start_log(filter: &str, format: LogFormat) -> Result<(), String> {
    let filter =
        EnvFilter::try_new(filter).map_err(|error| format!("`log.filter` cannot be read: {error}; try \"info\""))?;
    let builder = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(std::io::stderr().is_terminal());
    let started = match format {
        LogFormat::Text => builder.try_init(),
        LogFormat::Json => builder.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| format!("the log cannot be started: {error}"))
}

/// The numbers at `/metrics`.
#[derive(Debug)]
pub struct Metrics {
    registry: Registry,
    requests: Family<RequestLabels, Counter<u64, AtomicU64>>,
    seconds: Family<RouteLabels, Histogram>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    method: String,
    route: String,
    status: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: String,
}

impl Metrics {
    /// All at zero.
    #[must_use]
    pub fn new() -> Self {
        let mut registry = Registry::with_prefix("keymeter");
        let requests = Family::default();
        let seconds = Family::<RouteLabels, Histogram>::new_with_constructor(|| {
            Histogram::new([0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0])
        });
        registry.register("http_requests", "Answers, by method, route and status", requests.clone());
        registry.register("http_request_seconds", "Time from request to answer, by route", seconds.clone());
        Self { registry, requests, seconds }
    }

    /// Counts one answer.
    pub fn count(&self, method: &http::Method, route: &str, status: u16, seconds: f64) {
        // Whoever makes methods up must not make series up.
        let known = matches!(method.as_str(), "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS");
        let method = if known { method.as_str() } else { "other" };
        let labels = RequestLabels { method: method.to_owned(), route: route.to_owned(), status: status.into() };
        self.requests.get_or_create(&labels).inc();
        self.seconds.get_or_create(&RouteLabels { route: route.to_owned() }).observe(seconds);
    }

    /// In Prometheus' text format.
    #[must_use]
    pub fn render(&self) -> String {
        let mut text = String::new();
        // Writing to a String cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }
}

impl Default for Metrics {
    fn default() -> Self {
        Self::new()
    }
}
