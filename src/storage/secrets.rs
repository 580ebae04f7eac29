//! The tables `wrapped_secrets` and `sealing_key`, and the encrypted keys by the data key that encrypted them. See
//! `service::secrets` for what they protect.

use super::conn::Conn;
use super::errors::StorageError;
use crate::domain::id::TokenId;
use crate::domain::key::Digest;

/// The secrets, encrypted by one master key.
#[derive(Debug)]
pub struct WrappedSecrets {
    /// Ascends with each change of the master key.
    pub generation: i32,
    /// Identifies the master key.
    pub key_check: Vec<u8>,
    pub wrapped: Vec<u8>,
}

/// The secrets as each master key encrypts them, the newest master key last. Empty before the first change of the
/// master key.
pub async fn list_wrapped(conn: &mut Conn) -> Result<Vec<WrappedSecrets>, StorageError> {
    let rows = sqlx::query_as!(
        WrappedSecrets,
        "select generation, key_check, wrapped from wrapped_secrets order by generation"
    );
    Ok(rows.fetch_all(conn).await?)
}

/// Inserts the secrets of a master key, or replaces them.
pub async fn update_wrapped(conn: &mut Conn, secrets: &WrappedSecrets) -> Result<(), StorageError> {
    sqlx::query!(
        "insert into wrapped_secrets (generation, key_check, wrapped) values ($1, $2, $3) \
         on conflict (key_check) do update set wrapped = excluded.wrapped",
        secrets.generation,
        secrets.key_check,
        secrets.wrapped
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Deletes the secrets of all master keys but this one.
pub async fn delete_wrapped_but(conn: &mut Conn, key_check: &[u8]) -> Result<(), StorageError> {
    sqlx::query!("delete from wrapped_secrets where key_check <> $1", key_check).execute(conn).await?;
    Ok(())
}

/// The id of the data key that encrypts API keys now. It stays until the end of the transaction.
pub async fn lock_sealing_key(conn: &mut Conn) -> Result<i32, StorageError> {
    Ok(sqlx::query_scalar!("select data_key_id from sealing_key where id = 1 for share").fetch_one(conn).await?)
}

/// The same, without a lock.
pub async fn find_sealing_key(conn: &mut Conn) -> Result<i32, StorageError> {
    Ok(sqlx::query_scalar!("select data_key_id from sealing_key where id = 1").fetch_one(conn).await?)
}

/// Waits for all who encrypt a key, and keeps others out until the end of the transaction. It locks the table: a row
/// that many share would never be free.
pub async fn lock_for_change(conn: &mut Conn) -> Result<(), StorageError> {
    sqlx::query!("lock table sealing_key in exclusive mode").execute(conn).await?;
    Ok(())
}

/// Lets another data key encrypt API keys from now on.
pub async fn update_sealing_key(conn: &mut Conn, data_key_id: i32) -> Result<(), StorageError> {
    sqlx::query!("update sealing_key set data_key_id = $1 where id = 1", data_key_id).execute(conn).await?;
    Ok(())
}

/// Tokens, deleted ones as well, after an id, whose keys another data key than this one encrypted; at most `most`.
pub async fn list_sealed_by_others(
    conn: &mut Conn,
    data_key_id: i32,
    after: TokenId,
    most: i64,
) -> Result<Vec<TokenId>, StorageError> {
    let ids = sqlx::query_scalar!(
        r#"select id as "id: TokenId" from tokens where id > $1 and data_key_of(key_sealed) <> $2 order by id limit $3"#,
        after as TokenId,
        data_key_id,
        most
    );
    Ok(ids.fetch_all(conn).await?)
}

/// A locked token with its encrypted key.
pub struct LockedSealedKey {
    pub id: TokenId,
    pub key_digest: Digest,
    pub key_sealed: Vec<u8>,
}

/// Those of these tokens whose keys another data key still encrypts. Those that another transaction has locked are left
/// out.
pub async fn try_lock_sealed_by_others(
    conn: &mut Conn,
    data_key_id: i32,
    ids: &[TokenId],
) -> Result<Vec<LockedSealedKey>, StorageError> {
    let rows = sqlx::query_as!(
        LockedSealedKey,
        "select id, key_digest, key_sealed from tokens where id = any($1) and data_key_of(key_sealed) <> $2 \
         order by id for no key update skip locked",
        ids as &[TokenId],
        data_key_id
    );
    Ok(rows.fetch_all(conn).await?)
}

/// Lets the statements of this transaction wait for locks for as long as a request may not.
pub async fn wait_up_to_a_minute(conn: &mut Conn) -> Result<(), StorageError> {
    sqlx::query_scalar!(r#"select set_config('lock_timeout', '1min', true) as "set!""#).fetch_one(conn).await?;
    Ok(())
}

/// The same as [`try_lock_sealed_by_others()`] of one token. Waits for the transactions that hold it.
pub async fn lock_sealed_by_other(
    conn: &mut Conn,
    data_key_id: i32,
    id: TokenId,
) -> Result<Option<LockedSealedKey>, StorageError> {
    let row = sqlx::query_as!(
        LockedSealedKey,
        "select id, key_digest, key_sealed from tokens where id = $1 and data_key_of(key_sealed) <> $2 for no key update",
        id as TokenId,
        data_key_id
    );
    Ok(row.fetch_optional(conn).await?)
}

/// Replaces the encrypted keys of these tokens.
pub async fn update_sealed(conn: &mut Conn, ids: &[TokenId], sealed: &[Vec<u8>]) -> Result<(), StorageError> {
    sqlx::query!(
        "update tokens set key_sealed = new.sealed from unnest($1::bigint[], $2::bytea[]) as new (id, sealed) \
         where tokens.id = new.id",
        ids as &[TokenId],
        sealed
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// How many keys each data key encrypted, of all tokens.
pub async fn count_by_data_key(conn: &mut Conn) -> Result<Vec<(i32, i64)>, StorageError> {
    let rows = sqlx::query!(
        r#"select data_key_of(key_sealed) as "data_key_id!", count(*) as "keys!" from tokens
           where data_key_of(key_sealed) is not null group by 1 order by 1"#
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| (row.data_key_id, row.keys)).collect())
}
