//! Whose time counts: the database's decides, ages are measured by uptime, and wall clocks of servers decide nothing.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use futures_util::future::join_all;
use keymeter::domain::clock::{Clock, Reading, SystemClock, Uptime};
use keymeter::domain::time::Micros;
use keymeter::service::clock::ClockReader;
use keymeter::storage::Db;
use keymeter::telemetry::clock::ClockMetrics;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::database::url;
use crate::harness::gateway::{app_with_wallet, asks};
use crate::harness::process::libfaketime;
use crate::harness::wait::eventually;
use crate::harness::{Client, MASTER_KEY, PLENTY, Server, Servers, TestApp};

/// A server whose own clock is `ahead` of the real one: `+40d`.
async fn server_with_clock(pool: &PgPool, dir: &tempfile::TempDir, ahead: &str) -> Server {
    let database = url(pool);
    let settings = [
        ("DATABASE_URL", database.as_str()),
        ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY),
        ("LD_PRELOAD", libfaketime()),
        ("FAKETIME", ahead),
        ("FAKETIME_DONT_FAKE_MONOTONIC", "1"),
    ];
    Server::start(dir.path(), &settings).await
}

#[sqlx::test(migrations = false)]
async fn a_server_whose_clock_is_wrong_decides_by_the_databases_clock(pool: PgPool) {
    let servers = Servers::start(&url(&pool), 1, &[]).await;
    let owner = servers.owner("ana", PLENTY).await;
    let limits = json!({ "day": 10 });
    let (_, spent) = owner.key(json!({ "name": "spent", "unlimited_quota": true, "period_limits": limits })).await;
    let (_, free) = owner.key(json!({ "name": "free", "unlimited_quota": true })).await;
    let rates = json!({ "requests_per_minute": 1 });
    let (_, rated) = owner.key(json!({ "name": "rated", "unlimited_quota": true, "rate_limits": rates })).await;
    let charge = async |gateway: &Client, key: &str, quota: i64| {
        gateway.post("/api/gateway/charge", json!({ "key": key, "quota": quota })).await
    };
    charge(&servers.gateway(0), &spent, 10).await.ok();
    charge(&servers.gateway(0), &rated, 1).await.ok();
    for ahead in ["+40d", "+8h", "-3h", "+70"] {
        let dir = tempfile::tempdir().unwrap();
        let wrong = server_with_clock(&pool, &dir, ahead).await;
        let there = Client::with(&wrong, &servers.credential);
        there.get("/readyz").await.ok();
        let refused = charge(&there, &spent, 1).await;
        refused.refuses(429, "token_period_exceeded");
        let wait: i64 = refused.header("retry-after").unwrap().parse().unwrap();
        assert!((1..=86_400).contains(&wait), "{ahead}: {wait}");
        charge(&there, &free, 1).await.ok();
        // A minute has not passed, whatever the server's clock says.
        charge(&there, &rated, 1).await.refuses(429, "rate_limited");
        charge(&servers.gateway(0), &free, 1).await.ok();
    }
    let days: i64 = sqlx::query_scalar("select count(distinct day) from charges where day <= current_date")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(days, 1, "no charge is of another day");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn caches_and_limiters_age_while_the_time_is_set_back(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool.clone(), 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 10 })).await;
    let there = app.server_ahead(3_600);
    let far = gateway.at(&there);
    let valid = async || asks(&far, "verify", &json!({ "key": key })).await.ok()["valid"].clone();
    assert_eq!(valid().await, json!(true));
    there.clock.set_ahead(-3_600);
    asks(&gateway, "charge", &json!({ "key": key, "quota": 10 })).await.ok();
    there.clock.advance(2);
    assert_eq!(valid().await, json!(false), "what was read two seconds ago is read again");

    let limited = TestApp::with(pool, &[("KEYMETER_LIMITS__LOGIN_PER_MINUTE", "1")]).await;
    let sign_in = async || {
        let account = json!({ "username": "nobody", "password": "not a password" });
        limited.stranger().post("/api/user/login", account).await.status
    };
    assert_eq!([sign_in().await, sign_in().await], [401, 429]);
    limited.clock.set_ahead(-3_600);
    assert_eq!(sign_in().await, 429);
    limited.clock.advance(60);
    assert_eq!(sign_in().await, 401, "the limit is available again after a minute");
}

