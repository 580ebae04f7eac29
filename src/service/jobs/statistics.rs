//! Analyses tables that have rows and no statistics, as after a restore.

use super::{Job, Progress};
use crate::storage::{Conn, StorageError, retention};

pub(super) const JOB: Job =
    Job { name: "analyse tables without statistics", needs_right_clock: false, step: |conn, _| Box::pin(step(conn)) };

async fn step(conn: &mut Conn) -> Result<Progress, StorageError> {
    let Some(table) = retention::analyze_one_table(conn).await? else {
        return Ok(Progress::Done);
    };
    tracing::info!(table, "analysed a table that had no statistics");
    Ok(Progress::MoreToDo)
}
