//! Single charges and refusals with everything that is known of them, in windows of time. They are found by token and
//! time; those of everyone by time.

use super::refusals::LimitColumns;
use super::{Conn, StorageError};
use crate::domain::id::{GatewayId, ReservationId, TokenId, UserId};
use crate::domain::ledger::RefusalReason;
use crate::domain::money::Quota;
use crate::domain::refusals::RefusedCall;
use crate::domain::request_history::{
    OutcomeKind, PastOutcome, PastRequest, Position, RequestFilter, RequestToken, Window,
};
use crate::domain::scope::Scope;
use crate::domain::time::UnixTime;

/// Evaluates `$read!([$from], $bind)` with the `from` clause of these rows of `$table`. Its parameter is `$9`.
macro_rules! of {
    ($scope:expr, $table:tt, $read:ident) => {
        match $scope {
            Scope::Everyone => {
                $read!(
                    ["(select * from " + $table + " where at between $1 and $2 and $9::bigint = 0 offset 0) c"],
                    0_i64
                )
            }
            Scope::User(user) => $read!(
                ["(select c.* from tokens t cross join lateral (select * from "
                    + $table
                    + " where token_id = t.id and at between $1 and $2 offset 0) c where t.user_id = $9) c"],
                user.get()
            ),
            Scope::Token(token) => {
                $read!(["(select * from " + $table + " where token_id = $9 and at between $1 and $2) c"], token.get())
            }
        }
    };
}

/// The names of what a request belongs to, and the filter that charges and refusals share.
macro_rules! select {
    ($columns:tt, [$($from:tt)*], $tail:tt, $window:expr, $after:expr, $filter:expr, $most:expr, $kind:expr $(, $bind:expr)*) => {
        sqlx::query!(
            "select " + $columns + r#", c.id as "id!", c.at as "at!: UnixTime", c.token_id as "token_id!: TokenId",
             coalesce((select name from tokens where id = c.token_id), '') as "token_name!",
             c.user_id as "user_id!: UserId",
             coalesce((select username from users where id = c.user_id), '') as "username!",
             c.model as "model!", c.ip as "ip?", c.request_id as "request_id?", c.gateway_id as "gateway_id?: GatewayId",
             (select name from gateways where id = c.gateway_id) as "gateway_name?"
             from "# + $($from)* + r#"
             where (c.at, c.id) < ($3, $4) and ($5::text is null or c.model = $5)
               and ($6::bigint is null or c.gateway_id = $6) and ($7::text is null or c.request_id = $7) "# + $tail + r#"
             order by c.at desc, c.id desc limit $8"#,
            $window.from as UnixTime,
            $window.to as UnixTime,
            $after.at as UnixTime,
            $after.id_bound($kind),
            $filter.model.as_deref(),
            $filter.gateway_id.map(GatewayId::get),
            $filter.request_id.as_deref(),
            $most
            $(, $bind)*
        )
    };
}

