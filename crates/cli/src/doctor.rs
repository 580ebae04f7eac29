//! `keymeter doctor`: checks the settings, the database, the master key, the keys and the ledger, and gives a remedy
//! for each error. It changes nothing.

use std::process::ExitCode;

use indicatif::{ProgressBar, ProgressStyle};

use crate::doctor_surroundings;
use crate::output::{print_good, print_line, print_note};
use keymeter::app::{self, Database, PrivatePostgres, StartError};
use keymeter::config::Config;
use keymeter::domain::audit::{Action, AuditFilter};
use keymeter::domain::calendar::Moment;
use keymeter::domain::clock::{Clock, SystemClock};
use keymeter::service::clock_repair;
use keymeter::service::proof::{self, InvariantViolation};
use keymeter::service::secrets::{MasterKey, SecretsError};
use keymeter::service::vault::Vault;
use keymeter::storage::clock_repair::allow_minutes;
use keymeter::storage::consistency::{self, RollUpViolation};
use keymeter::storage::{self, Db, StorageError, audit, keys, secrets, server_state, tokens};

/// Ids per statement.
const STEP: i64 = 50_000;

/// The newest repairs that are named.
const SHOWN_REPAIRS: i64 = 20;

/// The last line of a report without errors.
const NO_ERRORS: &str = "no errors found";

/// Checks the installation and prints a report. The exit code is 1 if there is an error.
pub async fn examine(config: &Config) -> ExitCode {
    let mut report = Report::default();
    print_good("settings", "can be read");
    if config.database.url.is_none() && !PrivatePostgres::exists(&config.data_dir) {
        let what = format!("there is none in {} yet; start one with `keymeter serve`", config.data_dir.display());
        report.wrong("database", &what);
        return report.close();
    }
    let examined = app::with_database(config, async |database| {
        examine_database(config, database, &mut report).await;
        Ok::<_, StartError>(())
    });
    if let Err(error) = examined.await {
        report.wrong("database", &error.to_string());
    }
    report.close()
}

async fn examine_database(config: &Config, database: &Database, report: &mut Report) {
    let found = match storage::inspect(&database.options).await {
        Ok(found) => found,
        Err(error) => return report.wrong("database", &error.to_string()),
    };
    print_good("database", &format!("PostgreSQL {} answers", found.server));
    if found.pending > 0 {
        let what = format!("{} migrations wait; run `keymeter migrate` or start the service", found.pending);
        return report.wrong("schema", &what);
    }
    print_good("schema", "is that of this version");
    let master_key = match (app::find_master_key(config), found.key_checks.as_slice()) {
        (Err(error), _) => return report.wrong("master key", &error.to_string()),
        (Ok(_), []) => return report.wrong("master key", "the service was never started on this database"),
        (Ok(None), _) => {
            return report.wrong("master key", "it is missing; set KEYMETER_SECRETS__MASTER_KEY or put the file back");
        }
        (Ok(Some(key)), checks) => {
            let check = key.check();
            if !checks.iter().any(|known| *known == check) {
                return report.wrong("master key", "it does not match this database; use the one it was created with");
            }
            key
        }
    };
    print_good("master key", "matches the database");
    let db = Db::open(&database.options);
    if let Err(error) = examine_server(config, &db).await {
        report.wrong("database", &error.to_string());
    }
    if let Err(error) = examine_secrets(&db, &master_key).await {
        report.wrong("master key", &error.to_string());
    }
    if let Err(error) = examine_clock(config, &db, report).await {
        report.wrong("clock", &error.to_string());
    }
    examine_contents(&db, &master_key, &config.usage.time_zone.to_string(), report).await;
    db.close().await;
}

/// Names settings of PostgreSQL with which what was answered can be lost, or requests are refused, and what is around.
async fn examine_server(config: &Config, db: &Db) -> Result<(), StorageError> {
    let server = server_state::find(&mut *db.acquire().await?).await?;
    if server.standbys > 0 && server.synchronous_standby_names.is_empty() {
        let what = format!(
            "commits wait for none of its standbys ({}): a failover loses what was answered last; set \
             `synchronous_standby_names`",
            server.standbys
        );
        print_note("database", &what);
    }
    for name in &server.switched_off {
        print_note(
            "database",
            &format!("`{name}` is off: a crash of the machine can damage or lose what was answered"),
        );
    }
    if server.archiver_fails {
        print_note("database", "its archiver fails: the log fills its disk, and backups end; see pg_stat_archiver");
    }
    // Notifications and readiness have one each.
    let needed = i64::from(config.database.connections) + 2;
    if server.connections < needed {
        let what = format!(
            "it allows {} connections, and each server needs up to {needed}; raise `max_connections`, or lower \
             `database.connections`",
            server.connections
        );
        print_note("database", &what);
    }
    doctor_surroundings::examine(config, db, &server).await
}

