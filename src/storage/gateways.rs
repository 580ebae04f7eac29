//! The tables `gateways` and `gateway_credentials`. They hold digests of the credentials only.

use super::{Conn, StorageError};
use crate::domain::bounds;
use crate::domain::gateway::{Gateway, GatewayCredential};
use crate::domain::id::{GatewayCredentialId, GatewayId, UserId};
use crate::domain::key::Digest;
use crate::domain::secrets::GatewaySecret;
use crate::domain::time::UnixTime;

/// A gateway that was found by a credential, and the recorded last use of that.
#[derive(Debug)]
pub struct GatewayUse {
    pub digest: Digest,
    pub gateway_id: GatewayId,
    pub last_used_time: Option<UnixTime>,
}

/// The gateways of the credentials with these digests.
pub async fn list_by_digests(conn: &mut Conn, digests: &[Digest]) -> Result<Vec<GatewayUse>, StorageError> {
    let digests: Vec<&[u8]> = digests.iter().map(Digest::as_bytes).collect();
    let found = sqlx::query_as!(
        GatewayUse,
        r#"select digest as "digest: Digest", gateway_id, last_used_time from gateway_credentials where digest = any($1)"#,
        &digests as &[&[u8]]
    )
    .fetch_all(conn)
    .await?;
    Ok(found)
}

/// Records the use of a credential, unless one was recorded in the last minute. A request waits for this, so
/// it waits neither for a locked row nor for the disk.
pub async fn update_last_used(conn: &mut Conn, digest: &Digest, now: UnixTime) -> Result<(), StorageError> {
    sqlx::query!(
        "update gateway_credentials set last_used_time = $2 \
         where id = (select id from gateway_credentials \
             where digest = $1 and (last_used_time is null or last_used_time <= $3) for update skip locked) \
           and set_config('synchronous_commit', 'off', true) = 'off'",
        digest as &Digest,
        now as UnixTime,
        now.plus(-bounds::LAST_USED_SECONDS) as UnixTime
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Lists the gateways, newest first.
pub async fn list(conn: &mut Conn) -> Result<Vec<Gateway>, StorageError> {
    let gateways = sqlx::query_as!(Gateway, "select id, name, created_time, created_by from gateways order by id desc")
        .fetch_all(conn)
        .await?;
    Ok(gateways)
}

/// Lists the credentials of all gateways, newest first.
pub async fn list_credentials(conn: &mut Conn) -> Result<Vec<GatewayCredential>, StorageError> {
    let credentials = sqlx::query_as!(
        GatewayCredential,
        "select id, gateway_id, hint, created_time, created_by, last_used_time from gateway_credentials \
         order by id desc"
    )
    .fetch_all(conn)
    .await?;
    Ok(credentials)
}

/// Inserts a gateway without credentials.
pub async fn insert(
    conn: &mut Conn,
    name: &str,
    created_by: Option<UserId>,
    now: UnixTime,
) -> Result<Gateway, StorageError> {
    let gateway = sqlx::query_as!(
        Gateway,
        "insert into gateways (name, created_by, created_time) values ($1, $2, $3) \
         returning id, name, created_time, created_by",
        name,
        created_by as Option<UserId>,
        now as UnixTime
    )
    .fetch_one(conn)
    .await?;
    Ok(gateway)
}

/// Locks a gateway until the transaction ends, so that its credentials can be counted. Returns false if it does not
/// exist.
pub async fn lock(conn: &mut Conn, id: GatewayId) -> Result<bool, StorageError> {
    let found = sqlx::query_scalar!("select id from gateways where id = $1 for update", id as GatewayId)
        .fetch_optional(conn)
        .await?;
    Ok(found.is_some())
}

/// Counts the credentials of a gateway.
pub async fn count_credentials(conn: &mut Conn, id: GatewayId) -> Result<i64, StorageError> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from gateway_credentials where gateway_id = $1"#,
        id as GatewayId
    )
    .fetch_one(conn)
    .await?;
    Ok(count)
}

/// Inserts a credential of a gateway.
pub async fn insert_credential(
    conn: &mut Conn,
    gateway: GatewayId,
    secret: &GatewaySecret,
    digest: &Digest,
    created_by: Option<UserId>,
    now: UnixTime,
) -> Result<GatewayCredential, StorageError> {
    let credential = sqlx::query_as!(
        GatewayCredential,
        "insert into gateway_credentials (gateway_id, digest, hint, created_by, created_time) \
         values ($1, $2, $3, $4, $5) returning id, gateway_id, hint, created_time, created_by, last_used_time",
        gateway as GatewayId,
        digest as &Digest,
        secret.hint(),
        created_by as Option<UserId>,
        now as UnixTime
    )
    .fetch_one(conn)
    .await?;
    Ok(credential)
}

/// Deletes a credential of this gateway. Returns true if it existed.
pub async fn delete_credential(
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

/// Deletes a gateway with its credentials. Returns its name if it existed. Its charges, reservations and idempotency
/// records keep its id, which no other gateway ever gets.
pub async fn delete(conn: &mut Conn, id: GatewayId) -> Result<Option<String>, StorageError> {
    let name = sqlx::query_scalar!("delete from gateways where id = $1 returning name", id as GatewayId)
        .fetch_optional(conn)
        .await?;
    Ok(name)
}
