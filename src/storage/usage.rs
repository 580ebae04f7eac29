//! The table `usage_daily`: what tokens spent, by day and model.

use super::{Conn, StorageError};
use crate::domain::id::TokenId;
use crate::domain::money::Quota;
use crate::domain::time::Day;
use crate::domain::usage::{DayUsage, UsageRange};

/// What was recorded for a token in a range: days with a record only, ascending.
pub async fn list(conn: &mut Conn, token: TokenId, range: UsageRange) -> Result<Vec<DayUsage>, StorageError> {
    let rows = sqlx::query_as!(
        DayUsage,
        r#"select day as "day: Day", sum(quota)::bigint as "quota!: Quota", sum(requests)::bigint as "requests!",
           sum(prompt_tokens)::bigint as "prompt_tokens!", sum(completion_tokens)::bigint as "completion_tokens!"
           from usage_daily where token_id = $1 and day between $2 and $3 group by day order by day"#,
        token as TokenId,
        range.first() as Day,
        range.last() as Day
    )
    .fetch_all(conn)
    .await?;
    Ok(rows)
}
