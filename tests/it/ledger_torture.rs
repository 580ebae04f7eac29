//! The invariants of the ledger under load: the real program on a durable PostgreSQL, many clients at once, kill -9,
//! outages, SIGTERM, several servers. What one server suffers is also tested on its private PostgreSQL.

use std::collections::BTreeMap;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use futures_util::future::join_all;
use http::Method;
use keymeter::service::jobs::{Finished, expire_overdue};
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::task::JoinSet;

use crate::harness::app::beside;
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::process::{children, kill};
use crate::harness::wait::eventually;
use crate::harness::{Answer, Client, Cluster, PLENTY, Servers};

/// Services on a PostgreSQL that the test can crash: a cluster, which is dropped after them, or the private one of one
/// service.
struct World {
    servers: Servers,
    cluster: Option<Cluster>,
}

const SETTINGS: [(&str, &str); 1] = [("KEYMETER_DATABASE__ACQUIRE_SECONDS", "1")];

impl World {
    async fn with(servers: usize) -> Self {
        let cluster = Cluster::start();
        Self { servers: Servers::start(&cluster.url(), servers, &SETTINGS).await, cluster: Some(cluster) }
    }

    /// One service, as it runs without any setting of a database.
    async fn private() -> Self {
        Self { servers: Servers::start_private(&SETTINGS).await, cluster: None }
    }

    /// Crashes PostgreSQL with this signal, and has it started again: by the service, if it is the private one.
    async fn crash_postgres(&self, signal: &str, load: &Load) {
        if let Some(cluster) = &self.cluster {
            let before = load.refused.load(Ordering::SeqCst);
            cluster.crash();
            eventually("charges are refused", async || load.refused.load(Ordering::SeqCst) > before).await;
            cluster.resume();
        } else {
            let before = self.servers.private_postgres().unwrap();
            kill(signal, before);
            let is_new = || self.servers.private_postgres().is_some_and(|pid| pid != before);
            eventually("PostgreSQL is started again", async || is_new()).await;
        }
    }

    fn assert_the_doctor_finds_nothing(&self) {
        let report = self.servers.doctor();
        assert!(report.ends_with("no errors found\n"), "{report}");
    }

    /// Keys of several owners with more quota than the test uses.
    async fn keys_with_quota(&self) -> Vec<String> {
        let mut keys = Vec::new();
        for name in ["ana", "bob", "cyd"] {
            let owner = self.servers.owner(name, PLENTY).await;
            keys.push(owner.key(json!({ "name": "limited", "remain_quota": PLENTY })).await.1);
            keys.push(owner.unlimited_key().await);
        }
        keys
    }
}

/// Charges by many clients, until they are stopped or the service does not answer. Each charge has a serial number,
/// which is in its request id and, as `prompt_tokens`, in its row.
#[derive(Default)]
struct Load {
    keys: Vec<String>,
    serial: AtomicI64,
    stop: AtomicBool,
    charges: Mutex<Vec<Sent>>,
    acknowledged: AtomicUsize,
    refused: AtomicUsize,
}

#[derive(Clone)]
struct Sent {
    serial: i64,
    quota: i64,
    body: Value,
    /// The answer, if there was one.
    answer: Option<Value>,
}

impl Load {
    fn on(keys: Vec<String>) -> Arc<Self> {
        Arc::new(Self { keys, ..Self::default() })
    }

    fn start(self: &Arc<Self>, gateway: &Client, clients: usize) -> JoinSet<()> {
        (0..clients).map(|_| Arc::clone(self).run_client(gateway.clone())).collect()
    }

