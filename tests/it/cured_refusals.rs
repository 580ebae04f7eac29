//! What is known now of a request that was refused: whether it would pass, since when, and what lets it pass
//! (spec §13.8).

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::gateway::{app_with_wallet, asks};
use crate::harness::limits::DAY_ENDS;
use crate::harness::{Caller, START, TestApp};

/// `cured` and `remedy` of the newest refusal, as the list, the overview and an administrator show them.
async fn outlook(app: &TestApp, owner: &Caller) -> (Value, Value) {
    app.refused_requests.write().await.unwrap();
    let list = owner.get("/api/usage/requests?outcome=refused&size=1").await.ok();
    let of = |body: &Value| (body["cured"].clone(), body["remedy"].clone());
    of(&list["items"][0]["refusal"])
}

fn remedy(action: &str, field: &str, by: &str, allowed: bool) -> Value {
    json!({ "action": action, "field": field, "value": null, "by": by, "allowed": allowed })
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_refusal_is_cured_by_the_change_that_lets_the_same_amount_pass(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (one, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 5 })).await;
    asks(&gateway, "charge", &json!({ "key": key, "quota": 8 })).await.refuses(402, "token_quota_insufficient");
    let fill = remedy("add_quota", "remain_quota", "owner", true);
    assert_eq!(outlook(&app, &ana).await, (Value::Null, fill.clone()));
    assert_eq!(ana.get("/api/user/self/overview").await.ok()["refused_last_hour"][0]["alarming"], true);

    app.clock.advance(60);
    ana.put("/api/token/", json!({ "id": one, "remain_quota": 7 })).await.ok();
    assert_eq!(outlook(&app, &ana).await, (Value::Null, fill), "8 do not fit yet");
    app.clock.advance(60);
    ana.put("/api/token/", json!({ "id": one, "add_quota": 1 })).await.ok();
    let cured = json!({ "at": START + 120 });
    assert_eq!(outlook(&app, &ana).await, (cured.clone(), Value::Null));
    let root = app.root().await;
    for overview in [ana.get("/api/user/self/overview").await, root.get("/api/admin/overview").await] {
        let line = overview.ok()["refused_last_hour"][0].clone();
        assert_eq!((&line["alarming"], &line["cured"]), (&json!(false), &cured));
    }

    ana.put("/api/token/?status_only=1", json!({ "id": one, "status": 2 })).await.ok();
    assert_eq!(outlook(&app, &ana).await, (Value::Null, remedy("enable_key", "status", "owner", true)));
    root.post(&format!("/api/admin/tokens/{one}/status"), json!({ "status": 2 })).await.ok();
    assert_eq!(outlook(&app, &ana).await, (Value::Null, remedy("enable_key", "status", "root", false)));
    let all = root.get("/api/admin/usage/requests?outcome=refused").await.ok();
    assert_eq!(all["items"][0]["refusal"]["remedy"], remedy("enable_key", "status", "root", true));
    ana.delete(&format!("/api/token/{one}")).await.ok();
    assert_eq!(outlook(&app, &ana).await, (Value::Null, Value::Null), "nobody can help a deleted key");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_limit_that_renewed_cures_without_a_change(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let token = json!({ "name": "one", "remain_quota": 50, "period_limits": { "day": 7 } });
    let (_, key) = ana.creates_with_key(token).await;
    asks(&gateway, "reserve", &json!({ "key": key, "quota": 8 })).await.refuses(429, "token_period_exceeded");
    let raise = remedy("raise_limit", "period_limits.day", "owner", true);
    assert_eq!(outlook(&app, &ana).await, (Value::Null, raise.clone()));
    let line = ana.get("/api/user/self/overview").await.ok()["refused_last_hour"][0].clone();
    let limit = (&line["period"], &line["limit"], &line["used"], &line["resets_at"]);
    assert_eq!(limit, (&json!("day"), &json!(7), &json!(0), &json!(DAY_ENDS)));
    app.clock.advance(DAY_ENDS - START);
    assert_eq!(outlook(&app, &ana).await, (Value::Null, raise), "8 never fit into 7");
    asks(&gateway, "charge", &json!({ "key": key, "quota": 6 })).await.ok();
    asks(&gateway, "charge", &json!({ "key": key, "quota": 2 })).await.refuses(429, "token_period_exceeded");
    assert_eq!(outlook(&app, &ana).await.0, Value::Null);
    app.clock.advance(86_400);
    assert_eq!(outlook(&app, &ana).await, (json!({ "at": null }), Value::Null));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_empty_wallet_is_for_an_administrator_to_fill(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 5).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    asks(&gateway, "charge", &json!({ "key": key, "quota": 8 })).await.refuses(402, "user_quota_insufficient");
    assert_eq!(outlook(&app, &ana).await, (Value::Null, remedy("top_up_account", "quota", "administrator", false)));
    let admin = app.admin("carla").await;
    let line = admin.get("/api/admin/overview").await.ok()["refused_last_hour"][0].clone();
    assert_eq!(line["remedy"], remedy("top_up_account", "quota", "administrator", true));
    app.clock.advance(9);
    admin.post(&format!("/api/admin/users/{}/quota", ana.id), json!({ "delta": 3 })).await.ok();
    assert_eq!(outlook(&app, &ana).await, (json!({ "at": START + 9 }), Value::Null));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn nothing_is_said_of_an_extension_that_was_refused(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (one, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let hold = asks(&gateway, "reserve", &json!({ "key": key, "quota": 90 })).await.ok()["reservation_id"].clone();
    let more = json!({ "reservation_id": hold, "quota": 120 });
    asks(&gateway, "extend", &more).await.refuses(402, "token_quota_insufficient");
    asks(&gateway, "release", &json!({ "reservation_id": hold })).await.ok();
    ana.put("/api/token/", json!({ "id": one, "remain_quota": 120 })).await.ok();
    assert_eq!(outlook(&app, &ana).await.0, Value::Null, "it has ended");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_model_is_cured_by_a_price_and_a_unit_without_one_is_not_known(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (one, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    let charge = json!({ "key": key, "model": "m", "prompt_tokens": 1, "completion_tokens": 1 });
    let add = json!({ "action": "add_price", "field": null, "value": "m", "by": "administrator", "allowed": false });
    asks(&gateway, "charge", &charge).await.refuses(403, "model_not_priced");
    assert_eq!(outlook(&app, &ana).await, (Value::Null, add.clone()));
    app.clock.advance(60);
    app.sets_prices("[prices]\nm = { prompt = \"1\", completion = \"1\" }\n").await;
    assert_eq!(outlook(&app, &ana).await, (json!({ "at": START + 60 }), Value::Null));
    app.clock.advance(60);
    let searches = json!({ "key": key, "model": "m", "units": { "web_searches": 1 } });
    asks(&gateway, "charge", &searches).await.refuses(403, "model_not_priced");
    assert_eq!(outlook(&app, &ana).await, (Value::Null, add));
    ana.put("/api/token/?status_only=1", json!({ "id": one, "status": 2 })).await.ok();
    assert_eq!(outlook(&app, &ana).await.1["action"], "enable_key");
}
