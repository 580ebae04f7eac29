//! Reads rows by their keys, those of all requests that wait in one statement.
//!
//! A request that comes alone is read at once. Requests that come while statements are under way share the next one,
//! never one of those, so each sees what was committed before it came.

use std::collections::{HashMap, HashSet};
use std::fmt::Debug;
use std::hash::Hash;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use tokio::sync::mpsc::error::TrySendError;
use tokio::sync::{Mutex, mpsc, oneshot};

use super::StorageError;

/// The most requests that wait; more are refused.
const MAX_WAITING: usize = 10_000;

/// What a loader reads, and how.
pub trait Loads: Send + Sync + 'static {
    type Key: Clone + Eq + Hash + Send + Sync + 'static;
    type Row: Clone + Send + Sync + 'static;

    /// The most keys in one statement.
    const MAX_KEYS: usize = 1_024;

    /// The most statements at the same time, each on a connection of its own.
    const STATEMENTS: usize = 1;

    /// The rows of those keys that have one.
    fn read(
        &self,
        keys: &[Self::Key],
    ) -> impl Future<Output = Result<HashMap<Self::Key, Self::Row>, StorageError>> + Send;
}

/// The queue of the tasks that read rows. They end when this is dropped.
pub struct Loader<S: Loads>(mpsc::Sender<Request<S>>);

/// The result of reading a key; `None` if it has no row.
type Loaded<S> = Result<Option<<S as Loads>::Row>, StorageError>;

struct Request<S: Loads> {
    key: S::Key,
    /// `None` if nobody waits for the row, because the source keeps it in a cache.
    reply: Option<oneshot::Sender<Loaded<S>>>,
}

impl<S: Loads> Loader<S> {
    /// Starts the tasks.
    pub fn start(source: S) -> Self {
        let (sender, receiver) = mpsc::channel(MAX_WAITING);
        let shared = Arc::new((source, Mutex::new(receiver)));
        for _ in 0..S::STATEMENTS {
            tokio::spawn(run(Arc::clone(&shared)));
        }
        Self(sender)
    }

    /// Reads a row, not before this call.
    pub async fn load(&self, key: S::Key) -> Loaded<S> {
        let (reply, loaded) = oneshot::channel();
        self.0.try_send(Request { key, reply: Some(reply) }).map_err(|error| match error {
            TrySendError::Full(_) => StorageError::Busy,
            TrySendError::Closed(_) => StorageError::GivenUp,
        })?;
        loaded.await.unwrap_or(Err(StorageError::GivenUp))
    }

    /// Lets a source that has a cache read a row again. If too many requests wait, it does not.
    pub fn refresh(&self, key: S::Key) {
        let _ = self.0.try_send(Request { key, reply: None });
    }
}

impl<S: Loads> Debug for Loader<S> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Loader(…)")
    }
}

async fn run<S: Loads>(shared: Arc<(S, Mutex<mpsc::Receiver<Request<S>>>)>) {
    let (source, requests) = &*shared;
    let mut waiting = Vec::new();
    loop {
        if requests.lock().await.recv_many(&mut waiting, S::MAX_KEYS).await == 0 {
            return;
        }
        // Callers that have left need nothing.
        waiting.retain(|request| request.reply.as_ref().is_none_or(|reply| !reply.is_closed()));
        let keys: HashSet<S::Key> = waiting.iter().map(|request| request.key.clone()).collect();
        let mut loaded = HashMap::new();
        // A panic fails these requests and none after them.
        let read = AssertUnwindSafe(read(source, &Vec::from_iter(keys), &mut loaded)).catch_unwind().await;
        for Request { key, reply } in waiting.drain(..) {
            let missing = if read.is_ok() { Ok(None) } else { Err(StorageError::GivenUp) };
            let loaded = loaded.get(&key).cloned().unwrap_or(missing);
            let _ = reply.map(|reply| reply.send(loaded));
        }
    }
}

