//! Deletes imported requests that are as old as charges that are deleted.

use super::{Job, Progress, Round};
use crate::storage::{Conn, StorageError, imported_requests};

pub(super) const JOB: Job = Job {
    name: "delete old imported requests",
    needs_right_clock: true,
    step: |conn, round| Box::pin(step(conn, round)),
};

async fn step(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    Ok(Progress::after_deleting(imported_requests::delete(conn, round.charges_since()).await?))
}
