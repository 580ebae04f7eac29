//! What is done again and again: partitions ahead, receipts and ended reservations forgotten after 72
//! hours, old charges dropped; by one server at a time, and killed at any point.

use std::sync::Arc;
use std::time::Duration;

use keymeter::domain::time::Clock;
use keymeter::service::jobs::Jobs;
use keymeter::service::limiter::{Limiter, Limits};
use keymeter::storage::Db;
use serde_json::{Value, json};
use sqlx::PgPool;
use tempfile::TempDir;

use crate::harness::law::proves_the_law;
use crate::harness::process::Server;
use crate::harness::{Caller, START, TestApp};
use crate::wire::{Client, eventually, url};

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

fn jobs(app: &TestApp, retention_days: u32) -> Jobs {
    let clock: Arc<dyn Clock> = app.clock.clone();
    let limits = Limits { search: 0, login: 0, usage: 0, wrong_keys: 0, register: 0 };
    let limiter = Arc::new(Limiter::new(limits, &clock));
    Jobs::new(Db::new(app.pool.clone()), clock, limiter, retention_days)
}

async fn count(pool: &PgPool, of: &str) -> i64 {
    let sql = sqlx::AssertSqlSafe(format!("select count(*) from {of}"));
    sqlx::query_scalar(sql).fetch_one(pool).await.unwrap()
}

/// A rich user's key and a gateway.
async fn shop(app: &TestApp) -> (Caller, String, Caller) {
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, 1_000_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    (ana, key, gateway)
}

