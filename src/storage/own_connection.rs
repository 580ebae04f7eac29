//! A connection of its own, for questions that must be answered when every other one is in use.

use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};
use tokio::sync::Mutex;

use super::conn::Conn;
use super::errors::StorageError;
use super::pool::no_answer;

/// How long a question may take, with opening the connection and waiting for the question before.
const LIMIT: Duration = Duration::from_secs(2);

/// A connection that is opened when it is needed, and used by one question at a time.
#[derive(Debug)]
pub(super) struct OwnConnection {
    options: PgConnectOptions,
    conn: Mutex<Option<Conn>>,
}

impl OwnConnection {
    pub(super) fn new(options: PgConnectOptions) -> Self {
        Self { options, conn: Mutex::default() }
    }

    /// Asks `question`. Keeps the connection if it says so.
    pub(super) async fn ask<T>(
        &self,
        question: impl AsyncFnOnce(&mut Conn) -> Result<(T, Keep), StorageError>,
    ) -> Result<T, StorageError> {
        let asked = async {
            let mut kept = self.conn.lock().await;
            // What fails or takes too long closes it.
            let mut conn = match kept.take() {
                Some(conn) => conn,
                None => self.options.connect().await?,
            };
            let (answer, keep) = question(&mut conn).await?;
            match keep {
                Keep::Yes => *kept = Some(conn),
                Keep::No => drop(conn.close().await),
            }
            Ok(answer)
        };
        tokio::time::timeout(LIMIT, asked).await.unwrap_or_else(|_| Err(no_answer().into()))
    }
}

/// Whether the connection is used again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Keep {
    Yes,
    No,
}
