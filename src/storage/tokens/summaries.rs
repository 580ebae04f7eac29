//! Tokens without what can be long, for their states.

use super::columns::token_of;
use crate::domain::bounds;
use crate::domain::id::UserId;
use crate::domain::ip_allowlist::IpAllowlist;
use crate::domain::model_limits::ModelLimits;
use crate::domain::token::{Token, TokenNote};
use crate::domain::token_summary::TokenSummary;
use crate::storage::{Conn, StorageError};

/// The newest live tokens of a user, or of all users, newest first, at most [`bounds::MAX_LISTED_TOKENS`]. The flag is
/// true if there are older ones.
pub async fn list_summaries(conn: &mut Conn, owner: Option<UserId>) -> Result<(Vec<TokenSummary>, bool), StorageError> {
    // Of the two arrays only one is read.
    let rows = sqlx::query!(
        r#"select id, user_id, key_hint, key_foreign, switched_off_by, name, '' as "note!: TokenNote", show_addresses,
             created_time, accessed_time, expires_at, remain_quota, unlimited_quota, used_quota, held, day_limit, week_limit,
             month_limit, period_day, day_used, week_used, month_used, requests_per_minute, tokens_per_minute, concurrency,
             requests_tat, tokens_tat, open_reservations, model_limits_enabled, '' as "model_limits!: ModelLimits",
             '' as "allow_ips!: IpAllowlist", group_name, cross_group_retry, version
           from tokens
           where id = any(case when $1::bigint is not null
               then array(select id from tokens where user_id = $1 and deleted_time is null order by id desc limit $2)
               else array(select id from tokens where deleted_time is null order by id desc limit $2) end)
             and deleted_time is null
           order by id desc"#,
        owner as Option<UserId>,
        bounds::MAX_LISTED_TOKENS + 1
    )
    .fetch_all(conn)
    .await?;
    let most = usize::try_from(bounds::MAX_LISTED_TOKENS).unwrap_or(usize::MAX);
    let is_truncated = rows.len() > most;
    Ok((rows.into_iter().take(most).map(|row| TokenSummary::new(token_of!(row))).collect(), is_truncated))
}
