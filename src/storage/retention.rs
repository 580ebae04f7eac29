//! Maintenance of the tables: partitions of `charges`, deletion of old rows, statistics.
//!
//! Every function here is for a short transaction of its own. None waits for a reader, because others would wait behind
//! it.

use super::{Conn, StorageError};
use crate::domain::time::UnixTime;

/// The most rows that one call deletes, so that its transaction stays short.
pub const BATCH: u64 = 5_000;

/// [`BATCH`] as a `bigint`.
pub(super) const BATCH_ROWS: i64 = BATCH.cast_signed();

/// Returns true if this server may work on the tables. No other server may until the transaction ends.
pub async fn lock(conn: &mut Conn) -> Result<bool, StorageError> {
    // An arbitrary number that no other advisory lock uses.
    let may = sqlx::query_scalar!(r#"select pg_try_advisory_xact_lock(1953064057) as "may!""#).fetch_one(conn).await?;
    Ok(may)
}

/// Lets this transaction wait at most 100 ms for a lock.
pub(super) async fn wait_briefly(conn: &mut Conn) -> Result<(), StorageError> {
    sqlx::query_scalar!(r#"select set_config('lock_timeout', '100ms', true) as "set!""#).fetch_one(conn).await?;
    Ok(())
}

/// The first seconds of the UTC days from the day of `first` to the day of `last` that need a partition, ascending.
pub async fn list_missing_partitions(
    conn: &mut Conn,
    first: UnixTime,
    last: UnixTime,
) -> Result<Vec<UnixTime>, StorageError> {
    let days = sqlx::query_scalar!(
        r#"select missing_charges_partitions($1, $2) as "day_start!: UnixTime""#,
        first.utc_midnight() as UnixTime,
        last.utc_midnight() as UnixTime
    )
    .fetch_all(conn)
    .await?;
    Ok(days)
}

/// Creates the partition of the UTC day that begins at `day_start`. [`StorageError::Blocked`] while another transaction
/// uses `charges_rest`.
pub async fn make_partition(conn: &mut Conn, day_start: UnixTime) -> Result<(), StorageError> {
    wait_briefly(conn).await?;
    sqlx::query!(r#"select make_charges_partition($1) as "made!: ()""#, day_start as UnixTime).execute(conn).await?;
    Ok(())
}

/// Drops the oldest partition of a UTC day before `day_start`. Returns true if there was one.
/// [`StorageError::Blocked`] while another transaction reads it.
pub async fn drop_oldest_partition(conn: &mut Conn, day_start: UnixTime) -> Result<bool, StorageError> {
    wait_briefly(&mut *conn).await?;
    let dropped =
        sqlx::query_scalar!(r#"select drop_oldest_charges_partition($1) as "dropped!""#, day_start as UnixTime)
            .fetch_one(conn)
            .await?;
    Ok(dropped)
}

/// Deletes charges made before `then` that are in no partition of a day, at most [`BATCH`]. Returns how many.
pub async fn delete_charges_without_partition(conn: &mut Conn, then: UnixTime) -> Result<u64, StorageError> {
    let done = sqlx::query!(
        "delete from charges_rest where ctid = any(array( \
         select ctid from charges_rest where at < $1 order by at limit $2))",
        then as UnixTime,
        BATCH_ROWS
    )
    .execute(&mut *conn)
    .await?;
    if done.rows_affected() > 0 {
        sqlx::query!("update installation set charges_since = greatest(charges_since, $1)", then as UnixTime)
            .execute(conn)
            .await?;
    }
    Ok(done.rows_affected())
}

/// Deletes idempotency records written before `then`, at most [`BATCH`]. Those of open reservations stay: a retry must
/// not hold quota beside the first hold. Returns how many.
pub async fn delete_idempotency_records(conn: &mut Conn, then: UnixTime) -> Result<u64, StorageError> {
    let done = sqlx::query!(
        "delete from idempotency_records where ctid = any(array( \
         select i.ctid from idempotency_records i where i.created_time < $1 and not exists ( \
           select 1 from reservations r where r.id = i.reservation_id and r.state = 'open') \
         order by i.created_time limit $2))",
        then as UnixTime,
        BATCH_ROWS
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected())
}

/// Deletes reservations that ended before `then`, at most [`BATCH`]. Returns how many.
pub async fn delete_reservations(conn: &mut Conn, then: UnixTime) -> Result<u64, StorageError> {
    let done = sqlx::query!(
        "delete from reservations where id = any(array(select id from reservations \
         where state <> 'open' and ended_time < $1 order by ended_time limit $2)) \
         and state <> 'open' and ended_time < $1",
        then as UnixTime,
        BATCH_ROWS
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected())
}

/// Analyses one table that has rows and no statistics. Returns its name, or none if no table is left.
pub async fn analyze_one_table(conn: &mut Conn) -> Result<Option<String>, StorageError> {
    wait_briefly(&mut *conn).await?;
    let name = sqlx::query_scalar!("select analyze_one_table()").fetch_one(conn).await?;
    Ok(name)
}
