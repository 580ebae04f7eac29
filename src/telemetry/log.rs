//! The log.
//!
//! The request log is an interface: one line of target `keymeter::request` for every answer, with `method`, `route`
//! (the pattern, never the path), `status`, `us` (microseconds), `db_calls` and `db_us` (statements of this request and
//! their time), `http_request_id`, `ip` and, where known, `user_id`, `gateway_id`, `token_id` (of a token that was
//! looked up by its key), the error code `error` and the `cause` of a failure that is not the caller's. Every other
//! line that is written for a request has its span `request`. No line contains a key, a cookie, a password or a body.

use std::io::{self, BufWriter, IsTerminal, Stderr, Write, stderr};
use std::sync::OnceLock;
use std::time::Duration;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::MetricType;
use prometheus_client::metrics::counter::ConstCounter;
use tracing_appender::non_blocking::{ErrorCounter, NonBlockingBuilder, WorkerGuard};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::writer::BoxMakeWriter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::traces::Traces;
use super::{request_notes, warnings};

/// Lines that wait to be written, a few megabytes; more are dropped and counted.
const WAITING_LINES: usize = 16_384;

/// Bytes of lines that are written at once.
const BUFFER: usize = 64 * 1_024;

/// How long the thread pauses after it has written; meanwhile lines gather.
const PAUSE: Duration = Duration::from_millis(10);

/// Lines that were dropped. The process has one log.
static DROPPED: OnceLock<ErrorCounter> = OnceLock::new();

/// The format of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object a line, for programs.
    Json,
}

/// Who writes a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writing {
    /// The thread that logs it, before it goes on: for commands, whose lines stand among their other output.
    AtOnce,
    /// A thread of its own, many lines at a time: for the service. What reads the log may be slow or stop; then no
    /// request waits, and lines are dropped.
    InBackground,
}

/// What is written, and how.
#[derive(Debug, Clone, Copy)]
pub struct Lines<'a> {
    /// As `RUST_LOG` has it.
    pub filter: &'a str,
    pub format: LogFormat,
    /// The name of this server, in every line of JSON.
    pub server: &'a str,
}

/// Starts the log, on standard error, and the traces. When what it returns is dropped, lines that wait are written, for
/// at most a second.
///
/// # Errors
/// The filter is invalid.
pub fn start(
    Lines { filter, format, server }: Lines<'_>,
    writing: Writing,
    traces: Option<&Traces>,
) -> Result<Option<WorkerGuard>, String> {
    let filter: Targets =
        filter.parse().map_err(|error| format!("`log.filter` cannot be read: {error}; try \"info\""))?;
    let (writer, guard) = match writing {
        Writing::AtOnce => (BoxMakeWriter::new(stderr), None),
        Writing::InBackground => {
            let lines = NonBlockingBuilder::default().buffered_lines_limit(WAITING_LINES).thread_name("log");
            let (lines, guard) = lines.finish(Pausing(BufWriter::with_capacity(BUFFER, stderr())));
            let _ = DROPPED.set(lines.error_counter());
            (BoxMakeWriter::new(lines), Some(guard))
        }
    };
    let lines = tracing_subscriber::fmt::layer().with_ansi(stderr().is_terminal());
    let lines = match format {
        LogFormat::Text => lines.with_writer(writer).boxed(),
        LogFormat::Json => {
            let named =
                NamedLines { start: format!("{{\"server\":{},", serde_json::Value::from(server)), lines: writer };
            lines.json().flatten_event(true).with_current_span(false).with_writer(named).boxed()
        }
    };
    let log = tracing_subscriber::registry()
        .with(lines.with_filter(filter))
        .with(request_notes::layer())
        .with(warnings::layer())
        .with(traces.map(Traces::layer));
    log.try_init().map_err(|error| format!("the log cannot be started: {error}"))?;
    Ok(guard)
}

/// Adds the name of the server to lines that are JSON objects.
struct NamedLines {
    /// What each line begins with instead of its brace.
    start: String,
    lines: BoxMakeWriter,
}

impl<'a> MakeWriter<'a> for NamedLines {
    type Writer = NamedLine<'a, <BoxMakeWriter as MakeWriter<'a>>::Writer>;

    fn make_writer(&'a self) -> Self::Writer {
        NamedLine { start: &self.start, lines: self.lines.make_writer() }
    }
}

/// Writes a line, which comes in one piece.
struct NamedLine<'a, W> {
    start: &'a str,
    lines: W,
}

impl<W: Write> Write for NamedLine<'_, W> {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        match line.strip_prefix(b"{") {
            Some(members) => self.lines.write_all(&[self.start.as_bytes(), members].concat())?,
            None => self.lines.write_all(line)?,
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.lines.flush()
    }
}

/// Standard error, for a thread that flushes whenever no line waits. It pauses after each flush, so requests need not
/// wake it for each line, and lines of many requests are written together.
struct Pausing(BufWriter<Stderr>);

impl Write for Pausing {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.0.write(line)
    }

    fn flush(&mut self) -> io::Result<()> {
        let had_lines = !self.0.buffer().is_empty();
        self.0.flush()?;
        if had_lines {
            std::thread::sleep(PAUSE);
        }
        Ok(())
    }
}

/// The metric of dropped lines, read when the metrics are read.
#[derive(Debug)]
pub(super) struct DroppedLines;

impl Collector for DroppedLines {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> Result<(), std::fmt::Error> {
        let dropped = DROPPED.get().map_or(0, |dropped| u64::try_from(dropped.dropped_lines()).unwrap_or(u64::MAX));
        let help = "Lines of the log that were dropped, because what reads it was too slow";
        let family = encoder.encode_descriptor("log_lines_dropped", help, None, MetricType::Counter)?;
        ConstCounter::new(dropped).encode(family)
    }
}
