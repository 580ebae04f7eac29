//! What the clients of an API behind a proxy may send and can read: keys in several headers, preflights of browsers,
//! refusals in the shape of the SDKs, `WebSocket`s.

use http::Method;
use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use crate::forward_auth::{CLIENT, Front, nginx, nginx_refusal};
use crate::harness::process::free_port;
use crate::harness::proxy::{Kind, installed};
use crate::harness::raw::{self, Raw};

/// The headers in which new-api and APIs like it accept a key besides `Authorization`.
const OTHER_KEY_HEADERS: [&str; 5] =
    ["x-api-key", "x-goog-api-key", "api-key", "mj-api-secret", "sec-websocket-protocol"];

/// A key that Keymeter never checked.
const SECOND: &str = "openai-insecure-api-key.sk-TheSecondKey";

/// Addresses with a key, as new-api reads them.
const KEYS_IN_ADDRESSES: [&str; 6] = [
    "/v1beta/models?key=sk-TheSecondKey",
    "/v1/models?a=b&KEY=sk-TheSecondKey",
    "/v1/models?%6bey=sk-TheSecondKey",
    "/v1/models?a=b&%6B%65%79=sk-TheSecondKey",
    "/v1/models?a#&k%65y=sk-TheSecondKey",
    "/v1/models?%4b%45Y=sk-TheSecondKey",
];

/// Headers that would make something else of a connection, whose key would never be checked again.
const UPGRADES: [&[(&str, &str)]; 6] = [
    &[("connection", "Upgrade"), ("upgrade", "websocket")],
    &[("CONNECTION", "keep-alive, UPGRADE"), ("UPGRADE", "WebSocket")],
    &[("connection", "upgrade"), ("upgrade", "other, websocket")],
    &[("connection", "upgrade"), ("upgrade", "other"), ("upgrade", "websocket")],
    &[("connection", "upgrade"), ("upgrade", "websocket/13")],
    &[("connection", "upgrade"), ("upgrade", "other")],
];

/// HTTP/2 on a connection without TLS.
const H2C: &[(&str, &str)] =
    &[("connection", "upgrade, http2-settings"), ("upgrade", "h2c"), ("http2-settings", "AAMAAABkAAQCAAAAAAIAAAAA")];

const NO_UPGRADE: &str =
    "WebSockets and other upgrades are refused, because their key would be checked only when they open";

/// Sends these headers with exactly this path, which other clients would normalize.
async fn get(front: &Front, path: &str, headers: &[(&str, &str)]) -> Raw {
    let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {}\r\n{headers}\r\n", front.listen);
    let mut stream = TcpStream::connect(front.listen).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    raw::next_answer(&mut stream).await.unwrap()
}

/// The upstream gets no key in any header, and neither of these texts.
fn assert_no_key(received: &Value, keys: &[&str]) {
    for name in OTHER_KEY_HEADERS.iter().chain(&["authorization"]) {
        assert!(received["headers"][name].is_null(), "{name}: {received}");
    }
    for key in keys {
        assert!(!received.to_string().contains(key), "{received}");
    }
}

/// A valid key in each of these headers is accepted and does not reach the upstream; a wrong one is refused.
async fn check_key_headers(front: &Front, accepted: &[(&str, &str)]) {
    let (_, key) = front.create_key(json!({ "name": "good", "remain_quota": 500 })).await;
    for (name, prefix) in accepted {
        let value = format!("{prefix}{key}");
        let headers = [(*name, value.as_str()), ("anthropic-version", "2023-06-01")];
        let answer = front.request(CLIENT, Method::POST, "/v1/messages", &headers).await;
        assert_eq!(answer.status, 200, "{name}: {}", answer.text);
        let received = answer.json();
        assert_eq!(received["headers"]["anthropic-version"], json!(["2023-06-01"]));
        assert_no_key(&received, &[&key]);
        let wrong = format!("{value}x");
        assert_eq!(front.request(CLIENT, Method::POST, "/v1/messages", &[(name, &wrong)]).await.status, 401, "{name}");
    }
    assert_eq!(front.served(), accepted.len());
}

