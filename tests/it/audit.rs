//! The audit log.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Caller, START, TestApp};

const USERS: &str = "/api/admin/users";
const REQUESTS: &str = "/api/admin/token_api_requests";
const GATEWAYS: &str = "/api/admin/gateways";
const TOKENS: &str = "/api/admin/tokens";
const AUDIT: &str = "/api/admin/audit";

/// The path of a user, for administrators.
fn of(user: &Caller) -> String {
    format!("{USERS}/{}", user.id)
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_audit_log_shows_who_did_what_to_which_token_and_from_where(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_SERVER__TRUSTED_PROXIES", "192.0.2.0/24")]).await;
    let (admin, ana) = (app.admin("carla").await, app.enabled_user("ana").await);
    let token = ana.creates(json!({ "name": "one" })).await;
    let mut reveal = ana.request(http::Method::GET, &format!("/api/token/{token}"));
    reveal.headers_mut().insert("x-request-id", "my-request-7".parse().unwrap());
    reveal.headers_mut().insert("x-forwarded-for", "198.51.100.66, 203.0.113.9".parse().unwrap());
    let peer: std::net::SocketAddr = "192.0.2.1:4711".parse().unwrap();
    reveal.extensions_mut().insert(axum::extract::ConnectInfo(peer));
    ana.send(reveal).await.ok();
    ana.put("/api/token/", json!({ "id": token, "name": "two" })).await.ok();
    admin.post(&format!("{TOKENS}/{token}/status"), json!({ "status": 2 })).await.ok();
    admin.post(&format!("{TOKENS}/{token}/status"), json!({ "status": 1 })).await.ok();
    ana.delete(&format!("/api/token/{token}")).await.ok();
    let of_token = format!("{AUDIT}?subject_kind=token&subject_id={token}");
    let actions =
        ["token.deleted", "token.enabled", "token.disabled", "token.edited", "token.key_revealed", "token.created"];
    assert_eq!(admin.page(&of_token, "action").await, (actions.map(Value::from).to_vec(), 6));
    let actors = ["ana", "carla", "carla", "ana", "ana", "ana"];
    assert_eq!(admin.page(&of_token, "actor_name").await.0, actors.map(Value::from).to_vec());
    let line = admin.get(&format!("{of_token}&action=token.key_revealed")).await.ok()["items"][0].clone();
    let expected = json!({
        "id": line["id"], "at": START, "actor_id": ana.id, "actor_name": "ana", "action": "token.key_revealed",
        "subject_kind": "token", "subject_id": token, "user_id": ana.id, "ip": "203.0.113.9",
        "request_id": "my-request-7", "details": {},
    });
    assert_eq!(line, expected);
    let by_admin = admin.page(&format!("{of_token}&actor_id={}", admin.id), "action").await.0;
    assert_eq!(by_admin, ["token.enabled", "token.disabled"].map(Value::from));
    assert_eq!(admin.page(&format!("{AUDIT}?user_id={}&action=token.created", ana.id), "subject_id").await.1, 1);
    assert_eq!(admin.page(&format!("{AUDIT}?action=nothing"), "id").await.1, 0);
    for field in ["actor_id", "subject_id", "user_id"] {
        let answer = admin.get(&format!("{AUDIT}?{field}=x")).await;
        answer.refuses_saying(400, "invalid_query", &format!("`{field}` must be a whole number"));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_action_of_an_administrator_is_logged(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, ana) = (app.root().await, app.user("ana").await);
    let request = ana.post("/api/user/token_api_request", json!({ "reason": "x" })).await.ok();
    root.post(&format!("{REQUESTS}/{}", request["id"]), json!({ "decision": "refuse" })).await.ok();
    let request = ana.post("/api/user/token_api_request", json!({ "reason": "x" })).await.ok();
    root.post(&format!("{REQUESTS}/{}", request["id"]), json!({ "decision": "approve" })).await.ok();
    root.post(&format!("{}/quota", of(&ana)), json!({ "delta": 9 })).await.ok();
    root.patch(&of(&ana), json!({ "status": 2 })).await.ok();
    let gateway = root.post(GATEWAYS, json!({ "name": "edge" })).await.ok()["id"].clone();
    root.delete(&format!("{GATEWAYS}/{gateway}")).await.ok();
    root.delete(&of(&ana)).await.ok();
    for action in [
        "user.created",
        "user.edited",
        "user.deleted",
        "user.quota_granted",
        "token_api.refused",
        "token_api.approved",
        "gateway.created",
        "gateway.revoked",
    ] {
        let path = format!("{AUDIT}?actor_id={}&action={action}", root.id);
        assert_eq!(root.page(&path, "id").await.1, 1, "{action}");
    }
    assert_eq!(root.page(&format!("{AUDIT}?action=token_api.requested"), "actor_id").await.0, [ana.id, ana.id]);
    let granted = root.get(&format!("{AUDIT}?action=user.quota_granted")).await.ok()["items"][0]["details"].clone();
    assert_eq!(granted, json!({ "from": "0", "to": "9" }));
}
