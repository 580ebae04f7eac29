//! Specification §11: forward-auth with `X-Error-Shape: openai`.

use http::Method;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::gateway::{app_with_wallet, asks, edits, switches};
use crate::harness::{Answer, Caller, START, TestApp};

/// A request of a proxy with this credential for a client with this key.
async fn auth(app: &TestApp, credential: &str, key: &str, path: &str) -> Answer {
    let mut request = app.stranger().request(Method::GET, path);
    let headers = request.headers_mut();
    headers.insert("x-error-shape", "openai".parse().unwrap());
    headers.insert("x-gateway-credential", credential.parse().unwrap());
    headers.insert("authorization", format!("Bearer {key}").parse().unwrap());
    app.stranger().send(request).await
}

/// Asserts the whole body, and every header that clients decide by.
#[track_caller]
fn assert_refused(answer: &Answer, status: u16, error: [&str; 3], headers: [Option<&str>; 3]) {
    let [kind, code, message] = error;
    let body = json!({ "error": { "message": message, "type": kind, "param": null, "code": code } });
    assert_eq!((answer.status.as_u16(), answer.json()), (status, body));
    assert_eq!(["retry-after", "x-should-retry", "www-authenticate"].map(|name| answer.header(name)), headers);
    assert_eq!((answer.header("content-type"), answer.header("x-error-code")), (Some("application/json"), None));
}

const NO_RETRY: [Option<&str>; 3] = [None, Some("false"), None];

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn refusals_have_the_shape_that_sdks_read(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let credential = gateway.secret().to_owned();
    let refused = async |key: &str| auth(&app, &credential, key, "/api/gateway/auth").await;
    let create = async |token: Value| ana.creates_with_key(token).await;
    let one = |name: &str| json!({ "name": name, "remain_quota": 10 });

    let (_, good) = create(one("good")).await;
    let admitted = refused(&good).await;
    admitted.ok();
    assert_eq!(admitted.header("x-remain-quota"), Some("10"), "what is admitted is answered as always");

    let unknown = ["invalid_request_error", "invalid_api_key", "this API key is not valid"];
    let denied = [None, Some("false"), Some("Bearer")];
    assert_refused(&refused("sk-nonsense").await, 401, unknown, denied);
    let below = auth(&app, &credential, "sk-nonsense", "/api/gateway/auth/v1/chat/completions").await;
    assert_refused(&below, 401, unknown, denied);

    let (id, key) = create(one("off")).await;
    ana.put("/api/token/?status_only=1", json!({ "id": id, "status": 2 })).await.ok();
    let disabled = ["permission_error", "token_disabled", "this token is disabled"];
    assert_refused(&refused(&key).await, 403, disabled, NO_RETRY);
    let (id, key) = create(one("old")).await;
    edits(&ana, id, json!({ "expired_time": START })).await;
    let expired = ["permission_error", "token_expired", "this token has expired"];
    assert_refused(&refused(&key).await, 403, expired, NO_RETRY);
    let (_, key) = create(json!({ "name": "there", "remain_quota": 10, "allow_ips": "10.1.2.3" })).await;
    let address = ["permission_error", "ip_not_allowed", "this token may not be used from this address"];
    assert_refused(&refused(&key).await, 403, address, NO_RETRY);

    let (_, key) = create(one("spent")).await;
    asks(&gateway, "charge", &json!({ "key": key, "quota": 10 })).await.ok();
    let exhausted = ["insufficient_quota", "token_exhausted", "this token has used up its quota"];
    assert_refused(&refused(&key).await, 402, exhausted, NO_RETRY);
    let (_, key) = create(json!({ "name": "empty", "remain_quota": 0 })).await;
    let short = ["insufficient_quota", "token_quota_insufficient", "insufficient token quota for this amount"];
    assert_refused(&refused(&key).await, 402, short, NO_RETRY);

    let (_, key) = create(json!({ "name": "day", "remain_quota": 10, "period_limits": { "day": 1 } })).await;
    asks(&gateway, "charge", &json!({ "key": key, "quota": 1 })).await.ok();
    let message = "this token may use 1 quota unit per day and has used 1; the day ends in 12 h";
    let period = ["rate_limit_error", "token_period_exceeded", message];
    assert_refused(&refused(&key).await, 429, period, [Some("43200"), Some("false"), None]);
    let (_, key) = create(json!({ "name": "never", "remain_quota": 10, "period_limits": { "day": 0 } })).await;
    let message = "this token may use 0 quota units per day, so this request can never fit";
    assert_refused(&refused(&key).await, 429, ["rate_limit_error", "token_period_exceeded", message], NO_RETRY);
    let (_, key) =
        create(json!({ "name": "slow", "remain_quota": 10, "rate_limits": { "requests_per_minute": 1 } })).await;
    refused(&key).await.ok();
    let message = "this token may make 1 request per minute; retry after 1 min";
    let rate = ["rate_limit_error", "rate_limited", message];
    assert_refused(&refused(&key).await, 429, rate, [Some("60"), None, None]);

    app.fills(&ana, 0).await;
    let wallet = ["insufficient_quota", "user_quota_insufficient", "insufficient account quota for this amount"];
    assert_refused(&refused(&good).await, 402, wallet, NO_RETRY);
    switches(&app, &ana, 2).await;
    let user = ["permission_error", "user_disabled", "the account of this token is disabled"];
    assert_refused(&refused(&good).await, 403, user, NO_RETRY);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn what_the_operator_has_to_mend_is_not_shown_to_clients(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "good", "remain_quota": 10 })).await;
    let message = "this gateway cannot check API keys; its operator finds the reason in the log of Keymeter";
    let misconfigured = ["api_error", "keymeter_misconfigured", message];
    let wrong = format!("{}x", gateway.secret());
    assert_refused(&auth(&app, &wrong, &key, "/api/gateway/auth").await, 500, misconfigured, [None; 3]);
    auth(&app, gateway.secret(), &key, "/api/gateway/auth").await.ok();
    app.pool.close().await;
    app.clock.advance(3);
    let message = "this API key cannot be checked now; retry shortly";
    let unavailable = ["api_error", "keymeter_unavailable", message];
    let answer = auth(&app, gateway.secret(), &key, "/api/gateway/auth").await;
    assert_refused(&answer, 503, unavailable, [Some("2"), None, None]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn other_calls_and_other_shapes_are_answered_as_always(pool: PgPool) {
    let (app, _, gateway) = app_with_wallet(pool, 1_000).await;
    let with = async |caller: &Caller, method: Method, path: &str, shape: &str| {
        let mut request = caller.request(method, path);
        request.headers_mut().insert("x-error-shape", shape.parse().unwrap());
        request.headers_mut().insert("x-gateway-credential", gateway.secret().parse().unwrap());
        caller.send(request).await
    };
    let holder = app.holder_of("sk-nonsense");
    let plain = with(&holder, Method::GET, "/api/gateway/auth", "anthropic").await;
    plain.refuses_saying(401, "invalid_key", "this API key is not valid");
    with(&gateway, Method::POST, "/api/gateway/charge", "openai").await.refuses(400, "invalid_json");
}
