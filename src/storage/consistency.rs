//! The law of the ledger as questions: each answers with the rows that break it, in time linear in
//! the rows of its range of ids.

use super::{Conn, Db, StorageError, Tx};
use crate::domain::id::{TokenId, UserId};
use crate::domain::time::Day;

/// What a row holds and what it should.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Violation<Id> {
    /// The row.
    pub id: Id,
    /// What it says.
    pub says: i64,
    /// What the ledger sums up to.
    pub sum: i64,
}

/// One moment of the database, for questions of more than one statement and of any length.
pub async fn moment(db: &Db) -> Result<Tx, StorageError> {
    let mut tx = db.pool.begin_with("begin isolation level repeatable read read only").await?;
    sqlx::query!(
        r#"select set_config('statement_timeout', '0', true) as "a!",
           set_config('plan_cache_mode', 'force_custom_plan', true) as "b!",
           set_config('idle_in_transaction_session_timeout', '0', true) as "c!",
           set_config('enable_seqscan', 'on', true) as "d!", set_config('enable_hashjoin', 'on', true) as "e!",
           set_config('enable_mergejoin', 'on', true) as "f!", set_config('enable_bitmapscan', 'on', true) as "g!""#
    )
    .fetch_one(&mut *tx)
    .await?;
    Ok(tx)
}

/// The highest ids of tokens and of users.
pub async fn extent(conn: &mut Conn) -> Result<(i64, i64), StorageError> {
    let row = sqlx::query!(
        r#"select coalesce((select max(id) from tokens), 0) as "tokens!",
           coalesce((select max(id) from users), 0) as "users!""#
    )
    .fetch_one(conn)
    .await?;
    Ok((row.tokens, row.users))
}

/// L1: tokens and wallets below zero. The schema forbids them too.
pub async fn below_zero(conn: &mut Conn) -> Result<i64, StorageError> {
    let count = sqlx::query_scalar!(
        r#"select (select count(*) from tokens where remain_quota < 0 or used_quota < 0)
           + (select count(*) from users where quota < 0 or used_quota < 0) as "count!""#
    )
    .fetch_one(conn)
    .await?;
    Ok(count)
}

/// L3 of tokens with ids in `from..to`: used = charges + open reservations. Charges are summed up
/// from the roll-up, which outlives them; L5 ties the two.
pub async fn tokens_off(conn: &mut Conn, from: i64, to: i64) -> Result<Vec<Violation<TokenId>>, StorageError> {
    let rows = sqlx::query!(
        r#"select t.id, t.used_quota as "says!: i64", (coalesce(d.sum, 0) + coalesce(r.sum, 0))::bigint as "sum!"
           from tokens t
           left join (select token_id, sum(quota) as sum from usage_daily
                      where token_id >= $1 and token_id < $2 group by token_id) d on d.token_id = t.id
           left join (select token_id, sum(held) as sum from reservations
                      where state = 'open' and token_id >= $1 and token_id < $2 group by token_id) r on r.token_id = t.id
           where t.id >= $1 and t.id < $2 and t.used_quota <> coalesce(d.sum, 0) + coalesce(r.sum, 0)"#,
        from,
        to
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| Violation { id: row.id, says: row.says, sum: row.sum }).collect())
}

/// L3 of wallets with ids in `from..to`: used = that of all the user's tokens, deleted ones too.
pub async fn wallets_off(conn: &mut Conn, from: i64, to: i64) -> Result<Vec<Violation<UserId>>, StorageError> {
    let rows = sqlx::query!(
        r#"select u.id, u.used_quota as "says!: i64", coalesce(t.sum, 0)::bigint as "sum!"
           from users u
           left join (select user_id, sum(used_quota) as sum from tokens
                      where user_id >= $1 and user_id < $2 group by user_id) t on t.user_id = u.id
           where u.id >= $1 and u.id < $2 and u.used_quota <> coalesce(t.sum, 0)"#,
        from,
        to
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| Violation { id: row.id, says: row.says, sum: row.sum }).collect())
}

/// The first day of `zone` all of whose charges are kept: the first whole one since what was dropped for its age.
pub async fn first_whole_day(conn: &mut Conn, zone: &str) -> Result<Day, StorageError> {
    let day = sqlx::query_scalar!(
        r#"with kept as (select to_timestamp(charges_since) at time zone $1 as since from installation)
           select coalesce((select since::date + (since::time > '00:00')::int from kept where since is not null),
               '0001-01-01'::date) as "day!: Day""#,
        zone
    )
    .fetch_one(conn)
    .await?;
    Ok(day)
}

/// L5 of tokens with ids in `from..to`: what the roll-up says of the days from `since`, and what
/// their charges sum up to. Days are those of `zone`.
pub async fn days_off(
    conn: &mut Conn,
    from: i64,
    to: i64,
    zone: &str,
    since: Day,
) -> Result<Vec<(TokenId, String, i64, i64)>, StorageError> {
    let rows = sqlx::query!(
        r#"with kept as (
             select token_id, (to_timestamp(at) at time zone $3)::date as day, model, sum(quota) as quota,
               count(*) as requests
             from charges where token_id >= $1 and token_id < $2 group by 1, 2, 3)
           select coalesce(d.token_id, k.token_id) as "id!: TokenId", coalesce(d.day, k.day)::text as "day!",
             coalesce(d.quota, 0) as "says!", coalesce(k.quota, 0)::bigint as "sum!"
           from (select * from usage_daily where token_id >= $1 and token_id < $2) d
           full join kept k on k.token_id = d.token_id and k.day = d.day and k.model = d.model
           where (coalesce(d.quota, 0) <> coalesce(k.quota, 0) or coalesce(d.requests, 0) <> coalesce(k.requests, 0))
             and coalesce(d.day, k.day) >= $4"#,
        from,
        to,
        zone,
        since as Day
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| (row.id, row.day, row.says, row.sum)).collect())
}
