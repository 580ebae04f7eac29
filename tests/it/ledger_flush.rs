//! When operations are answered: after what the answer tells of is on disk and on synchronous standbys (L4). Their
//! wallets are free before. A standby that is not there lets PostgreSQL wait for as long as the test likes.

use std::sync::Arc;

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, PgConnection, PgPool};
use tempfile::NamedTempFile;
use tokio::task::JoinHandle;

use crate::harness::gateway::{DATABASE_UNAVAILABLE, ENDED, NOT_DURABLE, REUSED, app_with_wallet, asks, refused};
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::wait::eventually;
use crate::harness::{Answer, Client, Cluster, PLENTY, Servers, TestApp};

/// Services, and the PostgreSQL that they use.
pub struct World {
    pub servers: Servers,
    pub pool: PgPool,
    pub key: String,
    /// Has the lock of the jobs, so none runs.
    _jobs: PgConnection,
    /// Dropped after the services.
    _cluster: Cluster,
}

impl World {
    pub async fn start(servers: usize, settings: &[(&str, &str)]) -> Self {
        let cluster = Cluster::start();
        // Long enough for what the test does meanwhile.
        let settings = &[&[("KEYMETER_LEDGER__PATIENCE_SECONDS", "60")], settings].concat()[..];
        let servers = Servers::start(&cluster.url(), servers, settings).await;
        let key = servers.owner("ana", PLENTY).await.key(json!({ "name": "a", "remain_quota": 1_000 })).await.1;
        // Every server knows the key and the gateway.
        for server in 0..servers.running.len() {
            servers.gateway(server).post("/api/gateway/charge", json!({ "key": key, "quota": 1 })).await.ok();
        }
        let pool = servers.pool().await;
        // A job that waited for the standby would keep its locks.
        let mut jobs = pool.acquire().await.unwrap().detach();
        sqlx::query("select pg_advisory_lock(1953064057)").execute(&mut jobs).await.unwrap();
        Self { pool, servers, key, _jobs: jobs, _cluster: cluster }
    }

    /// A call of a gateway, which goes on by itself.
    pub fn calls(&self, server: usize, call: &str, body: Value) -> JoinHandle<Answer> {
        let (gateway, path) = (self.servers.gateway(server), format!("/api/gateway/{call}"));
        tokio::spawn(async move { gateway.post(&path, body).await })
    }
}

/// From now on, what waits for the disk waits for this standby too; for none if the name is empty.
pub async fn wait_for_standby(pool: &PgPool, name: &str) {
    let set = format!("alter system set synchronous_standby_names = '{name}'");
    sqlx::query(AssertSqlSafe(set)).execute(pool).await.unwrap();
    sqlx::query("select pg_reload_conf()").execute(pool).await.unwrap();
    eventually("the setting is in force", async || {
        sqlx::query_scalar::<_, String>("show synchronous_standby_names").fetch_one(pool).await.unwrap() == name
    })
    .await;
    if !name.is_empty() {
        eventually("a commit waits for the standby", async || waits(pool).await).await;
    }
}

/// Whether a commit waits for the standby. The process of PostgreSQL that decides it may learn of the setting later
/// than others.
async fn waits(pool: &PgPool) -> bool {
    let other = pool.clone();
    let commit = "select pg_logical_emit_message(true, 'test', '')";
    let commit = tokio::spawn(async move { sqlx::query(commit).execute(&other).await.map(drop) });
    while !commit.is_finished() {
        let end = "select count(pg_cancel_backend(pid)) from pg_stat_activity \
                   where wait_event = 'SyncRep' and query like '%(true, ''test''%'";
        if sqlx::query_scalar::<_, i64>(end).fetch_one(pool).await.unwrap() > 0 {
            commit.await.unwrap().unwrap();
            return true;
        }
    }
    false
}

/// Waits until so many batches wait for the standby. Returns the processes of PostgreSQL.
async fn waiting(pool: &PgPool, count: usize) -> Vec<i32> {
    let mut found = Vec::new();
    eventually("so many batches wait for the standby", async || {
        let waiting = "select pid from pg_stat_activity \
                       where wait_event = 'SyncRep' and query like '%(true, ''keymeter''%'";
        found = sqlx::query_scalar(waiting).fetch_all(pool).await.unwrap();
        found.len() == count
    })
    .await;
    found
}

/// Cancels whatever waits for the standby, until a request is answered.
async fn cancelled_until(pool: &PgPool, is_answered: impl Fn() -> bool) {
    eventually("the request waits for the standby and is cancelled", async || {
        let cancel = "select count(pg_cancel_backend(pid)) from pg_stat_activity where wait_event = 'SyncRep'";
        sqlx::query_scalar::<_, i64>(cancel).fetch_one(pool).await.unwrap();
        is_answered()
    })
    .await;
}

