//! The checks of `keymeter doctor`. Each statement returns the rows that violate an invariant of the ledger, in time
//! linear in the rows of its range of ids.
//!
//! Every statement joins by user as well as by id, so that a row with the wrong `user_id` is a violation too.

use super::{Conn, Db, ReadTx, StorageError};
use crate::domain::id::{TokenId, UserId};
use crate::domain::time::Day;

/// A row that violates an invariant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Violation<Id> {
    /// The row.
    pub id: Id,
    /// The recorded usage.
    pub recorded: i64,
    /// The correct usage: the sum of the rows that it summarises.
    pub sum: i64,
}

/// A day of a token that violates L5.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DayViolation {
    pub token_id: TokenId,
    pub day: String,
    /// The spend in `usage_daily`.
    pub recorded: i64,
    /// The sum of the charges of the day.
    pub sum: i64,
}

/// How many tokens and users there are, deleted ones included.
#[derive(Debug)]
pub struct RowCounts {
    pub tokens: i64,
    pub users: i64,
}

/// A read-only transaction on one snapshot, for statements that may take long.
pub async fn snapshot(db: &Db) -> Result<ReadTx, StorageError> {
    let mut tx = db.pool.begin_with("begin isolation level repeatable read read only").await?;
    sqlx::query!(
        r#"select set_config('statement_timeout', '0', true) as "a!",
           set_config('idle_in_transaction_session_timeout', '0', true) as "b!""#
    )
    .fetch_one(&mut *tx)
    .await?;
    plan_ranges(&mut tx).await?;
    Ok(tx)
}

/// Lets this transaction read ranges of rows by plans for them.
pub async fn plan_ranges(conn: &mut Conn) -> Result<(), StorageError> {
    sqlx::query!(
        r#"select set_config('plan_cache_mode', 'force_custom_plan', true) as "a!",
           set_config('enable_seqscan', 'on', true) as "b!", set_config('enable_hashjoin', 'on', true) as "c!",
           set_config('enable_mergejoin', 'on', true) as "d!", set_config('enable_bitmapscan', 'on', true) as "e!""#
    )
    .fetch_one(conn)
    .await?;
    Ok(())
}

/// Counts tokens and users.
pub async fn count_rows(conn: &mut Conn) -> Result<RowCounts, StorageError> {
    let rows = sqlx::query_as!(
        RowCounts,
        r#"select (select count(*) from tokens) as "tokens!", (select count(*) from users) as "users!""#
    );
    Ok(rows.fetch_one(conn).await?)
}

/// The largest id of the next `limit` tokens from the id `from` on; `None` if there are no more. Ids have gaps of any
/// size, so steps are of rows and not of ids.
pub async fn find_end_of_tokens(conn: &mut Conn, from: i64, limit: i64) -> Result<Option<i64>, StorageError> {
    let last = sqlx::query_scalar!(
        "select max(id) from (select id from tokens where id >= $1 order by id limit $2) as some_tokens",
        from,
        limit
    );
    Ok(last.fetch_one(conn).await?)
}

/// Like [`find_end_of_tokens`], of users.
pub async fn find_end_of_users(conn: &mut Conn, from: i64, limit: i64) -> Result<Option<i64>, StorageError> {
    let last = sqlx::query_scalar!(
        "select max(id) from (select id from users where id >= $1 order by id limit $2) as some_users",
        from,
        limit
    );
    Ok(last.fetch_one(conn).await?)
}

/// L1: the number of tokens and wallets with a negative balance. The schema forbids them too.
pub async fn count_negative_balances(conn: &mut Conn) -> Result<i64, StorageError> {
    let count = sqlx::query_scalar!(
        r#"select (select count(*) from tokens where remain_quota < 0 or used_quota < 0)
           + (select count(*) from users where quota < 0 or used_quota < 0) as "count!""#
    )
    .fetch_one(conn)
    .await?;
    Ok(count)
}

