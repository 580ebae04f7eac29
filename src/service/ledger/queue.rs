//! The queue of the ledger: operations that wait, and which of them the next batch takes.
//!
//! A batch takes all that wait, up to a limit. It leaves out owners who have operations in another batch: the two would
//! wait for each other's locks. A second batch begins beside a running one only if many operations wait or one waits
//! for long, and no more run than there are lanes. So at a low load there is one batch at a time, with less work for
//! each operation, and at a high load several.
//!
//! A batch leaves out the wallets that another transaction has locked: it would hold those of others while it waits.
//! What it leaves out comes back, and is tried again with all that has come of its owner meanwhile. The first time a
//! batch of such owners waits for their locks for a moment, because most are free soon. After that they are tried every
//! 50 ms, and are waited for in turn, each in a batch alone: a wallet that other servers want all the time is never
//! found free. No more than one batch waits for locks, in turn one of new owners and one of the others, and none if it
//! is the only lane: it would delay the owners of free wallets. What comes back meanwhile is tried with the others.

use std::collections::{HashMap, HashSet, VecDeque};
use std::pin::pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

use super::locked::Locking;
use super::operation::Queued;
use crate::domain::id::UserId;

/// The most operations in one batch, beside those that came back.
const BATCH: usize = 1_024;

/// The most operations of one owner that wait after they came back; more are refused.
const MAX_BLOCKED_OF_OWNER: usize = 1_024;

/// The most of all owners.
const MAX_BLOCKED: usize = 4 * MAX_BLOCKED_OF_OWNER;

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
    came_back: usize,
    /// The owners of those that came back, until a batch has decided them all.
    blocked: HashMap<UserId, Blocked>,
    /// When they are tried again, if the first try failed.
    retry_at: Option<Instant>,
    /// Owners with operations in a batch.
    taken: HashSet<UserId>,
    /// Queued operations whose owner is not blocked.
    ready: usize,
    /// Batches under way.
    running: u32,
    /// One of them waits for locks.
    waits: bool,
    /// How many owners were waited for in a batch alone.
    turn: u64,
    /// The last batch that waited was of those that came back once.
    once_was_last: bool,
    is_closed: bool,
}

/// An owner whose wallet another transaction has locked.
#[derive(Debug, Default)]
struct Blocked {
    /// How many operations came back.
    operations: usize,
    /// How often some did.
    times: u32,
    /// The [`turn`](State::turn) in which the owner was last waited for alone, or else came back first.
    waited_at: u64,
}

/// What a batch takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Next {
    /// All that came back once.
    BlockedOnce,
    /// What came back again of the owner who was waited for longest ago.
    BlockedAlone,
    /// All that came back.
    Blocked,
    /// All that did not.
    New,
}

