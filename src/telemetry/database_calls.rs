//! How often a request called the database, and for how long. sqlx reports each statement as an event, in the task
//! that made it; a layer of the log adds these up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tracing::field::{Field, Visit};
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// The target of sqlx's events. They have the level DEBUG, and WARN if the statement was slow.
const STATEMENTS: &str = "sqlx::query";

tokio::task_local! {
    static CALLS: DatabaseCalls;
}

/// Statements so far, and the time from sending each to its last row. Clones are the same count.
#[derive(Debug, Clone, Default)]
pub struct DatabaseCalls(Arc<Sums>);

#[derive(Debug, Default)]
struct Sums {
    count: AtomicU64,
    micros: AtomicU64,
}

impl DatabaseCalls {
    /// The calls of the present request; a count of nothing outside of one.
    pub fn current() -> Self {
        CALLS.try_with(Self::clone).unwrap_or_default()
    }

    /// Counts what `work` does, which goes on with `self` if it is done in another task.
    pub fn of<T>(self, work: impl Future<Output = T>) -> impl Future<Output = T> {
        CALLS.scope(self, work)
    }

    pub fn count(&self) -> u64 {
        self.0.count.load(Ordering::Relaxed)
    }

    /// The time of all, in microseconds. Statements of one request that run at once count each.
    pub fn micros(&self) -> u64 {
        self.0.micros.load(Ordering::Relaxed)
    }

    fn add(&self, time: Duration) {
        self.0.count.fetch_add(1, Ordering::Relaxed);
        self.0.micros.fetch_add(u64::try_from(time.as_micros()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

/// The layer that counts, whatever the filter of the log leaves out.
pub(super) fn layer<S: Subscriber + for<'a> LookupSpan<'a>>() -> impl Layer<S> {
    CountStatements.with_filter(Targets::new().with_target(STATEMENTS, Level::DEBUG))
}

struct CountStatements;

impl<S: Subscriber> Layer<S> for CountStatements {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let _ = CALLS.try_with(|calls| {
            let mut elapsed = Elapsed(0.0);
            event.record(&mut elapsed);
            calls.add(Duration::try_from_secs_f64(elapsed.0).unwrap_or_default());
        });
    }
}

/// The field `elapsed_secs` of an event.
struct Elapsed(f64);

impl Visit for Elapsed {
    fn record_f64(&mut self, field: &Field, value: f64) {
        if field.name() == "elapsed_secs" {
            self.0 = value;
        }
    }

    fn record_debug(&mut self, _: &Field, _: &dyn std::fmt::Debug) {}
}
