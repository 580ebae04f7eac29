//! Sign-in under attack: what strangers send costs little, is bounded, and is not let in from foreign pages.

use std::net::SocketAddr;

use argon2::{Argon2, PasswordHasher};
use axum::body::Body;
use axum::extract::ConnectInfo;
use futures_util::future::join_all;
use http::{HeaderValue, Method, Request};
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Answer, Caller, ROOT_PASSWORD, TestApp};

const LOGIN: &str = "/api/user/login";
const REGISTER: &str = "/api/user/register";
const LOGOUT: &str = "/api/user/logout";
const MINT: &str = "/api/user/token";

type Headers<'a> = &'a [(&'static str, &'a str)];

async fn tries(app: &TestApp, username: &str, password: &str, from: &str) -> Answer {
    let caller = app.stranger();
    let mut request = caller.request(Method::POST, LOGIN);
    *request.body_mut() = Body::from(json!({ "username": username, "password": password }).to_string());
    request.extensions_mut().insert(ConnectInfo(SocketAddr::new(from.parse().unwrap(), 4711)));
    caller.send(request).await
}

fn written(caller: &Caller, method: Method, path: &str, headers: Headers<'_>, body: &Value) -> Request<Body> {
    let mut request = caller.request(method, path);
    request.headers_mut().remove("origin");
    for (name, value) in headers {
        request.headers_mut().insert(*name, HeaderValue::from_bytes(value.as_bytes()).unwrap());
    }
    if !body.is_null() {
        *request.body_mut() = Body::from(body.to_string());
    }
    request
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_name_that_cannot_be_one_is_not_remembered(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_LIMITS__LOGIN_PER_MINUTE", "2")]).await;
    let long = "x".repeat(100_000);
    for name in [long.as_str(), "two words", "", "a\u{7}b"] {
        for last in 1..=5 {
            tries(&app, name, "whatever", &format!("192.0.2.{last}")).await.refuses_saying(
                401,
                "wrong_credentials",
                "the username or the password is wrong",
            );
        }
        app.clock.advance(60);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn all_addresses_of_one_ipv6_network_count_as_one(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_LIMITS__LOGIN_PER_MINUTE", "2")]).await;
    for n in 0..6 {
        tries(&app, &format!("user{n}"), "x", &format!("2001:db8:0:7::{n}")).await.refuses(401, "wrong_credentials");
    }
    tries(&app, "user6", "x", "2001:db8:0:7:ffff::1").await.refuses(429, "rate_limited");
    tries(&app, "user7", "x", "2001:db8:0:8::1").await.refuses(401, "wrong_credentials");
    for n in 0..6 {
        tries(&app, &format!("user{n}{n}"), "x", "::ffff:192.0.2.1").await.refuses(401, "wrong_credentials");
    }
    tries(&app, "user8", "x", "192.0.2.1").await.refuses(429, "rate_limited");
    tries(&app, "user9", "x", "::ffff:192.0.2.2").await.refuses(401, "wrong_credentials");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn only_so_many_sign_ins_wait_to_be_checked(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let all: Vec<String> = (0..300).map(|n| format!("user{n}")).collect();
    let answers = join_all(all.iter().map(|name| tries(&app, name, "a wrong one", "192.0.2.1"))).await;
    let (busy, checked): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 503);
    let message = "too many passwords are being checked right now; try again in a moment";
    for answer in &busy {
        answer.refuses_saying(503, "sign_in_busy", message);
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    for answer in &checked {
        answer.refuses(401, "wrong_credentials");
    }
    assert!(busy.len() >= 200 && checked.len() >= 20, "{} busy, {} checked", busy.len(), checked.len());
    tries(&app, "root", ROOT_PASSWORD, "192.0.2.1").await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_password_longer_than_any_is_not_hashed(pool: PgPool) {
    let app = TestApp::new(pool).await;
    // No account can have such a password, but its hash tells whether it was hashed.
    let long = "x".repeat(1_000);
    let hash = Argon2::default().hash_password_with_salt(long.as_bytes(), &[7; 16]).unwrap().to_string();
    sqlx::query("update users set password_hash = $1").bind(hash).execute(&app.pool).await.unwrap();
    let message = "the username or the password is wrong";
    tries(&app, "root", &long, "192.0.2.1").await.refuses_saying(401, "wrong_credentials", message);
    tries(&app, "root", &"x".repeat(1_000_000), "192.0.2.1").await.refuses_saying(401, "wrong_credentials", message);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn of_two_changes_with_the_same_old_password_one_succeeds(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await.by_access_token().await;
    let change = |new: &str| json!({ "password": new, "original_password": "ana's password" });
    let both =
        [ana.put("/api/user/self", change("the first one")), ana.put("/api/user/self", change("the second one"))];
    let answers = join_all(both).await;
    let succeeded: Vec<_> = answers.iter().filter(|answer| answer.status == 200).collect();
    assert_eq!(succeeded.len(), 1, "{answers:?}");
    let message = "the current password is wrong; send it as `original_password`";
    let refused = answers.iter().find(|answer| answer.status != 200).unwrap();
    refused.refuses_saying(403, "wrong_password", message);
}

/// What browsers and programs say of where they come from, and whether it is this site.
const SOURCES: [(Headers<'static>, bool); 17] = [
    (&[], true),
    (&[("origin", "https://keys.test")], true),
    (&[("origin", "https://KEYS.test")], true),
    (&[("origin", "https://evil.test")], false),
    (&[("origin", "https://sub.keys.test")], false),
    (&[("origin", "https://keys.test.evil.test")], false),
    (&[("origin", "https://keys.test:8443")], false),
    (&[("origin", "null")], false),
    (&[("origin", "")], false),
    (&[("origin", "https://keys.t\u{e9}st")], false),
    (&[("sec-fetch-site", "same-origin")], true),
    (&[("sec-fetch-site", "none")], true),
    (&[("sec-fetch-site", "none"), ("origin", "https://evil.test")], false),
    (&[("sec-fetch-site", "same-site")], false),
    (&[("sec-fetch-site", "cross-site")], false),
    (&[("sec-fetch-site", "cross-site"), ("origin", "https://keys.test")], false),
    (&[("sec-fetch-site", "\u{e9}")], false),
];

const FOREIGN: &str =
    "a page of another site sent this request (`Origin` or `Sec-Fetch-Site`); open this site directly";

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_foreign_page_neither_signs_in_nor_out_nor_registers(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_ACCOUNTS__REGISTRATION", "open")]).await;
    let stranger = app.stranger();
    for (n, (headers, allowed)) in SOURCES.into_iter().enumerate() {
        let ana = app.signs_in("root", ROOT_PASSWORD).await;
        let login = json!({ "username": "root", "password": ROOT_PASSWORD });
        let account = json!({ "username": format!("user{n}"), "password": "a password" });
        let sent = [
            stranger.send(written(&stranger, Method::POST, LOGIN, headers, &login)).await,
            stranger.send(written(&stranger, Method::POST, REGISTER, headers, &account)).await,
            stranger.send(written(&stranger, Method::POST, LOGOUT, headers, &Value::Null)).await,
            ana.send(written(&ana, Method::GET, LOGOUT, headers, &Value::Null)).await,
        ];
        for answer in sent {
            if allowed {
                answer.ok();
            } else {
                answer.refuses_saying(403, "cross_site_request", FOREIGN);
                assert_eq!(answer.header("set-cookie"), None, "{headers:?}");
            }
        }
        let minted = ana.send(written(&ana, Method::GET, MINT, headers, &Value::Null)).await;
        assert_eq!(minted.status, if allowed { 401 } else { 403 }, "{headers:?}");
        let is_signed_in = ana.get("/api/user/self").await.status == 200;
        assert_eq!(is_signed_in, !allowed, "{headers:?}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn behind_a_proxy_that_changes_host_the_public_address_is_this_site(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_HTTP__PUBLIC_URL", "https://keys.example.org:443/path")]).await;
    let root = app.root().await;
    let table = [
        ("https://keys.example.org", true),
        ("https://keys.test", true),
        ("http://keys.example.org", false),
        ("https://keys.example.org:8443", false),
        ("https://keys.example.org.evil.test", false),
        ("https://example.org", false),
    ];
    for (origin, allowed) in table {
        let login = json!({ "username": "root", "password": ROOT_PASSWORD });
        let stranger = app.stranger();
        let signed_in = stranger.send(written(&stranger, Method::POST, LOGIN, &[("origin", origin)], &login)).await;
        let edit = json!({ "display_name": "Root" });
        let edited = root.send(written(&root, Method::PUT, "/api/user/self", &[("origin", origin)], &edit)).await;
        for answer in [signed_in, edited] {
            if allowed {
                answer.ok();
            } else {
                answer.refuses(403, "cross_site_request");
            }
        }
    }
}