/// Ends the connection of the only batch that waits for the standby.
async fn end_waiting(pool: &PgPool) {
    let pid = waiting(pool, 1).await[0];
    sqlx::query("select pg_terminate_backend($1)").bind(pid).execute(pool).await.unwrap();
}

#[tokio::test]
async fn l4_an_answer_tells_of_what_is_on_disk_and_wallets_are_free_before() {
    let world = World::start(2, &[("KEYMETER_DATABASE__CONNECTIONS", "40"), ("KEYMETER_LEDGER__LANES", "4")]).await;
    let reserve = json!({ "key": world.key, "quota": 100 });
    let made = world.servers.gateway(0).post("/api/gateway/reserve", reserve).await.ok();
    let settle = |quota: i64| json!({ "reservation_id": made["reservation_id"], "quota": quota });
    let release = json!({ "reservation_id": made["reservation_id"] });
    wait_for_standby(&world.pool, "nobody").await;
    let mut calls = Vec::new();
    // One wallet, on the same server and on another one. The retry and the refusals read what is not on disk.
    for (server, call, body, expected) in [
        (0, "charge", json!({ "key": world.key, "quota": 40, "request_id": "a" }), Ok(("remain_quota", 858))),
        (0, "charge", json!({ "key": world.key, "quota": 40, "request_id": "b" }), Ok(("remain_quota", 818))),
        (1, "charge", json!({ "key": world.key, "quota": 40, "request_id": "c" }), Ok(("remain_quota", 778))),
        (1, "charge", json!({ "key": world.key, "quota": 40, "request_id": "a" }), Ok(("remain_quota", 858))),
        (1, "charge", json!({ "key": world.key, "quota": 41, "request_id": "a" }), Err(REUSED)),
        (0, "settle", settle(70), Ok(("charged", 70))),
        (1, "settle", settle(70), Ok(("charged", 70))),
        (1, "release", release, Err(ENDED)),
    ] {
        calls.push((world.calls(server, call, body), expected));
        waiting(&world.pool, calls.len()).await;
    }
    assert!(calls.iter().all(|(call, _)| !call.is_finished()));
    wait_for_standby(&world.pool, "").await;
    for (call, expected) in calls {
        let answer = call.await.unwrap();
        match expected {
            Ok((field, value)) => assert_eq!(answer.ok()[field], value),
            Err(refusal) => refused(&answer, refusal),
        }
    }
    assert_ledger_invariants(&world.pool).await;
}

#[tokio::test]
async fn l4_a_charge_that_may_not_be_on_disk_is_refused_and_a_retry_finds_it() {
    let world = World::start(1, &[]).await;
    wait_for_standby(&world.pool, "nobody").await;
    let charge = json!({ "key": world.key, "quota": 40, "request_id": "a" });
    let unanswered = world.calls(0, "charge", charge.clone());
    end_waiting(&world.pool).await;
    refused(&unanswered.await.unwrap(), DATABASE_UNAVAILABLE);
    wait_for_standby(&world.pool, "").await;
    assert_eq!(world.calls(0, "charge", charge).await.unwrap().ok()["remain_quota"], 959);
    assert_ledger_invariants(&world.pool).await;
}

/// A retry would else be told of what can still be lost.
#[tokio::test]
async fn l4_a_change_that_finds_nothing_to_do_waits_for_the_change_before() {
    let world = World::start(1, &[]).await;
    let root = Arc::new(Client::root(&world.servers.running[0]).await);
    let id = root.creates(json!({ "name": "one" })).await.unwrap().0;
    wait_for_standby(&world.pool, "nobody").await;
    for _ in 0..2 {
        let root = Arc::clone(&root);
        let off =
            tokio::spawn(async move { root.put("/api/token/?status_only=1", json!({ "id": id, "status": 2 })).await });
        cancelled_until(&world.pool, || off.is_finished()).await;
        refused(&off.await.unwrap(), NOT_DURABLE);
    }
    wait_for_standby(&world.pool, "").await;
    root.put("/api/token/?status_only=1", json!({ "id": id, "status": 2 })).await.ok();
}

