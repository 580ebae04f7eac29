//! Jobs: partitions made ahead, idempotency records and ended reservations deleted after 72 hours, old charges dropped;
//! one server at a time runs them, they survive kill -9 at any point, and they make no reader wait.

use std::sync::Arc;
use std::time::Duration;

use chrono::Weekday;
use chrono_tz::Tz;
use keymeter::domain::calendar::Calendar;
use keymeter::domain::clock::Clock;
use keymeter::domain::time::UnixTime;
use keymeter::service::jobs::{JobRules, Jobs};
use keymeter::service::rate_limiter::{RateLimiter, RequestLimits};
use keymeter::storage::Db;
use keymeter::telemetry::jobs::JobMetrics;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, PgPool};
use tempfile::TempDir;

use crate::harness::database::url;
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::wait::eventually;
use crate::harness::{Caller, Client, START, Server, TestApp};

/// The days of the default settings.
pub const UTC: Calendar = Calendar { zone: Tz::UTC, week_starts: Weekday::Mon };

const HOUR: i64 = 3_600;
const DAY: i64 = 24 * HOUR;

/// The partitions of charges and their indexes.
const PARTITIONS: &str = "pg_inherits where inhparent in ('charges'::regclass, 'charges_of_token'::regclass)";

fn jobs(app: &TestApp, retention_days: u32) -> Jobs {
    jobs_on(&app.pool, app.clock.clone(), retention_days)
}

/// The jobs of a server on this database.
pub fn jobs_on(pool: &PgPool, clock: Arc<dyn Clock>, retention_days: u32) -> Jobs {
    let limits = RequestLimits {
        search: 0,
        login: 0,
        usage: 0,
        drop_in: 0,
        wrong_keys: 0,
        wrong_credentials: 0,
        register: 0,
        writes: 0,
    };
    let rate_limiter = Arc::new(RateLimiter::new(limits, &clock));
    let rules = JobRules { retention_days, restore_days: 30, calendar: UTC, max_clock_skew: 30 };
    Jobs::new(Db::new(pool.clone()), clock, rate_limiter, rules, JobMetrics::default())
}

async fn count(pool: &PgPool, of: &str) -> i64 {
    let sql = sqlx::AssertSqlSafe(format!("select count(*) from {of}"));
    sqlx::query_scalar(sql).fetch_one(pool).await.unwrap()
}

/// A user with quota, an unlimited key and a gateway.
async fn key_and_gateway(app: &TestApp) -> (Caller, String, Caller) {
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, 1_000_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    (ana, key, gateway)
}