/// The operations of a batch. Until it ends nothing else of their owners is in a batch.
#[derive(Debug)]
pub(super) struct TakenBatch {
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
        if state.is_closed || state.waiting.len() - state.came_back >= self.limit {
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

    /// Waits until a batch is due and takes it; `None` when nothing waits and nothing new can come. What comes back
    /// from the batch of another lane then, that lane takes.
    pub(super) async fn take(self: &Arc<Self>) -> Option<TakenBatch> {
        loop {
            let mut changed = pin!(self.changed.notified());
            changed.as_mut().enable();
            let due = {
                let mut state = self.state();
                if state.is_closed && state.waiting.is_empty() {
                    return None;
                }
                let now = Instant::now();
                match state.due(self.lanes, now) {
                    Some((due, next)) if due <= now => {
                        let (operations, owners) = state.take(next, self.lanes);
                        if state.ready > 0 || !state.blocked.is_empty() {
                            self.changed.notify_one();
                        }
                        let (locking, queue) = (next.locking(), Arc::clone(self));
                        return Some(TakenBatch { operations, locking, owners, queue, has_ended: false });
                    }
                    due => due.map(|(due, _)| due),
                }
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

impl Next {
    const fn locking(self) -> Locking {
        match self {
            Self::BlockedOnce | Self::BlockedAlone => Locking::Wait,
            Self::Blocked | Self::New => Locking::Skip,
        }
    }
}

impl State {
    fn is_ready(&self, owner: UserId) -> bool {
        !self.taken.contains(&owner) && !self.blocked.contains_key(&owner)
    }

    /// Owners whose operations came back and are in no batch.
    fn blocked(&self) -> impl Iterator<Item = (UserId, &Blocked)> {
        self.blocked.iter().map(|(owner, blocked)| (*owner, blocked)).filter(|(owner, _)| !self.taken.contains(owner))
    }

    /// Whether a batch that skips locks tries an owner: also one who came back once, if nobody can be waited for
    /// meanwhile.
    const fn is_tried(&self, blocked: &Blocked, lanes: u32) -> bool {
        blocked.times > 1 || lanes == 1 || self.waits
    }

    /// When the next batch may begin and what it takes, as far as that is known.
    fn due(&self, lanes: u32, now: Instant) -> Option<(Instant, Next)> {
        if self.running == lanes {
            return None;
        }
        let is_any_old = self.blocked.values().any(|blocked| blocked.times > 1);
        let may_wait = !self.waits && (lanes > 1 || !is_any_old);
        let once = may_wait && self.blocked().any(|(_, blocked)| blocked.times == 1);
        let old = self.blocked().any(|(_, blocked)| self.is_tried(blocked, lanes));
        let next_old = if may_wait && lanes > 1 { Next::BlockedAlone } else { Next::Blocked };
        let first = self.waiting.iter().find(|one| self.ready > 0 && self.is_ready(one.owner)).map(|first| {
            let waits_for_no_batch = self.running == 0 || self.ready >= MANY;
            if waits_for_no_batch { first.since } else { first.since + LONG }
        });
        let once = once.then_some((now, Next::BlockedOnce));
        let old = self.retry_at.filter(|_| old).map(|at| (at, next_old));
        // In turn: new ones would keep the old from being waited for.
        let [one, other] = if self.once_was_last { [old, once] } else { [once, old] };
        let all = [one, other, first.map(|at| (at, Next::New))];
        let mut all = all.into_iter().flatten();
        all.clone().find(|(at, _)| *at <= now).or_else(|| all.by_ref().min_by_key(|(at, _)| *at))
    }

    /// Takes a batch.
    fn take(&mut self, next: Next, lanes: u32) -> (Vec<Queued>, HashSet<UserId>) {
        let blocked: HashSet<UserId> = match next {
            Next::BlockedOnce => {
                self.blocked().filter(|(_, blocked)| blocked.times == 1).map(|(owner, _)| owner).collect()
            }
            Next::BlockedAlone => {
                let old = self.blocked().filter(|(_, blocked)| blocked.times > 1);
                old.min_by_key(|(_, blocked)| (blocked.waited_at, blocked.times))
                    .map(|(owner, _)| owner)
                    .into_iter()
                    .collect()
            }
            Next::Blocked => {
                self.blocked().filter(|(_, blocked)| self.is_tried(blocked, lanes)).map(|(owner, _)| owner).collect()
            }
            Next::New => HashSet::new(),
        };
        let (mut operations, mut owners, mut new) = (Vec::new(), HashSet::new(), 0);
        let mut rest = VecDeque::with_capacity(self.waiting.len());
        let mut waiting = std::mem::take(&mut self.waiting).into_iter();
        while new < BATCH
            && let Some(one) = waiting.next()
        {
            if blocked.contains(&one.owner) || next == Next::New && self.is_ready(one.owner) {
                new += usize::from(!one.has_come_back);
                self.came_back -= usize::from(one.has_come_back);
                owners.insert(one.owner);
                operations.push(one);
            } else {
                rest.push_back(one);
            }
        }
        rest.extend(waiting);
        self.waiting = rest;
        if next == Next::BlockedAlone {
            self.turn += 1;
            for owner in &owners {
                if let Some(blocked) = self.blocked.get_mut(owner) {
                    blocked.waited_at = self.turn;
                }
            }
        }
        self.taken.extend(&owners);
        if next.locking() == Locking::Wait {
            self.waits = true;
            self.once_was_last = next == Next::BlockedOnce;
        }
        if next == Next::Blocked || self.blocked().next().is_none() {
            self.retry_at = None;
        }
        self.running += 1;
        self.count_ready();
        (operations, owners)
    }

    fn count_ready(&mut self) {
        self.ready = self.waiting.iter().filter(|one| self.is_ready(one.owner)).count();
    }

    /// Ends a batch of these owners. What comes back waits before all others. Returns that for which there is no room.
    fn end(&mut self, owners: &HashSet<UserId>, locking: Locking, blocked: Vec<Queued>) -> Vec<Queued> {
        let mut before = HashMap::new();
        for owner in owners {
            self.taken.remove(owner);
            let new = Blocked { waited_at: self.turn, ..Blocked::default() };
            before.insert(*owner, self.blocked.remove(owner).unwrap_or(new));
        }
        let (mut back, mut refused) = (VecDeque::with_capacity(blocked.len()), Vec::new());
        for mut one in blocked {
            let of_owner = self.blocked.entry(one.owner).or_default();
            if self.came_back == MAX_BLOCKED || of_owner.operations == MAX_BLOCKED_OF_OWNER {
                refused.push(one);
                continue;
            }
            self.came_back += 1;
            of_owner.operations += 1;
            if let Some(before) = before.get(&one.owner) {
                of_owner.times = before.times.saturating_add(1);
                of_owner.waited_at = before.waited_at;
            }
            one.has_come_back = true;
            back.push_back(one);
        }
        self.blocked.retain(|_, blocked| blocked.operations > 0);
        if !back.is_empty() {
            self.retry_at.get_or_insert_with(|| Instant::now() + RETRY_HELD);
            back.append(&mut self.waiting);
            self.waiting = back;
        }
        self.waits &= locking != Locking::Wait;
        self.running -= 1;
        self.count_ready();
        refused
    }
}

impl TakenBatch {
    /// Ends the batch. Operations whose wallets another transaction has locked come back; returns those for which there
    /// is no room.
    pub(super) fn end(mut self, blocked: Vec<Queued>) -> Vec<Queued> {
        self.end_once(blocked)
    }

    fn end_once(&mut self, blocked: Vec<Queued>) -> Vec<Queued> {
        self.has_ended = true;
        let mut state = self.queue.state();
        let refused = state.end(&self.owners, self.locking, blocked);
        if state.is_closed {
            self.queue.changed.notify_waiters();
        } else if state.ready > 0 || !state.blocked.is_empty() {
            self.queue.changed.notify_one();
        }
        refused
    }
}

/// Ends a batch that panicked.
impl Drop for TakenBatch {
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
    use crate::service::ledger::rows::NeededRows;

    const LANES: u32 = 3;

    /// An operation of an owner that no batch decides.
    struct Of(i64);

    impl Operation for Of {
        const NAME: &'static str = "test";

        type Outcome = ();

        fn owner(&self) -> UserId {
            UserId::new(self.0)
        }

        fn require<'a>(&'a self, _: &mut NeededRows<'a>) {}

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
    fn taken(queue: &Arc<Queue>) -> Option<TakenBatch> {
        queue.take().now_or_never().flatten()
    }

    fn owners(batch: &TakenBatch) -> Vec<i64> {
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

    /// Ends a batch as if another transaction had locked all its wallets. Returns how much was refused.
    fn come_back(mut batch: TakenBatch) -> usize {
        let blocked = std::mem::take(&mut batch.operations);
        batch.end(blocked).len()
    }

    #[tokio::test]
    async fn what_came_back_is_waited_for_apart_and_at_most_so_much_of_an_owner_waits() {
        let queue = queue_of(std::iter::repeat_n(1, BATCH));
        push(&queue, [1, 2]);
        let mut first = taken(&queue).unwrap();
        assert!(first.locking == Locking::Skip);
        let mut blocked = std::mem::take(&mut first.operations);
        assert_eq!(blocked.len(), BATCH);
        blocked.truncate(6);
        assert!(first.end(blocked).is_empty());
        push(&queue, std::iter::repeat_n(1, BATCH));
        let again = taken(&queue).unwrap();
        assert!(again.locking == Locking::Wait, "the first time it waits for a moment");
        let come_back: Vec<_> = again.operations.iter().map(|one| one.has_come_back).collect();
        assert_eq!(come_back.iter().position(|came| !came), Some(6), "those that came first are first");
        assert_eq!(come_back.len(), 6 + BATCH, "and what came meanwhile");
        let beside = queue.take().await.unwrap();
        assert_eq!(owners(&beside), [2], "it is in no batch with what came back");
        assert!(beside.locking == Locking::Skip, "and waits for no lock, so as not to delay others");
        drop(beside);
        assert_eq!(self::come_back(again), 6 + BATCH - MAX_BLOCKED_OF_OWNER);
        assert!(taken(&queue).is_none(), "after a pause");
        let last = queue.take().await.unwrap();
        assert_eq!(last.operations.len(), MAX_BLOCKED_OF_OWNER + 1);
        drop(last);
        let state = queue.state();
        assert_eq!((state.waiting.len(), state.came_back, state.blocked.len()), (0, 0, 0));
        assert_eq!((state.waits, state.retry_at), (false, None));
        drop(state);
        push(&queue, [1]);
        assert!(taken(&queue).unwrap().locking == Locking::Skip);
    }

    #[tokio::test]
    async fn an_owner_who_is_blocked_for_long_keeps_nobody_else_from_being_waited_for() {
        let queue = queue_of([1]);
        come_back(taken(&queue).unwrap());
        for _ in 0..2 {
            let again = queue.take().await.unwrap();
            assert!(again.locking == Locking::Wait);
            come_back(again);
        }
        push(&queue, [2, 3]);
        come_back(taken(&queue).unwrap());
        let mut once = taken(&queue).unwrap();
        assert_eq!((owners(&once), once.locking), (vec![2, 3], Locking::Wait), "at once, without the first");
        let skips = queue.take().await.unwrap();
        assert_eq!((owners(&skips), skips.locking), (vec![1], Locking::Skip), "one batch waits already");
        come_back(skips);
        let three = once.operations.split_off(1);
        once.end(three);
        let least = queue.take().await.unwrap();
        assert_eq!((owners(&least), least.locking), (vec![3], Locking::Wait), "whose turn it is");
        let rest = taken(&queue).unwrap();
        assert_eq!((owners(&rest), rest.locking), (vec![1], Locking::Skip), "beside it");
    }

    #[tokio::test]
    async fn owners_who_are_held_for_long_are_waited_for_in_turn() {
        let queue = queue_of([1, 2]);
        come_back(taken(&queue).unwrap());
        come_back(taken(&queue).unwrap());
        let mut waited_for = Vec::new();
        for _ in 0..6 {
            let waits = queue.take().await.unwrap();
            assert!(waits.locking == Locking::Wait);
            waited_for.extend(owners(&waits));
            // Meanwhile the other one is tried without waiting, which takes no turn.
            for _ in 0..2 {
                let skips = queue.take().await.unwrap();
                assert!(skips.locking == Locking::Skip);
                come_back(skips);
            }
            come_back(waits);
        }
        assert!(waited_for.windows(2).all(|pair| pair[0] != pair[1]), "{waited_for:?}");
    }

    #[tokio::test]
    async fn owners_who_come_back_first_take_turns_with_those_who_are_held_for_long() {
        let queue = queue_of([1]);
        come_back(taken(&queue).unwrap());
        come_back(taken(&queue).unwrap());
        tokio::time::sleep(2 * RETRY_HELD).await;
        let mut waited_for = Vec::new();
        for new in 10..16 {
            // A new owner is blocked each time that a wait ends.
            let long = taken(&queue);
            push(&queue, [new]);
            come_back(queue.take().await.unwrap());
            if let Some(long) = long {
                waited_for.extend(owners(&long).into_iter().filter(|_| long.locking == Locking::Wait));
                come_back(long);
            }
            tokio::time::sleep(RETRY_HELD).await;
        }
        assert!(waited_for.contains(&1) && waited_for.iter().any(|owner| *owner >= 10), "{waited_for:?}");
        assert!(waited_for.iter().filter(|owner| **owner == 1).count() >= 2, "{waited_for:?}");
    }

    #[tokio::test]
    async fn the_only_lane_waits_for_no_lock_while_an_owner_is_blocked_for_long() {
        let queue = Arc::new(Queue::new(10_000, 1));
        push(&queue, [1]);
        come_back(taken(&queue).unwrap());
        let again = taken(&queue).unwrap();
        assert!(again.locking == Locking::Wait);
        come_back(again);
        push(&queue, [2]);
        come_back(taken(&queue).unwrap());
        let all = queue.take().await.unwrap();
        assert_eq!((owners(&all), all.locking), (vec![2, 1], Locking::Skip));
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
