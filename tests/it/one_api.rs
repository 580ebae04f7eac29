//! Specification §14.1: the shapes that tools of one-api read, with the setting `compat.client` and without it.

use http::Method;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::gateway::asks;
use crate::harness::{Caller, TestApp};

/// The service with its defaults, then the same for tools of one-api, on one database.
async fn both(pool: PgPool) -> (TestApp, TestApp) {
    let models = ("KEYMETER_MODELS__NAMES", "gpt-4o,o1");
    let new_api = TestApp::with(pool.clone(), &[models]).await;
    let one_api = TestApp::with(pool, &[models, ("KEYMETER_COMPAT__CLIENT", "one-api")]).await;
    (new_api, one_api)
}

async fn create(ana: &Caller, count: usize) {
    for nth in 1..=count {
        ana.creates(json!({ "name": format!("key {nth}"), "remain_quota": 100 - nth })).await;
    }
}

fn names(items: &Value) -> Vec<&str> {
    items.as_array().unwrap().iter().map(|item| item["name"].as_str().unwrap()).collect()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn lists_and_searches_of_tokens_are_arrays(pool: PgPool) {
    let (new_api, one_api) = both(pool).await;
    let ana = new_api.enabled_user("ana").await;
    create(&ana, 12).await;
    let tool = ana.at(&one_api);
    let ten = tool.get("/api/token/").await.ok();
    assert_eq!((names(&ten).len(), names(&ten)[0]), (10, "key 12"));
    assert_eq!(ten[0]["key"], "", "as compat.list_key says");
    assert_eq!(names(&tool.get("/api/token/?p=0").await.ok()), names(&ten));
    assert_eq!(names(&tool.get("/api/token/?p=1").await.ok()), ["key 2", "key 1"]);
    assert_eq!(tool.get("/api/token/?p=2").await.ok(), json!([]));
    assert_eq!(names(&tool.get("/api/token/?p=0&size=100").await.ok()).len(), 12);
    assert_eq!(names(&tool.get("/api/token/?p=0&order=remain_quota").await.ok())[..2], ["key 1", "key 2"]);
    assert_eq!(names(&tool.get("/api/token/?p=0&order=").await.ok()), names(&ten));
    assert_eq!(names(&tool.get("/api/token/search?keyword=key").await.ok()).len(), 12, "a search has no pages");
    assert_eq!(names(&tool.get("/api/token/search?keyword=key&size=3").await.ok()).len(), 3);
    // one-api does not know `page_size`: a client that sends it, such as the dashboard, gets pages.
    for query in ["/api/token/?p=1&page_size=5", "/api/token/?p=1&ps=5", "/api/token/search?keyword=key&page_size=5"] {
        let page = tool.get(query).await.ok();
        assert_eq!(json!([page["page"], page["page_size"], page["total"]]), json!([1, 5, 12]), "{query}");
        assert_eq!(names(&page["items"]), names(&ana.get(query).await.ok()["items"]), "{query}");
    }

    for path in ["/api/token/", "/api/token/search?keyword=key"] {
        let page = ana.get(path).await.ok();
        assert_eq!((&page["page"], &page["total"], names(&page["items"]).len()), (&json!(0), &json!(12), 10));
    }
    ana.get("/api/token/?order=remain_quota").await.refuses(400, "invalid_filter");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_masked_key_is_in_lists_if_both_settings_say_so(pool: PgPool) {
    let settings = [("KEYMETER_COMPAT__CLIENT", "one-api"), ("KEYMETER_COMPAT__LIST_KEY", "masked")];
    let app = TestApp::with(pool, &settings).await;
    let ana = app.enabled_user("ana").await;
    create(&ana, 1).await;
    let listed = ana.get("/api/token/").await.ok();
    assert_eq!(listed[0]["key"], listed[0]["masked_key"]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_log_is_an_array_and_counts_pages_from_0(pool: PgPool) {
    let (new_api, one_api) = both(pool).await;
    let (ana, gateway) = (new_api.enabled_user("ana").await, new_api.gateway().await);
    new_api.fills(&ana, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    for quota in 1..=12 {
        asks(&gateway, "charge", &json!({ "key": key, "quota": quota, "model": "o1" })).await.ok();
    }
    let tool = ana.at(&one_api);
    let quotas = async |path: &str| {
        let rows = tool.get(path).await.ok();
        rows.as_array().unwrap().iter().map(|row| row["quota"].as_i64().unwrap()).collect::<Vec<_>>()
    };
    let newest: Vec<i64> = (3..=12).rev().collect();
    assert_eq!(quotas("/api/log/self").await, newest);
    assert_eq!(quotas("/api/log/self?p=0&type=0&token_name=&model_name=&start_timestamp=0").await, newest);
    assert_eq!(quotas("/api/log/self?p=1").await, [2, 1]);
    assert!(quotas("/api/log/self?p=0&type=1").await.is_empty());
    let page = json!([1, 10, 12]);
    for caller in [&tool, &ana] {
        let data = caller.get("/api/log/self?p=1&page_size=10").await.ok();
        assert_eq!(json!([data["page"], data["page_size"], data["total"]]), page);
    }
    let data = ana.get("/api/log/self?p=1").await.ok();
    assert_eq!(json!([data["page"], data["page_size"], data["total"]]), page);
    assert_eq!(data["items"][0]["quota"], 12);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn creating_a_key_answers_it(pool: PgPool) {
    let (new_api, one_api) = both(pool).await;
    let ana = new_api.enabled_user("ana").await;
    let tool = ana.at(&one_api);
    let answer = tool.post("/api/token/", json!({ "name": "one", "models": "o1", "subnet": "10.0.0.0/8" })).await;
    assert_eq!((answer.header("cache-control"), answer.header("preference-applied")), (Some("no-store"), None));
    let made = answer.ok();
    let whole = tool.get(&format!("/api/token/{}", made["id"])).await.ok();
    assert_eq!(made, whole);
    assert!(made["key"].as_str().is_some_and(|key| key.starts_with("sk-") && key.len() == 51));
    assert_eq!((&made["models"], &made["subnet"]), (&json!("o1"), &json!("10.0.0.0/8")));

    let answer = ana.post("/api/token/", json!({ "name": "two", "models": "o1", "subnet": "10.0.0.0/8" })).await;
    assert_eq!(answer.json(), json!({ "success": true, "message": "" }));
    let mut preferred = tool.request(Method::POST, "/api/token/");
    *preferred.body_mut() = json!({ "name": "three" }).to_string().into();
    preferred.headers_mut().insert("prefer", "return=representation".parse().unwrap());
    assert_eq!(tool.send(preferred).await.header("preference-applied"), Some("return=representation"));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_token_has_models_and_subnet(pool: PgPool) {
    let (new_api, one_api) = both(pool).await;
    let ana = new_api.enabled_user("ana").await;
    let tool = ana.at(&one_api);
    let table = [
        (json!({}), Some(""), ""),
        (json!({ "model_limits": "o1,gpt-4o", "model_limits_enabled": true }), Some("o1,gpt-4o"), ""),
        (json!({ "model_limits": "o1", "model_limits_enabled": false }), Some(""), ""),
        (json!({ "model_limits": "", "model_limits_enabled": true }), None, ""),
        (json!({ "allow_ips": "10.0.0.0/8\n192.0.2.1" }), Some(""), "10.0.0.0/8,192.0.2.1"),
    ];
    for (mut token, models, subnet) in table {
        token["name"] = json!("one");
        let id = ana.creates(token).await;
        let path = format!("/api/token/{id}");
        let read = tool.get(&path).await.ok();
        assert_eq!((read.get("models").and_then(Value::as_str), read["subnet"].as_str()), (models, Some(subnet)));
        assert_eq!(tool.get("/api/token/").await.ok()[0]["subnet"], subnet);
        let root = one_api.root().await;
        assert_eq!(root.get(&format!("/api/admin/tokens/{id}")).await.ok()["subnet"], subnet);
        // As it was read, it changes nothing, here and with the default.
        let before = ana.get(&path).await.ok();
        for caller in [&tool, &ana] {
            caller.put("/api/token/", read.clone()).await.ok();
            assert_eq!(ana.get(&path).await.ok(), before);
        }
        assert!(before.get("models").is_none() && before.get("subnet").is_none(), "not with the default");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn tools_change_models_and_subnet_in_the_object_that_they_read(pool: PgPool) {
    let (new_api, one_api) = both(pool).await;
    let ana = new_api.enabled_user("ana").await;
    let tool = ana.at(&one_api);
    let restricted =
        json!({ "name": "one", "model_limits": "o1", "model_limits_enabled": true, "allow_ips": "10.0.0.0/8" });
    let id = ana.creates(restricted).await;
    let path = format!("/api/token/{id}");
    for (models, subnet) in [("gpt-4o,o1", "192.0.2.1,192.0.2.2"), ("gpt-4o", "10.0.0.0/8"), ("", "")] {
        let mut changed = tool.get(&path).await.ok();
        (changed["models"], changed["subnet"]) = (json!(models), json!(subnet));
        ana.put("/api/token/", changed.clone()).await.refuses(400, "invalid_models");
        let answer = tool.put("/api/token/", changed).await.ok();
        assert_eq!((&answer["models"], &answer["subnet"]), (&json!(models), &json!(subnet)));
        let token = ana.get(&path).await.ok();
        assert_eq!(token["allow_ips"], subnet.replace(',', "\n"));
        assert_eq!(token["model_limits_enabled"], !models.is_empty());
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn of_two_names_for_one_limit_the_changed_one_counts_and_two_changes_are_refused(pool: PgPool) {
    let (_, one_api) = both(pool).await;
    let tool = one_api.enabled_user("ana").await;
    let restricted =
        json!({ "name": "one", "model_limits": "o1", "model_limits_enabled": true, "allow_ips": "10.0.0.0/8" });
    let id = tool.creates(restricted).await;
    let path = format!("/api/token/{id}");
    let read = tool.get(&path).await.ok();
    let changed = |changes: Value| {
        let mut token = read.clone();
        token.as_object_mut().unwrap().extend(changes.as_object().unwrap().clone());
        token
    };
    for (changes, code) in [
        (json!({ "models": "gpt-4o", "model_limits": "o3" }), "invalid_models"),
        (json!({ "models": "gpt-4o", "model_limits_enabled": false }), "invalid_models"),
        (json!({ "subnet": "192.0.2.1", "allow_ips": "192.0.2.2" }), "invalid_ips"),
    ] {
        tool.put("/api/token/", changed(changes)).await.refuses(400, code);
    }
    tool.put("/api/token/", json!({ "id": 7_000, "models": "x", "model_limits": "y" })).await.refuses(404, "not_found");
    tool.put("/api/token/", json!({ "models": "x", "model_limits": "y" })).await.refuses(400, "missing_field");
    assert_eq!(tool.get(&path).await.ok(), read);

    let new = json!({ "model_limits": "gpt-4o", "allow_ips": "192.0.2.1\n192.0.2.2" });
    let token = tool.put("/api/token/", changed(new)).await.ok();
    assert_eq!((&token["models"], &token["subnet"]), (&json!("gpt-4o"), &json!("192.0.2.1,192.0.2.2")));
    let mut open = token.clone();
    open["model_limits_enabled"] = json!(false);
    assert_eq!(tool.put("/api/token/", open).await.ok()["models"], "");
    // A new key has no earlier state that tells which name was changed.
    tool.post("/api/token/", changed(json!({ "models": "gpt-4o" }))).await.refuses(400, "invalid_models");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn available_models_are_those_of_the_setting(pool: PgPool) {
    let (new_api, one_api) = both(pool).await;
    let ana = new_api.user("ana").await;
    for app in [&new_api, &one_api] {
        assert_eq!(ana.at(app).get("/api/user/available_models").await.ok(), json!(["gpt-4o", "o1"]));
        app.stranger().get("/api/user/available_models").await.refuses(401, "not_signed_in");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn administrators_see_the_setting(pool: PgPool) {
    let (_, one_api) = both(pool).await;
    let shown = one_api.root().await.get("/api/admin/settings").await.ok();
    let is_it = |setting: &&Value| setting["name"] == "compat.client";
    assert_eq!(shown["settings"].as_array().unwrap().iter().find(is_it).unwrap()["value"], "one-api");
}
