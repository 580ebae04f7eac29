//! Deletes replaced keys 90 days after their end.

use super::{Job, Progress, Round};
use crate::domain::bounds;
use crate::storage::{Conn, StorageError, old_keys};

pub(super) const JOB: Job =
    Job { name: "delete ended keys", needs_right_clock: true, step: |conn, round| Box::pin(step(conn, round)) };

async fn step(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    let then = round.now.plus(-bounds::ENDED_KEY_SECONDS);
    Ok(Progress::after_deleting(old_keys::delete_ended(conn, then).await?))
}
