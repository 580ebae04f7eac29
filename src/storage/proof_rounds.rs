//! The tables `proof_round` and `invariants`: how far the running proof of the ledger is, and what it found.

use super::{Conn, StorageError};
use crate::domain::time::{Day, UnixTime};

/// The most tokens of a slice.
const MAX_TOKENS: i64 = 1_000;

/// The most charges of a slice.
const MAX_CHARGES: i64 = 100_000;

/// The most wallets of a slice. Each may have a thousand tokens.
const MAX_USERS: i64 = 100;

/// Where the next slices begin; `None` when the round has proved the last row.
#[derive(Debug, Clone, Copy)]
pub struct NextSlices {
    pub token: Option<i64>,
    pub user: Option<i64>,
    /// When the last ones were proved.
    pub slice_time: Option<UnixTime>,
}

/// Reads it. Only one server at a time may.
pub async fn find(conn: &mut Conn) -> Result<NextSlices, StorageError> {
    let next = sqlx::query_as!(
        NextSlices,
        r#"select next_token as token, next_user as "user", slice_time as "slice_time: UnixTime" from proof_round
           where id = 1"#
    )
    .fetch_one(conn)
    .await?;
    Ok(next)
}

/// Records how far the round is.
pub async fn update(conn: &mut Conn, next: NextSlices) -> Result<(), StorageError> {
    sqlx::query!(
        "update proof_round set next_token = $1, next_user = $2, slice_time = $3 where id = 1",
        next.token,
        next.user,
        next.slice_time as Option<UnixTime>
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Ends the round: what it found is what holds until the next one ends.
pub async fn end(conn: &mut Conn, now: UnixTime) -> Result<(), StorageError> {
    sqlx::query!(
        "with ended as (update proof_round set next_token = 0, next_user = 0, slice_time = $1, ended_time = $1 where id = 1) \
         update invariants set violations = found, found = 0",
        now as UnixTime
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// Adds violations of an invariant to those of the round.
pub async fn add_found(conn: &mut Conn, invariant: &str, count: i64) -> Result<(), StorageError> {
    sqlx::query!("update invariants set found = found + $2 where name = $1", invariant, count).execute(conn).await?;
    Ok(())
}

/// Tokens that are proved at once.
#[derive(Debug, Clone, Copy)]
pub struct Slice {
    /// The last of them.
    pub to: i64,
    /// Of these tokens, the days since this one. Later than `since` for a token with too many charges for one slice.
    pub since: Day,
}

/// The next tokens from the id `from` on whose charges since the day `since` fit into a slice; `None` if there are no
/// more. A token that alone has more makes a slice of its newest days, which may be of none. Two days before those that
/// are proved are read besides (see [`super::consistency::list_day_violations`]), so they are counted too.
pub async fn find_slice(conn: &mut Conn, from: i64, since: Day) -> Result<Option<Slice>, StorageError> {
    let slice = sqlx::query!(
        r#"with next as (select id from tokens where id >= $1 order by id limit $3),
           counted as (
             select n.id, sum(coalesce(sum(d.requests), 0)) over (order by n.id) as charges
             from next n left join usage_daily d on d.token_id = n.id and d.day >= $2 group by n.id)
           select min(id) as first, max(id) filter (where charges <= $4::bigint) as last from counted"#,
        from,
        since as Day,
        MAX_TOKENS,
        MAX_CHARGES
    )
    .fetch_one(&mut *conn)
    .await?;
    let Some(first) = slice.first else { return Ok(None) };
    if let Some(to) = slice.last {
        return Ok(Some(Slice { to, since }));
    }
    let since = sqlx::query_scalar!(
        r#"select coalesce(min(day) filter (where charges <= $3::bigint), max(day) + 1) + 2 as "since!: Day" from (
             select day, sum(sum(requests)) over (order by day desc) as charges from usage_daily
             where token_id = $1 and day >= $2 group by day) days"#,
        first,
        since as Day,
        MAX_CHARGES
    )
    .fetch_one(conn)
    .await?;
    Ok(Some(Slice { to: first, since }))
}

/// The last of the next users from the id `from` on whose wallets are proved at once; `None` if there are no more.
pub async fn find_last_wallet(conn: &mut Conn, from: i64) -> Result<Option<i64>, StorageError> {
    super::consistency::find_end_of_users(conn, from, MAX_USERS).await
}

/// An invariant, as the last whole round and the running one found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProvedInvariant {
    /// Such as `L3`.
    pub name: String,
    /// Of the last whole round, or of the running one if it has found more.
    pub violations: i64,
}

/// All invariants that are proved on the rows, and the end of the last whole round.
pub async fn list(conn: &mut Conn) -> Result<(Vec<ProvedInvariant>, Option<UnixTime>), StorageError> {
    let ended = sqlx::query_scalar!(r#"select ended_time as "ended: UnixTime" from proof_round where id = 1"#)
        .fetch_one(&mut *conn)
        .await?;
    let invariants = sqlx::query_as!(
        ProvedInvariant,
        r#"select name, greatest(violations, found) as "violations!" from invariants order by length(name), name"#
    )
    .fetch_all(conn)
    .await?;
    Ok((invariants, ended))
}
