//! Specification §13.7: refused requests, by token and reason.

use std::time::Duration;

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::gateway::{
    IP_NOT_ALLOWED, MODEL_NOT_ALLOWED, TOKEN_EXPIRED, TOKEN_SHORT, USER_SHORT, app_with_wallet, asks,
    refused_everywhere, switches,
};
use crate::harness::wait::eventually;
use crate::harness::{Caller, Client, Cluster, START, Server, TestApp};

const REFUSED: &str = "/api/usage/refused_requests";
const EVERYONE: &str = "/api/admin/usage/refused_requests";

/// What waits is written, and then read.
async fn written(app: &TestApp, caller: &Caller, path: &str) -> Value {
    app.refused_requests.write().await.unwrap();
    caller.get(path).await.ok()
}

/// The reason, the token and the number of each row.
fn rows(report: &Value) -> Vec<(String, i64, i64)> {
    let rows = report["rows"].as_array().unwrap().iter();
    let row = |row: &Value| {
        (row["reason"].as_str().unwrap().into(), row["token_id"].as_i64().unwrap(), row["requests"].as_i64().unwrap())
    };
    rows.map(row).collect()
}

fn row(reason: &str, token: i64, requests: i64) -> (String, i64, i64) {
    (reason.to_owned(), token, requests)
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_call_that_spends_or_verifies_is_counted_once_for_each_refusal(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 5).await;
    let limits = json!({
        "name": "one", "remain_quota": 10, "expired_time": START + 60, "allow_ips": "10.0.0.0/8",
        "model_limits_enabled": true, "model_limits": "o1",
    });
    let (one, key) = ana.creates_with_key(limits).await;
    let mut body = json!({ "key": key, "quota": 7, "model": "o1", "ip": "10.1.2.3" });
    refused_everywhere(&gateway, &body, USER_SHORT).await;
    body["quota"] = json!(11);
    refused_everywhere(&gateway, &body, TOKEN_SHORT).await;
    refused_everywhere(&gateway, &body, TOKEN_SHORT).await;
    body["ip"] = json!("192.0.2.1");
    refused_everywhere(&gateway, &body, IP_NOT_ALLOWED).await;
    body["model"] = json!("gpt-4o");
    refused_everywhere(&gateway, &body, MODEL_NOT_ALLOWED).await;

    let report = written(&app, &ana, REFUSED).await;
    let line = |reason: &str, requests: i64| {
        json!({
            "reason": reason, "token_id": one, "token_name": "one", "user_id": ana.id, "username": "ana",
            "requests": requests,
        })
    };
    let expected = json!({
        "from": "2026-02-09", "to": "2026-03-10", "time_zone": "UTC", "total": 20,
        "rows": [
            line("token_quota_insufficient", 8), line("ip_not_allowed", 4), line("model_not_allowed", 4),
            line("user_quota_insufficient", 4),
        ],
    });
    assert_eq!(report, expected);
    assert_eq!(written(&app, &ana, REFUSED).await, expected, "nothing is written twice");

    // Those of the next day, and of another server.
    app.clock.advance(86_400);
    refused_everywhere(&gateway, &body, TOKEN_EXPIRED).await;
    let replica = app.server_ahead(0);
    asks(&gateway.at(&replica), "verify", &body).await.ok();
    replica.refused_requests.write().await.unwrap();
    let report = written(&app, &ana, &format!("{REFUSED}?from=2026-03-11")).await;
    assert_eq!(rows(&report), [row("token_expired", one, 5)]);
    assert_eq!(written(&app, &ana, REFUSED).await["total"], 25);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn what_is_not_a_refusal_of_a_known_key_is_not_counted(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 100).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    let charge = json!({ "key": key, "quota": 5, "request_id": "once" });
    asks(&gateway, "charge", &charge).await.ok();
    asks(&gateway, "charge", &charge).await.ok();
    asks(&gateway, "charge", &json!({ "key": key, "quota": 6, "request_id": "once" }))
        .await
        .refuses(409, "request_id_reused");
    asks(&gateway, "verify", &json!({ "key": key })).await.ok();
    let reserved = asks(&gateway, "reserve", &json!({ "key": key, "quota": 5 })).await.ok();
    let reservation = json!({ "reservation_id": reserved["reservation_id"], "quota": 5 });
    asks(&gateway, "settle", &reservation).await.ok();
    asks(&gateway, "release", &reservation).await.refuses(409, "reservation_ended");
    asks(&gateway, "charge", &json!({ "key": key, "quota": -1 })).await.refuses(400, "invalid_quota");
    asks(&gateway, "charge", &json!({ "key": "sk-unknown", "quota": 1 })).await.refuses(401, "invalid_key");
    ana.delete(&format!("/api/token/{id}")).await.ok();
    asks(&gateway, "charge", &json!({ "key": key, "quota": 1 })).await.refuses(401, "invalid_key");
    let report = written(&app, &ana, REFUSED).await;
    assert_eq!((&report["total"], &report["rows"]), (&json!(0), &json!([])));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn forward_auth_is_counted_also_beyond_a_rate(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 100).await;
    let token = json!({ "name": "one", "unlimited_quota": true, "rate_limits": { "requests_per_minute": 1 } });
    let (id, key) = ana.creates_with_key(token).await;
    let holder = app.holder_of(&key);
    let auth = async || {
        let mut request = holder.request(http::Method::GET, "/api/gateway/auth");
        request.headers_mut().insert("x-gateway-credential", gateway.secret().parse().unwrap());
        holder.send(request).await
    };
    auth().await.ok();
    auth().await.refuses(429, "rate_limited");
    switches(&app, &ana, 2).await;
    auth().await.refuses(403, "user_disabled");
    let report = written(&app, &app.root().await, &format!("{EVERYONE}?token_id={id}")).await;
    assert_eq!(rows(&report), [row("rate_limited", id, 1), row("user_disabled", id, 1)]);
}

