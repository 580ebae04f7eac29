//! Creates the partitions of `charges` and `refusals` ahead of time and drops those that are too old.

use super::{Progress, Round};
use crate::domain::bounds;
use crate::domain::time::DAY;
use crate::storage::{Conn, StorageError, refusals, retention};

/// Days for which partitions are created ahead. A long backup can delay their creation by days.
const DAYS_AHEAD: i64 = 7;

pub(super) async fn make(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    let (first, last) = (round.now.plus(-DAY), round.now.plus(DAYS_AHEAD * DAY));
    let missing = retention::list_missing_partitions(conn, first, last).await?;
    let Some(day) = missing.first() else {
        return Ok(Progress::Done);
    };
    retention::make_partition(conn, *day).await?;
    Ok(if missing.len() > 1 { Progress::MoreToDo } else { Progress::Done })
}

pub(super) async fn drop_oldest(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    let dropped = retention::drop_oldest_partition(conn, round.charges_since()).await?;
    Ok(if dropped { Progress::MoreToDo } else { Progress::Done })
}

pub(super) async fn make_of_refusals(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    refusals::make_partitions(conn, round.now.plus(-DAY), round.now.plus(DAYS_AHEAD * DAY)).await?;
    Ok(Progress::Done)
}

pub(super) async fn drop_oldest_of_refusals(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    let since = round.now.utc_midnight().plus(-DAY * bounds::REFUSAL_DAYS);
    if refusals::drop_oldest_partition(conn, since, round.now).await? {
        return Ok(Progress::MoreToDo);
    }
    // Also those of a clock that was far ahead: they would be the newest ones for so long.
    let last = round.now.plus(DAYS_AHEAD * DAY);
    Ok(Progress::after_deleting(refusals::delete_without_partition(conn, since, last).await?))
}
