//! The table `old_keys`: keys that rotations replaced, those that ended too. A caller that changes a row has locked its
//! token and raises its version, so that no server goes by an earlier deadline.

use super::retention::BATCH_ROWS;
use super::{Conn, StorageError};
use crate::domain::bounds;
use crate::domain::id::{OldKeyId, TokenId};
use crate::domain::key::{Digest, KeyHint};
use crate::domain::old_key::{Grace, GraceFrom, OldKey, UsedKey, UsedOldKey};
use crate::domain::time::{Lifetime, UnixTime};

/// Makes the present key of a token an old one. The caller replaces it.
pub async fn insert(conn: &mut Conn, token: TokenId, grace: Grace, now: UnixTime) -> Result<(), StorageError> {
    sqlx::query!(
        "insert into old_keys (key_digest, token_id, key_hint, key_foreign, rotated_at, grace_seconds, expires_at, \
           waits_for_use, ended) \
         select key_digest, id, key_hint, key_foreign, $2, $3, $4, $5, $6 from tokens where id = $1",
        token as TokenId,
        now as UnixTime,
        grace.seconds(),
        grace.deadline(now) as UnixTime,
        grace.from() == GraceFrom::FirstUse,
        grace.is_none()
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Deletes ended keys of a token beyond the newest ones, so that rotating without an end leaves no more.
pub async fn delete_surplus(conn: &mut Conn, token: TokenId, now: UnixTime) -> Result<(), StorageError> {
    sqlx::query!(
        "delete from old_keys where id = any(array( \
           select id from old_keys where token_id = $1 order by id desc offset $3)) and (ended or expires_at <= $2)",
        token as TokenId,
        now as UnixTime,
        bounds::MAX_ENDED_KEYS
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The number of a token's old keys that work.
pub async fn count_live(conn: &mut Conn, token: TokenId, now: UnixTime) -> Result<i64, StorageError> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from old_keys where token_id = $1 and not ended and expires_at > $2"#,
        token as TokenId,
        now as UnixTime
    )
    .fetch_one(conn)
    .await?;
    Ok(count)
}

/// A token's old keys that work, or those that do not any more; the last rotation first. None outlives the token.
pub async fn list(
    conn: &mut Conn,
    token: TokenId,
    lifetime: Lifetime,
    is_ended: bool,
    now: UnixTime,
) -> Result<Vec<OldKey>, StorageError> {
    let keys = sqlx::query_as!(
        OldKey,
        r#"select id, key_hint, rotated_at, least(expires_at, $4) as "expires_at!: UnixTime",
             waits_for_use and least(expires_at, $4) > $2 as "waits_for_use!", last_used_time from old_keys
           where token_id = $1 and (ended or least(expires_at, $4) <= $2) = $3 order by id desc limit 100"#,
        token as TokenId,
        now as UnixTime,
        is_ended,
        Option::<UnixTime>::from(lifetime) as Option<UnixTime>
    )
    .fetch_all(conn)
    .await?;
    Ok(keys)
}

/// Ends an old key of a token. Returns its hint, or `None` if the token has no such key that works.
pub async fn end(
    conn: &mut Conn,
    token: TokenId,
    id: OldKeyId,
    now: UnixTime,
) -> Result<Option<KeyHint>, StorageError> {
    let hint = sqlx::query_scalar!(
        "update old_keys set expires_at = greatest(rotated_at, $3), waits_for_use = false, ended = true \
         where token_id = $1 and id = $2 and not ended and expires_at > $3 returning key_hint",
        token as TokenId,
        id as OldKeyId,
        now as UnixTime
    )
    .fetch_optional(conn)
    .await?;
    Ok(hint)
}

/// Ends all old keys of these tokens that work.
pub async fn end_all(conn: &mut Conn, tokens: &[TokenId], now: UnixTime) -> Result<(), StorageError> {
    sqlx::query!(
        "update old_keys set expires_at = greatest(rotated_at, $2), waits_for_use = false, ended = true \
         where token_id = any($1) and not ended and expires_at > $2",
        tokens as &[TokenId],
        now as UnixTime
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Lets the grace periods begin that wait for the use of a newer key: of all old keys of a token, or of those before an
/// old key that was used.
pub async fn start_grace(
    conn: &mut Conn,
    used: &[(TokenId, Option<OldKeyId>)],
    now: UnixTime,
) -> Result<(), StorageError> {
    sqlx::query!(
        "update old_keys o set expires_at = least(o.expires_at, greatest(o.rotated_at, $3) + o.grace_seconds), \
           waits_for_use = false, ended = o.grace_seconds = 0 \
         from (select unnest($1::bigint[]) as token_id, unnest($2::bigint[]) as before) v \
         where o.token_id = any(array[v.token_id]) and o.waits_for_use and (v.before is null or o.id < v.before)",
        &used.iter().map(|(token, _)| token.get()).collect::<Vec<_>>(),
        &used.iter().map(|(_, before)| before.map(OldKeyId::get)).collect::<Vec<_>>() as &[Option<i64>],
        now as UnixTime
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// A key of a token, current or old.
#[derive(Debug)]
pub struct TokenKey {
    pub token: TokenId,
    pub digest: Digest,
    pub used: UsedKey,
}

/// Those of these keys that live tokens have, ended ones too.
pub async fn list_keys(conn: &mut Conn, tokens: &[TokenId], digests: &[Digest]) -> Result<Vec<TokenKey>, StorageError> {
    let digests: Vec<Vec<u8>> = digests.iter().map(|digest| digest.as_bytes().to_vec()).collect();
    let rows = sqlx::query!(
        r#"select k.token_id as "token_id!: TokenId", k.key_digest as "key_digest!: Digest", k.old_id as "old_id?: OldKeyId",
             k.expires_at as "expires_at?: UnixTime", k.waiting_grace as "waiting_grace?",
             exists (select from old_keys w where w.token_id = k.token_id and w.waits_for_use
               and (k.old_id is null or w.id < k.old_id)) as "starts_grace!"
           from (
             select id as token_id, key_digest, null::bigint as old_id, null::bigint as expires_at,
               null::bigint as waiting_grace
             from tokens where id = any($1) and deleted_time is null
             union all
             select token_id, key_digest, id, case when ended then 0 else expires_at end,
               case when waits_for_use then grace_seconds end
             from old_keys where key_digest = any($2)) k"#,
        tokens as &[TokenId],
        &digests
    )
    .fetch_all(conn)
    .await?;
    let keys = rows.into_iter().map(|row| TokenKey {
        token: row.token_id,
        digest: row.key_digest,
        used: used_key(row.old_id, row.expires_at, row.waiting_grace, row.starts_grace),
    });
    Ok(keys.collect())
}

/// The key of a row that joins an old key, if there is one. The statement says 0 for the deadline of one that was ended
/// at once.
pub(super) fn used_key(
    id: Option<OldKeyId>,
    expires_at: Option<UnixTime>,
    waiting_grace: Option<i64>,
    starts_grace: bool,
) -> UsedKey {
    let old = id.zip(expires_at).map(|(id, deadline)| UsedOldKey { id, deadline, waiting_grace });
    UsedKey { old, starts_grace }
}

/// Writes when old keys were last used. Waits for no locked row, so that it is in nobody's way.
pub async fn update_last_used(conn: &mut Conn, uses: &[(OldKeyId, UnixTime)]) -> Result<(), StorageError> {
    sqlx::query!(
        "update old_keys o set last_used_time = greatest(o.last_used_time, u.at) \
         from (select k.id, v.at from (select unnest($1::bigint[]) as id, unnest($2::bigint[]) as at) v \
           cross join lateral (select id from old_keys where old_keys.id = v.id for update skip locked offset 0) k) u \
         where o.id = any(array[u.id]) and set_config('synchronous_commit', 'off', true) = 'off'",
        &uses.iter().map(|(id, _)| id.get()).collect::<Vec<_>>(),
        &uses.iter().map(|(_, at)| at.get()).collect::<Vec<_>>()
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The next 10,000 foreign keys among the old ones after an id, ascending, that work or ended after `since`.
pub async fn list_foreign_after(
    conn: &mut Conn,
    after: OldKeyId,
    since: UnixTime,
) -> Result<Vec<(OldKeyId, Digest)>, StorageError> {
    let rows = sqlx::query!(
        "select id, key_digest from old_keys where key_foreign and expires_at > $2 and id > $1 order by id limit 10000",
        after as OldKeyId,
        since as UnixTime
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| (row.id, row.key_digest)).collect())
}

/// Deletes old keys that ended before `then`, at most a batch. Returns how many.
pub async fn delete_ended(conn: &mut Conn, then: UnixTime) -> Result<u64, StorageError> {
    let done = sqlx::query!(
        "delete from old_keys where id = any(array( \
           select id from old_keys where expires_at < $1 order by expires_at limit $2 for update skip locked))",
        then as UnixTime,
        BATCH_ROWS
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected())
}
