//! `GET /api/user/self/overview`: the spend of the last seven days, and the tokens that need attention.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{START, TestApp};

const DAY: i64 = 86_400;

async fn overview(caller: &crate::harness::Caller) -> Value {
    caller.get("/api/user/self/overview").await.ok()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn spend_is_summed_over_all_tokens_of_the_user_and_no_other_tokens(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let gateway = app.gateway().await;
    let (ana, bob) = (app.enabled_user("ana").await, app.enabled_user("bob").await);
    let mut keys = Vec::new();
    for caller in [&ana, &ana, &bob] {
        app.fills(caller, 10_000_000).await;
        keys.push(caller.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await);
    }
    let charge = async |key: &str, quota: i64, counts: [i64; 2]| {
        let body = json!({ "key": key, "quota": quota, "prompt_tokens": counts[0], "completion_tokens": counts[1] });
        gateway.post("/api/gateway/charge", body).await.ok();
    };
    charge(&keys[0].1, 1, [9, 9]).await;
    app.clock.advance(DAY);
    charge(&keys[0].1, 500_001, [10, 1]).await;
    app.clock.advance(6 * DAY);
    charge(&keys[0].1, 2, [0, 0]).await;
    charge(&keys[1].1, 5, [3, 4]).await;
    charge(&keys[2].1, 7, [9, 9]).await;
    ana.delete(&format!("/api/token/{}", keys[1].0)).await.ok();
    let shown = overview(&ana).await;
    let day = |n: i64| {
        let time = chrono::DateTime::from_timestamp(START + n * DAY, 0).unwrap();
        time.format("%Y-%m-%d").to_string()
    };
    let entry = |n: i64, usd: f64, requests: i64, prompt: i64, completion: i64| {
        json!({
            "date": day(n), "usd": usd, "requests": requests, "prompt_tokens": prompt, "completion_tokens": completion,
        })
    };
    let daily = shown["daily"].as_array().unwrap();
    assert_eq!((&shown["start_date"], &shown["end_date"], daily.len()), (&json!(day(1)), &json!(day(7)), 7));
    assert_eq!(daily[0], entry(1, 1.000_002, 1, 10, 1));
    assert_eq!(daily[1]["requests"], 0);
    assert_eq!(daily[6], entry(7, 0.000_014, 2, 3, 4));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn tokens_that_need_attention_are_listed_in_order_of_urgency_and_all_are_counted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let gateway = app.gateway().await;
    let ana = app.enabled_user("ana").await;
    app.fills(&ana, 10_000).await;
    let spend = async |token: Value, quota: i64| {
        let (id, key) = ana.creates_with_key(token).await;
        gateway.post("/api/gateway/charge", json!({ "key": key, "quota": quota })).await.ok();
        id
    };
    let expired = ana.creates(json!({ "name": "over", "expired_time": START - 1, "remain_quota": 5 })).await;
    let exhausted = spend(json!({ "name": "empty", "remain_quota": 10 }), 10).await;
    let nearly = spend(json!({ "name": "low", "remain_quota": 100 }), 91).await;
    spend(json!({ "name": "fine", "remain_quota": 100 }), 90).await;
    let soon = ana.creates(json!({ "name": "soon", "expired_time": START + 7 * DAY, "remain_quota": 5 })).await;
    let off = ana.creates(json!({ "name": "off", "expired_time": START - 1, "remain_quota": 5 })).await;
    ana.put("/api/token/?status_only=1", json!({ "id": off, "status": 2 })).await.ok();
    // The charges left 9,809 in the wallet.
    ana.creates(json!({ "name": "as much as the wallet", "remain_quota": 9_809 })).await;
    let exceeding = ana.creates(json!({ "name": "more than the wallet", "remain_quota": 9_810 })).await;
    let shown = overview(&ana).await;
    assert_eq!(shown["tokens"], json!({ "total": 8, "enabled": 5, "disabled": 1, "expired": 1, "exhausted": 1 }));
    let attention = shown["attention"].as_array().unwrap();
    let listed: Vec<_> =
        attention.iter().map(|one| (one["reason"].as_str().unwrap(), one["token"]["id"].clone())).collect();
    let expected = [
        ("expires_soon", soon),
        ("nearly_spent", nearly),
        ("exhausted", exhausted),
        ("expired", expired),
        ("exceeds_wallet", exceeding),
    ];
    assert_eq!(listed, expected.map(|(reason, id)| (reason, json!(id))));
    assert_eq!(shown["attention_total"], 5);
    assert!(attention.iter().all(|one| one["token"]["key"] == ""), "the overview shows no keys");
    for number in 0..21 {
        ana.creates(json!({ "name": format!("{number}"), "expired_time": START - 1, "remain_quota": 5 })).await;
    }
    let shown = overview(&ana).await;
    assert_eq!((shown["attention"].as_array().unwrap().len(), &shown["attention_total"]), (20, &json!(26)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_user_without_tokens_has_an_empty_overview(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let shown = overview(&app.user("eve").await).await;
    assert_eq!((&shown["attention"], &shown["tokens"]["total"]), (&json!([]), &json!(0)));
    let daily = shown["daily"].as_array().unwrap();
    assert_eq!(daily.len(), 7);
    assert!(daily.iter().all(|day| day["usd"] == json!(0)), "{daily:?}");
}
