//! Expires reservations whose time is over. The ledger does it, so that it is ordered among charges; the servers do not
//! take turns, because expiring is idempotent.

use std::sync::Arc;
use std::time::Duration;

use tracing::Instrument;

use super::Finished;
use crate::domain::bounds;
use crate::domain::clock::Clock;
use crate::service::ledger::{Ledger, LedgerError};
use crate::storage::{Db, StorageError, reservations};
use crate::telemetry::jobs::JobMetrics;

/// For the log and the metric.
pub(super) const NAME: &str = "expire reservations";

/// How often overdue reservations are looked for. Their quota has to be back within 30 s.
const INTERVAL: Duration = Duration::from_secs(10);

/// The same after a round that left some.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// How many reservations are expired at once.
const LIMIT: i64 = 1_000;

/// Expires reservations for as long as the ledger lives.
pub async fn expire_reservations(
    db: Db,
    clock: Arc<dyn Clock>,
    ledger: impl Fn() -> Option<Arc<Ledger>>,
    metrics: JobMetrics,
) {
    let mut ticks = tokio::time::interval(INTERVAL);
    loop {
        ticks.tick().await;
        let Some(ledger) = ledger() else {
            return;
        };
        let span = tracing::error_span!("job", job = NAME);
        match expire_overdue(&db, &clock, &ledger, bounds::CHARGE_ON_EXPIRY_AFTER).instrument(span).await {
            Ok(Finished::Yes) => metrics.succeeded(NAME, clock.now().get()),
            Ok(Finished::Later) => ticks.reset_after(RETRY_AFTER),
            Err(error) => tracing::warn!(job = NAME, %error, "a job failed; the next round tries again"),
        }
    }
}

/// Expires every reservation whose time is over. Those whose hold is charged then are left until the database has been
/// reachable for `charge_after`.
///
/// # Errors
/// The database failed.
pub async fn expire_overdue(
    db: &Db,
    clock: &Arc<dyn Clock>,
    ledger: &Ledger,
    charge_after: Duration,
) -> Result<Finished, StorageError> {
    // Owners whose wallets another transaction has locked, or whose expiries the full ledger refused. The next round
    // tries them.
    let mut blocked = Vec::new();
    loop {
        let overdue = {
            let mut conn = db.acquire().await?;
            // First the time: a clock that is set in between counts as unreachable before it shows another time.
            let now = clock.now();
            let charged = clock.reachable_for() >= charge_after;
            reservations::list_overdue(&mut conn, now, charged, &blocked, LIMIT).await?
        };
        let expired = overdue.iter().map(|reservation| ledger.expire(*reservation));
        let expired = futures_util::future::join_all(expired).await;
        let is_last = i64::try_from(expired.len()).unwrap_or(0) < LIMIT;
        for (reservation, outcome) in overdue.into_iter().zip(expired) {
            match outcome {
                // One that was settled meanwhile is refused; leaving its owner out ends this loop.
                Ok(_) => {}
                Err(LedgerError::Refused(_)) if is_last => {}
                Err(LedgerError::Refused(_) | LedgerError::Busy) => blocked.push(reservation.owner),
                Err(LedgerError::Storage(error)) => return Err(error),
                Err(error) => {
                    tracing::warn!(job = NAME, %error, "reservations were not expired; the next round tries again");
                    return Ok(Finished::Later);
                }
            }
        }
        if is_last {
            if blocked.is_empty() {
                return Ok(Finished::Yes);
            }
            tracing::warn!(
                job = NAME,
                owners = blocked.len(),
                "wallets are locked or the ledger is busy; the next round expires these reservations"
            );
            return Ok(Finished::Later);
        }
    }
}