/// A refused request of a token of Ana, which is deleted then, and two of a token of Ben.
async fn example(app: &TestApp, ana: &Caller, ben: &Caller, gateway: &Caller) -> [i64; 2] {
    let expired = json!({ "name": "ana's", "unlimited_quota": true, "expired_time": START });
    let (one, key) = ana.creates_with_key(expired).await;
    asks(gateway, "verify", &json!({ "key": key })).await.ok();
    ana.delete(&format!("/api/token/{one}")).await.ok();
    let (two, key) =
        ben.creates_with_key(json!({ "name": "ben's", "unlimited_quota": true, "expired_time": START })).await;
    for _ in 0..2 {
        asks(gateway, "verify", &json!({ "key": key })).await.ok();
    }
    app.refused_requests.write().await.unwrap();
    [one, two]
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn users_see_their_own_refusals_and_administrators_those_of_all_users_or_one(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 100).await;
    let ben = app.enabled_user("ben").await;
    let [one, two] = example(&app, &ana, &ben, &gateway).await;
    let admin = app.admin("ada").await;
    for (caller, path, expected) in [
        (&ana, REFUSED.to_owned(), vec![row("token_expired", one, 1)]),
        (&ana, format!("{REFUSED}?token_id={one}"), vec![row("token_expired", one, 1)]),
        (&ben, REFUSED.to_owned(), vec![row("token_expired", two, 2)]),
        (&admin, REFUSED.to_owned(), vec![]),
        (&admin, EVERYONE.to_owned(), vec![row("token_expired", two, 2), row("token_expired", one, 1)]),
        (&admin, format!("{EVERYONE}?user_id={}", ana.id), vec![row("token_expired", one, 1)]),
        (&admin, format!("{EVERYONE}?token_id={two}"), vec![row("token_expired", two, 2)]),
        (&admin, format!("{EVERYONE}?from=2026-03-01&to=2026-03-09"), vec![]),
    ] {
        let report = caller.get(&path).await.ok();
        assert_eq!(rows(&report), expected, "{path}");
        assert_eq!(report["total"], expected.iter().map(|(.., requests)| requests).sum::<i64>(), "{path}");
    }
    let everyone = admin.get(EVERYONE).await.ok();
    assert_eq!(
        (&everyone["rows"][1]["token_name"], &everyone["rows"][1]["username"]),
        (&json!("ana's"), &json!("ana"))
    );

    ana.get(&format!("{REFUSED}?token_id={two}")).await.refuses_saying(404, "not_found", "there is no such token");
    ana.get(EVERYONE).await.refuses(403, "not_an_administrator");
    admin.get(&format!("{EVERYONE}?user_id=999")).await.refuses_saying(404, "not_found", "there is no such user");
    for (query, code) in [
        ("from=2026-13-01", "invalid_range"),
        ("from=2026-03-02&to=2026-03-01", "invalid_range"),
        ("from=2024-01-01", "range_too_large"),
        ("token_id=x", "invalid_query"),
    ] {
        ana.get(&format!("{REFUSED}?{query}")).await.refuses(400, code);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_report_has_the_hundred_largest_counts_and_the_total_of_all(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let insert = "insert into refused_requests (user_id, day, token_id, reason, requests) \
                  select $1, '2026-03-09', n, 'token_disabled', n from generate_series(1, 150) n";
    sqlx::query(insert).bind(ana.id).execute(&app.pool).await.unwrap();
    let report = ana.get(REFUSED).await.ok();
    let rows = rows(&report);
    assert_eq!((rows.len(), report["total"].as_i64()), (100, Some(150 * 151 / 2)));
    assert_eq!((&rows[0], &rows[99]), (&row("token_disabled", 150, 150), &row("token_disabled", 51, 51)));
    assert_eq!((report.get("page"), report.get("total_rows")), (None, None));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_refusal_is_on_one_page(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let admin = app.admin("ada").await;
    let insert = "insert into refused_requests (user_id, day, token_id, reason, requests) \
                  select $1, '2026-03-09', n, 'token_disabled', n / 2 from generate_series(2, 250) n";
    sqlx::query(insert).bind(ana.id).execute(&app.pool).await.unwrap();
    let expected: Vec<(i64, i64)> = (0..249).map(|n| 250 - n).map(|n| (n / 2, n)).collect();
    for (caller, path) in [(&ana, REFUSED), (&admin, EVERYONE)] {
        let mut found = Vec::new();
        for page in 1..=3 {
            let report = caller.get(&format!("{path}?p={page}&page_size=100")).await.ok();
            let numbers = json!([report["page"], report["page_size"], report["total_rows"], report["total"]]);
            assert_eq!(numbers, json!([page, 100, 249, 15_625]), "{path}");
            found.extend(rows(&report).into_iter().map(|(_, token, requests)| (requests, token)));
        }
        let mut sorted = found.clone();
        sorted.sort_by_key(|(requests, token)| (-requests, *token));
        assert_eq!(found, sorted, "the largest first, then by token");
        found.sort_by_key(|(_, token)| -token);
        assert_eq!(found, expected);
    }
    let after = ana.get(&format!("{REFUSED}?p=4&page_size=100")).await.ok();
    let numbers = json!([after["rows"], after["page"], after["total_rows"], after["total"]]);
    assert_eq!(numbers, json!([[], 4, 249, 15_625]));
    let none = ana.get(&format!("{REFUSED}?p=4&page_size=100&to=2026-03-08")).await.ok();
    assert_eq!(json!([none["rows"], none["total_rows"], none["total"]]), json!([[], 0, 0]));
    let from_zero = ana.get(&format!("{REFUSED}?p=0&size=2")).await.ok();
    assert_eq!(rows(&from_zero), [row("token_disabled", 250, 125), row("token_disabled", 248, 124)]);
    ana.get(&format!("{REFUSED}?p=x")).await.refuses(400, "invalid_page");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn counts_that_cannot_be_written_are_kept_until_they_can(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 100).await;
    let ben = app.enabled_user("ben").await;
    let rename = async |from: &str, to: &str| {
        let sql = sqlx::AssertSqlSafe(format!("alter table {from} rename to {to}"));
        sqlx::query(sql).execute(&app.pool).await.unwrap();
    };
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 1 })).await;
    rename("refused_requests", "away").await;
    for _ in 0..2 {
        asks(&gateway, "charge", &json!({ "key": key, "quota": 2 })).await.refuses(402, "token_quota_insufficient");
        assert!(app.refused_requests.write().await.is_err());
    }
    rename("away", "refused_requests").await;
    assert_eq!(rows(&written(&app, &ana, REFUSED).await), [row("token_quota_insufficient", id, 2)]);
    assert_eq!(rows(&written(&app, &ben, REFUSED).await), []);
}

