//! The checks after the load has stopped.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::answers::{Call, Caller, Outcome};
use crate::harness::ledger_invariants;
use crate::harness::process;
use crate::records::{Entry, LedgerOutcome, UnresolvedOperation};
use crate::watch::ServerProcess;
use crate::world::{Budget, SERVERS, World, settings};

/// The largest memory that a server may use.
const MAX_MEBIBYTES: f64 = 400.0;

/// The largest number of open files of a server.
const MAX_FILES: usize = 500;

/// How much more memory than after its warm-up a server may use at rest: a factor, and MiB on top.
const GROWTH: (f64, f64) = (1.5, 64.0);

/// How many more files than after its warm-up a server may have open at rest.
const MORE_FILES: f64 = 16.0;

/// Reservations of the load last at most a minute, and expire within half a minute after that.
const EXPIRY_TIMEOUT: Duration = Duration::from_mins(2);

/// Codes with which a charge of unknown outcome may be refused when it is sent again.
const REFUSALS: [&str; 5] =
    ["token_exhausted", "token_quota_insufficient", "user_quota_insufficient", "token_disabled", "invalid_key"];

pub async fn run_all(world: Arc<World>) {
    world.log("checking");
    for process in &*world.processes.lock().unwrap() {
        check_memory(&world, process);
    }
    check_availability(&world);
    resolve_unknown_outcomes(&world).await;
    check_reservations_expire(&world).await;
    check_no_open_transaction(&world).await;
    match world.records.compare(&world).await {
        Ok(count) => world.log(&format!("the ledger was compared with {count} charges with a request id")),
        Err(error) => world.record_finding("the soak test itself failed", &error.to_string()),
    }
    check_balances(&world).await.unwrap();
    check_ledger(&world, "at the end").await;
    for server in 0..SERVERS {
        world.stop_server(server).await;
    }
}

/// Without a fault, 503 may occur only rarely, when the machine is overloaded.
fn check_availability(world: &World) {
    let answers: u64 = world.tallies.all().values().map(|tally| tally.done).sum();
    let unavailable = world.windows.all().1.unavailable;
    if unavailable * 1_000 > answers {
        world.record_finding(
            "503 while there was no fault",
            &format!("{unavailable} times, beside {answers} that were done"),
        );
    }
}

/// The invariants of the ledger as SQL, and `keymeter doctor`.
pub async fn check_ledger(world: &Arc<World>, when: &str) {
    match ledger_invariants::violations(&world.pool).await {
        Ok(violations) => {
            for violation in violations {
                world.record_finding("an invariant is violated", &violation);
            }
        }
        Err(error) => world.record_finding("the soak test itself failed", &error.to_string()),
    }
    let (doctor_world, dir) = (Arc::clone(world), world.home().join("doctor"));
    let doctor = tokio::task::spawn_blocking(move || {
        let settings = settings(&doctor_world.cluster.url());
        let settings: Vec<_> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        process::run(&dir, &settings, &["doctor"])
    });
    let output = doctor.await.unwrap();
    if !output.status.success() {
        world.record_finding(
            "keymeter doctor reports an error",
            &format!("{when}: {}", String::from_utf8_lossy(&output.stdout)),
        );
    }
}

/// Repeats the operations without a clear answer, to learn their outcome.
async fn resolve_unknown_outcomes(world: &Arc<World>) {
    let unresolved = world.records.take_unresolved();
    world.log(&format!("{} operations without a clear answer are sent again", unresolved.len()));
    let caller = Caller::new(Arc::clone(world)).await;
    for (n, UnresolvedOperation { entry, path, body }) in unresolved.into_iter().enumerate() {
        let call = Call::post("sent again", path, &world.gateway, body);
        let since = Instant::now();
        loop {
            match caller.send(n % SERVERS, "", &call, &REFUSALS).await {
                Outcome::Done(data, _) => {
                    let quota = data["charged"].as_i64().unwrap_or(-1);
                    world.records.add(Entry { outcome: LedgerOutcome::Charged, quota, ..entry });
                }
                Outcome::Refused => world.records.add(Entry { outcome: LedgerOutcome::Refused, ..entry }),
                Outcome::Unknown if since.elapsed() < Duration::from_secs(30) => {
                    sleep(Duration::from_millis(200)).await;
                    continue;
                }
                Outcome::Unknown => world.record_finding("no clear answer at rest", &format!("{entry:?}")),
            }
            break;
        }
    }
}

