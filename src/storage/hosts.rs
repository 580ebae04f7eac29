//! The servers of PostgreSQL that the settings name, and the one that takes writes.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
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

    /// Asks all of several at once, and makes the one that takes writes the current one; of two, which an operator must
    /// not let happen, the one that was promoted last. Without one, the current one stays if it answers, else a standby
    /// that does.
    pub(super) async fn find_primary(&self) {
        if !self.are_several() {
            return;
        }
        let answers = join_all(self.all.iter().map(ask)).await;
        let current = self.index();
        let primary = answers.iter().enumerate().filter_map(|(index, answer)| match answer {
            Answer::Primary { timeline } => Some((timeline, index == current, index)),
            Answer::Standby | Answer::None => None,
        });
        let is_standby = |index: &usize| matches!(answers[*index], Answer::Standby);
        let standby = std::iter::once(current).chain(0..answers.len()).find(is_standby);
        let found = primary.max().map(|(.., index)| index).or(standby);
        self.current.store(found.unwrap_or(current), Ordering::Relaxed);
    }
}

/// What a server says.
enum Answer {
    /// It takes writes. The timeline is hexadecimal, and grows with each promotion.
    Primary {
        timeline: String,
    },
    Standby,
    None,
}

async fn ask(options: &PgConnectOptions) -> Answer {
    let asked = async {
        let mut conn = options.connect().await?;
        let timeline = sqlx::query_scalar!(
            r#"select case when current_setting('transaction_read_only') = 'off'
               then left(pg_walfile_name(pg_current_wal_lsn()), 8) end"#
        )
        .fetch_one(&mut conn)
        .await?;
        conn.close().await?;
        Ok::<_, sqlx::Error>(timeline)
    };
    match tokio::time::timeout(LIMIT, asked).await {
        Ok(Ok(Some(timeline))) => Answer::Primary { timeline },
        Ok(Ok(None)) => Answer::Standby,
        Ok(Err(_)) | Err(_) => Answer::None,
    }
}
