//! L6 on three servers that hear nothing of each other's changes, as if every notification was lost: a charge goes by
//! the policy that is in force when it is made, whatever its server remembers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::task::JoinSet;

use crate::harness::answer::Refusal;
use crate::harness::gateway::{
    INVALID_KEY, IP_NOT_ALLOWED, MODEL_NOT_ALLOWED, TOKEN_DISABLED, TOKEN_EXPIRED, app_with_wallet, asks, edits,
    refused,
};
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::{Caller, START, TestApp};

/// A gateway at three servers. Servers of a test listen to no notifications.
fn at_three_servers(app: &TestApp, gateway: &Caller) -> [Caller; 3] {
    [gateway.clone(), gateway.at(&app.server_ahead(0)), gateway.at(&app.server_ahead(1))]
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l6_a_charge_goes_by_a_change_that_its_server_has_not_heard_of(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000_000).await;
    let servers = at_three_servers(&app, &gateway);
    let changes: [(&str, Value, Value, Refusal); 5] = [
        (
            "model",
            json!({ "model_limits_enabled": true, "model_limits": "o2" }),
            json!({ "model_limits_enabled": false }),
            MODEL_NOT_ALLOWED,
        ),
        ("address", json!({ "allow_ips": "10.0.0.0/8" }), json!({ "allow_ips": "" }), IP_NOT_ALLOWED),
        ("expiry", json!({ "expired_time": START }), json!({ "expired_time": -1 }), TOKEN_EXPIRED),
        ("disabled", json!({ "status": 2 }), json!({ "status": 1 }), TOKEN_DISABLED),
        ("deleted", Value::Null, Value::Null, INVALID_KEY),
    ];
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100_000 })).await;
    let change = async |fields: &Value| match fields.get("status") {
        Some(status) => drop(ana.put("/api/token/?status_only=1", json!({ "id": id, "status": status })).await.ok()),
        None if fields.is_null() => drop(ana.delete(&format!("/api/token/{id}")).await.ok()),
        None => edits(&ana, id, fields.clone()).await,
    };
    let body = json!({ "key": key, "quota": 1, "model": "o1", "ip": "192.0.2.1" });
    for (name, stricter, looser, refusal) in changes {
        for gateway in &servers {
            asks(gateway, "charge", &body).await.ok();
        }
        change(&stricter).await;
        for (server, gateway) in servers.iter().enumerate() {
            for call in ["charge", "reserve"] {
                println!("{name}: {call} at server {server}");
                refused(&asks(gateway, call, &body).await, refusal);
            }
        }
        // Back: the servers that have now remembered the stricter policy admit at once.
        if !looser.is_null() {
            change(&looser).await;
        }
    }
    assert_ledger_invariants(&app.pool).await;
}

/// While charges run at three servers, the token is disabled and enabled again and again, and deleted in the end. A
/// charge that begins after the answer to "disabled" and ends before the next "enabled" is sent is never made.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l6_no_charge_is_made_between_disabling_and_enabling_under_load(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000_000).await;
    let servers = at_three_servers(&app, &gateway);
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    // Odd while the token is certainly disabled: raised after the answer to "disabled" and before "enabled" is sent.
    let phase = Arc::new(AtomicI64::new(0));
    let is_over = Arc::new(AtomicBool::new(false));
    let mut charging = JoinSet::new();
    for gateway in servers.iter().cycle().take(6) {
        let gateway = gateway.clone();
        let (phase, is_over, body) = (Arc::clone(&phase), Arc::clone(&is_over), json!({ "key": key, "quota": 1 }));
        charging.spawn(async move {
            let (mut made, mut refused_while_disabled) = (0, 0);
            while !is_over.load(Ordering::SeqCst) {
                // An unknown key is refused without waiting for anything.
                tokio::task::yield_now().await;
                let before = phase.load(Ordering::SeqCst);
                let answer = asks(&gateway, "charge", &body).await;
                let was_disabled = before % 2 == 1 && phase.load(Ordering::SeqCst) == before;
                assert!(!was_disabled || answer.status != 200, "charged while disabled: {answer:?}");
                made += i64::from(answer.status == 200);
                refused_while_disabled += i64::from(was_disabled);
            }
            (made, refused_while_disabled)
        });
    }
    for _ in 0..15 {
        ana.put("/api/token/?status_only=1", json!({ "id": id, "status": 2 })).await.ok();
        phase.fetch_add(1, Ordering::SeqCst);
        for gateway in &servers {
            refused(&asks(gateway, "charge", &json!({ "key": key, "quota": 1 })).await, TOKEN_DISABLED);
        }
        phase.fetch_add(1, Ordering::SeqCst);
        ana.put("/api/token/?status_only=1", json!({ "id": id, "status": 1 })).await.ok();
        for gateway in &servers {
            asks(gateway, "charge", &json!({ "key": key, "quota": 1 })).await.ok();
        }
    }
    ana.delete(&format!("/api/token/{id}")).await.ok();
    phase.fetch_add(1, Ordering::SeqCst);
    for gateway in &servers {
        refused(&asks(gateway, "charge", &json!({ "key": key, "quota": 1 })).await, INVALID_KEY);
    }
    is_over.store(true, Ordering::SeqCst);
    let counts = charging.join_all().await;
    assert!(counts.iter().all(|(made, refused)| *made > 0 && *refused > 0), "the race was run: {counts:?}");
    assert_ledger_invariants(&app.pool).await;
}

/// A failover to a standby can lose an edit. The next edit must not get its version: a server remembers the lost
/// policy.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l6_a_policy_that_a_failover_lost_never_decides_again(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 100).await;
    let there = gateway.at(&app.server_ahead(0));
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    let body = json!({ "key": key, "quota": 1 });
    let before: i64 = version(&app.pool, id).await;
    edits(&ana, id, json!({ "note": "harmless" })).await;
    asks(&there, "charge", &body).await.ok();
    sqlx::query("update tokens set version = $2, note = '' where id = $1")
        .bind(id)
        .bind(before)
        .execute(&app.pool)
        .await
        .unwrap();
    app.clock.advance(1);
    ana.put("/api/token/?status_only=1", json!({ "id": id, "status": 2 })).await.ok();
    refused(&asks(&there, "charge", &body).await, TOKEN_DISABLED);
}

async fn version(pool: &PgPool, id: i64) -> i64 {
    sqlx::query_scalar("select version from tokens where id = $1").bind(id).fetch_one(pool).await.unwrap()
}
