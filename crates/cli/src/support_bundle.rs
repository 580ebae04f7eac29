//! `keymeter support-bundle`: packs what helps to find a fault into one file. No secret is in it.

use std::env;
use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use chrono::DateTime;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use serde_json::json;
use tempfile::NamedTempFile;
use tokio::process::Command;

use crate::failure::CommandFailure;
use crate::health;
use crate::output::{print_error, print_line};
use keymeter::api::settings::SettingBody;
use keymeter::api::system::InstallationBody;
use keymeter::app::{self, Database, StartError, StopSignals};
use keymeter::config::Config;
use keymeter::domain::clock::{Clock, SystemClock};
use keymeter::domain::time::UnixTime;
use keymeter::service::system::InstallationReport;
use keymeter::storage::{self, Db};
use keymeter::version::{self, VERSION};

/// How long the server on this machine may take to answer.
const METRICS_TIMEOUT: Duration = Duration::from_secs(2);

/// The folder in the bundle.
const FOLDER: &str = "keymeter-support";

/// The name of a file in the bundle, and what is in it.
type Entry = (&'static str, String);

/// Makes the bundle. What cannot be found out is a line in its file that says so.
pub async fn run(config: &Config, file: Option<PathBuf>) -> Result<(), CommandFailure> {
    let now = SystemClock.now();
    let file = file.unwrap_or_else(|| default_name(now).into());
    let unwritable = |error: io::Error| {
        let file = file.display();
        CommandFailure::from(format!("cannot write {file}: {error}; name another file: keymeter support-bundle FILE"))
    };
    if fs::symlink_metadata(&file).is_ok() {
        return Err(unwritable(io::ErrorKind::AlreadyExists.into()));
    }
    // The error itself names the draft.
    let draft = draft_beside(&file).map_err(|error| unwritable(error.kind().into()))?;
    let contents = collect(config, now).await?;
    pack(draft.as_file(), &contents, now).map_err(unwritable)?;
    // A file that was made meanwhile stays.
    draft.persist_noclobber(&file).map_err(|error| unwritable(error.error))?;
    let names: Vec<_> = contents.iter().map(|(name, _)| *name).collect();
    print_line(&format!("{}: {}", file.display(), names.join(", ")));
    print_line("it contains no key and no secret; read it before you send it");
    Ok(())
}

/// `keymeter-support-20270131-120000.tar.gz`, with the time in UTC.
fn default_name(now: UnixTime) -> String {
    let at = DateTime::from_timestamp(now.get(), 0).unwrap_or_default();
    at.format("keymeter-support-%Y%m%d-%H%M%S.tar.gz").to_string()
}

/// A file without a name to rely on, in the same directory, only for this user. It is removed unless it gets a name.
fn draft_beside(file: &Path) -> io::Result<NamedTempFile> {
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let only_for_owner = Permissions::from_mode(0o600);
    tempfile::Builder::new().prefix(".keymeter-support").permissions(only_for_owner).tempfile_in(directory)
}

async fn collect(config: &Config, now: UnixTime) -> Result<Vec<Entry>, CommandFailure> {
    let mut stop = StopSignals::catch();
    let settings: Vec<_> = config.shown.iter().map(SettingBody::from).collect();
    print_error("running `keymeter doctor`, which reads the whole ledger");
    let doctor = tokio::select! {
        report = doctor(config.file.as_deref()) => report,
        () = stop.received() => return Err(StartError::Interrupted.into()),
    };
    Ok(vec![
        ("about.json", about(config, now)),
        ("settings.json", pretty(&settings)),
        ("doctor.txt", doctor.unwrap_or_else(|error| format!("`keymeter doctor` cannot be run: {error}\n"))),
        ("system.json", system(config).await?),
        ("metrics.txt", metrics(&config.server.listen).await),
    ])
}

/// This program, and the machine that it runs on.
fn about(config: &Config, now: UnixTime) -> String {
    let first_line = |path| fs::read_to_string(path).ok()?.lines().next().map(str::to_owned);
    let release = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = release.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="));
    pretty(&json!({
        "version": VERSION,
        "commit": version::commit(),
        "server": config.server.name,
        "time": now.get(),
        "operating_system": name.map_or(env::consts::OS, |name| name.trim_matches('"')),
        "kernel": first_line("/proc/sys/kernel/osrelease"),
        "architecture": env::consts::ARCH,
        "database_is_private": config.database.url.is_none(),
    }))
}

/// What `keymeter doctor` prints with the same settings, and last how it ended.
async fn doctor(settings: Option<&Path>) -> io::Result<String> {
    let mut command = Command::new(env::current_exe()?);
    if let Some(file) = settings {
        command.arg("--config").arg(file);
    }
    let output = command.arg("doctor").stdin(Stdio::null()).output().await?;
    let said = [output.stdout, output.stderr].concat();
    Ok(format!("{}{}\n", String::from_utf8_lossy(&said), output.status))
}

/// What `GET /api/admin/system` says of the database.
async fn system(config: &Config) -> Result<String, CommandFailure> {
    match read_system(config).await {
        Ok(report) => Ok(pretty(&InstallationBody::from(report))),
        Err(StartError::Interrupted) => Err(StartError::Interrupted.into()),
        Err(error) => Ok(pretty(&json!({ "error": error.to_string() }))),
    }
}

async fn read_system(config: &Config) -> Result<InstallationReport, StartError> {
    app::require_data(config)?;
    let read = async |database: &Database| {
        // It says what is wrong with an address, a password or a database of another program.
        storage::inspect(&database.options).await?;
        let db = Db::open(&database.options);
        let report = async {
            let now = storage::read_clock(&mut *db.acquire().await?).await?.seconds();
            InstallationReport::read(&db, now).await
        };
        let report = report.await;
        db.close().await;
        Ok::<_, StartError>(report?)
    };
    app::with_database(config, read).await
}

/// The metrics of the server that listens on this machine.
async fn metrics(listen: &str) -> String {
    let metrics = health::get(listen, "/metrics", METRICS_TIMEOUT).await;
    metrics.unwrap_or_else(|why| format!("no metrics: {why}; the setting `server.metrics` may not allow it\n"))
}

fn pretty(value: &impl Serialize) -> String {
    serde_json::to_string_pretty(value).map_or_else(|error| format!("{error}\n"), |text| text + "\n")
}

fn pack(file: &File, contents: &[Entry], now: UnixTime) -> io::Result<()> {
    let mut archive = tar::Builder::new(GzEncoder::new(file, Compression::default()));
    for (name, text) in contents {
        let mut header = tar::Header::new_gnu();
        header.set_size(text.len() as u64);
        header.set_mode(0o600);
        header.set_mtime(u64::try_from(now.get()).unwrap_or_default());
        archive.append_data(&mut header, format!("{FOLDER}/{name}"), text.as_bytes())?;
    }
    archive.into_inner()?.finish()?.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_has_the_time_in_utc() {
        assert_eq!(default_name(UnixTime::new(1_773_144_003)), "keymeter-support-20260310-120003.tar.gz");
    }
}
