//! Reports over `usage_reported`: the table `usage_daily`, and what was used before an import. Grouped. Of days that
//! are rolled up, their sums are read instead (see [`usage_rollup`](super::usage_rollup)).

use chrono_tz::Tz;

use super::request_history::{use_all_indexes, use_index_of_time};
use super::{Conn, StorageError};
use crate::domain::bounds;
use crate::domain::id::{GatewayId, TokenId, UserId};
use crate::domain::money::Quota;
use crate::domain::spend::charged_between;
use crate::domain::time::{Day, UnixTime};
use crate::domain::usage_report::{Amounts, Dimension, Grouping, ReportRow, ReportSpan};

/// The lines of a report, and the rows that were read for them.
#[derive(Debug)]
pub struct Grouped {
    /// One more than [`bounds::MAX_REPORT_ROWS`] if there are more.
    pub rows: Vec<ReportRow>,
    pub read: i64,
}

/// Which sums suffice for a report. All come from `usage_daily`, which alone has the days that are not rolled up yet.
#[derive(Debug, Clone, Copy)]
enum Detail {
    /// Those of a user, or of everyone, by day and model.
    Models,
    /// The same by gateway. The days that are not rolled up come from the charges.
    Gateways,
    /// Those of a token by month and model. The days of months that are not whole come from `usage_daily`.
    TokensByMonth,
    TokensByDay,
}

impl Detail {
    fn of(grouping: &Grouping) -> Self {
        match (grouping.has(Dimension::Token), grouping.time()) {
            (false, _) if grouping.has(Dimension::Gateway) => Self::Gateways,
            (false, _) => Self::Models,
            (true, Some(Dimension::Day)) => Self::TokensByDay,
            (true, _) => Self::TokensByMonth,
        }
    }
}

/// Groups the rows of `$from`, whose parameters begin with `$9`.
macro_rules! grouped {
    ($conn:expr, $span:expr, $grouping:expr, [$($from:tt)*] $(, $bind:expr)* $(,)?) => {{
        let rows = sqlx::query!(
            r#"select case $3::text when 'day' then day when 'month' then date_trunc('month', day)::date end as "day: Day",
               case when $4::boolean then user_id end as "user_id: UserId",
               case when $5::boolean then token_id end as "token_id: TokenId",
               case when $6::boolean then model end as "model", case when $7::boolean then gateway_id end as "gateway_id",
               sum(quota)::bigint as "quota!: Quota", sum(requests)::bigint as "requests!",
               least(sum(prompt_tokens), 9223372036854775807)::bigint as "prompt_tokens!",
               least(sum(completion_tokens), 9223372036854775807)::bigint as "completion_tokens!",
               (sum(count(*)) over ())::bigint as "read!" from "# + $($from)* + r#"
               group by 1, 2, 3, 4, 5
               order by 1, case when $3 is null then sum(quota) else 0 end desc, 2, 3, 4, 5 limit $8"#,
            $span.from as Day,
            $span.to as Day,
            $grouping.time().map(Dimension::as_str),
            $grouping.has(Dimension::User),
            $grouping.has(Dimension::Token),
            $grouping.has(Dimension::Model),
            $grouping.has(Dimension::Gateway),
            bounds::MAX_REPORT_ROWS + 1
            $(, $bind)*
        )
        .fetch_all(&mut *$conn)
        .await?;
        let read = rows.first().map_or(0, |row| row.read);
        let rows = rows.into_iter().map(|row| ReportRow {
            day: row.day,
            user_id: row.user_id,
            token_id: row.token_id,
            model: row.model,
            gateway_id: row.gateway_id.filter(|id| *id != 0).map(GatewayId::new),
            amounts: Amounts {
                quota: row.quota,
                requests: row.requests,
                prompt_tokens: row.prompt_tokens,
                completion_tokens: row.completion_tokens,
            },
        });
        Grouped { rows: rows.collect(), read }
    }};
}

