//! The faults: their order, what each does, and what must hold meanwhile.

use std::process::Stdio;
use std::sync::Arc;
use std::time::{Duration, Instant};

use rand::rngs::StdRng;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use tokio::io::AsyncReadExt;
use tokio::time::sleep;

use crate::answers::{Call, Caller, Outcome};
use crate::checks;
use crate::world::{SERVERS, SESSION_NAME, World};

/// Within this time after a fault, every server must charge every wallet again.
const RECOVERY: Duration = Duration::from_secs(30);

/// After this additional time, the run continues without waiting.
const EXTRA_WAIT: Duration = Duration::from_mins(1);

/// Simulates a new day: drops the newest partition, which is empty, so that the job must create it again, and adds one
/// that the job must delete.
const NEW_DAY: &str = "
do $$
declare
    newest text;
    old bigint := floor(extract(epoch from now()) / 86400)::bigint * 86400 - 100 * 86400;
begin
    set local lock_timeout = '2s';
    select c.relname into newest from pg_inherits i join pg_class c on c.oid = i.inhrelid
    where i.inhparent = 'charges'::regclass and c.relname ~ '^charges_[0-9]{8}$' order by 1 desc limit 1;
    if newest > 'charges_' || to_char(now() + interval '2 days', 'YYYYMMDD') then
        execute format('drop table %I', newest);
    end if;
    execute format('create table if not exists charges_%s partition of charges for values from (%s) to (%s)',
        to_char(to_timestamp(old) at time zone 'UTC', 'YYYYMMDD'), old, old + 86400);
end
$$";

/// What is done to the service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FaultKind {
    /// `kill -9` of a server, and its start.
    Kill,
    /// SIGSTOP of a server, and SIGCONT.
    Pause,
    /// A rolling restart: SIGTERM of a server, and its start.
    RollingRestart,
    /// PostgreSQL crashes, and comes back.
    DatabaseCrash,
    /// PostgreSQL is restarted.
    DatabaseRestart,
    /// Half of the servers' sessions are ended, three times.
    EndSessions,
    /// A slow `pg_dump`; meanwhile a new day begins and a server is restarted.
    Backup,
    /// A transaction that has read charges and stays open; meanwhile a new day begins.
    LongTransaction,
    /// `keymeter doctor`, and the ledger's invariants as SQL.
    Doctor,
}

impl FaultKind {
    pub const ALL: [Self; 9] = [
        Self::Kill,
        Self::Pause,
        Self::RollingRestart,
        Self::DatabaseCrash,
        Self::DatabaseRestart,
        Self::EndSessions,
        Self::Backup,
        Self::LongTransaction,
        Self::Doctor,
    ];

    pub const fn name(self) -> &'static str {
        match self {
            Self::Kill => "kill",
            Self::Pause => "pause",
            Self::RollingRestart => "rolling-restart",
            Self::DatabaseCrash => "database-crash",
            Self::DatabaseRestart => "database-restart",
            Self::EndSessions => "end-sessions",
            Self::Backup => "backup",
            Self::LongTransaction => "long-transaction",
            Self::Doctor => "doctor",
        }
    }

    pub const fn stops_the_database(self) -> bool {
        matches!(self, Self::DatabaseCrash | Self::DatabaseRestart)
    }

    /// How long some wallet may go without a charge on a server that is healthy.
    pub const fn longest_gap(self) -> Option<Duration> {
        match self {
            // A paused server may hold locks: the others wait until the database ends its transaction.
            Self::Pause => Some(Duration::from_secs(12)),
            Self::Kill
            | Self::RollingRestart
            | Self::EndSessions
            | Self::Backup
            | Self::LongTransaction
            | Self::Doctor => Some(Duration::from_secs(10)),
            Self::DatabaseCrash | Self::DatabaseRestart => None,
        }
    }
}

