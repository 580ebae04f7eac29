//! Sums of `usage_daily` over the days that have ended, for reports over long ranges: `usage_by_model`, by user, day,
//! model and gateway, and `usage_by_month`, by token, month and model. `usage_rollup` says how far they go.
//!
//! A day is closed first: no charge counts in it any more. So what was added up once stays right.

use super::clock_repair::allow_minutes;
use super::retention::wait_briefly;
use super::usage_reports::group_by_hash;
use super::{Conn, StorageError};
use crate::domain::id::UserId;
use crate::domain::spend::charged_between;
use crate::domain::time::{Day, UnixTime};

/// How far the sums go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RollUp {
    /// No charge counts in a day before this one any more.
    pub closed_until: Day,
    /// The sums have every day before this one.
    pub rolled_until: Day,
    pub pass: Option<Pass>,
}

/// Days that are being added up, some users at a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pass {
    pub from: Day,
    /// The day after the last one; of the same month, or the first of the next.
    pub until: Day,
    /// The users up to this one are done.
    pub after: UserId,
}

/// Reads how far the sums go.
pub async fn find(conn: &mut Conn) -> Result<RollUp, StorageError> {
    let row = sqlx::query!(
        r#"select closed_until as "closed_until: Day", rolled_until as "rolled_until: Day",
             rolling_until as "rolling_until: Day", rolled_user as "rolled_user: UserId"
           from usage_rollup where id = 1"#
    )
    .fetch_one(conn)
    .await?;
    let pass = row.rolling_until.map(|until| Pass { from: row.rolled_until, until, after: row.rolled_user });
    Ok(RollUp { closed_until: row.closed_until, rolled_until: row.rolled_until, pass })
}

/// The same. They go no further until the transaction ends, and no closed day is opened.
pub async fn lock(conn: &mut Conn) -> Result<RollUp, StorageError> {
    sqlx::query!("select from usage_rollup where id = 1 for update").fetch_one(&mut *conn).await?;
    find(conn).await
}

/// How many days from `day` on have sums, counted no further than `bound`.
pub async fn count_days_from(conn: &mut Conn, day: Day, bound: i64) -> Result<i64, StorageError> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from (
             select distinct day from usage_by_model where user_id = 0 and day >= $1 limit $2) as some_days"#,
        day as Day,
        bound
    );
    Ok(count.fetch_one(conn).await?)
}

/// Closes the days before `until`. [`StorageError::Blocked`] while a transaction that holds wallets takes longer than a
/// moment.
///
/// A batch of charges reads the closed days with the wallets that it locks. So none that read the former ones is under
/// way when these are closed, and all others find them closed.
pub async fn close_days(conn: &mut Conn, until: Day) -> Result<(), StorageError> {
    wait_briefly(&mut *conn).await?;
    sqlx::query!("lock table users in exclusive mode").execute(&mut *conn).await?;
    sqlx::query!("update usage_rollup set closed_until = $1 where closed_until < $1", until as Day)
        .execute(conn)
        .await?;
    Ok(())
}

/// The first day from `from` on, and before `until`, with usage.
pub async fn find_first_day(conn: &mut Conn, from: Day, until: Day) -> Result<Option<Day>, StorageError> {
    let day = sqlx::query_scalar!(
        r#"select min(day) as "day: Day" from usage_daily where day >= $1 and day < $2"#,
        from as Day,
        until as Day
    )
    .fetch_one(conn)
    .await?;
    Ok(day)
}

