//! Specification §11: a `request_id` charges or reserves once.

use serde_json::json;
use sqlx::PgPool;

use crate::harness::gateway::{
    ENDED, INVALID_KEY, REUSED, TOKEN_SHORT, app_with_wallet, asks, balances, edits, refused, releases, settles,
};
use crate::harness::ledger_invariants::assert_ledger_invariants;

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
            "charged": 40, "remain_quota": left, "priced_by": "told", "request_id": "r 1", "token_id": id,
            "user_id": ana.id, "name": "one",
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

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l4_a_request_id_reserves_once_and_belongs_to_one_request(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let other = app.gateway().await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let (_, second) = ana.creates_with_key(json!({ "name": "two", "remain_quota": 100 })).await;
    let body = json!({
        "key": key, "quota": 40, "request_id": "r 1", "model": "o1", "ip": "10.1.2.3", "ttl_seconds": 300,
    });
    let answers = futures_util::future::join_all((0..20).map(|_| asks(&gateway, "reserve", &body))).await;
    let made = answers[0].ok();
    let seen = ["reserved", "remain_quota", "request_id", "token_id"].map(|field| made[field].clone());
    assert_eq!(seen, [json!(40), json!(60), json!("r 1"), json!(id)]);
    for answer in &answers {
        assert_eq!(answer.ok(), made);
    }
    let changes = [
        ("quota", json!(41)),
        ("quota", json!(0)),
        ("ttl_seconds", json!(301)),
        ("ttl_seconds", json!(null)),
        ("model", json!("o2")),
        ("model", json!(null)),
        ("ip", json!("10.1.2.4")),
        ("key", json!(second)),
    ];
    for (field, value) in changes {
        let mut changed = body.clone();
        changed[field] = value;
        refused(&asks(&gateway, "reserve", &changed).await, REUSED);
    }
    // Charges and reservations of a gateway share one space of ids.
    let charge = json!({ "key": key, "quota": 40, "request_id": "r 1", "model": "o1", "ip": "10.1.2.3" });
    refused(&asks(&gateway, "charge", &charge).await, REUSED);
    let charge = json!({ "key": key, "quota": 5, "request_id": "r 2" });
    asks(&gateway, "charge", &charge).await.ok();
    refused(&asks(&gateway, "reserve", &charge).await, REUSED);
    assert_eq!(balances(&app, &ana, &key).await, [45, 55, 45, 955]);

    let by_other = asks(&other, "reserve", &body).await.ok();
    assert_ne!(by_other["reservation_id"], made["reservation_id"]);
    let short = json!({ "key": key, "quota": 16, "request_id": "r 3" });
    refused(&asks(&gateway, "reserve", &short).await, TOKEN_SHORT);
    edits(&ana, id, json!({ "remain_quota": 16 })).await;
    assert_eq!(
        asks(&gateway, "reserve", &short).await.ok()["remain_quota"],
        0,
        "a refused reservation is not recorded"
    );
    ana.put("/api/token/?status_only=1", json!({ "id": id, "status": 2 })).await.ok();
    assert_eq!(asks(&gateway, "reserve", &body).await.ok(), made, "a retry gets the first answer");
    assert_ledger_invariants(&app.pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l4_a_repeated_reserve_is_refused_after_its_reservation_ended(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 1_000 })).await;
    let body = |id: &str| json!({ "key": key, "quota": 40, "request_id": id, "ttl_seconds": 300 });
    let reserve = async |id: &str| asks(&gateway, "reserve", &body(id)).await;
    for id in ["settled", "released", "overdue", "expired"] {
        let made = reserve(id).await.ok()["reservation_id"].clone();
        match id {
            "settled" => drop(settles(&gateway, &made, 10).await.ok()),
            "released" => drop(releases(&gateway, &made).await.ok()),
            "overdue" => {
                app.clock.advance(299);
                assert_eq!(reserve(id).await.ok()["reservation_id"], made);
                app.clock.advance(1);
            }
            _ => {
                app.clock.advance(300);
                app.expire_overdue().await;
            }
        }
        for gateway in [&gateway, &gateway.at(&app.server_ahead(0))] {
            refused(&asks(gateway, "reserve", &body(id)).await, ENDED);
        }
    }
    assert_eq!(balances(&app, &ana, &key).await, [10, 990, 10, 990]);
    let counted: i64 = sqlx::query_scalar("select count(*) from reservations").fetch_one(&app.pool).await.unwrap();
    assert_eq!(counted, 4, "a retry reserves nothing");
    // Nobody has to see that a gateway sent a request twice.
    app.refused_requests.write().await.unwrap();
    let refusals: i64 = sqlx::query_scalar("select count(*) from refused_requests").fetch_one(&app.pool).await.unwrap();
    assert_eq!(refusals, 0);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l4_a_repeated_reserve_finds_its_reservation_after_the_token_was_deleted(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let reserve = |quota: i64, request_id: &str| json!({ "key": key, "quota": quota, "request_id": request_id });
    let made = asks(&gateway, "reserve", &reserve(40, "r1")).await.ok();
    ana.delete(&format!("/api/token/{id}")).await.ok();
    // The other server has never seen the token.
    let there = gateway.at(&app.server_ahead(0));
    for gateway in [&gateway, &there] {
        assert_eq!(asks(gateway, "reserve", &reserve(40, "r1")).await.ok(), made);
        refused(&asks(gateway, "reserve", &reserve(41, "r1")).await, REUSED);
        refused(&asks(gateway, "charge", &reserve(40, "r1")).await, REUSED);
        refused(&asks(gateway, "reserve", &reserve(40, "r2")).await, INVALID_KEY);
        refused(&asks(gateway, "reserve", &json!({ "key": key, "quota": 40 })).await, INVALID_KEY);
    }
    assert_eq!(settles(&gateway, &made["reservation_id"], 30).await.ok()["charged"], 30);
    for gateway in [&gateway, &there] {
        refused(&asks(gateway, "reserve", &reserve(40, "r1")).await, ENDED);
    }
}

