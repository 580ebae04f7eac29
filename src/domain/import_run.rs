//! A run of `keymeter import` (docs/moving-in.md).

use super::time::UnixTime;

/// What a run did, as administrators see it.
#[derive(Debug)]
pub struct ImportRun {
    pub id: i64,
    /// The name of the other installation.
    pub source: String,
    /// When it ended.
    pub at: UnixTime,
    /// False if it failed in the middle; the next run adds what is missing.
    pub is_complete: bool,
    /// The report as JSON, with a few rows for each finding.
    pub report: String,
}
