//! Charges of which the hold was taken, because no other amount was known.

use super::{Conn, StorageError};
use crate::domain::bounds;
use crate::domain::prices::priced_by::{HeldCharges, HoldReason};
use crate::domain::time::UnixTime;

/// The numbers of such charges of all users since a time, by model and reason; the largest first.
pub async fn list_recent(conn: &mut Conn, since: UnixTime) -> Result<Vec<HeldCharges>, StorageError> {
    let rows = sqlx::query!(
        r#"select model, hold_reason as "reason!", count(*) as "requests!", max(at) as "last!: UnixTime"
           from (
             select model, hold_reason, at from charges where at >= $1 and hold_reason is not null
             order by at desc limit $2) c
           group by model, hold_reason order by 3 desc, 1, 2 limit $3"#,
        since as UnixTime,
        bounds::MAX_RECENT_REFUSALS_READ,
        bounds::MAX_RECENT_REFUSALS
    )
    .fetch_all(conn)
    .await?;
    // Rows of a later version may have other reasons.
    let recent = rows.into_iter().filter_map(|row| {
        let reason = HoldReason::parse(&row.reason)?;
        let model = Some(row.model).filter(|model| !model.is_empty());
        Some(HeldCharges { model, reason, requests: row.requests, last: row.last })
    });
    Ok(recent.collect())
}
