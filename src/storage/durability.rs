//! Waits until commits are on disk and on synchronous standbys (L4), and what happens while one waits for too long.
//!
//! Such a wait may last for as long as a standby is away. It cannot be cancelled: PostgreSQL would report success. And
//! giving up its connection would leave a process of PostgreSQL behind that waits, and make room for the next one. So a
//! wait keeps its connection until it ends. Its caller is told after [`Durability::patience`] that the change may not
//! be durable; and while a wait is older than that, no change begins.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use futures_util::future::BoxFuture;
use tokio::runtime::Handle;

use super::conn::Conn;
use super::errors::StorageError;
use super::own_connection::{Keep, OwnConnection};
use super::suspicion::Suspicion;

/// How often an abandoned wait asks whether PostgreSQL still waits.
const ASK_EVERY: Duration = Duration::from_secs(10);

/// The waits of a server.
#[derive(Debug)]
pub(super) struct Durability {
    patience: Duration,
    waits: Mutex<Waits>,
    own_connection: Arc<OwnConnection>,
    suspicion: Arc<Suspicion>,
}

/// When each wait began, by its number: the first one is the oldest.
#[derive(Debug, Default)]
struct Waits {
    next: u64,
    since: BTreeMap<u64, Instant>,
}

impl Durability {
    pub(super) fn new(patience: Duration, own_connection: Arc<OwnConnection>, suspicion: Arc<Suspicion>) -> Self {
        Self { patience, waits: Mutex::default(), own_connection, suspicion }
    }

    /// How long the oldest wait has lasted.
    pub(super) fn oldest(&self) -> Duration {
        self.waits().since.first_key_value().map_or(Duration::ZERO, |(_, since)| since.elapsed())
    }

    /// Returns true if a wait takes too long, so that no change may begin.
    pub(super) fn is_stalled(&self) -> bool {
        self.oldest() > self.patience
    }

    /// Waits for `commit`, which owns its connection. It goes on alone after the patience, or if the caller goes away.
    ///
    /// # Errors
    /// [`StorageError::NotDurable`] after the patience; those of `commit`.
    pub(super) async fn wait<T: Send + 'static>(
        self: &Arc<Self>,
        commit: impl Future<Output = Result<T, StorageError>> + Send + 'static,
    ) -> Result<T, StorageError> {
        let mut waiting = Waiting { commit: Some((Box::pin(commit), Entry::of(self))) };
        tokio::time::timeout(self.patience, waiting.outcome()).await.unwrap_or(Err(StorageError::NotDurable))
    }

    fn waits(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if no process of PostgreSQL waits for a commit of ours: then nobody will answer this wait. It may
    /// be on a server that is gone, or behind a network that lost the answer.
    async fn is_any_lost(&self) -> bool {
        let asked = self.own_connection.ask(async |conn: &mut Conn| {
            let lost = sqlx::query_scalar!(
                r#"select current_setting('track_activities') = 'on' and not pg_is_in_recovery() and not exists (
                     select from pg_stat_activity where datname = current_database() and usename = current_user
                     and state = 'active' and query_start < clock_timestamp() - interval '2 seconds'
                     and (query ilike 'commit%' or query like '%pg_logical_emit_message(true, ''keymeter''%'))
                   as "lost!""#
            )
            .fetch_one(conn)
            .await?;
            Ok((lost, Keep::Yes))
        });
        asked.await.unwrap_or(false)
    }
}

/// A wait among those of the server, for as long as it lasts.
struct Entry {
    number: u64,
    all: Arc<Durability>,
}

impl Entry {
    fn of(all: &Arc<Durability>) -> Self {
        let mut waits = all.waits();
        waits.next += 1;
        let number = waits.next;
        waits.since.insert(number, Instant::now());
        Self { number, all: Arc::clone(all) }
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.all.waits().since.remove(&self.number);
    }
}

type Commit<T> = BoxFuture<'static, Result<T, StorageError>>;

/// A wait that somebody waits for. If nobody does any more, it goes on in a task.
struct Waiting<T: Send + 'static> {
    /// None when it has ended.
    commit: Option<(Commit<T>, Entry)>,
}

impl<T: Send + 'static> Waiting<T> {
    async fn outcome(&mut self) -> Result<T, StorageError> {
        let Some((commit, _)) = &mut self.commit else { return Err(StorageError::GivenUp) };
        let outcome = commit.await;
        self.commit = None;
        outcome
    }
}

impl<T: Send + 'static> Drop for Waiting<T> {
    fn drop(&mut self) {
        if let (Some((commit, entry)), Ok(runtime)) = (self.commit.take(), Handle::try_current())
            && !std::thread::panicking()
        {
            runtime.spawn(outlast(commit, entry));
        }
    }
}

/// Waits until it ends, or until PostgreSQL knows nothing of it.
async fn outlast<T>(mut commit: Commit<T>, entry: Entry) {
    while tokio::time::timeout(ASK_EVERY, &mut commit).await.is_err() {
        if entry.all.is_any_lost().await {
            tracing::warn!("a commit has no answer, and PostgreSQL waits for none; its connection is closed");
            // Its connection is checked on its way back to the pool, and does not answer.
            entry.all.suspicion.raise();
            return;
        }
    }
}
