//! Deletes expired sessions.

use super::{Job, Progress, Round};
use crate::storage::{Conn, StorageError, sessions};

pub(super) const JOB: Job =
    Job { name: "delete expired sessions", needs_right_clock: true, step: |conn, round| Box::pin(step(conn, round)) };

async fn step(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    Ok(Progress::after_deleting(sessions::delete_expired(conn, round.now).await?))
}