/// Makes faults one after the other, with pauses between them, until the time is over. Every kind occurs once before
/// any occurs again. The seed determines the order.
pub async fn run(world: Arc<World>) {
    let until = Instant::now() + world.options.length();
    let mut rng = StdRng::seed_from_u64(world.options.seed);
    let caller = Caller::new(Arc::clone(&world)).await;
    sleep(world.options.warm_up()).await;
    let mut upcoming = Vec::new();
    while Instant::now() < until && !world.options.faults.is_empty() {
        if upcoming.is_empty() {
            upcoming.clone_from(&world.options.faults);
            upcoming.shuffle(&mut rng);
        }
        let kind = upcoming.pop().unwrap();
        let (server, fraction, pause) = (rng.random_range(0..SERVERS), rng.random(), rng.random_range(1..=4));
        run_fault(&world, &caller, kind, server, fraction).await;
        let left = until.saturating_duration_since(Instant::now());
        sleep(Duration::from_secs(pause).min(left)).await;
    }
    sleep(until.saturating_duration_since(Instant::now())).await;
}

/// Makes one fault and waits for the recovery. `fraction`, from 0 to 1, determines its length.
async fn run_fault(world: &Arc<World>, caller: &Caller, kind: FaultKind, server: usize, fraction: f64) {
    // The last server is paused, but never restarted.
    let victim = match kind {
        FaultKind::Pause => Some(server),
        FaultKind::Kill | FaultKind::RollingRestart | FaultKind::Backup => Some(server % (SERVERS - 1)),
        FaultKind::DatabaseCrash
        | FaultKind::DatabaseRestart
        | FaultKind::EndSessions
        | FaultKind::LongTransaction
        | FaultKind::Doctor => None,
    };
    let at = victim.map_or_else(String::new, |victim| format!(" of server {victim}"));
    world.log(&format!("fault: {}{at}", kind.name()));
    world.windows.open(kind, victim);
    let span = |least: f64, most: f64| Duration::from_secs_f64(least + (most - least) * fraction);
    // Jobs run each minute: in a long run one of them falls into each backup.
    let long = if world.options.is_short() { span(10.0, 14.0) } else { span(62.0, 80.0) };
    match kind {
        FaultKind::Kill => {
            let slot = &world.servers[victim.unwrap()];
            slot.kill().await;
            sleep(span(0.2, 3.0)).await;
            slot.start(&world.cluster).await;
        }
        FaultKind::Pause => {
            let slot = &world.servers[victim.unwrap()];
            slot.signal("STOP").await;
            sleep(span(20.0, 25.0)).await;
            slot.signal("CONT").await;
        }
        FaultKind::RollingRestart => rolling_restart(world, victim.unwrap()).await,
        FaultKind::DatabaseCrash | FaultKind::DatabaseRestart => {
            let run_blocking = |act: fn(&World)| {
                let world = Arc::clone(world);
                async move { tokio::task::spawn_blocking(move || act(&world)).await.unwrap() }
            };
            run_blocking(if kind == FaultKind::DatabaseCrash {
                |world| world.cluster.crash()
            } else {
                |world| world.cluster.stop()
            })
            .await;
            sleep(span(0.2, 4.0)).await;
            run_blocking(|world| world.cluster.resume()).await;
        }
        FaultKind::EndSessions => {
            for round in 0..3 {
                end_sessions(world, fraction.to_bits() + round).await;
                sleep(Duration::from_millis(500)).await;
            }
        }
        FaultKind::Backup => backup(world, victim.unwrap(), long).await,
        FaultKind::LongTransaction => long_transaction(world, long).await,
        FaultKind::Doctor => checks::check_ledger(world, "under load").await,
    }
    let ended = Instant::now();
    world.windows.change(|window| window.ended = Some(ended));
    wait_for_recovery(world, caller, ended).await;
    let window = world.windows.change(|window| window.closed = Some(Instant::now())).unwrap();
    let (recovery, gap) = (ended.elapsed(), window.wallet_gap);
    world.log(&format!(
        "       {} is over: all servers charge again after {:.1} s; longest gap of a wallet on a healthy server {:.1} s",
        kind.name(),
        recovery.as_secs_f64(),
        gap.as_secs_f64()
    ));
    if let Some(most) = kind.longest_gap().filter(|most| gap > *most) {
        let detail = format!("{}{at}: {:.1} s, at most {most:?} are allowed", kind.name(), gap.as_secs_f64());
        world.record_finding("a wallet could not be charged on a healthy server", &detail);
    }
}

