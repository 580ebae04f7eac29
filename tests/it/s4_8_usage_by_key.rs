//! Specification §4.8, token usage by key, and §2.3, the Token usage object.

use std::net::SocketAddr;

use axum::extract::ConnectInfo;
use http::Method;
use serde_json::json;
use sqlx::PgPool;

use crate::harness::limits::{no_period_usage, no_rate_limits};
use crate::harness::{Answer, START, TestApp};

const PATH: &str = "/api/usage/token/";
const HERE: &str = "192.0.2.1";
const WRONG: &str = "this API key is not valid";

/// Reads the usage with this `Authorization`, from this address.
async fn get_usage(app: &TestApp, authorization: &str, from: &str) -> Answer {
    get_from(app, PATH, authorization, from).await
}

async fn get_from(app: &TestApp, path: &str, authorization: &str, from: &str) -> Answer {
    let mut request = app.stranger().request(Method::GET, path);
    request.headers_mut().insert("authorization", authorization.parse().unwrap());
    request.extensions_mut().insert(ConnectInfo(SocketAddr::new(from.parse().unwrap(), 4711)));
    app.stranger().send(request).await
}

#[track_caller]
fn refused(answer: &Answer, status: u16, error: &str, message: &str) {
    let envelope = json!({ "code": false, "success": false, "message": message, "error": error });
    assert_eq!((answer.status.as_u16(), answer.json()), (status, envelope));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_key_reads_its_own_usage_without_a_login(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    app.root().await.post(&format!("/api/admin/users/{}/quota", ana.id), json!({ "set": 250_001 })).await.ok();
    let (id, key) = ana
        .creates_with_key(json!({
            "name": "for the CI", "remain_quota": 1_000_000, "expired_time": START + 60,
            "model_limits_enabled": true, "model_limits": "o1,gpt-4o",
        }))
        .await;
    app.spend(id, 1).await;
    let answer = app.holder_of(&key).get(PATH).await;
    let expected = json!({
        "code": true,
        "message": "ok",
        "data": {
            "object": "token_usage", "name": "for the CI",
            "total_usd_granted": 2, "total_usd_used": 0.000_002, "total_usd_available": 1.999_998,
            "total_granted": 1_000_000, "total_used": 1, "total_available": 999_999,
            "unlimited_quota": false, "model_limits": { "gpt-4o": true, "o1": true }, "model_limits_enabled": true,
            "expires_at": START + 60, "user_usd_available": 0.500_002,
            "period_usage": no_period_usage(), "rate_limits": no_rate_limits(),
        },
    });
    assert_eq!(answer.json(), expected);
    assert_eq!((answer.status.as_u16(), answer.header("cache-control")), (200, Some("no-store")));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_token_without_expiry_shows_0_and_one_without_models_shows_an_empty_map(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (_, key) =
        app.enabled_user("ana").await.creates_with_key(json!({ "name": "free", "unlimited_quota": true })).await;
    let usage = app.holder_of(&key).get(PATH).await.ok();
    assert_eq!(usage["expires_at"], 0);
    assert_eq!(usage["unlimited_quota"], true);
    assert_eq!(usage["model_limits"], json!({}));
    assert_eq!(usage["model_limits_enabled"], false);
    assert_eq!(usage["user_usd_available"], 0);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn dollars_are_exact_decimals_of_at_most_six_places(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (id, key) = app.enabled_user("ana").await.creates_with_key(json!({ "name": "exact" })).await;
    let table = [
        (0_i64, 0_i64, "0", "0", "0"),
        (0, 1, "0.000002", "0.000002", "0"),
        (617_283, 1, "1.234568", "0.000002", "1.234566"),
        (500_000, 250_000, "1.5", "0.5", "1"),
        (500_000_000_000_000, 0, "1000000000", "0", "1000000000"),
        (500_000_000_000_000, 9_007_199_254_740_993, "19014398509.481986", "18014398509.481986", "1000000000"),
    ];
    for (remain, used, granted_usd, used_usd, available_usd) in table {
        sqlx::query("update tokens set remain_quota = $2, used_quota = $3 where id = $1")
            .bind(id)
            .bind(remain)
            .bind(used)
            .execute(&app.pool)
            .await
            .unwrap();
        let text = app.holder_of(&key).get(PATH).await.text;
        let fields = [("granted", granted_usd), ("used", used_usd), ("available", available_usd)];
        for (field, usd) in fields {
            assert!(text.contains(&format!("\"total_usd_{field}\":{usd},")), "{field} {usd}: {text}");
        }
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn disabled_expired_and_exhausted_tokens_can_be_read_from_any_address(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let (disabled, disabled_key) = ana.creates_with_key(json!({ "name": "disabled" })).await;
    ana.put("/api/token/?status_only=1", json!({ "id": disabled, "status": 2 })).await.ok();
    let (_, expired_key) = ana.creates_with_key(json!({ "name": "expired", "expired_time": START - 1 })).await;
    let (exhausted, exhausted_key) = ana.creates_with_key(json!({ "name": "exhausted", "remain_quota": 5 })).await;
    app.spend(exhausted, 5).await;
    let (_, bound_key) = ana.creates_with_key(json!({ "name": "bound", "allow_ips": "198.51.100.0/24" })).await;
    let keys =
        [("disabled", disabled_key), ("expired", expired_key), ("exhausted", exhausted_key), ("bound", bound_key)];
    for (name, key) in keys {
        assert_eq!(get_usage(&app, &format!("Bearer {key}"), HERE).await.ok()["name"], name);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn keys_of_a_disabled_owner_are_refused_and_those_of_a_deleted_owner_are_invalid(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, ana) = (app.root().await, app.enabled_user("ana").await);
    let (_, key) = ana.creates_with_key(json!({ "name": "one" })).await;
    let account = format!("/api/admin/users/{}", ana.id);
    root.patch(&account, json!({ "status": 2 })).await.ok();
    let answer = app.holder_of(&key).get(PATH).await;
    refused(&answer, 403, "user_disabled", "the account of this API key is disabled");
    root.patch(&account, json!({ "status": 1 })).await.ok();
    app.holder_of(&key).get(PATH).await.ok();
    root.delete(&account).await.ok();
    refused(&app.holder_of(&key).get(PATH).await, 401, "invalid_key", WRONG);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_missing_key_a_wrong_key_and_the_key_of_a_deleted_token_are_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one" })).await;
    let typo = format!("{}{}", &key[..key.len() - 1], if key.ends_with('0') { '1' } else { '0' });
    for wrong in ["sk-nonsense", typo.as_str(), "Basic YTpi", &key[..20], &format!("{key}0")] {
        refused(&get_usage(&app, &format!("Bearer {wrong}"), HERE).await, 401, "invalid_key", WRONG);
    }
    ana.delete(&format!("/api/token/{id}")).await.ok();
    refused(&get_usage(&app, &format!("Bearer {key}"), HERE).await, 401, "invalid_key", WRONG);
    let nothing = "send the API key as `Authorization: Bearer sk-…`";
    refused(&app.stranger().get(PATH).await, 401, "invalid_key", nothing);
    refused(&ana.get(PATH).await, 401, "invalid_key", nothing);
    refused(&get_usage(&app, "", HERE).await, 401, "invalid_key", nothing);
    refused(&get_usage(&app, "Bearer ", HERE).await, 401, "invalid_key", nothing);
    refused(&ana.by_access_token().await.get(PATH).await, 401, "invalid_key", WRONG);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn bearer_in_any_case_and_any_number_of_key_prefixes_are_accepted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (_, key) = app.enabled_user("ana").await.creates_with_key(json!({ "name": "one" })).await;
    let bare = key.strip_prefix("sk-").unwrap();
    for scheme in ["Bearer", "bearer", "BEARER", "bEaReR"] {
        for written in [bare.to_owned(), format!("sk-{bare}"), format!("sk-sk-{bare}"), format!("sk-sk-sk-{bare}")] {
            assert_eq!(get_usage(&app, &format!("{scheme} {written}"), HERE).await.ok()["name"], "one");
        }
    }
    for path in ["/api/usage/token", "/api/usage/token/"] {
        app.holder_of(&key).get(path).await.ok();
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn each_key_has_its_own_rate_limit(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_LIMITS__USAGE_PER_MINUTE", "2")]).await;
    let ana = app.enabled_user("ana").await;
    let (_, one) = ana.creates_with_key(json!({ "name": "one" })).await;
    let (_, two) = ana.creates_with_key(json!({ "name": "two" })).await;
    for _ in 0..2 {
        app.holder_of(&one).get(PATH).await.ok();
    }
    let answer = app.holder_of(&one).get(PATH).await;
    refused(&answer, 429, "rate_limited", "too many requests; try again in 30 s");
    assert_eq!(answer.header("retry-after"), Some("30"));
    app.holder_of(&two).get(PATH).await.ok();
    app.clock.advance(30);
    app.holder_of(&one).get(PATH).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn wrong_keys_are_limited_by_address_and_do_not_limit_valid_keys(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_LIMITS__WRONG_KEYS_PER_MINUTE", "2")]).await;
    let (_, key) = app.enabled_user("ana").await.creates_with_key(json!({ "name": "one" })).await;
    for from in [HERE, "::ffff:192.0.2.1"] {
        refused(&get_usage(&app, "Bearer sk-guess", from).await, 401, "invalid_key", WRONG);
    }
    let answer = get_usage(&app, "Bearer sk-guess", HERE).await;
    refused(&answer, 429, "rate_limited", "too many requests; try again in 30 s");
    assert_eq!(answer.header("retry-after"), Some("30"));
    for _ in 0..3 {
        get_usage(&app, &format!("Bearer {key}"), HERE).await.ok();
    }
    refused(&get_usage(&app, "Bearer sk-guess", "192.0.2.2").await, 401, "invalid_key", WRONG);
    app.clock.advance(30);
    refused(&get_usage(&app, "Bearer sk-guess", HERE).await, 401, "invalid_key", WRONG);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_address_with_too_many_wrong_keys_no_longer_reaches_the_database(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_LIMITS__WRONG_KEYS_PER_MINUTE", "3")]).await;
    let ana = app.enabled_user("ana").await;
    let (_, known) = ana.creates_with_key(json!({ "name": "known", "remain_quota": 5 })).await;
    let (deleted, guess) = ana.creates_with_key(json!({ "name": "deleted", "remain_quota": 5 })).await;
    ana.delete(&format!("/api/token/{deleted}")).await.ok();
    get_usage(&app, &format!("Bearer {known}"), HERE).await.ok();
    for path in [PATH, "/api/usage/token/daily"] {
        app.clock.advance(60);
        for _ in 0..3 {
            get_from(&app, path, &format!("Bearer {guess}"), HERE).await.refuses(401, "invalid_key");
        }
        // Without the table, a request that reaches the database fails with 500.
        sqlx::query("alter table tokens rename to tokens_renamed").execute(&app.pool).await.unwrap();
        for _ in 0..3 {
            get_from(&app, path, &format!("Bearer {guess}"), HERE).await.refuses(429, "rate_limited");
        }
        sqlx::query("alter table tokens_renamed rename to tokens").execute(&app.pool).await.unwrap();
        // A key that was accepted before still works at this address.
        get_from(&app, path, &format!("Bearer {known}"), HERE).await.ok();
        get_from(&app, path, &format!("Bearer {guess}"), "192.0.2.2").await.refuses(401, "invalid_key");
    }
    // Ten minutes later it is one of many again.
    app.clock.advance(600);
    for _ in 0..3 {
        get_usage(&app, &format!("Bearer {guess}"), HERE).await.refuses(401, "invalid_key");
    }
    get_usage(&app, &format!("Bearer {known}"), HERE).await.refuses(429, "rate_limited");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_wrong_method_is_refused_with_the_body_of_this_path(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let answer = app.stranger().post(PATH, json!({})).await;
    refused(&answer, 405, "method_not_allowed", "this path does not accept this method; see `Allow`");
    assert!(answer.header("allow").is_some_and(|allow| allow.split(',').any(|method| method == "GET")));
}
