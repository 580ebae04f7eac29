//! Specification §14: the endpoints that clients of other APIs of this family call: billing and models in the shape of
//! the OpenAI API, and single charges as the rows of a log.

use http::Method;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::gateway::{app_with_wallet, asks};
use crate::harness::{Caller, START, TestApp};

const BILLING: [&str; 2] = ["/v1/dashboard/billing", "/dashboard/billing"];
/// Every path that the holder of a key calls.
const BY_KEY: [&str; 8] = [
    "/v1/dashboard/billing/subscription",
    "/v1/dashboard/billing/usage",
    "/v1/dashboard/billing/credit_grants",
    "/dashboard/billing/subscription",
    "/dashboard/billing/usage",
    "/dashboard/billing/credit_grants",
    "/v1/models",
    "/api/log/token",
];
const WRONG: &str = "this API key is not valid";

/// The body of a successful answer without an envelope.
async fn read(holder: &Caller, path: &str) -> Value {
    let answer = holder.get(path).await;
    assert_eq!((answer.status.as_u16(), answer.header("cache-control")), (200, Some("no-store")), "{}", answer.text);
    answer.json()
}

async fn charge(gateway: &Caller, key: &str, quota: i64, model: &str) {
    let body = json!({ "key": key, "quota": quota, "model": model, "prompt_tokens": 7, "completion_tokens": 3 });
    asks(gateway, "charge", &body).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_limited_key_shows_what_it_was_granted_and_what_it_spent(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 10_000_000).await;
    let expires = START + 3_600;
    let token = json!({ "name": "one", "remain_quota": 1_000_000, "expired_time": expires });
    let (_, key) = ana.creates_with_key(token).await;
    charge(&gateway, &key, 617_283, "gpt-4o").await;
    let holder = app.holder_of(&key);
    for root in BILLING {
        let subscription = json!({
            "object": "billing_subscription", "has_payment_method": true, "soft_limit_usd": 2, "hard_limit_usd": 2,
            "system_hard_limit_usd": 2, "access_until": expires,
        });
        assert_eq!(read(&holder, &format!("{root}/subscription")).await, subscription);
        // 617,283 units of 0.0002 cents. The dates are ignored, also those that are none.
        for dates in ["", "?start_date=2026-01-01&end_date=2026-01-02", "?start_date=x&start_date=y"] {
            let used = holder.get(&format!("{root}/usage{dates}")).await.text;
            assert_eq!(used, r#"{"object":"list","total_usage":123.4566}"#);
        }
        let grants = holder.get(&format!("{root}/credit_grants")).await.text;
        let expected =
            r#"{"object":"credit_summary","total_granted":2,"total_used":1.234566,"total_available":0.765434}"#;
        assert_eq!(grants, expected);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_key_of_unlimited_quota_shows_the_wallet_or_the_sentinel(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool.clone(), 1_500_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "free", "unlimited_quota": true })).await;
    charge(&gateway, &key, 500_000, "gpt-4o").await;
    let limit = async |app: &TestApp| {
        let holder = app.holder_of(&key);
        let subscription = read(&holder, "/v1/dashboard/billing/subscription").await;
        let grants = read(&holder, "/v1/dashboard/billing/credit_grants").await;
        assert_eq!((&subscription["access_until"], &grants["total_used"]), (&json!(0), &json!(1)));
        assert_eq!(subscription["hard_limit_usd"], grants["total_granted"]);
        (grants["total_granted"].clone(), grants["total_available"].clone())
    };
    assert_eq!(limit(&app).await, (json!(3), json!(2)));
    let sentinel = TestApp::with(pool, &[("KEYMETER_COMPAT__UNLIMITED_LIMIT", "sentinel")]).await;
    assert_eq!(limit(&sentinel).await, (json!(100_000_000), json!(99_999_999)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn models_are_those_of_the_key_or_of_the_setting(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_MODELS__NAMES", "gpt-4o,o1")]).await;
    let ana = app.enabled_user("ana").await;
    let (_, any) = ana.creates_with_key(json!({ "name": "any" })).await;
    let only = json!({ "name": "only", "model_limits_enabled": true, "model_limits": "claude-opus-4" });
    let (_, only) = ana.creates_with_key(only).await;
    let model = |id: &str| json!({ "id": id, "object": "model", "created": 0, "owned_by": "keymeter" });
    let all = json!({ "object": "list", "data": [model("gpt-4o"), model("o1")] });
    assert_eq!(read(&app.holder_of(&any), "/v1/models").await, all);
    let one = json!({ "object": "list", "data": [model("claude-opus-4")] });
    assert_eq!(read(&app.holder_of(&only), "/v1/models").await, one);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_key_lists_its_own_charges_newest_first(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 10_000_000).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    let (_, other) = ana.creates_with_key(json!({ "name": "other", "unlimited_quota": true })).await;
    assert_eq!(app.holder_of(&key).get("/api/log/token").await.ok(), json!([]));
    charge(&gateway, &key, 100, "gpt-4o").await;
    charge(&gateway, &other, 999, "gpt-4o").await;
    app.clock.advance(86_400);
    charge(&gateway, &key, 200, "o1").await;
    let answer = app.holder_of(&key).get("/api/log/token").await;
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let rows = answer.ok();
    let row = |at: i64, quota: i64, model: &str, id_of_row: &Value| {
        json!({
            "id": id_of_row, "created_at": at, "type": 2, "content": "", "username": "ana", "token_name": "one",
            "token_id": id, "model_name": model, "quota": quota, "prompt_tokens": 7, "completion_tokens": 3,
            "use_time": 0, "is_stream": false, "channel": 0, "group": "", "ip": "", "request_id": "", "other": "",
        })
    };
    let expected = json!([row(START + 86_400, 200, "o1", &rows[0]["id"]), row(START, 100, "gpt-4o", &rows[1]["id"])]);
    assert_eq!(rows, expected);
    assert!(rows[0]["id"].as_i64() > rows[1]["id"].as_i64());
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_key_lists_at_most_1000_charges(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 10_000_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    for batch in 0..11 {
        let one = |n: i64| json!({ "key": key, "quota": batch * 100 + n });
        let charges: Vec<Value> = (1..=100).map(one).collect();
        asks(&gateway, "charges", &json!({ "charges": charges })).await.ok();
        app.clock.advance(1);
    }
    let rows = app.holder_of(&key).get("/api/log/token").await.ok();
    let quotas: Vec<i64> = rows.as_array().unwrap().iter().map(|row| row["quota"].as_i64().unwrap()).collect();
    assert_eq!((quotas.len(), quotas.iter().max(), quotas.iter().min()), (1_000, Some(&1_100), Some(&101)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_user_pages_through_the_charges_of_all_tokens(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 10_000_000).await;
    let (deleted, first) = ana.creates_with_key(json!({ "name": "first", "unlimited_quota": true })).await;
    let (_, second) = ana.creates_with_key(json!({ "name": "second", "unlimited_quota": true })).await;
    let ben = app.enabled_user("ben").await;
    app.fills(&ben, 1_000).await;
    let (_, foreign) = ben.creates_with_key(json!({ "name": "first", "unlimited_quota": true })).await;
    for n in 1..=5 {
        charge(&gateway, if n % 2 == 1 { &first } else { &second }, n, if n < 4 { "gpt-4o" } else { "o1" }).await;
        app.clock.advance(10);
    }
    charge(&gateway, &foreign, 900, "gpt-4o").await;
    ana.delete(&format!("/api/token/{deleted}")).await.ok();
    let quotas = async |query: &str| {
        let (quotas, total) = ana.page(&format!("/api/log/self{query}"), "quota").await;
        (quotas.iter().map(|quota| quota.as_i64().unwrap()).collect::<Vec<_>>(), total)
    };
    assert_eq!(quotas("").await, (vec![5, 4, 3, 2, 1], 5));
    assert_eq!(quotas("?p=1&page_size=2").await, (vec![5, 4], 5));
    assert_eq!(quotas("?p=3&page_size=2").await, (vec![1], 5));
    assert_eq!(quotas("?p=4&page_size=2").await, (vec![], 5));
    assert_eq!(quotas("?p=0&page_size=2").await, (vec![5, 4], 5));
    assert_eq!(quotas("?token_name=second").await, (vec![4, 2], 2));
    assert_eq!(quotas("?model_name=o1").await, (vec![5, 4], 2));
    assert_eq!(quotas("?model_name=o1&token_name=first").await, (vec![5], 1));
    // A total that is not on the page is counted with the same filter.
    assert_eq!(quotas("?model_name=o1&page_size=1").await, (vec![5], 2));
    assert_eq!(quotas("?token_name=second&page_size=1").await, (vec![4], 2));
    assert_eq!(quotas("?token_name=second&page_size=1&p=2").await, (vec![2], 2));
    assert_eq!(quotas("?model_name=&token_name=&start_timestamp=0&end_timestamp=0&type=0").await.1, 5);
    assert_eq!(quotas(&format!("?start_timestamp={}", START + 10)).await, (vec![5, 4, 3, 2], 4));
    assert_eq!(quotas(&format!("?end_timestamp={}", START + 10)).await, (vec![2, 1], 2));
    let middle = format!("?start_timestamp={}&end_timestamp={}", START + 10, START + 20);
    assert_eq!(quotas(&middle).await, (vec![3, 2], 2));
    assert_eq!(quotas("?type=2").await.1, 5);
    for other in [1, 3, 4, 5, 6, -1] {
        assert_eq!(quotas(&format!("?type={other}")).await, (vec![], 0));
    }
    let far = i64::MAX;
    assert_eq!(quotas(&format!("?p={far}&page_size=100")).await.0, Vec::<i64>::new());
    let page = ana.get("/api/log/self?p=2&page_size=3").await.ok();
    assert_eq!((&page["page"], &page["page_size"]), (&json!(2), &json!(3)));
    assert_eq!(page["items"][0]["token_name"], "second");
    assert_eq!(page["items"][0]["username"], "ana");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn pages_reach_the_newest_10000_charges(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 10_000_000).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    charge(&gateway, &key, 1, "gpt-4o").await;
    sqlx::query(
        "insert into charges (at, token_id, user_id, model, quota, shortfall, prompt_tokens, completion_tokens, day) \
         select at, token_id, user_id, model, 1, 0, 0, 0, day from charges, generate_series(1, 10050)",
    )
    .execute(&app.pool)
    .await
    .unwrap();
    let total = async |query: &str| ana.page(&format!("/api/log/self{query}"), "id").await;
    let (rows, count) = total("?p=100&page_size=100").await;
    assert_eq!((rows.len(), count), (100, 10_000));
    let (rows, count) = total("?p=101&page_size=100").await;
    assert_eq!((rows.len(), count), (0, 10_000));
    assert_eq!(ana.get(&format!("/api/token/{id}")).await.ok()["id"], id);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_spend_of_a_user_is_exact_and_rates_are_those_of_the_last_minute(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 10_000_000).await;
    let stat = async |query: &str| ana.get(&format!("/api/log/self/stat{query}")).await.ok();
    assert_eq!(stat("").await, json!({ "quota": 0, "rpm": 0, "tpm": 0 }));
    let (_, first) = ana.creates_with_key(json!({ "name": "first", "unlimited_quota": true })).await;
    let (_, second) = ana.creates_with_key(json!({ "name": "second", "unlimited_quota": true })).await;
    charge(&gateway, &first, 100, "gpt-4o").await;
    app.clock.advance(60);
    charge(&gateway, &first, 20, "gpt-4o").await;
    charge(&gateway, &second, 3, "o1").await;
    assert_eq!(stat("").await, json!({ "quota": 123, "rpm": 2, "tpm": 20 }));
    assert_eq!(stat(&format!("?start_timestamp={}", START + 1)).await["quota"], 23);
    assert_eq!(stat(&format!("?end_timestamp={START}")).await["quota"], 100);
    assert_eq!(stat("?token_name=second").await["quota"], 3);
    assert_eq!(stat("?model_name=gpt-4o").await["quota"], 120);
    assert_eq!(stat("?type=1").await, json!({ "quota": 0, "rpm": 2, "tpm": 20 }));
    // What the account ever spent stays when single charges are gone.
    sqlx::query("delete from charges").execute(&app.pool).await.unwrap();
    assert_eq!(stat("").await, json!({ "quota": 123, "rpm": 0, "tpm": 0 }));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn wrong_queries_are_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    for path in ["/api/log/self", "/api/log/self/stat"] {
        for name in ["type", "start_timestamp", "end_timestamp"] {
            let answer = ana.get(&format!("{path}?{name}=soon")).await;
            answer.refuses_saying(400, "invalid_query", &format!("`{name}` must be a whole number"));
        }
        for name in ["token_name", "model_name"] {
            let answer = ana.get(&format!("{path}?{name}=%00")).await;
            answer.refuses_saying(400, "invalid_query", &format!("`{name}` contains control characters"));
        }
    }
    ana.get("/api/log/self?p=x").await.refuses_saying(400, "invalid_page", "`p` must be a whole number from 0");
    let size = "the page size must be a whole number from 0";
    ana.get("/api/log/self?page_size=-1").await.refuses_saying(400, "invalid_page", size);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn failures_below_v1_and_dashboard_have_the_shape_of_the_openai_api(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one" })).await;
    let nothing = "send the API key as `Authorization: Bearer sk-…`";
    let in_address = "send the API key as `Authorization: Bearer sk-…`, not in the address: addresses are logged";
    let disabled = "the account of this API key is disabled";
    for path in BY_KEY.iter().filter(|path| **path != "/api/log/token") {
        let kind = "authentication_error";
        app.stranger().get(path).await.is_openai_failure(401, kind, "invalid_key", nothing);
        app.holder_of("sk-wrong").get(path).await.is_openai_failure(401, kind, "invalid_key", WRONG);
        let answer = app.holder_of(&key).get(&format!("{path}?key={key}")).await;
        answer.is_openai_failure(401, kind, "invalid_key", in_address);
    }
    app.holder_of(&key).get(&format!("/api/log/token?key={key}")).await.refuses_saying(401, "invalid_key", in_address);
    app.holder_of("sk-wrong").get("/api/log/token").await.refuses_saying(401, "invalid_key", WRONG);
    app.root().await.patch(&format!("/api/admin/users/{}", ana.id), json!({ "status": 2 })).await.ok();
    let answer = app.holder_of(&key).get("/v1/models").await;
    answer.is_openai_failure(403, "permission_error", "user_disabled", disabled);
    app.holder_of(&key).get("/api/log/token").await.refuses_saying(403, "user_disabled", disabled);
    assert!(id > 0);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn unknown_paths_below_v1_are_404_also_for_browsers_and_with_errors_as_200(pool: PgPool) {
    let plain = TestApp::new(pool.clone()).await;
    let as_200 = TestApp::with(pool, &[("KEYMETER_HTTP__ERRORS_AS_200", "true")]).await;
    for app in [plain, as_200] {
        for path in ["/v1/usage", "/v1", "/v1/chat/completions", "/dashboard/billing", "/dashboard/billing/invoices"] {
            let mut request = app.stranger().request(Method::GET, path);
            request.headers_mut().insert("accept", "text/html".parse().unwrap());
            let answer = app.stranger().send(request).await;
            answer.is_openai_failure(404, "invalid_request_error", "not_found", "this path does not exist");
        }
        // A page of the dashboard whose name begins like it.
        assert!(app.stranger().get("/v1x").await.error_code().is_some_and(|code| code == "not_found"));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn these_calls_have_a_limit_of_their_own_for_each_key_and_user(pool: PgPool) {
    let settings = [("KEYMETER_LIMITS__DROP_IN_PER_MINUTE", "2"), ("KEYMETER_LIMITS__USAGE_PER_MINUTE", "1")];
    let app = TestApp::with(pool, &settings).await;
    let ana = app.enabled_user("ana").await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one" })).await;
    let (_, other) = ana.creates_with_key(json!({ "name": "two" })).await;
    let holder = app.holder_of(&key);
    holder.get("/api/usage/token").await.ok();
    read(&holder, "/v1/models").await;
    holder.get("/api/log/token").await.ok();
    let late = "too many requests; try again in 30 s";
    let answer = holder.get("/dashboard/billing/usage").await;
    answer.is_openai_failure(429, "rate_limit_error", "rate_limited", late);
    assert_eq!(answer.header("retry-after"), Some("30"));
    holder.get("/api/log/token").await.refuses_saying(429, "rate_limited", late);
    read(&app.holder_of(&other), "/v1/models").await;
    ana.get("/api/log/self").await.ok();
    ana.get("/api/log/self/stat").await.ok();
    ana.get("/api/log/self").await.refuses_saying(429, "rate_limited", late);
    ana.get("/api/log/self/stat").await.refuses_saying(429, "rate_limited", late);
    app.clock.advance(30);
    read(&holder, "/v1/models").await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn disabled_expired_and_exhausted_keys_can_be_read(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let (disabled, disabled_key) = ana.creates_with_key(json!({ "name": "disabled" })).await;
    ana.put("/api/token/?status_only=1", json!({ "id": disabled, "status": 2 })).await.ok();
    let (_, expired_key) = ana.creates_with_key(json!({ "name": "expired", "expired_time": START - 1 })).await;
    for key in [disabled_key, expired_key] {
        for path in BY_KEY {
            assert_eq!(app.holder_of(&key).get(path).await.status, 200, "{path}");
        }
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_status_says_that_amounts_are_dollars(pool: PgPool) {
    let app = TestApp::new(pool).await;
    assert_eq!(app.stranger().get("/api/status").await.ok()["quota_display_type"], "USD");
}
