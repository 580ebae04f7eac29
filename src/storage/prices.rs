//! The tables `prices` and `price_lists`.

use super::{Conn, StorageError};
use crate::domain::id::PriceId;
use crate::domain::time::UnixTime;

/// A server says each minute which list it has. One that was not seen for this long is not in force.
const LIST_SEEN: i64 = 180;

/// How long servers may take until all have a new list.
const LIST_SPREADS: i64 = 90;

/// How long a list is remembered that no server has any more.
const LIST_KEPT: i64 = 90 * 86_400;

/// The ids of prices by their contents, in any order. What was never used gets a row.
pub async fn find_or_add(
    conn: &mut Conn,
    contents: &[String],
    now: UnixTime,
) -> Result<Vec<(String, PriceId)>, StorageError> {
    let found = list(conn, contents).await?;
    let is_new = |content: &&String| !found.iter().any(|(known, _)| known == *content);
    let new: Vec<String> = contents.iter().filter(is_new).cloned().collect();
    if new.is_empty() {
        return Ok(found);
    }
    // In order, so that two transactions that add the same prices do not wait for each other.
    sqlx::query!(
        "insert into prices (content, first_used_at) select content, $2 from unnest($1::text[]) as v (content) \
         order by content on conflict on constraint prices_content_unique do nothing",
        &new,
        now as UnixTime
    )
    .execute(&mut *conn)
    .await?;
    list(conn, contents).await
}

async fn list(conn: &mut Conn, contents: &[String]) -> Result<Vec<(String, PriceId)>, StorageError> {
    let rows = sqlx::query!(r#"select content, id as "id: PriceId" from prices where content = any($1)"#, contents)
        .fetch_all(conn)
        .await?;
    Ok(rows.into_iter().map(|row| (row.content, row.id)).collect())
}

/// Says that a server has this list now. Returns since when it is in force: it stays so while no other one is.
pub async fn see_list(conn: &mut Conn, digest: &str, now: UnixTime) -> Result<UnixTime, StorageError> {
    sqlx::query!("delete from price_lists where seen_at < $1", now.plus(-LIST_KEPT) as UnixTime)
        .execute(&mut *conn)
        .await?;
    let row = sqlx::query!(
        r#"insert into price_lists as l (digest, since, seen_at) values ($1, $2, $2)
           on conflict on constraint price_lists_pkey do update set seen_at = $2,
             since = case when l.seen_at < $3 and exists (select from price_lists o where o.seen_at > l.seen_at) then $2
               else least(l.since, $2) end
           returning since as "since: UnixTime""#,
        digest,
        now as UnixTime,
        now.plus(-LIST_SEEN) as UnixTime
    )
    .fetch_one(conn)
    .await?;
    Ok(row.since)
}

/// The digests of the lists that servers have now. One that a newer list replaced is not among them, unless a server
/// still has it when all should have read the newer one. Nor is one that was seen in the future, while the clock was
/// ahead.
pub async fn list_lists(conn: &mut Conn, now: UnixTime) -> Result<Vec<String>, StorageError> {
    Ok(sqlx::query_scalar!(
        "with seen as (select digest, since, seen_at from price_lists where seen_at between $1 and $3), \
           newest as (select max(since) as since from seen) \
         select digest from seen, newest where seen.since = newest.since or seen.seen_at > newest.since + $2",
        now.plus(-LIST_SEEN) as UnixTime,
        LIST_SPREADS,
        now.plus(LIST_SEEN) as UnixTime
    )
    .fetch_all(conn)
    .await?)
}
