//! Spec §11, refusals of gateway calls, and what is never charged twice.

use std::net::SocketAddr;

use axum::extract::ConnectInfo;
use http::Method;
use keymeter::app::{App, Opened};
use keymeter::config::Config;
use keymeter::service::jobs::expire_overdue;
use keymeter::service::rng::Rng;
use keymeter::service::vault::{MasterKey, Vault};
use keymeter::storage::Db;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Answer, Caller, MASTER_KEY, START, TestApp};

/// A refusal: status, code, sentence.
type ApiError = (u16, &'static str, &'static str);

const INVALID_KEY: ApiError = (401, "invalid_key", "this API key is not valid");
const TOKEN_DISABLED: ApiError = (403, "token_disabled", "this token is disabled");
const TOKEN_EXPIRED: ApiError = (403, "token_expired", "this token has expired");
const USER_DISABLED: ApiError = (403, "user_disabled", "the account of this token is disabled");
const MODEL: ApiError = (403, "model_not_allowed", "this token may not use this model");
const IP: ApiError = (403, "ip_not_allowed", "this token may not be used from this address");
const EXHAUSTED: ApiError = (402, "token_exhausted", "this token has used up its quota");
const TOKEN_SHORT: ApiError = (402, "token_quota_insufficient", "insufficient token quota for this amount");
const USER_SHORT: ApiError = (402, "user_quota_insufficient", "insufficient account quota for this amount");
const NO_GATEWAY: ApiError =
    (401, "invalid_gateway", "a gateway credential is required; an administrator can create one");
const NO_RESERVATION: ApiError = (404, "reservation_not_found", "reservation not found");
const ENDED: ApiError = (409, "reservation_ended", "this reservation has already ended");
const REUSED: ApiError =
    (409, "request_id_reused", "this request_id was used for another request; give each request its own id");
const AWAY: ApiError = (503, "database_unavailable", "database unavailable; retry shortly");

const CALLS: [&str; 6] = ["verify", "charge", "reserve", "settle", "release", "charges"];

/// A user with a wallet, and a gateway.
async fn shop(pool: PgPool, wallet: i64) -> (TestApp, Caller, Caller) {
    let app = TestApp::new(pool).await;
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, wallet).await;
    (app, ana, gateway)
}

async fn asks(gateway: &Caller, call: &str, body: &Value) -> Answer {
    gateway.post(&format!("/api/gateway/{call}"), body.clone()).await
}

#[track_caller]
fn refused(answer: &Answer, (status, error, message): ApiError) {
    answer.refuses_saying(status, error, message);
}

/// The same reason wherever a key is spent or judged.
async fn refused_everywhere(gateway: &Caller, body: &Value, refusal: ApiError) {
    let (_, error, message) = refusal;
    let verdict = asks(gateway, "verify", body).await.ok();
    assert_eq!((&verdict["valid"], &verdict["reason"]), (&json!(false), &json!(error)));
    refused(&asks(gateway, "charge", body).await, refusal);
    refused(&asks(gateway, "reserve", body).await, refusal);
    let outcomes = asks(gateway, "charges", &json!({ "charges": [body] })).await.ok();
    assert_eq!(outcomes, json!([{ "success": false, "error": error, "message": message }]));
}

async fn valid(gateway: &Caller, body: &Value) -> bool {
    asks(gateway, "verify", body).await.ok()["valid"].as_bool().unwrap()
}

async fn edits(ana: &Caller, id: i64, mut fields: Value) {
    fields["id"] = json!(id);
    ana.put("/api/token/", fields).await.ok();
}

async fn switches(app: &TestApp, user: &Caller, status: i64) {
    app.root().await.patch(&format!("/api/admin/users/{}", user.id), json!({ "status": status })).await.ok();
}

async fn reserves(gateway: &Caller, key: &str, quota: i64) -> Value {
    asks(gateway, "reserve", &json!({ "key": key, "quota": quota })).await.ok()["reservation_id"].clone()
}

async fn settles(gateway: &Caller, reservation: &Value, quota: i64) -> Answer {
    asks(gateway, "settle", &json!({ "reservation_id": reservation, "quota": quota })).await
}

async fn releases(gateway: &Caller, reservation: &Value) -> Answer {
    asks(gateway, "release", &json!({ "reservation_id": reservation })).await
}

/// Used and available of a token, and of its owner's wallet.
async fn balances(app: &TestApp, owner: &Caller, key: &str) -> [i64; 4] {
    let usage = app.holder_of(key).get("/api/usage/token/").await.ok();
    let wallet = owner.get("/api/user/self").await.ok();
    let fields = [&usage["total_used"], &usage["total_available"], &wallet["used_quota"], &wallet["quota"]];
    fields.map(|field| field.as_i64().unwrap())
}