/// A clock whose last reading is too old until it is corrected.
struct OldReading {
    is_current: AtomicBool,
    readings: AtomicUsize,
    moved: bool,
}

impl OldReading {
    fn new(moved: bool) -> Arc<Self> {
        Arc::new(Self { is_current: AtomicBool::new(false), readings: AtomicUsize::new(0), moved })
    }
}

impl Clock for OldReading {
    fn micros(&self) -> Micros {
        SystemClock.micros()
    }

    fn uptime(&self) -> Uptime {
        SystemClock.uptime()
    }

    fn is_current(&self) -> bool {
        self.is_current.load(Ordering::SeqCst)
    }

    fn correct(&self, reading: Reading) -> Option<i64> {
        assert!(reading.asked_at <= reading.answered_at);
        let wrong = reading.time.get() - self.micros().get();
        assert!(wrong.abs() < 60 * Micros::PER_SECOND, "the database of the tests has the same clock: {wrong}");
        self.readings.fetch_add(1, Ordering::SeqCst);
        self.is_current.store(true, Ordering::SeqCst);
        self.moved.then_some(wrong)
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_reading_that_is_too_old_is_renewed_once_for_all_that_wait(pool: PgPool) {
    let clock = OldReading::new(false);
    let mut registry = prometheus_client::registry::Registry::default();
    let reader = ClockReader::new(Db::new(pool.clone()), clock.clone(), ClockMetrics::register(&mut registry));
    let times = join_all((0..20).map(|_| reader.micros())).await;
    assert!(times.iter().all(Result::is_ok));
    assert_eq!(clock.readings.load(Ordering::SeqCst), 1);
    reader.micros().await.unwrap();
    assert_eq!(clock.readings.load(Ordering::SeqCst), 1, "a current reading is not renewed");
    clock.is_current.store(false, Ordering::SeqCst);
    pool.close().await;
    reader.micros().await.unwrap_err();
    clock.is_current.store(true, Ordering::SeqCst);
    reader.micros().await.unwrap();
}

/// The seconds by which a server's clock is ahead of the database's.
pub async fn skew(client: &Client) -> Option<i64> {
    let metrics = client.get("/metrics").await.text;
    metrics.lines().find_map(|line| line.strip_prefix("keymeter_clock_skew_seconds ")?.parse().ok())
}

#[sqlx::test(migrations = false)]
async fn the_metric_of_the_skew_and_the_doctor_name_a_clock_that_is_wrong(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let wrong = server_with_clock(&pool, &dir, "+1h").await;
    let client = Client::root(&wrong).await;
    eventually("the clock was read", async || skew(&client).await.is_some_and(|skew| (3_590..=3_610).contains(&skew)))
        .await;
    let database = url(&pool);
    let settings = [("DATABASE_URL", database.as_str()), ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY)];
    let doctor = |more: &[(&str, &str)]| {
        let all: Vec<_> = settings.iter().chain(more).copied().collect();
        let output = crate::harness::process::run(dir.path(), &all, &["doctor"]);
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let (code, report) = doctor(&[]);
    assert!(code == Some(0) && report.contains("ok     clock: "), "{report}");
    let (code, report) =
        doctor(&[("LD_PRELOAD", libfaketime()), ("FAKETIME", "-2h"), ("FAKETIME_DONT_FAKE_MONOTONIC", "1")]);
    assert_eq!(code, Some(1), "{report}");
    assert!(report.contains("WRONG  clock: this machine is ") && report.contains(" s behind the database"), "{report}");
    let _: Value = client.get("/readyz").await.ok();
}
