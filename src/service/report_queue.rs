//! The queue of reports. A report over much usage takes seconds on its own connection. So one report of a user runs at
//! a time, and a few in all; a bounded number of others waits. Without the queue, the reports of one user could take
//! all connections.

use std::collections::HashMap;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::Semaphore;
use tracing::Instrument as _;

use crate::domain::bounds;
use crate::domain::id::UserId;
use crate::telemetry::request_notes::RequestNotes;

/// Why a report is not made.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ReportQueueFull {
    #[error("too many of your reports are waiting; ask again when one is answered")]
    OwnLineFull,
    #[error("too many reports are waiting; try again in a moment")]
    LineFull,
}

tokio::task_local! {
    /// Alive while the request waits that asked for a report.
    static CALLER: Weak<()>;
}

/// Returns false in a report whose caller has left. One that makes many statements ends then.
pub fn has_caller() -> bool {
    CALLER.try_with(|caller| caller.strong_count() > 0).unwrap_or(true)
}

/// Makes reports in turn.
#[derive(Debug, Clone)]
pub struct ReportQueue {
    /// One permit for each report that is being made.
    running: Arc<Semaphore>,
    lines: Arc<Mutex<Lines>>,
}

/// Who has reports that wait or are being made.
#[derive(Debug, Default)]
struct Lines {
    /// The number of all reports.
    total: usize,
    users: HashMap<UserId, Line>,
}

/// The reports of one user.
#[derive(Debug)]
struct Line {
    count: usize,
    /// One permit, for the report that is next or is being made. A user's other reports wait here and not in the line
    /// of all, so they delay nobody else's.
    turn: Arc<Semaphore>,
}

/// A place in the line, until it is dropped.
#[derive(Debug)]
struct Place {
    lines: Arc<Mutex<Lines>>,
    user: UserId,
}

impl Default for ReportQueue {
    fn default() -> Self {
        Self::new()
    }
}

impl ReportQueue {
    /// A line without reports.
    pub fn new() -> Self {
        Self { running: Arc::new(Semaphore::new(bounds::REPORTS_RUNNING)), lines: Arc::default() }
    }

    /// Makes a report for a user when it is their turn. It must take its connection itself: one that waits has none.
    ///
    /// # Errors
    /// See [`ReportQueueFull`]; and those of the report.
    pub fn run<T, E>(
        &self,
        user: UserId,
        report: impl Future<Output = Result<T, E>> + Send + 'static,
    ) -> impl Future<Output = Result<T, E>> + Send
    where
        T: Send + 'static,
        E: From<ReportQueueFull> + Send + 'static,
    {
        // A report is large, and its callers would contain it several times.
        self.run_boxed(user, Box::pin(report))
    }

    #[expect(clippy::expect_used, reason = "the semaphores are never closed")]
    async fn run_boxed<T, E>(
        &self,
        user: UserId,
        report: Pin<Box<dyn Future<Output = Result<T, E>> + Send>>,
    ) -> Result<T, E>
    where
        T: Send + 'static,
        E: From<ReportQueueFull> + Send + 'static,
    {
        let (place, turn) = self.enter(user)?;
        let turn = turn.acquire_owned().await.expect("the semaphore is never closed");
        let running = Arc::clone(&self.running).acquire_owned().await.expect("the semaphore is never closed");
        // If the request is cancelled, the database still finishes its statement. So the permits belong to a task,
        // which goes on until then.
        let report = async move {
            let _permits = (running, turn, place);
            report.await
        };
        let caller = Arc::new(());
        let report = CALLER.scope(Arc::downgrade(&caller), report);
        let task = tokio::spawn(RequestNotes::current().of(report).instrument(tracing::Span::current()));
        task.await.unwrap_or_else(|error| std::panic::resume_unwind(error.into_panic()))
    }

