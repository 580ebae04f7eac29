//! The index of ended days by the ids of requests: each partition of `charges` gets one of its own, after its day.
//! Those of open days have none, so charges pay nothing for it. It goes with its partition.
//!
//! It is built concurrently: no charge and no reader waits for it. Its lock on the one partition (`SHARE UPDATE
//! EXCLUSIVE`) keeps out only what cleans that up, changes its definition or drops it. It locks no other table, and
//! waits for transactions that began before it.

use sqlx::{AssertSqlSafe, Executor};

use super::{Conn, StorageError};
use crate::domain::time::UnixTime;

/// A partition without the index. The names are quoted.
#[derive(Debug)]
pub struct UnindexedDay {
    partition: String,
    index: String,
    /// An index that was not built to its end.
    has_rest: bool,
}

impl std::fmt::Display for UnindexedDay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.partition)
    }
}

/// Returns true if this connection may build an index. No other one may until it is closed.
pub async fn lock(conn: &mut Conn) -> Result<bool, StorageError> {
    // An arbitrary number that no other advisory lock uses.
    let may = sqlx::query_scalar!(r#"select pg_try_advisory_lock(1953064059) as "may!""#).fetch_one(conn).await?;
    Ok(may)
}

/// Ends the [`lock`] at once: PostgreSQL notices only a moment later that a connection was closed.
pub async fn unlock(conn: &mut Conn) -> Result<(), StorageError> {
    sqlx::query_scalar!(r#"select pg_advisory_unlock(1953064059) as "was_locked!""#).fetch_one(conn).await?;
    Ok(())
}

/// The newest of the UTC days from that of `since` to that before `before` whose partition has no index, or a rest of
/// one.
pub async fn find_unindexed_day(
    conn: &mut Conn,
    since: UnixTime,
    before: UnixTime,
) -> Result<Option<UnindexedDay>, StorageError> {
    let row = sqlx::query!(
        r#"select quote_ident(t.relname) as "partition!", quote_ident(t.relname || '_by_request') as "index!",
             x.oid is not null as "has_rest!"
           from pg_inherits h join pg_class t on t.oid = h.inhrelid
           left join pg_class x on x.relname = t.relname || '_by_request' and x.relnamespace = t.relnamespace
           left join pg_index i on i.indexrelid = x.oid
           where h.inhparent = 'charges'::regclass and t.relname ~ '^charges_[0-9]{8}$'
             and t.relname >= charges_partition_name($1) and t.relname < charges_partition_name($2)
             and i.indisvalid is not true
           order by t.relname desc limit 1"#,
        since as UnixTime,
        before as UnixTime
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| UnindexedDay { partition: row.partition, index: row.index, has_rest: row.has_rest }))
}

/// Builds the index of a day, on a connection that has the [`lock`] and no limit of time, outside of a transaction. A
/// rest of one is dropped before. One that is cut off leaves a rest.
pub async fn build(conn: &mut Conn, day: &UnindexedDay) -> Result<(), StorageError> {
    let UnindexedDay { partition, index, has_rest } = day;
    if *has_rest {
        drop_rest(conn, day).await?;
    }
    let sql = format!("create index concurrently {index} on {partition} using hash (request_id)");
    conn.execute(AssertSqlSafe(sql)).await?;
    Ok(())
}

/// Drops what is left of an index that was not built to its end.
pub async fn drop_rest(conn: &mut Conn, day: &UnindexedDay) -> Result<(), StorageError> {
    conn.execute(AssertSqlSafe(format!("drop index concurrently if exists {}", day.index))).await?;
    Ok(())
}
