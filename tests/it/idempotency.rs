//! Specification §11: a `request_id` charges once.

use serde_json::json;
use sqlx::PgPool;

use crate::harness::gateway::{INVALID_KEY, REUSED, TOKEN_SHORT, app_with_wallet, asks, balances, edits, refused};

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l4_a_request_id_charges_once_and_belongs_to_one_request(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let other = app.gateway().await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let (_, second) = ana.creates_with_key(json!({ "name": "two", "remain_quota": 100 })).await;
    let body = json!({
        "key": key, "quota": 40, "request_id": "r 1", "model": "o1", "ip": "10.1.2.3", "prompt_tokens": 7,
        "completion_tokens": 3,
    });
    let made = |left: i64| {
        json!({
            "charged": 40, "remain_quota": left, "request_id": "r 1", "token_id": id, "user_id": ana.id, "name": "one",
            "group": "default",
        })
    };
    let charged = made(60);
    let answers = futures_util::future::join_all((0..20).map(|_| asks(&gateway, "charge", &body))).await;
    for answer in &answers {
        assert_eq!(answer.ok(), charged);
    }
    let changes = [
        ("quota", json!(41)),
        ("quota", json!(0)),
        ("model", json!("o2")),
        ("model", json!(null)),
        ("ip", json!("10.1.2.4")),
        ("prompt_tokens", json!(8)),
        ("completion_tokens", json!(null)),
        ("key", json!(second)),
    ];
    for (field, value) in changes {
        let mut changed = body.clone();
        changed[field] = value;
        refused(&asks(&gateway, "charge", &changed).await, REUSED);
    }
    assert_eq!(balances(&app, &ana, &key).await, [40, 60, 40, 960]);
    let by_other = asks(&other, "charge", &body).await.ok();
    assert_eq!(by_other, made(20));
    let short = json!({ "key": key, "quota": 21, "request_id": "r 2" });
    refused(&asks(&gateway, "charge", &short).await, TOKEN_SHORT);
    edits(&ana, id, json!({ "remain_quota": 21 })).await;
    assert_eq!(asks(&gateway, "charge", &short).await.ok()["remain_quota"], 0, "a refused charge is not recorded");
    ana.put("/api/token/?status_only=1", json!({ "id": id, "status": 2 })).await.ok();
    assert_eq!(asks(&gateway, "charge", &body).await.ok(), charged, "a retry gets the first answer");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l4_a_retry_gets_the_first_answer_even_after_the_token_was_deleted(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let charge = |quota: i64, request_id: &str| json!({ "key": key, "quota": quota, "request_id": request_id });
    let charged = asks(&gateway, "charge", &charge(40, "r1")).await.ok();
    ana.delete(&format!("/api/token/{id}")).await.ok();
    // The other server has never seen the token.
    for gateway in [&gateway, &gateway.at(&app.server_ahead(0))] {
        assert_eq!(asks(gateway, "charge", &charge(40, "r1")).await.ok(), charged);
        refused(&asks(gateway, "charge", &charge(41, "r1")).await, REUSED);
        refused(&asks(gateway, "charge", &charge(40, "r2")).await, INVALID_KEY);
    }
}
