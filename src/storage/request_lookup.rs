//! Single requests by their id. Charges of ended days have an index by it (`request_index.rs`); those of the others are
//! found by the record of their id, or are read one after the other.

use super::{Conn, StorageError};
use crate::domain::id::{TokenId, UserId};
use crate::domain::request_history::{OutcomeKind, Position, Window};
use crate::domain::request_search::RequestPlace;
use crate::domain::scope::Scope;
use crate::domain::time::UnixTime;

/// The charges whose gateways sent this id, as long as that is remembered.
pub async fn list_recorded(conn: &mut Conn, scope: Scope, request_id: &str) -> Result<Vec<RequestPlace>, StorageError> {
    let (user, token) = scope.ids();
    // A charge has the time of its record. Each branch is one look-up by the index of tokens and times.
    let rows = sqlx::query!(
        r#"select c.id as "id!", c.at as "at!: UnixTime", c.token_id as "token_id!"
           from gateways g
           cross join lateral (select * from idempotency_records where gateway_id = g.id and request_id = $1 offset 0) i
           left join lateral (
             select token_id, ended_time from reservations
             where id = i.reservation_id and state = 'settled' offset 0) r on true
           cross join lateral (
             select id, at, token_id from charges where i.reservation_id is not null and token_id = r.token_id
               and at = r.ended_time and reservation_id = i.reservation_id
             union all
             select charge.* from tokens t cross join lateral (
               select id, at, token_id from charges where token_id = t.id and at = i.created_time and request_id = $1
               offset 0) charge
             where i.reservation_id is null and t.user_id = i.user_id) c
           where ($2::bigint is null or i.user_id = $2) and ($3::bigint is null or c.token_id = $3)"#,
        request_id,
        user.map(UserId::get),
        token.map(TokenId::get)
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| request(OutcomeKind::Charged, row.at, row.id, row.token_id)).collect())
}

/// The first seconds of the UTC days whose charges have an index by their ids, ascending.
pub async fn list_indexed_days(conn: &mut Conn) -> Result<Vec<UnixTime>, StorageError> {
    let days = sqlx::query_scalar!(
        r#"select extract(
             epoch from to_timestamp(substr(t.relname, 9), 'YYYYMMDD')::timestamp at time zone 'UTC')::bigint
             as "day_start!: UnixTime"
           from pg_inherits h join pg_class t on t.oid = h.inhrelid
           join pg_class x on x.relname = t.relname || '_by_request' and x.relnamespace = t.relnamespace
           join pg_index i on i.indexrelid = x.oid and i.indisvalid
           where h.inhparent = 'charges'::regclass and t.relname ~ '^charges_[0-9]{8}$'
           order by 1"#
    )
    .fetch_all(conn)
    .await?;
    Ok(days)
}

/// The charges with this id in windows of days that have the index, at most 1,000.
pub async fn list_indexed(
    conn: &mut Conn,
    scope: Scope,
    windows: &[Window],
    request_id: &str,
) -> Result<Vec<RequestPlace>, StorageError> {
    let (user, token) = scope.ids();
    // Of each window, PostgreSQL reads no other partition.
    let rows = sqlx::query!(
        r#"select c.id as "id!", c.at as "at!: UnixTime", c.token_id as "token_id!"
           from unnest($1::bigint[], $2::bigint[]) as w (first, last)
           cross join lateral (
             select id, at, token_id, user_id from charges where at between w.first and w.last and request_id = $3
             offset 0) c
           where ($4::bigint is null or c.user_id = $4) and ($5::bigint is null or c.token_id = $5)
           limit 1000"#,
        &windows.iter().map(|window| window.from.get()).collect::<Vec<_>>(),
        &windows.iter().map(|window| window.to.get()).collect::<Vec<_>>(),
        request_id,
        user.map(UserId::get),
        token.map(TokenId::get)
    )
    .fetch_all(conn)
    .await?;
    Ok(rows.into_iter().map(|row| request(OutcomeKind::Charged, row.at, row.id, row.token_id)).collect())
}

