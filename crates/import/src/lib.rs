//! `keymeter import new-api`: moves accounts, keys, balances and history from new-api and one-api (docs/moving-in.md).
//!
//! The other database is read in one read-only snapshot, in two passes. The first decides about every row and writes
//! nothing: accounts and tokens that cannot be read, and every blocker, show before anything is written. The second
//! writes: one transaction for each account with its tokens and its history, and with rows in `imports` that another
//! run finds. So an import can be killed anywhere and run again: it adds what is missing, and never touches what is
//! there.
//!
//! `rules.rs` and `names.rs` decide what a row becomes, `schema.rs` knows the tables there, `statements.rs` those here.

mod administrators;
mod days;
mod findings;
mod growth;
mod identity;
mod location;
mod names;
mod plan;
mod planned;
mod report;
mod requests;
mod rows;
mod rules;
mod schema;
mod source;
mod statements;
mod target;
mod unread;
mod walk;

use std::sync::Arc;
use std::time::Duration;

use chrono_tz::Tz;
use indicatif::{ProgressBar, ProgressStyle};

use self::growth::Growth;
pub use self::location::{Location, LocationInvalid};
use self::plan::{MAX_KEPT_ID, Planner};
pub use self::report::ImportReport;
use self::report::{Blocker, FindingSubject, GroupOptions, Note};
use self::requests::RequestLines;
use self::schema::{ForeignSchema, LogSchema, NOT_MOVED};
use self::source::{ForeignDatabase, SourceError};
use self::target::{ImportTarget, WriteBatch};
use self::walk::{History, Walk};
use keymeter::domain::bounds;
use keymeter::domain::cell::CellLabel;
use keymeter::domain::clock::Clock;
use keymeter::domain::group::Groups;
use keymeter::domain::time::{DAY, UnixTime};
use keymeter::service::rng::Rng;
use keymeter::service::vault::Vault;
use keymeter::storage::{Db, StorageError};

/// How much history is imported.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HistoryDays {
    Last(u32),
    All,
    None,
}

/// What to import, and how.
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command")]
pub struct ImportOptions {
    pub source: Location,
    /// The database with the table `logs`, if it is another one.
    pub logs: Option<Location>,
    /// The name of the other installation.
    pub name: String,
    pub dry_run: bool,
    pub history: HistoryDays,
    /// Days of which single requests are imported; 0: none.
    pub request_days: u32,
    pub revive: bool,
    pub new_ids: bool,
    /// Administrators stay administrators, also with new ids.
    pub keep_roles: bool,
    /// Columns of restrictions that may be lost, such as `users.daily_token_limit`.
    pub accepted: Vec<String>,
    /// How long a rehearsal looks whether the other service still works; zero: it does not.
    pub watch: Duration,
}

/// This installation.
pub struct Destination {
    /// Its database, for messages: without user and password.
    pub label: String,
    pub db: Db,
    pub vault: Vault,
    pub clock: Arc<dyn Clock>,
    pub rng: Rng,
    pub groups: Groups,
    /// The group of accounts without one.
    pub initial_group: String,
    pub zone: Tz,
    pub cell: CellLabel,
    /// How many accounts are written at the same time, each over a connection of its own.
    pub concurrent_writes: usize,
}

/// Why an import failed. Each is one sentence.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("the database of Keymeter: {0}")]
    Storage(#[from] StorageError),
    #[error("{0}; {1} accounts and {2} keys are imported, and the same command adds what is missing")]
    Interrupted(Box<ImportError>, i64, i64),
    #[error("{0} has no table `logs`; name the database that has it with --logs, or use --history none")]
    NoLogs(String),
    #[error("the report cannot be written: {0}")]
    Report(serde_json::Error),
    #[error("no name is free for the account {0} ({1:?}); rename it there and run this again")]
    NoName(i64, String),
}

