//! What was written while the database's clock was ahead, and how it is brought back to the present. Every function but
//! the first runs under the lock of the wallet.

use super::columns::{rate_counters, rate_limits};
use super::conn::Conn;
use super::errors::StorageError;
use crate::domain::id::{TokenId, UserId};
use crate::domain::rate_limits::{RateCounters, RateLimits};
use crate::domain::time::{Day, Micros, UnixTime};

/// A token with its rates.
#[derive(Debug, Clone, Copy)]
pub struct TokenRateCounters {
    pub id: TokenId,
    pub limits: RateLimits,
    pub counters: RateCounters,
}

/// Usage that was moved to another day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MovedUsage {
    /// The latest day that it was counted in.
    pub from: Day,
    pub quota: i64,
    pub requests: i64,
}

/// Users whose wallet was charged on a day after `last_day`, or who have a reservation that ends after `last_end`; at
/// most `limit` of each.
pub async fn list_users_ahead(
    conn: &mut Conn,
    last_day: Day,
    last_end: UnixTime,
    limit: i64,
) -> Result<Vec<UserId>, StorageError> {
    let users = sqlx::query_scalar!(
        r#"(select id as "id!: UserId" from users where period_day > $1 order by period_day limit $3)
           union
           (select user_id from reservations where state = 'open' and expires_at > $2 order by expires_at limit $3)"#,
        last_day as Day,
        last_end as UnixTime,
        limit
    )
    .fetch_all(conn)
    .await?;
    Ok(users)
}

/// Lets the statements of this transaction take minutes: a wallet may have millions of charges.
pub async fn allow_minutes(conn: &mut Conn) -> Result<(), StorageError> {
    sqlx::query_scalar!(r#"select set_config('statement_timeout', '10min', true) as "set!""#).fetch_one(conn).await?;
    Ok(())
}

/// Moves the daily usage of a user after `today` to `today`. Returns what was moved.
pub async fn move_daily_usage(conn: &mut Conn, user: UserId, today: Day) -> Result<Option<MovedUsage>, StorageError> {
    let row = sqlx::query!(
        r#"with moved as (
             delete from usage_daily d using tokens t
             where t.user_id = $1 and d.token_id = t.id and d.day > $2 returning d.*),
           sums as (
             select token_id, user_id, model, sum(quota)::bigint as quota, sum(requests)::bigint as requests,
               least(sum(prompt_tokens), 9223372036854775807)::bigint as prompt_tokens,
               least(sum(completion_tokens), 9223372036854775807)::bigint as completion_tokens
             from moved group by token_id, user_id, model),
           added as (
             insert into usage_daily as d (day, token_id, user_id, model, quota, requests, prompt_tokens,
               completion_tokens)
             select $2, token_id, user_id, model, quota, requests, prompt_tokens, completion_tokens from sums
             on conflict on constraint usage_daily_pkey do update set quota = d.quota + excluded.quota,
               requests = d.requests + excluded.requests,
               prompt_tokens = least(d.prompt_tokens::numeric + excluded.prompt_tokens, 9223372036854775807)::bigint,
               completion_tokens =
                 least(d.completion_tokens::numeric + excluded.completion_tokens, 9223372036854775807)::bigint)
           select max(day) as "day: Day", coalesce(sum(quota), 0)::bigint as "quota!",
             coalesce(sum(requests), 0)::bigint as "requests!" from moved"#,
        user as UserId,
        today as Day
    )
    .fetch_one(conn)
    .await?;
    Ok(row.day.map(|from| MovedUsage { from, quota: row.quota, requests: row.requests }))
}

/// Moves the charges of a user after `today` to `today`, and their time to `now` if it is later. A charge of an older
/// version has no day: it counts on the day of its time in `zone`.
pub async fn move_charges(
    conn: &mut Conn,
    user: UserId,
    today: Day,
    now: UnixTime,
    zone: &str,
) -> Result<u64, StorageError> {
    let done = sqlx::query!(
        "update charges c set day = $2, at = least(c.at, $3) from tokens t \
         where t.user_id = $1 and c.token_id = t.id and coalesce(c.day, (to_timestamp(c.at) at time zone $4)::date) > $2",
        user as UserId,
        today as Day,
        now as UnixTime,
        zone
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected())
}

/// Sets the counters of a user and of their tokens that are after `today` to `today`, and counts all again.
pub async fn count_periods(conn: &mut Conn, user: UserId, today: Day) -> Result<(), StorageError> {
    sqlx::query!("update users set period_day = $2 where id = $1 and period_day > $2", user as UserId, today as Day)
        .execute(&mut *conn)
        .await?;
    sqlx::query!(
        "update tokens set period_day = $2 where user_id = $1 and period_day > $2",
        user as UserId,
        today as Day
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!(r#"select count_periods($1, $1, week_starts) as "counted!: ()" from installation"#, user.get())
        .execute(conn)
        .await?;
    Ok(())
}

/// Locks the tokens of a user whose buckets are empty after `now`, or that were used after it, ids ascending.
pub async fn lock_rates(conn: &mut Conn, user: UserId, now: Micros) -> Result<Vec<TokenRateCounters>, StorageError> {
    let rows = sqlx::query!(
        r#"select id as "id: TokenId", requests_per_minute, tokens_per_minute, concurrency,
             requests_tat as "requests_tat: Micros", tokens_tat as "tokens_tat: Micros", open_reservations
           from tokens where user_id = $1 and (requests_tat > $2 or tokens_tat > $2 or accessed_time > $3)
           order by id for no key update"#,
        user as UserId,
        now as Micros,
        now.seconds() as UnixTime
    )
    .fetch_all(conn)
    .await?;
    let rates = rows.into_iter().map(|row| TokenRateCounters {
        id: row.id,
        limits: rate_limits!(row),
        counters: rate_counters!(row),
    });
    Ok(rates.collect())
}

/// Writes the rates of tokens; none of them was used after `now`.
pub async fn update_rates(conn: &mut Conn, tokens: &[TokenRateCounters], now: UnixTime) -> Result<(), StorageError> {
    let ids: Vec<TokenId> = tokens.iter().map(|token| token.id).collect();
    let requests: Vec<Micros> = tokens.iter().map(|token| token.counters.requests_tat).collect();
    let counts: Vec<Micros> = tokens.iter().map(|token| token.counters.tokens_tat).collect();
    sqlx::query!(
        "update tokens t set requests_tat = v.requests_tat, tokens_tat = v.tokens_tat, \
           accessed_time = least(t.accessed_time, $4) \
         from (select unnest($1::bigint[]) as id, unnest($2::bigint[]) as requests_tat, unnest($3::bigint[]) as tokens_tat) v \
         where t.id = any(array[v.id])",
        &ids as &[TokenId],
        &requests as &[Micros],
        &counts as &[Micros],
        now as UnixTime
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Lets no open reservation of a user end after `last_end`.
pub async fn cut_reservations(conn: &mut Conn, user: UserId, last_end: UnixTime) -> Result<(), StorageError> {
    sqlx::query!(
        "update reservations set expires_at = $2 where user_id = $1 and state = 'open' and expires_at > $2",
        user as UserId,
        last_end as UnixTime
    )
    .execute(conn)
    .await?;
    Ok(())
}
