//! What has to be done again and again. Each step is a transaction of its own, so it can be killed
//! at any point, and runs on one server at a time.

use std::sync::Arc;
use std::time::Duration;

use super::gateway::{Gateway, Ticket};
use super::limiter::Limiter;
use crate::domain::policy;
use crate::domain::time::{Clock, DAY};
use crate::storage::{self, Db, StorageError, access_tokens, ledger, sessions};

/// Expired reservations give their quota back within 30 s: looked for three times as often.
const EXPIRE_EVERY: Duration = Duration::from_secs(10);

/// Partitions, receipts, sessions, buckets.
const TIDY_EVERY: Duration = Duration::from_mins(1);

/// Reservations expired in one go.
const OVERDUE: i64 = 1_000;

/// Days of partitions made ahead.
const DAYS_AHEAD: i64 = 7;

/// The jobs of a server.
#[derive(Debug)]
pub struct Jobs {
    db: Db,
    clock: Arc<dyn Clock>,
    limiter: Arc<Limiter>,
    retention_days: u32,
}

impl Jobs {
    /// Jobs on `db`; single charges are kept for `retention_days`.
    #[must_use]
    pub const fn new(db: Db, clock: Arc<dyn Clock>, limiter: Arc<Limiter>, retention_days: u32) -> Self {
        Self { db, clock, limiter, retention_days }
    }

    /// Expires reservations for as long as the server lives.
    pub async fn expire(db: Db, clock: Arc<dyn Clock>, gateway: impl Fn() -> Option<Arc<Gateway>>) {
        let mut ticks = tokio::time::interval(EXPIRE_EVERY);
        loop {
            ticks.tick().await;
            let Some(gateway) = gateway() else {
                return;
            };
            if let Err(error) = expire_overdue(&db, &clock, &gateway).await {
                tracing::warn!(%error, "overdue reservations were not looked for; the next round tries again");
            }
        }
    }

    /// Tidies up for as long as the server lives.
    pub async fn tidy(self) {
        let mut ticks = tokio::time::interval(TIDY_EVERY);
        loop {
            ticks.tick().await;
            self.limiter.tidy();
            if let Err(error) = self.tidy_database().await {
                tracing::warn!(%error, "tidying up was not finished; the next minute tries again");
            }
        }
    }

    /// One round of it.
    ///
    /// # Errors
    /// The database.
    pub async fn tidy_database(&self) -> Result<(), StorageError> {
        let now = self.clock.now();
        let today = now.utc_midnight();
        let mut tx = self.db.begin().await?;
        if !ledger::may_tidy(&mut tx).await? {
            return Ok(());
        }
        for ahead in -1..=DAYS_AHEAD {
            ledger::make_partition(&mut tx, today.plus(ahead * DAY)).await?;
        }
        let dropped = ledger::drop_partitions(&mut tx, today.plus(-DAY * i64::from(self.retention_days))).await?;
        let receipts = ledger::prune_receipts(&mut tx, now.plus(-policy::RECEIPT_SECONDS)).await?;
        let reservations = ledger::prune_reservations(&mut tx, now.plus(-policy::RECEIPT_SECONDS)).await?;
        let sessions = sessions::remove_expired(&mut tx, now).await?;
        access_tokens::remove_expired(&mut tx, now, policy::ACCESS_TOKENS_CLEARED).await?;
        storage::commit(tx).await?;
        tracing::debug!(dropped, receipts, reservations, sessions, "tidied up");
        Ok(())
    }
}

/// Ends what is overdue, through the ledger like everything else.
///
/// # Errors
/// The database.
pub async fn expire_overdue(db: &Db, clock: &Arc<dyn Clock>, gateway: &Gateway) -> Result<(), StorageError> {
    loop {
        let overdue = {
            let mut conn = db.acquire().await?;
            ledger::list_overdue(&mut conn, clock.now(), OVERDUE).await?
        };
        let tickets = overdue.iter().map(|(reservation, owner)| Ticket { owner: *owner, reservation: *reservation });
        let ended = futures_util::future::join_all(tickets.map(|ticket| gateway.expire(ticket))).await;
        // What was not ended now is still overdue at the next round.
        if i64::try_from(overdue.len()).unwrap_or(0) < OVERDUE || ended.iter().any(Result::is_err) {
            return Ok(());
        }
    }
}