/// L3: tokens with ids in `from..=to` whose `used_quota` is not the sum of `opening_used`, their charges and their open
/// reservations. The charges are those of `usage_daily`, which is never deleted; L5 ties it to the charges that are
/// still kept.
pub async fn list_token_violations(
    conn: &mut Conn,
    from: i64,
    to: i64,
) -> Result<Vec<Violation<TokenId>>, StorageError> {
    let rows = sqlx::query!(
        r#"select t.id, t.used_quota as "recorded!: i64",
             (t.opening_used + coalesce(charged.quota, 0) + coalesce(held.quota, 0))::bigint as "sum!"
           from tokens t
           left join (select token_id, user_id, sum(quota) as quota from usage_daily
                      where token_id >= $1 and token_id <= $2 group by token_id, user_id) charged
             on charged.token_id = t.id and charged.user_id = t.user_id
           left join (select token_id, user_id, sum(held) as quota from reservations
                      where state = 'open' and token_id >= $1 and token_id <= $2 group by token_id, user_id) held
             on held.token_id = t.id and held.user_id = t.user_id
           where t.id >= $1 and t.id <= $2
             and t.used_quota <> t.opening_used + coalesce(charged.quota, 0) + coalesce(held.quota, 0)"#,
        from,
        to
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| Violation { id: row.id, recorded: row.recorded, sum: row.sum }).collect())
}

/// L3: users with ids in `from..=to` whose wallet's `used_quota` is not the sum of `opening_used` and of what all their
/// tokens used beyond theirs. Deleted tokens count too.
pub async fn list_wallet_violations(
    conn: &mut Conn,
    from: i64,
    to: i64,
) -> Result<Vec<Violation<UserId>>, StorageError> {
    let rows = sqlx::query!(
        r#"select u.id, u.used_quota as "recorded!: i64", (u.opening_used + coalesce(used.quota, 0))::bigint as "sum!"
           from users u
           left join (select user_id, sum(used_quota - opening_used) as quota from tokens
                      where user_id >= $1 and user_id <= $2 group by user_id) used on used.user_id = u.id
           where u.id >= $1 and u.id <= $2 and u.used_quota <> u.opening_used + coalesce(used.quota, 0)"#,
        from,
        to
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| Violation { id: row.id, recorded: row.recorded, sum: row.sum }).collect())
}

/// The first day of `zone` of which every charge is kept: older charges were deleted for their age.
pub async fn find_first_whole_day(conn: &mut Conn, zone: &str) -> Result<Day, StorageError> {
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

/// L5: days since `since`, of tokens with ids in `from..=to`, whose `usage_daily` is not the sum of their charges. A
/// charge of an older version has no day: it counts on the day of its time in `zone`.
pub async fn list_day_violations(
    conn: &mut Conn,
    from: i64,
    to: i64,
    zone: &str,
    since: Day,
) -> Result<Vec<DayViolation>, StorageError> {
    let rows = sqlx::query!(
        r#"with charged as (
             select token_id, user_id, coalesce(day, (to_timestamp(at) at time zone $3)::date) as day, model,
               sum(quota) as quota, count(*) as requests
             from charges where token_id >= $1 and token_id <= $2
               -- A day and the time of its charges are up to 38 hours apart.
               and at >= extract(epoch from $4::date - 2)::bigint
             group by 1, 2, 3, 4)
           select coalesce(u.token_id, c.token_id) as "token_id!: TokenId", coalesce(u.day, c.day)::text as "day!",
             coalesce(u.quota, 0) as "recorded!", coalesce(c.quota, 0)::bigint as "sum!"
           from (select * from usage_daily where token_id >= $1 and token_id <= $2 and day >= $4) u
           full join charged c
             on c.token_id = u.token_id and c.user_id = u.user_id and c.day = u.day and c.model = u.model
           where (coalesce(u.quota, 0) <> coalesce(c.quota, 0) or coalesce(u.requests, 0) <> coalesce(c.requests, 0))
             and coalesce(u.day, c.day) >= $4"#,
        from,
        to,
        zone,
        since as Day
    )
    .fetch_all(conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| DayViolation { token_id: row.token_id, day: row.day, recorded: row.recorded, sum: row.sum })
        .collect())
}

