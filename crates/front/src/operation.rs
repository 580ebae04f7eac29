//! What an operator asks, on an address of its own: `/healthz`, `/readyz` and `/metrics`.

use std::fmt::Write;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::Router;
use axum::routing::get;
use http::StatusCode;
use http::header::CONTENT_TYPE;

use keymeter_door::door::Door;

pub fn router(door: Arc<Door>, draining: Arc<AtomicBool>) -> Router {
    let ready = Arc::clone(&door);
    Router::new()
        .route("/healthz", get(async || "ok\n"))
        .route("/readyz", get(async move || readiness(&ready, draining.load(Ordering::Relaxed))))
        .route("/metrics", get(async move || ([(CONTENT_TYPE, "text/plain; version=0.0.4")], metrics(&door))))
}

/// Whether requests can be metered now, as far as that is known here.
fn readiness(door: &Door, is_draining: bool) -> (StatusCode, &'static str) {
    if is_draining {
        return (StatusCode::SERVICE_UNAVAILABLE, "it stops\n");
    }
    if door.extractors.newest().is_none() {
        return (StatusCode::SERVICE_UNAVAILABLE, "Keymeter has not told yet how answers are read\n");
    }
    if door.settlements.is_full() {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many settlements wait for Keymeter\n");
    }
    (StatusCode::OK, "ready\n")
}

fn metrics(door: &Door) -> String {
    let (open, unsent) = door.settlements.counts();
    let mut text = String::new();
    let mut add = |name: &str, kind: &str, help: &str, values: &[(&str, u64)]| {
        // Writing to a text cannot fail.
        let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        for (labels, value) in values {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    };
    let gauge = |count: usize| [("", u64::try_from(count).unwrap_or(u64::MAX))];
    add("keymeter_front_requests_open", "gauge", "Requests under way, and settlements that wait.", &gauge(open));
    add("keymeter_front_settlements_waiting", "gauge", "Settlements that wait for Keymeter.", &gauge(unsent));
    add("keymeter_front_ended_total", "counter", "Requests that ended, by what was charged.", &door.ended.counts());
    text
}
