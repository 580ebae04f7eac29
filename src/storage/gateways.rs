//! The table `gateways`: the credentials of machines that spend keys. Only digests.

use super::{Conn, StorageError};
use crate::domain::id::{GatewayId, UserId};
use crate::domain::key::Digest;
use crate::domain::time::UnixTime;

/// A gateway as administrators see it.
#[derive(Debug, Clone)]
pub struct GatewayRow {
    /// Its number.
    pub id: GatewayId,
    /// As it was called.
    pub name: String,
    /// When it was made.
    pub created_time: UnixTime,
    /// By whom; absent if from the command line.
    pub created_by: Option<UserId>,
}

/// The gateway of a credential.
pub async fn find(conn: &mut Conn, digest: &Digest) -> Result<Option<GatewayId>, StorageError> {
    let id = sqlx::query_scalar!("select id from gateways where digest = $1", digest as &Digest)
        .fetch_optional(conn)
        .await?;
    Ok(id)
}

/// All of them, newest first.
pub async fn list(conn: &mut Conn) -> Result<Vec<GatewayRow>, StorageError> {
    let rows = sqlx::query_as!(GatewayRow, "select id, name, created_time, created_by from gateways order by id desc")
        .fetch_all(conn)
        .await?;
    Ok(rows)
}

/// A new one.
pub async fn insert(
    conn: &mut Conn,
    name: &str,
    digest: &Digest,
    created_by: Option<UserId>,
    now: UnixTime,
) -> Result<GatewayId, StorageError> {
    let id = sqlx::query_scalar!(
        "insert into gateways (name, digest, created_by, created_time) values ($1, $2, $3, $4) returning id",
        name,
        digest as &Digest,
        created_by as Option<UserId>,
        now as UnixTime
    )
    .fetch_one(conn)
    .await?;
    Ok(id)
}

/// Removes one; tells whether it was there.
pub async fn remove(conn: &mut Conn, id: GatewayId) -> Result<bool, StorageError> {
    let done = sqlx::query!("delete from gateways where id = $1", id as GatewayId).execute(conn).await?;
    Ok(done.rows_affected() > 0)
}
