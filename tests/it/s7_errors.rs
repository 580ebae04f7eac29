//! Spec §7, errors: one envelope for every failure, on every path.

use axum::body::Body;
use http::{Method, StatusCode};
use http_body_util::BodyExt;
use keymeter::api::middleware::every_request;
use serde_json::json;
use sqlx::PgPool;
use tower::ServiceExt;

use crate::harness::{Answer, Caller, TestApp};

const UNAVAILABLE: &str = "database unavailable; retry shortly";

async fn post_raw(caller: &Caller, path: &str, body: impl Into<Body>) -> Answer {
    let mut request = caller.request(Method::POST, path);
    *request.body_mut() = body.into();
    caller.send(request).await
}

async fn send_with_request_id(caller: &Caller, path: &str, id: &str) -> String {
    let mut request = caller.request(Method::GET, path);
    request.headers_mut().insert("x-request-id", http::HeaderValue::from_bytes(id.as_bytes()).unwrap());
    caller.send(request).await.header("x-request-id").unwrap().to_owned()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_failure_is_success_false_a_message_and_a_code(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let answer = app.stranger().get("/api/token/").await;
    let expected = json!({
        "success": false, "message": "sign in, or send an access token in `Authorization`", "error": "not_signed_in",
    });
    assert_eq!((answer.status.as_u16(), answer.json()), (401, expected));
    assert_eq!(answer.header("content-type"), Some("application/json"));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_unknown_path_is_not_found(pool: PgPool) {
    let app = TestApp::new(pool).await;
    for path in ["/nowhere", "/api", "/api/nowhere/", "/api/token/7/nowhere", "/api/token//7", "/api/user/%00"] {
        let answer = app.stranger().get(path).await;
        answer.refuses_saying(404, "not_found", "this path does not exist");
        assert!(answer.header("x-request-id").is_some());
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_wrong_method_is_refused_and_allow_names_the_right_ones(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let table = [
        (Method::DELETE, "/api/token/", vec!["GET", "HEAD", "POST", "PUT"]),
        (Method::PATCH, "/api/token/7", vec!["DELETE", "GET", "HEAD"]),
        (Method::GET, "/api/token/batch", vec!["POST"]),
        (Method::GET, "/api/user/login", vec!["POST"]),
        (Method::POST, "/api/status", vec!["GET", "HEAD"]),
        (Method::POST, "/healthz", vec!["GET", "HEAD"]),
    ];
    for (method, path, allowed) in table {
        let answer = app.stranger().send(app.stranger().request(method.clone(), path)).await;
        let mut named: Vec<_> = answer.header("allow").unwrap_or_default().split(',').map(str::trim).collect();
        named.sort_unstable();
        let message = "this path does not accept this method; see `Allow`";
        answer.refuses_saying(405, "method_not_allowed", message);
        assert_eq!(named, allowed, "{method} {path}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_body_may_have_at_most_1_mib(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let body = r#"{"name":"padded"}"#;
    let padded = |size: usize| format!("{body}{}", " ".repeat(size - body.len()));
    post_raw(&ana, "/api/token/", padded(1024 * 1024)).await.ok();
    for path in ["/api/token/", "/api/token/batch", "/api/user/access_tokens"] {
        let answer = post_raw(&ana, path, padded(1024 * 1024 + 1)).await;
        answer.refuses_saying(413, "body_too_large", "the body is larger than 1 MiB");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_invalid_body_is_refused_with_the_place_but_not_the_content(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let table: [(&[u8], &str, &str); 14] = [
        (b"", "invalid_json", "send a JSON object as the body"),
        (b" \n", "invalid_json", "send a JSON object as the body"),
        (b"{", "invalid_json", "the body is not valid JSON (line 1, column 1)"),
        (b"{\"name\":\n\"x\",}", "invalid_json", "the body is not valid JSON (line 2, column 5)"),
        (b"{\"name\":\"x\"} {}", "invalid_json", "the body is not valid JSON (line 1, column 14)"),
        (b"name=x", "invalid_json", "the body is not valid JSON (line 1, column 2)"),
        (b"[]", "invalid_json", "the body must be a JSON object"),
        (b"7", "invalid_json", "the body must be a JSON object"),
        (b"null", "invalid_json", "the body must be a JSON object"),
        (b"{\"name\":7}", "invalid_field", "`name` must be a string"),
        (b"{\"name\":\"x\",\"remain_quota\":\"secret\"}", "invalid_field", "`remain_quota` must be a whole number"),
        (b"{\"name\":\"x\",\"remain_quota\":1.5}", "invalid_field", "`remain_quota` must be a whole number"),
        (
            b"{\"name\":\"x\",\"expired_time\":9223372036854775808}",
            "invalid_field",
            "`expired_time` must be a whole number",
        ),
        (b"{\"name\":\"x\",\"unlimited_quota\":1}", "invalid_field", "`unlimited_quota` must be true or false"),
    ];
    for (body, error, message) in table {
        post_raw(&ana, "/api/token/", body.to_vec()).await.refuses_saying(400, error, message);
    }
    let not_utf8 = post_raw(&ana, "/api/token/", b"{\"name\":\"\xff\"}".to_vec()).await;
    not_utf8.refuses_saying(400, "invalid_json", "the body is not valid UTF-8");
    assert_eq!(ana.get("/api/token/").await.ok()["total"], 0);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_body_that_is_not_utf_8_is_refused_even_in_ignored_fields(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let gateway = app.gateway().await;
    let bodies: [&[u8]; 4] = [
        b"{\"name\":\"x\",\"ignored\":\"\xff\"}",
        b"{\"name\":\"x\",\"ignored\":{\"deep\":[\"\xed\xa0\x80\"]}}",
        b"{\"name\":\"x\",\"ign\xc0\xafored\":1}",
        b"{\"name\":\"x\",\"ignored\":\"\xc3\"}",
    ];
    for body in bodies {
        for (caller, path) in [
            (&ana, "/api/token/"),
            (&ana, "/api/user/access_tokens"),
            (&app.stranger(), "/api/user/login"),
            (&gateway, "/api/gateway/verify"),
        ] {
            let answer = post_raw(caller, path, body.to_vec()).await;
            answer.refuses_saying(400, "invalid_json", "the body is not valid UTF-8");
        }
    }
    assert_eq!(ana.get("/api/token/").await.ok()["total"], 0);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_nul_in_a_text_is_invalid_input_and_not_a_defect(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let root = app.root().await;
    let login = app.stranger().post("/api/user/login", json!({ "username": "a\0b", "password": "x" })).await;
    assert!(login.status.is_client_error(), "{}", login.text);
    for field in ["action", "subject_kind"] {
        let answer = root.get(&format!("/api/admin/audit?{field}=a%00b")).await;
        assert!(answer.status.as_u16() < 500, "{field}: {}", answer.text);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_invalid_path_id_and_a_repeated_parameter_are_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    for id in ["one", "1.5", "99999999999999999999", "%20"] {
        let answer = ana.get(&format!("/api/token/{id}")).await;
        answer.refuses_saying(400, "invalid_id", "the id in the path must be a whole number");
    }
    let message = "the query string cannot be read; send each parameter once";
    ana.get("/api/token/?p=1&p=2").await.refuses_saying(400, "invalid_query", message);
    ana.get("/api/token/?unknown=1&unknown=2").await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_answer_has_a_request_id_the_callers_if_it_is_well_formed(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.stranger();
    for path in ["/api/status", "/nowhere", "/api/token/", "/healthz"] {
        for accepted in ["a", "My-request_7.x", &"x".repeat(64)] {
            assert_eq!(send_with_request_id(&ana, path, accepted).await, accepted);
        }
        for refused in ["", "two words", "a\u{e9}b", "x;y", "<b>", &"x".repeat(65)] {
            let ours = send_with_request_id(&ana, path, refused).await;
            assert!(ours.len() == 32 && ours.bytes().all(|byte| byte.is_ascii_hexdigit()), "{refused} {ours}");
        }
    }
    let (one, two) = (ana.get("/api/status").await, ana.get("/api/status").await);
    assert_ne!(one.header("x-request-id"), two.header("x-request-id"));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn business_failures_are_200_if_the_setting_says_so(pool: PgPool) {
    let settings = [("KEYMETER_HTTP__ERRORS_AS_200", "true"), ("KEYMETER_LIMITS__SEARCH_PER_MINUTE", "1")];
    let app = TestApp::with(pool, &settings).await;
    let ana = app.makes(json!({ "username": "ana", "token_api_enabled": true, "max_tokens": 0 })).await;
    ana.get("/api/token/?p=x").await.refuses(200, "invalid_page");
    ana.get("/api/token/999999").await.refuses(200, "not_found");
    ana.post("/api/token/", json!({ "name": "one" })).await.refuses(200, "token_limit_reached");
    app.stranger().get("/api/token/").await.refuses(401, "not_signed_in");
    ana.get("/api/admin/users").await.refuses(403, "not_an_administrator");
    ana.delete("/api/token/").await.refuses(405, "method_not_allowed");
    post_raw(&ana, "/api/token/", " ".repeat(1024 * 1024 + 1)).await.refuses(413, "body_too_large");
    ana.get("/api/token/search").await.ok();
    ana.get("/api/token/search").await.refuses(429, "rate_limited");
    // Gateways and proxies decide by the status.
    let gateway = app.gateway().await;
    gateway.post("/api/gateway/charge", json!({ "key": "x" })).await.refuses(400, "missing_field");
    gateway
        .post("/api/gateway/settle", json!({ "reservation_id": "1", "quota": 1 }))
        .await
        .refuses(404, "reservation_not_found");
    for mistyped in ["/api/gateway", "/api/gateway/aut", "/api/gatway/auth", "/api/nothing"] {
        gateway.get(mistyped).await.refuses(404, "not_found");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn too_many_requests_say_when_to_retry(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_LIMITS__SEARCH_PER_MINUTE", "1")]).await;
    let ana = app.enabled_user("ana").await;
    ana.get("/api/token/search").await.ok();
    app.clock.advance(20);
    let answer = ana.get("/api/token/search").await;
    answer.refuses_saying(429, "rate_limited", "too many requests; try again in 40 s");
    assert_eq!(answer.header("retry-after"), Some("40"));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s8_2_an_account_writes_so_many_rows_a_minute_and_revokes_any_number(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_LIMITS__WRITES_PER_MINUTE", "5")]).await;
    let ana = app.enabled_user("ana").await;
    app.clock.advance(60);
    let first = ana.creates(json!({ "name": "one" })).await;
    let three = json!({ "tokens": [{ "name": "two" }, { "name": "three" }, { "name": "four" }] });
    let made = ana.post("/api/token/bulk", three.clone()).await.ok();
    let keys = json!({ "ids": [first, made[0]["id"]] });
    let refused = ana.post("/api/token/batch/keys", keys).await;
    refused.refuses_saying(429, "rate_limited", "too many requests; try again in 12 s");
    assert_eq!(refused.header("retry-after"), Some("12"));
    ana.get("/api/user/token").await.refuses(429, "rate_limited");
    ana.get("/api/token/").await.ok();
    ana.delete(&format!("/api/token/{first}")).await.ok();
    app.admin("carla").await.post("/api/token/bulk", three).await.ok();

    // One that is larger than the limit takes all of a minute.
    app.clock.advance(60);
    let many: Vec<_> = (0..9).map(|n| json!({ "name": format!("{n}") })).collect();
    ana.post("/api/token/bulk", json!({ "tokens": many })).await.ok();
    ana.post("/api/token/", json!({ "name": "one" })).await.refuses(429, "rate_limited");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_defect_answers_500_with_one_fixed_sentence(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let token = ana.creates(json!({ "name": "one" })).await;
    sqlx::query("update tokens set key_sealed = '\\x00'").execute(&app.pool).await.unwrap();
    let message = "internal error; quote X-Request-Id to your operator";
    let answer = ana.get(&format!("/api/token/{token}")).await;
    answer.refuses_saying(500, "internal", message);
    assert!(answer.header("x-request-id").is_some());
    sqlx::query("alter table audit_log rename to elsewhere").execute(&app.pool).await.unwrap();
    ana.post("/api/token/", json!({ "name": "two" })).await.refuses_saying(500, "internal", message);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_request_that_takes_too_long_is_cancelled(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_SERVER__REQUEST_TIMEOUT_SECONDS", "0")]).await;
    // No request can end before its time is over.
    let mut other = app.pool.begin().await.unwrap();
    sqlx::query("lock table users in access exclusive mode").execute(&mut *other).await.unwrap();
    let answer = app.stranger().post("/api/user/login", json!({ "username": "root", "password": "x" })).await;
    answer.refuses_saying(503, "timeout", "the request took too long and was cancelled; retry shortly");
    assert_eq!(answer.header("retry-after"), Some("1"));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn during_an_outage_of_the_database_every_call_answers_503_with_retry_after(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, root) = (app.enabled_user("ana").await, app.root().await);
    let by_token = ana.by_access_token().await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one" })).await;
    app.stranger().get("/readyz").await.ok();
    app.pool.close().await;
    let login = json!({ "username": "ana", "password": "ana's password" });
    let answers = [
        ana.get("/api/token/").await,
        by_token.get("/api/token/").await,
        by_token.get(&format!("/api/token/{id}")).await,
        by_token.post("/api/token/", json!({ "name": "two" })).await,
        by_token.delete(&format!("/api/token/{id}")).await,
        by_token.get(&format!("/api/token/{id}/usage")).await,
        ana.get("/api/user/self").await,
        root.get("/api/admin/users").await,
        ana.get("/api/user/logout").await,
        app.stranger().post("/api/user/login", login).await,
        app.holder_of(&key).get("/api/usage/token/").await,
    ];
    for answer in &answers {
        answer.refuses_saying(503, "database_unavailable", UNAVAILABLE);
        assert_eq!(answer.header("retry-after"), Some("1"));
        assert!(answer.header("x-request-id").is_some());
    }
    assert_eq!(answers[10].json()["code"], false);
    for path in ["/healthz", "/api/status", "/api/openapi.json"] {
        assert_eq!(app.stranger().get(path).await.status, 200);
    }
    app.stranger().get("/nowhere").await.refuses(404, "not_found");
    app.stranger().get("/api/token/").await.refuses(401, "not_signed_in");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_body_that_ends_early_is_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let cut_off = std::io::Error::from(std::io::ErrorKind::UnexpectedEof);
    let body = Body::from_stream(futures_util::stream::iter([Ok("{\"username\":"), Err(cut_off)]));
    let answer = post_raw(&app.stranger(), "/api/user/login", body).await;
    answer.refuses_saying(400, "invalid_body", "the body is incomplete; send it again");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_database_without_the_newest_migration_is_not_ready(pool: PgPool) {
    let app = TestApp::new(pool).await;
    sqlx::query("delete from _sqlx_migrations").execute(&app.pool).await.unwrap();
    let answer = app.stranger().get("/readyz").await;
    answer.refuses_saying(503, "not_migrated", "the database is not migrated yet; retry shortly");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_refusal_of_the_framework_has_a_code_too(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let router = axum::Router::new()
        .route("/", axum::routing::get(async || StatusCode::EXPECTATION_FAILED))
        .layer(axum::middleware::from_fn_with_state(app.replica(), every_request));
    let request = axum::extract::Request::get("/").body(Body::empty()).unwrap();
    let answer = router.oneshot(request).await.unwrap();
    assert_eq!(answer.status(), StatusCode::EXPECTATION_FAILED);
    let body = answer.into_body().collect().await.unwrap().to_bytes();
    let message = "the request cannot be processed as it is";
    let expected = json!({ "success": false, "message": message, "error": "bad_request" });
    assert_eq!(serde_json::from_slice::<serde_json::Value>(&body).unwrap(), expected);
}
