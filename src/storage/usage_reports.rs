//! Grouped reports over the table `usage_daily` and the usage from before an import. For days that are rolled up, the
//! sums are read instead (see [`usage_rollup`](super::usage_rollup)).

use chrono_tz::Tz;

use super::request_history::{use_all_indexes, use_index_of_time};
use super::{Conn, StorageError};
use crate::domain::bounds;
use crate::domain::id::{GatewayId, TokenId, UserId};
use crate::domain::money::Quota;
use crate::domain::named::named;
use crate::domain::scope::Scope;
use crate::domain::spend::charged_between;
use crate::domain::time::{Day, UnixTime};
use crate::domain::usage_report::{Amounts, ReportKey, ReportRow};
use crate::domain::usage_report_request::{Dimension, Grouping, ReportSpan};

/// The lines of a report, and the rows that were read for them.
#[derive(Debug)]
pub struct Grouped {
    /// One more than [`bounds::MAX_REPORT_ROWS`] if there are more.
    pub rows: Vec<ReportRow>,
    /// One more than were allowed if there are more.
    pub read: i64,
}

named! {
    /// Which sums suffice for a report. All come from `usage_daily`, which alone has the days that are not rolled up
    /// yet.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum ReportSums {
        /// Those of a user, or of all users, by day and model.
        Models = "models",
        /// The same by gateway. The days that are not rolled up come from the charges.
        Gateways = "gateways",
        /// Those of a token by month and model. The days of months that are not whole come from `usage_daily`.
        Months = "months",
        /// Those of a token by day and model.
        Days = "days",
    }
}

impl ReportSums {
    fn of(scope: Scope, grouping: &Grouping) -> Self {
        match (grouping.is_by_token(), grouping.time()) {
            _ if matches!(scope, Scope::Token(_)) => Self::Days,
            (false, _) if grouping.has(Dimension::Gateway) => Self::Gateways,
            (false, _) => Self::Models,
            (true, Some(Dimension::Day)) => Self::Days,
            (true, _) => Self::Months,
        }
    }
}

/// A line of a report, and the number of rows that were read for all of them.
struct GroupedRow {
    day: Option<Day>,
    hour: Option<UnixTime>,
    user_id: Option<UserId>,
    token_id: Option<TokenId>,
    group_name: Option<String>,
    model: Option<String>,
    gateway_id: Option<i64>,
    quota: Quota,
    requests: i64,
    prompt_tokens: i64,
    completion_tokens: i64,
    read: i64,
}

impl From<Vec<GroupedRow>> for Grouped {
    fn from(rows: Vec<GroupedRow>) -> Self {
        let read = rows.first().map_or(0, |row| row.read);
        let rows = rows.into_iter().map(|row| ReportRow {
            key: ReportKey {
                day: row.day,
                hour: row.hour,
                user_id: row.user_id,
                token_id: row.token_id,
                group: row.group_name,
                model: row.model,
                gateway_id: row.gateway_id.filter(|id| *id != 0).map(GatewayId::new),
            },
            before: None,
            amounts: Amounts {
                quota: row.quota,
                requests: row.requests,
                prompt_tokens: row.prompt_tokens,
                completion_tokens: row.completion_tokens,
            },
        });
        Self { rows: rows.collect(), read }
    }
}

/// The usage of a scope, deleted tokens included. Reads at most one row more than `most`. Must run in a transaction,
/// for which it switches off sorting.
pub async fn list(
    conn: &mut Conn,
    scope: Scope,
    span: ReportSpan,
    grouping: &Grouping,
    most: i64,
) -> Result<Grouped, StorageError> {
    group_by_hash(conn).await?;
    let rows = match ReportSums::of(scope, grouping) {
        ReportSums::Gateways => list_by_gateway(conn, scope, span, grouping, most).await?,
        sums @ (ReportSums::Models | ReportSums::Months | ReportSums::Days) => {
            list_sums(conn, scope, sums, span, grouping, most).await?
        }
    };
    Ok(rows.into())
}

