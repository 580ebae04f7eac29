//! `keymeter import …`

use std::fs::{File, Permissions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{Args, Subcommand};

use super::failure::CommandFailure;
use crate::output::print_line;
use keymeter::app::{self, Opened};
use keymeter::config::Config;
use keymeter::domain::group::Groups;
use keymeter::service;
use keymeter::service::rng::Rng;
use keymeter_import::{Destination, HistoryDays, ImportOptions, Location, LocationInvalid};

/// The exit code of an import that wrote nothing because something has to be changed first.
const BLOCKED: u8 = 2;

/// Accounts that are written at the same time. Each takes about ten round trips to the database.
const MAX_CONCURRENT_WRITES: u32 = 4;

/// The longest name of an installation.
const MAX_NAME_CHARS: usize = 50;

#[derive(Debug, Subcommand)]
pub enum ImportCommand {
    /// Import accounts, keys, balances and history from new-api or one-api. Run it again to add what is missing.
    #[command(name = "new-api", visible_alias = "one-api")]
    NewApi(NewApi),
}

#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is an option of the command")]
pub struct NewApi {
    /// The database: a SQLite file, a `mysql://` or `postgres://` URL, or the `SQL_DSN` of the other service. `-` reads
    /// it from standard input, so that no password is in the list of processes.
    #[arg(value_parser = source)]
    source: SourceText,
    /// The database that has the table `logs`, if `LOG_SQL_DSN` names another one.
    #[arg(long, value_name = "SOURCE", value_parser = source)]
    logs: Option<SourceText>,
    /// A name for the other installation. Another run with the same name adds what is missing.
    #[arg(long = "source", value_name = "NAME", default_value = "new-api", value_parser = name)]
    name: String,
    /// Say what would be imported, and import nothing.
    #[arg(long)]
    dry_run: bool,
    /// Write the report as JSON to this file too.
    #[arg(long, value_name = "FILE.json")]
    report: Option<PathBuf>,
    /// Days of history to import, or `all`, or `none`.
    #[arg(long, value_name = "DAYS", default_value = "90", value_parser = history)]
    history: HistoryDays,
    /// Days of which single requests are imported, for the list of requests; 0 imports none.
    #[arg(long, value_name = "DAYS", default_value_t = 7, value_parser = clap::value_parser!(u32).range(0..=366))]
    requests: u32,
    /// Enable keys that the other service refuses although neither their expiry nor their quota is the reason.
    #[arg(long)]
    revive: bool,
    /// Give accounts and keys new ids. Needed if there are accounts here already.
    #[arg(long)]
    new_ids: bool,
    /// Let administrators stay administrators, also with --new-ids.
    #[arg(long)]
    keep_roles: bool,
    /// Columns that look like restrictions and may be left out, such as `users.daily_token_limit`. The report names
    /// them.
    #[arg(long, value_name = "TABLE.COLUMN", value_delimiter = ',')]
    accept: Vec<String>,
    /// With --dry-run: look for so many seconds whether the other service still works. Give its
    /// `BATCH_UPDATE_INTERVAL`; 0 does not look.
    #[arg(long, value_name = "SECONDS", default_value_t = 5, overrides_with = "watch")]
    watch: u32,
}

/// A text that may contain a password.
#[derive(Clone)]
struct SourceText(String);

impl std::fmt::Debug for SourceText {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SourceText(…)")
    }
}

#[expect(clippy::unnecessary_wraps, reason = "clap expects a result")]
fn source(text: &str) -> Result<SourceText, String> {
    Ok(SourceText(text.to_owned()))
}

fn name(text: &str) -> Result<String, String> {
    let is_plain = text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if text.is_empty() || text.len() > MAX_NAME_CHARS || !is_plain {
        return Err(format!("use 1 to {MAX_NAME_CHARS} letters, digits, `-`, `_` and `.`"));
    }
    Ok(text.to_owned())
}

fn history(text: &str) -> Result<HistoryDays, String> {
    match text {
        "all" => Ok(HistoryDays::All),
        "none" | "0" => Ok(HistoryDays::None),
        days => days.parse().map(HistoryDays::Last).map_err(|_| "use a number of days, `all` or `none`".to_owned()),
    }
}

impl SourceText {
    fn location(&self) -> Result<Location, String> {
        let read = |text: &str| Location::parse(text).map_err(|error: LocationInvalid| error.to_string());
        if self.0 != "-" {
            return read(&self.0);
        }
        let mut line = String::new();
        std::io::stdin().read_line(&mut line).map_err(|error| format!("cannot read standard input: {error}"))?;
        read(&line)
    }
}

/// The report names people and may have passwords.
const PRIVATE: u32 = 0o600;

/// Lets nobody else read a file, also one that was here before. A pipe and a terminal are not ours.
fn keep_private(file: &File) -> std::io::Result<()> {
    if file.metadata()?.is_file() { file.set_permissions(Permissions::from_mode(PRIVATE)) } else { Ok(()) }
}

/// Replaces the content of a file. A pipe cannot be truncated.
fn write_anew(file: &mut File, text: &str) -> std::io::Result<()> {
    if file.metadata()?.is_file() {
        file.set_len(0)?;
    }
    file.write_all(text.as_bytes())
}

pub async fn run(config: &Config, command: ImportCommand) -> Result<ExitCode, CommandFailure> {
    let ImportCommand::NewApi(command) = command;
    let options = ImportOptions {
        source: command.source.location()?,
        logs: command.logs.as_ref().map(SourceText::location).transpose()?,
        name: command.name,
        dry_run: command.dry_run,
        history: command.history,
        request_days: command.requests,
        revive: command.revive,
        new_ids: command.new_ids,
        keep_roles: command.keep_roles,
        accepted: command.accept,
        watch: Duration::from_secs(command.watch.into()),
    };
    // Before the import, so that it does not run for nothing.
    let file = match &command.report {
        Some(path) => {
            // The report of an earlier run stays until there is another one.
            let opened = File::options().write(true).create(true).truncate(false).mode(PRIVATE).open(path);
            let opened = opened.and_then(|file| keep_private(&file).map(|()| file));
            Some((path, opened.map_err(|error| format!("cannot write {}: {error}", path.display()))?))
        }
        None => None,
    };
    print_line(
        "Before you import, take the traffic away from the other service, wait until running requests have ended and \
         `users.used_quota` stands still, and then stop it: what it has not written by then is lost when it stops.\n",
    );
    let report = app::with_database(config, async |database| {
        let Opened { db, vault } = app::open(config, database).await?;
        let here = Destination {
            label: database.describe(config),
            db: db.clone(),
            vault,
            clock: service::clock::start(&db).await.map_err(|error| error.to_string())?,
            rng: Rng::system(),
            groups: Groups::new(config.groups.clone()),
            initial_group: config.accounts.initial_group.clone(),
            zone: config.usage.time_zone,
            cell: config.cell.label,
            concurrent_writes: database.options.connections.clamp(1, MAX_CONCURRENT_WRITES) as usize,
        };
        let report =
            keymeter_import::import(&options, &here).await.map_err(|error| CommandFailure::from(error.to_string()));
        db.close().await;
        report
    })
    .await?;
    if let Some((path, mut file)) = file {
        let json = report.json().map_err(|error| error.to_string())?;
        write_anew(&mut file, &json).map_err(|error| format!("cannot write {}: {error}", path.display()))?;
    }
    print_line(report.text().trim_end());
    Ok(if report.is_blocked() { ExitCode::from(BLOCKED) } else { ExitCode::SUCCESS })
}