/// The request of a row.
macro_rules! request_of {
    ($row:expr, $outcome:expr) => {
        PastRequest {
            id: $row.id,
            at: $row.at,
            token: RequestToken::of_row($row.token_id, $row.token_name, $row.user_id, $row.username),
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
    let only = filter.only.map(|only| only.id);
    macro_rules! read {
        ([$($from:tt)*], $bind:expr) => {{
            let rows = select!(
                r#"c.quota as "quota!: Quota", c.shortfall as "shortfall!: Quota", c.prompt_tokens as "prompt_tokens!",
                 c.completion_tokens as "completion_tokens!", c.reservation_id as "reservation_id?: ReservationId""#,
                [$($from)*],
                "and ($10::bigint is null or c.id = $10)",
                window, after, filter, most, OutcomeKind::Charged, $bind, only
            )
            .fetch_all(conn)
            .await?;
            rows.into_iter().map(|row| {
                let outcome = PastOutcome::Charged {
                    quota: row.quota,
                    shortfall: row.shortfall,
                    prompt_tokens: row.prompt_tokens,
                    completion_tokens: row.completion_tokens,
                    reservation_id: row.reservation_id,
                };
                request_of!(row, outcome)
            }).collect()
        }};
    }
    Ok(of!(scope, "charges", read))
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
    let (only, token_name) = (filter.only.map(|only| only.id), filter.token_name.as_deref());
    // A later version may have written others.
    let calls = RefusedCall::ALL.map(|call| call.as_str().to_owned());
    let reasons = filter.reason.as_ref().map_or(&RefusalReason::ALL[..], std::slice::from_ref);
    let reasons: Vec<_> = reasons.iter().map(|reason| reason.as_str().to_owned()).collect();
    macro_rules! read {
        ([$($from:tt)*], $bind:expr) => {{
            let rows = select!(
                r#"c.call as "call!: RefusedCall", c.reason as "reason!: RefusalReason", c.limit_name as "limit_name?",
                 c.limit_amount as "limit_amount?", c.limit_used as "limit_used?", c.resets_at as "resets_at?",
                 c.retry_after as "retry_after?", c.quota as "quota?: Quota", c.suppressed as "suppressed!""#,
                [$($from)*],
                "and ($10::bigint is null or c.id = $10) and c.reason = any($11) and c.call = any($12) \
                 and ($13::text is null or exists (select from tokens where id = c.token_id and name = $13))",
                window, after, filter, most, OutcomeKind::Refused, $bind, only, &reasons, &calls, token_name
            )
            .fetch_all(conn)
            .await?;
            rows.into_iter().map(|row| {
                let limit = LimitColumns {
                    name: row.limit_name.as_deref(),
                    amount: row.limit_amount,
                    used: row.limit_used,
                    resets_at: row.resets_at,
                    retry_after: row.retry_after,
                };
                let refusal = limit.refusal(row.reason);
                let outcome =
                    PastOutcome::Refused { call: row.call, refusal, quota: row.quota, suppressed: row.suppressed };
                request_of!(row, outcome)
            }).collect()
        }};
    }
    Ok(of!(scope, "refusals", read))
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
    let only = filter.only.map(|only| only.id);
    macro_rules! read {
        ($scope:literal, $bind:expr) => {{
            let rows = select!(
                r#"c.quota as "quota!: Quota", c.prompt_tokens as "prompt_tokens!", c.completion_tokens as "completion_tokens!""#,
                ["(select *, null::text as ip, null::text as request_id, null::bigint as gateway_id from requests_imported \
                   where " + $scope + " and at between $1 and $2) c"],
                "and ($10::bigint is null or c.id = $10)",
                window, after, filter, most, OutcomeKind::Imported, $bind, only
            )
            .fetch_all(conn)
            .await?;
            rows.into_iter().map(|row| {
                let outcome = PastOutcome::Imported {
                    quota: row.quota,
                    prompt_tokens: row.prompt_tokens,
                    completion_tokens: row.completion_tokens,
                };
                request_of!(row, outcome)
            }).collect()
        }};
    }
    Ok(match scope {
        Scope::Everyone => read!("$9::bigint = 0", 0_i64),
        Scope::User(user) => read!("user_id = $9", user.get()),
        Scope::Token(token) => read!("token_id = $9", token.get()),
    })
}

/// Lets this transaction use the BRIN index of charges by time: it needs the bitmap scans that connections switch off,
/// and a btree by token looks cheaper to the planner than it is. Only statements about everyone's requests run in such
/// a transaction, so no other plan is made under it.
pub async fn use_index_of_time(conn: &mut Conn) -> Result<(), StorageError> {
    sqlx::query!(
        r#"select set_config('enable_bitmapscan', 'on', true) as "a!", set_config('enable_indexscan', 'off', true) as "b!",
           set_config('enable_indexonlyscan', 'off', true) as "c!""#
    )
    .fetch_one(conn)
    .await?;
    Ok(())
}

/// Ends what [`use_index_of_time`] began, for a transaction that goes on with other statements.
pub async fn use_all_indexes(conn: &mut Conn) -> Result<(), StorageError> {
    sqlx::query!(
        r#"select set_config('enable_bitmapscan', 'off', true) as "a!", set_config('enable_indexscan', 'on', true) as "b!",
           set_config('enable_indexonlyscan', 'on', true) as "c!""#
    )
    .fetch_one(conn)
    .await?;
    Ok(())
}

/// How many rows of this kind a window has, whatever their filter; at most `most`.
pub async fn count(
    conn: &mut Conn,
    kind: OutcomeKind,
    scope: Scope,
    window: Window,
    most: i64,
) -> Result<i64, StorageError> {
    let Window { from, to } = window;
    macro_rules! count_of {
        ($table:tt) => {
            match scope {
                Scope::Everyone => {
                    sqlx::query_scalar!(
                        r#"select count(*) as "count!" from (select 1 from "#
                            + $table
                            + " where at between $1 and $2 limit $3) c",
                        from as UnixTime,
                        to as UnixTime,
                        most
                    )
                    .fetch_one(conn)
                    .await?
                }
                Scope::User(user) => {
                    sqlx::query_scalar!(
                        r#"select count(*) as "count!" from (select 1 from tokens t cross join lateral
                           (select 1 from "#
                            + $table
                            + " where token_id = t.id and at between $1 and $2 offset 0) c \
                           where t.user_id = $4 limit $3) c",
                        from as UnixTime,
                        to as UnixTime,
                        most,
                        user as UserId
                    )
                    .fetch_one(conn)
                    .await?
                }
                Scope::Token(token) => {
                    sqlx::query_scalar!(
                        r#"select count(*) as "count!" from (select 1 from "#
                            + $table
                            + " where token_id = $4 and at between $1 and $2 limit $3) c",
                        from as UnixTime,
                        to as UnixTime,
                        most,
                        token as TokenId
                    )
                    .fetch_one(conn)
                    .await?
                }
            }
        };
    }
    Ok(match kind {
        OutcomeKind::Charged => count_of!("charges"),
        OutcomeKind::Refused => count_of!("refusals"),
        OutcomeKind::Imported => count_of!("requests_imported"),
    })
}