/// Reads these keys. If one of them may be why the statement fails, the halves are read one by one, until only that key
/// fails.
async fn read<S: Loads>(source: &S, keys: &[S::Key], loaded: &mut HashMap<S::Key, Loaded<S>>) {
    if keys.is_empty() {
        return;
    }
    match source.read(keys).await {
        Ok(rows) => loaded.extend(rows.into_iter().map(|(key, row)| (key, Ok(Some(row))))),
        Err(error) if keys.len() > 1 && error.may_concern_one_row() => {
            let (first, second) = keys.split_at(keys.len() / 2);
            Box::pin(read(source, first, loaded)).await;
            Box::pin(read(source, second, loaded)).await;
        }
        Err(error) => loaded.extend(keys.iter().map(|key| (key.clone(), Err(error.clone())))),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;
    use std::time::Duration;

    use futures_util::future::join_all;

    use super::*;

    /// Has a row for each even number. A statement takes a while, fails if it reads [`BROKEN`], and panics if it reads
    /// [`FATAL`].
    #[derive(Clone, Default)]
    struct Numbers<const STATEMENTS: usize>(Arc<Mutex<Vec<Vec<u32>>>>);

    const BROKEN: u32 = 13;
    const FATAL: u32 = 999;

    impl<const STATEMENTS: usize> Loads for Numbers<STATEMENTS> {
        type Key = u32;
        type Row = String;

        const STATEMENTS: usize = STATEMENTS;

        async fn read(&self, keys: &[u32]) -> Result<HashMap<u32, String>, StorageError> {
            let mut keys = keys.to_vec();
            keys.sort_unstable();
            self.0.lock().unwrap().push(keys.clone());
            tokio::time::sleep(Duration::from_millis(50)).await;
            assert!(!keys.contains(&FATAL), "a test of what a panic does");
            if keys.contains(&BROKEN) {
                return Err(StorageError::Broken(Arc::new(sqlx::Error::RowNotFound)));
            }
            Ok(keys.into_iter().filter(|key| key % 2 == 0).map(|key| (key, key.to_string())).collect())
        }
    }

    impl<const STATEMENTS: usize> Numbers<STATEMENTS> {
        fn statements(&self) -> Vec<Vec<u32>> {
            std::mem::take(&mut self.0.lock().unwrap())
        }
    }

    fn start<const STATEMENTS: usize>() -> (Arc<Loader<Numbers<STATEMENTS>>>, Numbers<STATEMENTS>) {
        let numbers = Numbers::default();
        (Arc::new(Loader::start(numbers.clone())), numbers)
    }

    /// Loads in a task of its own, which has begun to wait when this returns.
    async fn spawn<const STATEMENTS: usize>(
        loader: &Arc<Loader<Numbers<STATEMENTS>>>,
        key: u32,
    ) -> tokio::task::JoinHandle<Loaded<Numbers<STATEMENTS>>> {
        let loader = Arc::clone(loader);
        let task = tokio::spawn(async move { loader.load(key).await });
        tokio::task::yield_now().await;
        tokio::task::yield_now().await;
        task
    }

    #[tokio::test]
    async fn what_comes_during_a_statement_shares_the_next_one() {
        let (loader, numbers) = start::<1>();
        let first = spawn(&loader, 2).await;
        let (again, other) = (spawn(&loader, 2).await, spawn(&loader, 3).await);
        assert_eq!(first.await.unwrap().unwrap().as_deref(), Some("2"));
        assert_eq!(again.await.unwrap().unwrap().as_deref(), Some("2"));
        assert_eq!(other.await.unwrap().unwrap(), None);
        // The running statement may have missed what was committed before the second request for the same key.
        assert_eq!(numbers.statements(), [vec![2], vec![2, 3]]);
    }

    #[tokio::test]
    async fn what_comes_during_as_many_statements_as_there_may_be_shares_the_next_one() {
        let (loader, numbers) = start::<2>();
        let first = [spawn(&loader, 2).await, spawn(&loader, 4).await];
        let second = [spawn(&loader, 6).await, spawn(&loader, 8).await];
        for loaded in join_all(first.into_iter().chain(second)).await {
            assert!(loaded.unwrap().unwrap().is_some());
        }
        assert_eq!(numbers.statements(), [vec![2], vec![4], vec![6, 8]]);
    }

    #[tokio::test]
    async fn a_statement_that_fails_for_one_key_fails_for_that_key_alone() {
        let (loader, numbers) = start::<1>();
        let first = spawn(&loader, 2).await;
        let all = join_all((10..18).map(|key| loader.load(key))).await;
        for (key, loaded) in (10..18).zip(all) {
            match loaded {
                Err(StorageError::Broken(_)) if key == BROKEN => {}
                Ok(row) if key != BROKEN => assert_eq!(row, (key % 2 == 0).then(|| key.to_string())),
                other => panic!("{key}: {other:?}"),
            }
        }
        first.await.unwrap().unwrap();
        let statements = numbers.statements();
        assert_eq!(statements.len(), 1 + 7, "{statements:?}");
    }

    #[tokio::test]
    async fn a_caller_that_leaves_cancels_no_other_and_is_not_read_for() {
        let (loader, numbers) = start::<1>();
        let first = spawn(&loader, 2).await;
        let (leaving, staying) = (spawn(&loader, 4).await, spawn(&loader, 6).await);
        leaving.abort();
        first.abort();
        assert_eq!(staying.await.unwrap().unwrap().as_deref(), Some("6"));
        assert_eq!(numbers.statements(), [vec![2], vec![6]]);
    }

    #[tokio::test]
    async fn a_panic_fails_the_requests_of_its_statement_and_none_after_them() {
        let (loader, _) = start::<1>();
        let (first, fatal, beside) = (spawn(&loader, 2).await, spawn(&loader, FATAL).await, spawn(&loader, 4).await);
        assert_eq!(first.await.unwrap().unwrap().as_deref(), Some("2"));
        for failed in [fatal, beside] {
            assert!(matches!(failed.await.unwrap(), Err(StorageError::GivenUp)));
        }
        assert_eq!(loader.load(6).await.unwrap().as_deref(), Some("6"));
    }

    #[tokio::test]
    async fn what_does_not_fit_into_the_queue_is_refused() {
        let (loader, numbers) = start::<1>();
        let first = spawn(&loader, 2).await;
        let many = MAX_WAITING + 5;
        let all = join_all((0..many).map(|key| loader.load(u32::try_from(2 * key).unwrap()))).await;
        first.await.unwrap().unwrap();
        let refused = all.iter().filter(|loaded| matches!(loaded, Err(StorageError::Busy))).count();
        assert_eq!(refused, 5);
        assert_eq!(all.iter().filter(|loaded| matches!(loaded, Ok(Some(_)))).count(), MAX_WAITING);
        assert!(numbers.statements().iter().all(|keys| keys.len() <= Numbers::<1>::MAX_KEYS));
    }
}
