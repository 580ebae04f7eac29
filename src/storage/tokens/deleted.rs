//! Deleted tokens, which can be restored until their keys are erased.

use super::columns::{select_tokens, token_of};
use crate::domain::id::{TokenId, UserId};
use crate::domain::key::Digest;
use crate::domain::page::{Page, PageRequest};
use crate::domain::time::{Micros, UnixTime};
use crate::domain::token::{DeletedToken, Token};
use crate::storage::retention::BATCH_ROWS;
use crate::storage::{Conn, StorageError};

/// A page of the owner's tokens that were deleted after `since`, the last one first.
pub async fn list_deleted(
    conn: &mut Conn,
    owner: UserId,
    since: UnixTime,
    page: PageRequest,
) -> Result<Page<DeletedToken>, StorageError> {
    let rows = select_tokens!(
        r#", deleted_time as "deleted_time!: UnixTime", (select count(*) from restorable_tokens
             where user_id = $1 and deleted_time > $2) as "total!"
           from (select token_id from restorable_tokens where user_id = $1 and deleted_time > $2
             order by deleted_time desc, token_id desc limit $3 offset $4) r
           cross join lateral (select * from tokens where tokens.id = r.token_id offset 0) t
           order by deleted_time desc, id desc"#,
        owner as UserId,
        since as UnixTime,
        page.size(),
        page.offset()
    )
    .fetch_all(&mut *conn)
    .await?;
    let total = match rows.first() {
        Some(row) => row.total,
        None if page.offset() == 0 => 0,
        // Past the last page, the first row has the total.
        None => Box::pin(list_deleted(conn, owner, since, PageRequest::first_item())).await?.total,
    };
    let tokens = rows.into_iter().map(|row| DeletedToken { deleted_time: row.deleted_time, token: token_of!(row) });
    Ok(page.holding(tokens.collect(), total))
}

/// Locks one of the owner's tokens that was deleted after `since`. Returns it with the digest of its key.
pub async fn lock_deleted(
    conn: &mut Conn,
    owner: UserId,
    id: TokenId,
    since: UnixTime,
) -> Result<Option<(Token, Digest)>, StorageError> {
    let row = select_tokens!(
        ", key_digest from tokens where user_id = $1 and id = $2 and deleted_time > $3 and key_sealed <> '' for no key update",
        owner as UserId,
        id as TokenId,
        since as UnixTime
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| (token_of!(row), row.key_digest)))
}

/// Makes a deleted token live again. The caller has locked its row. Returns its version.
pub async fn restore(conn: &mut Conn, id: TokenId, now: Micros) -> Result<i64, StorageError> {
    let version = sqlx::query_scalar!(
        "with restored as (delete from restorable_tokens where token_id = $1) \
         update tokens set deleted_time = null, version = greatest(version + 1, $2) where id = $1 returning version",
        id as TokenId,
        now.get()
    )
    .fetch_one(conn)
    .await?;
    Ok(version)
}

/// Erases the encrypted keys and the lists of tokens that were deleted before `then`, at most a batch. Returns how
/// many. Locks the tokens first, as restoring does, and leaves out those that another transaction has locked.
pub async fn erase_keys(conn: &mut Conn, then: UnixTime) -> Result<u64, StorageError> {
    let done = sqlx::query!(
        "with gone as (select t.id from restorable_tokens r \
             cross join lateral (select id from tokens where tokens.id = r.token_id for no key update skip locked offset 0) t \
             where r.deleted_time <= $1 order by r.deleted_time limit $2), \
           erased as (update tokens t set key_sealed = '', note = '', model_limits = '', allow_ips = '' from gone \
             where t.id = any(array[gone.id]) and t.deleted_time is not null) \
         delete from restorable_tokens r using gone where r.token_id = any(array[gone.id])",
        then as UnixTime,
        BATCH_ROWS
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected())
}
