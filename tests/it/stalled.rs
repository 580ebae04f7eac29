//! A commit that waits for a standby for longer than `ledger.patience_seconds`: changes are refused until it has ended,
//! keys are verified and reads are answered.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::json;
use sqlx::PgPool;

use crate::harness::gateway::{NOT_DURABLE, refused};
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::wait::eventually;
use crate::harness::{Answer, Client};
use crate::ledger_flush::{World, wait_for_standby};

const PATIENCE: (&str, &str) = ("KEYMETER_LEDGER__PATIENCE_SECONDS", "1");

const BUSY: (u16, &str, &str) = (503, "ledger_busy", "the ledger is busy; retry shortly");

/// Processes of PostgreSQL that wait for a standby.
async fn waiting(pool: &PgPool) -> i64 {
    let waiting = "select count(*) from pg_stat_activity where wait_event = 'SyncRep'";
    sqlx::query_scalar(waiting).fetch_one(pool).await.unwrap()
}

/// How long the oldest commit has waited, by the metric.
async fn oldest(stranger: &Client) -> f64 {
    let metrics = stranger.get("/metrics").await.text;
    let line = metrics.lines().find_map(|line| line.strip_prefix("keymeter_flush_oldest_seconds "));
    line.unwrap().parse().unwrap()
}

fn code(answer: &Answer) -> String {
    answer.error_code().unwrap_or("ok").to_owned()
}