#[tokio::test]
async fn a_server_writes_every_few_seconds_and_before_it_stops() {
    let cluster = Cluster::start();
    let dir = tempfile::tempdir().unwrap();
    let database = cluster.url();
    let settings = [("DATABASE_URL", database.as_str())];
    let mut server = Server::start(dir.path(), &settings).await;
    let root = Client::root(&server).await;
    let (_, key) = root.creates(json!({ "name": "one", "remain_quota": 1 })).await.unwrap();
    let made = root.post("/api/admin/gateways", json!({ "name": "edge" })).await.ok();
    let gateway = Client::with(&server, &format!("Bearer {}", made["credential"].as_str().unwrap()));
    let body = json!({ "key": key, "quota": 2 });
    let total = async |root: &Client| root.get(REFUSED).await.ok()["total"].clone();
    gateway.post("/api/gateway/verify", body.clone()).await.ok();
    eventually("the count is written", async || total(&root).await == 1).await;
    // Just after a write, so the next one is the last one.
    gateway.post("/api/gateway/verify", body).await.ok();
    tokio::time::sleep(Duration::from_millis(10)).await;
    assert_eq!(server.terminate(), Some(0));
    let server = Server::start(dir.path(), &settings).await;
    assert_eq!(total(&Client::root(&server).await).await, 2);
}
