//! `state` of a token: whether its key works now, and why not (spec §2.1).

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::gateway::{app_with_wallet, asks};
use crate::harness::limits::DAY_ENDS;
use crate::harness::{Caller, TestApp};

/// `state` and `state_until` as all calls show them to the owner and to an administrator.
async fn state(app: &TestApp, owner: &Caller, token: i64) -> (Value, Value) {
    let admin = app.root().await;
    let calls = [
        owner.get(&format!("/api/token/{token}")).await.ok(),
        owner.get(&format!("/api/token/{token}/details")).await.ok(),
        owner.get("/api/token/").await.ok()["items"][0].clone(),
        owner.get("/api/token/search?keyword=one").await.ok()["items"][0].clone(),
        admin.get(&format!("/api/admin/tokens/{token}")).await.ok(),
        admin.get("/api/admin/tokens").await.ok()["items"][0].clone(),
    ];
    let states: Vec<_> = calls.iter().map(|body| (body["state"].clone(), body["state_until"].clone())).collect();
    assert!(states.iter().all(|state| *state == states[0]), "{states:?}");
    states[0].clone()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_list_says_whether_a_key_works_and_until_when_it_does_not(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 100).await;
    let account = format!("/api/admin/users/{}", ana.id);
    let root = app.root().await;
    let limits = json!({ "name": "one", "remain_quota": 50, "period_limits": { "day": 7 } });
    let (one, key) = ana.creates_with_key(limits).await;
    let shown = async || state(&app, &ana, one).await;
    assert_eq!(shown().await, (json!("working"), Value::Null));

    asks(&gateway, "charge", &json!({ "key": key, "quota": 7 })).await.ok();
    assert_eq!(shown().await, (json!("key_limit_reached"), json!(DAY_ENDS)));
    let overview = ana.get("/api/user/self/overview").await.ok();
    assert_eq!(overview["attention"][0]["reason"], "limit_reached");
    assert_eq!((&overview["account_state"], &overview["account_state_until"]), (&json!("working"), &Value::Null));

    ana.put("/api/token/", json!({ "id": one, "period_limits": { "day": -1 } })).await.ok();
    root.patch(&account, json!({ "period_limits": { "day": 7 } })).await.ok();
    assert_eq!(shown().await, (json!("account_limit_reached"), json!(DAY_ENDS)));
    let overview = ana.get("/api/user/self/overview").await.ok();
    assert_eq!(overview["attention_total"], 0, "the account is the reason, not the key");
    let said = (&overview["account_state"], &overview["account_state_until"]);
    assert_eq!(said, (&json!("account_limit_reached"), &json!(DAY_ENDS)));

    root.patch(&account, json!({ "period_limits": { "day": -1 } })).await.ok();
    app.fills(&ana, 0).await;
    assert_eq!(shown().await, (json!("account_empty"), Value::Null));
    ana.put("/api/token/", json!({ "id": one, "remain_quota": 0 })).await.ok();
    assert_eq!(shown().await, (json!("used_up"), Value::Null));
    ana.put("/api/token/?status_only=1", json!({ "id": one, "status": 2 })).await.ok();
    assert_eq!(shown().await, (json!("disabled"), Value::Null));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_key_without_any_quota_does_not_work_although_its_status_is_enabled(pool: PgPool) {
    let (app, ana, _gateway) = app_with_wallet(pool, 100).await;
    let one = ana.creates(json!({ "name": "one", "remain_quota": 0 })).await;
    assert_eq!(ana.get(&format!("/api/token/{one}")).await.ok()["status"], 1);
    assert_eq!(state(&app, &ana, one).await, (json!("used_up"), Value::Null));
}