    async fn run_client(self: Arc<Self>, gateway: Client) {
        while !self.stop.load(Ordering::SeqCst) {
            let serial = self.serial.fetch_add(1, Ordering::SeqCst);
            let (quota, key) = (1 + serial % 7, &self.keys[usize::try_from(serial).unwrap() % self.keys.len()]);
            let body = json!({
                "key": key, "quota": quota, "request_id": format!("r{serial}"), "prompt_tokens": serial,
                "completion_tokens": 1, "model": format!("model {}", serial % 2),
            });
            let answer = gateway.try_send(Method::POST, "/api/gateway/charge", body.to_string()).await;
            let data = answer.as_ref().is_ok_and(|answer| answer.status == 200).then(|| answer.as_ref().unwrap().ok());
            self.acknowledged.fetch_add(usize::from(data.is_some()), Ordering::SeqCst);
            let unknown = data.is_none();
            self.charges.lock().unwrap().push(Sent { serial, quota, body, answer: data });
            match answer {
                Ok(refusal) if unknown => {
                    refusal.refuses_saying(503, "database_unavailable", "database unavailable; retry shortly");
                    assert!(refusal.header("retry-after").is_some_and(|after| after.parse::<u32>().unwrap() > 0));
                    self.refused.fetch_add(1, Ordering::SeqCst);
                }
                Ok(_) => {}
                Err(_) => return,
            }
        }
    }

    /// Waits until this many more charges are acknowledged.
    async fn wait_for_charges(&self, more: usize) {
        let enough = self.acknowledged.load(Ordering::SeqCst) + more;
        eventually("charges are acknowledged", async || self.acknowledged.load(Ordering::SeqCst) >= enough).await;
    }

    /// Asserts L4: every acknowledged charge is stored once, and every sent charge is charged once when it is sent
    /// again.
    async fn assert_each_charged_once(&self, gateway: &Client, pool: &PgPool) {
        let all = self.charges.lock().unwrap().clone();
        let rows = rows_by_serial(pool).await;
        assert!(rows.values().all(|rows| *rows == 1), "charged twice: {rows:?}");
        for sent in all.iter().filter(|sent| sent.answer.is_some()) {
            assert!(rows.contains_key(&sent.serial), "acknowledged and lost: {}", sent.body);
        }
        for some in all.chunks(64) {
            let again = some.iter().map(|sent| gateway.post("/api/gateway/charge", sent.body.clone()));
            for (sent, again) in some.iter().zip(join_all(again).await) {
                let again = again.ok();
                assert_eq!((&again["charged"], &again["request_id"]), (&json!(sent.quota), &sent.body["request_id"]));
                assert_eq!(sent.answer.as_ref().unwrap_or(&again), &again);
            }
        }
        assert_eq!(rows_by_serial(pool).await, all.iter().map(|sent| (sent.serial, 1)).collect());
        let used: i64 = sqlx::query_scalar("select sum(used_quota)::bigint from tokens").fetch_one(pool).await.unwrap();
        assert_eq!(used, all.iter().map(|sent| sent.quota).sum::<i64>());
        assert_ledger_invariants(pool).await;
    }
}

async fn rows_by_serial(pool: &PgPool) -> BTreeMap<i64, i64> {
    let rows: Vec<(i64, i64)> =
        sqlx::query_as("select prompt_tokens, count(*) from charges group by 1").fetch_all(pool).await.unwrap();
    rows.into_iter().collect()
}

/// Charges by `clients` clients at once until each is refused; returns how many succeeded, and the refusals.
async fn charge_to_the_end(gateways: &[Client], keys: &[String], quota: i64, clients: usize) -> (i64, Vec<Answer>) {
    let workers = (0..clients).map(|n| {
        let (gateway, key) = (&gateways[n % gateways.len()], &keys[n % keys.len()]);
        async move {
            let mut charged = 0;
            loop {
                let answer = gateway.post("/api/gateway/charge", json!({ "key": key, "quota": quota })).await;
                if answer.status != 200 {
                    return (charged, answer);
                }
                charged += 1;
            }
        }
    });
    let (charged, refusals): (Vec<i64>, Vec<Answer>) = join_all(workers).await.into_iter().unzip();
    (charged.into_iter().sum(), refusals)
}

