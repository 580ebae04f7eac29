//! Single charges, refusals and imported requests, in windows of time. Those of a user are found by token and time,
//! because `charges` has no index by user: each index slows every charge. Those of all users are found by time.
//!
//! Each statement has three branches, for all users, a user and a token, and reads the rows of one. Those of all users
//! are read in a transaction after [`use_index_of_time`].

use super::refusals::LimitColumns;
use super::{Conn, StorageError, units};
use crate::domain::group::Group;
use crate::domain::id::{GatewayId, PriceId, ReservationId, TokenId, UserId};
use crate::domain::ledger::RefusalReason;
use crate::domain::money::Quota;
use crate::domain::prices::priced_by::{HoldReason, PricedBy};
use crate::domain::refusals::RefusedCall;
use crate::domain::remedy::Outlook;
use crate::domain::request_history::{
    OutcomeKind, PastOutcome, PastRequest, Position, RequestFilter, RequestToken, Window,
};
use crate::domain::scope::Scope;
use crate::domain::time::UnixTime;

/// The request of a row.
macro_rules! request_of {
    ($row:expr, $outcome:expr) => {
        PastRequest {
            id: $row.id,
            at: $row.at,
            token: RequestToken::of_row($row.token_id, $row.token_name, $row.user_id, $row.username),
            group: $row.token_group,
            model: $row.model,
            ip: $row.ip,
            request_id: $row.request_id,
            gateway_id: $row.gateway_id,
            gateway_name: $row.gateway_name,
            outcome: $outcome,
        }
    };
}

/// The newest charges of a window after `after` that pass the filter, newest first.
pub async fn list_charges(
    conn: &mut Conn,
    scope: Scope,
    window: Window,
    after: Position,
    filter: &RequestFilter,
    most: i64,
) -> Result<Vec<PastRequest>, StorageError> {
    let (user, token) = scope.ids();
    let rows = sqlx::query!(
        r#"select c.quota as "quota!: Quota", c.shortfall as "shortfall!: Quota", c.prompt_tokens as "prompt_tokens!",
             c.completion_tokens as "completion_tokens!", c.cached_tokens as "cached_tokens?",
             c.cache_write_tokens as "cache_write_tokens?", c.units::text as "units?", c.hold_reason as "hold_reason?",
             c.price_id as "price_id?: PriceId", c.reservation_id as "reservation_id?: ReservationId",
             c.id as "id!", c.at as "at!: UnixTime", c.token_id as "token_id!: TokenId",
             coalesce((select name from tokens where id = c.token_id), '') as "token_name!",
             coalesce((select group_name from tokens where id = c.token_id), '') as "token_group!: Group",
             c.user_id as "user_id!: UserId",
             coalesce((select username from users where id = c.user_id), '') as "username!",
             c.model as "model!", c.ip as "ip?", c.request_id as "request_id?", c.gateway_id as "gateway_id?: GatewayId",
             (select name from gateways where id = c.gateway_id) as "gateway_name?"
           from (
             (select * from charges where at between $1 and $2 and $3::bigint is null and $4::bigint is null offset 0)
             union all
             select c.* from tokens t cross join lateral (
               select * from charges where token_id = t.id and at between $1 and $2 and (at, id) < ($5, $6)
                 and ($7::text is null or model = $7) and ($8::bigint is null or gateway_id = $8)
                 and ($9::text is null or request_id = $9) and ($10::bigint is null or id = $10)
               order by at desc, id desc limit $12) c
             where t.user_id = $3 and ($11::text is null or t.name = $11)
             union all
             (select * from charges where token_id = $4 and at between $1 and $2 and (at, id) < ($5, $6)
                and ($7 is null or model = $7) and ($8 is null or gateway_id = $8)
                and ($9 is null or request_id = $9) and ($10 is null or id = $10)
              order by at desc, id desc limit $12)) c
           where (c.at, c.id) < ($5, $6) and ($7::text is null or c.model = $7) and ($8::bigint is null or c.gateway_id = $8)
             and ($9::text is null or c.request_id = $9) and ($10::bigint is null or c.id = $10)
             and ($11::text is null or exists (select from tokens where id = c.token_id and name = $11))
           order by c.at desc, c.id desc limit $12"#,
        window.from as UnixTime,
        window.to as UnixTime,
        user as Option<UserId>,
        token as Option<TokenId>,
        after.at as UnixTime,
        after.id_bound(OutcomeKind::Charged),
        filter.model.as_deref(),
        filter.gateway_id.map(GatewayId::get),
        filter.request_id.as_deref(),
        filter.only.map(|only| only.id),
        filter.token_name.as_deref(),
        most
    )
    .fetch_all(conn)
    .await?;
    let requests = rows.into_iter().map(|row| {
        let outcome = PastOutcome::Charged {
            quota: row.quota,
            shortfall: row.shortfall,
            units: units::read(
                row.prompt_tokens,
                row.completion_tokens,
                (row.cached_tokens, row.cache_write_tokens),
                row.units.as_deref(),
            ),
            priced_by: PricedBy::of(row.price_id.is_some(), row.hold_reason.and_then(|name| HoldReason::parse(&name))),
            price_id: row.price_id,
            reservation_id: row.reservation_id,
            details: None,
        };
        request_of!(row, outcome)
    });
    Ok(requests.collect())
}