/// On a server that has seen no id sent again: it takes ids for new, and what is refused records none that would tell.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l4_a_first_retry_that_would_be_refused_now_gets_the_first_answer(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 10_000).await;
    let there = |n: i64| gateway.at(&app.server_ahead(n));
    let (id, key) =
        ana.creates_with_key(json!({ "name": "one", "remain_quota": 100, "rate_limits": { "concurrency": 1 } })).await;
    let charge = json!({ "key": key, "quota": 60, "request_id": "r 1", "model": "o1" });
    let charged = asks(&gateway, "charge", &charge).await.ok();
    assert_eq!(asks(&there(0), "charge", &charge).await.ok(), charged, "only 40 are left");
    let reserve = json!({ "key": key, "quota": 30, "request_id": "r 2", "model": "o1" });
    let reserved = asks(&gateway, "reserve", &reserve).await.ok();
    assert_eq!(asks(&there(1), "reserve", &reserve).await.ok(), reserved, "one is open");
    edits(&ana, id, json!({ "model_limits": "o2", "model_limits_enabled": true })).await;
    assert_eq!(asks(&there(2), "charge", &charge).await.ok(), charged, "the model is not allowed any more");
    ana.put("/api/token/?status_only=1", json!({ "id": id, "status": 2 })).await.ok();
    assert_eq!(asks(&there(3), "reserve", &reserve).await.ok(), reserved, "the token is disabled");
    let other = json!({ "key": key, "quota": 61, "request_id": "r 1", "model": "o1" });
    refused(&asks(&there(4), "charge", &other).await, REUSED);
    // In one batch with new ids, half of which are refused.
    edits(&ana, id, json!({ "model_limits_enabled": false, "remain_quota": 5 })).await;
    ana.put("/api/token/?status_only=1", json!({ "id": id, "status": 1 })).await.ok();
    let server = there(5);
    let new = |n: usize| json!({ "key": key, "quota": 1, "request_id": format!("new {n}") });
    let bodies: Vec<_> = (0..10).map(new).chain([charge.clone()]).collect();
    let answers = futures_util::future::join_all(bodies.iter().map(|body| asks(&server, "charge", body))).await;
    assert_eq!(answers[10].ok(), charged);
    assert_eq!(answers[..10].iter().filter(|answer| answer.status == 200).count(), 5);
    assert_ledger_invariants(&app.pool).await;
}
