//! Writes audit lines of calls that write nothing else, such as the reveal of a key: all that wait
//! at a moment go into one statement and one fsync, and nobody is answered before that.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::oneshot;

use crate::domain::audit::AuditEntry;
use crate::storage::{Db, StorageError, audit};

/// The outcome of a batch, for everybody in it.
type Written = Result<(), Arc<StorageError>>;

/// Lines of one caller, and where its answer is awaited.
type Waiting = (Vec<AuditEntry>, oneshot::Sender<Written>);

/// Gathers lines while others are being written.
#[derive(Clone)]
pub struct Scribe(Arc<Desk>);

struct Desk {
    db: Db,
    waiting: Mutex<Vec<Waiting>>,
    /// Held by whoever writes for all.
    pen: tokio::sync::Mutex<()>,
}

impl Scribe {
    /// A scribe on `db`.
    #[must_use]
    pub fn new(db: Db) -> Self {
        Self(Arc::new(Desk { db, waiting: Mutex::default(), pen: tokio::sync::Mutex::default() }))
    }

    /// Returns when the lines are in the database. Whoever finds the pen free writes for all that
    /// wait, in a task of its own, so that a caller who leaves takes nobody along.
    ///
    /// # Errors
    /// The database; then none of the lines is written.
    pub async fn write(&self, lines: Vec<AuditEntry>) -> Written {
        let (tell, told) = oneshot::channel();
        self.0.waiting.lock().unwrap_or_else(PoisonError::into_inner).push((lines, tell));
        let desk = Arc::clone(&self.0);
        tokio::spawn(async move { desk.write_waiting().await });
        told.await.unwrap_or_else(|_| Err(Arc::new(StorageError::GivenUp)))
    }
}

impl Desk {
    async fn write_waiting(&self) {
        let _pen = self.pen.lock().await;
        let batch = std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner));
        if batch.is_empty() {
            return;
        }
        let (lines, callers): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
        let lines: Vec<AuditEntry> = lines.into_iter().flatten().collect();
        let written = async { audit::insert_many(&mut *self.db.acquire().await?, &lines).await };
        let written = written.await.map_err(Arc::new);
        for caller in callers {
            // Whoever left does not need to know.
            let _ = caller.send(written.clone());
        }
    }
}

impl std::fmt::Debug for Scribe {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Scribe(…)")
    }
}