/// L7: open reservations expire and return their quota.
async fn check_reservations_expire(world: &World) {
    let since = Instant::now();
    let overdue =
        "select count(*) from reservations where state = 'open' and expires_at < extract(epoch from now()) - 35";
    loop {
        let count: i64 = sqlx::query_scalar(overdue).fetch_one(&world.pool).await.unwrap();
        if count == 0 {
            return;
        }
        if since.elapsed() > EXPIRY_TIMEOUT {
            return world.record_finding("L7: reservations did not expire", &format!("{count} are overdue"));
        }
        sleep(Duration::from_millis(500)).await;
    }
}

/// At rest, no session of a server has been in one transaction for long.
async fn check_no_open_transaction(world: &World) {
    let long = "select count(*) from pg_stat_activity where backend_type = 'client backend' \
                and xact_start < now() - interval '10 seconds'";
    let count: i64 = sqlx::query_scalar(long).fetch_one(&world.pool).await.unwrap();
    if count > 0 {
        world.record_finding("a transaction stays open at rest", &format!("{count} sessions"));
    }
}

/// L2: charges do not change the sum of remaining and used quota, and the sum never exceeds the granted quota.
async fn check_balances(world: &World) -> sqlx::Result<()> {
    for owner in &world.owners {
        let row = sqlx::query_as::<_, (i64, i64)>("select quota, used_quota from users where id = $1").bind(owner.id);
        let (quota, used) = row.fetch_one(&world.pool).await?;
        let least = owner.granted.load(Ordering::SeqCst);
        let most = least + owner.maybe_granted.load(Ordering::SeqCst);
        if !(least..=most).contains(&(quota + used)) {
            let detail = format!("{}: {quota} and {used} used, granted {least} to {most}", owner.name);
            world.record_finding("L2: the balance of a wallet does not match what was granted", &detail);
        }
    }
    for token in &world.tokens {
        let row = sqlx::query_as::<_, (i64, i64)>("select remain_quota, used_quota from tokens where id = $1");
        let (remain, used) = row.bind(token.id).fetch_one(&world.pool).await?;
        let granted = token.granted.load(Ordering::SeqCst);
        let holds = match token.budget {
            Budget::Probe | Budget::Unlimited => true,
            Budget::Plenty | Budget::Tiny => remain + used == granted,
            Budget::Refilled => remain + used <= granted,
        };
        if !holds {
            let detail = format!("token {}: {remain} and {used} used, granted {granted}", token.id);
            world.record_finding("L2: the balance of a limited token does not match what was granted", &detail);
        }
    }
    Ok(())
}

/// Checks the memory and the open files of a process, and their growth if it ran to the end.
fn check_memory(world: &World, process: &ServerProcess) {
    let warm_up = world.options.warm_up();
    let who = format!("server {} (process {})", process.server, process.pid);
    let most = process.samples.iter().map(|sample| sample.mebibytes).fold(0.0, f64::max);
    if most > MAX_MEBIBYTES {
        world.record_finding("a server takes too much memory", &format!("{who}: {most:.0} MiB"));
    }
    let files = process.samples.iter().map(|sample| sample.files).max().unwrap_or(0);
    if files > MAX_FILES {
        world.record_finding("a server has too many files open", &format!("{who}: {files}"));
    }
    let Some(rest) = process.samples.last().filter(|sample| !sample.is_busy) else {
        return;
    };
    if let Some(warm) = process.after_warm_up(warm_up, |sample| sample.mebibytes)
        && rest.mebibytes > warm * GROWTH.0 + GROWTH.1
    {
        let detail = format!("{who}: {warm:.0} MiB after its warm-up, {:.0} MiB at rest", rest.mebibytes);
        world.record_finding("a server leaks memory", &detail);
    }
    if let Some(warm) = process.after_warm_up(warm_up, |sample| sample.files as f64)
        && rest.files as f64 > warm + MORE_FILES
    {
        let detail = format!("{who}: {warm:.0} files after its warm-up, {} at rest", rest.files);
        world.record_finding("a server leaks file descriptors", &detail);
    }
}
