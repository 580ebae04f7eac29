//! The table `refused_requests`.

use super::retention::BATCH_ROWS;
use super::usage_reports::group_by_hash;
use super::{Conn, StorageError};
use crate::domain::bounds;
use crate::domain::id::{TokenId, UserId};
use crate::domain::ledger::RefusalReason;
use crate::domain::page::{Page, PageRequest};
use crate::domain::refused_requests::{RefusedKind, RefusedRow};
use crate::domain::scope::Scope;
use crate::domain::time::Day;
use crate::domain::usage_report_request::ReportSpan;

/// The lines of a report, and the rows that were read for them.
#[derive(Debug)]
pub struct Counted {
    /// The largest counts first.
    pub rows: Page<RefusedRow>,
    /// The sum of all counts.
    pub total: i64,
    pub read: i64,
}

/// Adds counts to those of the table. They must be in the order of their kinds, so that two servers do not wait for
/// each other.
pub async fn add(conn: &mut Conn, counts: &[(RefusedKind, i64)]) -> Result<(), StorageError> {
    fn column<T>(counts: &[(RefusedKind, i64)], value: impl Fn(&RefusedKind) -> T) -> Vec<T> {
        counts.iter().map(|(kind, _)| value(kind)).collect()
    }
    sqlx::query!(
        "insert into refused_requests (user_id, day, token_id, reason, requests) \
         select * from unnest($1::bigint[], $2::date[], $3::bigint[], $4::text[], $5::bigint[]) \
         where set_config('synchronous_commit', 'off', true) = 'off' \
         on conflict on constraint refused_requests_pkey \
         do update set requests = refused_requests.requests + excluded.requests",
        &column(counts, |kind| kind.user_id.get()),
        &column(counts, |kind| kind.day.date()),
        &column(counts, |kind| kind.token_id.get()),
        &column(counts, |kind| kind.reason.as_str().to_owned()),
        &counts.iter().map(|(_, requests)| *requests).collect::<Vec<_>>()
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// A page of the refused requests of a scope, deleted tokens included. Must run in a transaction, for which it switches
/// off sorting. Of the three sources only one is read, and at most one row more than [`bounds::MAX_REPORT_READ`].
pub async fn list(conn: &mut Conn, scope: Scope, span: ReportSpan, page: PageRequest) -> Result<Counted, StorageError> {
    group_by_hash(&mut *conn).await?;
    let (user, token) = scope.ids();
    let rows = sqlx::query!(
        r#"select user_id as "user_id!: UserId", token_id as "token_id!: TokenId", reason as "reason!: RefusalReason",
             sum(requests)::bigint as "requests!", (sum(sum(requests)) over ())::bigint as "total!",
             (sum(count(*)) over ())::bigint as "read!", count(*) over () as "total_rows!"
           from (
             (select * from refused_requests where day between $1 and $2 and $3::bigint is null and $4::bigint is null
              limit $5)
             union all
             (select * from refused_requests where user_id = $3 and day between $1 and $2 limit $5)
             union all
             (select * from refused_requests where token_id = $4 and day between $1 and $2 limit $5)) r
           group by user_id, token_id, reason order by sum(requests) desc, token_id, reason limit $6 offset $7"#,
        span.from as Day,
        span.to as Day,
        user as Option<UserId>,
        token as Option<TokenId>,
        bounds::MAX_REPORT_READ + 1,
        page.size(),
        page.offset()
    )
    .fetch_all(&mut *conn)
    .await?;
    let (total_rows, total, read) = match rows.first() {
        Some(row) => (row.total_rows, row.total, row.read),
        None if page.offset() == 0 => (0, 0, 0),
        // Past the last page, the first row has the totals.
        None => {
            let first = Box::pin(list(conn, scope, span, PageRequest::first_item())).await?;
            (first.rows.total, first.total, first.read)
        }
    };
    let rows = rows.into_iter().map(|row| RefusedRow {
        user_id: row.user_id,
        token_id: row.token_id,
        reason: row.reason,
        requests: row.requests,
    });
    Ok(Counted { rows: page.holding(rows.collect(), total_rows), total, read })
}

/// Deletes counts of days before `day`, at most [`BATCH`](super::retention::BATCH). Returns how many.
pub async fn delete_before(conn: &mut Conn, day: Day) -> Result<u64, StorageError> {
    let done = sqlx::query!(
        "delete from refused_requests where ctid = any(array( \
         select ctid from refused_requests where day < $1 order by day limit $2))",
        day as Day,
        BATCH_ROWS
    )
    .execute(conn)
    .await?;
    Ok(done.rows_affected())
}
