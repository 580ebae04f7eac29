//! What the doctor finds around the service: the version of PostgreSQL, the disk, backups and the public address. None
//! of it is an error yet; each note says what to do.

use keymeter::config::Config;
use keymeter::domain::calendar::Moment;
use keymeter::domain::time::{Day, UnixTime};
use keymeter::storage::server_state::ServerState;
use keymeter::storage::{self, Db, StorageError, installation};
use keymeter::telemetry::disk::DiskSpace;

use crate::output::{print_good, print_note};

/// The last days of PostgreSQL's versions, from its page on versioning.
const ENDS: [(&str, &str); 5] =
    [("14", "2026-11-12"), ("15", "2027-11-11"), ("16", "2028-11-09"), ("17", "2029-11-08"), ("18", "2030-11-14")];

/// So many days before the end of a version, the doctor says so.
const END_IS_NEAR_DAYS: i64 = 180;

/// A backup that is older is a note. Daily backups are younger.
const MAX_BACKUP_HOURS: i64 = 26;

/// With less free, the disk is a note: a tenth of it, or this many bytes.
const LEAST_FREE_BYTES: u64 = 2 * GIB;
const GIB: u64 = 1 << 30;

/// Prints what is found, beside the state of PostgreSQL.
///
/// # Errors
/// The database.
pub(crate) async fn examine(config: &Config, db: &Db, server: &ServerState) -> Result<(), StorageError> {
    let mut conn = db.acquire().await?;
    let micros = storage::read_clock(&mut conn).await?;
    let made = installation::find_backup_time(&mut conn).await?;
    drop(conn);
    if let Some(what) = note_on_version(&server.version, Moment::new(micros, config.usage.calendar()).today) {
        print_note("database", &what);
    }
    examine_backup(made.max(server.last_archived_time), micros.seconds());
    examine_disk(config);
    if !config.server.trusted_proxies.is_empty() && config.http.public_url.is_empty() {
        print_note(
            "address",
            "requests come through a proxy (`server.trusted_proxies`); set `http.public_url` to the address that people \
             type, or sign-in fails if the proxy changes `Host`, and cookies are not `Secure`",
        );
    }
    Ok(())
}

/// What there is to say of a version of PostgreSQL; nothing of one that is not known yet.
fn note_on_version(version: &str, today: Day) -> Option<String> {
    let major = version.split(|other: char| !other.is_ascii_digit()).next()?;
    let (_, end) = ENDS.into_iter().find(|(known, _)| *known == major)?;
    match Day::parse(end).ok()?.days_since(today) {
        ..0 => Some(format!("PostgreSQL {major} has had no fixes since {end}; upgrade it (docs/operations.md)")),
        0..=END_IS_NEAR_DAYS => {
            Some(format!("PostgreSQL {major} gets no fixes after {end}; plan its upgrade (docs/operations.md)"))
        }
        _ => None,
    }
}

fn examine_backup(newest: Option<UnixTime>, now: UnixTime) {
    let Some(newest) = newest else {
        let what = "none is known; make one with `keymeter backup`, or archive PostgreSQL's log (docs/operations.md)";
        return print_note("backup", what);
    };
    let hours = now.since(newest).max(0) / 3_600;
    if hours > MAX_BACKUP_HOURS {
        print_note("backup", &format!("the newest one that is known is {hours} hours old; see what makes them"));
    } else {
        print_good("backup", &format!("the newest one that is known is {hours} hours old"));
    }
}

/// The disk of the data directory, where a private PostgreSQL has its data.
fn examine_disk(config: &Config) {
    let shown = config.data_dir.display();
    let disk = match DiskSpace::of(&config.data_dir) {
        Ok(disk) => disk,
        // With a database of its own elsewhere, a server needs none.
        Err(_) if config.database.url.is_some() => return,
        Err(error) => return print_note("disk", &format!("the free space of {shown} is not known: {error}")),
    };
    let free = format!("{} of {} GiB are free in {shown}", disk.free / GIB, disk.total / GIB);
    if disk.free < LEAST_FREE_BYTES || disk.free < disk.total / 10 {
        print_note("disk", &format!("{free}; make room, or no charge is possible when it is full"));
    } else {
        print_good("disk", &free);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_of_postgresql_is_named_before_and_after_its_end() {
        let note = |version, today| note_on_version(version, Day::parse(today).unwrap());
        let near = "PostgreSQL 15 gets no fixes after 2027-11-11; plan its upgrade (docs/operations.md)";
        let over = "PostgreSQL 15 has had no fixes since 2027-11-11; upgrade it (docs/operations.md)";
        for (today, expected) in
            [("2027-05-14", None), ("2027-05-15", Some(near)), ("2027-11-11", Some(near)), ("2027-11-12", Some(over))]
        {
            assert_eq!(note("15.13 (Debian 15.13-0+deb12u1)", today).as_deref(), expected, "{today}");
        }
        assert_eq!(note("14.1", "2026-11-28").map(|what| what.contains("since 2026-11-12")), Some(true));
        for unknown in ["19beta1", "devel", ""] {
            assert_eq!(note(unknown, "2040-01-01"), None, "{unknown}");
        }
    }
}
