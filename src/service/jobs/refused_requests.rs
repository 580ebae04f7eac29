//! Deletes counts of refused requests when the charges of their day are deleted.

use super::{Job, Progress, Round};
use crate::storage::{Conn, StorageError, refused_requests};

pub(super) const JOB: Job = Job {
    name: "delete old counts of refused requests",
    needs_right_clock: true,
    step: |conn, round| Box::pin(step(conn, round)),
};

async fn step(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    let day = round.charges_since().day_in(chrono_tz::UTC);
    Ok(Progress::after_deleting(refused_requests::delete_before(conn, day).await?))
}
