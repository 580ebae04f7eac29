//! Deletes expired access tokens.

use super::{Job, Progress, Round};
use crate::storage::{Conn, StorageError, access_tokens};

pub(super) const JOB: Job = Job {
    name: "delete expired access tokens",
    needs_right_clock: true,
    step: |conn, round| Box::pin(step(conn, round)),
};

async fn step(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    Ok(Progress::after_deleting(access_tokens::delete_expired(conn, round.now).await?))
}
