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

use super::conn::Conn;
use super::errors::StorageError;
use super::own_connection::{Keep, OwnConnection};

/// How often a wait that nobody waits for any more asks whether PostgreSQL knows of it.
const ASK_EVERY: Duration = Duration::from_secs(10);

/// The waits of a server.
#[derive(Debug)]
pub(super) struct Durability {
    patience: Duration,
    waits: Mutex<Waits>,
    own_connection: Arc<OwnConnection>,
}

/// When each wait began, by its number: the first one is the oldest.
#[derive(Debug, Default)]
struct Waits {
    next: u64,
    since: BTreeMap<u64, Instant>,
}

impl Durability {
    pub(super) fn new(patience: Duration, own_connection: Arc<OwnConnection>) -> Self {
        Self { patience, waits: Mutex::default(), own_connection }
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
        let mut wait = Wait { commit: Some(Box::pin(commit)), number: self.begin(), all: Arc::clone(self) };
        tokio::time::timeout(self.patience, wait.outcome()).await.unwrap_or(Err(StorageError::NotDurable))
    }

    fn begin(&self) -> u64 {
        let mut waits = self.waits();
        waits.next += 1;
        let number = waits.next;
        waits.since.insert(number, Instant::now());
        number
    }

    fn waits(&self) -> MutexGuard<'_, Waits> {
        self.waits.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if no process of PostgreSQL waits for a commit of ours: then nobody will answer this wait. It may
    /// be on a server that is gone, or behind a network that lost the answer.
    async fn is_any_lost(&self) -> bool {
        let asked = self.own_connection.ask(async |conn: &mut Conn| {
            let lost = sqlx::query_scalar!(
                r#"select current_setting('track_activities') = 'on' and not exists (
                     select from pg_stat_activity where datname = current_database() and usename = current_user
                     and state = 'active' and query_start < clock_timestamp() - interval '2 seconds'
                     and query like '%pg_logical_emit_message(true, ''keymeter''%')
                   as "lost!""#
            )
            .fetch_one(conn)
            .await?;
            Ok((lost, Keep::Yes))
        });
        asked.await.unwrap_or(false)
    }
}

/// One wait.
struct Wait<T: Send + 'static> {
    /// None when it has ended.
    commit: Option<BoxFuture<'static, Result<T, StorageError>>>,
    number: u64,
    all: Arc<Durability>,
}

impl<T: Send + 'static> Wait<T> {
    async fn outcome(&mut self) -> Result<T, StorageError> {
        let Some(commit) = &mut self.commit else { return Err(StorageError::GivenUp) };
        let outcome = commit.await;
        self.commit = None;
        outcome
    }

    /// Waits until it ends, or until PostgreSQL knows nothing of it.
    async fn outlast(mut self) {
        while tokio::time::timeout(ASK_EVERY, self.outcome()).await.is_err() {
            if self.all.is_any_lost().await {
                tracing::warn!("a commit has no answer, and PostgreSQL waits for none; its connection is closed");
                self.commit = None;
            }
        }
    }
}

impl<T: Send + 'static> Drop for Wait<T> {
    fn drop(&mut self) {
        match (self.commit.take(), tokio::runtime::Handle::try_current()) {
            (Some(commit), Ok(runtime)) => {
                let rest = Self { commit: Some(commit), number: self.number, all: Arc::clone(&self.all) };
                runtime.spawn(rest.outlast());
            }
            (None, _) | (Some(_), Err(_)) => {
                self.all.waits().since.remove(&self.number);
            }
        }
    }
}
