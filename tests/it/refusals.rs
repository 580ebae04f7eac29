//! Specification §13.8: single requests that were refused.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::gateway::{MODEL_NOT_ALLOWED, app_with_wallet, asks, reserves};
use crate::harness::{Caller, START, TestApp};

const REQUESTS: &str = "/api/usage/requests";
const EVERYONE: &str = "/api/admin/usage/requests";
const OF_KEY: &str = "/api/usage/token/requests";

/// What waits is written, and then read.
async fn listed(app: &TestApp, caller: &Caller, path: &str) -> Vec<Value> {
    app.refused_requests.write().await.unwrap();
    caller.get(path).await.ok()["items"].as_array().unwrap().clone()
}

/// The same fields of each row.
fn fields(rows: &[Value], pointers: &[&str]) -> Vec<Value> {
    rows.iter().map(|row| pointers.iter().map(|at| row.pointer(at).cloned().unwrap_or_default()).collect()).collect()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_refusal_says_which_request_of_which_key_was_refused_and_why(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let token = json!({
        "name": "one", "remain_quota": 100, "model_limits_enabled": true, "model_limits": "o1",
        "period_limits": { "day": 10 },
    });
    let (one, key) = ana.creates_with_key(token).await;
    let body = json!({ "key": key, "quota": 7, "model": "gpt-4o", "ip": "192.0.2.7", "request_id": "r-1" });
    asks(&gateway, "charge", &body).await.refuses(403, "model_not_allowed");
    app.clock.advance(1);
    asks(&gateway, "reserve", &json!({ "key": key, "quota": 11, "model": "o1" }))
        .await
        .refuses(429, "token_period_exceeded");

    let rows = listed(&app, &ana, REQUESTS).await;
    let gateway_id = &rows[0]["gateway_id"];
    let common = json!({
        "outcome": "refused", "token_id": one, "token_name": "one", "user_id": ana.id, "username": "ana",
        "gateway_id": gateway_id, "gateway_name": "edge", "quota": 0, "usd": 0, "shortfall": 0, "prompt_tokens": 0,
        "completion_tokens": 0, "units": null, "priced_by": null, "hold_reason": null, "reservation_id": null,
    });
    let row = |more: Value| {
        let mut row = common.clone();
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        row
    };
    let remedy = |action: &str, field: &str, value: Value| json!({ "action": action, "field": field, "value": value, "by": "owner", "allowed": true });
    let period = json!({
        "reason": "token_period_exceeded", "call": "reserve", "requested": 11, "suppressed": 0,
        "message": "this token may use 10 quota units per day, so this request can never fit",
        "period": "day", "limit": 10, "used": 0, "resets_at": rows[0]["refusal"]["resets_at"], "retry_after": null,
        "cured": null, "remedy": remedy("raise_limit", "period_limits.day", Value::Null),
    });
    let model = json!({
        "reason": "model_not_allowed", "call": "charge", "requested": 7, "suppressed": 0,
        "message": "this token may not use this model", "retry_after": null,
        "cured": null, "remedy": remedy("allow_model", "model_limits", json!("gpt-4o")),
    });
    let expected = [
        row(json!({
            "id": rows[0]["id"], "at": START + 1, "model": "o1", "ip": null, "request_id": null, "refusal": period,
        })),
        row(json!({
            "id": rows[1]["id"], "at": START, "model": "gpt-4o", "ip": "192.0.2.7", "request_id": "r-1",
            "refusal": model,
        })),
    ];
    assert_eq!(rows, expected);
    assert!(rows[0]["refusal"]["resets_at"].as_i64().unwrap() > START);

    // One of them by its id, as a link says.
    let link = format!("{REQUESTS}?id={}", rows[1]["id"].as_str().unwrap());
    assert_eq!(listed(&app, &ana, &link).await, &expected[1..]);
    let csv = ana.get(&format!("{REQUESTS}?format=csv&request_id=r-1")).await;
    let line = format!(
        "{},{START},refused,{},ana,{one},one,gpt-4o,0,0,0,0,0,model_not_allowed,this token may not use this model,\
         charge,7,0,192.0.2.7,r-1,,{gateway_id},edge,,,\r\n",
        rows[1]["id"].as_str().unwrap(),
        ana.id
    );
    assert_eq!(csv.text.split_inclusive('\n').nth(1), Some(line.as_str()));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_call_that_can_be_refused_has_its_row(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 10 })).await;
    let reservation = reserves(&gateway, &key, 5).await;
    let body = json!({ "key": key, "quota": 20 });
    asks(&gateway, "verify", &body).await.ok();
    asks(&gateway, "charge", &body).await.refuses(402, "token_quota_insufficient");
    asks(&gateway, "reserve", &body).await.refuses(402, "token_quota_insufficient");
    let extension = json!({ "reservation_id": reservation, "quota": 20 });
    asks(&gateway, "extend", &extension).await.refuses(402, "token_quota_insufficient");
    let rows = listed(&app, &ana, &format!("{REQUESTS}?outcome=refused")).await;
    let mut calls: Vec<_> = rows.iter().map(|row| row["refusal"]["call"].as_str().unwrap()).collect();
    calls.sort_unstable();
    assert_eq!(calls, ["charge", "extend", "reserve", "verify"]);
    assert!(rows.iter().all(|row| row["refusal"]["requested"] == 20));

    // Forward-auth, beyond a rate.
    let token = json!({ "name": "two", "unlimited_quota": true, "rate_limits": { "requests_per_minute": 1 } });
    let (two, key) = ana.creates_with_key(token).await;
    let holder = app.holder_of(&key);
    let auth = async || {
        let mut request = holder.request(http::Method::GET, "/api/gateway/auth");
        request.headers_mut().insert("x-gateway-credential", gateway.secret().parse().unwrap());
        holder.send(request).await
    };
    auth().await.ok();
    auth().await.refuses(429, "rate_limited");
    let rows = listed(&app, &ana, &format!("{REQUESTS}?token_id={two}")).await;
    let expected =
        json!(["forward_auth", "rate_limited", 60, "this token may make 1 request per minute; retry after 1 min"]);
    let found = fields(&rows, &["/refusal/call", "/refusal/reason", "/refusal/retry_after", "/refusal/message"]);
    assert_eq!(found, [expected]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_flood_has_five_rows_a_minute_and_the_last_one_counts_the_rest(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (one, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 10 })).await;
    let body = json!({ "key": key, "quota": 20 });
    for _ in 0..30 {
        asks(&gateway, "verify", &body).await.ok();
    }
    assert_eq!(listed(&app, &ana, REQUESTS).await.len(), 4);
    app.clock.advance(60);
    let rows = listed(&app, &ana, REQUESTS).await;
    let suppressed: Vec<_> = rows.iter().map(|row| row["refusal"]["suppressed"].as_i64().unwrap()).collect();
    assert_eq!(suppressed, [25, 0, 0, 0, 0]);
    // The counts are of all.
    let report = ana.get("/api/usage/refused_requests").await.ok();
    assert_eq!((&report["total"], &report["rows"][0]["token_id"]), (&json!(30), &json!(one)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn keys_that_nobody_has_are_shown_to_administrators_and_deleted_ones_by_name(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (one, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 10 })).await;
    let (_, other) = ana.creates_with_key(json!({ "name": "two", "remain_quota": 10 })).await;
    ana.delete(&format!("/api/token/{one}")).await.ok();
    let secret = "sk-nobody-ever-had-this-key";
    asks(&gateway, "verify", &json!({ "key": secret, "ip": "192.0.2.9" })).await.ok();
    app.clock.advance(1);
    asks(&gateway, "charge", &json!({ "key": key, "quota": 1 })).await.refuses(401, "invalid_key");
    let unknown = format!("{}x", &other[..other.len() - 1]);
    app.clock.advance(1);
    asks(&gateway, "reserve", &json!({ "key": unknown, "quota": 1 })).await.refuses(401, "invalid_key");
    let admin = app.admin("carla").await;
    let names = ["/refusal/call", "/refusal/reason", "/token_name", "/username", "/ip"];
    let rows = listed(&app, &admin, &format!("{EVERYONE}?reason=invalid_key")).await;
    let expected = [
        json!(["reserve", "invalid_key", null, null, null]),
        json!(["charge", "invalid_key", "one", "ana", null]),
        json!(["verify", "invalid_key", null, null, "192.0.2.9"]),
    ];
    assert_eq!(fields(&rows, &names), expected);
    assert_eq!(rows[0]["token_id"], Value::Null);
    let own = listed(&app, &ana, REQUESTS).await;
    assert_eq!(fields(&own, &names), &expected[1..2], "her deleted key is still used");
    let stored: Vec<String> = sqlx::query_scalar("select r::text from refusals r").fetch_all(&app.pool).await.unwrap();
    assert!(stored.iter().all(|row| !row.contains(secret) && !row.contains(&key) && !row.contains(&unknown)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_holder_of_a_key_sees_its_requests_without_addresses(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (one, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 10 })).await;
    let (_, other) = ana.creates_with_key(json!({ "name": "two", "remain_quota": 10 })).await;
    for (key, quota) in [(&key, 7), (&key, 7), (&other, 7)] {
        asks(
            &gateway,
            "charge",
            &json!({ "key": key, "quota": quota, "ip": "192.0.2.7", "request_id": quota.to_string() }),
        )
        .await;
        app.clock.advance(1);
        asks(&gateway, "charge", &json!({ "key": key, "quota": 50, "ip": "192.0.2.7" })).await;
    }
    let holder = app.holder_of(&key);
    let rows = listed(&app, &holder, OF_KEY).await;
    let expected = [
        json!([one, "refused", "token_quota_insufficient", null]),
        json!([one, "refused", "token_quota_insufficient", null]),
        json!([one, "charged", null, null]),
    ];
    assert_eq!(fields(&rows, &["/token_id", "/outcome", "/refusal/reason", "/ip"]), expected);
    assert_eq!(listed(&app, &ana, REQUESTS).await[0]["ip"], "192.0.2.7");
    // Unless the owner allows it.
    for shown in [true, false] {
        ana.put("/api/token/", json!({ "id": one, "show_addresses": shown })).await.ok();
        let ip = if shown { json!("192.0.2.7") } else { Value::Null };
        for request in listed(&app, &holder, OF_KEY).await {
            assert_eq!(request["ip"], ip, "{request}");
        }
    }
    assert_eq!(listed(&app, &holder, &format!("{OF_KEY}?outcome=charged&size=1")).await.len(), 1);
    let page = holder.get(&format!("{OF_KEY}?size=1")).await.ok();
    let next = page["next"].as_str().unwrap();
    assert_eq!(listed(&app, &holder, &format!("{OF_KEY}?size=9&after={next}")).await, &rows[1..]);
    app.stranger().get(OF_KEY).await.refuses(401, "invalid_key");
    app.holder_of("sk-nobody").get(OF_KEY).await.refuses(401, "invalid_key");
    holder.get(&format!("{OF_KEY}?after=x")).await.refuses(400, "invalid_page");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn other_tools_see_refusals_only_if_they_ask_for_type_5(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (one, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 10 })).await;
    asks(&gateway, "charge", &json!({ "key": key, "quota": 7, "model": "o1" })).await.ok();
    for _ in 0..3 {
        asks(&gateway, "charge", &json!({ "key": key, "quota": 7, "model": "o1" }))
            .await
            .refuses(402, "token_quota_insufficient");
    }
    app.refused_requests.write().await.unwrap();
    let log = async |query: &str| ana.get(&format!("/api/log/self?{query}")).await.ok();
    for query in ["", "type=0", "type=2"] {
        let page = log(query).await;
        assert_eq!((&page["total"], &page["items"][0]["type"]), (&json!(1), &json!(2)), "{query}");
    }
    let page = log("type=5&p=2&page_size=2").await;
    assert_eq!((&page["total"], page["items"].as_array().unwrap().len()), (&json!(3), 1));
    let row = &page["items"][0];
    let expected = json!([5, 0, "insufficient token quota for this amount", one, "one", "ana", "o1"]);
    let names = ["/type", "/quota", "/content", "/token_id", "/token_name", "/username", "/model_name"];
    assert_eq!(fields(std::slice::from_ref(row), &names), [expected]);
    assert_eq!(log("type=5&token_name=two").await["total"], 0);
    assert_eq!(log("type=5&token_name=one&model_name=o1").await["total"], 3);
    assert_eq!(log("type=4").await["total"], 0);
    assert_eq!(ana.get("/api/log/self/stat?type=5").await.ok()["quota"], 0);
    let holder = app.holder_of(&key);
    let types = async |query: &str| {
        let rows = holder.get(&format!("/api/log/token?{query}")).await.ok();
        rows.as_array().unwrap().iter().map(|row| row["type"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!((types("").await, types("type=5").await), (vec![2], vec![5, 5, 5]));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_setting_stores_networks_instead_of_addresses_or_neither(pool: PgPool) {
    for (setting, stored) in [("networks", json!("192.0.2.0/24")), ("none", Value::Null)] {
        let app = TestApp::with(pool.clone(), &[("KEYMETER_USAGE__CLIENT_ADDRESSES", setting)]).await;
        let name = format!("ana_{setting}");
        let (ana, gateway) = (app.enabled_user(&name).await, app.gateway().await);
        app.fills(&ana, 1_000).await;
        let token = json!({ "name": "one", "remain_quota": 100, "allow_ips": "192.0.2.7" });
        let (_, key) = ana.creates_with_key(token).await;
        let body = |ip: &str| json!({ "key": key, "quota": 1, "ip": ip });
        asks(&gateway, "charge", &body("192.0.2.7")).await.ok();
        let held = asks(&gateway, "reserve", &body("192.0.2.7")).await.ok();
        let held = &held["reservation_id"];
        asks(&gateway, "extend", &json!({ "reservation_id": held, "quota": 2 })).await.ok();
        asks(&gateway, "settle", &json!({ "reservation_id": held, "quota": 2 })).await.ok();
        asks(&gateway, "charge", &body("192.0.2.8")).await.refuses(403, "ip_not_allowed");
        let rows = listed(&app, &ana, REQUESTS).await;
        let found = fields(&rows, &["/ip"]);
        assert_eq!(found, vec![json!([stored]); 3], "{setting}");
    }
    let everything = "select string_agg(ip, ' ') from (select ip from charges union all select ip from reservations \
                      union all select ip from refusals) rows";
    let stored: String = sqlx::query_scalar(everything).fetch_one(&pool).await.unwrap();
    assert!(!stored.contains("192.0.2.7") && !stored.contains("192.0.2.8"), "{stored}");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_database_that_fails_delays_no_refusal(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana
        .creates_with_key(
            json!({ "name": "one", "remain_quota": 100, "model_limits_enabled": true, "model_limits": "o1" }),
        )
        .await;
    let body = json!({ "key": key, "quota": 1, "model": "o2" });
    sqlx::query("alter table refusals rename to gone").execute(&app.pool).await.unwrap();
    crate::harness::gateway::refused(&asks(&gateway, "charge", &body).await, MODEL_NOT_ALLOWED);
    assert!(app.refused_requests.write().await.is_err());
    sqlx::query("alter table gone rename to refusals").execute(&app.pool).await.unwrap();
    crate::harness::gateway::refused(&asks(&gateway, "charge", &body).await, MODEL_NOT_ALLOWED);
    assert_eq!(listed(&app, &ana, REQUESTS).await.len(), 1, "the first one is lost");
    assert_eq!(ana.get("/api/usage/refused_requests").await.ok()["total"], 2, "but counted");
}
