//! The servers of PostgreSQL that the settings name, and the one that takes writes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};

/// How long a server may take to answer.
const LIMIT: Duration = Duration::from_secs(2);

/// One server, or several of which one takes writes at a time.
#[derive(Debug)]
pub struct Hosts {
    all: Vec<PgConnectOptions>,
    /// The index of the one to connect to.
    current: AtomicUsize,
}

impl Hosts {
    /// The first of them is connected to until another one is known to take writes.
    pub fn new(first: PgConnectOptions, others: impl IntoIterator<Item = PgConnectOptions>) -> Self {
        Self { all: std::iter::once(first).chain(others).collect(), current: AtomicUsize::new(0) }
    }

    /// How to connect to the current one.
    pub fn current(&self) -> &PgConnectOptions {
        &self.all[self.index()]
    }

    /// All of them, for messages.
    pub fn all(&self) -> &[PgConnectOptions] {
        &self.all
    }

    pub(super) fn are_several(&self) -> bool {
        self.all.len() > 1
    }

    /// Changes with the current one.
    pub(super) fn index(&self) -> usize {
        self.current.load(Ordering::Relaxed)
    }

    /// Asks all of several at once, and makes the first that takes writes the current one; without one, the current one
    /// stays if it answers, else a standby that does.
    pub(super) async fn find_primary(&self) {
        if !self.are_several() {
            return;
        }
        let ask = |(index, options)| async move { (index, takes_writes(options).await) };
        let mut answers: FuturesUnordered<_> = self.all.iter().enumerate().map(ask).collect();
        let (mut standby, current) = (None, self.index());
        while let Some((index, answer)) = answers.next().await {
            match answer {
                Some(true) => return self.current.store(index, Ordering::Relaxed),
                Some(false) if index == current || standby.is_none() => standby = Some(index),
                Some(false) | None => {}
            }
        }
        self.current.store(standby.unwrap_or(current), Ordering::Relaxed);
    }
}

/// `None` if the server does not answer.
async fn takes_writes(options: &PgConnectOptions) -> Option<bool> {
    let asked = async {
        let mut conn = options.connect().await?;
        let takes = sqlx::query_scalar!(r#"select current_setting('transaction_read_only') = 'off' as "takes!""#)
            .fetch_one(&mut conn)
            .await?;
        conn.close().await?;
        Ok::<_, sqlx::Error>(takes)
    };
    tokio::time::timeout(LIMIT, asked).await.ok()?.ok()
}
