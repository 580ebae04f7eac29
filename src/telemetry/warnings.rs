//! Whether PostgreSQL warned while a statement ran. sqlx reports warnings only as events, in the task that made the
//! statement; a layer of the log notes them.

use std::cell::Cell;

use tracing::{Event, Level, Subscriber};
use tracing_subscriber::Layer;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::layer::Context;
use tracing_subscriber::registry::LookupSpan;

/// The target of sqlx's events for what PostgreSQL reports beside a result.
const NOTICES: &str = "sqlx::postgres::notice";

tokio::task_local! {
    static WARNED: Cell<bool>;
}

/// Does `work`. Returns true beside its outcome if PostgreSQL warned meanwhile. Without
/// [`log::start`](super::log::start), as in tests inside this process, no warning is noted.
pub async fn noted<T>(work: impl Future<Output = T>) -> (T, bool) {
    let work = async {
        let outcome = work.await;
        (outcome, WARNED.with(Cell::get))
    };
    WARNED.scope(Cell::new(false), work).await
}

/// The layer that notes warnings, whatever the filter of the log leaves out.
pub(super) fn layer<S: Subscriber + for<'a> LookupSpan<'a>>() -> impl Layer<S> {
    NoteWarnings.with_filter(Targets::new().with_target(NOTICES, Level::WARN))
}

struct NoteWarnings;

impl<S: Subscriber> Layer<S> for NoteWarnings {
    fn on_event(&self, _: &Event<'_>, _: Context<'_, S>) {
        let _ = WARNED.try_with(|warned| warned.set(true));
    }
}