    fn enter(&self, user: UserId) -> Result<(Place, Arc<Semaphore>), ReportQueueFull> {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        if lines.users.get(&user).is_some_and(|line| line.count >= bounds::MAX_REPORTS_OF_USER) {
            return Err(ReportQueueFull::OwnLineFull);
        }
        if lines.total >= bounds::REPORTS_RUNNING + bounds::REPORTS_WAITING {
            return Err(ReportQueueFull::LineFull);
        }
        lines.total += 1;
        let line = lines.users.entry(user).or_insert_with(|| Line { count: 0, turn: Arc::new(Semaphore::new(1)) });
        line.count += 1;
        Ok((Place { lines: Arc::clone(&self.lines), user }, Arc::clone(&line.turn)))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.total = lines.total.saturating_sub(1);
        if let Some(line) = lines.users.get_mut(&self.user) {
            line.count = line.count.saturating_sub(1);
            if line.count == 0 {
                lines.users.remove(&self.user);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};
    use tokio::sync::oneshot;
    use tokio::task::JoinHandle;

    const ANA: UserId = UserId::new(1);

    /// Asks for a report that is made as soon as the sender says so, or is dropped.
    fn ask(queue: &ReportQueue, user: UserId) -> (oneshot::Sender<()>, JoinHandle<Result<(), ReportQueueFull>>) {
        let (finish, finished) = oneshot::channel();
        let queue = queue.clone();
        let report = async move {
            let _ = finished.await;
            Ok(())
        };
        (finish, tokio::spawn(async move { queue.run(user, report).await }))
    }

    async fn settle() {
        for _ in 0..100 {
            tokio::task::yield_now().await;
        }
    }

    fn counts(queue: &ReportQueue) -> (usize, usize) {
        let lines = queue.lines.lock().unwrap();
        (lines.total, lines.users.len())
    }

    #[tokio::test]
    async fn a_report_learns_that_its_caller_has_left() {
        let queue = ReportQueue::new();
        let (step, mut steps) = tokio::sync::mpsc::channel::<()>(1);
        let (tell, mut told) = tokio::sync::mpsc::channel(1);
        let report = async move {
            while steps.recv().await.is_some() {
                tell.send(has_caller()).await.unwrap();
            }
            Ok::<_, ReportQueueFull>(())
        };
        let asked = tokio::spawn(async move { queue.run(ANA, report).await });
        step.send(()).await.unwrap();
        assert_eq!(told.recv().await, Some(true));
        asked.abort();
        settle().await;
        step.send(()).await.unwrap();
        assert_eq!(told.recv().await, Some(false));
        assert!(has_caller(), "outside of a report");
    }

    #[tokio::test]
    async fn one_report_of_a_user_and_a_few_in_all_are_made_at_once() {
        let queue = ReportQueue::new();
        let (now, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
        let per_user = Arc::new([const { AtomicUsize::new(0) }; 5]);
        let mut tasks = Vec::new();
        for n in 0..25_usize {
            let (queue, now, most, per_user) =
                (queue.clone(), Arc::clone(&now), Arc::clone(&most), Arc::clone(&per_user));
            let user = n % 5;
            let report = async move {
                assert_eq!(per_user[user].fetch_add(1, Ordering::SeqCst), 0);
                most.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                settle().await;
                now.fetch_sub(1, Ordering::SeqCst);
                per_user[user].fetch_sub(1, Ordering::SeqCst);
                Ok::<_, ReportQueueFull>(())
            };
            let id = UserId::new(i64::try_from(user).unwrap());
            tasks.push(tokio::spawn(async move { queue.run(id, report).await }));
        }
        for task in tasks {
            task.await.unwrap().unwrap();
        }
        assert_eq!((most.load(Ordering::SeqCst), counts(&queue)), (bounds::REPORTS_RUNNING, (0, 0)));
    }

    #[tokio::test]
    async fn reports_of_one_user_do_not_delay_those_of_another() {
        let queue = ReportQueue::new();
        let anas: Vec<_> = (0..bounds::MAX_REPORTS_OF_USER).map(|_| ask(&queue, ANA)).collect();
        settle().await;
        assert_eq!(ask(&queue, ANA).1.await.unwrap(), Err(ReportQueueFull::OwnLineFull));
        let (finish, bens) = ask(&queue, UserId::new(2));
        finish.send(()).unwrap();
        assert_eq!(bens.await.unwrap(), Ok(()));
        assert!(anas.iter().all(|(_, report)| !report.is_finished()));
    }

    #[tokio::test]
    async fn the_line_is_bounded_and_a_cancelled_report_leaves_it() {
        let queue = ReportQueue::new();
        let most = bounds::REPORTS_RUNNING + bounds::REPORTS_WAITING;
        let users = (1..).map(UserId::new);
        let mut asked: Vec<_> = users.take(most).map(|user| ask(&queue, user)).collect();
        settle().await;
        let another = UserId::new(0);
        assert_eq!(ask(&queue, another).1.await.unwrap(), Err(ReportQueueFull::LineFull));
        // One that waits is cancelled.
        asked.pop().unwrap().1.abort();
        settle().await;
        assert_eq!(counts(&queue), (most - 1, most - 1));
        let (_finish, accepted) = ask(&queue, another);
        settle().await;
        assert!(!accepted.is_finished());
        // One that is being made is cancelled: it keeps its place until it is finished.
        let (finish, first) = asked.swap_remove(0);
        first.abort();
        settle().await;
        assert_eq!((counts(&queue).0, queue.running.available_permits()), (most, 0));
        finish.send(()).unwrap();
        settle().await;
        assert_eq!(counts(&queue).0, most - 1);
    }
}