/// PostgreSQL reports success then, with a warning in the language of the server.
#[tokio::test]
async fn l4_a_charge_or_an_edit_whose_wait_for_the_standby_is_cancelled_is_not_durable() {
    let world = World::start(1, &[]).await;
    let root = Client::root(&world.servers.running[0]).await;
    sqlx::query("alter system set lc_messages = 'C'").execute(&world.pool).await.unwrap();
    wait_for_standby(&world.pool, "nobody").await;
    let charge = json!({ "key": world.key, "quota": 40, "request_id": "a" });
    let cancelled = world.calls(0, "charge", charge.clone());
    let pid = waiting(&world.pool, 1).await[0];
    sqlx::query("select pg_cancel_backend($1)").bind(pid).execute(&world.pool).await.unwrap();
    let answer = cancelled.await.unwrap();
    assert!(answer.header("retry-after").is_some());
    assert_eq!(answer.error_code(), Some("not_durable"));
    refused(&answer, NOT_DURABLE);

    let created = tokio::spawn(async move { root.post("/api/token/", json!({ "name": "one" })).await });
    cancelled_until(&world.pool, || created.is_finished()).await;
    refused(&created.await.unwrap(), NOT_DURABLE);

    wait_for_standby(&world.pool, "").await;
    assert_eq!(world.calls(0, "charge", charge).await.unwrap().ok()["remain_quota"], 959);
    assert_ledger_invariants(&world.pool).await;
}

#[tokio::test]
async fn l10_a_price_that_may_not_be_on_disk_is_looked_up_again() {
    let cluster = Cluster::start();
    let pool = PgPool::connect(&cluster.url()).await.unwrap();
    keymeter::storage::MIGRATOR.run(&pool).await.unwrap();
    let settings = NamedTempFile::new().unwrap();
    std::fs::write(settings.path(), "[prices]\n\"gpt-5\" = { prompt = \"2\", completion = \"10\" }\n").unwrap();
    let app = TestApp::with_file(pool.clone(), settings.path()).await;
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let charge = json!({ "key": key, "model": "gpt-5", "prompt_tokens": 10, "completion_tokens": 1 });
    wait_for_standby(&pool, "nobody").await;
    let (answer, ()) = tokio::join!(asks(&gateway, "charge", &charge), end_waiting(&pool));
    refused(&answer, DATABASE_UNAVAILABLE);
    wait_for_standby(&pool, "").await;
    // As if a crash had lost it, and another server had used the price since.
    let sql = "update prices set id = default; \
               update charges set price_id = (select id from prices) where price_id is not null";
    sqlx::raw_sql(sql).execute(&pool).await.unwrap();
    assert_eq!(asks(&gateway, "charge", &charge).await.ok()["charged"], 15);
    assert_ledger_invariants(&pool).await;
    pool.close().await;
}

/// The token was restored on another server, which charged it, and this one does not know yet.
#[tokio::test]
async fn l4_a_retry_that_finds_only_the_record_waits_for_the_disk_too() {
    let world = World::start(2, &[]).await;
    let delete = "update tokens set deleted_time = 1";
    sqlx::query(delete).execute(&world.pool).await.unwrap();
    eventually("this server does not know the key", async || {
        world.calls(0, "verify", json!({ "key": world.key })).await.unwrap().ok()["valid"] == false
    })
    .await;
    wait_for_standby(&world.pool, "nobody").await;
    let restore = "begin; set local synchronous_commit = off; update tokens set deleted_time = null; commit";
    sqlx::raw_sql(restore).execute(&world.pool).await.unwrap();
    let charge = json!({ "key": world.key, "quota": 40, "request_id": "a" });
    let charged = world.calls(1, "charge", charge.clone());
    waiting(&world.pool, 1).await;
    let retried = world.calls(0, "charge", charge);
    waiting(&world.pool, 2).await;
    assert!(!charged.is_finished() && !retried.is_finished());
    wait_for_standby(&world.pool, "").await;
    for answer in [charged, retried] {
        assert_eq!(answer.await.unwrap().ok()["remain_quota"], 958);
    }
}

/// As long as it is known, from a primary, that the key is no more. A standby can write no message.
#[tokio::test]
async fn l4_a_retry_after_the_token_was_deleted_gets_its_answer_from_a_standby_too() {
    let cluster = Cluster::start();
    let pool = PgPool::connect(&cluster.url()).await.unwrap();
    keymeter::storage::MIGRATOR.run(&pool).await.unwrap();
    let (app, ana, gateway) = app_with_wallet(pool.clone(), 1_000).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let charge = json!({ "key": key, "quota": 40, "request_id": "a" });
    let charged = asks(&gateway, "charge", &charge).await.ok();
    ana.delete(&format!("/api/token/{id}")).await.ok();
    assert_eq!(asks(&gateway, "charge", &charge).await.ok(), charged);
    cluster.stop();
    cluster.resume_as_standby();
    assert_eq!(asks(&gateway, "charge", &charge).await.ok(), charged);
    drop(app);
    pool.close().await;
}
