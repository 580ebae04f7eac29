//! The queue of the ledger: operations that wait, and which of them the next batch takes.
//!
//! A batch takes all that wait, but of an owner whose operations are in another batch nothing: those would wait for each
//! other's locks. A second batch begins beside a running one only if many operations wait or one waits for long. So at a
//! low load there is one batch at a time, with little work of its own for each operation, and at a high load a processor is
//! never idle while the disk writes.

use std::collections::{HashSet, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::operation::Queued;
use crate::domain::id::UserId;

/// The most operations in one batch, beside those that wait for a held wallet.
const BATCH: usize = 1_024;

/// The most operations that wait for held wallets; more are refused.
const MAX_HELD: usize = 1_024;

/// As many operations are worth a batch beside a running one.
const MANY: usize = 64;

/// After so long an operation waits for no running batch.
const LONG: Duration = Duration::from_millis(10);

/// How soon operations on held wallets are tried again if no others come.
const RETRY_HELD: Duration = Duration::from_millis(50);

/// Operations that wait.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// A batch may have become due.
    changed: Notify,
    /// How many operations may wait, beside those for held wallets.
    limit: usize,
}

#[derive(Debug, Default)]
struct State {
    /// In the order in which they are decided.
    waiting: VecDeque<Queued>,
    /// How many of them wait for a held wallet.
    held: usize,
    /// How many of the others have an owner with nothing in a batch.
    ready: usize,
    /// When the held ones are tried again.
    retry_at: Option<Instant>,
    /// Owners with operations in a batch.
    taken: HashSet<UserId>,
    /// Batches under way.
    running: usize,
    is_closed: bool,
}

/// The operations of a batch. Until this is dropped nothing else of their owners is in a batch.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) operations: Vec<Queued>,
    owners: HashSet<UserId>,
    queue: Arc<Queue>,
}

impl Queue {
    pub(super) fn new(limit: usize) -> Self {
        Self { state: Mutex::default(), changed: Notify::new(), limit: limit.max(1) }
    }

    /// How many operations wait.
    pub(super) fn len(&self) -> usize {
        self.state().waiting.len()
    }

    /// Adds an operation, or returns it if too many wait.
    pub(super) fn push(&self, one: Queued) -> Result<(), Queued> {
        let mut state = self.state();
        if state.is_closed || state.waiting.len() - state.held >= self.limit {
            return Err(one);
        }
        let is_ready = !state.taken.contains(&one.owner);
        state.waiting.push_back(one);
        state.ready += usize::from(is_ready);
        // The first one is waited for, by a batch that begins now or when it waits for long.
        if is_ready && (state.ready == 1 || state.ready == MANY) {
            self.changed.notify_one();
        }
        Ok(())
    }

    /// Waits until a batch is due and takes it; `None` when nothing waits and nothing can come any more.
    pub(super) async fn take(self: &Arc<Self>) -> Option<Taken> {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            let due = {
                let mut state = self.state();
                if state.is_closed && state.waiting.is_empty() {
                    return None;
                }
                let due = state.due();
                if due.is_some_and(|due| due <= Instant::now()) {
                    let (operations, owners) = state.take();
                    return Some(Taken { operations, owners, queue: Arc::clone(self) });
                }
                due
            };
            match due {
                None => changed.await,
                Some(due) => {
                    let _ = tokio::time::timeout_at(due.into(), changed).await;
                }
            }
        }
    }

    /// Lets [`Queue::take`] end after everything that waits.
    pub(super) fn close(&self) {
        self.state().is_closed = true;
        self.changed.notify_waiters();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn is_ready(&self, one: &Queued) -> bool {
        !one.was_held && !self.taken.contains(&one.owner)
    }

    /// When the next batch may begin, as far as that is known.
    fn due(&self) -> Option<Instant> {
        let first = self.waiting.iter().find(|one| self.ready > 0 && self.is_ready(one)).map(|first| {
            let waits_for_no_batch = self.running == 0 || self.ready >= MANY;
            if waits_for_no_batch { first.since } else { first.since + LONG }
        });
        let retry = self.retry_at.filter(|_| self.held > 0);
        first.into_iter().chain(retry).min()
    }

    fn take(&mut self) -> (Vec<Queued>, HashSet<UserId>) {
        let (mut operations, mut owners, mut new) = (Vec::new(), HashSet::new(), 0);
        let mut rest = VecDeque::new();
        for one in std::mem::take(&mut self.waiting) {
            if self.taken.contains(&one.owner) || (!one.was_held && new == BATCH) {
                rest.push_back(one);
                continue;
            }
            if one.was_held {
                self.held -= 1;
            } else {
                new += 1;
            }
            owners.insert(one.owner);
            operations.push(one);
        }
        self.waiting = rest;
        self.taken.extend(&owners);
        self.running += 1;
        self.count_ready();
        (operations, owners)
    }

    fn count_ready(&mut self) {
        self.ready = self.waiting.iter().filter(|one| self.is_ready(one)).count();
    }
}

