//! The checks after the load has stopped.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use crate::answers::{Call, Caller, Told};
use crate::harness::law;
use crate::harness::process;
use crate::records::{Doubt, Entry, Known};
use crate::watch::Life;
use crate::world::{Budget, SERVERS, World, settings};

/// The largest memory that a server may use.
const MOST_MEBIBYTES: f64 = 400.0;

/// The largest number of open files of a server.
const MOST_FILES: usize = 500;

/// How much more memory than after its warm-up a server may use at rest: a factor, and MiB on top.
const GROWTH: (f64, f64) = (1.5, 64.0);

/// How many more files than after its warm-up a server may have open at rest.
const MORE_FILES: f64 = 16.0;

/// Reservations of the load last at most a minute, and expire within half a minute after that.
const EXPIRED: Duration = Duration::from_mins(2);

/// Codes with which a charge of unknown outcome may be refused when it is sent again.
const REFUSALS: [&str; 5] =
    ["token_exhausted", "token_quota_insufficient", "user_quota_insufficient", "token_disabled", "invalid_key"];

pub async fn all(world: Arc<World>) {
    world.says("checking");
    for life in &*world.lives.lock().unwrap() {
        memory(&world, life);
    }
    availability(&world);
    clear_doubts(&world).await;
    reservations_end(&world).await;
    no_transaction_stays(&world).await;
    match world.records.compare(&world).await {
        Ok(count) => world.says(&format!("the ledger was compared with {count} charges with a request id")),
        Err(error) => world.finds("the soak test itself failed", &error.to_string()),
    }
    balances(&world).await.unwrap();
    law(&world, "at the end").await;
    for server in 0..SERVERS {
        world.stops(server).await;
    }
}

/// Without a fault, 503 is at most a rare accident of a busy machine.
fn availability(world: &World) {
    let answers: u64 = world.tallies.all().values().map(|tally| tally.done).sum();
    let unavailable = world.windows.all().1.unavailable;
    if unavailable * 1_000 > answers {
        world.finds("503 while there was no fault", &format!("{unavailable} times, beside {answers} that were done"));
    }
}

/// The law as SQL, and `keymeter doctor`.
pub async fn law(world: &Arc<World>, when: &str) {
    match law::violations(&world.pool).await {
        Ok(violations) => violations.iter().for_each(|violation| world.finds("the law is broken", violation)),
        Err(error) => world.finds("the soak test itself failed", &error.to_string()),
    }
    let (of_doctor, dir) = (Arc::clone(world), world.home().join("doctor"));
    let doctor = tokio::task::spawn_blocking(move || {
        let settings = settings(&of_doctor.cluster.url());
        let settings: Vec<_> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
        process::run(&dir, &settings, &["doctor"])
    });
    let found = doctor.await.unwrap();
    if !found.status.success() {
        world.finds("keymeter doctor finds something", &format!("{when}: {}", String::from_utf8_lossy(&found.stdout)));
    }
}

/// Repeats the operations without a clear answer, to learn their outcome.
async fn clear_doubts(world: &Arc<World>) {
    let doubts = world.records.take_doubts();
    world.says(&format!("{} operations without a clear answer are sent again", doubts.len()));
    let caller = Caller::new(Arc::clone(world)).await;
    for (n, Doubt { entry, path, body }) in doubts.into_iter().enumerate() {
        let call = Call::post("sent again", path, &world.gateway, body);
        let since = Instant::now();
        loop {
            match caller.ask(n % SERVERS, "", &call, &REFUSALS).await {
                Told::Done(data, _) => {
                    let quota = data["charged"].as_i64().unwrap_or(-1);
                    world.records.add(Entry { known: Known::Charged, quota, ..entry });
                }
                Told::Refused => world.records.add(Entry { known: Known::Refused, ..entry }),
                Told::Unknown if since.elapsed() < Duration::from_secs(30) => {
                    sleep(Duration::from_millis(200)).await;
                    continue;
                }
                Told::Unknown => world.finds("no clear answer at rest", &format!("{entry:?}")),
            }
            break;
        }
    }
}

/// L7: open reservations expire and return their quota.
async fn reservations_end(world: &World) {
    let since = Instant::now();
    let overdue =
        "select count(*) from reservations where state = 'open' and expires_at < extract(epoch from now()) - 35";
    loop {
        let count: i64 = sqlx::query_scalar(overdue).fetch_one(&world.pool).await.unwrap();
        if count == 0 {
            return;
        }
        if since.elapsed() > EXPIRED {
            return world.finds("L7: reservations did not expire", &format!("{count} are overdue"));
        }
        sleep(Duration::from_millis(500)).await;
    }
}

/// At rest, no session of a server has been in one transaction for long.
async fn no_transaction_stays(world: &World) {
    let long = "select count(*) from pg_stat_activity where backend_type = 'client backend' \
                and xact_start < now() - interval '10 seconds'";
    let count: i64 = sqlx::query_scalar(long).fetch_one(&world.pool).await.unwrap();
    if count > 0 {
        world.finds("a transaction stays open at rest", &format!("{count} sessions"));
    }
}

/// L2: charges do not change the sum of remaining and used quota, and the sum never exceeds the granted quota.
async fn balances(world: &World) -> sqlx::Result<()> {
    for owner in &world.owners {
        let row = sqlx::query_as::<_, (i64, i64)>("select quota, used_quota from users where id = $1").bind(owner.id);
        let (quota, used) = row.fetch_one(&world.pool).await?;
        let least = owner.granted.load(Ordering::SeqCst);
        let most = least + owner.maybe_granted.load(Ordering::SeqCst);
        if !(least..=most).contains(&(quota + used)) {
            let detail = format!("{}: {quota} and {used} used, granted {least} to {most}", owner.name);
            world.finds("L2: a wallet is not what was granted", &detail);
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
            world.finds("L2: a limited token is not what was granted", &detail);
        }
    }
    Ok(())
}

/// Checks the memory and the open files of a process, and their growth if it ran to the end.
fn memory(world: &World, life: &Life) {
    let warm_up = world.options.warm_up();
    let who = format!("server {} (process {})", life.server, life.pid);
    let most = life.samples.iter().map(|sample| sample.mebibytes).fold(0.0, f64::max);
    if most > MOST_MEBIBYTES {
        world.finds("a server takes too much memory", &format!("{who}: {most:.0} MiB"));
    }
    let files = life.samples.iter().map(|sample| sample.files).max().unwrap_or(0);
    if files > MOST_FILES {
        world.finds("a server has too many files open", &format!("{who}: {files}"));
    }
    let Some(rest) = life.samples.last().filter(|sample| !sample.is_busy) else {
        return;
    };
    if let Some(warm) = life.after_warm_up(warm_up, |sample| sample.mebibytes)
        && rest.mebibytes > warm * GROWTH.0 + GROWTH.1
    {
        let detail = format!("{who}: {warm:.0} MiB after its warm-up, {:.0} MiB at rest", rest.mebibytes);
        world.finds("a server leaks memory", &detail);
    }
    if let Some(warm) = life.after_warm_up(warm_up, |sample| sample.files as f64)
        && rest.files as f64 > warm + MORE_FILES
    {
        let detail = format!("{who}: {warm:.0} files after its warm-up, {} at rest", rest.files);
        world.finds("a server leaks file descriptors", &detail);
    }
}