/// A second key, in whatever header, neither reaches the upstream nor replaces the key in `Authorization`.
async fn check_second_keys(front: &Front) {
    let (_, key) = front.create_key(json!({ "name": "good", "remain_quota": 500 })).await;
    let valid = format!("Bearer {key}");
    for name in OTHER_KEY_HEADERS {
        let headers = [("authorization", valid.as_str()), (name, SECOND), (name, SECOND)];
        let received = front.request(CLIENT, Method::POST, "/v1/messages", &headers).await.json();
        assert_no_key(&received, &[&key, "TheSecondKey"]);
        let headers = [("authorization", "Bearer sk-nonsense"), (name, key.as_str())];
        assert_eq!(front.request(CLIENT, Method::POST, "/v1/messages", &headers).await.status, 401, "{name}");
    }
    assert_eq!(front.served(), OTHER_KEY_HEADERS.len());
}

/// A key in the address is refused, also beside a valid one in a header.
async fn check_keys_in_addresses(front: &Front) {
    let (_, key) = front.create_key(json!({ "name": "good", "remain_quota": 500 })).await;
    for path in KEYS_IN_ADDRESSES {
        for header in [("authorization", format!("Bearer {key}")), ("x-goog-api-key", key.clone())] {
            let answer = get(front, path, &[(header.0, &header.1)]).await;
            assert_eq!(answer.status(), 401, "{path}");
        }
        assert_eq!(get(front, &path.replace("sk-TheSecondKey", &key), &[]).await.status(), 401, "{path}");
    }
    assert_eq!(front.served(), 0);
    for path in ["/v1/models?monkey=1", "/v1/files?task-id=5&name=disk-1", "/v1/files?q=sk-nonsense"] {
        assert_eq!(get(front, path, &[("x-api-key", &key)]).await.status(), 200, "{path}");
    }
}

/// A preflight is answered without a key, and does not reach the upstream. Everything else needs a key.
async fn check_preflights(front: &Front) {
    let asked = [
        ("origin", "https://page.test"),
        ("access-control-request-method", "POST"),
        ("access-control-request-headers", "authorization,content-type"),
    ];
    let answer = front.request(CLIENT, Method::OPTIONS, "/v1/chat/completions", &asked).await;
    assert_eq!((answer.status.as_u16(), answer.text.as_str()), (204, ""));
    assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
    assert_eq!(answer.header("access-control-allow-methods"), Some("POST"));
    assert_eq!(answer.header("access-control-allow-headers"), Some("authorization,content-type"));
    for (method, headers) in [(Method::OPTIONS, &asked[..1]), (Method::POST, &asked), (Method::GET, &asked)] {
        assert_eq!(front.request(CLIENT, method, "/v1/chat/completions", headers).await.status, 401);
    }
    assert_eq!(front.served(), 0);
}

/// The answer to a request with a valid key that asks for this upgrade of its connection.
async fn upgraded(front: &Front, path: &str, key: &str, upgrade: &[(&str, &str)]) -> Raw {
    let authorization = format!("Bearer {key}");
    let usual = [
        ("authorization", authorization.as_str()),
        ("sec-websocket-version", "13"),
        ("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ=="),
    ];
    get(front, path, &[&usual[..], upgrade].concat()).await
}

/// No connection becomes something else. `check` looks at each refusal.
async fn check_upgrades(front: &Front, check: impl Fn(&Raw)) {
    let (_, key) = front.create_key(json!({ "name": "good", "remain_quota": 500 })).await;
    for upgrade in UPGRADES {
        let answer = upgraded(front, "/v1/realtime", &key, upgrade).await;
        assert_eq!(answer.status(), 403, "{upgrade:?}: {}", answer.head);
        check(&answer);
    }
    let mut stream = TcpStream::connect(front.listen).await.unwrap();
    let connect = format!("CONNECT {0} HTTP/1.1\r\nhost: {0}\r\nauthorization: Bearer {key}\r\n\r\n", front.listen);
    stream.write_all(connect.as_bytes()).await.unwrap();
    let answer = raw::next_answer(&mut stream).await.unwrap();
    assert!(answer.status() >= 400, "{}", answer.head);
    assert_eq!(front.served(), 0);
    // The key is not the reason.
    assert_eq!(upgraded(front, "/v1/realtime", &key, &[]).await.status(), 200);
}

