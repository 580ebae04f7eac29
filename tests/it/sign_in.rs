//! Sign-in under attack: requests without a credential cost little, their number is bounded, and pages of other sites
//! can neither sign in nor out.

use std::net::SocketAddr;

use argon2::{Argon2, PasswordHasher};
use axum::body::Body;
use axum::extract::ConnectInfo;
use futures_util::future::join_all;
use http::{HeaderValue, Method, Request};
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::database::url;
use crate::harness::gateway::switches;
use crate::harness::process::run;
use crate::harness::{Answer, Caller, MASTER_KEY, ROOT_PASSWORD, Server, TestApp};

const LOGIN: &str = "/api/user/login";
const REGISTER: &str = "/api/user/register";
const LOGOUT: &str = "/api/user/logout";
const ACCESS_TOKEN: &str = "/api/user/token";

type Headers<'a> = &'a [(&'static str, &'a str)];

async fn try_to_sign_in(app: &TestApp, username: &str, password: &str, from: &str) -> Answer {
    let caller = app.stranger();
    let mut request = caller.request(Method::POST, LOGIN);
    *request.body_mut() = Body::from(json!({ "username": username, "password": password }).to_string());
    request.extensions_mut().insert(ConnectInfo(SocketAddr::new(from.parse().unwrap(), 4711)));
    caller.send(request).await
}