/// Another server on the same database looks once for reservations whose time is over.
async fn overdue_are_expired(app: &TestApp) {
    let config = Config::from_sources(None, std::iter::empty()).unwrap();
    let vault = Vault::new(&MasterKey::from_hex(MASTER_KEY).unwrap());
    let opened = Opened { db: Db::new(app.pool.clone()), vault };
    let state = App::assemble(opened, &config, app.clock.clone(), Rng::seeded(2)).unwrap().state;
    expire_overdue(&state.db, &state.clock, &state.ledger).await.unwrap();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_reason_has_its_answer_and_the_first_in_order_is_told(pool: PgPool) {
    let (app, ana, gateway) = shop(pool, 5).await;
    let root = app.root().await;
    let token = json!({
        "name": "one", "remain_quota": 10, "expired_time": START + 60, "allow_ips": "10.0.0.0/8",
        "model_limits_enabled": true, "model_limits": "o1",
    });
    let (id, key) = ana.creates_with_key(token).await;
    // Each step adds a fault that is told before those that are there.
    let mut body = json!({ "key": key, "quota": 7, "model": "o1", "ip": "10.1.2.3" });
    refused_everywhere(&gateway, &body, USER_SHORT).await;
    body["quota"] = json!(11);
    refused_everywhere(&gateway, &body, TOKEN_SHORT).await;
    app.fills(&ana, 10).await;
    asks(&gateway, "charge", &json!({ "key": key, "quota": 10 })).await.ok();
    app.clock.advance(2);
    refused_everywhere(&gateway, &body, EXHAUSTED).await;
    body["ip"] = json!("192.0.2.1");
    refused_everywhere(&gateway, &body, IP).await;
    body["model"] = json!("gpt-4o");
    refused_everywhere(&gateway, &body, MODEL).await;
    switches(&app, &ana, 2).await;
    refused_everywhere(&gateway, &body, USER_DISABLED).await;
    app.clock.advance(58);
    refused_everywhere(&gateway, &body, TOKEN_EXPIRED).await;
    root.post(&format!("/api/admin/tokens/{id}/status"), json!({ "status": 2 })).await.ok();
    refused_everywhere(&gateway, &body, TOKEN_DISABLED).await;
    switches(&app, &ana, 1).await;
    let ana = app.signs_in("ana", "ana's password").await;
    ana.delete(&format!("/api/token/{id}")).await.ok();
    refused_everywhere(&gateway, &body, INVALID_KEY).await;
    let verdict = asks(&gateway, "verify", &body).await.ok();
    assert_eq!(verdict, json!({ "valid": false, "reason": "invalid_key" }), "nothing is told of an unknown key");
    let me = ana.get("/api/user/self").await.ok();
    assert_eq!((&me["quota"], &me["used_quota"], &me["request_count"]), (&json!(0), &json!(10), &json!(1)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn bad_input_is_refused_by_the_name_of_its_field_and_takes_nothing(pool: PgPool) {
    const WHOLE: ApiError = (400, "invalid_field", "`quota` must be a whole number");
    const QUOTA: ApiError = (400, "invalid_quota", "`quota` must be a whole number from 0 to 500000000000000");
    const BAD_IP: ApiError = (400, "invalid_ip", "`ip` must be an IPv4 or IPv6 address");
    const BAD_MODEL: ApiError = (400, "invalid_model", "`model` must have at most 128 characters");
    const TTL: ApiError = (400, "invalid_ttl", "`ttl_seconds` must be 1 to 86400");
    const ID: ApiError = (400, "invalid_request_id", "`request_id` must have 1 to 128 visible characters");
    const PROMPT: ApiError = (400, "invalid_count", "`prompt_tokens` must be 0 to 1000000000000");
    const COMPLETION: ApiError = (400, "invalid_count", "`completion_tokens` must be 0 to 1000000000000");
    let (app, ana, gateway) = shop(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 1_000 })).await;
    let held = reserves(&gateway, &key, 100).await;
    let good = json!({ "key": key, "quota": 1, "reservation_id": held });
    let spends: &[&str] = &["charge", "reserve"];
    let amounts: &[&str] = &["verify", "charge", "reserve", "settle"];
    let counts: &[&str] = &["charge", "settle"];
    let table: &[(&[&str], &str, Value, ApiError)] = &[
        (&["charge", "reserve", "settle"], "quota", json!(null), (400, "missing_field", "`quota` is required")),
        (amounts, "quota", json!(-1), QUOTA),
        (amounts, "quota", json!(i64::MIN), QUOTA),
        (amounts, "quota", json!(500_000_000_000_001_i64), QUOTA),
        (amounts, "quota", json!(i64::MAX), QUOTA),
        (amounts, "quota", json!(9_223_372_036_854_775_808_u64), WHOLE),
        (amounts, "quota", json!(1e300), WHOLE),
        (amounts, "quota", json!(0.5), WHOLE),
        (amounts, "quota", json!("5"), WHOLE),
        (&["verify", "charge", "reserve"], "ip", json!("10.0.0.0/8"), BAD_IP),
        (spends, "ip", json!("somewhere"), BAD_IP),
        (&["verify", "charge", "reserve"], "model", json!("m".repeat(129)), BAD_MODEL),
        (spends, "model", json!("o1\n"), BAD_MODEL),
        (&["charge"], "request_id", json!(""), ID),
        (&["charge"], "request_id", json!("r".repeat(129)), ID),
        (&["charge"], "request_id", json!("r\0"), ID),
        (&["charge"], "request_id", json!(7), (400, "invalid_field", "`request_id` must be a string")),
        (&["reserve"], "ttl_seconds", json!(0), TTL),
        (&["reserve"], "ttl_seconds", json!(-1), TTL),
        (&["reserve"], "ttl_seconds", json!(86_401), TTL),
        (&["reserve"], "ttl_seconds", json!(1.5), (400, "invalid_field", "`ttl_seconds` must be a whole number")),
        (counts, "prompt_tokens", json!(-1), PROMPT),
        (counts, "prompt_tokens", json!(1_000_000_000_001_i64), PROMPT),
        (counts, "completion_tokens", json!(-1), COMPLETION),
        (counts, "completion_tokens", json!(1_000_000_000_001_i64), COMPLETION),
        (&["settle", "release"], "reservation_id", json!(null), (400, "missing_field", "`reservation_id` is required")),
        (
            &["settle", "release"],
            "reservation_id",
            json!(7),
            (400, "invalid_field", "`reservation_id` must be a string"),
        ),
        (&["verify", "charge", "reserve"], "key", json!(7), (400, "invalid_field", "`key` must be a string")),
        (spends, "key", json!(null), INVALID_KEY),
        (spends, "key", json!("sk-short"), INVALID_KEY),
    ];
    for (calls, field, value, (status, error, message)) in table {
        for call in *calls {
            let mut body = good.clone();
            body[*field] = value.clone();
            let answer = asks(&gateway, call, &body).await;
            let told = answer.json();
            let expected = json!({ "success": false, "error": error, "message": message });
            assert_eq!((answer.status.as_u16(), told), (*status, expected), "{call} {field} {value}");
        }
    }
    for call in CALLS {
        let answer = asks(&gateway, call, &json!([])).await;
        refused(&answer, (400, "invalid_json", "the body must be a JSON object"));
    }
    assert_eq!(balances(&app, &ana, &key).await, [100, 900, 100, 900]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn what_lies_at_the_bounds_is_let_in(pool: PgPool) {
    let (app, ana, gateway) = shop(pool, 500_000_000_000_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 500_000_000_000_000_i64 })).await;
    let counts = 1_000_000_000_000_i64;
    let nothing = json!({
        "key": key, "quota": 0, "request_id": "r".repeat(128), "model": "m".repeat(128), "ip": "",
        "prompt_tokens": counts, "completion_tokens": counts,
    });
    let charged = asks(&gateway, "charge", &nothing).await.ok();
    assert_eq!((&charged["charged"], &charged["remain_quota"]), (&json!(0), &json!(500_000_000_000_000_i64)));
    for (ttl, lasts) in [(json!(1), 1), (json!(86_400), 86_400), (json!(null), 600)] {
        let body = json!({ "key": key, "quota": 0, "ttl_seconds": ttl });
        assert_eq!(asks(&gateway, "reserve", &body).await.ok()["expires_at"], START + lasts);
    }
    let all = json!({ "key": key, "quota": 500_000_000_000_000_i64 });
    assert_eq!(asks(&gateway, "charge", &all).await.ok()["remain_quota"], 0);
    refused(&asks(&gateway, "charge", &json!({ "key": key, "quota": 0 })).await, EXHAUSTED);
    assert_eq!(balances(&app, &ana, &key).await, [500_000_000_000_000, 0, 500_000_000_000_000, 0]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn names_are_counted_in_characters_not_bytes(pool: PgPool) {
    let (_, ana, gateway) = shop(pool, 100).await;
    let model = "ü".repeat(128);
    let token = json!({ "name": "one", "remain_quota": 9, "model_limits_enabled": true, "model_limits": model });
    let (_, key) = ana.creates_with_key(token).await;
    asks(&gateway, "charge", &json!({ "key": key, "quota": 1, "model": model })).await.ok();
    let long = json!({ "key": key, "quota": 1, "model": model, "request_id": "ü".repeat(128) });
    asks(&gateway, "charge", &long).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn only_a_gateway_is_a_gateway_and_a_revoked_one_is_none_at_once(pool: PgPool) {
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
    let impostors = [
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
    for (number, impostor) in impostors.iter().enumerate() {
        for call in CALLS {
            let answer = asks(impostor, call, &body).await;
            assert_eq!(answer.status.as_u16(), 401, "{number} {call}");
            refused(&answer, NO_GATEWAY);
        }
        let mut request = app.holder_of(&key).request(Method::GET, "/api/gateway/auth");
        let secret = impostor.secret();
        if !secret.is_empty() {
            request.headers_mut().insert("x-gateway-credential", secret.parse().unwrap());
        }
        refused(&impostor.send(request).await, NO_GATEWAY);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn forward_auth_answers_by_status_and_header(pool: PgPool) {
    let (app, ana, gateway) = shop(pool, 5).await;
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
    let facts =
        ["x-token-id", "x-user-id", "x-token-group", "x-remain-quota"].map(|name| admitted.header(name).unwrap());
    assert_eq!(facts, [id.to_string().as_str(), ana.id.to_string().as_str(), "default", "5"]);
    let nothing = (401, "invalid_key", "send the API key as `Authorization: Bearer sk-…`");
    for none in ["", "Bearer", "Bearer  "] {
        refused(&auth(none, "10.1.2.3").await, nothing);
    }
    refused(&auth(&format!("{bearer}x"), "10.1.2.3").await, INVALID_KEY);
    refused(&auth(&bearer, "192.0.2.1").await, IP);
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
async fn forward_auth_takes_any_method_at_any_path_behind_its_own_as_envoy_asks(pool: PgPool) {
    let (app, ana, gateway) = shop(pool, 5).await;
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
async fn a_reservation_is_found_by_its_whole_id_alone(pool: PgPool) {
    let (app, ana, gateway) = shop(pool, 100).await;
    let ben = app.enabled_user("ben").await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let held = reserves(&gateway, &key, 40).await;
    let text = held.as_str().unwrap();
    let (_, number) = text.split_once('.').unwrap();
    let wrong = [
        String::new(),
        "r".to_owned(),
        number.to_owned(),
        text[1..].to_owned(),
        format!("x{}", &text[1..]),
        format!("{text}0"),
        format!("{text}.1"),
        format!("r{}.{number}", ben.id),
        format!("r.{number}"),
        format!("r{}.1", ana.id),
        format!("r{}.-1", ana.id),
        format!("r99999999999999999999.{number}"),
        format!("r{}.{number}", i64::MIN),
    ];
    for id in wrong {
        refused(&settles(&gateway, &json!(id), 1).await, NO_RESERVATION);
        refused(&releases(&gateway, &json!(id)).await, NO_RESERVATION);
    }
    assert_eq!(balances(&app, &ana, &key).await, [40, 60, 40, 60]);
    assert_eq!(settles(&gateway, &held, 40).await.ok()["charged"], 40);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l7_a_reservation_ends_exactly_once(pool: PgPool) {
    let (app, ana, gateway) = shop(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 1_000 })).await;
    let held = reserves(&gateway, &key, 300).await;
    let settled = settles(&gateway, &held, 100).await.ok();
    assert_eq!(settled, json!({ "charged": 100, "shortfall": 0, "expired": false, "remain_quota": 900 }));
    assert_eq!(settles(&gateway, &held, 100).await.ok(), settled);
    for other in [0, 99, 101, 300] {
        refused(&settles(&gateway, &held, other).await, ENDED);
    }
    refused(&releases(&gateway, &held).await, ENDED);
    assert_eq!(balances(&app, &ana, &key).await, [100, 900, 100, 900]);
    let held = reserves(&gateway, &key, 900).await;
    for _ in 0..2 {
        assert_eq!(releases(&gateway, &held).await.ok(), json!({ "remain_quota": 900 }));
    }
    refused(&settles(&gateway, &held, 1).await, ENDED);
    app.clock.advance(86_400);
    overdue_are_expired(&app).await;
    refused(&settles(&gateway, &held, 1).await, ENDED);
    assert_eq!(balances(&app, &ana, &key).await, [100, 900, 100, 900]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l7_parallel_ends_of_one_reservation_agree(pool: PgPool) {
    let (app, ana, gateway) = shop(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 1_000 })).await;
    let held = reserves(&gateway, &key, 300).await;
    let settling = futures_util::future::join_all((0..20).map(|_| settles(&gateway, &held, 120)));
    let releasing = futures_util::future::join_all((0..20).map(|_| releases(&gateway, &held)));
    let (settled, released) = tokio::join!(settling, releasing);
    let (winners, losers) = if settled[0].status == 200 { (settled, released) } else { (released, settled) };
    for answer in &winners {
        assert_eq!(answer.ok(), winners[0].ok());
    }
    for answer in &losers {
        refused(answer, ENDED);
    }
    let used = winners[0].ok()["charged"].as_i64().unwrap_or(0);
    assert_eq!(balances(&app, &ana, &key).await, [used, 1_000 - used, used, 1_000 - used]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l1_a_cost_beyond_the_hold_is_taken_as_far_as_both_balances_reach(pool: PgPool) {
    let (app, ana, gateway) = shop(pool, 150).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let held = reserves(&gateway, &key, 60).await;
    let settled = json!({ "charged": 100, "shortfall": 20, "expired": false, "remain_quota": 0 });
    assert_eq!(settles(&gateway, &held, 120).await.ok(), settled);
    assert_eq!(balances(&app, &ana, &key).await, [100, 0, 100, 50]);
    let (_, free) = ana.creates_with_key(json!({ "name": "free", "unlimited_quota": true, "remain_quota": 7 })).await;
    let held = reserves(&gateway, &free, 10).await;
    let settled = json!({ "charged": 50, "shortfall": 450, "expired": false, "remain_quota": 7 });
    assert_eq!(settles(&gateway, &held, 500).await.ok(), settled);
    assert_eq!(balances(&app, &ana, &key).await, [100, 0, 150, 0]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l7_an_expired_reservation_gives_back_and_is_settled_as_far_as_balances_reach(pool: PgPool) {
    let (app, ana, gateway) = shop(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let [first, second, third] =
        [reserves(&gateway, &key, 30).await, reserves(&gateway, &key, 30).await, reserves(&gateway, &key, 30).await];
    let long = json!({ "key": key, "quota": 10, "ttl_seconds": 601 });
    let kept = asks(&gateway, "reserve", &long).await.ok()["reservation_id"].clone();
    app.clock.advance(599);
    overdue_are_expired(&app).await;
    assert_eq!(balances(&app, &ana, &key).await, [100, 0, 100, 900], "not before its time");
    app.clock.advance(1);
    overdue_are_expired(&app).await;
    overdue_are_expired(&app).await;
    assert_eq!(balances(&app, &ana, &key).await, [10, 90, 10, 990], "its time has come, once");
    let settled = json!({ "charged": 70, "shortfall": 0, "expired": true, "remain_quota": 20 });
    assert_eq!(settles(&gateway, &first, 70).await.ok(), settled);
    let settled = json!({ "charged": 20, "shortfall": 10, "expired": true, "remain_quota": 0 });
    assert_eq!(settles(&gateway, &second, 30).await.ok(), settled);
    refused(&settles(&gateway, &second, 20).await, ENDED);
    assert_eq!(releases(&gateway, &third).await.ok(), json!({ "remain_quota": 0 }), "it gave all back before");
    assert_eq!(settles(&gateway, &kept, 10).await.ok()["expired"], false);
    assert_eq!(balances(&app, &ana, &key).await, [100, 0, 100, 900]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l7_an_expired_reservation_settled_again_tells_the_same_again(pool: PgPool) {
    let (app, ana, gateway) = shop(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let held = reserves(&gateway, &key, 30).await;
    app.clock.advance(600);
    overdue_are_expired(&app).await;
    let settled = settles(&gateway, &held, 70).await.ok();
    assert_eq!(settled, json!({ "charged": 70, "shortfall": 0, "expired": true, "remain_quota": 30 }));
    assert_eq!(settles(&gateway, &held, 70).await.ok(), settled);
    assert_eq!(balances(&app, &ana, &key).await, [70, 30, 70, 930]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l7_reservations_end_also_after_their_token_went(pool: PgPool) {
    let (app, ana, gateway) = shop(pool, 100).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let [settled, released, expired] =
        [reserves(&gateway, &key, 30).await, reserves(&gateway, &key, 30).await, reserves(&gateway, &key, 30).await];
    ana.delete(&format!("/api/token/{id}")).await.ok();
    assert_eq!(settles(&gateway, &settled, 20).await.ok()["charged"], 20);
    releases(&gateway, &released).await.ok();
    app.clock.advance(600);
    overdue_are_expired(&app).await;
    let me = ana.get("/api/user/self").await.ok();
    assert_eq!((&me["quota"], &me["used_quota"]), (&json!(80), &json!(20)));
    releases(&gateway, &expired).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l4_a_request_id_charges_once_and_means_one_request(pool: PgPool) {
    let (app, ana, gateway) = shop(pool, 1_000).await;
    let other = app.gateway().await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let (_, second) = ana.creates_with_key(json!({ "name": "two", "remain_quota": 100 })).await;
    let body = json!({
        "key": key, "quota": 40, "request_id": "r 1", "model": "o1", "ip": "10.1.2.3", "prompt_tokens": 7,
        "completion_tokens": 3,
    });
    let charged = json!({ "charged": 40, "remain_quota": 60, "request_id": "r 1" });
    let answers = futures_util::future::join_all((0..20).map(|_| asks(&gateway, "charge", &body))).await;
    for answer in &answers {
        assert_eq!(answer.ok(), charged);
    }
    let changes = [
        ("quota", json!(41)),
        ("quota", json!(0)),
        ("model", json!("o2")),
        ("model", json!(null)),
        ("ip", json!("10.1.2.4")),
        ("prompt_tokens", json!(8)),
        ("completion_tokens", json!(null)),
        ("key", json!(second)),
    ];
    for (field, value) in changes {
        let mut changed = body.clone();
        changed[field] = value;
        refused(&asks(&gateway, "charge", &changed).await, REUSED);
    }
    assert_eq!(balances(&app, &ana, &key).await, [40, 60, 40, 960]);
    let by_other = asks(&other, "charge", &body).await.ok();
    assert_eq!(by_other, json!({ "charged": 40, "remain_quota": 20, "request_id": "r 1" }));
    let short = json!({ "key": key, "quota": 21, "request_id": "r 2" });
    refused(&asks(&gateway, "charge", &short).await, TOKEN_SHORT);
    edits(&ana, id, json!({ "remain_quota": 21 })).await;
    assert_eq!(asks(&gateway, "charge", &short).await.ok()["remain_quota"], 0, "what was refused is not remembered");
    ana.put("/api/token/?status_only=1", json!({ "id": id, "status": 2 })).await.ok();
    assert_eq!(asks(&gateway, "charge", &body).await.ok(), charged, "a retry tells the truth of then");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l4_a_retry_tells_the_truth_also_after_the_token_was_deleted(pool: PgPool) {
    let (_, ana, gateway) = shop(pool, 1_000).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let body = json!({ "key": key, "quota": 40, "request_id": "r1" });
    let charged = asks(&gateway, "charge", &body).await.ok();
    ana.delete(&format!("/api/token/{id}")).await.ok();
    assert_eq!(asks(&gateway, "charge", &body).await.ok(), charged);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn many_charges_stand_each_for_itself(pool: PgPool) {
    let (app, ana, gateway) = shop(pool, 50).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let bad = (400, "invalid_charges", "`charges` must have 1 to 1000 entries");
    let one = json!({ "key": key, "quota": 0 });
    for charges in [json!(null), json!([]), json!(vec![one.clone(); 1_001])] {
        refused(&asks(&gateway, "charges", &json!({ "charges": charges })).await, bad);
    }
    let broken = json!({ "charges": [one, { "key": key, "quota": 0.5 }] });
    let whole = (400, "invalid_field", "`charges[1].quota` must be a whole number");
    refused(&asks(&gateway, "charges", &broken).await, whole);
    let again = json!({ "key": key, "quota": 20, "request_id": "r1" });
    let charges = json!([
        again, again, { "key": key, "quota": -1 }, { "key": "sk-none", "quota": 1 }, { "quota": 31, "key": key },
        { "key": key, "quota": 21, "request_id": "r1" }, { "key": key, "quota": 30, "request_id": "r2" },
    ]);
    let told = asks(&gateway, "charges", &json!({ "charges": charges })).await.ok();
    let no = |(_, error, message): ApiError| json!({ "success": false, "error": error, "message": message });
    let first = json!({ "success": true, "charged": 20, "remain_quota": 80, "request_id": "r1" });
    let quota = (400, "invalid_quota", "`quota` must be a whole number from 0 to 500000000000000");
    let last = json!({ "success": true, "charged": 30, "remain_quota": 50, "request_id": "r2" });
    let expected = json!([first, first, no(quota), no(INVALID_KEY), no(USER_SHORT), no(REUSED), last]);
    assert_eq!(told, expected);
    let full = json!({ "charges": vec![one; 1_000] });
    let told = asks(&gateway, "charges", &full).await.ok();
    assert!(told.as_array().unwrap().iter().all(|outcome| outcome["success"] == json!(true)));
    assert_eq!(balances(&app, &ana, &key).await, [50, 50, 50, 0]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l1_many_keys_spend_exactly_what_their_one_wallet_holds(pool: PgPool) {
    let (app, ana, gateway) = shop(pool, 1_000).await;
    let mut keys = Vec::new();
    for number in 0..20 {
        let token = json!({ "name": format!("{number}"), "unlimited_quota": number % 2 == 0, "remain_quota": 500 });
        keys.push(ana.creates_with_key(token).await.1);
    }
    let body = |key: &String| json!({ "key": key, "quota": 7 });
    let bodies: Vec<Value> = keys.iter().flat_map(|key| std::iter::repeat_n(body(key), 10)).collect();
    let answers = futures_util::future::join_all(bodies.iter().map(|body| asks(&gateway, "charge", body))).await;
    let (charged, short): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert_eq!((charged.len(), short.len()), (142, 58));
    for answer in &short {
        refused(answer, USER_SHORT);
    }
    let mut used = 0;
    for (number, key) in keys.iter().enumerate() {
        let [spent, left, ..] = balances(&app, &ana, key).await;
        used += spent;
        assert!(number % 2 == 0 || spent + left == 500, "L2");
    }
    assert_eq!(used, 994);
    let me = ana.get("/api/user/self").await.ok();
    assert_eq!((&me["quota"], &me["used_quota"], &me["request_count"]), (&json!(6), &json!(994), &json!(142)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_unlimited_token_is_bounded_by_the_wallet_and_keeps_its_remain(pool: PgPool) {
    let (app, ana, gateway) = shop(pool, 50).await;
    let token = json!({ "name": "free", "unlimited_quota": true, "remain_quota": 7 });
    let (_, key) = ana.creates_with_key(token).await;
    let verdict = asks(&gateway, "verify", &json!({ "key": key, "quota": 50 })).await.ok();
    let seen = ["valid", "unlimited_quota", "remain_quota", "usable_quota"].map(|field| verdict[field].clone());
    assert_eq!(seen, [json!(true), json!(true), json!(7), json!(50)]);
    let charged = asks(&gateway, "charge", &json!({ "key": key, "quota": 50 })).await.ok();
    assert_eq!((&charged["charged"], &charged["remain_quota"]), (&json!(50), &json!(7)));
    refused(&asks(&gateway, "charge", &json!({ "key": key, "quota": 1 })).await, USER_SHORT);
    refused(&asks(&gateway, "reserve", &json!({ "key": key, "quota": 1 })).await, USER_SHORT);
    app.fills(&ana, 1).await;
    asks(&gateway, "charge", &json!({ "key": key, "quota": 1 })).await.ok();
    let me = ana.get("/api/user/self").await.ok();
    assert_eq!((&me["quota"], &me["used_quota"]), (&json!(0), &json!(51)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l6_what_changes_is_obeyed_by_the_very_next_request_also_when_the_key_is_warm(pool: PgPool) {
    let (app, ana, gateway) = shop(pool, 1_000).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 10 })).await;
    let body = json!({ "key": key, "quota": 10, "model": "o1", "ip": "10.1.2.3" });
    let switch = async |status: i64| {
        ana.put("/api/token/?status_only=1", json!({ "id": id, "status": status })).await.ok();
    };
    assert!(valid(&gateway, &body).await);
    switch(2).await;
    refused_everywhere(&gateway, &body, TOKEN_DISABLED).await;
    switch(1).await;
    assert!(valid(&gateway, &body).await);
    let edit = async |fields: Value| edits(&ana, id, fields).await;
    edit(json!({ "expired_time": START })).await;
    refused_everywhere(&gateway, &body, TOKEN_EXPIRED).await;
    edit(json!({ "expired_time": START + 1 })).await;
    assert!(valid(&gateway, &body).await);
    app.clock.advance(1);
    refused_everywhere(&gateway, &body, TOKEN_EXPIRED).await;
    edit(json!({ "expired_time": -1, "model_limits_enabled": true, "model_limits": "o2" })).await;
    refused_everywhere(&gateway, &body, MODEL).await;
    edit(json!({ "model_limits": "o2,o1", "allow_ips": "10.1.2.4" })).await;
    refused_everywhere(&gateway, &body, IP).await;
    edit(json!({ "allow_ips": "", "remain_quota": 9 })).await;
    refused_everywhere(&gateway, &body, TOKEN_SHORT).await;
    edit(json!({ "remain_quota": 10, "name": "renamed" })).await;
    assert_eq!(asks(&gateway, "verify", &body).await.ok()["name"], "renamed");
    app.fills(&ana, 9).await;
    refused_everywhere(&gateway, &body, USER_SHORT).await;
    app.fills(&ana, 10).await;
    asks(&gateway, "charge", &body).await.ok();
    edit(json!({ "remain_quota": 10 })).await;
    refused_everywhere(&gateway, &body, USER_SHORT).await;
    app.fills(&ana, 10).await;
    assert!(valid(&gateway, &body).await);
    switches(&app, &ana, 2).await;
    refused_everywhere(&gateway, &body, USER_DISABLED).await;
    switches(&app, &ana, 1).await;
    assert!(valid(&gateway, &body).await);
    let ana = app.signs_in("ana", "ana's password").await;
    ana.delete(&format!("/api/token/{id}")).await.ok();
    refused_everywhere(&gateway, &body, INVALID_KEY).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "two", "remain_quota": 10 })).await;
    let body = json!({ "key": key, "quota": 10 });
    assert!(valid(&gateway, &body).await);
    app.root().await.delete(&format!("/api/admin/users/{}", ana.id)).await.ok();
    refused_everywhere(&gateway, &body, INVALID_KEY).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn models_and_addresses_are_judged_where_they_are_told(pool: PgPool) {
    let (_, ana, gateway) = shop(pool, 100).await;
    let token = json!({
        "name": "one", "remain_quota": 100, "model_limits_enabled": true, "model_limits": "o1,gpt-4o",
        "allow_ips": "192.0.2.7\n10.0.0.0/8\n2001:db8::/32",
    });
    let (id, key) = ana.creates_with_key(token).await;
    let judged = async |field: &str, value: &str| {
        let mut body = json!({ "key": key, "quota": 1 });
        body[field] = json!(value);
        asks(&gateway, "verify", &body).await.ok().get("reason").map(|reason| reason.as_str().unwrap().to_owned())
    };
    for model in ["o1", "gpt-4o", ""] {
        assert_eq!(judged("model", model).await, None, "{model}");
    }
    for model in ["O1", "gpt-4", "gpt-4o-mini", "o1,gpt-4o"] {
        assert_eq!(judged("model", model).await.as_deref(), Some("model_not_allowed"), "{model}");
    }
    for ip in ["192.0.2.7", "::ffff:192.0.2.7", "10.255.0.1", "::ffff:10.0.0.1", "2001:db8::1", " 192.0.2.7 ", ""] {
        assert_eq!(judged("ip", ip).await, None, "{ip}");
    }
    for ip in ["192.0.2.8", "::ffff:192.0.2.8", "11.0.0.1", "2001:db9::1", "::1", "::192.0.2.7"] {
        assert_eq!(judged("ip", ip).await.as_deref(), Some("ip_not_allowed"), "{ip}");
    }
    refused(&asks(&gateway, "charge", &json!({ "key": key, "quota": 1, "ip": "::ffff:192.0.2.8" })).await, IP);
    asks(&gateway, "charge", &json!({ "key": key, "quota": 1, "ip": "::ffff:192.0.2.7" })).await.ok();
    edits(&ana, id, json!({ "model_limits": "" })).await;
    assert_eq!(judged("model", "o1").await.as_deref(), Some("model_not_allowed"), "an empty list that is on");
    edits(&ana, id, json!({ "model_limits_enabled": false, "model_limits": "o2" })).await;
    assert_eq!(judged("model", "o1").await, None, "a list that is off");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_warm_verify_and_a_wrong_checksum_need_no_database(pool: PgPool) {
    let (app, ana, gateway) = shop(pool, 100).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 9 })).await;
    let (gone, dead) = ana.creates_with_key(json!({ "name": "two", "remain_quota": 9 })).await;
    let (_, cold) = ana.creates_with_key(json!({ "name": "three", "remain_quota": 9 })).await;
    ana.delete(&format!("/api/token/{gone}")).await.ok();
    let (warm, dead) = (json!({ "key": key }), json!({ "key": dead }));
    let verdict = asks(&gateway, "verify", &warm).await.ok();
    assert_eq!(asks(&gateway, "verify", &dead).await.ok()["reason"], "invalid_key");
    app.pool.close().await;
    for _ in 0..2 {
        assert_eq!(asks(&gateway, "verify", &warm).await.ok(), verdict);
        assert_eq!(asks(&gateway, "verify", &dead).await.ok()["reason"], "invalid_key");
        for number in 0..36 {
            let digit = char::from_digit(number, 36).unwrap();
            let typo = format!("{}{digit}", &key[..key.len() - 1]);
            if typo != key {
                refused_everywhere(&gateway, &json!({ "key": typo, "quota": 1 }), INVALID_KEY).await;
            }
        }
        refused(&asks(&gateway, "verify", &json!({ "key": cold })).await, AWAY);
        let away = asks(&gateway, "charge", &json!({ "key": key, "quota": 1 })).await;
        refused(&away, AWAY);
        assert_eq!(away.header("retry-after"), Some("1"));
        app.clock.advance(1);
    }
    refused(&asks(&gateway, "verify", &warm).await, AWAY);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l3_l5_usage_by_key_by_day_and_the_wallet_agree_with_the_ledger(pool: PgPool) {
    let (app, ana, gateway) = shop(pool, 10_000).await;
    let (one, one_key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 1_000 })).await;
    let (two, two_key) = ana.creates_with_key(json!({ "name": "two", "unlimited_quota": true })).await;
    let mut open = 0;
    for (number, key) in [&one_key, &two_key].into_iter().cycle().take(24).enumerate() {
        let number = i64::try_from(number).unwrap();
        let charge = json!({
            "key": key, "quota": number, "model": format!("o{}", number % 3),
            "request_id": format!("r{}", number / 4 * 4 + number % 2), "prompt_tokens": number, "completion_tokens": 1,
        });
        asks(&gateway, "charge", &charge).await;
        let held = reserves(&gateway, key, 20 + number).await;
        match number % 4 {
            0 | 1 => drop(settles(&gateway, &held, 30).await.ok()),
            2 => drop(releases(&gateway, &held).await.ok()),
            _ => open += 20 + number,
        }
        app.clock.advance(60);
    }
    // The oldest of the open ones have been overdue for a while.
    overdue_are_expired(&app).await;
    let (charged, requests, held): (i64, i64, i64) = sqlx::query_as(
        "select (select sum(quota)::bigint from charges), (select count(*) from charges), \
         (select sum(held)::bigint from reservations where state = 'open')",
    )
    .fetch_one(&app.pool)
    .await
    .unwrap();
    assert!(0 < held && held < open, "some expired, some did not: {held} of {open}");
    let me = ana.get("/api/user/self").await.ok();
    let wallet = ["quota", "used_quota", "request_count"].map(|field| me[field].as_i64().unwrap());
    assert_eq!(wallet, [10_000 - charged - held, charged + held, requests]);
    for (id, key) in [(one, &one_key), (two, &two_key)] {
        let (charged, requests, prompt, completion): (i64, i64, i64, i64) = sqlx::query_as(
            "select sum(quota)::bigint, count(*), sum(prompt_tokens)::bigint, sum(completion_tokens)::bigint \
             from charges where token_id = $1",
        )
        .bind(id)
        .fetch_one(&app.pool)
        .await
        .unwrap();
        let held: i64 = sqlx::query_scalar(
            "select coalesce(sum(held), 0)::bigint from reservations where state = 'open' and token_id = $1",
        )
        .bind(id)
        .fetch_one(&app.pool)
        .await
        .unwrap();
        let [used, left, ..] = balances(&app, &ana, key).await;
        assert_eq!(used, charged + held);
        assert!(id == two || used + left == 1_000, "L2");
        let day = &ana.get(&format!("/api/token/{id}/usage")).await.ok()["daily"][0];
        let counts = ["requests", "prompt_tokens", "completion_tokens"].map(|field| day[field].as_i64().unwrap());
        assert_eq!(counts, [requests, prompt, completion]);
        let usd: f64 = format!("0.{:06}", 2 * charged).parse().unwrap();
        assert_eq!(day["usd"], json!(usd));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l8_a_full_queue_refuses_and_drops_nothing(pool: PgPool) {
    let narrow = [("KEYMETER_LEDGER__LANES", "1"), ("KEYMETER_LEDGER__QUEUE", "1")];
    let app = TestApp::with(pool, &narrow).await;
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 1_000 })).await;
    let bodies: Vec<Value> =
        (0..100).map(|number| json!({ "key": key, "quota": 1, "request_id": format!("r{number}") })).collect();
    let answers = futures_util::future::join_all(bodies.iter().map(|body| asks(&gateway, "charge", body))).await;
    let (charged, busy): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert!(!charged.is_empty() && !busy.is_empty());
    for answer in &busy {
        refused(answer, (503, "ledger_busy", "the ledger is busy; retry shortly"));
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    let taken = i64::try_from(charged.len()).unwrap();
    assert_eq!(balances(&app, &ana, &key).await, [taken, 1_000 - taken, taken, 1_000 - taken]);
    for body in &bodies {
        assert_eq!(asks(&gateway, "charge", body).await.ok()["charged"], 1);
    }
    assert_eq!(
        balances(&app, &ana, &key).await,
        [100, 900, 100, 900],
        "a retry charges what was refused, and only that"
    );
}