/// Groups the rows that suffice: those of everyone or of a user, as the literals say, whose parameter is `$9`.
/// `$models` selects the sums by model, and `$charges` the charges of the seconds from `$10` to `$11`. Reads one row
/// more than [`bounds::MAX_REPORT_READ`] at most.
macro_rules! grouped_of {
    ($conn:expr, $span:expr, $grouping:expr, $whose:literal, $models:literal, $charges:literal, $bind:expr) => {{
        group_by_hash($conn).await?;
        let most = bounds::MAX_REPORT_READ + 1;
        match Detail::of($grouping) {
            Detail::Models => grouped!(
                $conn,
                $span,
                $grouping,
                ["(select u.* from usage_rollup r cross join lateral ( \
                     select * from usage_report_daily where " + $whose + " and day between greatest($1, r.rolled_until) and $2 \
                     union all " + $models + " \
                     union all \
                     select * from usage_report_imported where " + $whose + " and day between $1 and $2) u \
                   where r.id = 1 limit $10) u"],
                $bind,
                most
            ),
            Detail::Gateways => {
                let (from, to) = charged_between($span.from, $span.to.plus_days(1));
                grouped!(
                    $conn,
                    $span,
                    $grouping,
                    ["(select u.* from usage_rollup r cross join lateral ( \
                         select c.token_id, c.day, c.model, c.user_id, c.quota, 1::bigint as requests, c.prompt_tokens, \
                           c.completion_tokens, coalesce(c.gateway_id, 0) as gateway_id \
                         from " + $charges + " and c.day between greatest($1, r.rolled_until) and $2 \
                         union all " + $models + " \
                         union all \
                         select * from usage_report_imported where " + $whose + " and day between $1 and $2) u \
                       where r.id = 1 limit $12) u"],
                    $bind,
                    from as UnixTime,
                    to as UnixTime,
                    most
                )
            }
            Detail::TokensByMonth => grouped!(
                $conn,
                $span,
                $grouping,
                ["(select u.* from ( \
                     select greatest($10, date_trunc('month', least($2::date + 1, rolled_until))::date) as open \
                     from usage_rollup where id = 1 offset 0) r cross join lateral ( \
                     select * from usage_report_daily where " + $whose + " and day between $1 and least($2, $10 - 1) \
                     union all \
                     select * from usage_report_months where " + $whose + " and day >= $10 and day < r.open \
                     union all \
                     select * from usage_report_daily where " + $whose + " and day between r.open and $2 \
                     union all \
                     select * from usage_report_imported where " + $whose + " and day between $1 and $2) u limit $11) u"],
                $bind,
                $span.first_month() as Day,
                most
            ),
            Detail::TokensByDay => grouped!(
                $conn,
                $span,
                $grouping,
                ["(select r.*, 0::bigint as gateway_id from usage_reported r where " + $whose + " and day between $1 and $2 \
                   limit $10) u"],
                $bind,
                most
            ),
        }
    }};
}

/// The usage of all tokens of a user, deleted ones included. Must run in a transaction, for which it switches off
/// sorting.
pub async fn list_of_user(
    conn: &mut Conn,
    user: UserId,
    span: ReportSpan,
    grouping: &Grouping,
) -> Result<Grouped, StorageError> {
    Ok(grouped_of!(
        conn,
        span,
        grouping,
        "user_id = $9",
        "select * from usage_report_models where user_id = $9 and day between $1 and $2 and day < r.rolled_until",
        "tokens t cross join lateral ( \
           select * from charges where token_id = t.id \
             and at between $10 + greatest(r.rolled_until - $1, 0) * 86400::bigint and $11 offset 0) c \
         where t.user_id = $9",
        user.get()
    ))
}