/// L9: tokens with ids in `from..=to` whose `held`, open reservations or period counters are not the sums that they
/// stand for. `recorded` and `sum` are those of the first that differs.
pub async fn list_token_limit_violations(
    conn: &mut Conn,
    from: i64,
    to: i64,
) -> Result<Vec<Violation<TokenId>>, StorageError> {
    let rows = sqlx::query!(
        r#"with counted as (
             select t.id, t.user_id,
               array[t.held, t.open_reservations, t.day_used, t.week_used, t.month_used] as recorded,
               array[coalesce(sum(d.quota) filter (where d.day = t.period_day), 0),
                 coalesce(sum(d.quota) filter (where d.day >= first_day_of_week(t.period_day, i.week_starts)), 0),
                 coalesce(sum(d.quota) filter (where d.day >= date_trunc('month', t.period_day)::date), 0)]::bigint[]
                 as used
             from installation i cross join tokens t left join usage_daily d on d.token_id = t.id
               and d.user_id = t.user_id and d.token_id >= $1 and d.token_id <= $2 and d.day > t.period_day - 31
             where t.id >= $1 and t.id <= $2 group by t.id, i.week_starts),
           compared as (
             select c.id, c.recorded, array[coalesce(r.held, 0), coalesce(r.open, 0)]::bigint[] || c.used as sums
             from counted c left join (
               select token_id, user_id, sum(held) as held, count(*) as open from reservations
               where state = 'open' and token_id >= $1 and token_id <= $2 group by token_id, user_id) r
               on r.token_id = c.id and r.user_id = c.user_id)
           select c.id as "id!: TokenId", v.recorded as "recorded!", v.sum as "sum!"
           from compared c cross join lateral (
             select a.recorded, a.sum from unnest(c.recorded, c.sums) with ordinality as a (recorded, sum, nth)
             where a.recorded <> a.sum order by a.nth limit 1) v"#,
        from,
        to
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| Violation { id: row.id, recorded: row.recorded, sum: row.sum }).collect())
}

/// L9: like [`list_token_limit_violations`], for the wallets of users with ids in `from..=to`.
pub async fn list_wallet_limit_violations(
    conn: &mut Conn,
    from: i64,
    to: i64,
) -> Result<Vec<Violation<UserId>>, StorageError> {
    let rows = sqlx::query!(
        r#"with held as (
             select user_id, sum(held) as held from tokens where user_id >= $1 and user_id <= $2 group by user_id),
           used as (
             select u.id,
               coalesce(sum(d.quota) filter (where d.day = u.period_day), 0) as day_used,
               coalesce(sum(d.quota) filter (where d.day >= first_day_of_week(u.period_day, i.week_starts)), 0)
                 as week_used,
               coalesce(sum(d.quota) filter (where d.day >= date_trunc('month', u.period_day)::date), 0) as month_used
             from installation i cross join users u join tokens t on t.user_id = u.id
               join usage_daily d on d.token_id = t.id and d.user_id = u.id and d.day > u.period_day - 31
             where u.id >= $1 and u.id <= $2 and t.user_id >= $1 and t.user_id <= $2 group by u.id)
           select u.id, v.recorded as "recorded!", v.sum as "sum!"
           from users u left join held h on h.user_id = u.id left join used s on s.id = u.id
           cross join lateral (
             select a.recorded, a.sum from unnest(
               array[u.held, u.day_used, u.week_used, u.month_used],
               array[coalesce(h.held, 0), coalesce(s.day_used, 0), coalesce(s.week_used, 0),
                 coalesce(s.month_used, 0)]::bigint[]) with ordinality as a (recorded, sum, nth)
             where a.recorded <> a.sum order by a.nth limit 1) v
           where u.id >= $1 and u.id <= $2"#,
        from,
        to
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| Violation { id: row.id, recorded: row.recorded, sum: row.sum }).collect())
}

/// A day or a month of a user, or of all users, whose sum is not that of `usage_daily`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RollUpViolation {
    /// 0: all users.
    pub user_id: UserId,
    /// The day, or the first of the month.
    pub day: String,
    pub recorded: i64,
    pub sum: i64,
}