/// Waits until every server is ready and has charged every wallet after `ended`.
async fn wait_for_recovery(world: &World, caller: &Caller, ended: Instant) {
    let rich: Vec<usize> = (0..world.owners.len()).filter(|owner| world.owners[*owner].is_rich).collect();
    let mut is_late = false;
    loop {
        let mut behind = Vec::new();
        for server in 0..SERVERS {
            let waiting = rich.iter().filter(|owner| world.last_activity.charged(server, **owner) <= ended).count();
            if waiting > 0 {
                behind.push(format!("server {server} for {waiting} wallets"));
            } else if !matches!(
                caller.send(server, "", &Call::get("ready", "/readyz", ""), &[]).await,
                Outcome::Done(..)
            ) {
                behind.push(format!("server {server} is not ready"));
            }
        }
        if behind.is_empty() || ended.elapsed() > RECOVERY + EXTRA_WAIT {
            return;
        }
        if !is_late && ended.elapsed() > RECOVERY {
            is_late = true;
            world.record_finding(
                "a server did not recover in time",
                &format!("after {RECOVERY:?}: {}", behind.join(", ")),
            );
        }
        sleep(Duration::from_millis(20)).await;
    }
}

/// SIGTERM, and a start after it has stopped cleanly.
async fn rolling_restart(world: &World, server: usize) {
    world.windows.change(|window| window.stop_requested = Some(Instant::now()));
    world.stop_server(server).await;
    world.servers[server].start(&world.cluster).await;
}

/// Ends about half of the sessions of the servers.
async fn end_sessions(world: &World, seed: u64) {
    let sessions = "select pid from pg_stat_activity where backend_type = 'client backend' \
                    and application_name <> $1 and datname = current_database() order by pid";
    let mut rng = StdRng::seed_from_u64(seed);
    let pids: Vec<i32> = sqlx::query_scalar(sessions).bind(SESSION_NAME).fetch_all(&world.pool).await.unwrap();
    let pids: Vec<i32> = pids.into_iter().filter(|_| rng.random_bool(0.5)).collect();
    let terminate = sqlx::query("select pg_terminate_backend(pid) from unnest($1::int[]) as pid").bind(pids);
    terminate.execute(&world.pool).await.unwrap();
}

async fn simulate_new_day(world: &World) {
    if let Err(error) = sqlx::raw_sql(NEW_DAY).execute(&world.pool).await {
        world.log(&format!("       the partitions were not changed: {error}"));
    }
}

/// A dump that is read slowly, so that it holds its locks; a server that starts meanwhile does its jobs at once.
async fn backup(world: &World, server: usize, length: Duration) {
    let since = Instant::now();
    simulate_new_day(world).await;
    let mut command = tokio::process::Command::new(world.cluster.program("pg_dump"));
    command.arg("--dbname").arg(world.cluster.url()).stdin(Stdio::null());
    let mut dump = command.stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true).spawn().unwrap();
    let mut out = dump.stdout.take().unwrap();
    // pg_dump writes its first byte after it has taken all its locks.
    let mut first = [0; 1];
    out.read_exact(&mut first).await.unwrap();
    sleep(Duration::from_secs(1)).await;
    rolling_restart(world, server).await;
    sleep(length.saturating_sub(since.elapsed())).await;
    tokio::io::copy(&mut out, &mut tokio::io::sink()).await.unwrap();
    let done = dump.wait_with_output().await.unwrap();
    if !done.status.success() {
        world.record_finding("a backup failed", &String::from_utf8_lossy(&done.stderr));
    }
}

/// A long report: a snapshot that has read charges and is kept open.
async fn long_transaction(world: &World, length: Duration) {
    simulate_new_day(world).await;
    let report = async {
        let mut tx = world.pool.begin().await?;
        sqlx::query("set transaction isolation level repeatable read").execute(&mut *tx).await?;
        let count = "select count(*) from charges";
        let before: i64 = sqlx::query_scalar(count).fetch_one(&mut *tx).await?;
        sleep(length).await;
        let after: i64 = sqlx::query_scalar(count).fetch_one(&mut *tx).await?;
        tx.commit().await?;
        Ok::<_, sqlx::Error>(before == after)
    };
    match report.await {
        Ok(true) => {}
        Ok(false) => world.record_finding("a snapshot changed", "the count of charges"),
        Err(error) => world.record_finding("a report was ended", &error.to_string()),
    }
}
