//! Metrics of HTTP. No label is a key, a user or a path: the route is the route's pattern.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64};
use std::time::Duration;

use http::Method;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;

/// Upper bounds of the histogram of request times, in seconds.
const BUCKETS: [f64; 13] = [0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0];

/// Counts and times of requests.
#[derive(Debug)]
pub struct HttpMetrics {
    requests: Family<RequestLabels, Counter<u64, AtomicU64>>,
    seconds: Family<RouteLabels, Histogram>,
    in_flight: Gauge<i64, AtomicI64>,
    auth_failures: Family<AuthLabels, Counter<u64, AtomicU64>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RequestLabels {
    route: Arc<str>,
    method: &'static str,
    status: u32,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RouteLabels {
    route: Arc<str>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
struct AuthLabels {
    kind: &'static str,
}

/// A request that is not answered yet; dropping it ends it.
#[derive(Debug)]
pub struct InFlight(Gauge<i64, AtomicI64>);

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.dec();
    }
}

impl HttpMetrics {
    /// Registers the metrics, all at zero.
    pub fn register(registry: &mut Registry) -> Self {
        let metrics = Self {
            requests: Family::default(),
            seconds: Family::new_with_constructor(|| Histogram::new(BUCKETS)),
            in_flight: Gauge::default(),
            auth_failures: Family::default(),
        };
        registry.register("requests", "Answers, by route, method and status", metrics.requests.clone());
        registry.register("request_seconds", "Seconds from request to answer, by route", metrics.seconds.clone());
        registry.register("requests_in_flight", "Requests that are not answered yet", metrics.in_flight.clone());
        let help = "Answers of 401, by error code";
        registry.register("auth_failures", help, metrics.auth_failures.clone());
        metrics
    }

    /// Counts a request as in flight until the value is dropped.
    pub fn start(&self) -> InFlight {
        self.in_flight.inc();
        InFlight(self.in_flight.clone())
    }

    /// Counts an answer.
    pub fn answer(&self, method: &Method, route: &str, status: u16, took: Duration) {
        let route: Arc<str> = route.into();
        let labels = RequestLabels { route: Arc::clone(&route), method: method_label(method), status: status.into() };
        self.requests.get_or_create(&labels).inc();
        self.seconds.get_or_create(&RouteLabels { route }).observe(took.as_secs_f64());
    }

    /// Counts an answer of 401; `kind` is its error code.
    pub fn auth_failure(&self, kind: &'static str) {
        self.auth_failures.get_or_create(&AuthLabels { kind }).inc();
    }
}

/// A caller can make up methods, which must not become series.
fn method_label(method: &Method) -> &'static str {
    match method.as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        "OPTIONS" => "OPTIONS",
        _ => "other",
    }
}