async fn l1_sixty_four_clients_exhaust_one_key_and_one_wallet_exactly(world: World) {
    let gateway = [world.servers.gateway(0)];
    let ana = world.servers.owner("ana", PLENTY).await;
    let (id, key) = ana.key(json!({ "name": "hot", "remain_quota": 5_000 })).await;
    let (charged, refusals) = charge_to_the_end(&gateway, std::slice::from_ref(&key), 7, 64).await;
    assert_eq!(charged, 5_000 / 7);
    for refusal in refusals {
        refusal.refuses_saying(402, "token_quota_insufficient", "insufficient token quota for this amount");
    }
    let (charged, refusals) = charge_to_the_end(&gateway, &[key], 1, 64).await;
    assert_eq!(charged, 5_000 % 7);
    for refusal in refusals {
        refusal.refuses_saying(402, "token_exhausted", "this token has used up its quota");
    }
    let shown = ana.client.get(&format!("/api/token/{id}")).await.ok();
    assert_eq!((&shown["remain_quota"], &shown["used_quota"]), (&json!(0), &json!(5_000)));

    let bob = world.servers.owner("bob", 3_002).await;
    let mut keys = Vec::new();
    for n in 0..16 {
        let token = json!({ "name": "one of many", "remain_quota": PLENTY, "unlimited_quota": n % 2 == 0 });
        keys.push(bob.key(token).await.1);
    }
    let (charged, refusals) = charge_to_the_end(&gateway, &keys, 5, 64).await;
    assert_eq!(charged, 600);
    for refusal in refusals {
        let message = "insufficient account quota for this amount";
        refusal.refuses_saying(402, "user_quota_insufficient", message);
    }
    let wallet = bob.client.get("/api/user/self").await.ok();
    assert_eq!((&wallet["quota"], &wallet["used_quota"]), (&json!(2), &json!(3_000)));
    assert_ledger_invariants(&world.servers.pool().await).await;
    world.assert_the_doctor_finds_nothing();
}

async fn l4_kill_9_under_load_loses_nothing_and_charges_nothing_twice(mut world: World) {
    let load = Load::on(world.keys_with_quota().await);
    for _ in 0..3 {
        let clients = load.start(&world.servers.gateway(0), 24);
        load.wait_for_charges(200).await;
        world.servers.running[0].kill();
        clients.join_all().await;
        world.servers.restart().await;
        load.assert_each_charged_once(&world.servers.gateway(0), &world.servers.pool().await).await;
    }
    assert_eq!(load.refused.load(Ordering::SeqCst), 0);
    world.assert_the_doctor_finds_nothing();
}

async fn l4_a_crash_of_postgresql_under_load_loses_nothing_and_charges_nothing_twice(mut world: World) {
    let load = Load::on(world.keys_with_quota().await);
    let clients = load.start(&world.servers.gateway(0), 16);
    for signal in ["-QUIT", "-KILL"] {
        load.wait_for_charges(200).await;
        world.crash_postgres(signal, &load).await;
    }
    load.wait_for_charges(200).await;
    load.stop.store(true, Ordering::SeqCst);
    clients.join_all().await;
    load.assert_each_charged_once(&world.servers.gateway(0), &world.servers.pool().await).await;
    world.assert_the_doctor_finds_nothing();
    assert_eq!(world.servers.running[0].terminate(), Some(0));
}

