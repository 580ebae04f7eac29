//! The table `idempotency_keys`: requests that were carried out with a key. A caller has locked the account of the
//! user, so that of two requests at once the second finds the first.

use super::retention::BATCH_ROWS;
use super::{Conn, StorageError};
use crate::domain::id::{TokenId, UserId};
use crate::domain::idempotency_key::{IdempotencyKey, IdempotentRequest, MadeKey};
use crate::domain::key::Digest;
use crate::domain::time::UnixTime;

/// The hash of the request with this key, and what it made.
pub async fn find(
    conn: &mut Conn,
    user: UserId,
    key: &IdempotencyKey,
) -> Result<Option<(Vec<u8>, Vec<MadeKey>)>, StorageError> {
    let row = sqlx::query!(
        r#"select request_hash, token_ids as "token_ids!: Vec<TokenId>", key_digests as "key_digests!: Vec<Digest>"
           from idempotency_keys where user_id = $1 and key = $2"#,
        user as UserId,
        key.as_str()
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| {
        let made = row.token_ids.into_iter().zip(row.key_digests).map(|(token, digest)| MadeKey { token, digest });
        (row.request_hash, made.collect())
    }))
}

pub async fn insert(
    conn: &mut Conn,
    user: UserId,
    request: &IdempotentRequest,
    made: &[MadeKey],
    now: UnixTime,
) -> Result<(), StorageError> {
    sqlx::query!(
        "insert into idempotency_keys (user_id, key, request_hash, token_ids, key_digests, created_time) \
         values ($1, $2, $3, $4, $5, $6)",
        user as UserId,
        request.key.as_str(),
        request.hash,
        &made.iter().map(|made| made.token.get()).collect::<Vec<_>>(),
        &made.iter().map(|made| made.digest.as_bytes().to_vec()).collect::<Vec<_>>(),
        now as UnixTime
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Deletes those of requests before `then`, at most a batch. Returns how many.
pub async fn delete_old(conn: &mut Conn, then: UnixTime) -> Result<u64, StorageError> {
    let done = sqlx::query!(
        "delete from idempotency_keys where ctid = any(array( \
           select ctid from idempotency_keys where created_time < $1 order by created_time limit $2 \
           for update skip locked))",
        then as UnixTime,
        BATCH_ROWS
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected())
}
