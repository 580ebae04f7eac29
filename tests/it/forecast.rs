//! Specification §13.9: when a key and an account end.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::gateway::{app_with_wallet, asks};
use crate::harness::{Caller, TestApp};

const DAY: i64 = 86_400;

/// Charges a key on each of the next days, and leaves the clock at the day after them.
async fn spends(app: &TestApp, gateway: &Caller, key: &str, days: &[i64]) {
    for quota in days {
        if *quota > 0 {
            asks(gateway, "charge", &json!({ "key": key, "quota": quota })).await.ok();
        }
        app.clock.advance(DAY);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_key_and_its_account_end_at_the_pace_of_the_last_seven_full_days(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (one, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 300 })).await;
    let (two, other) = ana.creates_with_key(json!({ "name": "two", "unlimited_quota": true })).await;
    let forecast = async |token: i64| ana.get(&format!("/api/usage/forecast?token_id={token}")).await.ok();
    // 2026-03-10 is a Tuesday.
    spends(&app, &gateway, &key, &[10, 40]).await;
    assert_eq!(forecast(one).await, json!({ "token": null, "account": null }), "two days are no pace");
    spends(&app, &gateway, &key, &[0, 20, 0, 0, 0]).await;
    asks(&gateway, "charge", &json!({ "key": other, "quota": 30 })).await.ok();
    // Today is not a full day: what it spends is not in the pace, but in what is left.
    let key_ends = json!({
        "days": 23, "earliest_days": 5, "latest_days": 23, "runs_out_on": "2026-04-09", "earliest_on": "2026-03-22",
        "latest_on": "2026-04-09",
    });
    let wallet_ends = json!({
        "days": 90, "earliest_days": 22, "latest_days": 90, "runs_out_on": "2026-06-15", "earliest_on": "2026-04-08",
        "latest_on": "2026-06-15",
    });
    let account = json!({ "quota": wallet_ends, "week": null, "month": null });
    let token = json!({ "quota": key_ends, "week": null, "month": null });
    let expected = json!({ "token": token, "account": account });
    assert_eq!(forecast(one).await, expected);
    assert_eq!(forecast(two).await, json!({ "token": null, "account": account }), "one day of spend");
    assert_eq!(ana.get("/api/usage/forecast").await.ok(), json!({ "token": null, "account": account }));

    // Limits that renew end only if they do before they renew: 17 March is a Tuesday, and the week has 5 more days.
    let limits = json!({ "id": one, "period_limits": { "week": 25, "month": 1_000 } });
    ana.put("/api/token/", limits).await.ok();
    let week = |forecast: &Value| forecast["token"]["week"]["days"].clone();
    let limited = forecast(one).await;
    assert_eq!((week(&limited), &limited["token"]["month"]), (json!(2), &Value::Null));
    ana.put("/api/token/", json!({ "id": one, "period_limits": { "week": 80 } })).await.ok();
    assert_eq!(week(&forecast(one).await), Value::Null, "the week is over before");

    let admin = app.admin("carla").await;
    let path = "/api/admin/usage/forecast";
    let of_user = admin.get(&format!("{path}?user_id={}", ana.id)).await.ok();
    assert_eq!(of_user, json!({ "token": null, "account": account }));
    assert_eq!(admin.get(&format!("{path}?token_id={one}")).await.ok()["account"], account);
    admin.get(path).await.refuses_saying(404, "not_found", "there is no such user");
    admin.get(&format!("{path}?token_id=999")).await.refuses_saying(404, "not_found", "there is no such token");
    let ben = app.enabled_user("ben").await;
    ben.get(&format!("/api/usage/forecast?token_id={one}")).await.refuses_saying(
        404,
        "not_found",
        "there is no such token",
    );
    ben.get("/api/usage/forecast?token_id=x").await.refuses(400, "invalid_query");
}
