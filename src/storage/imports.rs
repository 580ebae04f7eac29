//! The table `import_runs`. An import writes it; the service only shows it.

use super::{Conn, StorageError};
use crate::domain::import_run::ImportRun;
use crate::domain::time::UnixTime;

/// Runs that [`list_runs`] returns.
const MAX_RUNS: i64 = 10;

/// The latest runs, newest first.
pub async fn list_runs(conn: &mut Conn) -> Result<Vec<ImportRun>, StorageError> {
    let runs = sqlx::query_as!(
        ImportRun,
        r#"select id, source, at as "at: UnixTime", complete as is_complete, report::text as "report!"
           from import_runs order by id desc limit $1"#,
        MAX_RUNS
    )
    .fetch_all(conn)
    .await?;
    Ok(runs)
}