async fn call(gateway: &Caller, name: &str, body: Value) -> Value {
    gateway.post(&format!("/api/gateway/{name}"), body).await.ok()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn idempotency_records_and_ended_reservations_are_deleted_after_72_hours_and_open_ones_never(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (_, key, gateway) = key_and_gateway(&app).await;
    let jobs = jobs(&app, 90);
    let charge = json!({ "key": key, "quota": 5, "request_id": "once" });
    call(&gateway, "charge", charge.clone()).await;
    let ended = call(&gateway, "reserve", json!({ "key": key, "quota": 7 })).await;
    call(&gateway, "release", json!({ "reservation_id": ended["reservation_id"] })).await;
    let reserve = json!({ "key": key, "quota": 9, "request_id": "open" });
    let open = call(&gateway, "reserve", reserve.clone()).await;
    // Their times come from the clock of the database, not of the server.
    let written = "with dated as (update idempotency_records set created_time = $1 returning created_time) \
                   update reservations set ended_time = $1 from dated where state <> 'open'";
    sqlx::query(written).bind(START).execute(&app.pool).await.unwrap();
    jobs.run_as_of(UnixTime::new(START + 72 * HOUR)).await.unwrap();
    assert_eq!(call(&gateway, "charge", charge.clone()).await["charged"], 5);
    assert_eq!([count(&app.pool, "charges").await, count(&app.pool, "reservations").await], [1, 2], "not deleted yet");
    jobs.run_as_of(UnixTime::new(START + 72 * HOUR + 1)).await.unwrap();
    assert_eq!(call(&gateway, "reserve", reserve.clone()).await["reservation_id"], open["reservation_id"]);
    assert_eq!(count(&app.pool, "idempotency_records").await, 1);
    assert_eq!(count(&app.pool, "reservations where state = 'open'").await, 1);
    assert_eq!(count(&app.pool, "reservations").await, 1);
    call(&gateway, "charge", charge).await;
    assert_eq!(count(&app.pool, "charges").await, 2, "a request id can be used again after that time");
    call(&gateway, "release", json!({ "reservation_id": open["reservation_id"] })).await;
    jobs.run_as_of(UnixTime::new(START + 72 * HOUR + 1)).await.unwrap();
    assert_ne!(call(&gateway, "reserve", reserve).await["reservation_id"], open["reservation_id"]);
    assert_ledger_invariants(&app.pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn charges_are_deleted_after_their_retention_time_and_their_sums_stay(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, key, gateway) = key_and_gateway(&app).await;
    let jobs = jobs(&app, 2);
    for _ in 0..4 {
        jobs.run_as_of(app.clock.now()).await.unwrap();
        call(&gateway, "charge", json!({ "key": key, "quota": 5 })).await;
        app.clock.advance(DAY);
    }
    jobs.run_as_of(app.clock.now()).await.unwrap();
    let kept: Vec<i64> = sqlx::query_scalar("select at from charges order by at").fetch_all(&app.pool).await.unwrap();
    assert_eq!(kept, [START + 2 * DAY, START + 3 * DAY], "whole days, counted back from today's first second");
    assert_eq!(count(&app.pool, "usage_daily").await, 4);
    let me = ana.get("/api/user/self").await.ok();
    assert_eq!((&me["used_quota"], &me["request_count"]), (&json!(20), &json!(4)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn one_server_at_a_time_runs_the_jobs_and_the_others_do_not_wait(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let jobs = jobs(&app, 90);
    let mut other = app.pool.begin().await.unwrap();
    sqlx::query("select pg_advisory_xact_lock(1953064057)").execute(&mut *other).await.unwrap();
    let before = count(&app.pool, PARTITIONS).await;
    jobs.run_as_of(app.clock.now()).await.unwrap();
    assert_eq!(count(&app.pool, PARTITIONS).await, before, "another server runs the jobs");
    other.rollback().await.unwrap();
    jobs.run_as_of(app.clock.now()).await.unwrap();
    assert!(count(&app.pool, "pg_inherits").await > before);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn jobs_killed_at_any_point_leave_nothing_half_done(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (_, key, gateway) = key_and_gateway(&app).await;
    let jobs = Arc::new(jobs(&app, 1));
    for round in 0..20_u64 {
        call(&gateway, "charge", json!({ "key": key, "quota": 5, "request_id": format!("{round}") })).await;
        app.clock.advance(DAY / 2);
        let (work, now) = (Arc::clone(&jobs), app.clock.now());
        let task = tokio::spawn(async move { work.run_as_of(now).await });
        tokio::time::sleep(Duration::from_micros(round * round * 40)).await;
        task.abort();
        let _ = task.await;
    }
    eventually("the lock of the last killed round is free", async || {
        let tomorrow: String =
            sqlx::query_scalar("select 'charges_' || to_char(to_timestamp($1) at time zone 'UTC', 'YYYYMMDD')")
                .bind(app.clock.now().get() + DAY)
                .fetch_one(&app.pool)
                .await
                .unwrap();
        jobs.run_as_of(app.clock.now()).await.unwrap();
        count(&app.pool, &format!("pg_class where relname = '{tomorrow}'")).await == 1
    })
    .await;
    let sums: i64 =
        sqlx::query_scalar("select sum(requests)::bigint from usage_daily").fetch_one(&app.pool).await.unwrap();
    assert_eq!(sums, 20, "no charge was lost");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn one_round_deletes_more_than_one_batch(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let rows = [
        "insert into idempotency_records (gateway_id, request_id, user_id, created_time, request_hash, charged, \
         remain_quota) select 1, n::text, 1, 1, sha256(''), 0, 0 from generate_series(1, 12000) n",
        "insert into charges (at, token_id, user_id, model, quota, shortfall, prompt_tokens, completion_tokens) \
         select 1, 1, 1, '', 0, 0, 0, 0 from generate_series(1, 12000) n",
    ];
    for sql in rows {
        sqlx::query(sql).execute(&app.pool).await.unwrap();
    }
    jobs(&app, 90).run_as_of(app.clock.now()).await.unwrap();
    assert_eq!([count(&app.pool, "idempotency_records").await, count(&app.pool, "charges").await], [0, 0]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn nothing_waits_behind_a_partition_that_a_backup_reads(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (_, key, gateway) = key_and_gateway(&app).await;
    let jobs = jobs(&app, 2);
    jobs.run_as_of(app.clock.now()).await.unwrap();
    call(&gateway, "charge", json!({ "key": key, "quota": 5 })).await;
    // What pg_dump holds for hours: a lock on every table.
    let mut backup = app.pool.begin().await.unwrap();
    sqlx::query("select count(*) from charges").execute(&mut *backup).await.unwrap();
    app.clock.advance(5 * DAY);
    let before = count(&app.pool, PARTITIONS).await;
    let finished = jobs.run_as_of(app.clock.now());
    let charges = async {
        for _ in 0..20 {
            call(&gateway, "charge", json!({ "key": key, "quota": 5 })).await;
        }
    };
    let (finished, ()) = tokio::join!(finished, charges);
    finished.unwrap();
    assert_eq!(count(&app.pool, PARTITIONS).await, before, "no partition is made or dropped while a backup reads");
    // No request for a lock on charges that excludes readers or writers may have been left in the queue.
    let waiting = "pg_locks where not granted \
                   and database = (select oid from pg_database where datname = current_database())";
    assert_eq!(count(&app.pool, waiting).await, 0);
    backup.rollback().await.unwrap();
    jobs.run_as_of(app.clock.now()).await.unwrap();
    let oldest: String = sqlx::query_scalar("select min(inhrelid::regclass::text) from pg_inherits where inhparent = 'charges'::regclass and inhrelid <> 'charges_rest'::regclass")
        .fetch_one(&app.pool)
        .await
        .unwrap();
    assert_eq!(oldest, "charges_20260313", "partitions older than two days before the 15th are dropped");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn nothing_is_deleted_while_the_clocks_of_server_and_database_differ(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (_, key, gateway) = key_and_gateway(&app).await;
    let real: i64 = sqlx::query_scalar("select extract(epoch from now())::bigint").fetch_one(&app.pool).await.unwrap();
    app.clock.advance(real - START);
    app.stranger().get("/readyz").await.ok();
    call(&gateway, "charge", json!({ "key": key, "quota": 5, "request_id": "once" })).await;
    let jobs = jobs(&app, 1);
    for skew in [4 * DAY, 100 * DAY, -200 * DAY] {
        app.clock.advance(skew);
        app.stranger().get("/readyz").await.ok();
        jobs.run_once().await.unwrap();
        let kept = [count(&app.pool, "idempotency_records").await, count(&app.pool, "charges").await];
        assert_eq!(kept, [1, 1], "the clock is off by {skew} s");
        assert!(count(&app.pool, "pg_inherits").await > 1, "what deletes nothing runs");
        app.clock.advance(-skew);
    }
    let old = "update idempotency_records set created_time = 1";
    sqlx::query(old).execute(&app.pool).await.unwrap();
    jobs.run_once().await.unwrap();
    assert_eq!(count(&app.pool, "idempotency_records").await, 0, "with the right clock it is deleted");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn tables_without_statistics_are_analysed(pool: PgPool) {
    let app = TestApp::new(pool).await;
    key_and_gateway(&app).await;
    let fresh = "pg_class where relname in ('users', 'tokens') and reltuples < 0";
    assert_eq!(count(&app.pool, fresh).await, 2);
    jobs(&app, 90).run_as_of(app.clock.now()).await.unwrap();
    assert_eq!(count(&app.pool, fresh).await, 0);
}

/// The connections of servers that listen for changes, by what they asked last.
pub const LISTENERS: &str = "pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() \
                             and (query ilike 'listen %' or query like '%pg_notify($1, '''')%')";

/// The number of servers that listen for changes.
async fn listeners(pool: &PgPool) -> i64 {
    count(pool, LISTENERS).await
}

#[sqlx::test(migrations = false)]
async fn l6_a_server_that_lost_its_listener_clears_its_caches_and_listens_again(pool: PgPool) {
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
        let terminate = format!("select count(pg_terminate_backend(pid)) from {LISTENERS}");
        let cut: i64 = sqlx::query_scalar(AssertSqlSafe(terminate)).fetch_one(&pool).await.unwrap();
        assert_eq!(cut, 2);
        root.put("/api/token/?status_only=1", json!({ "id": id, "status": status })).await.ok();
        let charged = gateway.post("/api/gateway/charge", json!({ "key": key, "quota": 1 })).await;
        assert_eq!(charged.status == 200, status == 1, "a charge uses the new status at once: {}", charged.text);
        eventually("verify returns the new status", async || valid().await == (status == 1)).await;
    }
    eventually("both servers listen again", async || listeners(&pool).await == 2).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn expired_access_tokens_are_deleted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    let ends = [Some(START - 1), Some(START), Some(START + 1), None];
    let insert = "insert into access_tokens (user_id, name, digest, created_time, expires_at) \
                values ($1, 'one', sha256(convert_to($2::text, 'UTF8')), 1, $3)";
    for (n, end) in (0..).zip(ends) {
        sqlx::query(insert).bind(ana.id).bind::<i32>(n).bind(end).execute(&app.pool).await.unwrap();
    }
    jobs(&app, 90).run_as_of(app.clock.now()).await.unwrap();
    let left: Vec<Option<i64>> =
        sqlx::query_scalar("select expires_at from access_tokens order by id").fetch_all(&app.pool).await.unwrap();
    assert_eq!(left, [Some(START + 1), None]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn counts_of_refused_requests_are_kept_as_long_as_charges(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let insert = "insert into refused_requests (user_id, day, token_id, reason, requests) \
                  select 1, '2025-12-09'::date + n % 2, n, 'token_expired', 1 from generate_series(1, 12000) n";
    sqlx::query(insert).execute(&app.pool).await.unwrap();
    // 2026-03-10.
    jobs(&app, 90).run_as_of(UnixTime::new(START)).await.unwrap();
    assert_eq!(count(&app.pool, "refused_requests where day = '2025-12-09'").await, 0);
    assert_eq!(count(&app.pool, "refused_requests where day = '2025-12-10'").await, 6_000);
}

/// The days of the partitions of refusals.
async fn days_of_refusals(app: &TestApp) -> Vec<String> {
    let days = "select substr(inhrelid::regclass::text, 10) from pg_inherits where inhparent = 'refusals'::regclass \
                and inhrelid <> 'refusals_rest'::regclass order by 1";
    sqlx::query_scalar(days).fetch_all(&app.pool).await.unwrap()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn refusals_are_dropped_by_days_when_they_are_a_week_old_or_too_many(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let jobs = jobs(&app, 90);
    let refuse = async |at: i64| {
        let insert = "insert into refusals (at, user_id, token_id, gateway_id, call, reason, model, suppressed) \
                      values ($1, 1, 1, 1, 'verify', 'token_expired', '', 0)";
        sqlx::query(insert).bind(at).execute(&app.pool).await.unwrap();
    };
    // Of a time before the first partition, and of a clock that was ahead.
    refuse(START - 20 * DAY).await;
    refuse(START + 400 * DAY).await;
    jobs.run_as_of(app.clock.now()).await.unwrap();
    assert_eq!(count(&app.pool, "refusals").await, 0, "too old or of the future, and in no partition");
    let days = days_of_refusals(&app).await;
    assert_eq!((days.len(), days[0].as_str(), days[8].as_str()), (9, "20260309", "20260317"));
    refuse(START).await;
    refuse(START + DAY).await;
    for _ in 0..8 {
        app.clock.advance(DAY);
        jobs.run_as_of(app.clock.now()).await.unwrap();
    }
    assert_eq!((count(&app.pool, "refusals").await, days_of_refusals(&app).await[0].as_str()), (1, "20260311"));
    // Ids tell how many there are. The days before the one with the first row are empty.
    sqlx::query("select setval(pg_get_serial_sequence('refusals', 'id'), 20000000)").execute(&app.pool).await.unwrap();
    jobs.run_as_of(app.clock.now()).await.unwrap();
    assert_eq!(count(&app.pool, "refusals").await, 1);
    sqlx::query("select setval(pg_get_serial_sequence('refusals', 'id'), 20000004)").execute(&app.pool).await.unwrap();
    jobs.run_as_of(app.clock.now()).await.unwrap();
    assert_eq!(count(&app.pool, "refusals").await, 0, "more than 20 million");
    // Not those of today, of which more come.
    refuse(app.clock.now().get()).await;
    sqlx::query("select setval(pg_get_serial_sequence('refusals', 'id'), 60000000)").execute(&app.pool).await.unwrap();
    jobs.run_as_of(app.clock.now()).await.unwrap();
    assert_eq!(count(&app.pool, "refusals").await, 1);
}
