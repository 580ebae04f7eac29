//! Specification §5, authentication, and the enablement of §1: sessions, access tokens, and who may use the token API.

use std::net::SocketAddr;

use axum::body::Body;
use axum::extract::ConnectInfo;
use http::{Method, Request};
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Answer, Caller, ROOT_PASSWORD, TestApp};

const NOT_SIGNED_IN: &str = "sign in, or send an access token in `Authorization`";
const INVALID: &str = "the credential is not valid; sign in again or use a valid access token";
const DISABLED: &str = "this account is disabled; ask your administrator";
const NOT_ENABLED: &str = "the token API is not enabled for this account; ask for it with \
                    POST /api/user/token_api_request, giving a reason, or contact ";
const ASK: &str = "/api/user/token_api_request";
const DAY: i64 = 86_400;

/// A request of the caller with these headers, without `Origin`; with a body if it is not null.
fn request(
    caller: &Caller,
    method: Method,
    path: &str,
    headers: &[(&'static str, &str)],
    body: Value,
) -> Request<Body> {
    let mut request = caller.request(method, path);
    request.headers_mut().remove("origin");
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    if !body.is_null() {
        *request.body_mut() = Body::from(body.to_string());
    }
    request
}

async fn get_self(caller: &Caller, headers: &[(&'static str, &str)]) -> Answer {
    caller.send(request(caller, Method::GET, "/api/user/self", headers, Value::Null)).await
}

async fn sign_in(app: &TestApp, username: &str, password: &str, from: &str) -> Answer {
    let caller = app.stranger();
    let body = json!({ "username": username, "password": password });
    let mut request = request(&caller, Method::POST, "/api/user/login", &[], body);
    request.extensions_mut().insert(ConnectInfo(SocketAddr::new(from.parse().unwrap(), 4711)));
    caller.send(request).await
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn login_returns_the_user_and_sets_a_secure_cookie(pool: PgPool) {
    let table = [
        (vec![], false),
        (vec![("KEYMETER_HTTP__SECURE_COOKIES", "always")], true),
        (vec![("KEYMETER_HTTP__PUBLIC_URL", "https://keys.example.org")], true),
        (vec![("KEYMETER_HTTP__PUBLIC_URL", "http://keys.example.org")], false),
        (vec![("KEYMETER_HTTP__PUBLIC_URL", "https://a.org"), ("KEYMETER_HTTP__SECURE_COOKIES", "never")], false),
    ];
    for (settings, secure) in table {
        let app = TestApp::with(pool.clone(), &settings).await;
        let body = json!({ "username": "root", "password": ROOT_PASSWORD });
        let answer = app.stranger().post("/api/user/login", body).await;
        assert_eq!(answer.ok()["username"], "root");
        let cookie: Vec<_> = answer.header("set-cookie").unwrap().split("; ").collect();
        assert!(cookie[0].strip_prefix("session=").is_some_and(|id| id.len() >= 22), "{cookie:?}");
        for attribute in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=2592000"] {
            assert!(cookie.contains(&attribute), "{attribute} {cookie:?}");
        }
        assert_eq!(cookie.contains(&"Secure"), secure, "{settings:?}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_token_api_accepts_only_a_session_or_an_access_token(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    ana.get("/api/token/").await.ok();
    let access_token = ana.by_access_token().await.secret().to_owned();
    for written in [
        access_token.clone(),
        format!("Bearer {access_token}"),
        format!("bearer {access_token}"),
        format!("BEARER {access_token}"),
    ] {
        app.stranger().with_access_token(&written).get("/api/token/").await.ok();
    }
    app.stranger().get("/api/token/").await.refuses_saying(401, "not_signed_in", NOT_SIGNED_IN);
    let (_, key) = ana.creates_with_key(json!({ "name": "one" })).await;
    app.holder_of(&key).get("/api/token/").await.refuses_saying(401, "invalid_credential", INVALID);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_wrong_credential_is_refused_even_beside_a_valid_cookie(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    let access_token = ana.by_access_token().await.secret().to_owned();
    let shorter = &access_token[..access_token.len() - 1];
    for wrong in ["nonsense", "Bearer nonsense", "Basic YTpi", "Bearer", shorter] {
        app.stranger().with_access_token(wrong).get("/api/user/self").await.refuses_saying(
            401,
            "invalid_credential",
            INVALID,
        );
        get_self(&ana, &[("authorization", wrong)]).await.refuses_saying(401, "invalid_credential", INVALID);
    }
    for cookie in ["session=nonsense", "session=AAAAAAAAAAAAAAAAAAAAAA", "session=", "other=1"] {
        get_self(&app.stranger(), &[("cookie", cookie)]).await.refuses_saying(401, "not_signed_in", NOT_SIGNED_IN);
    }
    get_self(&ana, &[]).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_header_may_repeat_the_id_of_the_user_but_no_other_id(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    let (own, other) = (ana.id.to_string(), (ana.id + 1).to_string());
    let message = "`New-Api-User` names another user than the credential; correct it or leave it out";
    for caller in [ana.clone(), ana.by_access_token().await] {
        for header in ["new-api-user", "veloera-user", "voapi-user", "user-id", "rix-api-user", "neo-api-user"] {
            get_self(&caller, &[(header, &own)]).await.ok();
            for wrong in [other.as_str(), "ana", ""] {
                get_self(&caller, &[(header, wrong)]).await.refuses_saying(401, "user_mismatch", message);
            }
        }
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn one_wrong_header_with_a_user_id_is_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    let headers = [("new-api-user", &*ana.id.to_string()), ("user-id", "0")];
    get_self(&ana, &headers).await.refuses(401, "user_mismatch");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_refusal_says_how_to_request_enablement_and_whom_to_contact(pool: PgPool) {
    for (settings, contact) in
        [(vec![], "your administrator"), (vec![("KEYMETER_ACCOUNTS__CONTACT", "keys@example.org")], "keys@example.org")]
    {
        let app = TestApp::with(pool.clone(), &settings).await;
        let ana = app.user(if settings.is_empty() { "ana" } else { "ben" }).await;
        for caller in [ana.clone(), ana.by_access_token().await] {
            let answer = caller.get("/api/token/").await;
            answer.refuses_saying(403, "token_api_not_enabled", &format!("{NOT_ENABLED}{contact}"));
        }
        assert_eq!(ana.get("/api/user/self").await.ok()["token_api_enabled"], false);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_approved_request_enables_the_account_at_once(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_ACCOUNTS__CONTACT", "keys@example.org")]).await;
    let (root, ana) = (app.root().await, app.user("ana").await);
    let ana_by_token = ana.by_access_token().await;
    let none = json!({ "enabled": false, "state": "none", "request": null, "contact": "keys@example.org" });
    assert_eq!(ana.get(ASK).await.ok(), none);
    let request = ana.post(ASK, json!({ "reason": "our CI", "account": "ANA" })).await.ok();
    assert_eq!(request["state"], "pending");
    assert_eq!(ana.get(ASK).await.ok()["state"], "pending");
    ana_by_token.get("/api/token/").await.refuses(403, "token_api_not_enabled");
    let decision = format!("/api/admin/token_api_requests/{}", request["id"]);
    let decided = root.post(&decision, json!({ "decision": "approve", "note": "welcome" })).await.ok();
    assert_eq!((&decided["state"], &decided["note"]), (&json!("approved"), &json!("welcome")));
    for caller in [&ana, &ana_by_token] {
        caller.get("/api/token/").await.ok();
    }
    let state = ana.get(ASK).await.ok();
    assert_eq!((&state["enabled"], &state["state"]), (&json!(true), &json!("approved")));
    let again = ana.post(ASK, json!({ "reason": "more" })).await;
    again.refuses_saying(409, "token_api_enabled", "the token API is enabled for this account already");
    root.patch(&format!("/api/admin/users/{}", ana.id), json!({ "token_api_enabled": false })).await.ok();
    for caller in [&ana, &ana_by_token] {
        caller.get("/api/token/").await.refuses(403, "token_api_not_enabled");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_refused_request_enables_nothing_and_can_be_repeated(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, ana) = (app.root().await, app.user("ana").await);
    let request = ana.post(ASK, json!({ "reason": "our CI" })).await.ok();
    let waiting = "a request for this account is waiting for an administrator already";
    ana.post(ASK, json!({ "reason": "our CI" })).await.refuses_saying(409, "token_api_requested", waiting);
    let decision = format!("/api/admin/token_api_requests/{}", request["id"]);
    root.post(&decision, json!({ "decision": "refuse", "note": "which CI?" })).await.ok();
    ana.get("/api/token/").await.refuses(403, "token_api_not_enabled");
    let state = ana.get(ASK).await.ok();
    assert_eq!((&state["state"], &state["request"]["note"]), (&json!("refused"), &json!("which CI?")));
    let second = root.post(&decision, json!({ "decision": "approve" })).await;
    second.refuses_saying(409, "already_decided", "this request has been decided already");
    ana.post(ASK, json!({ "reason": "the CI of our shop" })).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_request_needs_a_reason_and_is_for_the_caller_only(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, _ben) = (app.user("ana").await, app.user("ben").await);
    for body in [json!({}), json!({ "reason": "  " }), json!({ "reason": null })] {
        ana.post(ASK, body).await.refuses_saying(400, "missing_field", "`reason` is required");
    }
    let foreign = "`account` must be your own username; other users must request it themselves";
    let answer = ana.post(ASK, json!({ "reason": "x", "account": "ben" })).await;
    answer.refuses_saying(403, "foreign_account", foreign);
    let long = json!({ "reason": "x".repeat(2_001) });
    ana.post(ASK, long).await.refuses_saying(400, "invalid_text", "`reason` must have at most 2000 characters");
    app.stranger().post(ASK, json!({ "reason": "x" })).await.refuses(401, "not_signed_in");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_token_api_is_enabled_for_all_where_the_operator_sets_it(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_ACCOUNTS__TOKEN_API", "enabled")]).await;
    let ana = app.user("ana").await;
    ana.get("/api/token/").await.ok();
    assert_eq!(ana.get("/api/user/self").await.ok()["token_api_enabled"], true);
    assert_eq!(app.stranger().get("/api/status").await.ok()["token_api"], "enabled");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn administrators_are_enabled_and_reach_only_their_own_tokens(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben) = (app.enabled_user("ana").await, app.enabled_user("ben").await);
    let token = ana.creates(json!({ "name": "one" })).await;
    let path = format!("/api/token/{token}");
    for other in [ben, app.admin("carla").await, app.root().await] {
        assert_eq!(other.get("/api/token/").await.ok()["total"], 0);
        assert_eq!(other.get("/api/token/search?keyword=one").await.ok()["total"], 0);
        let refusals = [
            other.get(&path).await,
            other.delete(&path).await,
            other.put("/api/token/", json!({ "id": token, "name": "taken" })).await,
            other.put("/api/token/?status_only=1", json!({ "id": token, "status": 2 })).await,
            other.post(&format!("{path}/key"), json!({})).await,
        ];
        for answer in refusals {
            answer.refuses_saying(404, "not_found", "there is no such token");
        }
        assert_eq!(other.post("/api/token/batch", json!({ "ids": [token] })).await.ok(), 0);
        assert_eq!(other.post("/api/token/batch/keys", json!({ "ids": [token] })).await.ok(), json!({ "keys": {} }));
    }
    assert_eq!(ana.get(&path).await.ok()["name"], "one");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_disabled_account_is_refused_and_its_sessions_end(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, ana) = (app.root().await, app.enabled_user("ana").await);
    let by_token = ana.by_access_token().await;
    by_token.get("/api/token/").await.ok();
    let account = format!("/api/admin/users/{}", ana.id);
    assert_eq!(root.patch(&account, json!({ "status": 2 })).await.ok()["status"], 2);
    for caller in [&ana, &by_token] {
        for path in ["/api/token/", "/api/user/self"] {
            caller.get(path).await.refuses_saying(403, "user_disabled", DISABLED);
        }
    }
    sign_in(&app, "ana", "ana's password", "192.0.2.1").await.refuses_saying(403, "user_disabled", DISABLED);
    let wrong = sign_in(&app, "ana", "not her password", "192.0.2.1").await;
    wrong.refuses(401, "wrong_credentials");
    root.patch(&account, json!({ "status": 1 })).await.ok();
    ana.get("/api/user/self").await.refuses_saying(401, "not_signed_in", NOT_SIGNED_IN);
    by_token.get("/api/token/").await.ok();
    app.signs_in("ana", "ana's password").await.get("/api/token/").await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_new_password_ends_all_sessions(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let here = app.user("ana").await;
    let there = app.signs_in("ana", "ana's password").await;
    let change = json!({ "password": "a better one", "original_password": "ana's password" });
    here.put("/api/user/self", change).await.ok();
    for session in [&here, &there] {
        session.get("/api/user/self").await.refuses_saying(401, "not_signed_in", NOT_SIGNED_IN);
    }
    sign_in(&app, "ana", "ana's password", "192.0.2.1").await.refuses(401, "wrong_credentials");
    let again = app.signs_in("ana", "a better one").await;
    let reset = json!({ "password": "set by root" });
    app.root().await.patch(&format!("/api/admin/users/{}", again.id), reset).await.ok();
    again.get("/api/user/self").await.refuses_saying(401, "not_signed_in", NOT_SIGNED_IN);
    app.signs_in("ana", "set by root").await.get("/api/user/self").await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn login_creates_a_new_session_id_for_any_old_cookie(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben) = (app.user("ana").await, app.user("ben").await);
    let body = json!({ "username": "ben", "password": "ben's password" });
    let chosen = "session=AAAAAAAAAAAAAAAAAAAAAA";
    for old in [ana.secret(), ben.secret(), chosen] {
        let headers = [("cookie", old)];
        let login = request(&app.stranger(), Method::POST, "/api/user/login", &headers, body.clone());
        let answer = app.stranger().send(login).await;
        assert_eq!(answer.ok()["username"], "ben");
        let new = answer.header("set-cookie").unwrap().split(';').next().unwrap();
        assert_ne!(new, old);
        get_self(&app.stranger(), &[("cookie", old)]).await.refuses(401, "not_signed_in");
        assert_eq!(get_self(&app.stranger(), &[("cookie", new)]).await.ok()["username"], "ben");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn logout_ends_the_session_on_the_server(pool: PgPool) {
    let app = TestApp::new(pool).await;
    app.user("ana").await;
    for method in [Method::GET, Method::POST] {
        let ana = app.signs_in("ana", "ana's password").await;
        ana.send(ana.request(method, "/api/user/logout")).await.ok();
        ana.get("/api/user/self").await.refuses(401, "not_signed_in");
    }
    app.stranger().get("/api/user/logout").await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_database_holds_only_a_digest_of_a_session(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    let id = ana.secret().strip_prefix("session=").unwrap();
    let row: (Vec<u8>, String) = sqlx::query_as("select digest, s::text from sessions s where user_id = $1")
        .bind(ana.id)
        .fetch_one(&app.pool)
        .await
        .unwrap();
    assert_eq!(row.0.len(), 32);
    assert!(!row.1.contains(id), "{}", row.1);
    assert!(!row.0.windows(8).any(|part| id.as_bytes().windows(8).any(|secret| secret == part)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_session_lasts_for_30_days_after_its_last_use(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    for _ in 0..3 {
        app.clock.advance(29 * DAY);
        let answer = ana.get("/api/user/self").await;
        answer.ok();
        assert!(answer.header("set-cookie").unwrap().contains("Max-Age=2592000"));
    }
    app.clock.advance(30 * DAY);
    ana.get("/api/user/self").await.refuses_saying(401, "not_signed_in", NOT_SIGNED_IN);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_write_with_a_cookie_must_come_from_this_site(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let by_token = ana.by_access_token().await;
    let message = "a write with the session cookie must come from this site (`Origin` or `Sec-Fetch-Site`); \
                   programs use an access token";
    let table: [(&[(&'static str, &str)], bool); 10] = [
        (&[], false),
        (&[("origin", "https://keys.test")], true),
        (&[("origin", "https://evil.test")], false),
        (&[("origin", "https://keys.test.evil.test")], false),
        (&[("origin", "https://keys.test:8443")], false),
        (&[("origin", "null")], false),
        (&[("sec-fetch-site", "same-origin")], true),
        (&[("sec-fetch-site", "same-site")], false),
        (&[("sec-fetch-site", "cross-site")], false),
        (&[("sec-fetch-site", "cross-site"), ("origin", "https://keys.test")], false),
    ];
    let writes = [
        (Method::PUT, "/api/user/self", json!({ "display_name": "Ana" })),
        (Method::POST, "/api/token/", json!({ "name": "one" })),
        (Method::POST, "/api/token/batch", json!({ "ids": [999_999] })),
    ];
    for (headers, allowed) in table {
        for (method, path, body) in &writes {
            let answer = ana.send(request(&ana, method.clone(), path, headers, body.clone())).await;
            if allowed {
                answer.ok();
            } else {
                answer.refuses_saying(403, "cross_site_request", message);
            }
            by_token.send(request(&by_token, method.clone(), path, headers, body.clone())).await.ok();
        }
        get_self(&ana, headers).await.ok();
        let delete = ana.send(request(&ana, Method::DELETE, "/api/token/999999", headers, Value::Null)).await;
        delete.refuses(if allowed { 404 } else { 403 }, if allowed { "not_found" } else { "cross_site_request" });
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_unknown_user_and_a_wrong_password_get_the_same_answer(pool: PgPool) {
    let app = TestApp::new(pool).await;
    app.user("ana").await;
    let message = "the username or the password is wrong";
    for (username, password) in
        [("ana", "wrong password"), ("nobody", "ana's password"), ("", ""), ("ana", ""), ("ANA", "ANA'S PASSWORD")]
    {
        let answer = sign_in(&app, username, password, "192.0.2.1").await;
        answer.refuses_saying(401, "wrong_credentials", message);
        assert_eq!(answer.header("set-cookie"), None);
    }
    app.stranger().post("/api/user/login", json!({})).await.refuses_saying(401, "wrong_credentials", message);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn login_is_limited_by_account_and_network_and_by_address(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_LIMITS__LOGIN_PER_MINUTE", "2")]).await;
    for _ in 0..2 {
        sign_in(&app, "root", "a wrong one", "192.0.2.3").await.refuses(401, "wrong_credentials");
    }
    let message = "too many requests; try again in 30 s";
    let answer = sign_in(&app, "root", ROOT_PASSWORD, "192.0.2.3").await;
    answer.refuses_saying(429, "rate_limited", message);
    assert_eq!(answer.header("retry-after"), Some("30"));
    sign_in(&app, "another", "x", "192.0.2.3").await.refuses(401, "wrong_credentials");
    for n in 0..6 {
        sign_in(&app, &format!("user{n}"), "x", "192.0.2.9").await.refuses(401, "wrong_credentials");
    }
    sign_in(&app, "user7", "x", "192.0.2.9").await.refuses(429, "rate_limited");
    app.clock.advance(30);
    sign_in(&app, "root", ROOT_PASSWORD, "192.0.2.3").await.ok();
}
