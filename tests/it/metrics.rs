//! `/metrics` after known traffic.

#![expect(clippy::float_arithmetic, clippy::float_cmp, reason = "numbers are floats in the text format of metrics")]

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use serde_json::json;
use sqlx::PgPool;

use crate::harness::TestApp;
use crate::harness::project::project_file;

/// Every sample of `/metrics`: its name with its labels, and its value.
async fn scrape(app: &TestApp) -> BTreeMap<String, f64> {
    let text = app.stranger().get("/metrics").await.text;
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    samples
        .map(|line| line.rsplit_once(' ').unwrap())
        .map(|(name, value)| (name.into(), value.parse().unwrap()))
        .collect()
}

/// The increase of a sample; a new one starts at 0.
fn growth(before: &BTreeMap<String, f64>, after: &BTreeMap<String, f64>, name: &str) -> f64 {
    after.get(name).unwrap_or_else(|| panic!("no {name} in {after:#?}")) - before.get(name).unwrap_or(&0.0)
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn requests_are_counted_and_timed_by_route_and_never_by_path(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let (token, key) = ana.creates_with_key(json!({ "name": "one" })).await;
    let before = scrape(&app).await;
    for _ in 0..3 {
        ana.get(&format!("/api/token/{token}")).await.ok();
    }
    ana.get("/api/token/999999").await.refuses(404, "not_found");
    app.stranger().get(&format!("/nowhere/{key}")).await.refuses(404, "not_found");
    let unknown_method = app.stranger().request(Method::from_bytes(b"UNKNOWN").unwrap(), "/api/status");
    app.stranger().send(unknown_method).await.refuses(405, "method_not_allowed");

    let after = scrape(&app).await;
    let grew = |name: &str| growth(&before, &after, name);
    assert_eq!(grew(r#"keymeter_requests_total{route="/api/token/{id}",method="GET",status="200"}"#), 3.0);
    assert_eq!(grew(r#"keymeter_requests_total{route="/api/token/{id}",method="GET",status="404"}"#), 1.0);
    assert_eq!(grew(r#"keymeter_requests_total{route="-",method="GET",status="404"}"#), 1.0);
    assert_eq!(grew(r#"keymeter_requests_total{route="/api/status",method="other",status="405"}"#), 1.0);
    assert_eq!(grew(r#"keymeter_request_seconds_count{route="/api/token/{id}"}"#), 4.0);
    assert_eq!(grew(r#"keymeter_request_seconds_bucket{le="+Inf",route="/api/token/{id}"}"#), 4.0);
    // The request that reads it.
    assert_eq!(after["keymeter_requests_in_flight"], 1.0);
    let values = [key.as_str(), "nowhere", "UNKNOWN", "999999"];
    let labels: Vec<&String> = after.keys().filter(|name| values.iter().any(|text| name.contains(text))).collect();
    assert!(labels.is_empty(), "{labels:?}");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn answers_of_401_are_counted_by_kind(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let gateway = app.gateway().await;
    let before = scrape(&app).await;
    app.stranger().get("/api/token/").await.refuses(401, "not_signed_in");
    for _ in 0..2 {
        app.stranger().with_access_token("kma_unknown").get("/api/token/").await.refuses(401, "invalid_credential");
    }
    app.holder_of("sk-unknown").get("/api/usage/token/").await.refuses(401, "invalid_key");
    app.stranger().post("/api/gateway/verify", json!({})).await.refuses(401, "invalid_gateway");
    let login = json!({ "username": "root", "password": "wrong" });
    app.stranger().post("/api/user/login", login).await.refuses(401, "wrong_credentials");
    // Also the key that a gateway charges.
    gateway.post("/api/gateway/charge", json!({ "key": "sk-unknown", "quota": 1 })).await.refuses(401, "invalid_key");

    let after = scrape(&app).await;
    let grew = |kind: &str| growth(&before, &after, &format!(r#"keymeter_auth_failures_total{{kind="{kind}"}}"#));
    assert_eq!(grew("not_signed_in"), 1.0);
    assert_eq!(grew("invalid_credential"), 2.0);
    assert_eq!(grew("invalid_key"), 2.0);
    assert_eq!(grew("invalid_gateway"), 1.0);
    assert_eq!(grew("wrong_credentials"), 1.0);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_version_and_the_database_connections_are_shown(pool: PgPool) {
    let app = TestApp::new(pool.clone()).await;
    let before = scrape(&app).await;
    let version = format!("keymeter_build_info{{version=\"{}\",commit=\"\",server=", env!("CARGO_PKG_VERSION"));
    assert!(before.iter().any(|(name, value)| name.starts_with(&version) && *value == 1.0), "{before:?}");
    let held = pool.acquire().await.unwrap();
    app.user("ben").await;
    let ready = app.stranger().get("/readyz").await.ok();
    assert_eq!(ready["degraded"], json!([]), "asked on a connection of its own");
    let after = scrape(&app).await;
    assert!(growth(&before, &after, "keymeter_db_acquire_seconds_count") >= 1.0);
    assert!(after[r#"keymeter_db_connections{state="in_use"}"#] >= 1.0);
    assert!(after.contains_key(r#"keymeter_db_connections{state="idle"}"#));
    drop(held);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn operations_of_the_ledger_and_look_ups_of_keys_are_counted_exactly(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let before = scrape(&app).await;
    let call = async |name: &str, body| gateway.post(&format!("/api/gateway/{name}"), body).await;

    call("charge", json!({ "key": key, "quota": 30, "request_id": "a" })).await.ok();
    call("charge", json!({ "key": key, "quota": 30, "request_id": "a" })).await.ok();
    call("charge", json!({ "key": key, "quota": 31, "request_id": "a" })).await.refuses(409, "request_id_reused");
    call("charge", json!({ "key": key, "quota": 71 })).await.refuses(402, "token_quota_insufficient");
    let reserve = async |quota: i64| call("reserve", json!({ "key": key, "quota": quota })).await.ok();
    let settled = reserve(40).await["reservation_id"].clone();
    let released = reserve(0).await;
    call("release", json!({ "reservation_id": released["reservation_id"] })).await.ok();
    call("settle", json!({ "reservation_id": settled, "quota": 90 })).await.ok();
    call("verify", json!({ "key": key })).await.ok();

    let after = scrape(&app).await;
    let grew = |name: &str| growth(&before, &after, name);
    let operations = |operation: &str, outcome: &str| {
        grew(&format!(r#"keymeter_ledger_operations_total{{operation="{operation}",outcome="{outcome}"}}"#))
    };
    assert_eq!((operations("charge", "ok"), operations("charge", "refused")), (2.0, 2.0));
    assert_eq!((operations("reserve", "ok"), operations("settle", "ok"), operations("release", "ok")), (2.0, 1.0, 1.0));
    assert_eq!(grew(r#"keymeter_refused_requests_total{reason="token_quota_insufficient"}"#), 1.0);
    assert_eq!(grew("keymeter_refused_requests_uncounted_total"), 0.0);
    // A charge of 30, and 70 of the 90 that the reservation cost: the token had no more.
    assert_eq!(grew("keymeter_ledger_quota_total"), 100.0);
    assert_eq!(grew("keymeter_ledger_shortfall_quota_total"), 20.0);
    // One caller after the other: each operation is a batch of its own.
    assert_eq!(grew("keymeter_ledger_batch_operations_count"), 8.0);
    assert_eq!(grew("keymeter_ledger_batch_operations_sum"), 8.0);
    for step in ["lock", "write", "commit"] {
        assert_eq!(grew(&format!(r#"keymeter_ledger_batch_seconds_count{{step="{step}"}}"#)), 8.0);
    }
    // A refusal that tells of no commit waits for no disk.
    assert_eq!(grew(r#"keymeter_ledger_batch_seconds_count{step="flush"}"#), 7.0);
    assert_eq!(grew("keymeter_ledger_wait_seconds_count"), 8.0);
    assert_eq!(grew("keymeter_ledger_busy_total"), 0.0);
    assert_eq!(after["keymeter_ledger_queue"], 0.0);
    // The first charge read the key; five more operations and `verify` found it.
    let lookups = |result: &str| grew(&format!(r#"keymeter_key_cache_lookups_total{{result="{result}"}}"#));
    assert_eq!((lookups("hit"), lookups("miss"), lookups("unknown")), (6.0, 1.0, 0.0));
    assert_eq!(after["keymeter_key_cache_entries"], 1.0);
    assert_eq!(after["keymeter_invalidation_connected"], 0.0);
    assert_eq!(after["keymeter_invalidation_lost_total"], 0.0);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn operations_md_lists_every_metric_and_no_others(pool: PgPool) {
    let page = project_file("docs/operations.md");
    let table =
        page.split("<!-- metrics -->").nth(1).and_then(|rest| rest.split("<!-- end of metrics -->").next()).unwrap();
    let documented: BTreeSet<String> = table
        .lines()
        .filter_map(|row| row.strip_prefix("| `")?.split('`').next())
        .filter(|name| !name.starts_with("process_"))
        .map(str::to_owned)
        .collect();
    let app = TestApp::new(pool).await;
    // A metric with labels appears with its first sample: a charge, a refused one and a refused call are one of each.
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 1 })).await;
    app.fills(&ana, 1).await;
    gateway.post("/api/gateway/charge", json!({ "key": key, "quota": 1 })).await.ok();
    gateway.post("/api/gateway/charge", json!({ "key": key, "quota": 1 })).await.refuses(402, "token_exhausted");
    app.stranger().get("/api/token/").await.refuses(401, "not_signed_in");
    let text = app.stranger().get("/metrics").await.text;
    let metrics: BTreeSet<String> = text
        .lines()
        .filter_map(|line| line.strip_prefix("# TYPE ")?.split_once(' '))
        .filter(|(name, _)| !name.starts_with("process_"))
        .map(|(name, kind)| match kind {
            "counter" => format!("{name}_total"),
            "info" => format!("{name}_info"),
            _ => name.to_owned(),
        })
        .collect();
    assert!(metrics.len() > 15, "{text}");
    let process = ["start_time_seconds", "cpu_seconds_total", "resident_memory_bytes", "open_fds", "max_fds"];
    for name in process.map(|name| format!("process_{name}")) {
        assert!(page.contains(&format!("`{name}`")) && text.contains(&format!("\n{name} ")), "{name} {text}");
    }
    assert_eq!(documented, metrics);
}
