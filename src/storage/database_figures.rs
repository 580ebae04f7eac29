//! Figures of the database for the metrics.

use super::{Conn, StorageError};
use crate::domain::time::UnixTime;

/// The most rows that are counted of a kind.
const MOST: i64 = 1_000_000;

/// What an operator watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct DatabaseFigures {
    /// Open reservations, up to a million.
    pub reservations_open: i64,
    /// For how long the oldest of them should have ended; 0 if none should.
    pub reservations_overdue_seconds: i64,
    /// Of the next seven UTC days, those that have a partition of charges.
    pub partitions_ahead_days: i64,
    /// Charges of days without a partition, up to a million.
    pub default_partition_rows: i64,
    pub database_bytes: i64,
    /// Size of yesterday's charges, less that of the day whose charges are dropped next, once some were: about what the
    /// database grows in a day.
    pub growth_bytes: i64,
    pub idempotency_records_bytes: i64,
    pub synchronous_standbys: i64,
    pub other_standbys: i64,
    /// Files of the log that could not be archived, since the statistics began.
    pub archiver_failed: i64,
}

/// Reads them as of now.
pub async fn read(conn: &mut Conn, now: UnixTime) -> Result<DatabaseFigures, StorageError> {
    let figures = sqlx::query_as!(
        DatabaseFigures,
        r#"select (select count(*) from (select from reservations where state = 'open' limit $3) r) as "reservations_open!",
           coalesce((select greatest($1 - min(expires_at), 0) from reservations where state = 'open'), 0)
             as "reservations_overdue_seconds!",
           (select count(*) from generate_series(1, 7) n
             where to_regclass(charges_partition_name($2 + n * 86400)) is not null) as "partitions_ahead_days!",
           (select count(*) from (select from charges_rest limit $3) r) as "default_partition_rows!",
           pg_database_size(current_database()) as "database_bytes!",
           greatest(coalesce(pg_total_relation_size(to_regclass(charges_partition_name($2 - 86400))), 0) - coalesce(
             (select pg_total_relation_size(to_regclass(charges_partition_name(charges_since))) from installation), 0), 0)
             as "growth_bytes!",
           pg_total_relation_size('idempotency_records') as "idempotency_records_bytes!",
           (select count(*) from pg_stat_replication where sync_state in ('sync', 'quorum')) as "synchronous_standbys!",
           (select count(*) from pg_stat_replication where sync_state is distinct from 'sync'
             and sync_state is distinct from 'quorum') as "other_standbys!",
           (select failed_count from pg_stat_archiver) as "archiver_failed!""#,
        now as UnixTime,
        now.utc_midnight() as UnixTime,
        MOST
    )
    .fetch_one(conn)
    .await?;
    Ok(figures)
}
