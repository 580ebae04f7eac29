//! Single charges in the table `charges`, newest first. Those of a user are read token by token, because `charges` has
//! no index of users: each index costs every charge.

use super::{Conn, StorageError};
use crate::domain::charge_history::{ChargeFilter, PastCharge};
use crate::domain::id::{TokenId, UserId};
use crate::domain::money::Quota;
use crate::domain::page::PageRequest;
use crate::domain::spend::SpendParts;
use crate::domain::time::{Day, UnixTime};
use crate::domain::token::Token;

/// The newest charges of a token, with those that another service made before an import.
pub async fn list_of_token(conn: &mut Conn, token: &Token, limit: i64) -> Result<Vec<PastCharge>, StorageError> {
    let rows = sqlx::query!(
        r#"(select id as "id!", at as "at!: UnixTime", model as "model!", quota as "quota!: Quota",
              prompt_tokens as "prompt_tokens!", completion_tokens as "completion_tokens!"
            from charges where token_id = $1 order by at desc, id desc limit $2)
           union all
           (select id, at, model, quota, prompt_tokens, completion_tokens
            from requests_imported where token_id = $1 order by at desc, id desc limit $2)
           order by 2 desc, 1 desc limit $2"#,
        token.id as TokenId,
        limit
    )
    .fetch_all(conn)
    .await?;
    let charges = rows.into_iter().map(|row| PastCharge {
        id: row.id,
        at: row.at,
        token_id: token.id,
        token_name: token.name.clone(),
        group: token.policy.group.clone(),
        model: row.model,
        quota: row.quota,
        prompt_tokens: row.prompt_tokens,
        completion_tokens: row.completion_tokens,
    });
    Ok(charges.collect())
}

/// A page of the charges of all tokens of a user, deleted tokens included, with those that another service made before
/// an import.
pub async fn list_of_user(
    conn: &mut Conn,
    owner: UserId,
    filter: &ChargeFilter,
    page: PageRequest,
) -> Result<Vec<PastCharge>, StorageError> {
    let rows = sqlx::query_as!(
        PastCharge,
        r#"select c.id as "id!", c.at as "at!: UnixTime", t.id as token_id, t.name as token_name, t.group_name as "group",
           c.model as "model!", c.quota as "quota!: Quota", c.prompt_tokens as "prompt_tokens!",
           c.completion_tokens as "completion_tokens!"
           from tokens t cross join lateral (
               (select id, at, model, quota, prompt_tokens, completion_tokens from charges
                where token_id = t.id and at between $2 and $3 and ($4::text is null or model = $4)
                order by at desc, id desc limit $6::bigint + $7::bigint)
               union all
               (select id, at, model, quota, prompt_tokens, completion_tokens from requests_imported
                where token_id = t.id and at between $2 and $3 and ($4::text is null or model = $4)
                order by at desc, id desc limit $6::bigint + $7::bigint)) c
           where t.user_id = $1 and ($5::text is null or t.name = $5)
           order by c.at desc, c.id desc limit $7 offset $6"#,
        owner as UserId,
        filter.from as UnixTime,
        filter.to as UnixTime,
        filter.model.as_deref(),
        filter.token_name.as_deref(),
        page.offset(),
        page.size()
    )
    .fetch_all(conn)
    .await?;
    Ok(rows)
}

/// The number of charges that [`list_of_user`] can return, counted no further than `bound`.
pub async fn count_of_user(
    conn: &mut Conn,
    owner: UserId,
    filter: &ChargeFilter,
    bound: i64,
) -> Result<i64, StorageError> {
    let count = sqlx::query_scalar!(
        r#"select count(*) as "count!" from (
               select 1 from tokens t cross join lateral (
                   (select 1 from charges
                    where token_id = t.id and at between $2 and $3 and ($4::text is null or model = $4) limit $6)
                   union all
                   (select 1 from requests_imported
                    where token_id = t.id and at between $2 and $3 and ($4::text is null or model = $4) limit $6)) c
               where t.user_id = $1 and ($5::text is null or t.name = $5) limit $6) counted"#,
        owner as UserId,
        filter.from as UnixTime,
        filter.to as UnixTime,
        filter.model.as_deref(),
        filter.token_name.as_deref(),
        bound
    )
    .fetch_one(conn)
    .await?;
    Ok(count)
}

/// The number of charges of all tokens of a user in a range of time, and their input and output tokens.
pub async fn count_tokens_of_user(
    conn: &mut Conn,
    owner: UserId,
    from: UnixTime,
    to: UnixTime,
) -> Result<(i64, i64), StorageError> {
    let row = sqlx::query!(
        r#"select count(*) as "requests!",
           least(coalesce(sum(c.prompt_tokens::numeric + c.completion_tokens), 0), 9223372036854775807)::bigint as "tokens!"
           from tokens t cross join lateral (
               select prompt_tokens, completion_tokens from charges
               where token_id = t.id and at between $2 and $3 offset 0) c
           where t.user_id = $1"#,
        owner as UserId,
        from as UnixTime,
        to as UnixTime
    )
    .fetch_one(conn)
    .await?;
    Ok((row.requests, row.tokens))
}

/// Every charge from this second on is kept; `None`: all charges.
pub async fn find_charges_since(conn: &mut Conn) -> Result<Option<UnixTime>, StorageError> {
    let row = sqlx::query!(r#"select charges_since as "since: UnixTime" from installation where id = 1"#);
    Ok(row.fetch_optional(conn).await?.and_then(|row| row.since))
}

/// The sum of the charges of all tokens of a user that pass the filter, from these parts (see [`SpendParts`]). `zone`
/// is the one of the days of charges that do not name theirs.
pub async fn sum_of_user(
    conn: &mut Conn,
    owner: UserId,
    filter: &ChargeFilter,
    parts: &SpendParts,
    zone: &str,
) -> Result<Quota, StorageError> {
    // Nothing is between two days of which the first is the later one.
    let (first_day, last_day) = parts.days.unwrap_or((Day::FIRST.plus_days(1), Day::FIRST));
    let (first_seconds, last_seconds): (Vec<UnixTime>, Vec<UnixTime>) = parts.edges.iter().copied().unzip();
    let sum = sqlx::query_scalar!(
        r#"select least(greatest(
             coalesce((
               select sum(d.quota) from usage_daily d
               where d.user_id = $1 and d.day between $6 and $7 and ($4::text is null or d.model = $4)
                 and ($5::text is null or exists (select from tokens t where t.id = d.token_id and t.name = $5))), 0)
             + coalesce((
               select sum(c.quota::numeric * (
                 (c.at between $2 and $3)::integer
                 - (coalesce(c.day, (to_timestamp(c.at) at time zone $10)::date) between $6 and $7)::integer))
               from tokens t cross join unnest($8::bigint[], $9::bigint[]) as edge (first, last)
               cross join lateral (
                 select at, day, quota from charges
                 where token_id = t.id and at between edge.first and edge.last and ($4::text is null or model = $4)
                 offset 0) c
               where t.user_id = $1 and ($5::text is null or t.name = $5)), 0),
             0), 9223372036854775807)::bigint as "sum!: Quota""#,
        owner as UserId,
        filter.from as UnixTime,
        filter.to as UnixTime,
        filter.model.as_deref(),
        filter.token_name.as_deref(),
        first_day as Day,
        last_day as Day,
        &first_seconds as &[UnixTime],
        &last_seconds as &[UnixTime],
        zone
    )
    .fetch_one(conn)
    .await?;
    Ok(sum)
}
