//! What tests of gateway calls share: the refusals, and one function per call.

use serde_json::{Value, json};
use sqlx::PgPool;

use super::answer::Refusal;
use super::{Answer, Caller, TestApp};

pub const INVALID_KEY: Refusal = (401, "invalid_key", "this API key is not valid");
pub const TOKEN_DISABLED: Refusal = (403, "token_disabled", "this token is disabled");
pub const TOKEN_EXPIRED: Refusal = (403, "token_expired", "this token has expired");
pub const USER_DISABLED: Refusal = (403, "user_disabled", "the account of this token is disabled");
pub const MODEL_NOT_ALLOWED: Refusal = (403, "model_not_allowed", "this token may not use this model");
pub const IP_NOT_ALLOWED: Refusal = (403, "ip_not_allowed", "this token may not be used from this address");
pub const EXHAUSTED: Refusal = (402, "token_exhausted", "this token has used up its quota");
pub const TOKEN_SHORT: Refusal = (402, "token_quota_insufficient", "insufficient token quota for this amount");
pub const USER_SHORT: Refusal = (402, "user_quota_insufficient", "insufficient account quota for this amount");
pub const NO_GATEWAY: Refusal =
    (401, "invalid_gateway", "a gateway credential is required; an administrator can create one");
pub const NO_RESERVATION: Refusal = (404, "reservation_not_found", "reservation not found");
pub const ENDED: Refusal = (409, "reservation_ended", "this reservation has already ended");
pub const REUSED: Refusal =
    (409, "request_id_reused", "this request_id was used for another request; give each request its own id");
pub const NOT_DURABLE: Refusal = (
    503,
    "not_durable",
    "this was done, but a failover may lose it; look at the current state, or repeat a charge with its `request_id`",
);
pub const DATABASE_UNAVAILABLE: Refusal = (503, "database_unavailable", "database unavailable; retry shortly");

/// Every gateway call.
pub const CALLS: [&str; 7] = ["verify", "charge", "reserve", "extend", "settle", "release", "charges"];

/// A user with a wallet, and a gateway.
pub async fn app_with_wallet(pool: PgPool, wallet: i64) -> (TestApp, Caller, Caller) {
    let app = TestApp::new(pool).await;
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, wallet).await;
    (app, ana, gateway)
}

/// The answer of a gateway call.
pub async fn asks(gateway: &Caller, call: &str, body: &Value) -> Answer {
    gateway.post(&format!("/api/gateway/{call}"), body.clone()).await
}

/// Asserts that the answer is exactly this refusal.
#[track_caller]
pub fn refused(answer: &Answer, (status, error, message): Refusal) {
    answer.refuses_saying(status, error, message);
}

/// Asserts that every call that spends or verifies a key refuses this body for the same reason.
pub async fn refused_everywhere(gateway: &Caller, body: &Value, refusal: Refusal) {
    let (_, error, message) = refusal;
    let verified = asks(gateway, "verify", body).await.ok();
    assert_eq!((&verified["valid"], &verified["reason"]), (&json!(false), &json!(error)));
    refused(&asks(gateway, "charge", body).await, refusal);
    refused(&asks(gateway, "reserve", body).await, refusal);
    let outcomes = asks(gateway, "charges", &json!({ "charges": [body] })).await.ok();
    assert_eq!(outcomes, json!([{ "success": false, "error": error, "message": message }]));
}

/// Returns true if `verify` accepts this body.
pub async fn valid(gateway: &Caller, body: &Value) -> bool {
    asks(gateway, "verify", body).await.ok()["valid"].as_bool().unwrap()
}

/// Changes fields of a token.
pub async fn edits(ana: &Caller, id: i64, mut fields: Value) {
    fields["id"] = json!(id);
    ana.put("/api/token/", fields).await.ok();
}

/// Sets the status of a user.
pub async fn switches(app: &TestApp, user: &Caller, status: i64) {
    app.root().await.patch(&format!("/api/admin/users/{}", user.id), json!({ "status": status })).await.ok();
}

/// Reserves quota and returns the id of the reservation.
pub async fn reserves(gateway: &Caller, key: &str, quota: i64) -> Value {
    asks(gateway, "reserve", &json!({ "key": key, "quota": quota })).await.ok()["reservation_id"].clone()
}

pub async fn settles(gateway: &Caller, reservation: &Value, quota: i64) -> Answer {
    asks(gateway, "settle", &json!({ "reservation_id": reservation, "quota": quota })).await
}

pub async fn releases(gateway: &Caller, reservation: &Value) -> Answer {
    asks(gateway, "release", &json!({ "reservation_id": reservation })).await
}

/// Used and available quota of a token, then of its owner's wallet.
pub async fn balances(app: &TestApp, owner: &Caller, key: &str) -> [i64; 4] {
    let usage = app.holder_of(key).get("/api/usage/token/").await.ok();
    let wallet = owner.get("/api/user/self").await.ok();
    let fields = [&usage["total_used"], &usage["total_available"], &wallet["used_quota"], &wallet["quota"]];
    fields.map(|field| field.as_i64().unwrap())
}
