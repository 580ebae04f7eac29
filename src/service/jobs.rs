//! What has to be done again and again. Each step is a short transaction of its own, so it can be killed at any point,
//! and one server at a time does it.
//!
//! A server whose clock is far from the database's does none of it: it would expire what is not due. What is deleted
//! for its age is deleted by the database's clock.

use std::sync::Arc;
use std::time::Duration;

use super::ledger::Ledger;
use super::rate_limiter::RateLimiter;
use crate::domain::policy;
use crate::domain::time::{Clock, DAY, UnixTime};
use crate::storage::{self, Conn, Db, StorageError, access_tokens, reservations, retention, sessions};

/// Expired reservations give their quota back within 30 s: looked for three times as often.
const EXPIRE_EVERY: Duration = Duration::from_secs(10);

/// Partitions, receipts, sessions, buckets.
const TIDY_EVERY: Duration = Duration::from_mins(1);

/// Reservations expired in one go.
const OVERDUE: i64 = 1_000;

/// Days of partitions made ahead: a backup that takes days delays them, and no charge misses them.
const DAYS_AHEAD: i64 = 7;

/// The jobs of a server.
#[derive(Debug)]
pub struct Jobs {
    db: Db,
    clock: Arc<dyn Clock>,
    rate_limiter: Arc<RateLimiter>,
    rules: JobRules,
}

/// What an operator decides about the jobs.
#[derive(Debug, Clone, Copy)]
pub struct JobRules {
    /// Days for which single charges are kept.
    pub retention_days: u32,
    /// Seconds by which this server's clock may differ from the database's.
    pub max_clock_skew: i64,
}

impl Jobs {
    /// Jobs on `db`.
    #[must_use]
    pub const fn new(db: Db, clock: Arc<dyn Clock>, rate_limiter: Arc<RateLimiter>, rules: JobRules) -> Self {
        Self { db, clock, rate_limiter, rules }
    }

    /// Expires reservations for as long as the gateway service lives.
    pub async fn expire(db: Db, clock: Arc<dyn Clock>, max_clock_skew: i64, service: impl Fn() -> Option<Arc<Ledger>>) {
        let mut ticks = tokio::time::interval(EXPIRE_EVERY);
        loop {
            ticks.tick().await;
            let Some(ledger) = service() else {
                return;
            };
            let expired = async {
                match trusted_now(&db, &*clock, max_clock_skew).await? {
                    Some(_) => expire_overdue(&db, &clock, &ledger).await,
                    None => Ok(()),
                }
            };
            if let Err(error) = expired.await {
                tracing::warn!(%error, "overdue reservations were not looked for; the next round tries again");
            }
        }
    }

    /// Tidies up for as long as the server lives.
    pub async fn tidy(self) {
        let mut ticks = tokio::time::interval(TIDY_EVERY);
        loop {
            ticks.tick().await;
            self.rate_limiter.tidy();
            if let Err(error) = self.tidy_database().await {
                tracing::warn!(%error, "tidying up was not finished; the next minute tries again");
            }
        }
    }

    /// One round of it, by the database's clock.
    ///
    /// # Errors
    /// The database.
    pub async fn tidy_database(&self) -> Result<(), StorageError> {
        match trusted_now(&self.db, &*self.clock, self.rules.max_clock_skew).await? {
            Some(now) => self.tidy_as_of(now).await,
            None => Ok(()),
        }
    }

    /// The same as of a given time. A step that fails keeps no other from being done.
    ///
    /// # Errors
    /// The first failure, after every step was tried.
    pub async fn tidy_as_of(&self, now: UnixTime) -> Result<(), StorageError> {
        let kept_since = now.utc_midnight().plus(-DAY * i64::from(self.rules.retention_days));
        let forgotten = now.plus(-policy::RECEIPT_SECONDS);
        let mut outcome = self.make_partitions(now).await;
        for step in [
            Step::DropPartition { before: kept_since },
            Step::RemoveChargesWithoutPartition { before: kept_since },
            Step::DeleteIdempotencyRecords { before: forgotten },
            Step::RemoveReservations { before: forgotten },
            Step::RemoveSessions { before: now },
            Step::RemoveAccessTokens { before: now },
            Step::AnalyzeTable,
        ] {
            outcome = outcome.and(self.repeat(step).await);
        }
        outcome
    }