/// The newest refusals of a window, in the same way.
pub async fn list_refusals(
    conn: &mut Conn,
    scope: Scope,
    window: Window,
    after: Position,
    filter: &RequestFilter,
    most: i64,
) -> Result<Vec<PastRequest>, StorageError> {
    let (user, token) = scope.ids();
    // Rows of a later version may have other calls and reasons.
    let calls = RefusedCall::ALL.map(|call| call.as_str().to_owned());
    let reasons = filter.reason.as_ref().map_or(&RefusalReason::ALL[..], std::slice::from_ref);
    let reasons: Vec<_> = reasons.iter().map(|reason| reason.as_str().to_owned()).collect();
    let rows = sqlx::query!(
        r#"select c.call as "call!: RefusedCall", c.reason as "reason!: RefusalReason", c.limit_name as "limit_name?",
             c.limit_amount as "limit_amount?", c.limit_used as "limit_used?", c.resets_at as "resets_at?",
             c.retry_after as "retry_after?", c.quota as "quota?: Quota", c.suppressed as "suppressed!",
             c.id as "id!", c.at as "at!: UnixTime", c.token_id as "token_id!: TokenId",
             coalesce((select name from tokens where id = c.token_id), '') as "token_name!",
             coalesce((select group_name from tokens where id = c.token_id), '') as "token_group!: Group",
             c.user_id as "user_id!: UserId",
             coalesce((select username from users where id = c.user_id), '') as "username!",
             c.model as "model!", c.ip as "ip?", c.request_id as "request_id?", c.gateway_id as "gateway_id?: GatewayId",
             (select name from gateways where id = c.gateway_id) as "gateway_name?"
           from (
             (select * from refusals where at between $1 and $2 and $3::bigint is null and $4::bigint is null offset 0)
             union all
             select c.* from tokens t cross join lateral (
               select * from refusals where token_id = t.id and at between $1 and $2 offset 0) c
             where t.user_id = $3
             union all
             select * from refusals where token_id = $4 and at between $1 and $2) c
           where (c.at, c.id) < ($5, $6) and ($7::text is null or c.model = $7) and ($8::bigint is null or c.gateway_id = $8)
             and ($9::text is null or c.request_id = $9) and ($10::bigint is null or c.id = $10)
             and ($11::text is null or exists (select from tokens where id = c.token_id and name = $11))
             and c.reason = any($13) and c.call = any($14)
           order by c.at desc, c.id desc limit $12"#,
        window.from as UnixTime,
        window.to as UnixTime,
        user as Option<UserId>,
        token as Option<TokenId>,
        after.at as UnixTime,
        after.id_bound(OutcomeKind::Refused),
        filter.model.as_deref(),
        filter.gateway_id.map(GatewayId::get),
        filter.request_id.as_deref(),
        filter.only.map(|only| only.id),
        filter.token_name.as_deref(),
        most,
        &reasons,
        &calls
    )
    .fetch_all(conn)
    .await?;
    let requests = rows.into_iter().map(|row| {
        let limit = LimitColumns {
            name: row.limit_name.as_deref(),
            amount: row.limit_amount,
            used: row.limit_used,
            resets_at: row.resets_at,
            retry_after: row.retry_after,
        };
        let refusal = limit.refusal(row.reason);
        let outcome = PastOutcome::Refused {
            call: row.call,
            refusal,
            quota: row.quota,
            suppressed: row.suppressed,
            outlook: Outlook::default(),
        };
        request_of!(row, outcome)
    });
    Ok(requests.collect())
}

/// The newest requests of a window that another service charged, in the same way.
pub async fn list_imported(
    conn: &mut Conn,
    scope: Scope,
    window: Window,
    after: Position,
    filter: &RequestFilter,
    most: i64,
) -> Result<Vec<PastRequest>, StorageError> {
    let (user, token) = scope.ids();
    let rows = sqlx::query!(
        r#"select c.quota as "quota!: Quota", c.prompt_tokens as "prompt_tokens!", c.completion_tokens as "completion_tokens!",
             c.id as "id!", c.at as "at!: UnixTime", c.token_id as "token_id!: TokenId",
             coalesce((select name from tokens where id = c.token_id), '') as "token_name!",
             coalesce((select group_name from tokens where id = c.token_id), '') as "token_group!: Group",
             c.user_id as "user_id!: UserId",
             coalesce((select username from users where id = c.user_id), '') as "username!",
             c.model as "model!", null::text as "ip?", null::text as "request_id?",
             null::bigint as "gateway_id?: GatewayId", null::text as "gateway_name?"
           from (
             select * from requests_imported where at between $1 and $2 and $3::bigint is null and $4::bigint is null
             union all
             select * from requests_imported where user_id = $3 and at between $1 and $2
             union all
             select * from requests_imported where token_id = $4 and at between $1 and $2) c
           where (c.at, c.id) < ($5, $6) and ($7::text is null or c.model = $7) and $8::bigint is null and $9::text is null
             and ($10::bigint is null or c.id = $10)
             and ($11::text is null or exists (select from tokens where id = c.token_id and name = $11))
           order by c.at desc, c.id desc limit $12"#,
        window.from as UnixTime,
        window.to as UnixTime,
        user as Option<UserId>,
        token as Option<TokenId>,
        after.at as UnixTime,
        after.id_bound(OutcomeKind::Imported),
        filter.model.as_deref(),
        filter.gateway_id.map(GatewayId::get),
        filter.request_id.as_deref(),
        filter.only.map(|only| only.id),
        filter.token_name.as_deref(),
        most
    )
    .fetch_all(conn)
    .await?;
    let requests = rows.into_iter().map(|row| {
        let units = units::read(row.prompt_tokens, row.completion_tokens, (None, None), None);
        let outcome = PastOutcome::Imported { quota: row.quota, units };
        request_of!(row, outcome)
    });
    Ok(requests.collect())
}

