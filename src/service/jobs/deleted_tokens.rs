//! Erases the encrypted keys and the lists of deleted tokens that cannot be restored any more.

use super::{Job, Progress, Round};
use crate::domain::time::DAY;
use crate::storage::{Conn, StorageError, tokens};

pub(super) const JOB: Job = Job {
    name: "erase keys of deleted tokens",
    needs_right_clock: true,
    step: |conn, round| Box::pin(step(conn, round)),
};

async fn step(conn: &mut Conn, round: Round) -> Result<Progress, StorageError> {
    let then = round.now.plus(-DAY * i64::from(round.restore_days));
    Ok(Progress::after_deleting(tokens::erase_keys(conn, then).await?))
}
