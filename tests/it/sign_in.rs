//! Sign-in under attack: what strangers send costs little, is bounded, and is not let in from foreign pages.

use axum::body::Body;
use http::{HeaderValue, Method, Request};
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Caller, ROOT_PASSWORD, TestApp};

const LOGIN: &str = "/api/user/login";
const REGISTER: &str = "/api/user/register";
const LOGOUT: &str = "/api/user/logout";
const MINT: &str = "/api/user/token";

type Headers<'a> = &'a [(&'static str, &'a str)];

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

const FOREIGN: &str = "a page of another site sent this (`Origin` or `Sec-Fetch-Site`); open this site itself";

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
        let edited =
            root.send(written(&root, Method::PUT, "/api/user/self", &[("origin", origin)], &edit)).await;
        for answer in [signed_in, edited] {
            if allowed {
                answer.ok();
            } else {
                answer.refuses(403, "cross_site_request");
            }
        }
    }
}
