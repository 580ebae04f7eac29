//! The table `tokens`. Deleted rows stay in the table; functions see only live rows, unless their comment says
//! otherwise. `lists.rs` has the statements of pages, and `keys.rs` those that read keys.

pub(super) mod columns;
mod deleted;
mod lists;
mod summaries;

use std::collections::BTreeMap;

use self::columns::{locked_token, policy_of, select_tokens, token_of};
pub use self::deleted::{erase_keys, list_deleted, lock_deleted, restore};
pub use self::lists::{Listed, OwnersPage, are_more_than_listed, list_all_users, list_listed, list_pages};
pub use self::summaries::list_summaries;
use super::columns::column;
use super::keys::NewSealedKey;
use super::{Conn, StorageError, old_keys};
use crate::domain::id::{TokenId, UserId};
use crate::domain::key::{Digest, KeyHint};
use crate::domain::ledger::LockedToken;
use crate::domain::money::Quota;
use crate::domain::period_limits::PeriodLimits;
use crate::domain::time::{Micros, UnixTime};
use crate::domain::token::{Token, TokenName};
use crate::domain::token_policy::TokenPolicy;
use crate::domain::user::Role;

/// One of the owner's live tokens.
pub async fn find(conn: &mut Conn, owner: UserId, id: TokenId) -> Result<Option<Token>, StorageError> {
    let row = select_tokens!(
        " from tokens where user_id = $1 and id = $2 and deleted_time is null",
        owner as UserId,
        id as TokenId
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| token_of!(row)))
}

/// Like [`find`], and locks the row until the transaction ends.
pub async fn lock(conn: &mut Conn, owner: UserId, id: TokenId) -> Result<Option<Token>, StorageError> {
    Ok(lock_listed(conn, owner, &[id]).await?.pop())
}

/// Locks those of `ids` that are the owner's live tokens, in the order of ids.
pub async fn lock_listed(conn: &mut Conn, owner: UserId, ids: &[TokenId]) -> Result<Vec<Token>, StorageError> {
    let rows = select_tokens!(
        " from tokens where user_id = $1 and id = any($2) and deleted_time is null order by id for no key update",
        owner as UserId,
        ids as &[TokenId]
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| token_of!(row)).collect())
}

/// Locks tokens in the order of ids, deleted ones included, without their policies; see [`list_policies`]. For the
/// ledger, which has locked their owners before.
pub async fn lock_all(conn: &mut Conn, ids: &[TokenId]) -> Result<Vec<LockedToken>, StorageError> {
    let rows = sqlx::query!(
        "select id, user_id, case when deleted_time is null then version end as version, accessed_time, remain_quota,
             unlimited_quota, used_quota, held, day_limit, week_limit, month_limit, period_day, day_used, week_used,
             month_used, requests_per_minute, tokens_per_minute, concurrency, requests_tat, tokens_tat, open_reservations
           from tokens where id = any($1) order by id for no key update",
        ids as &[TokenId]
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| locked_token!(row)).collect())
}

/// Like [`lock_all`], but skips tokens that another transaction has locked.
pub async fn lock_free(conn: &mut Conn, ids: &[TokenId]) -> Result<Vec<LockedToken>, StorageError> {
    let rows = sqlx::query!(
        "select id, user_id, case when deleted_time is null then version end as version, accessed_time, remain_quota,
             unlimited_quota, used_quota, held, day_limit, week_limit, month_limit, period_day, day_used, week_used,
             month_used, requests_per_minute, tokens_per_minute, concurrency, requests_tat, tokens_tat, open_reservations
           from tokens where id = any($1) order by id for no key update skip locked",
        ids as &[TokenId]
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| locked_token!(row)).collect())
}

/// The policies of live tokens.
pub async fn list_policies(conn: &mut Conn, ids: &[TokenId]) -> Result<Vec<(TokenId, TokenPolicy)>, StorageError> {
    let rows = sqlx::query!(
        "select id, version, switched_off_by, expires_at, model_limits_enabled, model_limits, allow_ips, group_name, \
         cross_group_retry from tokens where id = any($1) and deleted_time is null",
        ids as &[TokenId]
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| (row.id, policy_of!(row))).collect())
}

/// A live token of any user, for administrators.
pub async fn find_any_user(conn: &mut Conn, id: TokenId) -> Result<Option<Token>, StorageError> {
    let row = select_tokens!(" from tokens where id = $1 and deleted_time is null", id as TokenId)
        .fetch_optional(conn)
        .await?;
    Ok(row.map(|row| token_of!(row)))
}