/// The usage of one token.
pub async fn list_of_token(
    conn: &mut Conn,
    token: TokenId,
    span: ReportSpan,
    grouping: &Grouping,
) -> Result<Grouped, StorageError> {
    Ok(grouped!(
        conn,
        span,
        grouping,
        ["(select r.*, 0::bigint as gateway_id from usage_reported r where token_id = $9 and day between $1 and $2) u"],
        token as TokenId
    ))
}

/// The usage of everyone, in the same way as that of a user.
pub async fn list_of_everyone(conn: &mut Conn, span: ReportSpan, grouping: &Grouping) -> Result<Grouped, StorageError> {
    let reads_charges = grouping.has(Dimension::Gateway);
    if reads_charges {
        use_index_of_time(conn).await?;
    }
    let grouped = grouped_of!(
        conn,
        span,
        grouping,
        "$9::bigint = 0",
        "select * from usage_report_models \
         where user_id = $9 and not $4 and day between $1 and $2 and day < r.rolled_until \
         union all \
         select * from usage_report_models \
         where user_id <> $9 and $4 and day between $1 and $2 and day < r.rolled_until",
        "charges c where at between $10 + greatest(r.rolled_until - $1, 0) * 86400::bigint and $11",
        0_i64
    );
    if reads_charges {
        use_all_indexes(conn).await?;
    }
    Ok(grouped)
}

/// Groups single charges by the days of a zone. `$from` has the charges of the seconds from `$10` to `$11`; its
/// parameter is `$13`.
macro_rules! grouped_in {
    ($conn:expr, $span:expr, $zone:expr, $grouping:expr, $from:tt, $bind:expr) => {{
        let (from, to) = $span.seconds($zone);
        group_by_hash($conn).await?;
        grouped!(
            $conn,
            $span,
            $grouping,
            ["(select c.token_id, c.user_id, c.model, c.gateway_id, c.quota, 1 as requests, c.prompt_tokens, c.completion_tokens, \
               (to_timestamp(c.at) at time zone $9)::date as day from "
                + $from
                + " limit $12) u where day between $1 and $2"],
            $zone.name(),
            from as UnixTime,
            to as UnixTime,
            bounds::MAX_REPORT_READ + 1,
            $bind
        )
    }};
}

/// The charges of all tokens of a user by the days of a zone.
pub async fn list_of_user_in(
    conn: &mut Conn,
    user: UserId,
    span: ReportSpan,
    zone: Tz,
    grouping: &Grouping,
) -> Result<Grouped, StorageError> {
    Ok(grouped_in!(
        conn,
        span,
        zone,
        grouping,
        "tokens t cross join lateral (select * from charges where token_id = t.id and at between $10 and $11 offset 0) c \
         where t.user_id = $13",
        user as UserId
    ))
}

/// Those of one token.
pub async fn list_of_token_in(
    conn: &mut Conn,
    token: TokenId,
    span: ReportSpan,
    zone: Tz,
    grouping: &Grouping,
) -> Result<Grouped, StorageError> {
    Ok(grouped_in!(
        conn,
        span,
        zone,
        grouping,
        "charges c where c.token_id = $13 and c.at between $10 and $11",
        token as TokenId
    ))
}

/// Those of everyone.
pub async fn list_of_everyone_in(
    conn: &mut Conn,
    span: ReportSpan,
    zone: Tz,
    grouping: &Grouping,
) -> Result<Grouped, StorageError> {
    use_index_of_time(conn).await?;
    let grouped =
        grouped_in!(conn, span, zone, grouping, "charges c where c.at between $10 and $11 and $13::bigint = 0", 0_i64);
    use_all_indexes(conn).await?;
    Ok(grouped)
}

/// Without statistics, PostgreSQL would sort all rows on the disk before it groups them.
pub(super) async fn group_by_hash(conn: &mut Conn) -> Result<(), StorageError> {
    sqlx::query!(r#"select set_config('enable_sort', 'off', true) as "set!""#).fetch_one(conn).await?;
    Ok(())
}
