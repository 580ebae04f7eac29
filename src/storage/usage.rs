//! Usage of tokens by day: `usage_reported`, which is the table `usage_daily` and what was used before an import.

use super::{Conn, StorageError};
use crate::domain::id::{TokenId, UserId};
use crate::domain::money::Quota;
use crate::domain::time::Day;
use crate::domain::usage::{DayUsage, UsageRange};

/// The usage of a token by day, ascending. Days without usage are left out.
pub async fn list(conn: &mut Conn, token: TokenId, range: UsageRange) -> Result<Vec<DayUsage>, StorageError> {
    let rows = sqlx::query_as!(
        DayUsage,
        r#"select day as "day!: Day", sum(quota)::bigint as "quota!: Quota", sum(requests)::bigint as "requests!",
           least(sum(prompt_tokens), 9223372036854775807)::bigint as "prompt_tokens!",
           least(sum(completion_tokens), 9223372036854775807)::bigint as "completion_tokens!"
           from usage_reported where token_id = $1 and day between $2 and $3 group by day order by day"#,
        token as TokenId,
        range.first() as Day,
        range.last() as Day
    )
    .fetch_all(conn)
    .await?;
    Ok(rows)
}

/// The usage of all tokens of a user by day, deleted tokens included, ascending. Days without usage are left out.
pub async fn list_of_user(conn: &mut Conn, owner: UserId, range: UsageRange) -> Result<Vec<DayUsage>, StorageError> {
    let rows = sqlx::query_as!(
        DayUsage,
        r#"select d.day as "day!: Day", sum(d.quota)::bigint as "quota!: Quota",
           sum(d.requests)::bigint as "requests!", least(sum(d.prompt_tokens), 9223372036854775807)::bigint as "prompt_tokens!",
           least(sum(d.completion_tokens), 9223372036854775807)::bigint as "completion_tokens!"
           from usage_reported d where d.user_id = $1 and d.day between $2 and $3 group by d.day order by d.day"#,
        owner as UserId,
        range.first() as Day,
        range.last() as Day
    )
    .fetch_all(conn)
    .await?;
    Ok(rows)
}
