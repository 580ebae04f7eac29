//! The log.
//!
//! The request log is an interface: one line of target `keymeter::request` for every answer, with
//! `method`, `route` (the pattern, never the path), `status`, `us` (microseconds), `db_calls` and
//! `db_us` (statements of this request and their time), `request_id`, `ip` and, where known, `user_id`, the error code
//! `error` and the `cause` of a failure that is not the caller's. Every other line that is written for a request has its
//! span `request`. No line contains a key, a cookie, a password or a body.

use std::io::IsTerminal;

use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::database_calls;
use super::traces::Traces;

/// The format of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object a line, for programs.
    Json,
}

/// Starts the log, on standard error, and the traces.
///
/// # Errors
/// The filter is invalid.
pub fn start(filter: &str, format: LogFormat, traces: Option<&Traces>) -> Result<(), String> {
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