    /// Makes the partitions of the days to come, those that can be made without making anyone wait.
    async fn make_partitions(&self, now: UnixTime) -> Result<(), StorageError> {
        let missing = {
            let mut conn = self.db.acquire().await?;
            retention::list_missing_partitions(&mut conn, now.plus(-DAY), now.plus(DAYS_AHEAD * DAY)).await?
        };
        for day in missing {
            self.repeat(Step::MakePartition { day }).await?;
        }
        Ok(())
    }

    /// Does a step in short transactions, until nothing is left to do.
    async fn repeat(&self, step: Step) -> Result<(), StorageError> {
        loop {
            match self.try_once(step).await {
                Ok(Outcome::MoreToDo) => {}
                Ok(Outcome::Done) => return Ok(()),
                Err(StorageError::Locked(reason)) => {
                    tracing::info!(%reason, ?step, "somebody reads what this step needs; the next minute tries again");
                    return Ok(());
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Does a step once, in a transaction of its own, unless another server is doing one.
    async fn try_once(&self, step: Step) -> Result<Outcome, StorageError> {
        let mut tx = self.db.begin().await?;
        if !retention::lock(&mut tx).await? {
            return Ok(Outcome::Done);
        }
        let outcome = step.run(&mut tx).await?;
        storage::commit(tx).await?;
        Ok(outcome)
    }
}

/// One step of tidying up.
#[derive(Debug, Clone, Copy)]
enum Step {
    MakePartition { day: UnixTime },
    DropPartition { before: UnixTime },
    RemoveChargesWithoutPartition { before: UnixTime },
    DeleteIdempotencyRecords { before: UnixTime },
    RemoveReservations { before: UnixTime },
    RemoveSessions { before: UnixTime },
    RemoveAccessTokens { before: UnixTime },
    AnalyzeTable,
}

/// What a step leaves.
enum Outcome {
    MoreToDo,
    Done,
}

impl Step {
    async fn run(self, conn: &mut Conn) -> Result<Outcome, StorageError> {
        let is_done = match self {
            Self::MakePartition { day } => {
                retention::make_partition(conn, day).await?;
                true
            }
            Self::DropPartition { before } => !retention::drop_oldest_partition(conn, before).await?,
            Self::RemoveChargesWithoutPartition { before } => {
                retention::delete_charges_without_partition(conn, before).await? < retention::BATCH
            }
            Self::DeleteIdempotencyRecords { before } => {
                retention::delete_idempotency_records(conn, before).await? < retention::BATCH
            }
            Self::RemoveReservations { before } => {
                retention::delete_reservations(conn, before).await? < retention::BATCH
            }
            Self::RemoveSessions { before } => sessions::delete_expired(conn, before).await? < retention::BATCH,
            Self::RemoveAccessTokens { before } => {
                access_tokens::delete_expired(conn, before).await? < retention::BATCH
            }
            Self::AnalyzeTable => match retention::analyze_one_table(conn).await? {
                Some(table) => {
                    tracing::info!(table, "analysed a table that had no statistics");
                    false
                }
                None => true,
            },
        };
        Ok(if is_done { Outcome::Done } else { Outcome::MoreToDo })
    }
}

/// What the database's clock says; nothing if this server's own clock is too far from it to be trusted.
async fn trusted_now(db: &Db, clock: &dyn Clock, max_skew: i64) -> Result<Option<UnixTime>, StorageError> {
    let now = storage::now(&mut *db.acquire().await?).await?;
    let skew = clock.now().since(now);
    if skew.abs() <= max_skew {
        return Ok(Some(now));
    }
    tracing::error!(
        skew_seconds = skew,
        "this server's clock is too far from the database's: it is not ready, deletes nothing and expires nothing; \
         correct the clock (NTP)"
    );
    Ok(None)
}

/// Ends what is overdue, through the ledger like everything else.
///
/// # Errors
/// The database.
pub async fn expire_overdue(db: &Db, clock: &Arc<dyn Clock>, service: &Ledger) -> Result<(), StorageError> {
    loop {
        let overdue = {
            let mut conn = db.acquire().await?;
            reservations::list_overdue(&mut conn, clock.now(), OVERDUE).await?
        };
        let overdue = overdue.into_iter();
        let ended = futures_util::future::join_all(overdue.map(|handle| service.expire(handle))).await;
        // What was not ended now is still overdue at the next round.
        if i64::try_from(ended.len()).unwrap_or(0) < OVERDUE || ended.iter().any(Result::is_err) {
            return Ok(());
        }
    }
}
