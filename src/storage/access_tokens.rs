//! The table `access_tokens`. It holds digests only, so a dump of it gives no access.

use super::{Conn, StorageError};
use crate::domain::access_token::AccessToken;
use crate::domain::bounds;
use crate::domain::id::{AccessTokenId, UserId};
use crate::domain::key::Digest;
use crate::domain::time::UnixTime;

/// The owner of an access token, its expiry, and its recorded last use.
#[derive(Debug)]
pub struct AccessTokenUse {
    pub digest: Digest,
    pub owner: UserId,
    pub expires_at: Option<UnixTime>,
    pub last_used_time: Option<UnixTime>,
}

/// The access tokens with these digests.
pub async fn list_by_digests(conn: &mut Conn, digests: &[Digest]) -> Result<Vec<AccessTokenUse>, StorageError> {
    let digests: Vec<&[u8]> = digests.iter().map(Digest::as_bytes).collect();
    let found = sqlx::query_as!(
        AccessTokenUse,
        r#"select digest as "digest: Digest", user_id as owner, expires_at, last_used_time from access_tokens
           where digest = any($1)"#,
        &digests as &[&[u8]]
    )
    .fetch_all(conn)
    .await?;
    Ok(found)
}

/// Records the use of an access token, unless one was recorded in the last minute. A request waits for this, so
/// it waits neither for a locked row nor for the disk.
pub async fn update_last_used(conn: &mut Conn, digest: &Digest, now: UnixTime) -> Result<(), StorageError> {
    sqlx::query!(
        "update access_tokens set last_used_time = $2 \
         where id = (select id from access_tokens \
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

/// Lists the access tokens of a user, newest first.
pub async fn list(conn: &mut Conn, owner: UserId) -> Result<Vec<AccessToken>, StorageError> {
    let rows = sqlx::query_as!(
        AccessToken,
        "select id, name, created_time, expires_at, last_used_time from access_tokens where user_id = $1 \
         order by id desc",
        owner as UserId
    )
    .fetch_all(conn)
    .await?;
    Ok(rows)
}

/// Counts the access tokens of a user that have not expired.
pub async fn count_live(conn: &mut Conn, owner: UserId, now: UnixTime) -> Result<i64, StorageError> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from access_tokens
           where user_id = $1 and (expires_at is null or expires_at > $2)"#,
        owner as UserId,
        now as UnixTime
    )
    .fetch_one(conn)
    .await?;
    Ok(count)
}

/// Inserts an access token.
pub async fn insert(
    conn: &mut Conn,
    owner: UserId,
    name: &str,
    digest: &Digest,
    expires_at: Option<UnixTime>,
    now: UnixTime,
) -> Result<AccessTokenId, StorageError> {
    let id = sqlx::query_scalar!(
        "insert into access_tokens (user_id, name, digest, expires_at, created_time) \
         values ($1, $2, $3, $4, $5) returning id",
        owner as UserId,
        name,
        digest as &Digest,
        expires_at as Option<UnixTime>,
        now as UnixTime
    )
    .fetch_one(conn)
    .await?;
    Ok(id)
}

/// Deletes an access token of this owner. Returns true if it existed.
pub async fn delete(conn: &mut Conn, owner: UserId, id: AccessTokenId) -> Result<bool, StorageError> {
    let done =
        sqlx::query!("delete from access_tokens where user_id = $1 and id = $2", owner as UserId, id as AccessTokenId)
            .execute(conn)
            .await?;
    Ok(done.rows_affected() > 0)
}

/// Deletes the expired access tokens of a user, if there are more than `kept` of all kinds.
pub async fn delete_expired_of(conn: &mut Conn, owner: UserId, now: UnixTime, kept: i64) -> Result<(), StorageError> {
    sqlx::query!(
        "delete from access_tokens where user_id = $1 and expires_at <= $2 \
         and (select count(*) from access_tokens where user_id = $1) > $3",
        owner as UserId,
        now as UnixTime,
        kept
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Deletes access tokens that expired before `now`, at most [`BATCH`](super::retention::BATCH). Returns their number.
pub async fn delete_expired(conn: &mut Conn, now: UnixTime) -> Result<u64, StorageError> {
    let done = sqlx::query!(
        "delete from access_tokens where id = any(array( \
         select id from access_tokens where expires_at <= $1 order by expires_at limit $2)) and expires_at <= $1",
        now as UnixTime,
        super::retention::BATCH_ROWS
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected())
}

/// Deletes all access tokens of a user.
pub async fn delete_all_of(conn: &mut Conn, owner: UserId) -> Result<(), StorageError> {
    sqlx::query!("delete from access_tokens where user_id = $1", owner as UserId).execute(conn).await?;
    Ok(())
}
