//! Settings that administrators see, and those that everyone sees (spec §10.1 and §10.6).

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::TestApp;

const SETTINGS: &str = "/api/admin/settings";

fn setting(answer: &Value, name: &str) -> Value {
    let settings = answer["settings"].as_array().unwrap();
    settings.iter().find(|setting| setting["name"] == name).unwrap_or_else(|| panic!("no {name}")).clone()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn administrators_see_what_is_set_and_where(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_ACCOUNTS__REGISTRATION", "open")]).await;
    let shown = app.admin("carla").await.get(SETTINGS).await.ok();
    let registration = json!({
        "name": "accounts.registration", "variable": "KEYMETER_ACCOUNTS__REGISTRATION", "value": "open",
        "is_secret": false, "is_set": true, "is_default": false,
    });
    assert_eq!(setting(&shown, "accounts.registration"), registration);
    let contact = json!({
        "name": "accounts.contact", "variable": "KEYMETER_ACCOUNTS__CONTACT", "value": "",
        "is_secret": false, "is_set": false, "is_default": true,
    });
    assert_eq!(setting(&shown, "accounts.contact"), contact);
    let logo = json!({
        "name": "dashboard.logo", "variable": "KEYMETER_DASHBOARD__LOGO", "value": "",
        "is_secret": false, "is_set": false, "is_default": true,
    });
    assert_eq!(setting(&shown, "dashboard.logo"), logo);
    let groups = shown["groups"].as_array().unwrap();
    assert!(groups.iter().any(|group| group["name"] == "default" && group["open"] == true), "{groups:?}");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn secrets_are_never_shown(pool: PgPool) {
    let secret = "0123456789abcdef".repeat(4);
    let app = TestApp::with(pool, &[("KEYMETER_SECRETS__MASTER_KEY", &secret)]).await;
    let answer = app.root().await.get(SETTINGS).await;
    assert!(!answer.text.contains(&secret));
    let shown = setting(&answer.ok(), "secrets.master_key");
    assert_eq!((&shown["value"], &shown["is_secret"], &shown["is_set"]), (&Value::Null, &json!(true), &json!(true)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn others_see_no_settings(pool: PgPool) {
    let app = TestApp::new(pool).await;
    app.stranger().get(SETTINGS).await.refuses(401, "not_signed_in");
    app.enabled_user("ana").await.get(SETTINGS).await.refuses(403, "not_an_administrator");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn everyone_sees_which_installation_this_is(pool: PgPool) {
    let status = TestApp::new(pool.clone()).await.stranger().get("/api/status").await.ok();
    for (field, value) in [("system_name", "Keymeter"), ("logo", ""), ("contact", "")] {
        assert_eq!(status[field], value, "{field}");
    }
    let logo = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(logo.path(), "<svg/>").unwrap();
    let settings = [
        ("KEYMETER_DASHBOARD__NAME", "Ships & Co."),
        ("KEYMETER_DASHBOARD__LOGO", logo.path().to_str().unwrap()),
        ("KEYMETER_ACCOUNTS__CONTACT", "https://help.example.org/keys"),
    ];
    let app = TestApp::with(pool, &settings).await;
    let status = app.stranger().get("/api/status").await.ok();
    assert_eq!(status["system_name"], "Ships & Co.");
    assert_eq!(status["logo"], "/dashboard-logo");
    assert_eq!(status["contact"], "https://help.example.org/keys");
    assert_eq!(status["name"], "keymeter", "programs recognise the software by it");
    let shown = app.admin("carla").await.get(SETTINGS).await.ok();
    assert_eq!(setting(&shown, "dashboard.name")["value"], "Ships & Co.");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn everyone_sees_the_address_of_the_gateway(pool: PgPool) {
    let app = TestApp::new(pool.clone()).await;
    assert_eq!(app.stranger().get("/api/status").await.ok()["api_base_url"], "");
    let app = TestApp::with(pool, &[("KEYMETER_DASHBOARD__API_BASE_URL", "https://llm.example.org/v1/")]).await;
    assert_eq!(app.stranger().get("/api/status").await.ok()["api_base_url"], "https://llm.example.org/v1");
}
