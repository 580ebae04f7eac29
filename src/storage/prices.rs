//! The table `prices`.

use super::{Conn, StorageError};
use crate::domain::id::PriceId;
use crate::domain::time::UnixTime;

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
