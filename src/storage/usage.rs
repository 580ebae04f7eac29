//! Usage of tokens by day: `usage_reported`, which is the table `usage_daily` and what was used before an import. And
//! the totals for a key.

use std::collections::HashMap;

use super::columns::{rate_limits, token_account};
use super::{Conn, StorageError};
use crate::domain::id::{TokenId, UserId};
use crate::domain::key::Digest;
use crate::domain::money::Quota;
use crate::domain::time::{Day, Lifetime, UnixTime};
use crate::domain::usage::{DayUsage, KeyUsage, UsageRange};

/// The usage of the live tokens with these keys that work, and the wallets of their live owners. `offset 0`: see
/// [`list_with_owners`](super::keys::list_with_owners).
pub async fn list_by_keys(
    conn: &mut Conn,
    digests: &[Digest],
    now: UnixTime,
) -> Result<HashMap<Digest, KeyUsage>, StorageError> {
    let digests: Vec<&[u8]> = digests.iter().map(Digest::as_bytes).collect();
    let rows = sqlx::query!(
        "select requested.digest as \"digest!: Digest\", t.name, t.remain_quota, t.unlimited_quota, t.used_quota, t.model_limits_enabled, \
         t.model_limits, t.expires_at, t.held, t.day_limit, t.week_limit, t.month_limit, t.period_day, t.day_used, \
         t.week_used, t.month_used, t.requests_per_minute, t.tokens_per_minute, t.concurrency, u.quota as wallet, u.status as owner_status \
         from unnest($1::bytea[]) as requested (digest) \
         cross join lateral (select id as token_id from tokens where key_digest = requested.digest \
           union all select token_id from old_keys where key_digest = requested.digest and not ended and expires_at > $2 offset 0) k \
         cross join lateral (select * from tokens where id = k.token_id offset 0) t \
         cross join lateral (select * from users where users.id = t.user_id offset 0) u \
         where t.deleted_time is null and u.deleted_time is null",
        &digests as &[&[u8]],
        now as UnixTime
    )
    .fetch_all(conn)
    .await?;
    let usages = rows.into_iter().map(|row| {
        let usage = KeyUsage {
            name: row.name,
            account: token_account!(row),
            model_limits_enabled: row.model_limits_enabled,
            model_limits: row.model_limits,
            lifetime: Lifetime::from(row.expires_at),
            rate_limits: rate_limits!(row),
            wallet: row.wallet,
            owner_status: row.owner_status,
        };
        (row.digest, usage)
    });
    Ok(usages.collect())
}

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
