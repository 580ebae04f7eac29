//! Deletes old charges that are in no partition of a day.

use super::{Job, Progress, Round};
use crate::storage::{Conn, StorageError, retention};

pub(super) const JOB: Job = Job {
    name: "delete old charges without a partition",
    needs_right_clock: true,
    step: |conn, round| Box::pin(step(conn, round)),
};

async fn step(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    Ok(Progress::after_deleting(retention::delete_charges_without_partition(conn, round.charges_since()).await?))
}