#[tokio::test]
async fn while_no_standby_is_left_changes_are_refused_and_the_rest_goes_on() {
    let world = World::start(1, &[PATIENCE]).await;
    let server = &world.servers.running[0];
    let root = Arc::new(Client::root(server).await);
    let mut ids = Vec::new();
    for n in 0..60 {
        ids.push(root.creates(json!({ "name": format!("{n}") })).await.unwrap().0);
    }
    let stranger = Client::stranger(server);
    assert_eq!(stranger.get("/readyz").await.ok()["degraded"], json!([]));
    wait_for_standby(&world.pool, "nobody").await;

    // Charges and edits without a pause, many more than there are connections.
    let end = Instant::now() + Duration::from_secs(6);
    let mut changes = Vec::new();
    for (n, id) in ids.into_iter().enumerate() {
        let (root, gateway, key) = (Arc::clone(&root), world.servers.gateway(0), world.key.clone());
        changes.push(tokio::spawn(async move {
            let (mut codes, mut committed) = (BTreeMap::<String, u32>::new(), Vec::new());
            for round in 0.. {
                if Instant::now() > end {
                    break;
                }
                let answer = if n % 2 == 0 {
                    let request = format!("{n}-{round}");
                    let charge = json!({ "key": key, "quota": 1, "request_id": request });
                    let answer = gateway.post("/api/gateway/charge", charge).await;
                    if code(&answer) == "not_durable" {
                        refused(&answer, NOT_DURABLE);
                        committed.push(request);
                    }
                    answer
                } else {
                    let edit = json!({ "id": id, "name": format!("{n}-{round}") });
                    root.put("/api/token/", edit).await
                };
                *codes.entry(code(&answer)).or_default() += 1;
                if code(&answer).ends_with("_busy") {
                    tokio::time::sleep(Duration::from_millis(20)).await;
                }
            }
            (codes, committed)
        }));
    }
    eventually("the server is degraded", async || {
        stranger.get("/readyz").await.ok()["degraded"] == json!(["not_durable"])
    })
    .await;
    let before = waiting(&world.pool).await;
    // Verified, and read by people, as before.
    while Instant::now() + Duration::from_millis(500) < end {
        let verified = world.calls(0, "verify", json!({ "key": world.key })).await.unwrap().ok();
        assert_eq!(verified["valid"], true);
        root.get("/api/token/").await.ok();
        root.get("/api/usage").await.ok();
        stranger.get("/readyz").await.ok();
        let answer = stranger.get("/readyz?durable").await;
        assert_eq!((answer.status.as_u16(), answer.error_code()), (503, Some("not_durable")));
        assert!(oldest(&stranger).await > 1.0);
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(waiting(&world.pool).await <= before, "connections do not pile up");
    assert!(before <= 24, "{before}");

    let mut seen = BTreeSet::new();
    let mut committed = Vec::new();
    for change in changes {
        let (codes, requests) = change.await.unwrap();
        seen.extend(codes.into_keys());
        committed.extend(requests);
    }
    // Requests that ended before the wait, those that told that it may be lost, and those that began nothing.
    assert!(seen.iter().all(|code| ["ok", "not_durable", "ledger_busy", "server_busy"].contains(&&**code)), "{seen:?}");
    assert!(["not_durable", "ledger_busy", "server_busy"].iter().all(|code| seen.contains(*code)), "{seen:?}");
    assert!(!committed.is_empty());

    wait_for_standby(&world.pool, "").await;
    eventually("the server is whole again", async || stranger.get("/readyz?durable").await.status == 200).await;
    // What was committed stays, and a retry finds it.
    let count = "select count(*) from charges";
    let charges: i64 = sqlx::query_scalar(count).fetch_one(&world.pool).await.unwrap();
    for request in committed {
        world.calls(0, "charge", json!({ "key": world.key, "quota": 1, "request_id": request })).await.unwrap().ok();
    }
    assert_eq!(sqlx::query_scalar::<_, i64>(count).fetch_one(&world.pool).await.unwrap(), charges);
    assert_ledger_invariants(&world.pool).await;
}

#[tokio::test]
async fn a_key_that_is_disabled_meanwhile_is_refused_at_once_on_every_server() {
    let world = World::start(2, &[PATIENCE]).await;
    let root = Client::root(&world.servers.running[0]).await;
    let id = root.creates(json!({ "name": "one", "unlimited_quota": true })).await.unwrap();
    for server in [0, 1] {
        assert_eq!(world.calls(server, "verify", json!({ "key": id.1 })).await.unwrap().ok()["valid"], true);
    }
    wait_for_standby(&world.pool, "nobody").await;
    let off = root.put("/api/token/?status_only=1", json!({ "id": id.0, "status": 2 })).await;
    refused(&off, NOT_DURABLE);
    assert_eq!(world.calls(0, "verify", json!({ "key": id.1 })).await.unwrap().ok()["valid"], false);
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(world.calls(1, "verify", json!({ "key": id.1 })).await.unwrap().ok()["valid"], false);
    let charge = world.calls(0, "charge", json!({ "key": world.key, "quota": 1 })).await.unwrap();
    refused(&charge, BUSY);
    wait_for_standby(&world.pool, "").await;
}

#[tokio::test]
async fn a_wait_that_postgresql_knows_of_is_not_given_up() {
    let world = World::start(1, &[PATIENCE]).await;
    let stranger = Client::stranger(&world.servers.running[0]);
    wait_for_standby(&world.pool, "nobody").await;
    refused(&world.calls(0, "charge", json!({ "key": world.key, "quota": 1 })).await.unwrap(), NOT_DURABLE);
    // The server asks PostgreSQL after ten seconds.
    tokio::time::sleep(Duration::from_secs(12)).await;
    assert_eq!(stranger.get("/readyz").await.ok()["degraded"], json!(["not_durable"]));
    assert_eq!(waiting(&world.pool).await, 1);
    wait_for_standby(&world.pool, "").await;
    eventually("the server is whole again", async || stranger.get("/readyz?durable").await.status == 200).await;
}

#[tokio::test]
async fn a_server_stops_while_no_standby_is_left() {
    let mut world = World::start(1, &[PATIENCE]).await;
    wait_for_standby(&world.pool, "nobody").await;
    refused(&world.calls(0, "charge", json!({ "key": world.key, "quota": 1 })).await.unwrap(), NOT_DURABLE);
    assert_eq!(world.servers.running[0].terminate(), Some(0));
    wait_for_standby(&world.pool, "").await;
}
