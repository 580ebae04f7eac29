//! The queue of the ledger: operations that wait, and which of them the next batch takes.
//!
//! A batch takes all that wait, up to a limit. It leaves out owners who have operations in another batch: the two would wait
//! for each other's locks. A second batch begins beside a running one only if many operations wait or one waits for long, and
//! no more run than there are lanes. So at a low load there is one batch at a time, with less work for each operation, and at
//! a high load several.
//!
//! Operations whose wallet another transaction holds for too long come back. They, and what comes of their owners
//! meanwhile, are tried again in batches of their own. As long as there are any, no batch waits for a lock: who holds one
//! wallet often holds others.

use std::collections::{HashSet, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::locked::Locking;
use super::operation::Queued;
use crate::domain::id::UserId;

/// The most operations in one batch, beside those that came back.
const BATCH: usize = 1_024;

/// The most operations that wait after they came back; more are refused.
const MAX_HELD: usize = 1_024;

/// So many operations are worth a batch beside a running one.
const MANY: usize = 64;

/// After so long an operation waits for no running batch.
const LONG: Duration = Duration::from_millis(10);

/// How soon operations that came back are tried again.
const RETRY_HELD: Duration = Duration::from_millis(50);

/// Operations that wait.
#[derive(Debug)]
pub(super) struct Queue {
    state: Mutex<State>,
    /// A batch may have become due.
    changed: Notify,
    /// How many operations may wait, beside those that came back.
    limit: usize,
    /// How many batches may be under way at once.
    lanes: u32,
}

#[derive(Debug, Default)]
struct State {
    /// In the order in which those of one owner are decided. Those that came back are first.
    waiting: VecDeque<Queued>,
    /// How many of them came back.
    held: usize,
    /// Their owners, until a batch has decided all that came back.
    held_owners: HashSet<UserId>,
    /// When they are tried again; `None` if there are none.
    retry_at: Option<Instant>,
    /// Owners with operations in a batch.
    taken: HashSet<UserId>,
    /// How many operations wait of all other owners.
    ready: usize,
    /// Batches under way.
    running: u32,
    is_closed: bool,
}

/// The operations of a batch. Until it ends nothing else of their owners is in a batch.
#[derive(Debug)]
pub(super) struct Taken {
    pub(super) operations: Vec<Queued>,
    pub(super) locking: Locking,
    owners: HashSet<UserId>,
    queue: Arc<Queue>,
    has_ended: bool,
}

impl Queue {
    pub(super) fn new(limit: usize, lanes: u32) -> Self {
        Self { state: Mutex::default(), changed: Notify::new(), limit: limit.max(1), lanes }
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
        let is_ready = state.is_ready(one.owner);
        state.waiting.push_back(one);
        state.ready += usize::from(is_ready);
        // The first one wakes a lane, which begins a batch now or when the operation waits for long; many wake another.
        if is_ready && (state.ready == 1 || state.ready == MANY) {
            self.changed.notify_one();
        }
        Ok(())
    }

    /// Waits until a batch is due and takes it; `None` when nothing waits and nothing new can come. What comes back from the
    /// batch of another lane then, that lane takes.
    pub(super) async fn take(self: &Arc<Self>) -> Option<Taken> {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            let due = {
                let mut state = self.state();
                if state.is_closed && state.waiting.is_empty() {
                    return None;
                }
                let (now, due) = (Instant::now(), state.due(self.lanes));
                if due.is_some_and(|due| due <= now) {
                    let (operations, owners) = state.take(now);
                    let locking = locking_of(&operations);
                    if state.ready > 0 {
                        self.changed.notify_one();
                    }
                    return Some(Taken { operations, locking, owners, queue: Arc::clone(self), has_ended: false });
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

/// A batch leaves out what another transaction holds: it would hold the wallets of others while it waits. What came back once waits,
/// in a batch of its own and for a moment; most rows are free soon. Beside what came back again nothing waits.
fn locking_of(operations: &[Queued]) -> Locking {
    let most = operations.iter().map(|one| one.times_held).max().unwrap_or(0);
    if most == 1 { Locking::Wait } else { Locking::Skip }
}

impl State {
    fn is_ready(&self, owner: UserId) -> bool {
        !self.taken.contains(&owner) && !self.held_owners.contains(&owner)
    }

    /// When the next batch may begin, as far as that is known.
    fn due(&self, lanes: u32) -> Option<Instant> {
        if self.running == lanes {
            return None;
        }
        if self.ready == 0 {
            return self.retry_at;
        }
        let first = self.waiting.iter().find(|one| self.is_ready(one.owner)).map(|first| {
            let waits_for_no_batch = self.running == 0 || self.ready >= MANY;
            if waits_for_no_batch { first.since } else { first.since + LONG }
        });
        first.into_iter().chain(self.retry_at).min()
    }

    /// Takes everything of the owners of held wallets if it is their time, else everything that is ready.
    fn take(&mut self, now: Instant) -> (Vec<Queued>, HashSet<UserId>) {
        let is_retry = self.retry_at.is_some_and(|at| at <= now);
        let (mut operations, mut owners, mut new) = (Vec::new(), HashSet::new(), 0);
        let mut rest = VecDeque::with_capacity(self.waiting.len());
        let mut waiting = std::mem::take(&mut self.waiting).into_iter();
        while new < BATCH
            && let Some(one) = waiting.next()
        {
            if !self.taken.contains(&one.owner) && self.held_owners.contains(&one.owner) == is_retry {
                new += usize::from(one.times_held == 0);
                owners.insert(one.owner);
                operations.push(one);
            } else {
                rest.push_back(one);
            }
        }
        rest.extend(waiting);
        self.waiting = rest;
        if is_retry {
            self.held = 0;
            self.retry_at = None;
        }
        self.taken.extend(&owners);
        self.running += 1;
        self.count_ready();
        (operations, owners)
    }

    fn count_ready(&mut self) {
        self.ready = self.waiting.iter().filter(|one| self.is_ready(one.owner)).count();
    }

    /// Ends a batch of these owners. What comes back waits before all others. Returns that for which there is no room.
    fn end(&mut self, owners: &HashSet<UserId>, held: Vec<Queued>) -> Vec<Queued> {
        let mut held = VecDeque::from(held);
        let refused = held.split_off(held.len().min(MAX_HELD.saturating_sub(self.held)));
        for owner in owners {
            self.taken.remove(owner);
            self.held_owners.remove(owner);
        }
        if !held.is_empty() {
            for one in &mut held {
                one.times_held = one.times_held.saturating_add(1);
                self.held_owners.insert(one.owner);
            }
            let pause = if held.iter().all(|one| one.times_held == 1) { Duration::ZERO } else { RETRY_HELD };
            let retry_at = Instant::now() + pause;
            self.retry_at = Some(self.retry_at.map_or(retry_at, |at| at.min(retry_at)));
            self.held += held.len();
            held.append(&mut self.waiting);
            self.waiting = held;
        }
        self.running -= 1;
        self.count_ready();
        refused.into()
    }
}

impl Taken {
    /// Ends the batch. Operations whose wallets another transaction holds come back; returns those for which there is no
    /// room.
    pub(super) fn end(mut self, held: Vec<Queued>) -> Vec<Queued> {
        self.end_once(held)
    }

    fn end_once(&mut self, held: Vec<Queued>) -> Vec<Queued> {
        self.has_ended = true;
        let mut state = self.queue.state();
        let refused = state.end(&self.owners, held);
        if state.is_closed {
            self.queue.changed.notify_waiters();
        } else if state.ready > 0 || state.retry_at.is_some() {
            self.queue.changed.notify_one();
        }
        refused
    }
}

/// Ends a batch that panicked.
impl Drop for Taken {
    fn drop(&mut self) {
        if !self.has_ended {
            self.end_once(Vec::new());
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

    const LANES: u32 = 3;

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
        let queue = Arc::new(Queue::new(10_000, LANES));
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
    async fn no_more_batches_are_under_way_than_there_are_lanes() {
        let queue = queue_of([]);
        let batches: Vec<_> = (1..=LANES)
            .map(|owner| {
                push(&queue, std::iter::repeat_n(i64::from(owner), MANY));
                taken(&queue).unwrap()
            })
            .collect();
        push(&queue, std::iter::repeat_n(10, MANY));
        assert!(tokio::time::timeout(2 * LONG, queue.take()).await.is_err());
        drop(batches);
        assert_eq!(owners(&taken(&queue).unwrap()), [10; MANY]);
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
    async fn what_a_full_batch_leaves_wakes_other_lanes() {
        let owners = i64::from(LANES) * i64::try_from(BATCH).unwrap();
        let queue = Arc::new(Queue::new(10_000, LANES));
        let lanes: Vec<_> = (0..LANES)
            .map(|_| {
                let queue = Arc::clone(&queue);
                tokio::spawn(async move { queue.take().await.unwrap() })
            })
            .collect();
        tokio::task::yield_now().await;
        push(&queue, 0..owners);
        // None of them has ended when the last one begins.
        for batch in futures_util::future::join_all(lanes).await {
            assert_eq!(batch.unwrap().operations.len(), BATCH);
        }
    }

    #[tokio::test]
    async fn what_came_back_is_tried_again_apart_and_at_most_so_much_waits() {
        let queue = queue_of(std::iter::repeat_n(1, MAX_HELD));
        push(&queue, [1, 2]);
        let mut first = taken(&queue).unwrap();
        assert!(first.locking == Locking::Skip);
        let mut held = std::mem::take(&mut first.operations);
        assert_eq!(held.len(), BATCH);
        held.truncate(6);
        assert!(first.end(held).is_empty());
        push(&queue, std::iter::repeat_n(1, MAX_HELD));
        let mut again = taken(&queue).unwrap();
        let beside = queue.take().await.unwrap();
        assert_eq!(owners(&beside), [2], "it is in no batch with what came back");
        assert!(beside.locking == Locking::Skip, "and waits for no lock, so as not to delay others");
        drop(beside);
        let held = std::mem::take(&mut again.operations);
        assert!(again.locking == Locking::Wait, "the first time it waits for a moment");
        assert_eq!(held.iter().position(|one| one.times_held == 0), Some(6), "those that came first are first");
        assert_eq!(held.len(), 6 + BATCH, "and what came meanwhile");
        assert_eq!(again.end(held).len(), 6);
        assert_eq!(queue.state().held, MAX_HELD);
        let last = queue.take().await.unwrap();
        assert!(last.locking == Locking::Skip, "no longer, because some came back again");
        assert!(
            last.operations.len() == MAX_HELD + 1 && last.operations[..MAX_HELD].iter().all(|one| one.times_held > 0)
        );
        drop(last);
        assert_eq!((queue.len(), queue.state().held), (0, 0));
        push(&queue, [1]);
        assert!(taken(&queue).unwrap().locking == Locking::Skip);
    }

    #[tokio::test]
    async fn what_does_not_fit_is_returned_and_what_waits_is_taken_after_the_close() {
        let queue = Arc::new(Queue::new(2, LANES));
        push(&queue, [1, 1]);
        assert!(queue.push(Queued::new(Of(1)).0).is_err());
        queue.close();
        assert_eq!(owners(&taken(&queue).unwrap()), [1, 1]);
        assert!(queue.push(Queued::new(Of(1)).0).is_err());
        assert!(queue.take().await.is_none());
    }
}
