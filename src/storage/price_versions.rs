//! The table `price_versions`: price lists that administrators set.

use super::retention::wait_briefly;
use super::{Conn, StorageError};
use crate::domain::id::UserId;
use crate::domain::prices::version::{PriceTexts, PriceVersion};
use crate::domain::time::{Day, UnixTime};

/// How many versions are kept.
const KEPT: i64 = 100;

/// The number of the version in force; 0 if there is none.
pub async fn find_newest_number(conn: &mut Conn) -> Result<i64, StorageError> {
    let number = sqlx::query_scalar!(r#"select coalesce(max(number), 0) as "number!" from price_versions"#);
    Ok(number.fetch_one(conn).await?)
}

/// A version and its texts.
pub async fn find(conn: &mut Conn, number: i64) -> Result<Option<(PriceVersion, PriceTexts)>, StorageError> {
    let row = sqlx::query!(
        r#"select number, created_time as "created_time: UnixTime", created_by as "created_by: UserId", note, file, data
           from price_versions where number = $1"#,
        number
    )
    .fetch_optional(conn)
    .await?;
    Ok(row.map(|row| {
        let version = PriceVersion {
            number: row.number,
            created_time: row.created_time,
            created_by: row.created_by,
            note: row.note,
        };
        (version, PriceTexts { file: row.file, data: row.data })
    }))
}

/// All versions that are kept, newest first.
pub async fn list(conn: &mut Conn) -> Result<Vec<PriceVersion>, StorageError> {
    let rows = sqlx::query_as!(
        PriceVersion,
        r#"select number, created_time as "created_time: UnixTime", created_by as "created_by: UserId", note
           from price_versions order by number desc"#
    );
    Ok(rows.fetch_all(conn).await?)
}

/// Waits until no batch goes by a former version, and lets none begin before the transaction ends: batches read the
/// number of the version with the wallets that they lock. [`StorageError::Blocked`] while a transaction that holds
/// wallets takes longer than a moment.
pub async fn lock(conn: &mut Conn) -> Result<(), StorageError> {
    wait_briefly(&mut *conn).await?;
    sqlx::query!("lock table users in exclusive mode").execute(conn).await?;
    Ok(())
}

/// Adds a version, after [`lock`], and deletes those that are too old.
pub async fn insert(conn: &mut Conn, version: &PriceVersion, texts: &PriceTexts) -> Result<(), StorageError> {
    sqlx::query!(
        "insert into price_versions (number, created_time, created_by, note, file, data) values ($1, $2, $3, $4, $5, $6)",
        version.number,
        version.created_time as UnixTime,
        version.created_by as UserId,
        version.note,
        texts.file,
        texts.data
    )
    .execute(&mut *conn)
    .await?;
    sqlx::query!("delete from price_versions where number <= $1", version.number - KEPT).execute(conn).await?;
    Ok(())
}

/// The models that were charged from a day on, by the sums of days.
pub async fn list_charged_models(conn: &mut Conn, from: Day, limit: i64) -> Result<Vec<String>, StorageError> {
    let models = sqlx::query_scalar!(
        r#"select distinct model as "model!" from (
             select model from usage_by_model where user_id = 0 and day >= $1
             union all select model from usage_daily
               where day >= (select least(rolled_until, closed_until) from usage_rollup where id = 1) and day >= $1) as charged
           where model <> '' order by 1 limit $2"#,
        from as Day,
        limit
    );
    Ok(models.fetch_all(conn).await?)
}
