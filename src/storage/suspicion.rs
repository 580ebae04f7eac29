//! Whether connections are checked before use.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How long connections are checked before use after a request failed in the database.
const SUSPICION: Duration = Duration::from_secs(5);

/// Remembers when a request last failed in the database. Connections are checked before use for a while after that; at
/// other times a busy connection is known to work.
#[derive(Debug)]
pub(super) struct Suspicion {
    start: Instant,
    /// Milliseconds from `start` to the end of the suspicion.
    until: AtomicU64,
    /// Milliseconds from `start` to when another server became the one to use; 0 if none did.
    moved_at: AtomicU64,
}

impl Suspicion {
    pub(super) fn new() -> Self {
        Self { start: Instant::now(), until: AtomicU64::new(0), moved_at: AtomicU64::new(0) }
    }

    pub(super) fn raise(&self) {
        let until = u64::try_from((self.start.elapsed() + SUSPICION).as_millis()).unwrap_or(u64::MAX);
        self.until.fetch_max(until, Ordering::Relaxed);
    }

    pub(super) fn is_raised(&self) -> bool {
        self.start.elapsed().as_millis() < u128::from(self.until.load(Ordering::Relaxed))
    }

    /// From now on, connections that were opened before are to be closed.
    pub(super) fn note_move(&self) {
        let now = u64::try_from(self.start.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.moved_at.store(now.max(1), Ordering::Relaxed);
    }

    /// Returns true if a connection of this age leads to a server that is not the one to use any more.
    pub(super) fn is_from_before_move(&self, age: Duration) -> bool {
        let moved_at = self.moved_at.load(Ordering::Relaxed);
        moved_at > 0 && self.start.elapsed().saturating_sub(age).as_millis() <= u128::from(moved_at)
    }
}
