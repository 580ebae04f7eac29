//! Enablement requests and their decisions.

use serde_json::json;
use sqlx::PgPool;

use crate::harness::{START, TestApp};

const REQUESTS: &str = "/api/admin/token_api_requests";

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn enablement_requests_are_listed_by_state_and_decided_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (admin, ana, ben) = (app.admin("carla").await, app.user("ana").await, app.user("ben").await);
    for user in [&ana, &ben] {
        user.post("/api/user/token_api_request", json!({ "reason": format!("for {}", user.username) })).await.ok();
    }
    assert_eq!(admin.page(REQUESTS, "username").await, (vec![json!("ben"), json!("ana")], 2));
    let oldest = admin.get(REQUESTS).await.ok()["items"][1].clone();
    let expected = json!({
        "id": oldest["id"], "user_id": ana.id, "username": "ana", "reason": "for ana", "state": "pending",
        "created_time": START, "decided_time": null, "decided_by_name": null, "note": "",
    });
    assert_eq!(oldest, expected);
    let path = format!("{REQUESTS}/{}", oldest["id"]);
    for wrong in [json!({}), json!({ "decision": "yes" })] {
        let answer = admin.post(&path, wrong).await;
        answer.refuses_saying(400, "invalid_decision", "`decision` must be `approve` or `refuse`");
    }
    app.clock.advance(5);
    let decided = admin.post(&path, json!({ "decision": "approve" })).await.ok();
    assert_eq!((&decided["state"], &decided["decided_time"]), (&json!("approved"), &json!(START + 5)));
    assert_eq!(decided["decided_by_name"], "carla");
    assert_eq!(ana.get("/api/user/token_api_request").await.ok()["request"]["decided_by_name"], "carla");
    for (state, names) in [("pending", vec![json!("ben")]), ("approved", vec![json!("ana")]), ("refused", vec![])] {
        assert_eq!(admin.page(&format!("{REQUESTS}?state={state}"), "username").await.0, names);
    }
    let message = "`state` must be `pending`, `approved` or `refused`";
    admin.get(&format!("{REQUESTS}?state=new")).await.refuses_saying(400, "invalid_state", message);
    for decision in ["approve", "refuse"] {
        let again = admin.post(&path, json!({ "decision": decision })).await;
        again.refuses_saying(409, "already_decided", "this request has been decided already");
    }
    let absent = admin.post(&format!("{REQUESTS}/999999"), json!({ "decision": "approve" })).await;
    absent.refuses_saying(404, "not_found", "there is no such request");
}
