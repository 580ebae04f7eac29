//! Specification §4.6, delete a token.

use serde_json::json;
use sqlx::PgPool;

use crate::harness::{START, TestApp};

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_token_can_be_deleted_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    for slash in ["", "/"] {
        let id = ana.creates(json!({ "name": "one" })).await;
        let path = format!("/api/token/{id}{slash}");
        let answer = ana.delete(&path).await;
        assert_eq!((answer.status.as_u16(), answer.text.as_str()), (200, r#"{"success":true,"message":""}"#));
        ana.delete(&path).await.refuses_saying(404, "not_found", "there is no such token");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_deleted_token_is_not_found_by_any_call(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one" })).await;
    app.holder_of(&key).get("/api/usage/token/").await.ok();
    ana.delete(&format!("/api/token/{id}")).await.ok();

    for path in ["/api/token/", "/api/token/search?keyword=one"] {
        assert_eq!(ana.get(path).await.ok()["total"], json!(0), "{path}");
    }
    for answer in [
        ana.get(&format!("/api/token/{id}")).await,
        ana.get(&format!("/api/token/{id}/usage")).await,
        ana.put("/api/token/", json!({ "id": id, "name": "two" })).await,
        ana.put("/api/token/?status_only=1", json!({ "id": id, "status": 1 })).await,
    ] {
        answer.refuses_saying(404, "not_found", "there is no such token");
    }
    app.holder_of(&key).get("/api/usage/token/").await.refuses(401, "invalid_key");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_deletion_keeps_the_row_and_is_in_the_audit_log(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let id = ana.creates(json!({ "name": "one" })).await;
    app.clock.advance(60);
    ana.delete(&format!("/api/token/{id}")).await.ok();
    let kept = sqlx::query_as("select name, deleted_time from tokens where id = $1");
    let kept: (String, Option<i64>) = kept.bind(id).fetch_one(&app.pool).await.unwrap();
    assert_eq!(kept, ("one".to_owned(), Some(START + 60)));
    let lines = app.root().await.get("/api/admin/audit?action=token.deleted").await.ok();
    assert_eq!((&lines["total"], &lines["items"][0]["subject_id"]), (&json!(1), &json!(id)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn another_users_token_cannot_be_deleted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, root) = (app.enabled_user("ana").await, app.root().await);
    let id = ana.creates(json!({ "name": "ana's" })).await;
    for other in [id, 999_999, 0, -1] {
        let answer = root.delete(&format!("/api/token/{other}")).await;
        answer.refuses_saying(404, "not_found", "there is no such token");
    }
    ana.get(&format!("/api/token/{id}")).await.ok();
    let answer = ana.delete("/api/token/all").await;
    answer.refuses_saying(400, "invalid_id", "the id in the path must be a whole number");
}
