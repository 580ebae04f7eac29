//! A connection of its own, for questions that must be answered when every other one is in use.

use std::sync::Arc;
use std::time::Duration;

use sqlx::{ConnectOptions, Connection};
use tokio::sync::Mutex;

use super::conn::Conn;
use super::errors::{StorageError, no_answer};
use super::hosts::Hosts;
use super::session_settings::SessionSettings;

/// How long a question may take, with opening the connection and waiting for the question before.
const LIMIT: Duration = Duration::from_secs(2);

/// A connection that is opened when it is needed, and used by one question at a time.
#[derive(Debug)]
pub(super) struct OwnConnection {
    hosts: Arc<Hosts>,
    settings: Arc<SessionSettings>,
    conn: Mutex<Option<Kept>>,
}

/// An open connection.
#[derive(Debug)]
struct Kept {
    conn: Conn,
    /// [`Hosts::index`] of its server.
    host: usize,
}

impl OwnConnection {
    pub(super) fn new(hosts: Arc<Hosts>, settings: Arc<SessionSettings>) -> Self {
        Self { hosts, settings, conn: Mutex::default() }
    }

    /// Asks `question`. Keeps the connection if it says so.
    pub(super) async fn ask<T>(
        &self,
        question: impl AsyncFn(&mut Conn) -> Result<(T, Keep), StorageError>,
    ) -> Result<T, StorageError> {
        let asked = async {
            let mut kept = self.conn.lock().await;
            // What fails or takes too long closes it. One that was kept may be dead by now: another is asked then.
            let host = self.hosts.index();
            if let Some(Kept { mut conn, host: of }) = kept.take()
                && of == host
                && let Ok((answer, keep)) = question(&mut conn).await
            {
                kept_again(&mut kept, Kept { conn, host }, keep).await;
                return Ok(answer);
            }
            let mut conn = self.settings.asked_for(self.hosts.current().clone()).connect().await?;
            let (answer, keep) = question(&mut conn).await?;
            kept_again(&mut kept, Kept { conn, host }, keep).await;
            Ok(answer)
        };
        tokio::time::timeout(LIMIT, asked).await.unwrap_or_else(|_| Err(no_answer().into()))
    }
}

async fn kept_again(kept: &mut Option<Kept>, asked: Kept, keep: Keep) {
    match keep {
        Keep::Yes => *kept = Some(asked),
        Keep::No => drop(asked.conn.close().await),
    }
}

/// Whether the connection is used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    Yes,
    No,
}