/// Reads the other database and imports it, or says what an import would do. The report has blockers if nothing was
/// written because of them.
///
/// # Errors
/// See [`ImportError`].
pub async fn import(options: &ImportOptions, here: &Destination) -> Result<ImportReport, ImportError> {
    let growth = match options.watch {
        watch if options.dry_run && !watch.is_zero() => Some(Growth::begin(&options.source, watch).await?),
        _ => None,
    };
    let mut source = ForeignDatabase::open(&options.source, options.dry_run).await?;
    let schema = ForeignSchema::read(&mut source).await?;
    let mut logs = match &options.logs {
        Some(location) => Some(ForeignDatabase::open(location, options.dry_run).await?),
        None => None,
    };
    let new_report = || {
        let (source, target, name) = (source.label.clone(), here.label.clone(), options.name.clone());
        ImportReport::new(source, target, schema.service.as_str(), name, options.dry_run)
    };
    let (mut report, mut written) = (new_report(), new_report());
    let history = history(options, here, &mut source, &schema, logs.as_mut(), &mut report).await?;
    let groups = describe_source(&mut source, &schema, &mut report).await?;
    for found in unread::report_unread(&mut source, &schema, &options.accepted, &mut report).await? {
        report.add(FindingSubject::All, found.clone());
        written.add(FindingSubject::All, found);
    }
    let target = ImportTarget::examine(here, options, &mut report).await?;

    let walk = Walk::prepare(&mut source, &schema).await?;
    let mut planner = Planner::new(here, options, &target);
    let read_history = history.as_ref().filter(|_| options.dry_run);
    let bar = progress_bar("reading", walk.accounts(), "accounts");
    walk.run(&mut source, logs.as_mut(), read_history, &mut planner, &target, &mut report, &bar, None).await?;
    if let Some(message) = planner.identity.problem(target.earlier, &options.name) {
        report.block("other_installation", message);
    }
    report.block_missing_groups(&groups);
    let lines = request_lines(options, here, logs.as_mut().unwrap_or(&mut source)).await?;
    report.requests.found = lines.as_ref().map_or(0, |(_, lines)| lines.count);
    if let Some(growth) = growth {
        report.notes.extend(growth.end().await?);
    }
    if options.dry_run || report.is_blocked() {
        return Ok(report);
    }

    written.requests.imported = Some(0);
    std::mem::swap(&mut written.notes, &mut report.notes);
    std::mem::swap(&mut written.not_moved, &mut report.not_moved);
    let max_ids = (
        source.number(schema.max_id("users", MAX_KEPT_ID)).await?,
        source.number(schema.max_id("tokens", MAX_KEPT_ID)).await?,
    );
    let writer = target.writer(max_ids).await?;
    let mut batch = WriteBatch::new(&writer);
    let mut planner = Planner::new(here, options, &target);
    let bar = progress_bar("importing", walk.accounts(), "accounts");
    let walked = walk
        .run(&mut source, logs.as_mut(), history.as_ref(), &mut planner, &target, &mut written, &bar, Some(&mut batch))
        .await;
    let mut walked = walked.and(batch.write(&mut written).await);
    if let Some((schema, lines)) = lines.filter(|_| walked.is_ok()) {
        written.requests.found = lines.count;
        let bar = progress_bar("importing", lines.count.unsigned_abs(), "requests");
        let logs = logs.as_mut().unwrap_or(&mut source);
        let imported = lines.import(logs, &schema, &options.name, here, |read| bar.inc(read)).await;
        bar.finish_and_clear();
        walked = imported.map(|imported| written.requests.imported = Some(imported));
    }
    // The servers learn of the keys that were written, also if it ends here.
    let finished = writer.finish(&written, walked.is_ok()).await;
    match walked.and(finished) {
        Ok(()) => Ok(written),
        Err(error) => Err(ImportError::Interrupted(Box::new(error), batch.accounts, batch.keys)),
    }
}

