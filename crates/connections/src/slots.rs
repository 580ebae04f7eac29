//! Counts connections: those that have a slot, and those that have not sent a request yet.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::task::AbortHandle;

pub(super) struct Slots {
    free: AtomicUsize,
    /// The tasks of connections without a slot, by number: the oldest connection has the lowest.
    pending: Mutex<BTreeMap<u64, AbortHandle>>,
}

impl Slots {
    pub(super) fn new(slots: usize) -> Self {
        Self { free: AtomicUsize::new(slots), pending: Mutex::default() }
    }

    pub(super) fn free(&self) -> usize {
        self.free.load(Ordering::Relaxed)
    }

    /// Gives a slot to a pending connection. Returns false if none is free.
    pub(super) fn take(&self, number: u64) -> bool {
        let taken = self.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| free.checked_sub(1)).is_ok();
        if taken {
            self.remove_pending(number);
        }
        taken
    }

    pub(super) fn release(&self) {
        self.free.fetch_add(1, Ordering::Relaxed);
    }

    pub(super) fn lock_pending(&self) -> MutexGuard<'_, BTreeMap<u64, AbortHandle>> {
        self.pending.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn remove_pending(&self, number: u64) {
        self.lock_pending().remove(&number);
    }

    pub(super) fn abort_oldest_pending(&self) {
        let oldest = self.lock_pending().pop_first();
        if let Some((_, task)) = oldest {
            task.abort();
        }
    }
}
