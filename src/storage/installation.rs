//! The table `installation`: which master key this database was made with.

use super::{Conn, StorageError};
use crate::domain::time::UnixTime;

/// What the first start left here, if there was one.
pub async fn find_key_check(conn: &mut Conn) -> Result<Option<Vec<u8>>, StorageError> {
    let check = sqlx::query_scalar!("select key_check from installation where id = 1")
        .fetch_optional(conn)
        .await?;
    Ok(check)
}

/// Leaves the mark of the first start. Where two start at once, the first one's stays.
pub async fn insert(conn: &mut Conn, key_check: &[u8], now: UnixTime) -> Result<(), StorageError> {
    sqlx::query!(
        "insert into installation (id, key_check, created_time) values (1, $1, $2) on conflict do nothing",
        key_check,
        now as UnixTime
    )
    .execute(conn)
    .await?;
    Ok(())
}
