//! Writes audit entries of requests that write nothing else, such as reading a key. One task writes the entries of all
//! waiting requests in one statement, so that many requests share one fsync. The queue is bounded; a request that does
//! not fit is refused at once.

use tokio::sync::{mpsc, oneshot};

use crate::domain::audit::AuditEntry;
use crate::storage::{Conn, Db, StorageError, audit};

/// Maximum number of waiting requests, and of requests in one statement. A request has up to a hundred entries.
const QUEUE: usize = 1_024;

/// The outcome of a batch, for each request in it.
type Outcome = Result<(), StorageError>;

/// The entries of one request, and the channel for its outcome.
struct Waiting {
    entries: Vec<AuditEntry>,
    reply: oneshot::Sender<Outcome>,
}

/// A handle of the writer. The writer stops when the last handle is dropped.
#[derive(Debug, Clone)]
pub struct AuditWriter(mpsc::Sender<Waiting>);

impl AuditWriter {
    /// Starts the writer.
    pub fn start(db: Db) -> Self {
        let (sender, receiver) = mpsc::channel(QUEUE);
        tokio::spawn(write_batches(db, receiver));
        Self(sender)
    }

    /// Returns when the entries are committed.
    ///
    /// # Errors
    /// The queue is full; the database, and then none of the entries was written.
    pub async fn write(&self, entries: Vec<AuditEntry>) -> Outcome {
        if entries.is_empty() {
            return Ok(());
        }
        let (reply, outcome) = oneshot::channel();
        self.0.try_send(Waiting { entries, reply }).map_err(|_| StorageError::Busy)?;
        outcome.await.unwrap_or_else(|_| Err(StorageError::GivenUp))
    }
}

/// Writes whatever waits as one batch, until the last handle is dropped.
async fn write_batches(db: Db, mut receiver: mpsc::Receiver<Waiting>) {
    let mut batch = Vec::new();
    while receiver.recv_many(&mut batch, QUEUE).await > 0 {
        let (entries, replies): (Vec<_>, Vec<_>) = batch.drain(..).map(|one| (one.entries, one.reply)).unzip();
        let entries: Vec<AuditEntry> = entries.into_iter().flatten().collect();
        let outcome = db.change_reserved(async |conn: &mut Conn| audit::insert_many(conn, &entries).await).await;
        for reply in replies {
            // A cancelled request needs no outcome.
            let _ = reply.send(outcome.clone());
        }
    }
}