/// These live tokens.
pub async fn list_by_ids(conn: &mut Conn, ids: &[TokenId]) -> Result<BTreeMap<TokenId, Token>, StorageError> {
    let rows = select_tokens!(" from tokens where id = any($1) and deleted_time is null", ids as &[TokenId])
        .fetch_all(conn)
        .await?;
    Ok(rows.into_iter().map(|row| (row.id, token_of!(row))).collect())
}

/// The owner of a live token, for administrators.
pub async fn find_owner(conn: &mut Conn, id: TokenId) -> Result<Option<UserId>, StorageError> {
    let owner = sqlx::query_scalar!("select user_id from tokens where id = $1 and deleted_time is null", id as TokenId)
        .fetch_optional(conn)
        .await?;
    Ok(owner)
}

/// The owner of a token, also of a deleted one.
pub async fn find_owner_ever(conn: &mut Conn, id: TokenId) -> Result<Option<UserId>, StorageError> {
    let owner =
        sqlx::query_scalar!("select user_id from tokens where id = $1", id as TokenId).fetch_optional(conn).await?;
    Ok(owner)
}

/// The names of these tokens, deleted ones included.
pub async fn list_names(conn: &mut Conn, ids: &[TokenId]) -> Result<BTreeMap<TokenId, String>, StorageError> {
    let rows = sqlx::query!(r#"select id, name as "name: String" from tokens where id = any($1)"#, ids as &[TokenId])
        .fetch_all(conn)
        .await?;
    Ok(rows.into_iter().map(|row| (row.id, row.name)).collect())
}

/// The number of the owner's live tokens.
pub async fn count(conn: &mut Conn, owner: UserId) -> Result<i64, StorageError> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from tokens where user_id = $1 and deleted_time is null"#,
        owner as UserId
    )
    .fetch_one(conn)
    .await?;
    Ok(count)
}

/// Inserts a token whose fields are empty, for [`update`].
pub async fn insert(
    conn: &mut Conn,
    owner: UserId,
    key: &NewSealedKey,
    name: &TokenName,
    now: UnixTime,
) -> Result<TokenId, StorageError> {
    let id = sqlx::query_scalar!(
        "insert into tokens (user_id, key_digest, key_sealed, key_hint, name, name_folded, note, created_time, \
           accessed_time, remain_quota, unlimited_quota, used_quota, model_limits_enabled, model_limits, allow_ips, \
           group_name, cross_group_retry) \
         values ($1, $2, $3, $4, $5, $6, '', $7, $7, 0, false, 0, false, '', '', '', false) returning id",
        owner as UserId,
        &key.digest as &Digest,
        key.sealed,
        &key.hint as &KeyHint,
        name.as_str(),
        name.folded(),
        now as UnixTime
    )
    .fetch_one(conn)
    .await?;
    Ok(id)
}

