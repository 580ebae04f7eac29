//! The address of the client behind trusted proxies, and requests whose address cannot be read.

use std::net::SocketAddr;

use axum::extract::ConnectInfo;
use http::{HeaderValue, Method};
use serde_json::json;
use sqlx::PgPool;

use crate::harness::{Answer, TestApp};

const PROXY: &str = "192.0.2.1";
const REFUSED: &str = "this token may not be used from this address";

/// Forward-auth of `key` by a proxy at `peer`, with these `X-Forwarded-For` headers.
async fn forward_auth(app: &TestApp, credential: &str, key: &str, peer: &str, forwarded: &[&[u8]]) -> Answer {
    let holder = app.holder_of(key);
    let mut request = holder.request(Method::GET, "/api/gateway/auth");
    request.headers_mut().insert("x-gateway-credential", credential.parse().unwrap());
    for value in forwarded {
        request.headers_mut().append("x-forwarded-for", HeaderValue::from_bytes(value).unwrap());
    }
    request.extensions_mut().insert(ConnectInfo(SocketAddr::new(peer.parse().unwrap(), 4711)));
    holder.send(request).await
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_allowlist_is_checked_against_the_client_and_never_against_the_proxy(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_SERVER__TRUSTED_PROXIES", "192.0.2.0/24,2001:db8:1::/64")]).await;
    let ana = app.enabled_user("ana").await;
    app.fills(&ana, 1_000).await;
    let listed = json!({
        "name": "listed", "remain_quota": 5, "allow_ips": "192.0.2.0/24\n198.51.100.7\n2001:db8:9::/48",
    });
    let (_, listed) = ana.creates_with_key(listed).await;
    let (_, open) = ana.creates_with_key(json!({ "name": "open", "remain_quota": 5 })).await;
    let gateway = app.gateway().await;
    let long = [b"203.0.113.9, ".repeat(3_000), b"198.51.100.7".to_vec()].concat();
    let many_proxies = [b"198.51.100.7".to_vec(), b", 192.0.2.1".repeat(200)].concat();
    let long_number = "9".repeat(50_000);
    let table: [(&[&[u8]], bool); 34] = [
        (&[], true),
        (&[b"198.51.100.7"], true),
        (&[b"203.0.113.9"], false),
        // The right-most hop that is not a trusted proxy is the client.
        (&[b"198.51.100.7, 203.0.113.9"], false),
        (&[b"203.0.113.9, 198.51.100.7"], true),
        (&[b"198.51.100.7, 192.0.2.5"], true),
        (&[b"203.0.113.9,192.0.2.5"], false),
        (&[b"192.0.2.9, 192.0.2.5"], true),
        // Several headers are one list.
        (&[b"198.51.100.7", b"203.0.113.9"], false),
        (&[b"203.0.113.9", b"198.51.100.7"], true),
        (&[b"198.51.100.7", b"192.0.2.5", b"192.0.2.6"], true),
        // Ports and brackets.
        (&[b"198.51.100.7:4711"], true),
        (&[b"203.0.113.9:4711"], false),
        (&[b"2001:db8:9::1"], true),
        (&[b"[2001:db8:9::1]"], true),
        (&[b"[2001:db8:9::1]:4711"], true),
        (&[b"[2001:db8:8::1]:4711"], false),
        (&[b"::ffff:198.51.100.7"], true),
        // Bytes that are not text do not hide readable addresses to their right.
        (&[b"\xff\xfe, 198.51.100.7"], true),
        (&[b"\xe9, 203.0.113.9"], false),
        (&[b"\xff\xfe"], false),
        (&[b"198.51.100.7, \xff"], false),
        (&[b"198.51.100.7", b"\xff"], false),
        (&[b"198.51.100.7, \xc3\xa9, 192.0.2.5"], false),
        // Words and empty entries are not addresses.
        (&[b"unknown"], false),
        (&[b"198.51.100.7, unknown"], false),
        (&[b""], false),
        (&[b"198.51.100.7, "], false),
        (&[b"198.51.100.7", b""], false),
        (&[b"198.51.100.7:99999"], false),
        (&[b"198.51.100.7, fe80::1%eth0"], false),
        // Long lists.
        (&[&long], true),
        (&[&many_proxies], false),
        (&[long_number.as_bytes()], false),
    ];
    for (forwarded, admitted) in table {
        let shown: Vec<_> =
            forwarded.iter().map(|value| String::from_utf8_lossy(&value[..value.len().min(60)])).collect();
        let answer = forward_auth(&app, gateway.secret(), &listed, PROXY, forwarded).await;
        assert_eq!(answer.status == 200, admitted, "{shown:?} {}", answer.text);
        if !admitted {
            answer.refuses_saying(403, "ip_not_allowed", REFUSED);
        }
        forward_auth(&app, gateway.secret(), &open, PROXY, forwarded).await.ok();
    }
    // A peer that is not a trusted proxy is the client, its headers are ignored. `Forwarded` is never read.
    forward_auth(&app, gateway.secret(), &listed, "203.0.113.9", &[b"198.51.100.7"])
        .await
        .refuses(403, "ip_not_allowed");
    forward_auth(&app, gateway.secret(), &listed, "198.51.100.7", &[b"\xff"]).await.ok();
    let holder = app.holder_of(&listed);
    let mut request = holder.request(Method::GET, "/api/gateway/auth");
    request.headers_mut().insert("x-gateway-credential", gateway.secret().parse().unwrap());
    request.headers_mut().insert("forwarded", "for=198.51.100.7".parse().unwrap());
    request.extensions_mut().insert(ConnectInfo("203.0.113.9:1".parse::<SocketAddr>().unwrap()));
    holder.send(request).await.refuses(403, "ip_not_allowed");
    // A gateway may omit the address in the body.
    gateway.post("/api/gateway/verify", json!({ "key": listed })).await.ok();
    let verdict = gateway.post("/api/gateway/verify", json!({ "key": listed })).await.ok();
    assert_eq!(verdict["valid"], true);
    let verdict = gateway.post("/api/gateway/verify", json!({ "key": listed, "ip": "203.0.113.9" })).await.ok();
    assert_eq!(verdict["reason"], "ip_not_allowed");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn without_an_address_an_allowlist_refuses(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    app.fills(&ana, 1_000).await;
    let (_, key) =
        ana.creates_with_key(json!({ "name": "one", "remain_quota": 5, "allow_ips": "0.0.0.0/0\n::/0" })).await;
    let gateway = app.gateway().await;
    let holder = app.holder_of(&key);
    let mut request = holder.request(Method::GET, "/api/gateway/auth");
    request.headers_mut().insert("x-gateway-credential", gateway.secret().parse().unwrap());
    holder.send(request).await.refuses_saying(403, "ip_not_allowed", REFUSED);
}