/// The sums of a scope. Rows of `usage_daily` are read from `r.first` to `r.last` and from `r.open` on; by month, the
/// months between. The sums of all users by model are those of user 0. Of the sources only those of the scope are read.
/// For the groups, the rows of each token are added up first, because every result looks its token up.
async fn list_sums(
    conn: &mut Conn,
    scope: Scope,
    sums: ReportSums,
    span: ReportSpan,
    grouping: &Grouping,
    most: i64,
) -> Result<Vec<GroupedRow>, StorageError> {
    let (user, token) = scope.ids();
    let rows = sqlx::query_as!(
        GroupedRow,
        r#"select day as "day: Day", case when $4::boolean then user_id end as "user_id: UserId",
             case when $5::boolean then token_id end as "token_id: TokenId", model, gateway_id,
             case when $14::boolean then coalesce(
               (select nullif(group_name, '') from tokens where id = sums.token_id),
               (select group_name from users where id = sums.user_id)) end as "group_name",
             null::bigint as "hour: UnixTime",
             sum(quota)::bigint as "quota!: Quota", sum(requests)::bigint as "requests!",
             least(sum(prompt_tokens), 9223372036854775807)::bigint as "prompt_tokens!",
             least(sum(completion_tokens), 9223372036854775807)::bigint as "completion_tokens!",
             (sum(sum(read)) over ())::bigint as "read!"
           from (
             select case $3::text when 'day' then day when 'month' then date_trunc('month', day)::date end as day,
               case when $4 or $14 then user_id end as user_id, case when $5 or $14 then token_id end as token_id,
               case when $6::boolean then model end as model, case when $7::boolean then gateway_id end as gateway_id,
               sum(quota) as quota, sum(requests) as requests, sum(prompt_tokens) as prompt_tokens,
               sum(completion_tokens) as completion_tokens, count(*) as read
             from (
               select u.* from (
                   select rolled_until,
                     case $13::text when 'models' then greatest($1, rolled_until) else $1 end as first,
                     case $13 when 'months' then least($2, $12::date - 1) else $2 end as last,
                     case $13 when 'months'
                       then greatest($12, date_trunc('month', least($2::date + 1, rolled_until))::date) end as open
                   from usage_rollup where id = 1 offset 0) r cross join lateral (
                 select * from usage_report_daily where user_id = $10 and day between r.first and r.last
                 union all select * from usage_report_daily where user_id = $10 and day between r.open and $2
                 union all select * from usage_report_months where user_id = $10 and day >= $12 and day < r.open
                 union all select * from usage_report_models
                 where user_id = $10 and $13 = 'models' and day between $1 and $2 and day < r.rolled_until
                 union all select * from usage_report_imported where user_id = $10 and day between $1 and $2
                 union all select * from usage_report_daily where token_id = $11 and day between r.first and r.last
                 union all select * from usage_report_imported where token_id = $11 and day between $1 and $2
                 union all select * from usage_report_daily
                 where $10::bigint is null and $11::bigint is null and day between r.first and r.last
                 union all
                 select * from usage_report_daily where $10 is null and $11 is null and day between r.open and $2
                 union all select * from usage_report_months
                 where $10 is null and $11 is null and day >= $12 and day < r.open
                 union all select * from usage_report_models
                 where user_id = 0 and $10 is null and $13 = 'models' and not $4 and day between $1 and $2
                   and day < r.rolled_until
                 union all select * from usage_report_models
                 where user_id <> 0 and $10 is null and $13 = 'models' and $4 and day between $1 and $2
                   and day < r.rolled_until
                 union all select * from usage_report_imported
                 where $10 is null and $11 is null and day between $1 and $2) u
               limit $9) u
             group by 1, 2, 3, 4, 5) sums
           group by 1, 2, 3, 4, 5, 6
           order by 1, case when $3 is null then sum(quota) else 0 end desc, 2, 3, 4, 5, 6 limit $8"#,
        span.from as Day,
        span.to as Day,
        grouping.time().map(Dimension::as_str),
        grouping.has(Dimension::User),
        grouping.has(Dimension::Token),
        grouping.has(Dimension::Model),
        grouping.has(Dimension::Gateway),
        bounds::MAX_REPORT_ROWS + 1,
        most + 1,
        user as Option<UserId>,
        token as Option<TokenId>,
        span.first_month() as Day,
        sums.as_str(),
        grouping.has(Dimension::Group)
    )
    .fetch_all(conn)
    .await?;
    Ok(rows)
}

