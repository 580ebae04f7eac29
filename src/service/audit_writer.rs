//! Writes audit lines of calls that write nothing else, such as the reveal of a key: one writer takes all that wait,
//! writes them in one statement and answers their authenticator, so that many share one fsync. What waits is bounded, and what
//! does not fit is refused at once.

use std::sync::Arc;

use tokio::sync::{mpsc, oneshot};

use crate::domain::audit::AuditEntry;
use crate::storage::{Conn, Db, StorageError, audit};

/// Callers that may wait, and callers served by one statement, at most. A caller brings up to a hundred lines.
const QUEUE: usize = 1_024;

/// The outcome of a batch, for everybody in it.
type Written = Result<(), Arc<StorageError>>;

/// Lines of one caller, and where its answer is awaited.
struct Waiting {
    lines: Vec<AuditEntry>,
    tell: oneshot::Sender<Written>,
}

/// The way to the writer, which ends with it.
#[derive(Debug, Clone)]
pub struct AuditWriter(mpsc::Sender<Waiting>);

impl AuditWriter {
    /// Starts the writer.
    #[must_use]
    pub fn start(db: Db) -> Self {
        let (queue, waiting) = mpsc::channel(QUEUE);
        tokio::spawn(write_all(db, waiting));
        Self(queue)
    }

    /// Returns when the lines are in the database.
    ///
    /// # Errors
    /// Too many callers wait already; the database, and then none of the lines is written.
    pub async fn write(&self, lines: Vec<AuditEntry>) -> Written {
        if lines.is_empty() {
            return Ok(());
        }
        let (tell, told) = oneshot::channel();
        self.0.try_send(Waiting { lines, tell }).map_err(|_| Arc::new(StorageError::Busy))?;
        told.await.unwrap_or_else(|_| Err(Arc::new(StorageError::GivenUp)))
    }
}

/// Writes what waits, again and again, until nobody can ask any more.
async fn write_all(db: Db, mut waiting: mpsc::Receiver<Waiting>) {
    let mut batch = Vec::new();
    while waiting.recv_many(&mut batch, QUEUE).await > 0 {
        let (lines, callers): (Vec<_>, Vec<_>) = batch.drain(..).map(|one| (one.lines, one.tell)).unzip();
        let lines: Vec<AuditEntry> = lines.into_iter().flatten().collect();
        let written = db.bounded(async |conn: &mut Conn| audit::insert_many(conn, &lines).await).await;
        let written = written.map_err(Arc::new);
        for caller in callers {
            // Whoever left does not need to know.
            let _ = caller.send(written.clone());
        }
    }
}
