//! What is noted of a request for its line of the log while it is answered: its gateway, its token, how often it called
//! the database and for how long. sqlx reports each statement as an event, in the task that made it; a layer of the log
//! adds these up.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};
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
    static NOTES: RequestNotes;
}

/// Not known yet. Ids begin at 1.
const NONE: i64 = 0;

/// The request is about several.
const SEVERAL: i64 = -1;

/// The notes of a request. Clones are the same.
#[derive(Debug, Clone, Default)]
pub struct RequestNotes(Arc<Notes>);

/// Together, because every request has them.
#[derive(Debug, Default)]
struct Notes {
    gateway: AtomicI64,
    token: AtomicI64,
    /// Statements so far, and the time from sending each to its last row.
    calls: AtomicU64,
    micros: AtomicU64,
}

impl RequestNotes {
    /// Those of the present request; outside of one, of nothing.
    pub fn current() -> Self {
        NOTES.try_with(Self::clone).unwrap_or_default()
    }

    /// Notes what `work` does. Work in another task needs a clone of these notes.
    pub fn of<T>(self, work: impl Future<Output = T>) -> impl Future<Output = T> {
        NOTES.scope(self, work)
    }

    /// Notes the gateway that makes the present request.
    pub fn note_gateway(id: i64) {
        let _ = NOTES.try_with(|Self(notes)| notes.gateway.store(id, Ordering::Relaxed));
    }

    /// Notes the token of the present request. A request about several tokens has none.
    pub fn note_token(id: i64) {
        let _ = NOTES.try_with(|Self(notes)| {
            let noted = notes.token.compare_exchange(NONE, id, Ordering::Relaxed, Ordering::Relaxed);
            if noted.is_err_and(|other| other != id) {
                notes.token.store(SEVERAL, Ordering::Relaxed);
            }
        });
    }

    pub fn gateway_id(&self) -> Option<i64> {
        Some(self.0.gateway.load(Ordering::Relaxed)).filter(|id| *id != NONE)
    }

    pub fn token_id(&self) -> Option<i64> {
        Some(self.0.token.load(Ordering::Relaxed)).filter(|id| ![NONE, SEVERAL].contains(id))
    }

    /// Statements so far.
    pub fn database_calls(&self) -> u64 {
        self.0.calls.load(Ordering::Relaxed)
    }

    /// The time of all, in microseconds. Statements of one request that run at once count each.
    pub fn database_micros(&self) -> u64 {
        self.0.micros.load(Ordering::Relaxed)
    }

    fn add_call(&self, time: Duration) {
        self.0.calls.fetch_add(1, Ordering::Relaxed);
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
        let _ = NOTES.try_with(|notes| {
            let mut elapsed = Elapsed(0.0);
            event.record(&mut elapsed);
            notes.add_call(Duration::try_from_secs_f64(elapsed.0).unwrap_or_default());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_request_about_several_tokens_has_none() {
        RequestNotes::note_token(1);
        for (ids, expected) in [(&[][..], None), (&[7, 7], Some(7)), (&[7, 8, 7], None)] {
            let notes = RequestNotes::default();
            notes.clone().of(async { ids.iter().copied().for_each(RequestNotes::note_token) }).await;
            assert_eq!((notes.token_id(), notes.gateway_id()), (expected, None), "{ids:?}");
        }
    }
}
