//! Specification §11: why a key is refused, in which order, and from when on.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::START;
use crate::harness::gateway::{
    DATABASE_UNAVAILABLE, EXHAUSTED, INVALID_KEY, IP_NOT_ALLOWED, MODEL_NOT_ALLOWED, TOKEN_DISABLED, TOKEN_EXPIRED,
    TOKEN_SHORT, USER_DISABLED, USER_SHORT, app_with_wallet, asks, edits, refused, refused_everywhere, switches, valid,
};

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_refusal_has_its_exact_answer_and_the_first_in_order_is_returned(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 5).await;
    let root = app.root().await;
    let token = json!({
        "name": "one", "remain_quota": 10, "expired_time": START + 60, "allow_ips": "10.0.0.0/8",
        "model_limits_enabled": true, "model_limits": "o1",
    });
    let (id, key) = ana.creates_with_key(token).await;
    // Each step adds a fault that takes precedence over the faults before it.
    let mut body = json!({ "key": key, "quota": 7, "model": "o1", "ip": "10.1.2.3" });
    refused_everywhere(&gateway, &body, USER_SHORT).await;
    body["quota"] = json!(11);
    refused_everywhere(&gateway, &body, TOKEN_SHORT).await;
    app.fills(&ana, 10).await;
    asks(&gateway, "charge", &json!({ "key": key, "quota": 10 })).await.ok();
    app.clock.advance(2);
    refused_everywhere(&gateway, &body, EXHAUSTED).await;
    body["ip"] = json!("192.0.2.1");
    refused_everywhere(&gateway, &body, IP_NOT_ALLOWED).await;
    body["model"] = json!("gpt-4o");
    refused_everywhere(&gateway, &body, MODEL_NOT_ALLOWED).await;
    switches(&app, &ana, 2).await;
    refused_everywhere(&gateway, &body, USER_DISABLED).await;
    app.clock.advance(58);
    refused_everywhere(&gateway, &body, TOKEN_EXPIRED).await;
    root.post(&format!("/api/admin/tokens/{id}/status"), json!({ "status": 2 })).await.ok();
    refused_everywhere(&gateway, &body, TOKEN_DISABLED).await;
    switches(&app, &ana, 1).await;
    let ana = app.signs_in("ana", "ana's password").await;
    ana.delete(&format!("/api/token/{id}")).await.ok();
    refused_everywhere(&gateway, &body, INVALID_KEY).await;
    let verdict = asks(&gateway, "verify", &body).await.ok();
    assert_eq!(verdict, json!({ "valid": false, "reason": "invalid_key" }), "nothing is said about an unknown key");
    let me = ana.get("/api/user/self").await.ok();
    assert_eq!((&me["quota"], &me["used_quota"], &me["request_count"]), (&json!(0), &json!(10), &json!(1)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l6_a_change_takes_effect_on_the_next_request_even_for_a_cached_key(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 10 })).await;
    let body = json!({ "key": key, "quota": 10, "model": "o1", "ip": "10.1.2.3" });
    let switch = async |status: i64| {
        ana.put("/api/token/?status_only=1", json!({ "id": id, "status": status })).await.ok();
    };
    assert!(valid(&gateway, &body).await);
    switch(2).await;
    refused_everywhere(&gateway, &body, TOKEN_DISABLED).await;
    switch(1).await;
    assert!(valid(&gateway, &body).await);
    let edit = async |fields: Value| edits(&ana, id, fields).await;
    edit(json!({ "expired_time": START })).await;
    refused_everywhere(&gateway, &body, TOKEN_EXPIRED).await;
    edit(json!({ "expired_time": START + 1 })).await;
    assert!(valid(&gateway, &body).await);
    app.clock.advance(1);
    refused_everywhere(&gateway, &body, TOKEN_EXPIRED).await;
    edit(json!({ "expired_time": -1, "model_limits_enabled": true, "model_limits": "o2" })).await;
    refused_everywhere(&gateway, &body, MODEL_NOT_ALLOWED).await;
    edit(json!({ "model_limits": "o2,o1", "allow_ips": "10.1.2.4" })).await;
    refused_everywhere(&gateway, &body, IP_NOT_ALLOWED).await;
    edit(json!({ "allow_ips": "", "remain_quota": 9 })).await;
    refused_everywhere(&gateway, &body, TOKEN_SHORT).await;
    edit(json!({ "remain_quota": 10, "name": "renamed" })).await;
    assert_eq!(asks(&gateway, "verify", &body).await.ok()["name"], "renamed");
    app.fills(&ana, 9).await;
    refused_everywhere(&gateway, &body, USER_SHORT).await;
    app.fills(&ana, 10).await;
    asks(&gateway, "charge", &body).await.ok();
    edit(json!({ "remain_quota": 10 })).await;
    refused_everywhere(&gateway, &body, USER_SHORT).await;
    app.fills(&ana, 10).await;
    assert!(valid(&gateway, &body).await);
    switches(&app, &ana, 2).await;
    refused_everywhere(&gateway, &body, USER_DISABLED).await;
    switches(&app, &ana, 1).await;
    assert!(valid(&gateway, &body).await);
    let ana = app.signs_in("ana", "ana's password").await;
    ana.delete(&format!("/api/token/{id}")).await.ok();
    refused_everywhere(&gateway, &body, INVALID_KEY).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "two", "remain_quota": 10 })).await;
    let body = json!({ "key": key, "quota": 10 });
    assert!(valid(&gateway, &body).await);
    app.root().await.delete(&format!("/api/admin/users/{}", ana.id)).await.ok();
    refused_everywhere(&gateway, &body, INVALID_KEY).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn models_and_addresses_are_checked_only_where_they_are_given(pool: PgPool) {
    let (_, ana, gateway) = app_with_wallet(pool, 100).await;
    let token = json!({
        "name": "one", "remain_quota": 100, "model_limits_enabled": true, "model_limits": "o1,gpt-4o",
        "allow_ips": "192.0.2.7\n10.0.0.0/8\n2001:db8::/32",
    });
    let (id, key) = ana.creates_with_key(token).await;
    let reason = async |field: &str, value: &str| {
        let mut body = json!({ "key": key, "quota": 1 });
        body[field] = json!(value);
        asks(&gateway, "verify", &body).await.ok().get("reason").map(|reason| reason.as_str().unwrap().to_owned())
    };
    for model in ["o1", "gpt-4o", ""] {
        assert_eq!(reason("model", model).await, None, "{model}");
    }
    for model in ["O1", "gpt-4", "gpt-4o-mini", "o1,gpt-4o"] {
        assert_eq!(reason("model", model).await.as_deref(), Some("model_not_allowed"), "{model}");
    }
    for ip in ["192.0.2.7", "::ffff:192.0.2.7", "10.255.0.1", "::ffff:10.0.0.1", "2001:db8::1", " 192.0.2.7 ", ""] {
        assert_eq!(reason("ip", ip).await, None, "{ip}");
    }
    for ip in ["192.0.2.8", "::ffff:192.0.2.8", "11.0.0.1", "2001:db9::1", "::1", "::192.0.2.7"] {
        assert_eq!(reason("ip", ip).await.as_deref(), Some("ip_not_allowed"), "{ip}");
    }
    refused(
        &asks(&gateway, "charge", &json!({ "key": key, "quota": 1, "ip": "::ffff:192.0.2.8" })).await,
        IP_NOT_ALLOWED,
    );
    asks(&gateway, "charge", &json!({ "key": key, "quota": 1, "ip": "::ffff:192.0.2.7" })).await.ok();
    edits(&ana, id, json!({ "model_limits": "" })).await;
    assert_eq!(reason("model", "o1").await.as_deref(), Some("model_not_allowed"), "an empty list that is enabled");
    edits(&ana, id, json!({ "model_limits_enabled": false, "model_limits": "o2" })).await;
    assert_eq!(reason("model", "o1").await, None, "a list that is disabled");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn verifying_a_cached_key_or_a_wrong_checksum_needs_no_database(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 100).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 9 })).await;
    let (gone, dead) = ana.creates_with_key(json!({ "name": "two", "remain_quota": 9 })).await;
    let (_, cold) = ana.creates_with_key(json!({ "name": "three", "remain_quota": 9 })).await;
    ana.delete(&format!("/api/token/{gone}")).await.ok();
    let (warm, dead) = (json!({ "key": key }), json!({ "key": dead }));
    let verdict = asks(&gateway, "verify", &warm).await.ok();
    assert_eq!(asks(&gateway, "verify", &dead).await.ok()["reason"], "invalid_key");
    app.pool.close().await;
    for _ in 0..2 {
        assert_eq!(asks(&gateway, "verify", &warm).await.ok(), verdict);
        assert_eq!(asks(&gateway, "verify", &dead).await.ok()["reason"], "invalid_key");
        for number in 0..36 {
            let digit = char::from_digit(number, 36).unwrap();
            let typo = format!("{}{digit}", &key[..key.len() - 1]);
            if typo != key {
                refused_everywhere(&gateway, &json!({ "key": typo, "quota": 1 }), INVALID_KEY).await;
            }
        }
        refused(&asks(&gateway, "verify", &json!({ "key": cold })).await, DATABASE_UNAVAILABLE);
        let away = asks(&gateway, "charge", &json!({ "key": key, "quota": 1 })).await;
        refused(&away, DATABASE_UNAVAILABLE);
        assert_eq!(away.header("retry-after"), Some("1"));
        app.clock.advance(1);
    }
    refused(&asks(&gateway, "verify", &warm).await, DATABASE_UNAVAILABLE);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_verified_key_shows_the_group_of_its_token_or_that_of_its_owner(pool: PgPool) {
    let (_, ana, gateway) = app_with_wallet(pool, 5).await;
    for (group, shown) in [("", "default"), ("auto", "auto")] {
        let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true, "group": group })).await;
        assert_eq!(asks(&gateway, "verify", &json!({ "key": key })).await.ok()["group"], shown);
    }
}