/// Records how far the sums go, and which days are being added up.
pub async fn update(conn: &mut Conn, rolled_until: Day, pass: Option<Pass>) -> Result<(), StorageError> {
    sqlx::query!(
        "update usage_rollup set rolled_until = $1, rolling_until = $2, rolled_user = $3",
        rolled_until as Day,
        pass.map(|pass| pass.until) as Option<Day>,
        pass.map_or(UserId::new(0), |pass| pass.after) as UserId
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Adds up the days of a pass for the next users, at most `limit`. If the pass ends a month, also that month. Returns
/// the last of the users, or none if all are done.
pub async fn add_users(
    conn: &mut Conn,
    pass: Pass,
    ended_month: Option<Day>,
    limit: i64,
) -> Result<Option<UserId>, StorageError> {
    // A user without a charge since then has no usage in these days.
    let since = ended_month.unwrap_or(pass.from);
    let last = sqlx::query_scalar!(
        r#"select max(id) as "id: UserId" from (
             select id from users where id > $1 and period_day >= $2 order by id limit $3) as some_users"#,
        pass.after as UserId,
        since as Day,
        limit
    )
    .fetch_one(&mut *conn)
    .await?;
    let Some(last) = last else {
        return Ok(None);
    };
    allow_minutes(&mut *conn).await?;
    group_by_hash(&mut *conn).await?;
    let (first, last_second) = charged_between(pass.from, pass.until);
    // What the charges do not say of the sum is of no gateway.
    sqlx::query!(
        "with by_gateway as materialized ( \
           select c.user_id, c.day, c.model, c.gateway_id, sum(c.quota) as quota, count(*) as requests, \
             sum(c.prompt_tokens) as prompt_tokens, sum(c.completion_tokens) as completion_tokens \
           from users u join tokens t on t.user_id = u.id cross join lateral ( \
             select * from charges where token_id = t.id and at between $5 and $6 and gateway_id is not null offset 0) c \
           where u.id > $1 and u.id <= $2 and u.period_day >= $3 and c.day >= $3 and c.day < $4 \
           group by c.user_id, c.day, c.model, c.gateway_id), \
         rest as ( \
           select user_id, day, model, sum(quota) as quota, sum(requests) as requests, \
             sum(prompt_tokens) as prompt_tokens, sum(completion_tokens) as completion_tokens \
           from ( \
             select d.user_id, d.day, d.model, d.quota, d.requests, d.prompt_tokens, d.completion_tokens \
             from users u cross join lateral ( \
               select * from usage_daily where user_id = u.id and day >= $3 and day < $4 offset 0) d \
             where u.id > $1 and u.id <= $2 and u.period_day >= $3 \
             union all \
             select user_id, day, model, -quota, -requests, -prompt_tokens, -completion_tokens from by_gateway) all_and_known \
           group by user_id, day, model having sum(requests) > 0) \
         insert into usage_by_model (user_id, day, model, gateway_id, quota, requests, prompt_tokens, completion_tokens) \
         select user_id, day, model, gateway_id, quota, requests, least(prompt_tokens, 9223372036854775807), \
           least(completion_tokens, 9223372036854775807) from by_gateway \
         union all \
         select user_id, day, model, 0, greatest(quota, 0), requests, greatest(least(prompt_tokens, 9223372036854775807), 0), \
           greatest(least(completion_tokens, 9223372036854775807), 0) from rest",
        pass.after as UserId,
        last as UserId,
        pass.from as Day,
        pass.until as Day,
        first as UnixTime,
        last_second as UnixTime
    )
    .execute(&mut *conn)
    .await?;
    if let Some(month) = ended_month {
        sqlx::query!(
            "insert into usage_by_month (user_id, month, token_id, model, quota, requests, prompt_tokens, completion_tokens) \
             select d.user_id, $3, d.token_id, d.model, sum(d.quota), sum(d.requests), \
               least(sum(d.prompt_tokens), 9223372036854775807), least(sum(d.completion_tokens), 9223372036854775807) \
             from users u cross join lateral ( \
               select * from usage_daily where user_id = u.id and day >= $3 and day < $4 offset 0) d \
             where u.id > $1 and u.id <= $2 and u.period_day >= $3 group by d.user_id, d.token_id, d.model",
            pass.after as UserId,
            last as UserId,
            month as Day,
            pass.until as Day
        )
        .execute(conn)
        .await?;
    }
    Ok(Some(last))
}

/// Adds up the sums of all users of the days of a pass.
pub async fn add_everyone(conn: &mut Conn, pass: Pass) -> Result<(), StorageError> {
    allow_minutes(&mut *conn).await?;
    group_by_hash(&mut *conn).await?;
    sqlx::query!(
        "insert into usage_by_model (user_id, day, model, gateway_id, quota, requests, prompt_tokens, completion_tokens) \
         select 0, day, model, gateway_id, sum(quota), sum(requests), least(sum(prompt_tokens), 9223372036854775807), \
           least(sum(completion_tokens), 9223372036854775807) \
         from usage_by_model where day >= $1 and day < $2 group by day, model, gateway_id",
        pass.from as Day,
        pass.until as Day
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Opens the days from `day` on, because the clock that closed them was ahead, and takes back their sums. No day is
/// closed until the transaction ends.
pub async fn reopen_days(conn: &mut Conn, day: Day) -> Result<(), StorageError> {
    let rolled_until = sqlx::query_scalar!(
        r#"update usage_rollup set closed_until = $1, rolled_until = least(rolled_until, $1), rolling_until = null,
             rolled_user = 0
           where closed_until > $1 returning rolled_until as "rolled_until: Day""#,
        day as Day
    )
    .fetch_optional(&mut *conn)
    .await?;
    let Some(rolled_until) = rolled_until else {
        return Ok(());
    };
    allow_minutes(&mut *conn).await?;
    // Also those of a pass that was under way.
    sqlx::query!("delete from usage_by_model where day >= $1", rolled_until as Day).execute(&mut *conn).await?;
    sqlx::query!("delete from usage_by_month where month >= date_trunc('month', $1::date)", rolled_until as Day)
        .execute(conn)
        .await?;
    Ok(())
}
