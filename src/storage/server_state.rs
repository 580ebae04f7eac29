//! The settings and the standbys of PostgreSQL itself.

use super::conn::Conn;
use super::errors::StorageError;
use crate::domain::time::UnixTime;

/// What decides how safe commits are, and how many connections there may be.
#[derive(Debug, Clone)]
pub struct ServerState {
    /// Standbys that are connected.
    pub standbys: i64,
    /// Those of them that commits wait for; empty if for none.
    pub synchronous_standby_names: String,
    /// Of the settings that keep data safe in a crash, those that are off.
    pub switched_off: Vec<String>,
    /// The last file of the log could not be archived.
    pub archiver_fails: bool,
    /// Connections of roles without special rights.
    pub connections: i64,
    /// As PostgreSQL says it: `17.2`, or with that of a distribution behind it.
    pub version: String,
    pub is_writable: bool,
    /// When a file of the log was last archived, since the statistics began.
    pub last_archived_time: Option<UnixTime>,
}

/// Reads it from the server of this connection.
pub async fn find(conn: &mut Conn) -> Result<ServerState, StorageError> {
    let state = sqlx::query_as!(
        ServerState,
        r#"select (select count(*) from pg_stat_replication) as "standbys!",
           current_setting('synchronous_standby_names') as "synchronous_standby_names!",
           array(select name from pg_settings where name in ('fsync', 'full_page_writes') and setting = 'off'
             order by name) as "switched_off!",
           (select coalesce(last_failed_time > coalesce(last_archived_time, '-infinity'), false)
             from pg_stat_archiver) as "archiver_fails!",
           (select sum(case name when 'max_connections' then setting::bigint else -setting::bigint end)::bigint
             from pg_settings where name in ('max_connections', 'superuser_reserved_connections',
               'reserved_connections')) as "connections!",
           current_setting('server_version') as "version!",
           current_setting('transaction_read_only') = 'off' as "is_writable!",
           (select extract(epoch from last_archived_time)::bigint from pg_stat_archiver)
             as "last_archived_time: UnixTime""#
    )
    .fetch_one(conn)
    .await?;
    Ok(state)
}

/// What tells of a failover, of a restore and of a newer program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatabaseState {
    /// The process of PostgreSQL that answered: another one means that the connection was lost.
    pub process: i32,
    /// Changes with each promotion of a standby, and with a restore to a time in the past.
    pub timeline: i32,
    pub is_writable: bool,
    /// The oldest newest migration of a program that may use it.
    pub min_migration: i64,
}

pub(super) async fn read_state(conn: &mut Conn) -> Result<DatabaseState, StorageError> {
    let state = sqlx::query_as!(
        DatabaseState,
        r#"select pg_backend_pid() as "process!", (select timeline_id from pg_control_checkpoint()) as "timeline!",
           current_setting('transaction_read_only') = 'off' as "is_writable!",
           coalesce((select min_migration from installation where id = 1), 0) as "min_migration!""#
    )
    .fetch_one(conn)
    .await?;
    Ok(state)
}
