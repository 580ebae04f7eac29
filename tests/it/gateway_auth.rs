//! Specification §11: who may make gateway calls, and `GET /api/gateway/auth`.

use std::net::SocketAddr;

use axum::extract::ConnectInfo;
use http::Method;
use serde_json::json;
use sqlx::PgPool;

use crate::harness::gateway::{
    CALLS, EXHAUSTED, INVALID_KEY, IP_NOT_ALLOWED, NO_GATEWAY, TOKEN_DISABLED, TOKEN_EXPIRED, TOKEN_SHORT,
    USER_DISABLED, USER_SHORT, app_with_wallet, asks, edits, refused, switches, valid,
};
use crate::harness::{START, TestApp};

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn only_a_gateway_credential_is_accepted_and_a_revoked_one_is_refused_at_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, root) = (app.enabled_user("ana").await, app.root().await);
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 9 })).await;
    let made = root.post("/api/admin/gateways", json!({ "name": "edge" })).await.ok();
    let credential = made["credential"].as_str().unwrap();
    let gateway = app.stranger().with_access_token(credential);
    let bearer = gateway.with_access_token(&format!("bearer {credential}"));
    let body = json!({ "key": key });
    assert!(!valid(&gateway, &json!({ "key": key, "quota": 1 })).await, "the wallet is empty");
    asks(&bearer, "verify", &body).await.ok();
    root.delete(&format!("/api/admin/gateways/{}", made["id"])).await.ok();
    let others = [
        app.stranger(),
        app.stranger().with_access_token("Bearer"),
        app.stranger().with_access_token(&format!("{credential}x")),
        ana.by_access_token().await,
        app.root().await.by_access_token().await,
        root,
        app.holder_of(&key),
        gateway,
        bearer,
    ];
    for (number, other) in others.iter().enumerate() {
        for call in CALLS {
            let answer = asks(other, call, &body).await;
            assert_eq!(answer.status.as_u16(), 401, "{number} {call}");
            refused(&answer, NO_GATEWAY);
        }
        let mut request = app.holder_of(&key).request(Method::GET, "/api/gateway/auth");
        let secret = other.secret();
        if !secret.is_empty() {
            request.headers_mut().insert("x-gateway-credential", secret.parse().unwrap());
        }
        refused(&other.send(request).await, NO_GATEWAY);
    }
}