/// Tells how far a change of the master key is.
async fn examine_secrets(db: &Db, master_key: &MasterKey) -> Result<(), StorageError> {
    let mut tx = db.begin_reading().await?;
    let wrapped = secrets::list_wrapped(&mut tx).await?;
    let [.., _, newest] = wrapped.as_slice() else {
        return Ok(());
    };
    let present = secrets::find_sealing_key(&mut tx).await?;
    allow_minutes(&mut tx).await?;
    let counts = secrets::count_by_data_key(&mut tx).await?;
    let left = counts.iter().filter(|(id, _)| *id != present).map(|(_, keys)| keys).sum::<i64>();
    let all = counts.iter().map(|(_, keys)| keys).sum::<i64>();
    let next = match (left, newest.key_check == master_key.check()) {
        (1.., _) => "run `keymeter master-key rotate` again",
        (_, false) => "give all servers the new master key and restart them, then run `keymeter master-key finish`",
        (_, true) => "when all servers were restarted with the new master key, run `keymeter master-key finish`",
    };
    let what = format!(
        "it is being changed, and both open the database; {} of {all} keys are encrypted again; {next}",
        all - left
    );
    print_note("master key", &what);
    Ok(())
}

/// Compares this machine's clock with the database's, and names what was written while the latter was ahead.
async fn examine_clock(config: &Config, db: &Db, report: &mut Report) -> Result<(), StorageError> {
    let mut tx = db.begin_reading().await?;
    let micros = storage::read_clock(&mut tx).await?;
    let ahead = SystemClock.now().since(micros.seconds());
    if ahead.abs() <= i64::from(config.server.max_clock_skew_seconds) {
        print_good("clock", "this machine and the database agree");
    } else {
        let how = if ahead > 0 { "ahead of" } else { "behind" };
        let what = format!(
            "this machine is {} s {how} the database; correct the clock that is wrong (NTP): a server whose clock differs \
             deletes nothing for its age",
            ahead.abs()
        );
        report.wrong("clock", &what);
    }
    let users = clock_repair::list_ahead(&mut tx, &Moment::new(micros, config.usage.calendar())).await?;
    if !users.is_empty() {
        let ids = users.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
        let what = format!(
            "usage or reservations of the users {ids} are in the future: the database's clock was ahead; a running server \
             brings them back within ten seconds"
        );
        report.wrong("clock", &what);
    }
    let filter = AuditFilter { action: Some(Action::FutureUsageMoved.as_str().to_owned()), ..AuditFilter::default() };
    for line in audit::list(&mut tx, &filter, SHOWN_REPAIRS, 0).await? {
        let (user, detail) =
            (line.user_id.unwrap_or_default(), |name| line.details.get(name).map_or("", String::as_str));
        let what = format!(
            "the usage of the user {user} until {} was moved to {}: the database's clock was ahead",
            detail("from_day"),
            detail("to_day")
        );
        print_note("clock", &what);
    }
    Ok(())
}

/// Checks that every key can be decrypted and that the invariants of the ledger hold.
async fn examine_contents(db: &Db, master_key: &MasterKey, zone: &str, report: &mut Report) {
    match examine_keys(db, master_key).await {
        Ok((count, broken)) if broken.is_empty() => print_good("keys", &format!("all {count} can be decrypted")),
        Ok((_, broken)) => {
            let ids = broken.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            report.wrong(
                "keys",
                &format!(
                    "those of the tokens {ids} cannot be decrypted; restore these rows from a backup, or delete the tokens: keys \
                     of deleted tokens are erased after `tokens.restore_days`"
                ),
            );
        }
        Err(error) => report.wrong("keys", &error.to_string()),
    }
    let literal_stars = async { tokens::count_literal_stars(&mut *db.acquire().await?).await };
    match literal_stars.await {
        Ok(0) => {}
        Ok(count) => print_note(
            "models",
            &format!(
                "{count} tokens list a model with `\\*`, which matches nothing but that name; edit it if a pattern is meant"
            ),
        ),
        Err(error) => report.wrong("models", &error.to_string()),
    }
    if let Err(error) = examine_ledger(db, zone, report).await {
        report.wrong("ledger", &error.to_string());
    }
}