/// Which part of the logs to read.
async fn history(
    options: &ImportOptions,
    here: &Destination,
    source: &mut ForeignDatabase,
    users: &ForeignSchema,
    logs: Option<&mut ForeignDatabase>,
    report: &mut ImportReport,
) -> Result<Option<History>, ImportError> {
    let now = here.clock.now();
    let since = match options.history {
        HistoryDays::None => return Ok(None),
        HistoryDays::All => 0,
        HistoryDays::Last(days) => seconds_before(now, days),
    };
    let is_separate = logs.is_some();
    let used = users.read_used_quota(source).await?;
    let logs = logs.unwrap_or(source);
    match LogSchema::read(logs).await? {
        Some(schema) => {
            if used > 0 && logs.number(schema.has_rows()).await? == 0 {
                report.notes.push(Note::logs_empty());
            }
            Ok(Some(History::new(schema, since, here.zone, now)))
        }
        None if is_separate => Err(ImportError::NoLogs(logs.label.clone())),
        None => {
            report.notes.push(Note::no_logs());
            Ok(None)
        }
    }
}

/// The single requests to import; `None` if there are none.
async fn request_lines(
    options: &ImportOptions,
    here: &Destination,
    logs: &mut ForeignDatabase,
) -> Result<Option<(LogSchema, RequestLines)>, ImportError> {
    if options.request_days == 0 {
        return Ok(None);
    }
    let Some(schema) = LogSchema::read(logs).await? else {
        return Ok(None);
    };
    let now = here.clock.now();
    let since = seconds_before(now, options.request_days);
    let lines = RequestLines::find(logs, &schema, (since, now.get())).await?;
    Ok(lines.map(|lines| (schema, lines)))
}

/// The second so many days before `now`.
fn seconds_before(now: UnixTime, days: u32) -> i64 {
    now.get().saturating_sub(i64::from(days).saturating_mul(DAY)).max(0)
}

/// Reads the options of the other service, and counts what is not moved.
async fn describe_source(
    source: &mut ForeignDatabase,
    schema: &ForeignSchema,
    report: &mut ImportReport,
) -> Result<GroupOptions, ImportError> {
    for (table, what) in NOT_MOVED {
        if !source.columns(table).await?.is_empty() {
            let count = source.number(schema.count(table)).await?;
            report.not_moved.insert(what.to_owned(), count);
        }
    }
    let columns = source.columns("options").await?;
    if !columns.contains("key") || !columns.contains("value") {
        return Ok(GroupOptions::default());
    }
    let mut values = Vec::new();
    for name in ["GroupRatio", "UserUsableGroups", "QuotaPerUnit"] {
        let rows = source.fetch(schema.option(name)).await?;
        values.push(rows.into_iter().next().and_then(|row| row.into_iter().next().flatten()).unwrap_or_default());
    }
    let per_dollar = values[2].trim().split('.').next().unwrap_or_default();
    if !per_dollar.is_empty() && per_dollar != bounds::QUOTA_PER_USD.to_string() {
        report.notes.push(Note::quota_units_differ(per_dollar, bounds::QUOTA_PER_USD));
    }
    Ok(GroupOptions::new(&values[0], &values[1]))
}

/// A progress bar on standard error, if that is a terminal.
fn progress_bar(what: &'static str, count: u64, things: &str) -> ProgressBar {
    let bar = ProgressBar::new(count).with_prefix(what);
    match ProgressStyle::with_template(&format!("{{prefix}} [{{bar:40}}] {{pos}} of {{len}} {things}, {{eta}}")) {
        Ok(style) => bar.with_style(style.progress_chars("#>.")),
        Err(_) => bar,
    }
}

impl ImportReport {
    /// Adds a blocker without settings.
    fn block(&mut self, code: &'static str, message: impl Into<String>) {
        self.blockers.push(Blocker { code, message: message.into(), settings: String::new() });
    }
}
