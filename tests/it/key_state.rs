//! `state` of a token: whether its key works now, and why not (spec §2.1).

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::gateway::{app_with_wallet, asks};
use crate::harness::limits::DAY_ENDS;
use crate::harness::{Caller, START, TestApp};

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

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn lists_searches_and_overviews_go_by_the_state(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) =
        ana.creates_with_key(json!({ "name": "limited", "remain_quota": 90, "period_limits": { "day": 7 } })).await;
    asks(&gateway, "charge", &json!({ "key": key, "quota": 7 })).await.ok();
    for name in ["working-1", "working-2", "working-3"] {
        ana.creates(json!({ "name": name, "remain_quota": 5 })).await;
    }
    ana.creates(json!({ "name": "empty", "remain_quota": 0 })).await;
    let ben = app.enabled_user("ben").await;
    ben.creates(json!({ "name": "ben's", "unlimited_quota": true })).await;
    let admin = app.admin("carla").await;
    let names = async |caller: &Caller, path: &str| {
        let page = caller.get(path).await.ok();
        let names: Vec<_> =
            page["items"].as_array().unwrap().iter().map(|token| token["name"].as_str().unwrap().to_owned()).collect();
        (names.join(" "), page["total"].as_i64().unwrap())
    };
    for (caller, path, expected) in [
        (&ana, "/api/token/?state=key_limit_reached", ("limited", 1)),
        (&ana, "/api/token/?state=used_up", ("empty", 1)),
        (&ana, "/api/token/?state=expired", ("", 0)),
        (&ana, "/api/token/?state=working&sort=name&order=asc&page_size=2&p=2", ("working-3", 3)),
        (&ana, "/api/token/search?keyword=work&state=working&page_size=1", ("working-3", 3)),
        (&ana, "/api/token/search?keyword=work&state=used_up", ("", 0)),
        (&admin, "/api/admin/tokens?state=account_empty", ("ben's", 1)),
        (&admin, "/api/admin/tokens?state=working", ("working-3 working-2 working-1", 3)),
        (&admin, &format!("/api/admin/tokens?state=used_up&user_id={}", ana.id), ("empty", 1)),
    ] {
        let (found, total) = names(caller, path).await;
        assert_eq!((found.as_str(), total), expected, "{path}");
    }
    let body = json!({ "token": key, "state": "key_limit_reached" });
    assert_eq!(ana.post("/api/token/search", body.clone()).await.ok()["total"], 1);
    assert_eq!(admin.post("/api/admin/tokens/search", body).await.ok()["total"], 1);
    let body = json!({ "token": key, "state": "working" });
    assert_eq!(ana.post("/api/token/search", body.clone()).await.ok()["total"], 0);
    assert_eq!(admin.post("/api/admin/tokens/search", body).await.ok()["total"], 0);
    let message = "`state` must be one of: working, disabled, expired, account_disabled, group_not_allowed, used_up, \
                   account_empty, key_limit_reached, account_limit_reached";
    ana.get("/api/token/?state=broken").await.refuses_saying(400, "invalid_filter", message);

    let states = json!({ "working": 3, "used_up": 1, "key_limit_reached": 1 });
    assert_eq!(ana.get("/api/user/self/overview").await.ok()["states"], states);
    let all_users = admin.get("/api/admin/overview").await.ok();
    let states = json!({ "working": 3, "used_up": 1, "key_limit_reached": 1, "account_empty": 1 });
    assert_eq!(
        all_users,
        json!({ "states": states, "truncated": false, "refused_last_hour": [],
        "charged_by_hold_last_hour": [] })
    );
    ana.get("/api/admin/overview").await.refuses(403, "not_an_administrator");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn overviews_say_what_was_refused_in_the_last_hour(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let token = json!({ "name": "one", "remain_quota": 5, "model_limits_enabled": true, "model_limits": "o1" });
    let (one, key) = ana.creates_with_key(token).await;
    for _ in 0..9 {
        asks(&gateway, "verify", &json!({ "key": key, "quota": 6, "model": "o1" })).await.ok();
    }
    asks(&gateway, "verify", &json!({ "key": key, "model": "gpt-4o" })).await.ok();
    asks(&gateway, "verify", &json!({ "key": "sk-nobody-has-this-key" })).await.ok();
    app.clock.advance(60);
    app.refused_requests.write().await.unwrap();
    let line = |reason: &str, message: &str, alarming: bool, requests: i64, remedy: Value| {
        json!({
            "token_id": one, "token_name": "one", "user_id": ana.id, "username": "ana", "reason": reason,
            "alarming": alarming, "requests": requests, "last": START, "message": message, "cured": null,
            "remedy": remedy,
        })
    };
    let remedy = |action: &str, field: &str, value: Value| json!({ "action": action, "field": field, "value": value, "by": "owner", "allowed": true });
    let message = "insufficient token quota for this amount";
    let fill = remedy("add_quota", "remain_quota", Value::Null);
    let short = line("token_quota_insufficient", message, true, 9, fill);
    let allow = remedy("allow_model", "model_limits", json!("gpt-4o"));
    let model = line("model_not_allowed", "this token may not use this model", false, 1, allow);
    let overview = ana.get("/api/user/self/overview").await.ok();
    assert_eq!(overview["refused_last_hour"], json!([short, model]));
    let admin = app.admin("carla").await;
    let unknown = json!({
        "token_id": null, "token_name": null, "user_id": null, "username": null, "reason": "invalid_key",
        "alarming": false, "requests": 1, "last": START, "message": "this API key is not valid", "cured": null,
        "remedy": null,
    });
    assert_eq!(admin.get("/api/admin/overview").await.ok()["refused_last_hour"], json!([short, unknown, model]));
    app.clock.advance(3_600);
    assert_eq!(ana.get("/api/user/self/overview").await.ok()["refused_last_hour"], json!([]));
}
