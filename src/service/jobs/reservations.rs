//! Deletes reservations 72 hours after their end. Open ones stay.

use super::{Job, Progress, Round};
use crate::storage::{Conn, StorageError, retention};

pub(super) const JOB: Job =
    Job { name: "delete ended reservations", needs_right_clock: true, step: |conn, round| Box::pin(step(conn, round)) };

async fn step(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    Ok(Progress::after_deleting(retention::delete_reservations(conn, round.answers_since()).await?))
}
