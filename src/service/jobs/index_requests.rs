//! Indexes the requests of ended days by their ids, so that each is found (spec §13.8). A build can take minutes, so
//! it has a connection of its own, and the other jobs go on. A server that is killed leaves a part of an index, which
//! the next build of that day drops.

use std::time::Duration;

use tracing::Instrument;

use super::Finished;
use crate::domain::time::{DAY, UnixTime};
use crate::storage::{self, Db, StorageError, request_index};
use crate::telemetry::jobs::JobMetrics;

/// For the log and the metric.
pub(super) const NAME: &str = "index requests of ended days";

/// How often a day without an index is looked for. Days that ended before this program are indexed one by one.
const INTERVAL: Duration = Duration::from_mins(1);

/// The same after a failure: the disk may have no room for the index, and each build fills it again.
const RETRY_AFTER: Duration = Duration::from_hours(1);

/// How long a day stays open after its end: no charge comes late by so much.
const OPEN_SECONDS: i64 = 3_600;

/// Indexes days for as long as the server runs.
pub async fn index_requests(db: Db, retention_days: u32, metrics: JobMetrics) {
    let mut ticks = tokio::time::interval(INTERVAL);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        ticks.tick().await;
        if db.is_stalled() {
            continue;
        }
        let span = tracing::error_span!("job", job = NAME);
        let round = async {
            let now = storage::read_clock(&mut *db.acquire().await?).await?.seconds();
            index_one_day(&db, now, retention_days).await.map(|finished| (finished, now))
        };
        match round.instrument(span).await {
            // A round indexes one day at most.
            Ok((_, now)) => metrics.succeeded(NAME, now.get()),
            Err(error) => {
                tracing::warn!(job = NAME, %error, "a job failed; it is tried again in an hour");
                ticks.reset_after(RETRY_AFTER);
            }
        }
    }
}

/// Indexes the newest ended day that has no index, if there is one; then others may be left. While another server does
/// it, nothing is left to do here.
///
/// # Errors
/// The database failed.
pub async fn index_one_day(db: &Db, now: UnixTime, retention_days: u32) -> Result<Finished, StorageError> {
    // Older days are about to be dropped.
    let since = now.utc_midnight().plus(-DAY * i64::from(retention_days));
    let before = now.plus(-OPEN_SECONDS).utc_midnight();
    if request_index::find_unindexed_day(&mut *db.acquire().await?, since, before).await?.is_none() {
        return Ok(Finished::Yes);
    }
    let mut conn = db.connect_unlimited().await?;
    if !request_index::lock(&mut conn).await? {
        return Ok(Finished::Yes);
    }
    // Another server may have indexed it meanwhile.
    let Some(day) = request_index::find_unindexed_day(&mut conn, since, before).await? else {
        return Ok(Finished::Yes);
    };
    tracing::info!(partition = %day, "indexing the requests of a day");
    let built = request_index::build(&mut conn, &day).await;
    if built.is_err() {
        // It takes room on the disk.
        let _ = request_index::drop_rest(&mut conn, &day).await;
    }
    // If that fails, the lock ends with the connection.
    let _ = request_index::unlock(&mut conn).await;
    built.map(|()| Finished::Later)
}