/// The sums of a user, or of everyone, by gateway. Days that are not rolled up are summed from single
/// charges.
async fn list_by_gateway(
    conn: &mut Conn,
    scope: Scope,
    span: ReportSpan,
    grouping: &Grouping,
    most: i64,
) -> Result<Vec<GroupedRow>, StorageError> {
    let (from, to) = charged_between(span.from, span.to.plus_days(1));
    let (user, _) = scope.ids();
    use_index_of_time(conn, scope).await?;
    let rows = sqlx::query_as!(
        GroupedRow,
        r#"select case $3::text when 'day' then day when 'month' then date_trunc('month', day)::date end as "day: Day",
             case when $4::boolean then user_id end as "user_id: UserId",
             case when $5::boolean then token_id end as "token_id: TokenId",
             case when $6::boolean then model end as "model", case when $7::boolean then gateway_id end as "gateway_id",
             null::bigint as "hour: UnixTime", null::text as "group_name",
             sum(quota)::bigint as "quota!: Quota", sum(requests)::bigint as "requests!",
             least(sum(prompt_tokens), 9223372036854775807)::bigint as "prompt_tokens!",
             least(sum(completion_tokens), 9223372036854775807)::bigint as "completion_tokens!",
             (sum(count(*)) over ())::bigint as "read!"
           from (
             select u.* from usage_rollup r cross join lateral (
                 select c.token_id, c.day, c.model, c.user_id, c.quota, 1::bigint as requests, c.prompt_tokens,
                   c.completion_tokens, coalesce(c.gateway_id, 0) as gateway_id
                 from tokens t cross join lateral (
                   select * from charges where token_id = t.id
                     and at between $11 + greatest(r.rolled_until - $1, 0) * 86400::bigint and $12 offset 0) c
                 where t.user_id = $10 and c.day between greatest($1, r.rolled_until) and $2
                 union all
                 select c.token_id, c.day, c.model, c.user_id, c.quota, 1, c.prompt_tokens, c.completion_tokens,
                   coalesce(c.gateway_id, 0)
                 from charges c
                 where $10::bigint is null and at between $11 + greatest(r.rolled_until - $1, 0) * 86400::bigint and $12
                   and c.day between greatest($1, r.rolled_until) and $2
                 union all select * from usage_report_models
                 where user_id = $10 and day between $1 and $2 and day < r.rolled_until
                 union all select * from usage_report_models
                 where user_id = 0 and $10 is null and not $4 and day between $1 and $2 and day < r.rolled_until
                 union all select * from usage_report_models
                 where user_id <> 0 and $10 is null and $4 and day between $1 and $2 and day < r.rolled_until
                 union all select * from usage_report_imported where user_id = $10 and day between $1 and $2
                 union all select * from usage_report_imported where $10 is null and day between $1 and $2) u
             where r.id = 1 limit $9) u
           group by 1, 2, 3, 4, 5
           order by 1, case when $3 is null then sum(quota) else 0 end desc, 2, 3, 4, 5 limit $8"#,
        span.from as Day,
        span.to as Day,
        grouping.time().map(Dimension::as_str),
        grouping.has(Dimension::User),
        grouping.has(Dimension::Token),
        grouping.has(Dimension::Model),
        grouping.has(Dimension::Gateway),
        bounds::MAX_REPORT_ROWS + 1,
        most + 1,
        user as Option<UserId>,
        from as UnixTime,
        to as UnixTime
    )
    .fetch_all(&mut *conn)
    .await?;
    use_all_indexes(conn, scope).await?;
    Ok(rows)
}

