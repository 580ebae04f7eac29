//! The tables `gateways`, the machines that spend keys, and `gateway_credentials`, by which they are
//! recognised. Only digests.

use super::{Conn, StorageError};
use crate::domain::id::{GatewayCredentialId, GatewayId, UserId};
use crate::domain::key::{Digest, GatewayCredential};
use crate::domain::policy;
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

/// A gateway's credential as administrators see it: never the secret.
#[derive(Debug, Clone)]
pub struct CredentialRow {
    /// Its number.
    pub id: GatewayCredentialId,
    /// Whose it is.
    pub gateway_id: GatewayId,
    /// Its last characters; empty if it was made before they were kept.
    pub hint: String,
    /// When it was made.
    pub created_time: UnixTime,
    /// By whom; absent if from the command line.
    pub created_by: Option<UserId>,
    /// When it was last used, to the minute; absent if never.
    pub last_used_time: Option<UnixTime>,
}

/// The gateway of a credential, and the last use that was written of it.
pub async fn find(conn: &mut Conn, digest: &Digest) -> Result<Option<(GatewayId, Option<UnixTime>)>, StorageError> {
    let row =
        sqlx::query!("select gateway_id, last_used_time from gateway_credentials where digest = $1", digest as &Digest)
            .fetch_optional(conn)
            .await?;
    Ok(row.map(|row| (row.gateway_id, row.last_used_time)))
}

/// Writes that a credential is used now, unless that was written less than a minute ago. The gateway is waiting to
/// be recognised, so this waits neither for somebody who has locked the row nor for the disk.
pub async fn save_use(conn: &mut Conn, digest: &Digest, now: UnixTime) -> Result<(), StorageError> {
    sqlx::query!(
        "update gateway_credentials set last_used_time = $2 where id = (select id from gateway_credentials \
         where digest = $1 and (last_used_time is null or last_used_time <= $3) for update skip locked) \
         and set_config('synchronous_commit', 'off', true) = 'off'",
        digest as &Digest,
        now as UnixTime,
        now.plus(-policy::LAST_USED_SECONDS) as UnixTime
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// All of them, newest first.
pub async fn list(conn: &mut Conn) -> Result<Vec<GatewayRow>, StorageError> {
    let rows = sqlx::query_as!(GatewayRow, "select id, name, created_time, created_by from gateways order by id desc")
        .fetch_all(conn)
        .await?;
    Ok(rows)
}

/// The credentials of all gateways, newest first.
pub async fn list_credentials(conn: &mut Conn) -> Result<Vec<CredentialRow>, StorageError> {
    let rows = sqlx::query_as!(
        CredentialRow,
        "select id, gateway_id, hint, created_time, created_by, last_used_time from gateway_credentials \
         order by id desc"
    )
    .fetch_all(conn)
    .await?;
    Ok(rows)
}

/// A new one, without a credential.
pub async fn insert(
    conn: &mut Conn,
    name: &str,
    created_by: Option<UserId>,
    now: UnixTime,
) -> Result<GatewayId, StorageError> {
    let id = sqlx::query_scalar!(
        "insert into gateways (name, created_by, created_time) values ($1, $2, $3) returning id",
        name,
        created_by as Option<UserId>,
        now as UnixTime
    )
    .fetch_one(conn)
    .await?;
    Ok(id)
}

/// Holds a gateway until the transaction ends, so that its credentials can be counted; tells whether it is there.
pub async fn lock(conn: &mut Conn, id: GatewayId) -> Result<bool, StorageError> {
    let found = sqlx::query_scalar!("select id from gateways where id = $1 for update", id as GatewayId)
        .fetch_optional(conn)
        .await?;
    Ok(found.is_some())
}

/// How many credentials a gateway has.
pub async fn count_credentials(conn: &mut Conn, id: GatewayId) -> Result<i64, StorageError> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from gateway_credentials where gateway_id = $1"#,
        id as GatewayId
    )
    .fetch_one(conn)
    .await?;
    Ok(count)
}

/// A new credential of a gateway.
pub async fn insert_credential(
    conn: &mut Conn,
    gateway: GatewayId,
    credential: &GatewayCredential,
    digest: &Digest,
    created_by: Option<UserId>,
    now: UnixTime,
) -> Result<CredentialRow, StorageError> {
    let row = sqlx::query_as!(
        CredentialRow,
        "insert into gateway_credentials (gateway_id, digest, hint, created_by, created_time) \
         values ($1, $2, $3, $4, $5) returning id, gateway_id, hint, created_time, created_by, last_used_time",
        gateway as GatewayId,
        digest as &Digest,
        credential.hint(),
        created_by as Option<UserId>,
        now as UnixTime
    )
    .fetch_one(conn)
    .await?;
    Ok(row)
}

/// Removes one of a gateway's credentials; tells whether it was there.
pub async fn remove_credential(
    conn: &mut Conn,
    gateway: GatewayId,
    id: GatewayCredentialId,
) -> Result<bool, StorageError> {
    let done = sqlx::query!(
        "delete from gateway_credentials where gateway_id = $1 and id = $2",
        gateway as GatewayId,
        id as GatewayCredentialId
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected() > 0)
}

/// Removes a gateway with all its credentials, and returns its name if it was there. What it charged, reserved and
/// was answered keeps its number, which no other gateway ever gets.
pub async fn remove(conn: &mut Conn, id: GatewayId) -> Result<Option<String>, StorageError> {
    let name = sqlx::query_scalar!("delete from gateways where id = $1 returning name", id as GatewayId)
        .fetch_optional(conn)
        .await?;
    Ok(name)
}