impl Taken {
    /// Ends the batch. Operations whose wallets another transaction holds wait on, before all others; returns those that
    /// are too many.
    pub(super) fn end(self, held: Vec<Queued>) -> Vec<Queued> {
        let mut state = self.queue.state();
        let mut held = VecDeque::from(held);
        let refused = held.split_off(held.len().min(MAX_HELD.saturating_sub(state.held)));
        if !held.is_empty() {
            for one in &mut held {
                one.was_held = true;
            }
            state.retry_at = Some(Instant::now() + RETRY_HELD);
            state.held += held.len();
            held.append(&mut state.waiting);
            state.waiting = held;
        }
        drop(state);
        refused.into()
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let mut state = self.queue.state();
        state.running -= 1;
        for owner in &self.owners {
            state.taken.remove(owner);
        }
        state.count_ready();
        if state.is_closed {
            self.queue.changed.notify_waiters();
        } else if state.ready > 0 || state.held > 0 {
            self.queue.changed.notify_one();
        }
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt;

    use super::*;
    use crate::service::ledger::batch::Batch;
    use crate::service::ledger::error::LedgerError;
    use crate::service::ledger::operation::Operation;
    use crate::service::ledger::rows::Rows;

    /// An operation of an owner that no batch decides.
    struct Of(i64);

    impl Operation for Of {
        const NAME: &'static str = "test";

        type Outcome = ();

        fn owner(&self) -> UserId {
            UserId::new(self.0)
        }

        fn require<'a>(&'a self, _: &mut Rows<'a>) {}

        fn apply(&self, _: &mut Batch<'_>) -> Result<(), LedgerError> {
            Err(LedgerError::Busy)
        }
    }

    fn queue_of(owners: impl IntoIterator<Item = i64>) -> Arc<Queue> {
        let queue = Arc::new(Queue::new(10_000));
        push(&queue, owners);
        queue
    }

    fn push(queue: &Queue, owners: impl IntoIterator<Item = i64>) {
        for owner in owners {
            queue.push(Queued::new(Of(owner)).0).unwrap();
        }
    }

    /// The batch that is due now.
    fn taken(queue: &Arc<Queue>) -> Option<Taken> {
        queue.take().now_or_never().flatten()
    }

    fn owners(batch: &Taken) -> Vec<i64> {
        batch.operations.iter().map(|one| one.owner.get()).collect()
    }

    #[tokio::test]
    async fn a_batch_takes_all_that_wait_but_of_owners_in_another_batch_nothing() {
        let queue = queue_of([1, 2, 1]);
        let first = taken(&queue).unwrap();
        assert_eq!(owners(&first), [1, 2, 1]);
        push(&queue, [2, 1]);
        assert!(taken(&queue).is_none(), "both have something in the first batch");
        push(&queue, std::iter::repeat_n(3, MANY));
        let second = taken(&queue).unwrap();
        assert_eq!(owners(&second), [3; MANY]);
        drop(first);
        drop(second);
        assert_eq!(owners(&taken(&queue).unwrap()), [2, 1]);
    }

    #[tokio::test]
    async fn a_second_batch_begins_with_many_operations_or_one_that_waits_for_long() {
        let queue = queue_of([1]);
        let first = taken(&queue).unwrap();
        let pushed = Instant::now();
        push(&queue, 2..=i64::try_from(MANY).unwrap());
        let second = queue.take().await.unwrap();
        assert!(pushed.elapsed() >= LONG);
        assert_eq!(second.operations.len(), MANY - 1);
        push(&queue, 100..100 + i64::try_from(MANY).unwrap());
        assert_eq!(taken(&queue).unwrap().operations.len(), MANY);
        drop(first);
    }

    #[tokio::test]
    async fn a_waiting_lane_learns_of_the_end_of_a_batch() {
        let queue = queue_of([1]);
        let first = taken(&queue).unwrap();
        push(&queue, [1]);
        let next = tokio::spawn({
            let queue = Arc::clone(&queue);
            async move { queue.take().await.unwrap().operations.len() }
        });
        tokio::task::yield_now().await;
        // As a panic of its lane does.
        drop(first);
        assert_eq!(next.await.unwrap(), 1);
    }

    #[tokio::test]
    async fn held_operations_are_tried_again_first_and_at_most_so_many_wait() {
        let many = MAX_HELD + 6;
        let queue = queue_of(std::iter::repeat_n(1, MAX_HELD));
        push(&queue, [2]);
        let mut first = taken(&queue).unwrap();
        let mut held = std::mem::take(&mut first.operations);
        assert_eq!(held.len(), MAX_HELD, "a batch has no more");
        held.truncate(6);
        assert!(first.end(held).is_empty());
        push(&queue, std::iter::repeat_n(1, MAX_HELD));
        let mut again = taken(&queue).unwrap();
        let held = std::mem::take(&mut again.operations);
        assert_eq!(held.iter().filter(|one| one.was_held).count(), 6);
        assert!(held[..6].iter().all(|one| one.was_held) && held.len() == many);
        assert_eq!(again.end(held).len(), 6);
        assert_eq!(queue.state().held, MAX_HELD);
        // Alone they are tried after a while.
        let mut last = taken(&queue).unwrap();
        let mut held = std::mem::take(&mut last.operations);
        held.truncate(3);
        assert!(last.end(held).is_empty());
        let alone = queue.take().await.unwrap();
        assert!(alone.operations.len() == 3 && alone.operations.iter().all(|one| one.was_held));
    }

    #[tokio::test]
    async fn what_does_not_fit_is_returned_and_what_waits_is_taken_after_the_close() {
        let queue = Arc::new(Queue::new(2));
        push(&queue, [1, 1]);
        assert!(queue.push(Queued::new(Of(1)).0).is_err());
        queue.close();
        assert_eq!(owners(&taken(&queue).unwrap()), [1, 1]);
        assert!(queue.push(Queued::new(Of(1)).0).is_err());
        assert!(queue.take().await.is_none());
    }
}