/// Days and months of users with ids in `from..=to` whose sums for reports are not those of `usage_daily`.
pub async fn list_rollup_violations(conn: &mut Conn, from: i64, to: i64) -> Result<Vec<RollUpViolation>, StorageError> {
    let rows = sqlx::query!(
        r#"with used as not materialized (
             select d.* from usage_daily d, usage_rollup i
             where d.user_id >= $1 and d.user_id <= $2 and d.day < i.rolled_until),
           by_model as (
             select user_id, day, model, sum(quota) as quota, sum(requests) as requests,
               least(sum(prompt_tokens), 9223372036854775807) as prompt_tokens,
               least(sum(completion_tokens), 9223372036854775807) as completion_tokens from used group by 1, 2, 3),
           by_month as (
             select user_id, date_trunc('month', day)::date as month, token_id, model, sum(quota) as quota,
               sum(requests) as requests, least(sum(prompt_tokens), 9223372036854775807) as prompt_tokens,
               least(sum(completion_tokens), 9223372036854775807) as completion_tokens
             from used, usage_rollup i where day < date_trunc('month', i.rolled_until) group by 1, 2, 3, 4)
           select user_id as "user_id!: UserId", day::text as "day!", coalesce(r.quota, 0) as "recorded!",
             coalesce(s.quota, 0)::bigint as "sum!"
           from (select m.user_id, m.day, m.model, sum(m.quota)::bigint as quota, sum(m.requests) as requests,
                   least(sum(m.prompt_tokens), 9223372036854775807) as prompt_tokens,
                   least(sum(m.completion_tokens), 9223372036854775807) as completion_tokens
                 from usage_by_model m, usage_rollup i
                 where m.user_id >= $1 and m.user_id <= $2 and m.user_id <> 0 and m.day < i.rolled_until
                 group by 1, 2, 3) r
           full join by_model s using (user_id, day, model)
           where (r.quota, r.requests, r.prompt_tokens, r.completion_tokens)
             is distinct from (s.quota, s.requests, s.prompt_tokens, s.completion_tokens)
           union all
           select user_id, month::text, coalesce(r.quota, 0), coalesce(s.quota, 0)::bigint
           from (select m.* from usage_by_month m, usage_rollup i where m.user_id >= $1 and m.user_id <= $2
                 and m.month < date_trunc('month', i.rolled_until)) r
           full join by_month s using (user_id, month, token_id, model)
           where (r.quota, r.requests, r.prompt_tokens, r.completion_tokens)
             is distinct from (s.quota, s.requests, s.prompt_tokens, s.completion_tokens)"#,
        from,
        to
    )
    .fetch_all(conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| RollUpViolation { user_id: row.user_id, day: row.day, recorded: row.recorded, sum: row.sum })
        .collect())
}

/// Days on which the sums of user 0 (all users) differ from the sums of the users.
pub async fn list_rollup_violations_of_everyone(conn: &mut Conn) -> Result<Vec<RollUpViolation>, StorageError> {
    let rows = sqlx::query!(
        r#"with sums as (
             select m.day, m.model, m.gateway_id, m.user_id = 0 as is_everyone, sum(m.quota) as quota, sum(m.requests) as requests,
               least(sum(m.prompt_tokens), 9223372036854775807) as prompt_tokens,
               least(sum(m.completion_tokens), 9223372036854775807) as completion_tokens
             from usage_by_model m, usage_rollup i where m.day < i.rolled_until group by 1, 2, 3, 4)
           select day::text as "day!", coalesce(r.quota, 0)::bigint as "recorded!", coalesce(s.quota, 0)::bigint as "sum!"
           from (select * from sums where is_everyone) r full join (select * from sums where not is_everyone) s
             using (day, model, gateway_id)
           where (r.quota, r.requests, r.prompt_tokens, r.completion_tokens)
             is distinct from (s.quota, s.requests, s.prompt_tokens, s.completion_tokens)"#
    )
    .fetch_all(conn)
    .await?;
    Ok(rows
        .into_iter()
        .map(|row| RollUpViolation { user_id: UserId::new(0), day: row.day, recorded: row.recorded, sum: row.sum })
        .collect())
}