/// HTTP/2 without TLS is refused as an upgrade.
async fn check_h2c(front: &Front) {
    let (_, key) = front.create_key(json!({ "name": "java", "remain_quota": 500 })).await;
    let served = front.served();
    assert_eq!(upgraded(front, "/v1/messages", &key, H2C).await.status(), 403);
    assert_eq!(front.served(), served);
}

/// A refusal in Keymeter's envelope.
fn check_envelope(answer: &Raw) {
    let body = json!({ "success": false, "message": NO_UPGRADE, "error": "upgrade_not_allowed" });
    assert_eq!((answer.json(), answer.header("content-type")), (body, Some("application/json")));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn nginx_refuses_websockets_and_other_upgrades(pool: PgPool) {
    let front = Front::start(Kind::Nginx, &pool).await;
    let error = json!({ "message": NO_UPGRADE, "type": "permission_error", "code": "upgrade_not_allowed" });
    let check = |answer: &Raw| {
        assert_eq!(answer.json(), json!({ "type": "error", "error": error }));
        let headers = ["content-type", "x-error-code", "retry-after"].map(|name| answer.header(name));
        assert_eq!(headers, [Some("application/json"), Some("upgrade_not_allowed"), None]);
    };
    check_upgrades(&front, check).await;
    check_h2c(&front).await;
    check_envelope(&upgraded(&front, "/chat", "sk-nonsense", UPGRADES[0]).await);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn caddy_refuses_websockets_and_other_upgrades(pool: PgPool) {
    let front = Front::start(Kind::Caddy, &pool).await;
    check_upgrades(&front, check_envelope).await;
    check_h2c(&front).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn traefik_refuses_websockets_and_other_upgrades(pool: PgPool) {
    let front = Front::start(Kind::Traefik, &pool).await;
    check_upgrades(&front, |_| ()).await;
    check_h2c(&front).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn envoy_refuses_websockets_and_other_upgrades(pool: PgPool) {
    let front = Front::start(Kind::Envoy, &pool).await;
    check_upgrades(&front, check_envelope).await;
    // It takes a request for HTTP/2 without TLS for a plain one.
    let (_, key) = front.create_key(json!({ "name": "java", "remain_quota": 500 })).await;
    let received = upgraded(&front, "/v1/messages", &key, H2C).await.json();
    for (name, _) in H2C.iter().skip(1) {
        assert!(received["headers"][name].is_null(), "{name}: {received}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn nginx_accepts_keys_in_the_headers_of_all_clients(pool: PgPool) {
    let front = Front::start(Kind::Nginx, &pool).await;
    let accepted = [
        ("authorization", "Bearer "),
        ("authorization", ""),
        ("x-api-key", ""),
        ("x-goog-api-key", ""),
        ("mj-api-secret", ""),
    ];
    check_key_headers(&front, &accepted).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn nginx_never_passes_a_second_key_on(pool: PgPool) {
    let front = Front::start(Kind::Nginx, &pool).await;
    check_second_keys(&front).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn nginx_gives_an_api_that_charges_the_key_that_was_checked(pool: PgPool) {
    let change = |config: String| config.replace(r#"Authorization "";"#, "Authorization $key;");
    let front = Front::with(Kind::Nginx, &pool, str::to_owned, change).await;
    let (_, key) = front.create_key(json!({ "name": "good", "remain_quota": 500 })).await;
    let received = front.request(CLIENT, Method::POST, "/v1/messages", &[("x-api-key", &key)]).await.json();
    assert_eq!(received["headers"]["authorization"], json!([format!("Bearer {key}")]));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn nginx_refuses_keys_in_addresses(pool: PgPool) {
    let front = Front::start(Kind::Nginx, &pool).await;
    check_keys_in_addresses(&front).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn nginx_answers_preflights_and_nothing_else_without_a_key(pool: PgPool) {
    let front = Front::start(Kind::Nginx, &pool).await;
    check_preflights(&front).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn nginx_refuses_below_v1_in_the_shape_of_the_sdks(pool: PgPool) {
    let front = Front::start(Kind::Nginx, &pool).await;
    for (key, status, code) in front.refused_keys().await {
        let (kind, error, message) = nginx_refusal(status);
        let body = json!({ "type": "error", "error": { "message": message, "type": kind, "code": error } });
        for path in ["/v1/messages", "/v1beta/models/gemini:generateContent"] {
            let headers = key.as_deref().map(|key| ("x-api-key", key));
            let answer = front.request(CLIENT, Method::POST, path, headers.as_slice()).await;
            assert_eq!((answer.status.as_u16(), answer.json()), (status, body.clone()), "{path}");
            assert_eq!(answer.header("content-type"), Some("application/json"));
            assert_eq!(answer.header("x-error-code"), Some(code));
            assert_eq!(answer.header("retry-after").is_some(), status == 429);
            assert_eq!(answer.header("access-control-allow-origin"), Some("*"));
            assert_eq!(answer.header("access-control-expose-headers"), Some("Retry-After, X-Error-Code"));
        }
    }
    assert_eq!(front.served(), 0);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn nginx_is_unavailable_in_the_shape_of_the_sdks(pool: PgPool) {
    let front = Front::with(Kind::Nginx, &pool, |right| format!("{right}x"), |config| config).await;
    let answer = front.request(CLIENT, Method::POST, "/v1/chat/completions", &[("x-api-key", "sk-any")]).await;
    let (kind, error, message) = nginx_refusal(503);
    let body = json!({ "type": "error", "error": { "message": message, "type": kind, "code": error } });
    assert_eq!((answer.status.as_u16(), answer.json()), (503, body));
    assert_eq!(answer.header("retry-after"), Some("1"));
    assert_eq!(answer.header("x-error-code"), None);
}

#[test]
fn nginx_waits_ten_minutes_for_the_api_and_five_seconds_for_keymeter() {
    let program = installed(Kind::Nginx);
    let dir = tempfile::tempdir().unwrap();
    let listen = ([127, 0, 0, 1], free_port()).into();
    let mut command = nginx(program, dir.path(), listen, "127.0.0.1:1", listen, "kmg_none", |config| config);
    let output = command.arg("-T").output().unwrap();
    let shown = String::from_utf8(output.stdout).unwrap();
    for (location, directive) in [("/", "proxy_read_timeout 600s;"), ("= /keymeter", "proxy_read_timeout 5s;")] {
        let block = shown.split(&format!("location {location} {{")).nth(1).unwrap().split("location").next().unwrap();
        assert!(block.contains(directive), "{block}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn caddy_accepts_keys_in_the_headers_of_several_clients(pool: PgPool) {
    let front = Front::start(Kind::Caddy, &pool).await;
    check_key_headers(&front, &[("authorization", "Bearer "), ("x-api-key", ""), ("x-goog-api-key", "")]).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn caddy_never_passes_a_second_key_on(pool: PgPool) {
    let front = Front::start(Kind::Caddy, &pool).await;
    check_second_keys(&front).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn caddy_refuses_keys_in_addresses(pool: PgPool) {
    let front = Front::start(Kind::Caddy, &pool).await;
    check_keys_in_addresses(&front).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn caddy_answers_preflights_and_nothing_else_without_a_key(pool: PgPool) {
    let front = Front::start(Kind::Caddy, &pool).await;
    check_preflights(&front).await;
}