fn request_with_headers(
    caller: &Caller,
    method: Method,
    path: &str,
    headers: Headers<'_>,
    body: &Value,
) -> Request<Body> {
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
async fn malformed_usernames_are_not_counted_per_account(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_LIMITS__LOGIN_PER_MINUTE", "2")]).await;
    let long = "x".repeat(8_000);
    for name in [long.as_str(), "two words", "", "a\u{7}b"] {
        for last in 1..=5 {
            try_to_sign_in(&app, name, "whatever", &format!("192.0.2.{last}")).await.refuses_saying(
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
        try_to_sign_in(&app, &format!("user{n}"), "x", &format!("2001:db8:0:7::{n}"))
            .await
            .refuses(401, "wrong_credentials");
    }
    try_to_sign_in(&app, "user6", "x", "2001:db8:0:7:ffff::1").await.refuses(429, "rate_limited");
    try_to_sign_in(&app, "user7", "x", "2001:db8:0:8::1").await.refuses(401, "wrong_credentials");
    for n in 0..6 {
        try_to_sign_in(&app, &format!("user{n}{n}"), "x", "::ffff:192.0.2.1").await.refuses(401, "wrong_credentials");
    }
    try_to_sign_in(&app, "user8", "x", "192.0.2.1").await.refuses(429, "rate_limited");
    try_to_sign_in(&app, "user9", "x", "::ffff:192.0.2.2").await.refuses(401, "wrong_credentials");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_number_of_sign_ins_that_wait_is_limited(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let all: Vec<String> = (0..300).map(|n| format!("user{n}")).collect();
    let answers = join_all(all.iter().map(|name| try_to_sign_in(&app, name, "a wrong one", "192.0.2.1"))).await;
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
    try_to_sign_in(&app, "root", ROOT_PASSWORD, "192.0.2.1").await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_password_above_the_maximum_length_is_not_hashed(pool: PgPool) {
    let app = TestApp::new(pool).await;
    // No account can have such a password, but this row shows whether the server hashed it.
    let long = "x".repeat(1_000);
    let hash = Argon2::default().hash_password_with_salt(long.as_bytes(), &[7; 16]).unwrap().to_string();
    sqlx::query("update users set password_hash = $1").bind(hash).execute(&app.pool).await.unwrap();
    let message = "the username or the password is wrong";
    try_to_sign_in(&app, "root", &long, "192.0.2.1").await.refuses_saying(401, "wrong_credentials", message);
    try_to_sign_in(&app, "root", &"x".repeat(8_000), "192.0.2.1").await.refuses_saying(
        401,
        "wrong_credentials",
        message,
    );
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

/// Headers that name the site a request comes from, and true if it is this site.
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

const OTHER_SITE: &str =
    "a page of another site sent this request (`Origin` or `Sec-Fetch-Site`); open this site directly";

/// The browser would not keep the cookie, and the page ask again for ever.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_page_over_plain_http_is_told_that_a_secure_cookie_would_not_be_kept(pool: PgPool) {
    let secure = TestApp::with(pool.clone(), &[("KEYMETER_HTTP__SECURE_COOKIES", "always")]).await;
    let plain = TestApp::with(pool, &[]).await;
    let body = json!({ "username": "root", "password": ROOT_PASSWORD });
    for (app, host, refused) in [
        (&secure, "keys.test", true),
        (&secure, "10.0.0.7:3000", true),
        (&secure, "localhost:3000", false),
        (&secure, "127.0.0.1:3000", false),
        (&secure, "[::1]:3000", false),
        (&plain, "keys.test", false),
    ] {
        let origin = format!("http://{host}");
        let headers: Headers<'_> = &[("host", host), ("origin", &origin)];
        let answer =
            app.stranger().send(request_with_headers(&app.stranger(), Method::POST, LOGIN, headers, &body)).await;
        if refused {
            answer.refuses(400, "https_required");
            assert!(answer.header("set-cookie").is_none());
        } else {
            answer.ok();
        }
    }
    for origin in ["https://keys.test"] {
        let headers: Headers<'_> = &[("host", "keys.test"), ("origin", origin)];
        secure
            .stranger()
            .send(request_with_headers(&secure.stranger(), Method::POST, LOGIN, headers, &body))
            .await
            .ok();
    }
    // A program sends no origin.
    secure.stranger().post(LOGIN, body).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_page_of_another_site_cannot_sign_in_or_register(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_ACCOUNTS__REGISTRATION", "open")]).await;
    let stranger = app.stranger();
    for (n, (headers, allowed)) in SOURCES.into_iter().enumerate() {
        let login = json!({ "username": "root", "password": ROOT_PASSWORD });
        let account = json!({ "username": format!("user{n}"), "password": "a password" });
        let sent = [
            stranger.send(request_with_headers(&stranger, Method::POST, LOGIN, headers, &login)).await,
            stranger.send(request_with_headers(&stranger, Method::POST, REGISTER, headers, &account)).await,
            stranger.send(request_with_headers(&stranger, Method::POST, LOGOUT, headers, &Value::Null)).await,
        ];
        for answer in sent {
            if allowed {
                answer.ok();
            } else {
                answer.refuses_saying(403, "cross_site_request", OTHER_SITE);
                assert_eq!(answer.header("set-cookie"), None, "{headers:?}");
            }
        }
    }
}

const CHANGE_BY_GET: &str = "this GET changes something, so with the session cookie it must come from this site \
                             (`Sec-Fetch-Site`, `Origin` or `Referer`) or have `New-Api-User`; programs use an access token";

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_page_of_another_site_cannot_end_a_session_or_make_an_access_token_by_get(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let own = app.root().await.id.to_string();
    let others: [(Headers<'_>, bool); 10] = [
        (&[("referer", "https://keys.test/keys?page=2")], true),
        (&[("referer", "http://keys.test/")], true),
        (&[("referer", "https://evil.test/https://keys.test/")], false),
        (&[("referer", "https://keys.test.evil.test/")], false),
        (&[("referer", "https://keys.test@evil.test/")], false),
        (&[("referer", "about:blank")], false),
        (&[("referer", "")], false),
        (&[("referer", "https://keys.test/"), ("origin", "https://evil.test")], false),
        (&[("referer", "https://keys.test/"), ("sec-fetch-site", "cross-site")], false),
        (&[("new-api-user", &own), ("referer", "https://evil.test/")], true),
    ];
    for (headers, allowed) in SOURCES.into_iter().chain(others) {
        let allowed = allowed && !headers.is_empty();
        let root = app.signs_in("root", ROOT_PASSWORD).await;
        let by_get =
            async |path: &str| root.send(request_with_headers(&root, Method::GET, path, headers, &Value::Null)).await;
        let made = async || root.get("/api/user/access_tokens").await.ok().as_array().unwrap().len();
        let before = made().await;
        let head = root.send(request_with_headers(&root, Method::HEAD, ACCESS_TOKEN, headers, &Value::Null)).await;
        let (token, ended) = (by_get(ACCESS_TOKEN).await, by_get(LOGOUT).await);
        let is_signed_in = root.get("/api/user/self").await.status == 200;
        if allowed {
            token.ok();
            ended.ok();
            assert_eq!((head.status.as_u16(), is_signed_in), (200, false), "{headers:?}");
        } else {
            token.refuses_saying(403, "cross_site_request", CHANGE_BY_GET);
            ended.refuses(403, "cross_site_request");
            assert_eq!((head.status.as_u16(), is_signed_in, made().await), (403, true, before), "{headers:?}");
        }
    }
    // Reading needs no evidence, an access token is evidence, and without a session there is nothing to end.
    let root = app.signs_in("root", ROOT_PASSWORD).await;
    let read = request_with_headers(&root, Method::GET, "/api/user/self", &[], &Value::Null);
    root.send(read).await.ok();
    root.by_access_token().await.get(ACCESS_TOKEN).await.ok();
    app.stranger().get(LOGOUT).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_public_url_is_this_site_behind_a_proxy_that_changes_host(pool: PgPool) {
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
        let signed_in =
            stranger.send(request_with_headers(&stranger, Method::POST, LOGIN, &[("origin", origin)], &login)).await;
        let edit = json!({ "display_name": "Root" });
        let edited =
            root.send(request_with_headers(&root, Method::PUT, "/api/user/self", &[("origin", origin)], &edit)).await;
        for answer in [signed_in, edited] {
            if allowed {
                answer.ok();
            } else {
                answer.refuses(403, "cross_site_request");
            }
        }
    }
}

#[sqlx::test(migrations = false)]
async fn the_program_stores_passwords_as_strong_hashes(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let database = url(&pool);
    let settings = [("DATABASE_URL", database.as_str()), ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY)];
    let mut server = Server::start(dir.path(), &settings).await;
    server.terminate();
    assert!(run(dir.path(), &settings, &["user", "create", "ana"]).status.success());
    let hashes: Vec<String> = sqlx::query_scalar("select password_hash from users").fetch_all(&pool).await.unwrap();
    assert!(hashes.len() == 2 && hashes.iter().all(|hash| hash.starts_with("$argon2id$v=19$m=19456,t=2,p=1$")));
}

/// The hash of `correct horse` in an imported account, made with crypt(3).
const BCRYPT: &str = "$2a$10$abcdefghijklmnopqrstuu23JPZtHcGhwXSF41f93o/7vBdDut3Xu";

async fn set_password_hash(app: &TestApp, user: &Caller, hash: &str) {
    let update = "update users set password_hash = $2 where id = $1";
    sqlx::query(update).bind(user.id).bind(hash).execute(&app.pool).await.unwrap();
}

async fn password_hash(app: &TestApp, user: &Caller) -> String {
    let select = "select password_hash from users where id = $1";
    sqlx::query_scalar(select).bind(user.id).fetch_one(&app.pool).await.unwrap()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_first_sign_in_of_an_imported_account_replaces_its_bcrypt_hash(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    set_password_hash(&app, &ana, BCRYPT).await;
    let sign_in = async |password: &str| try_to_sign_in(&app, "ana", password, "192.0.2.1").await;
    let wrong = "the username or the password is wrong";
    sign_in("correct horse ").await.refuses_saying(401, "wrong_credentials", wrong);
    assert_eq!(password_hash(&app, &ana).await, BCRYPT, "a wrong password replaces nothing");
    app.signs_in("ana", "correct horse").await.get("/api/user/self").await.ok();
    let replaced = password_hash(&app, &ana).await;
    assert!(replaced.starts_with("$argon2id$"), "{replaced}");
    sign_in("correct horse").await.ok();
    assert_eq!(password_hash(&app, &ana).await, replaced);
    sign_in("correct horse ").await.refuses_saying(401, "wrong_credentials", wrong);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn imported_people_who_sign_in_at_once_are_all_signed_in(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    set_password_hash(&app, &ana, BCRYPT).await;
    for answer in join_all((0..6).map(|_| try_to_sign_in(&app, "ana", "correct horse", "192.0.2.1"))).await {
        answer.ok();
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_disabled_imported_account_keeps_its_hash_and_an_account_without_a_password_cannot_sign_in(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    set_password_hash(&app, &ana, BCRYPT).await;
    switches(&app, &ana, 2).await;
    try_to_sign_in(&app, "ana", "correct horse", "192.0.2.1").await.refuses(403, "user_disabled");
    assert_eq!(password_hash(&app, &ana).await, BCRYPT);
    set_password_hash(&app, &ana, "").await;
    for password in ["", "correct horse", "no user has this password"] {
        try_to_sign_in(&app, "ana", password, "192.0.2.1").await.refuses(401, "wrong_credentials");
    }
}
