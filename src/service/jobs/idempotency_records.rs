//! Deletes idempotency records after 72 hours. Those of open reservations stay.

use super::{Job, Progress, Round};
use crate::storage::{Conn, StorageError, retention};

pub(super) const JOB: Job = Job {
    name: "delete old idempotency records",
    needs_right_clock: true,
    step: |conn, round| Box::pin(step(conn, round)),
};

async fn step(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    Ok(Progress::after_deleting(retention::delete_idempotency_records(conn, round.answers_since()).await?))
}
