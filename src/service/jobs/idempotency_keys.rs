//! Deletes the records of requests with an `Idempotency-Key` after 72 hours.

use super::{Job, Progress, Round};
use crate::storage::{Conn, StorageError, idempotency_keys};

pub(super) const JOB: Job = Job {
    name: "delete old idempotency keys",
    needs_right_clock: true,
    step: |conn, round| Box::pin(step(conn, round)),
};

async fn step(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    Ok(Progress::after_deleting(idempotency_keys::delete_old(conn, round.answers_since()).await?))
}
