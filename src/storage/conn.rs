//! Connections and transactions, the clock, and when a commit is durable.

use std::sync::Arc;

use sqlx::{Connection, Postgres};

use super::errors::StorageError;
use crate::domain::time::Micros;
use crate::telemetry::warnings;

/// A connection, in a transaction or not.
pub type Conn = sqlx::PgConnection;

/// A connection that returns to its pool when it is dropped.
pub type PoolConnection = sqlx::pool::PoolConnection<Postgres>;

/// A transaction that reads; see [`end`].
pub type ReadTx = sqlx::Transaction<'static, Postgres>;

/// The database's clock, the only one that decides. No other statement reads it: the time is a parameter, so that all
/// of a transaction has one time, taken after its locks.
pub async fn read_clock(conn: &mut Conn) -> Result<Micros, StorageError> {
    let now = sqlx::query_scalar!(
        r#"select floor(extract(epoch from clock_timestamp()) * 1000000)::bigint as "now!: Micros""#
    )
    .fetch_one(conn)
    .await?;
    Ok(now)
}

pub(super) const BEGIN_ASYNCHRONOUS: &str = "begin; set local synchronous_commit = off";

/// Begins a transaction whose commit does not wait for the disk, so that others get its locks sooner. Nobody may be
/// told of what it did before `flush` has succeeded on this connection.
pub async fn begin_asynchronous(conn: &mut Conn) -> Result<sqlx::Transaction<'_, Postgres>, StorageError> {
    Ok(conn.begin_with(BEGIN_ASYNCHRONOUS).await?)
}

/// The same, for a batch that waits for locked rows: for a moment, because it holds the rows that it has locked
/// meanwhile.
pub async fn begin_asynchronous_and_wait(conn: &mut Conn) -> Result<sqlx::Transaction<'_, Postgres>, StorageError> {
    Ok(conn.begin_with("begin; set local synchronous_commit = off; set local lock_timeout = '100ms'").await?)
}

/// Waits until everything that this connection committed or has seen is on disk, and on synchronous standbys. On this
/// connection alone: a crash of PostgreSQL that loses some of it ends the connection as well, so this fails.
///
/// It commits a message in PostgreSQL's log, which all of that precedes. A standby can write none and is not waited
/// for: what it shows is as durable as its replication is.
///
/// If this fails, for whatever reason, any of that may be on disk or not; so the error is always
/// [`StorageError::Unavailable`] or [`StorageError::NotDurable`].
pub(super) async fn flush(conn: &mut Conn) -> Result<(), StorageError> {
    let message = sqlx::query!(
        r#"select case when pg_is_in_recovery() then false
             else set_config('synchronous_commit', case current_setting('synchronous_commit')
               when 'remote_apply' then 'remote_apply' else 'on' end, true) <> 'off'
               and pg_logical_emit_message(true, 'keymeter', ''::text) is not null end as "is_logged!""#
    )
    .fetch_one(conn);
    let flushed = async { message.await.map_err(|error| StorageError::Unavailable(Arc::new(error))) };
    durable(flushed).await?;
    Ok(())
}

/// A commit, which fails if PostgreSQL stopped to wait for the disk or a standby: then it reports success, with a
/// warning. It has no other warning for a commit.
async fn durable<T>(commit: impl Future<Output = Result<T, StorageError>>) -> Result<T, StorageError> {
    let (committed, is_warned) = warnings::noted(commit).await;
    if is_warned { committed.and(Err(StorageError::NotDurable)) } else { committed }
}

/// Rolls a transaction back. One that is dropped is rolled back as well, but some time later, and keeps its locks until
/// then.
pub async fn rollback(tx: sqlx::Transaction<'_, Postgres>) -> Result<(), StorageError> {
    Ok(tx.rollback().await?)
}

/// Commits a transaction that [`begin_asynchronous`] began.
pub async fn commit_asynchronous(tx: sqlx::Transaction<'_, Postgres>) -> Result<(), StorageError> {
    Ok(tx.commit().await?)
}

/// Ends a transaction that has read.
pub async fn end(tx: ReadTx) -> Result<(), StorageError> {
    Ok(tx.commit().await?)
}