/// Without the table, a look-up fails with 500.
async fn without_credentials<T>(app: &TestApp, work: impl Future<Output = T>) -> T {
    let rename = "alter table gateway_credentials rename to g; alter table access_tokens rename to a";
    sqlx::raw_sql(rename).execute(&app.pool).await.unwrap();
    let done = work.await;
    let rename = "alter table g rename to gateway_credentials; alter table a rename to access_tokens";
    sqlx::raw_sql(rename).execute(&app.pool).await.unwrap();
    done
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_credential_that_is_malformed_or_was_unknown_lately_is_not_looked_up(pool: PgPool) {
    let (app, _, _) = app_with_wallet(pool, 5).await;
    let root = app.root().await;
    let made = root.post("/api/admin/gateways", json!({ "name": "edge" })).await.ok();
    let credential = made["credential"].as_str().unwrap();
    let kept = "create table kept as select * from gateway_credentials";
    sqlx::raw_sql(kept).execute(&app.pool).await.unwrap();
    root.delete(&format!("/api/admin/gateways/{}/credentials/{}", made["id"], made["credential_id"])).await;
    sqlx::raw_sql("delete from gateway_credentials").execute(&app.pool).await.unwrap();
    let verify =
        async |secret: &str| asks(&app.stranger().with_access_token(secret), "verify", &json!({ "key": "sk-x" })).await;
    let guess = format!("kma_{}", "a".repeat(43));
    let list = async |secret: &str| app.stranger().with_access_token(secret).get("/api/token/").await;
    app.clock.advance(2);
    refused(&verify(credential).await, NO_GATEWAY);
    list(&guess).await.refuses(401, "invalid_credential");
    without_credentials(&app, async {
        for secret in ["kmg_", "kmg_short", "sk-x", &format!("{credential}x"), &guess] {
            refused(&verify(secret).await, NO_GATEWAY);
        }
        for secret in ["kma_short", credential, "short", "Bearer"] {
            list(secret).await.refuses(401, "invalid_credential");
        }
        // Unknown a moment ago.
        refused(&verify(credential).await, NO_GATEWAY);
        list(&guess).await.refuses(401, "invalid_credential");
    })
    .await;
    // Whatever makes a credential ends that.
    sqlx::raw_sql("insert into gateway_credentials overriding system value select * from kept")
        .execute(&app.pool)
        .await
        .unwrap();
    refused(&verify(credential).await, NO_GATEWAY);
    root.post("/api/admin/gateways", json!({ "name": "other" })).await.ok();
    verify(credential).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn wrong_credentials_are_limited_by_address_and_a_right_one_is_never_refused_for_them(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_LIMITS__WRONG_CREDENTIALS_PER_MINUTE", "2")]).await;
    let gateway = app.gateway().await;
    let ana = app.enabled_user("ana").await.by_access_token().await;
    let from = async |path: &str, secret: &str, from: &str| {
        let caller = app.stranger().with_access_token(secret);
        let method = if path.starts_with("/api/gateway") { Method::POST } else { Method::GET };
        let mut request = caller.request(method, path);
        *request.body_mut() = r#"{"key":"sk-x"}"#.into();
        request.extensions_mut().insert(ConnectInfo(SocketAddr::new(from.parse().unwrap(), 4711)));
        caller.send(request).await
    };
    let guess = |n: u8| format!("{}{}", "a".repeat(42), n);
    for (path, kind, right) in
        [("/api/gateway/verify", "kmg_", gateway.secret()), ("/api/token/", "kma_", ana.secret())]
    {
        app.clock.advance(60);
        for (n, status) in [(0, 401), (1, 401), (2, 429), (3, 429)] {
            let answer = from(path, &format!("{kind}{}", guess(n)), "192.0.2.1").await;
            assert_eq!(answer.status.as_u16(), status, "{kind} {n}");
            assert_eq!(answer.header("retry-after").is_some(), status == 429);
        }
        app.clock.advance(3);
        from(path, right, "192.0.2.1").await.ok();
        assert_eq!(from(path, &format!("{kind}{}", guess(4)), "192.0.2.2").await.status.as_u16(), 401);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn forward_auth_answers_with_a_status_and_headers(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 5).await;
    let token = json!({ "name": "one", "remain_quota": 10, "expired_time": START + 60, "allow_ips": "10.0.0.0/8" });
    let (id, key) = ana.creates_with_key(token).await;
    let auth = async |authorization: &str, from: &str| {
        let mut request = app.stranger().request(Method::GET, "/api/gateway/auth");
        let headers = request.headers_mut();
        headers.insert("x-gateway-credential", gateway.secret().parse().unwrap());
        if !authorization.is_empty() {
            headers.insert("authorization", authorization.parse().unwrap());
        }
        request.extensions_mut().insert(ConnectInfo(SocketAddr::new(from.parse().unwrap(), 4711)));
        app.stranger().send(request).await
    };
    let bearer = format!("Bearer {key}");
    let admitted = auth(&bearer, "10.1.2.3").await;
    admitted.ok();
    let headers =
        ["x-token-id", "x-user-id", "x-token-group", "x-remain-quota"].map(|name| admitted.header(name).unwrap());
    assert_eq!(headers, [id.to_string().as_str(), ana.id.to_string().as_str(), "default", "5"]);
    let nothing = (401, "invalid_key", "send the API key as `Authorization: Bearer sk-…`");
    for none in ["", "Bearer", "Bearer  "] {
        refused(&auth(none, "10.1.2.3").await, nothing);
    }
    refused(&auth(&format!("{bearer}x"), "10.1.2.3").await, INVALID_KEY);
    refused(&auth(&bearer, "192.0.2.1").await, IP_NOT_ALLOWED);
    app.fills(&ana, 0).await;
    refused(&auth(&bearer, "10.1.2.3").await, USER_SHORT);
    app.fills(&ana, 10).await;
    asks(&gateway, "charge", &json!({ "key": key, "quota": 10 })).await.ok();
    app.clock.advance(2);
    refused(&auth(&bearer, "10.1.2.3").await, EXHAUSTED);
    app.clock.advance(58);
    refused(&auth(&bearer, "10.1.2.3").await, TOKEN_EXPIRED);
    ana.put("/api/token/?status_only=1", json!({ "id": id, "status": 2 })).await.ok();
    refused(&auth(&bearer, "10.1.2.3").await, TOKEN_DISABLED);
    edits(&ana, id, json!({ "expired_time": -1, "remain_quota": 0 })).await;
    let fresh = ana.creates_with_key(json!({ "name": "fresh", "remain_quota": 0 })).await.1;
    refused(&auth(&format!("Bearer {fresh}"), "10.1.2.3").await, TOKEN_SHORT);
    switches(&app, &ana, 2).await;
    refused(&auth(&format!("Bearer {fresh}"), "10.1.2.3").await, USER_DISABLED);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn forward_auth_accepts_any_method_and_any_path_below_its_own(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 5).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 10 })).await;
    for path in ["", "/", "/v1/chat/completions", "/api/token/7?p=1", "/api/gateway/charge"] {
        for method in [Method::GET, Method::POST, Method::PUT, Method::PATCH, Method::DELETE, Method::OPTIONS] {
            let mut request = app.holder_of(&key).request(method.clone(), &format!("/api/gateway/auth{path}"));
            let credential = gateway.secret().parse().unwrap();
            let before = app.stranger().send(request).await;
            assert_eq!(before.header("x-error-code"), Some("invalid_gateway"), "{method} {path}");
            request = app.holder_of(&key).request(method.clone(), &format!("/api/gateway/auth{path}"));
            request.headers_mut().insert("x-gateway-credential", credential);
            let answer = app.stranger().send(request).await;
            assert_eq!((answer.status.as_u16(), answer.header("x-remain-quota")), (200, Some("5")), "{method} {path}");
        }
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn forward_auth_refuses_keys_in_the_address_and_no_other_text(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 5).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 10 })).await;
    let (other, bare) = (ana.creates_with_key(json!({ "name": "two" })).await.1, &key[3..]);
    let ask = async |path: &str| {
        let mut request = app.holder_of(&key).request(Method::GET, &format!("/api/gateway/auth{path}"));
        request.headers_mut().insert("x-gateway-credential", gateway.secret().parse().unwrap());
        app.stranger().send(request).await
    };
    let typo = format!("{}{}", &key[..50], if key.ends_with('0') { '1' } else { '0' });
    let passed = [
        "?task-id=5".to_owned(),
        "?name=disk-1".to_owned(),
        "/v1/files/disk-1?after=task-9&q=sk-".to_owned(),
        "?q=how+do+I+send+an+sk-key".to_owned(),
        "?note=sk-nonsense".to_owned(),
        "?%ff=%zz&&=&a".to_owned(),
        format!("?id={typo}"),
        format!("?id={}", &key[..50]),
    ];
    for path in passed {
        let answer = ask(&path).await;
        assert_eq!((answer.status.as_u16(), answer.header("x-remain-quota")), (200, Some("5")), "{path}");
    }
    let message = "send the API key as `Authorization: Bearer sk-…`, not in the address: addresses are logged";
    let refused_paths = [
        format!("?key={key}"),
        format!("?task-id=5&token={bare}"),
        format!("?key=sk-sk-{bare}"),
        format!("/v1/models?a=b&k=%73k-{bare}&c=d"),
        format!("?authorization=Bearer+{key}"),
        format!("?x=%20{other}"),
        format!("?{key}"),
        format!("?{key}="),
    ];
    for path in refused_paths {
        refused(&ask(&path).await, (401, "invalid_key", message));
    }
}