/// Checks L1, L3, L5, L9 and L10 for every token and every wallet. Each statement runs on its own snapshot and ends its
/// transaction, so that nothing waits for longer than one statement takes.
async fn examine_ledger(db: &Db, zone: &str, report: &mut Report) -> Result<(), StorageError> {
    let mut snapshot = consistency::snapshot(db).await?;
    let rows = consistency::count_rows(&mut snapshot).await?;
    let since = consistency::find_first_whole_day(&mut snapshot, zone).await?;
    let negative = consistency::count_negative_balances(&mut snapshot).await?;
    let mut rollup_violations = consistency::list_rollup_violations_of_everyone(&mut snapshot).await?;
    drop(snapshot);
    let mut findings = Vec::new();
    if negative > 0 {
        findings.push(InvariantViolation::new("L1", format!("{negative} balances are negative")));
    }
    let steps = |rows: i64| u64::try_from(rows / STEP + 1).unwrap_or(0);
    let bar = progress_bar("ledger", steps(rows.tokens) + steps(rows.users));
    let mut next = Some(i64::MIN);
    while let Some(from) = next {
        let mut snapshot = consistency::snapshot(db).await?;
        let Some(to) = consistency::find_end_of_tokens(&mut snapshot, from, STEP).await? else {
            break;
        };
        findings.extend(proof::prove_tokens(&mut snapshot, (from, to), zone, since).await?);
        next = to.checked_add(1);
        bar.inc(1);
    }
    let mut next = Some(i64::MIN);
    while let Some(from) = next {
        let mut snapshot = consistency::snapshot(db).await?;
        let Some(to) = consistency::find_end_of_users(&mut snapshot, from, STEP).await? else {
            break;
        };
        findings.extend(proof::prove_wallets(&mut snapshot, (from, to)).await?);
        rollup_violations.extend(consistency::list_rollup_violations(&mut snapshot, from, to).await?);
        next = to.checked_add(1);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if findings.is_empty() {
        print_good("ledger", "L1, L3, L5, L9 and L10 hold for every token and every wallet");
    }
    if rollup_violations.is_empty() {
        print_good("reports", "the sums of past days and months are those of the daily usage");
    }
    let more = rollup_violations.len().saturating_sub(SHOWN_SUMS);
    for RollUpViolation { user_id, day, recorded, sum } in rollup_violations.into_iter().take(SHOWN_SUMS) {
        let whose = if user_id.get() == 0 { "everyone".to_owned() } else { format!("user {user_id}") };
        report.wrong(
            "reports",
            &format!(
                "the sum of {whose} for the day or the month from {day} on is {recorded} with a model, but what was used is {sum}; \
                 no balance is wrong, and docs/operations.md says how to add it up again"
            ),
        );
    }
    if more > 0 {
        report.wrong("reports", &format!("{more} more sums are wrong"));
    }
    for InvariantViolation { text, .. } in findings {
        report.wrong("ledger", &format!("{text}; keep a dump of the database and report this"));
    }
    Ok(())
}

/// Wrong sums that are shown one by one.
const SHOWN_SUMS: usize = 20;

/// A progress bar on standard error, if that is a terminal.
fn progress_bar(what: &'static str, steps: u64) -> ProgressBar {
    let bar = ProgressBar::new(steps).with_prefix(what);
    match ProgressStyle::with_template("{prefix} [{bar:40}] {percent}% {eta}") {
        Ok(style) => bar.with_style(style.progress_chars("#>.")),
        Err(_) => bar,
    }
}

/// Decrypts every key, a thousand rows at a time. Returns how many there are, and the tokens whose keys cannot be
/// decrypted.
async fn examine_keys(db: &Db, master_key: &MasterKey) -> Result<(usize, Vec<i64>), SecretsError> {
    let vault = Vault::load(&mut *db.acquire().await?, master_key).await?;
    let (mut count, mut broken, mut after) = (0, Vec::new(), keymeter::domain::id::TokenId::new(0));
    loop {
        let mut conn = db.acquire().await?;
        let rows = keys::list_sealed_keys_after(&mut conn, after).await?;
        vault.reload_for(&mut conn, &rows).await?;
        drop(conn);
        let Some((last, _, _)) = rows.last() else {
            return Ok((count, broken));
        };
        after = *last;
        count += rows.len();
        for (id, digest, sealed) in rows {
            let is_correct = vault.open(&digest, &sealed).is_ok_and(|key| vault.digest(&key) == digest);
            if !is_correct {
                broken.push(id.get());
            }
        }
    }
}

/// The report, printed line by line, and how many errors it has.
#[derive(Default)]
struct Report {
    wrong: u32,
}

impl Report {
    fn wrong(&mut self, what: &str, finding: &str) {
        self.wrong += 1;
        print_line(&format!("WRONG  {what}: {finding}"));
    }

    fn close(self) -> ExitCode {
        if self.wrong == 0 {
            print_line(NO_ERRORS);
            return ExitCode::SUCCESS;
        }
        ExitCode::FAILURE
    }
}