async fn l4_sigterm_under_load_answers_every_charge_it_makes(mut world: World) {
    let load = Load::on(world.keys_with_quota().await);
    let clients = load.start(&world.servers.gateway(0), 24);
    load.wait_for_charges(300).await;
    world.servers.running[0].signal("TERM");
    clients.join_all().await;
    let mut status = None;
    eventually("the server stops", async || {
        status = world.servers.running[0].child.try_wait().unwrap();
        status.is_some()
    })
    .await;
    assert_eq!((status.unwrap().code(), load.refused.load(Ordering::SeqCst)), (Some(0), 0));
    world.servers.restart().await;
    let pool = world.servers.pool().await;
    let with_answer = |sent: &Sent| sent.answer.as_ref().map(|_| (sent.serial, 1));
    let answered: BTreeMap<_, _> = load.charges.lock().unwrap().iter().filter_map(with_answer).collect();
    assert_eq!(rows_by_serial(&pool).await, answered);
    assert_ledger_invariants(&pool).await;
    load.assert_each_charged_once(&world.servers.gateway(0), &pool).await;
    world.assert_the_doctor_finds_nothing();
}

async fn l4_kill_9_under_load_reserves_once_for_each_request_id(mut world: World) {
    let keys = world.keys_with_quota().await;
    // Each body with the reservation that was answered, if one was, and whether it may be settled.
    let sent: Mutex<Vec<(Value, Option<Value>, bool)>> = Mutex::default();
    let (serial, acknowledged) = (AtomicI64::new(0), AtomicUsize::new(0));
    for _ in 0..2 {
        let gateway = world.servers.gateway(0);
        let enough = acknowledged.load(Ordering::SeqCst) + 200;
        let client = async || loop {
            let n = serial.fetch_add(1, Ordering::SeqCst);
            let (key, on_expiry) = (&keys[usize::try_from(n).unwrap() % keys.len()], ["release", "charge"]);
            let body = json!({
                "key": key, "quota": 1 + n % 7, "request_id": format!("h{n}"), "ttl_seconds": 86_400,
                "on_expiry": on_expiry[usize::from(n % 3 == 0)],
            });
            let answer = gateway.try_send(Method::POST, "/api/gateway/reserve", body.to_string()).await;
            let made = answer.as_ref().ok().map(Answer::ok);
            sent.lock().unwrap().push((body.clone(), made.clone(), n % 2 == 0));
            let Some(made) = made else { return };
            acknowledged.fetch_add(1, Ordering::SeqCst);
            if n % 2 == 0 {
                let settle = json!({ "reservation_id": made["reservation_id"], "quota": n % 5 }).to_string();
                if gateway.try_send(Method::POST, "/api/gateway/settle", settle).await.is_err() {
                    return;
                }
            }
        };
        let server = world.servers.running[0].child.id();
        tokio::join!(join_all((0..16).map(|_| client())), async {
            eventually("quota is reserved", async || acknowledged.load(Ordering::SeqCst) >= enough).await;
            kill("-KILL", server);
        });
        world.servers.running[0].child.wait().unwrap();
        world.servers.restart().await;
        let gateway = world.servers.gateway(0);
        let sent = sent.lock().unwrap().clone();
        for (body, made, may_be_settled) in &sent {
            let again = gateway.post("/api/gateway/reserve", body.clone()).await;
            if again.status == 200 {
                assert_eq!(made.as_ref().unwrap_or(&again.ok()), &again.ok(), "another reservation for {body}");
            } else {
                assert!(*may_be_settled, "an acknowledged reservation is lost: {body} {}", again.text);
                again.refuses(409, "reservation_ended");
            }
        }
        let pool = world.servers.pool().await;
        let counted: i64 = sqlx::query_scalar("select count(*) from reservations").fetch_one(&pool).await.unwrap();
        assert_eq!(usize::try_from(counted).unwrap(), sent.len(), "one reservation for each id, and no other");
        assert_ledger_invariants(&pool).await;
    }
    world.assert_the_doctor_finds_nothing();
}

