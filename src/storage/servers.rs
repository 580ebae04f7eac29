//! The table `servers`: the servers of this database.

use std::collections::BTreeMap;

use sqlx::types::Json;

use super::{Conn, StorageError};
use crate::domain::known_server::KnownServer;
use crate::domain::time::UnixTime;

/// A server is forgotten after so many seconds.
const FORGOTTEN_AFTER: i64 = 3_600;

/// Says that this server runs, and forgets those that were not seen for an hour. Nobody is promised that it lasts.
pub async fn upsert(conn: &mut Conn, server: &KnownServer) -> Result<(), StorageError> {
    sqlx::query!(
        "with forgotten as (delete from servers where seen_time < $7 - $8::bigint and id <> $1) \
         insert into servers (id, name, version, newest_migration, settings, started_time, seen_time) \
         select $1, $2, $3, $4, $5, $6, $7 where set_config('synchronous_commit', 'off', true) = 'off' \
         on conflict on constraint servers_pkey do update set \
           started_time = excluded.started_time, seen_time = excluded.seen_time",
        server.id,
        server.name,
        server.version,
        server.newest_migration,
        Json(&server.settings) as _,
        server.started_time as UnixTime,
        server.seen_time as UnixTime,
        FORGOTTEN_AFTER
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// All servers of the last hour, by name.
pub async fn list(conn: &mut Conn) -> Result<Vec<KnownServer>, StorageError> {
    let rows = sqlx::query!(
        r#"select id, name, version, newest_migration, settings as "settings: Json<BTreeMap<String, String>>",
           started_time as "started_time: UnixTime", seen_time as "seen_time: UnixTime"
           from servers order by name, started_time, id limit 1000"#
    )
    .fetch_all(conn)
    .await?;
    let server = rows.into_iter().map(|row| KnownServer {
        id: row.id,
        name: row.name,
        version: row.version,
        newest_migration: row.newest_migration,
        settings: row.settings.0,
        started_time: row.started_time,
        seen_time: row.seen_time,
    });
    Ok(server.collect())
}

/// Removes a server that stops.
pub async fn delete(conn: &mut Conn, id: &str) -> Result<(), StorageError> {
    sqlx::query!("delete from servers where id = $1 and set_config('synchronous_commit', 'off', true) = 'off'", id)
        .execute(conn)
        .await?;
    Ok(())
}