/// Writes what an owner can change: the switch and the fields of spec §4.5a. The caller has locked the rows. The
/// version is the time `now`, or above it, so that none comes back for another policy after a failover that lost an
/// edit. The columns that only the ledger changes (`used_quota`, `accessed_time`, `held`, counters) are not written.
/// Returns the versions.
pub async fn update(conn: &mut Conn, tokens: &[Token], now: Micros) -> Result<BTreeMap<TokenId, i64>, StorageError> {
    let expiry = |token: &Token| Option::<UnixTime>::from(token.policy.lifetime).map(UnixTime::get);
    let limit = |limit: fn(&PeriodLimits) -> Option<Quota>| {
        column(tokens, |token| limit(&token.account.period_limits).map(Quota::get))
    };
    let rows = sqlx::query!(
        "update tokens t set switched_off_by = v.switched_off_by, name = v.name, name_folded = v.name_folded, note = v.note, \
           expires_at = v.expires_at, remain_quota = v.remain_quota, unlimited_quota = v.unlimited_quota, \
           model_limits_enabled = v.model_limits_enabled, model_limits = v.model_limits, allow_ips = v.allow_ips, \
           group_name = v.group_name, cross_group_retry = v.cross_group_retry, day_limit = v.day_limit, \
           week_limit = v.week_limit, month_limit = v.month_limit, requests_per_minute = v.requests_per_minute, \
           tokens_per_minute = v.tokens_per_minute, concurrency = v.concurrency, show_addresses = v.show_addresses, \
           version = greatest(t.version + 1, $1) \
         from (select unnest($2::bigint[]) as id, unnest($3::smallint[]) as switched_off_by, unnest($4::text[]) as name, \
           unnest($5::text[]) as name_folded, unnest($6::text[]) as note, unnest($7::bigint[]) as expires_at, \
           unnest($8::bigint[]) as remain_quota, unnest($9::boolean[]) as unlimited_quota, \
           unnest($10::boolean[]) as model_limits_enabled, unnest($11::text[]) as model_limits, \
           unnest($12::text[]) as allow_ips, unnest($13::text[]) as group_name, unnest($14::boolean[]) as cross_group_retry, \
           unnest($15::bigint[]) as day_limit, unnest($16::bigint[]) as week_limit, unnest($17::bigint[]) as month_limit, \
           unnest($18::bigint[]) as requests_per_minute, unnest($19::bigint[]) as tokens_per_minute, \
           unnest($20::bigint[]) as concurrency, unnest($21::boolean[]) as show_addresses) v \
         where t.id = any(array[v.id]) and t.deleted_time is null returning t.id, t.version",
        now.get(),
        &column(tokens, |token| token.id.get()),
        &column(tokens, |token| token.policy.disabled_by.map(Role::code)) as &[Option<i16>],
        &column(tokens, |token| token.name.as_str().to_owned()),
        &column(tokens, |token| token.name.folded()),
        &column(tokens, |token| token.note.as_str().to_owned()),
        &column(tokens, expiry) as &[Option<i64>],
        &column(tokens, |token| token.account.remain().get()),
        &column(tokens, |token| token.account.budget.is_unlimited()),
        &column(tokens, |token| token.policy.model_limits_enabled),
        &column(tokens, |token| token.policy.model_limits.as_str().to_owned()),
        &column(tokens, |token| token.policy.allow_ips.as_str().to_owned()),
        &column(tokens, |token| token.policy.group.as_str().to_owned()),
        &column(tokens, |token| token.policy.cross_group_retry),
        &limit(|limits| limits.day) as &[Option<i64>],
        &limit(|limits| limits.week) as &[Option<i64>],
        &limit(|limits| limits.month) as &[Option<i64>],
        &column(tokens, |token| token.rate_limits.requests_per_minute) as &[Option<i64>],
        &column(tokens, |token| token.rate_limits.tokens_per_minute) as &[Option<i64>],
        &column(tokens, |token| token.rate_limits.concurrency) as &[Option<i64>],
        &column(tokens, |token| token.show_addresses)
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| (row.id, row.version)).collect())
}

/// Gives a token another key. The caller has locked the row, and keeps the replaced key if it is to work on.
pub async fn replace_key(conn: &mut Conn, id: TokenId, key: &NewSealedKey, now: Micros) -> Result<(), StorageError> {
    sqlx::query!(
        "update tokens set key_digest = $2, key_sealed = $3, key_hint = $4, key_foreign = false, \
           version = greatest(version + 1, $5) where id = $1 and deleted_time is null",
        id as TokenId,
        &key.digest as &Digest,
        key.sealed,
        &key.hint as &KeyHint,
        now.get()
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Says that something changed by which the keys of these tokens are decided. The caller has locked the rows.
pub async fn raise_version(conn: &mut Conn, ids: &[TokenId], now: Micros) -> Result<(), StorageError> {
    sqlx::query!(
        "update tokens set version = greatest(version + 1, $2) where id = any($1)",
        ids as &[TokenId],
        now.get()
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Marks the owner's live tokens among `ids` as deleted, and returns their ids (spec §4.6, §4.7). Locks in the order of
/// ids, so that two batches cannot deadlock. Their old keys end, also if a token is restored.
pub async fn delete(
    conn: &mut Conn,
    owner: UserId,
    ids: &[TokenId],
    now: UnixTime,
) -> Result<Vec<TokenId>, StorageError> {
    let deleted = sqlx::query_scalar!(
        "with to_delete as (select id from tokens \
           where user_id = $1 and id = any($2) and deleted_time is null order by id for update) \
         update tokens set deleted_time = $3, version = version + 1 from to_delete where tokens.id = to_delete.id returning tokens.id",
        owner as UserId,
        ids as &[TokenId],
        now as UnixTime
    )
    .fetch_all(&mut *conn)
    .await?;
    old_keys::end_all(conn, &deleted, now).await?;
    Ok(deleted)
}

/// Marks all live tokens of the owner as deleted.
pub async fn delete_all_of(conn: &mut Conn, owner: UserId, now: UnixTime) -> Result<(), StorageError> {
    sqlx::query!(
        "update tokens set deleted_time = $2, version = version + 1 where user_id = $1 and deleted_time is null",
        owner as UserId,
        now as UnixTime
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// The number of live tokens with an escaped star in their list of models: a name that is no pattern.
pub async fn count_literal_stars(conn: &mut Conn) -> Result<i64, StorageError> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from tokens where deleted_time is null and position('\*' in model_limits) > 0"#
    )
    .fetch_one(conn)
    .await?;
    Ok(count)
}