/// The usage of a scope by the hours or days of a zone, from single charges, in the same way.
pub async fn list_in(
    conn: &mut Conn,
    scope: Scope,
    span: ReportSpan,
    zone: Tz,
    grouping: &Grouping,
    most: i64,
) -> Result<Grouped, StorageError> {
    group_by_hash(conn).await?;
    use_index_of_time(conn, scope).await?;
    let ((user, token), (from, to)) = (scope.ids(), span.seconds(zone));
    let rows = sqlx::query_as!(
        GroupedRow,
        r#"select day as "day: Day", hour as "hour: UnixTime",
             case when $4::boolean then user_id end as "user_id: UserId",
             case when $5::boolean then token_id end as "token_id: TokenId", model, gateway_id,
             case when $15::boolean then coalesce(
               (select nullif(group_name, '') from tokens where id = sums.token_id),
               (select group_name from users where id = sums.user_id)) end as "group_name",
             sum(quota)::bigint as "quota!: Quota", sum(requests)::bigint as "requests!",
             least(sum(prompt_tokens), 9223372036854775807)::bigint as "prompt_tokens!",
             least(sum(completion_tokens), 9223372036854775807)::bigint as "completion_tokens!",
             (sum(sum(read)) over ())::bigint as "read!"
           from (
             select case when $3::text = 'month' then date_trunc('month', day)::date
                 when $3 in ('hour', 'day') then day end as day,
               case $3 when 'hour'
                 then extract(epoch from date_trunc('hour', to_timestamp(at), $10))::bigint end as hour,
               case when $4 or $15 then user_id end as user_id, case when $5 or $15 then token_id end as token_id,
               case when $6::boolean then model end as model, case when $7::boolean then gateway_id end as gateway_id,
               sum(quota) as quota, count(*) as requests, sum(prompt_tokens) as prompt_tokens,
               sum(completion_tokens) as completion_tokens, count(*) as read
             from (
               select c.at, c.token_id, c.user_id, c.model, c.gateway_id, c.quota, c.prompt_tokens,
                 c.completion_tokens, (to_timestamp(c.at) at time zone $10)::date as day
               from (
                 select c.* from tokens t cross join lateral (
                   select * from charges where token_id = t.id and at between $11 and $12 offset 0) c
                 where t.user_id = $13
                 union all select * from charges where token_id = $14 and at between $11 and $12
                 union all
                 select * from charges where at between $11 and $12 and $13::bigint is null and $14::bigint is null) c
               limit $9) u
             where day between $1 and $2
             group by 1, 2, 3, 4, 5, 6) sums
           group by 1, 2, 3, 4, 5, 6, 7
           order by 1, 2, case when $3 is null then sum(quota) else 0 end desc, 3, 4, 5, 6, 7 limit $8"#,
        span.from as Day,
        span.to as Day,
        grouping.time().map(Dimension::as_str),
        grouping.has(Dimension::User),
        grouping.has(Dimension::Token),
        grouping.has(Dimension::Model),
        grouping.has(Dimension::Gateway),
        bounds::MAX_REPORT_ROWS + 1,
        most + 1,
        zone.name(),
        from as UnixTime,
        to as UnixTime,
        user as Option<UserId>,
        token as Option<TokenId>,
        grouping.has(Dimension::Group)
    )
    .fetch_all(&mut *conn)
    .await?;
    use_all_indexes(conn, scope).await?;
    Ok(rows.into())
}

/// Without statistics, PostgreSQL would sort all rows on the disk before it groups them.
pub(super) async fn group_by_hash(conn: &mut Conn) -> Result<(), StorageError> {
    sqlx::query!(r#"select set_config('enable_sort', 'off', true) as "set!""#).fetch_one(conn).await?;
    Ok(())
}