macro_rules! tests_of_one_server {
    ($name:ident, $world:expr, $($scenario:ident),+) => {
        mod $name {
            use super::World;

            $(#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
            async fn $scenario() {
                super::$scenario($world.await).await;
            })+
        }
    };
    ($($name:ident: $world:expr),+) => {
        $(tests_of_one_server!(
            $name,
            $world,
            l1_sixty_four_clients_exhaust_one_key_and_one_wallet_exactly,
            l4_kill_9_under_load_loses_nothing_and_charges_nothing_twice,
            l4_kill_9_under_load_reserves_once_for_each_request_id,
            l4_a_crash_of_postgresql_under_load_loses_nothing_and_charges_nothing_twice,
            l4_sigterm_under_load_answers_every_charge_it_makes
        );)+
    };
}

tests_of_one_server!(on_a_cluster: World::with(1), on_the_private_postgres: World::private());

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn l4_kill_9_of_the_server_and_the_private_postgres_at_once_under_load_loses_nothing() {
    let mut world = World::private().await;
    let load = Load::on(world.keys_with_quota().await);
    for with_sessions in [false, true, true] {
        let clients = load.start(&world.servers.gateway(0), 64);
        load.wait_for_charges(300).await;
        let (server, postgres) = (world.servers.running[0].child.id(), world.servers.private_postgres().unwrap());
        let sessions = if with_sessions { children(postgres) } else { Vec::new() };
        let all = [vec![server, postgres], sessions].concat();
        // A session that ends in this moment is no error.
        Command::new("kill").arg("-KILL").args(all.iter().map(u32::to_string)).output().unwrap();
        assert_eq!(world.servers.running[0].child.wait().unwrap().signal(), Some(9));
        clients.join_all().await;
        world.servers.restart().await;
        load.assert_each_charged_once(&world.servers.gateway(0), &world.servers.pool().await).await;
    }
    world.assert_the_doctor_finds_nothing();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn l7_overdue_holds_are_charged_or_settled_once_through_crashes_of_postgresql() {
    let world = World::with(1).await;
    let (keys, gateway) = (world.keys_with_quota().await, world.servers.gateway(0));
    let cluster = world.cluster.as_ref().unwrap();
    let pool = world.servers.pool().await;
    let beside = beside(&pool).await;
    let mut ends = [0, 0];
    for round in 0..4_u64 {
        let mut held = Vec::new();
        for (n, key) in keys.iter().cycle().take(60).enumerate() {
            let body = json!({
                "key": key, "quota": 20 + n, "ttl_seconds": 1, "on_expiry": "charge",
                "request_id": format!("h{round}.{n}"),
            });
            held.push((gateway.post("/api/gateway/reserve", body.clone()).await.ok()["reservation_id"].clone(), body));
        }
        tokio::time::sleep(Duration::from_millis(1_100)).await;
        let settled = AtomicUsize::new(0);
        let job_has_run = AtomicBool::new(false);
        let settles = join_all(held.iter().enumerate().map(async |(n, (reservation, _))| {
            tokio::time::sleep(Duration::from_millis(u64::try_from(n).unwrap() * 4)).await;
            // The last ones are the job's, however slow it is.
            while n >= 50 && !job_has_run.load(Ordering::SeqCst) {
                tokio::time::sleep(Duration::from_millis(5)).await;
            }
            let body = json!({ "reservation_id": reservation, "quota": n % 30 });
            loop {
                let answer = gateway.post("/api/gateway/settle", body.clone()).await;
                match answer.status.as_u16() {
                    200 => assert_eq!(answer.ok()["charged"], n % 30),
                    409 => answer.refuses(409, "reservation_ended"),
                    _ => {
                        answer.refuses(503, "database_unavailable");
                        tokio::time::sleep(Duration::from_millis(20)).await;
                        continue;
                    }
                }
                settled.fetch_add(1, Ordering::SeqCst);
                return answer.status == 200;
            }
        }));
        // The job runs while gateways settle, and while PostgreSQL crashes under both.
        let job = async {
            eventually("some are settled", async || settled.load(Ordering::SeqCst) >= 10).await;
            for n in 0.. {
                let crash = async {
                    if n == 0 {
                        tokio::time::sleep(Duration::from_millis(round * 3)).await;
                        cluster.crash();
                        cluster.resume();
                    }
                };
                let run = expire_overdue(&beside.core.db, &beside.core.clock, &beside.ledger, Duration::ZERO);
                let (done, ()) = tokio::join!(run, crash);
                job_has_run.fetch_or(matches!(done, Ok(Finished::Yes)), Ordering::SeqCst);
                let open: Result<i64, _> =
                    sqlx::query_scalar("select count(*) from reservations where state = 'open'").fetch_one(&pool).await;
                if matches!((done, open), (Ok(Finished::Yes), Ok(0))) {
                    return;
                }
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        };
        let (by_gateway, ()) = tokio::join!(settles, job);
        for ((reservation, body), by_gateway) in held.iter().zip(by_gateway) {
            ends[usize::from(by_gateway)] += 1;
            let id: i64 = reservation.as_str().unwrap().split_once('.').unwrap().1.parse().unwrap();
            let row = "select c.quota, r.held, r.was_expired from reservations r join charges c on c.reservation_id = r.id \
                       where r.id = $1 and r.state = 'settled'";
            let row: (i64, i64, bool) = sqlx::query_as(row).bind(id).fetch_one(&pool).await.unwrap();
            assert_eq!(row.2, !by_gateway, "{body}");
            assert!(by_gateway || row.0 == row.1, "what the job ends is charged as a whole: {row:?}");
            gateway.post("/api/gateway/reserve", body.clone()).await.refuses(409, "reservation_ended");
        }
        assert_ledger_invariants(&pool).await;
    }
    assert!(ends.iter().all(|count| *count > 10), "{ends:?}");
    world.assert_the_doctor_finds_nothing();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l9_kill_9_of_one_of_three_servers_leaves_exactly_the_limit_of_the_day() {
    let mut world = World::with(3).await;
    let ana = world.servers.owner("ana", PLENTY).await;
    let limited = json!({ "name": "hot", "unlimited_quota": true, "period_limits": { "day": 4_000 } });
    let key = ana.key(limited).await.1;
    let first = world.servers.gateway(0);
    let body = json!({ "key": key, "quota": 3 }).to_string();
    let clients: JoinSet<()> = (0..8)
        .map(|_| {
            let (gateway, body) = (first.clone(), body.clone());
            async move { while gateway.try_send(Method::POST, "/api/gateway/charge", body.clone()).await.is_ok() {} }
        })
        .collect();
    let pool = world.servers.pool().await;
    let used =
        async || sqlx::query_scalar::<_, i64>("select max(used_quota) from tokens").fetch_one(&pool).await.unwrap();
    let others = [world.servers.gateway(1), world.servers.gateway(2)];
    let keys = [key];
    let ((), (_, refusals)) = tokio::join!(
        async {
            eventually("quota is used", async || used().await >= 500).await;
            world.servers.running[0].kill();
        },
        charge_to_the_end(&others, &keys, 3, 16)
    );
    clients.join_all().await;
    for refusal in refusals {
        refusal.refuses(429, "token_period_exceeded");
    }
    // More than one day if it is midnight.
    let days: Vec<i64> = sqlx::query_scalar("select sum(quota)::bigint from usage_daily group by day order by 1 desc")
        .fetch_all(&pool)
        .await
        .unwrap();
    assert!(days[0] == 4_000 / 3 * 3 && days.iter().all(|sum| *sum <= 4_000), "{days:?}");
    assert_ledger_invariants(&pool).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l1_three_servers_on_one_database_overspend_nothing_together() {
    let world = World::with(3).await;
    let gateways = [world.servers.gateway(0), world.servers.gateway(1), world.servers.gateway(2)];
    let (ana, bob) = (world.servers.owner("ana", 2_000).await, world.servers.owner("bob", PLENTY).await);
    let mut keys = Vec::new();
    for n in 0..4 {
        let token = json!({ "name": "shared", "remain_quota": PLENTY, "unlimited_quota": n % 2 == 0 });
        keys.push(ana.key(token).await.1);
    }
    let limited = [bob.key(json!({ "name": "hot", "remain_quota": 1_000 })).await.1];
    let ((of_wallet, poor), (of_token, spent)) =
        tokio::join!(charge_to_the_end(&gateways, &keys, 3, 24), charge_to_the_end(&gateways, &limited, 3, 24));
    assert_eq!((of_wallet, of_token), (2_000 / 3, 1_000 / 3));
    for refusal in poor {
        let message = "insufficient account quota for this amount";
        refusal.refuses_saying(402, "user_quota_insufficient", message);
    }
    for refusal in spent {
        refusal.refuses_saying(402, "token_quota_insufficient", "insufficient token quota for this amount");
    }
    assert_ledger_invariants(&world.servers.pool().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l4_a_request_id_on_three_servers_at_once_is_charged_once() {
    let world = World::with(3).await;
    let gateways = [world.servers.gateway(0), world.servers.gateway(1), world.servers.gateway(2)];
    let keys = world.keys_with_quota().await;
    for n in 0..60 {
        // The same body everywhere; or, every third time, a key of another owner on each server.
        let differ = n % 3 == 0;
        let charges = gateways.iter().enumerate().map(|(server, gateway)| {
            let key = &keys[(n + if differ { 2 * server } else { 0 }) % keys.len()];
            let charge = json!({ "key": key, "quota": 10, "request_id": format!("d{n}"), "prompt_tokens": n });
            gateway.post("/api/gateway/charge", charge)
        });
        let answers = join_all(charges).await;
        let (charged, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
        assert_eq!(charged.len(), if differ { 1 } else { 3 });
        for answer in charged.iter().skip(1) {
            assert_eq!(answer.text, charged[0].text);
        }
        for answer in refused {
            let message = "this request_id was used for another request; give each request its own id";
            answer.refuses_saying(409, "request_id_reused", message);
        }
    }
    let pool = world.servers.pool().await;
    assert_eq!(rows_by_serial(&pool).await, (0..60).map(|n| (n, 1)).collect());
    assert_ledger_invariants(&pool).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l6_what_is_disabled_or_deleted_on_one_server_is_refused_on_another_at_once() {
    let world = World::with(2).await;
    let other = world.servers.gateway(1);
    let endings = [
        ("disabled", 403, "token_disabled", "this token is disabled"),
        ("deleted", 401, "invalid_key", "this API key is not valid"),
        ("expired", 403, "token_expired", "this token has expired"),
        ("disabled by an administrator", 403, "token_disabled", "this token is disabled"),
        ("owner disabled", 403, "user_disabled", "the account of this token is disabled"),
        ("owner deleted", 401, "invalid_key", "this API key is not valid"),
    ];
    for (n, (ending, status, error, message)) in endings.into_iter().enumerate() {
        let owner = world.servers.owner(&format!("owner{n}"), PLENTY).await;
        let (id, key) = owner.key(json!({ "name": "one", "remain_quota": 1_000 })).await;
        let held = other.post("/api/gateway/reserve", json!({ "key": key, "quota": 10 })).await.ok();
        let verify = async || other.post("/api/gateway/verify", json!({ "key": key })).await.ok();
        assert_eq!(verify().await["valid"], true, "{ending}");
        assert_eq!(verify().await["valid"], true, "{ending}");
        let token = format!("/api/token/{id}");
        let user = format!("/api/admin/users/{}", owner.id);
        let off = json!({ "status": 2 });
        let done = match ending {
            "disabled" => owner.client.put("/api/token/?status_only=1", json!({ "id": id, "status": 2 })).await,
            "deleted" => owner.client.delete(&token).await,
            "expired" => owner.client.put("/api/token/", json!({ "id": id, "expired_time": 1_000 })).await,
            "owner disabled" => world.servers.root.send(Method::PATCH, &user, off.to_string()).await,
            "owner deleted" => world.servers.root.delete(&user).await,
            _ => world.servers.root.post(&format!("/api/admin/tokens/{id}/status"), off).await,
        };
        done.ok();
        let since = Instant::now();
        for call in ["charge", "reserve"] {
            let refused = other.post(&format!("/api/gateway/{call}"), json!({ "key": key, "quota": 1 })).await;
            refused.refuses_saying(status, error, message);
        }
        while verify().await["valid"] == true {
            assert!(since.elapsed() < Duration::from_secs(2), "{ending}: still valid elsewhere");
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!((&verify().await["valid"], &verify().await["reason"]), (&json!(false), &json!(error)));
        // Reservations made before that can still be settled.
        let ended = json!({ "reservation_id": held["reservation_id"], "quota": 4 });
        assert_eq!(other.post("/api/gateway/settle", ended).await.ok()["charged"], 4, "{ending}");
    }
    assert_ledger_invariants(&world.servers.pool().await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn l7_expired_reservations_give_their_quota_back_without_any_call() {
    let world = World::with(1).await;
    let gateway = world.servers.gateway(0);
    let ana = world.servers.owner("ana", 1_000).await;
    let (id, key) = ana.key(json!({ "name": "one", "remain_quota": 500 })).await;
    let (idle, other) = ana.key(json!({ "name": "unlimited", "unlimited_quota": true })).await;
    let hold = async |key: &str, quota: i64, seconds: i64| {
        let held = json!({ "key": key, "quota": quota, "ttl_seconds": seconds });
        gateway.post("/api/gateway/reserve", held).await.ok()["reservation_id"].clone()
    };
    let mut reservations = Vec::new();
    for _ in 0..10 {
        reservations.push(hold(&key, 40, 1).await);
    }
    hold(&other, 300, 1).await;
    let kept = hold(&key, 60, 600).await;
    let since = Instant::now();
    let pool = world.servers.pool().await;
    let query = "select array[t.remain_quota, t.used_quota, o.used_quota, u.quota, u.used_quota] \
              from tokens t, tokens o, users u \
              where t.id = $1 and o.id = $2 and u.id = t.user_id";
    let balances = async || {
        let balances = sqlx::query_scalar::<_, Vec<i64>>(query).bind(id).bind(idle);
        balances.fetch_one(&pool).await.unwrap()
    };
    assert_eq!(balances().await, [40, 460, 300, 240, 760]);
    assert_ledger_invariants(&pool).await;
    while balances().await != [440, 60, 0, 940, 60] {
        assert!(since.elapsed() < Duration::from_secs(31), "{:?}", balances().await);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_ledger_invariants(&pool).await;

    let end = async |call: &str, reservation: &Value, quota: i64| {
        gateway.post(&format!("/api/gateway/{call}"), json!({ "reservation_id": reservation, "quota": quota })).await
    };
    let settled = json!({ "charged": 40, "shortfall": 0, "expired": true, "remain_quota": 400, "priced_by": "told" });
    assert_eq!(end("settle", &reservations[0], 40).await.ok(), settled);
    let settled = json!({ "charged": 400, "shortfall": 500, "expired": true, "remain_quota": 0, "priced_by": "told" });
    assert_eq!(end("settle", &reservations[1], 900).await.ok(), settled);
    assert_eq!(end("release", &reservations[2], 0).await.ok(), json!({ "remain_quota": 0 }));
    end("release", &reservations[0], 0).await.refuses_saying(
        409,
        "reservation_ended",
        "this reservation has already ended",
    );
    assert_eq!(end("release", &kept, 0).await.ok(), json!({ "remain_quota": 60 }));
    assert_ledger_invariants(&pool).await;
}