async fn asks(gateway: &Caller, call: &str, body: Value) -> Value {
    gateway.post(&format!("/api/gateway/{call}"), body).await.ok()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn receipts_and_ended_reservations_are_forgotten_after_72_hours_and_open_ones_never(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (_, key, gateway) = shop(&app).await;
    let jobs = jobs(&app, 90);
    let charge = json!({ "key": key, "quota": 5, "request_id": "once" });
    asks(&gateway, "charge", charge.clone()).await;
    let ended = asks(&gateway, "reserve", json!({ "key": key, "quota": 7 })).await;
    asks(&gateway, "release", json!({ "reservation_id": ended["reservation_id"] })).await;
    asks(&gateway, "reserve", json!({ "key": key, "quota": 9 })).await;
    app.clock.advance(72 * HOUR);
    jobs.tidy_database().await.unwrap();
    assert_eq!(asks(&gateway, "charge", charge.clone()).await["charged"], 5);
    assert_eq!([count(&app.pool, "charges").await, count(&app.pool, "reservations").await], [1, 2], "still known");
    app.clock.advance(1);
    jobs.tidy_database().await.unwrap();
    assert_eq!(count(&app.pool, "receipts").await, 0);
    assert_eq!(count(&app.pool, "reservations where state = 'open'").await, 1);
    assert_eq!(count(&app.pool, "reservations").await, 1);
    asks(&gateway, "charge", charge).await;
    assert_eq!(count(&app.pool, "charges").await, 2, "a request id may come again after that time");
    proves_the_law(&app.pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn charges_go_after_their_time_and_their_sums_stay(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, key, gateway) = shop(&app).await;
    let jobs = jobs(&app, 2);
    for _ in 0..4 {
        jobs.tidy_database().await.unwrap();
        asks(&gateway, "charge", json!({ "key": key, "quota": 5 })).await;
        app.clock.advance(DAY);
    }
    jobs.tidy_database().await.unwrap();
    let kept: Vec<i64> = sqlx::query_scalar("select at from charges order by at").fetch_all(&app.pool).await.unwrap();
    assert_eq!(kept, [START + 2 * DAY, START + 3 * DAY], "whole days, counted back from today's first second");
    assert_eq!(count(&app.pool, "usage_daily").await, 4);
    let me = ana.get("/api/user/self").await.ok();
    assert_eq!((&me["used_quota"], &me["request_count"]), (&json!(20), &json!(4)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn one_server_at_a_time_tidies_up_and_the_others_do_not_wait_for_it(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let jobs = jobs(&app, 90);
    let mut other = app.pool.begin().await.unwrap();
    sqlx::query("select pg_advisory_xact_lock(1953064057)").execute(&mut *other).await.unwrap();
    let before = count(&app.pool, "pg_inherits").await;
    jobs.tidy_database().await.unwrap();
    assert_eq!(count(&app.pool, "pg_inherits").await, before, "another one is at it");
    other.rollback().await.unwrap();
    jobs.tidy_database().await.unwrap();
    assert!(count(&app.pool, "pg_inherits").await > before);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn killed_at_any_point_they_leave_nothing_half_done(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (_, key, gateway) = shop(&app).await;
    let jobs = Arc::new(jobs(&app, 1));
    for round in 0..20_u64 {
        asks(&gateway, "charge", json!({ "key": key, "quota": 5, "request_id": format!("{round}") })).await;
        app.clock.advance(DAY / 2);
        let work = Arc::clone(&jobs);
        let task = tokio::spawn(async move { work.tidy_database().await });
        tokio::time::sleep(Duration::from_micros(round * round * 40)).await;
        task.abort();
        let _ = task.await;
    }
    eventually("the lock of the last one that was killed is free", async || {
        let tomorrow: String =
            sqlx::query_scalar("select 'charges_' || to_char(to_timestamp($1) at time zone 'UTC', 'YYYYMMDD')")
                .bind(app.clock.now().get() + DAY)
                .fetch_one(&app.pool)
                .await
                .unwrap();
        jobs.tidy_database().await.unwrap();
        count(&app.pool, &format!("pg_class where relname = '{tomorrow}'")).await == 1
    })
    .await;
    let sums: i64 =
        sqlx::query_scalar("select sum(requests)::bigint from usage_daily").fetch_one(&app.pool).await.unwrap();
    assert_eq!(sums, 20, "no charge was lost to it");
}

/// How many servers listen for changes.
async fn listeners(pool: &PgPool) -> i64 {
    count(pool, "pg_stat_activity where datname = current_database() and query ilike 'listen %'").await
}

#[sqlx::test(migrations = false)]
async fn l6_a_server_that_lost_touch_with_the_others_trusts_nothing_and_listens_again(pool: PgPool) {
    let dir = TempDir::new().unwrap();
    let database = url(&pool);
    let settings = [("DATABASE_URL", database.as_str())];
    let here = Server::start(dir.path(), &settings).await;
    let there = Server::start(dir.path(), &settings).await;
    let root = Client::root(&here).await;
    let made = root.post("/api/admin/gateways", json!({ "name": "g" })).await.ok();
    let gateway = Client::with(&there, &format!("Bearer {}", made["credential"].as_str().unwrap()));
    root.post("/api/admin/users/1/quota", json!({ "set": 1_000 })).await.ok();
    root.post("/api/token/", json!({ "name": "one", "remain_quota": 1_000 })).await.ok();
    let id = root.get("/api/token/").await.ok()["items"][0]["id"].clone();
    let key = root.get(&format!("/api/token/{id}")).await.ok()["key"].clone();
    let valid = async || gateway.post("/api/gateway/verify", json!({ "key": key })).await.ok()["valid"] == json!(true);
    for status in [2, 1, 2] {
        eventually("both servers listen", async || listeners(&pool).await == 2).await;
        valid().await;
        let cut = "select count(pg_terminate_backend(pid)) from pg_stat_activity \
                   where datname = current_database() and query ilike 'listen %'";
        let cut: i64 = sqlx::query_scalar(cut).fetch_one(&pool).await.unwrap();
        assert_eq!(cut, 2);
        root.put("/api/token/?status_only=1", json!({ "id": id, "status": status })).await.ok();
        let charged = gateway.post("/api/gateway/charge", json!({ "key": key, "quota": 1 })).await;
        assert_eq!(charged.status == 200, status == 1, "a charge obeys at once: {}", charged.text);
        eventually("verify hears of it", async || valid().await == (status == 1)).await;
    }
    eventually("both servers listen again", async || listeners(&pool).await == 2).await;
}
