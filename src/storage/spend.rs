//! What the tokens of a user spent, summed from single charges and from daily usage.

use super::{Conn, StorageError};
use crate::domain::id::UserId;
use crate::domain::money::Quota;
use crate::domain::request_history::RequestFilter;
use crate::domain::spend::SpendParts;
use crate::domain::time::{Day, UnixTime};

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
    filter: &RequestFilter,
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
