//! Specification §4.7, batch delete tokens.

use http::Method;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Answer, Caller, TestApp};

async fn delete(who: &Caller, ids: impl Into<Value>) -> Answer {
    who.post("/api/token/batch", json!({ "ids": ids.into() })).await
}

async fn remaining(who: &Caller) -> Vec<i64> {
    let page = who.get("/api/token/?size=100").await.ok();
    page["items"].as_array().unwrap().iter().map(|token| token["id"].as_i64().unwrap()).collect()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_batch_returns_how_many_tokens_it_deleted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    for path in ["/api/token/batch", "/api/token/batch/"] {
        let (one, two) = (ana.creates(json!({ "name": "one" })).await, ana.creates(json!({ "name": "two" })).await);
        let kept = ana.creates(json!({ "name": "kept" })).await;
        let answer = ana.post(path, json!({ "ids": [one, two], "colour": "red" })).await;
        assert_eq!((answer.status.as_u16(), answer.text.as_str()), (200, r#"{"success":true,"message":"","data":2}"#));
        assert_eq!(remaining(&ana).await, [kept]);
        assert_eq!(delete(&ana, [one, two, kept]).await.ok(), json!(1));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn repeated_ids_count_once_and_absent_and_other_users_ids_are_skipped(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben) = (app.enabled_user("ana").await, app.enabled_user("ben").await);
    let one = ana.creates(json!({ "name": "one" })).await;
    let bens = ben.creates(json!({ "name": "ben's" })).await;
    assert_eq!(delete(&ana, [bens, one, one, 999_999, 0, -1, one]).await.ok(), json!(1));
    assert_eq!(delete(&ana, [bens, one]).await.ok(), json!(0));
    assert_eq!(remaining(&ben).await, [bens]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn each_deleted_token_has_an_entry_in_the_audit_log(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let (one, two) = (ana.creates(json!({ "name": "one" })).await, ana.creates(json!({ "name": "two" })).await);
    delete(&ana, [one, two, 999_999]).await.ok();
    let lines = app.root().await.get("/api/admin/audit?action=token.deleted").await.ok();
    let mut logged: Vec<_> =
        lines["items"].as_array().unwrap().iter().map(|line| line["subject_id"].as_i64()).collect();
    logged.sort_unstable();
    assert_eq!(logged, [Some(one), Some(two)]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_batch_has_1_to_1000_ids(pool: PgPool) {
    const MESSAGE: &str = "`ids` must have 1 to 1000 entries";
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let one = ana.creates(json!({ "name": "one" })).await;
    delete(&ana, Vec::<i64>::new()).await.refuses_saying(400, "invalid_ids", MESSAGE);
    delete(&ana, (one..one + 1_001).collect::<Vec<_>>()).await.refuses_saying(400, "invalid_ids", MESSAGE);
    assert_eq!(remaining(&ana).await, [one]);
    assert_eq!(delete(&ana, (one..one + 1_000).collect::<Vec<_>>()).await.ok(), json!(1));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn ids_must_be_whole_numbers_in_an_array(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let one = ana.creates(json!({ "name": "one" })).await;
    for body in [json!({}), json!({ "ids": null }), json!({ "id": [one] })] {
        let answer = ana.post("/api/token/batch", body).await;
        answer.refuses_saying(400, "missing_field", "`ids` is required");
    }
    for (ids, message) in [
        (json!(one), "`ids` must be an array"),
        (json!(one.to_string()), "`ids` must be an array"),
        (json!([one, one.to_string()]), "`ids[1]` must be a whole number"),
        (json!([1.5]), "`ids[0]` must be a whole number"),
        (json!([null]), "`ids[0]` must be a whole number"),
    ] {
        delete(&ana, ids).await.refuses_saying(400, "invalid_field", message);
    }
    let empty = ana.send(ana.request(Method::POST, "/api/token/batch")).await;
    empty.refuses_saying(400, "invalid_json", "send a JSON object as the body");
    assert_eq!(remaining(&ana).await, [one]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_array_instead_of_an_object_is_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let one = ana.creates(json!({ "name": "one" })).await;
    for body in [json!([[one]]), json!([])] {
        let answer = ana.post("/api/token/batch", body).await;
        answer.refuses_saying(400, "invalid_json", "the body must be a JSON object");
    }
    assert_eq!(remaining(&ana).await, [one]);
}