/// Rows of a window that were read.
#[derive(Debug)]
pub struct ReadRows {
    /// How many.
    pub count: i64,
    /// Those with the id, at most 1,000.
    pub found: Vec<RequestPlace>,
}

/// Reads the charges of a window, at most `most`. Those of all users are read in a transaction after
/// [`use_index_of_time`](super::request_history::use_index_of_time).
pub async fn read_charges(
    conn: &mut Conn,
    scope: Scope,
    window: Window,
    request_id: &str,
    most: i64,
) -> Result<ReadRows, StorageError> {
    let (user, token) = scope.ids();
    let read = sqlx::query!(
        r#"select count(*) as "count!", (array_agg(c.at) filter (where c.request_id = $6))[1:1000] as "times?",
             (array_agg(c.id) filter (where c.request_id = $6))[1:1000] as "ids?",
             (array_agg(c.token_id) filter (where c.request_id = $6))[1:1000] as "tokens?"
           from (
             select at, id, token_id, request_id from charges
             where at between $1 and $2 and $3::bigint is null and $4::bigint is null
             union all
             select c.* from tokens t cross join lateral (
               select at, id, token_id, request_id from charges
               where token_id = t.id and at between $1 and $2 offset 0) c
             where t.user_id = $3
             union all
             select at, id, token_id, request_id from charges where token_id = $4 and at between $1 and $2
             limit $5) c"#,
        window.from as UnixTime,
        window.to as UnixTime,
        user as Option<UserId>,
        token as Option<TokenId>,
        most,
        request_id
    )
    .fetch_one(conn)
    .await?;
    let found = found(OutcomeKind::Charged, read.times, read.ids, read.tokens);
    Ok(ReadRows { count: read.count, found })
}

/// Reads the refusals of a window in the same way.
pub async fn read_refusals(
    conn: &mut Conn,
    scope: Scope,
    window: Window,
    request_id: &str,
    most: i64,
) -> Result<ReadRows, StorageError> {
    let (user, token) = scope.ids();
    let read = sqlx::query!(
        r#"select count(*) as "count!", (array_agg(c.at) filter (where c.request_id = $6))[1:1000] as "times?",
             (array_agg(c.id) filter (where c.request_id = $6))[1:1000] as "ids?",
             (array_agg(c.token_id) filter (where c.request_id = $6))[1:1000] as "tokens?"
           from (
             select at, id, token_id, request_id from refusals
             where at between $1 and $2 and $3::bigint is null and $4::bigint is null
             union all
             select c.* from tokens t cross join lateral (
               select at, id, token_id, request_id from refusals
               where token_id = t.id and at between $1 and $2 offset 0) c
             where t.user_id = $3
             union all
             select at, id, token_id, request_id from refusals where token_id = $4 and at between $1 and $2
             limit $5) c"#,
        window.from as UnixTime,
        window.to as UnixTime,
        user as Option<UserId>,
        token as Option<TokenId>,
        most,
        request_id
    )
    .fetch_one(conn)
    .await?;
    let found = found(OutcomeKind::Refused, read.times, read.ids, read.tokens);
    Ok(ReadRows { count: read.count, found })
}

/// The requests of columns of the same order.
fn found(
    kind: OutcomeKind,
    times: Option<Vec<i64>>,
    ids: Option<Vec<i64>>,
    tokens: Option<Vec<i64>>,
) -> Vec<RequestPlace> {
    let [times, ids, tokens] = [times, ids, tokens].map(Option::unwrap_or_default);
    let rows = times.into_iter().zip(ids).zip(tokens);
    rows.map(|((at, id), token)| request(kind, UnixTime::new(at), id, token)).collect()
}

const fn request(kind: OutcomeKind, at: UnixTime, id: i64, token: i64) -> RequestPlace {
    RequestPlace { position: Position { at, kind, id }, token_id: TokenId::new(token) }
}