/// Lets this transaction use the BRIN index of charges by time, if its statements are about all users: it needs the
/// bitmap scans that connections switch off, and a btree by token looks cheaper to the planner than it is. A plan that
/// is made under these settings is not kept for the same statement about one user.
pub async fn use_index_of_time(conn: &mut Conn, scope: Scope) -> Result<(), StorageError> {
    if matches!(scope, Scope::Everyone) {
        sqlx::query!(
            r#"select set_config('enable_bitmapscan', 'on', true) as "a!",
               set_config('enable_indexscan', 'off', true) as "b!",
               set_config('enable_indexonlyscan', 'off', true) as "c!",
               set_config('plan_cache_mode', 'force_custom_plan', true) as "d!""#
        )
        .fetch_one(conn)
        .await?;
    }
    Ok(())
}

/// Undoes [`use_index_of_time`], so that later statements of the transaction are planned as usual.
pub async fn use_all_indexes(conn: &mut Conn, scope: Scope) -> Result<(), StorageError> {
    if matches!(scope, Scope::Everyone) {
        sqlx::query!(
            r#"select set_config('enable_bitmapscan', 'off', true) as "a!",
               set_config('enable_indexscan', 'on', true) as "b!", set_config('enable_indexonlyscan', 'on', true) as "c!""#
        )
        .fetch_one(&mut *conn)
        .await?;
        sqlx::query!("set local plan_cache_mode to default").execute(conn).await?;
    }
    Ok(())
}

/// How many rows of this kind a window has, at most `most`: all, or those of a user or a token that have the model and
/// the name of the token of `filter`.
pub async fn count(
    conn: &mut Conn,
    kind: OutcomeKind,
    scope: Scope,
    window: Window,
    filter: Option<&RequestFilter>,
    most: i64,
) -> Result<i64, StorageError> {
    let (user, token) = scope.ids();
    let count = sqlx::query_scalar!(
        r#"select case $6::text
             when 'charged' then (
               select count(*) from (
                 select 1 from charges
                 where at between $1 and $2 and $3::bigint is null and $4::bigint is null
                 union all
                 select 1 from tokens t cross join lateral (
                   select 1 from charges where token_id = t.id and at between $1 and $2
                     and ($7::text is null or model = $7) offset 0) c
                 where t.user_id = $3 and ($8::text is null or t.name = $8)
                 union all
                 select 1 from charges
                 where token_id = $4 and at between $1 and $2 and ($7::text is null or model = $7)
                 limit $5) c)
             when 'refused' then (
               select count(*) from (
                 select 1 from refusals
                 where at between $1 and $2 and $3::bigint is null and $4::bigint is null
                 union all
                 select 1 from tokens t cross join lateral (
                   select 1 from refusals where token_id = t.id and at between $1 and $2
                     and ($7::text is null or model = $7) offset 0) c
                 where t.user_id = $3 and ($8::text is null or t.name = $8)
                 union all
                 select 1 from refusals
                 where token_id = $4 and at between $1 and $2 and ($7::text is null or model = $7)
                 limit $5) c)
             when 'imported' then (
               select count(*) from (
                 select 1 from requests_imported
                 where at between $1 and $2 and $3::bigint is null and $4::bigint is null
                 union all
                 select 1 from requests_imported
                 where user_id = $3 and at between $1 and $2 and ($7::text is null or model = $7)
                   and ($8::text is null or exists (select from tokens where id = token_id and name = $8))
                 union all
                 select 1 from requests_imported
                 where token_id = $4 and at between $1 and $2 and ($7::text is null or model = $7)
                 limit $5) c)
             end as "count!""#,
        window.from as UnixTime,
        window.to as UnixTime,
        user as Option<UserId>,
        token as Option<TokenId>,
        most,
        kind.as_str(),
        filter.and_then(|filter| filter.model.as_deref()),
        filter.and_then(|filter| filter.token_name.as_deref())
    );
    Ok(count.fetch_one(conn).await?)
}
