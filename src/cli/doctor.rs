//! `keymeter doctor`: looks at everything an installation stands on, changes nothing, and says
//! what to do about what it finds.

use std::io::IsTerminal;
use std::process::ExitCode;

use crate::app::{self, Database};
use crate::config::Config;
use crate::service::vault::Vault;
use crate::storage::proof::{self, Breach};
use crate::storage::{self, Db, StorageError, tokens};

/// Ids looked at in one question.
const STEP: usize = 50_000;
const STEP_IDS: i64 = 50_000;

/// Examines the installation; the exit code is 1 if anything is wrong.
pub async fn examine(config: &Config) -> ExitCode {
    let mut report = Report { wrong: 0 };
    report.good("settings", "can be read");
    if config.database.url.is_none() && !config.data_dir.join("postgres").exists() {
        let what = format!("there is none in {} yet; start one with `keymeter serve`", config.data_dir.display());
        report.wrong("database", &what);
        return report.close();
    }
    let database = match Database::start(config) {
        Ok(database) => database,
        Err(error) => {
            report.wrong("database", &error.to_string());
            return report.close();
        }
    };
    examine_database(config, &database, &mut report).await;
    database.stop().await;
    report.close()
}

async fn examine_database(config: &Config, database: &Database, report: &mut Report) {
    let found = match storage::look(&database.options).await {
        Ok(found) => found,
        Err(error) => return report.wrong("database", &error.to_string()),
    };
    report.good("database", &format!("PostgreSQL {} answers", found.server));
    if database.is_embedded() {
        report.note(
            "database",
            "it is the embedded one: a power cut can lose its last moments; for production set DATABASE_URL",
        );
    }
    if found.pending > 0 {
        let what = format!("{} migrations wait; run `keymeter migrate` or start the service", found.pending);
        return report.wrong("schema", &what);
    }
    report.good("schema", "is that of this version");
    let vault = match (app::find_master_key(config), &found.key_check) {
        (Err(error), _) => return report.wrong("master key", &error.to_string()),
        (Ok(_), None) => return report.wrong("master key", "the service was never started on this database"),
        (Ok(None), Some(_)) => {
            return report.wrong("master key", "it is missing; set KEYMETER_SECRETS__MASTER_KEY or put the file back");
        }
        (Ok(Some(key)), Some(check)) => {
            let vault = Vault::new(&key);
            if vault.check().as_slice() != check.as_slice() {
                return report.wrong("master key", "it does not fit this database; use the one it was made with");
            }
            vault
        }
    };
    report.good("master key", "fits the database");
    let db = Db::open(&database.options);
    match examine_keys(&db, &vault).await {
        Ok((count, broken)) if broken.is_empty() => report.good("keys", &format!("all {count} open")),
        Ok((_, broken)) => {
            let ids = broken.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            report.wrong(
                "keys",
                &format!("those of the tokens {ids} do not open; restore these rows or delete the tokens"),
            );
        }
        Err(error) => report.wrong("keys", &error.to_string()),
    }
    if let Err(error) = examine_ledger(&db, &config.usage.time_zone.to_string(), report).await {
        report.wrong("ledger", &error.to_string());
    }
    db.close().await;
}

/// Proves L1, L3 and L5 for every token and every wallet, as of one moment. L2 follows from how
/// operations are applied, and L4 from the commit before the answer; neither leaves a trace to look at.
async fn examine_ledger(db: &Db, zone: &str, report: &mut Report) -> Result<(), StorageError> {
    let mut moment = proof::moment(db).await?;
    let (tokens, users) = proof::extent(&mut moment).await?;
    let since = proof::first_whole_day(&mut moment, zone).await?;
    let mut breaches = Vec::new();
    let below_zero = proof::below_zero(&mut moment).await?;
    if below_zero > 0 {
        breaches.push(format!("L1: {below_zero} rows are below zero"));
    }
    let mut bar = Bar::new("ledger", tokens + users);
    for from in (0..=tokens).step_by(STEP) {
        let to = from + STEP_IDS;
        for Breach { id, says, sum } in proof::tokens_off(&mut moment, from, to).await? {
            breaches.push(format!("L3: the token {id} has used {says}, its charges and reservations are {sum}"));
        }
        for (id, day, says, sum) in proof::days_off(&mut moment, from, to, zone, since).await? {
            breaches.push(format!("L5: the token {id} spent {says} on {day}, its charges of that day are {sum}"));
        }
        bar.step();
    }
    for from in (0..=users).step_by(STEP) {
        for Breach { id, says, sum } in proof::wallets_off(&mut moment, from, from + STEP_IDS).await? {
            breaches.push(format!("L3: the wallet of the user {id} has used {says}, its tokens have used {sum}"));
        }
        bar.step();
    }
    bar.clear();
    if breaches.is_empty() {
        report.good("ledger", "L1, L3 and L5 hold for every token and every wallet");
    }
    for breach in breaches {
        report.wrong("ledger", &format!("{breach}; keep a dump of the database and report this"));
    }
    Ok(())
}

/// A bar on a terminal; nothing elsewhere.
struct Bar {
    what: &'static str,
    steps: usize,
    done: usize,
    shown: bool,
}

#[expect(clippy::print_stderr, reason = "this is what the operator watches")]
impl Bar {
    fn new(what: &'static str, ids: i64) -> Self {
        let steps = usize::try_from(ids).unwrap_or(0) / STEP + 2;
        Self { what, steps, done: 0, shown: std::io::stderr().is_terminal() }
    }

    fn step(&mut self) {
        self.done += 1;
        if self.shown {
            let full = 40 * self.done.min(self.steps) / self.steps;
            eprint!("\r{} [{}{}]", self.what, "#".repeat(full), ".".repeat(40 - full));
        }
    }

    fn clear(&self) {
        if self.shown {
            eprint!("\r{:60}\r", "");
        }
    }
}

/// Opens every key, a thousand rows at a time. Returns how many there are and which do not open.
async fn examine_keys(db: &Db, vault: &Vault) -> Result<(usize, Vec<i64>), StorageError> {
    let (mut count, mut broken, mut after) = (0, Vec::new(), crate::domain::id::TokenId::new(0));
    loop {
        let rows = tokens::sealed_keys_after(&mut *db.acquire().await?, after).await?;
        let Some((last, _, _)) = rows.last() else {
            return Ok((count, broken));
        };
        after = *last;
        count += rows.len();
        for (id, digest, sealed) in rows {
            let fits = vault.open(&digest, &sealed).is_ok_and(|key| vault.digest(&key) == digest);
            if !fits {
                broken.push(id.get());
            }
        }
    }
}

struct Report {
    wrong: u32,
}

#[expect(clippy::print_stdout, reason = "this is what the operator reads")]
impl Report {
    #[expect(clippy::unused_self, reason = "a report is written to, whatever it remembers")]
    fn good(&self, what: &str, finding: &str) {
        println!("ok     {what}: {finding}");
    }

    #[expect(clippy::unused_self, reason = "a report is written to, whatever it remembers")]
    fn note(&self, what: &str, finding: &str) {
        println!("note   {what}: {finding}");
    }

    fn wrong(&mut self, what: &str, finding: &str) {
        self.wrong += 1;
        println!("WRONG  {what}: {finding}");
    }

    fn close(self) -> ExitCode {
        if self.wrong == 0 {
            println!("all is well");
            return ExitCode::SUCCESS;
        }
        ExitCode::FAILURE
    }
}
