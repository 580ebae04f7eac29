//! Specification §15.4: many tokens in one call, all or none.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::gateway::{app_with_wallet, asks};
use crate::harness::{Answer, Caller, TestApp};

async fn creates(ana: &Caller, tokens: Value) -> Answer {
    ana.post("/api/token/bulk", json!({ "tokens": tokens })).await
}

async fn changes(ana: &Caller, ids: &[i64], set: Value) -> Answer {
    ana.patch("/api/token/bulk", json!({ "ids": ids, "set": set })).await
}

async fn total(ana: &Caller) -> i64 {
    ana.page("/api/token/", "id").await.1
}

/// Some tokens of ana, by their ids.
async fn some_tokens(ana: &Caller, count: usize) -> Vec<i64> {
    let tokens: Vec<Value> = (0..count).map(|n| json!({ "name": format!("t{n}"), "remain_quota": 10 })).collect();
    let made = creates(ana, json!(tokens)).await.ok();
    made.as_array().unwrap().iter().map(|token| token["id"].as_i64().unwrap()).collect()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_4_a_hundred_tokens_are_created_with_their_keys(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let tokens: Vec<Value> = (0..100).map(|n| json!({ "name": format!("t{n}"), "remain_quota": n })).collect();
    let answer = creates(&ana, json!(tokens)).await;
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let made = answer.ok();
    let made = made.as_array().unwrap();
    assert_eq!(made.len(), 100);
    for (n, token) in made.iter().enumerate() {
        assert_eq!((&token["name"], &token["remain_quota"]), (&json!(format!("t{n}")), &json!(n)));
    }
    let keys: BTreeSet<&str> = made.iter().map(|token| token["key"].as_str().unwrap()).collect();
    assert_eq!(keys.len(), 100);
    asks(&gateway, "charge", &json!({ "key": made[7]["key"], "quota": 7 })).await.ok();
    let lines = app.root().await.get("/api/admin/audit?action=token.created").await.ok();
    assert_eq!(lines["total"], 100);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_4_one_bad_token_refuses_all_and_is_named(pool: PgPool) {
    let (app, ana, _) = app_with_wallet(pool, 1_000).await;
    let good = json!({ "name": "good" });
    for (bad, code) in [
        (json!({ "name": "" }), "invalid_name"),
        (json!({ "name": "x", "monthly_limit": 5 }), "invalid_field"),
        (json!({ "name": 5 }), "invalid_field"),
        (json!("x"), "invalid_field"),
        (json!({ "name": "x", "group": "nobody's" }), "invalid_group"),
        (json!({ "name": "x", "remain_quota": -1 }), "invalid_quota"),
    ] {
        let answer = creates(&ana, json!([good, good, bad])).await;
        answer.refuses(400, code);
        assert_eq!(answer.json()["index"], 2, "{bad}");
    }
    let set = (400, "invalid_field", "`set` must be an object");
    ana.patch("/api/token/bulk", json!({ "ids": [1], "set": 5 })).await.is(set);
    assert_eq!(total(&ana).await, 0);
    let entries = "`tokens` must have 1 to 100 entries";
    creates(&ana, json!([])).await.is((400, "invalid_tokens", entries));
    creates(&ana, json!(vec![good.clone(); 101])).await.is((400, "invalid_tokens", entries));
    ana.post("/api/token/bulk", json!({})).await.is((400, "missing_field", "`tokens` is required"));
    let path = format!("/api/admin/users/{}", ana.id);
    app.root().await.patch(&path, json!({ "max_tokens": 2 })).await.ok();
    let answer = creates(&ana, json!([good, good, good])).await;
    answer.is((409, "token_limit_reached", "this account has reached its limit of 2 tokens; delete one first"));
    assert_eq!(answer.json().get("index"), None);
    creates(&ana, json!([good, good])).await.ok();
    assert_eq!(total(&ana).await, 2);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_4_tokens_are_changed_together(pool: PgPool) {
    let (app, ana, _) = app_with_wallet(pool, 1_000).await;
    let ids = some_tokens(&ana, 3).await;
    let set =
        json!({ "add_quota": 5, "note": "team", "model_limits_enabled": true, "model_limits": "o1", "status": 2 });
    let changed = changes(&ana, &[ids[2], ids[0], ids[2]], set).await.ok();
    let changed = changed.as_array().unwrap();
    assert_eq!(changed.iter().map(|token| token["id"].clone()).collect::<Vec<_>>(), [json!(ids[0]), json!(ids[2])]);
    for token in changed {
        let fields = ["remain_quota", "note", "model_limits", "status", "key"].map(|field| token[field].clone());
        assert_eq!(fields, [json!(15), json!("team"), json!("o1"), json!(2), json!("")]);
        let read = ana.get(&format!("/api/token/{}/details", token["id"])).await.ok();
        assert_eq!(read, *token);
    }
    let other = ana.get(&format!("/api/token/{}/details", ids[1])).await.ok();
    assert_eq!((&other["note"], &other["remain_quota"]), (&json!(""), &json!(10)));
    let root = app.root().await;
    for (action, lines) in [("token.edited", 2), ("token.disabled", 2)] {
        assert_eq!(root.get(&format!("/api/admin/audit?action={action}")).await.ok()["total"], lines);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_4_one_token_that_cannot_change_keeps_all_as_they_are(pool: PgPool) {
    let (app, ana, _) = app_with_wallet(pool, 1_000).await;
    let ids = some_tokens(&ana, 3).await;
    let ben = app.enabled_user("ben").await;
    let foreign = some_tokens(&ben, 1).await[0];
    let refused = async |ids: &[i64], set: Value, (status, code, at): (u16, &str, Option<i64>)| {
        let answer = changes(&ana, ids, set).await;
        answer.refuses(status, code);
        assert_eq!(answer.json().get("id").and_then(Value::as_i64), at, "{code}");
    };
    refused(&[ids[0], foreign], json!({ "note": "x" }), (404, "not_found", Some(foreign))).await;
    refused(&[ids[0], 0], json!({ "note": "x" }), (404, "not_found", Some(0))).await;
    ana.put("/api/token/", json!({ "id": ids[1], "remain_quota": 3 })).await.ok();
    refused(&ids, json!({ "add_quota": -5, "note": "x" }), (409, "insufficient_quota", Some(ids[1]))).await;
    let path = format!("/api/admin/tokens/{}/status", ids[2]);
    app.root().await.post(&path, json!({ "status": 2 })).await.ok();
    refused(&ids, json!({ "status": 1, "note": "x" }), (403, "switched_off_by_root", Some(ids[2]))).await;
    refused(&ids, json!({ "status": 7 }), (400, "invalid_status", None)).await;
    refused(&ids, json!({ "group": "nobody's" }), (400, "invalid_group", None)).await;
    refused(&ids, json!({ "remain_quota": 1, "add_quota": 1 }), (400, "invalid_quota", None)).await;
    refused(&ids, json!({ "day_limit": 1 }), (400, "invalid_field", None)).await;
    refused(&[], json!({ "note": "x" }), (400, "invalid_ids", None)).await;
    let many: Vec<i64> = (1..=1_001).collect();
    refused(&many, json!({ "note": "x" }), (400, "invalid_ids", None)).await;
    ana.patch("/api/token/bulk", json!({ "ids": ids, "set": {}, "period_limits": {} }))
        .await
        .refuses(400, "invalid_field");
    ana.patch("/api/token/bulk", json!({ "ids": ids })).await.is((400, "missing_field", "`set` is required"));
    let (notes, _) = ana.page("/api/token/", "note").await;
    assert_eq!(notes, [json!(""), json!(""), json!("")]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_4_a_thousand_tokens_are_changed_in_one_call(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let mut ids = Vec::new();
    for _ in 0..10 {
        ids.extend(some_tokens(&ana, 100).await);
    }
    let changed = changes(&ana, &ids, json!({ "add_quota": 1 })).await.ok();
    assert_eq!(changed.as_array().unwrap().len(), 1_000);
    let sum: i64 =
        sqlx::query_scalar("select sum(remain_quota)::bigint from tokens").fetch_one(&app.pool).await.unwrap();
    assert_eq!(sum, 11_000);
}
