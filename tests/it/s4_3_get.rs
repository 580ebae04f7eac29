//! Specification §4.3, get one token, and the other calls that show keys.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::wait::eventually;
use crate::harness::{Caller, START, TestApp};

/// The entries of the audit log for shown keys, oldest first.
async fn reveal_entries(app: &TestApp) -> Vec<Value> {
    let page = app.root().await.get("/api/admin/audit?action=token.key_revealed&size=100").await.ok();
    page["items"].as_array().unwrap().iter().rev().cloned().collect()
}

async fn create(who: &Caller, name: &str) -> (i64, String) {
    who.creates_with_key(json!({ "name": name })).await
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_token_read_by_id_shows_its_key_and_is_not_cached(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let (id, key) = create(&ana, "one").await;
    let mut expected = ana.get("/api/token/").await.ok()["items"][0].clone();
    expected["key"] = json!(key);
    for path in [format!("/api/token/{id}"), format!("/api/token/{id}/"), format!("/api/token/{id}?colour=red")] {
        let answer = ana.get(&path).await;
        assert_eq!(answer.json(), json!({ "success": true, "message": "", "data": expected }), "{path}");
        assert_eq!(answer.header("cache-control"), Some("no-store"), "{path}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_key_is_read_by_post_with_or_without_a_body(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let (id, key) = create(&ana, "one").await;
    let path = format!("/api/token/{id}/key");
    let bare = ana.send(ana.request(http::Method::POST, &path)).await;
    for answer in [bare, ana.post(&path, json!({})).await, ana.post(&format!("{path}/"), json!({})).await] {
        assert_eq!(answer.json(), json!({ "success": true, "message": "", "data": { "key": key } }));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn several_keys_are_read_at_once_by_id(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben) = (app.enabled_user("ana").await, app.enabled_user("ben").await);
    let ((one, key_one), (two, key_two)) = (create(&ana, "one").await, create(&ana, "two").await);
    let (bens, _) = create(&ben, "ben's").await;
    let (deleted, _) = create(&ana, "deleted").await;
    ana.delete(&format!("/api/token/{deleted}")).await.ok();
    let ids = json!({ "ids": [two, one, two, bens, deleted, 999_999, -1] });
    for path in ["/api/token/batch/keys", "/api/token/batch/keys/"] {
        let answer = ana.post(path, ids.clone()).await;
        let keys = json!({ one.to_string(): key_one, two.to_string(): key_two });
        assert_eq!(answer.json(), json!({ "success": true, "message": "", "data": { "keys": keys } }));
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
    assert_eq!(ana.post("/api/token/batch/keys", json!({ "ids": [bens] })).await.ok(), json!({ "keys": {} }));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn one_batch_shows_at_most_100_keys(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let read_keys = async |body: Value| ana.post("/api/token/batch/keys", body).await;
    read_keys(json!({ "ids": (1..=100).collect::<Vec<i64>>() })).await.ok();
    for ids in [(1..=101).collect::<Vec<i64>>(), vec![]] {
        read_keys(json!({ "ids": ids })).await.refuses_saying(400, "invalid_ids", "`ids` must have 1 to 100 entries");
    }
    for body in [json!({}), json!({ "ids": null }), json!({ "id": [1] })] {
        read_keys(body).await.refuses_saying(400, "missing_field", "`ids` is required");
    }
    for (ids, message) in [(json!([1, "2"]), "`ids[1]` must be a whole number"), (json!(7), "`ids` must be an array")] {
        read_keys(json!({ "ids": ids })).await.refuses_saying(400, "invalid_field", message);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_shown_key_has_an_entry_in_the_audit_log(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let ((one, key), (two, _)) = (create(&ana, "one").await, create(&ana, "two").await);
    assert_eq!(reveal_entries(&app).await, [json!(null); 0]);

    app.clock.advance(60);
    let answer = ana.get(&format!("/api/token/{one}")).await;
    let lines = reveal_entries(&app).await;
    let expected = json!({
        "id": lines[0]["id"], "ip": lines[0]["ip"], "at": START + 60, "actor_id": ana.id, "actor_name": "ana",
        "action": "token.key_revealed", "subject_kind": "token", "subject_id": one, "user_id": ana.id,
        "subject_name": "one", "user_name": "ana",
        "request_id": answer.header("x-request-id"), "details": {}, "changes": [],
    });
    assert_eq!(lines, [expected]);

    ana.post(&format!("/api/token/{two}/key"), json!({})).await.ok();
    ana.post("/api/token/batch/keys", json!({ "ids": [one, two, 999_999] })).await.ok();
    let subjects: Vec<i64> =
        reveal_entries(&app).await.iter().map(|line| line["subject_id"].as_i64().unwrap()).collect();
    assert_eq!(subjects[..2], [one, two]);
    assert!(subjects[2..] == [one, two] || subjects[2..] == [two, one], "{subjects:?}");
    assert!(!json!(reveal_entries(&app).await).to_string().contains(&key[7..47]));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn requests_that_wait_for_the_audit_log_are_bounded(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let (id, _) = create(&ana, "one").await;
    let ana = ana.by_access_token().await;
    let mut holder = app.pool.begin().await.unwrap();
    sqlx::query("lock table audit_log in exclusive mode").execute(&mut *holder).await.unwrap();
    let reveals: Vec<_> = (0..3_000)
        .map(|_| {
            let ana = ana.clone();
            tokio::spawn(async move { ana.get(&format!("/api/token/{id}")).await })
        })
        .collect();
    // One batch is being written and one waits; all other requests are refused at once.
    eventually("the others were refused", async || reveals.iter().filter(|reveal| reveal.is_finished()).count() >= 900)
        .await;
    holder.rollback().await.unwrap();
    let (mut shown, mut refused) = (0, 0);
    for reveal in reveals {
        let answer = reveal.await.unwrap();
        if answer.status == 200 {
            shown += 1;
        } else {
            answer.refuses_saying(503, "server_busy", "too many requests are waiting; retry shortly");
            assert!(answer.header("retry-after").is_some());
            refused += 1;
        }
    }
    assert!(refused >= 900 && shown >= 1_024, "{shown} shown, {refused} refused");
    let lines: i64 = sqlx::query_scalar("select count(*) from audit_log where action = 'token.key_revealed'")
        .fetch_one(&app.pool)
        .await
        .unwrap();
    assert_eq!(lines, shown, "the log has exactly the keys that were shown");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn absent_deleted_and_other_users_tokens_are_not_found(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, root) = (app.enabled_user("ana").await, app.root().await);
    let (anas, _) = create(&ana, "ana's").await;
    let (deleted, _) = create(&root, "deleted").await;
    root.delete(&format!("/api/token/{deleted}")).await.ok();
    for id in [anas, deleted, 999_999, 0, -1, i64::MAX] {
        let path = format!("/api/token/{id}");
        for answer in [root.get(&path).await, root.post(&format!("{path}/key"), json!({})).await] {
            answer.refuses_saying(404, "not_found", "there is no such token");
        }
    }
    assert_eq!(reveal_entries(&app).await, [json!(null); 0]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_id_must_be_a_whole_number(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    for id in ["seven", "7.0", "7,8", "9223372036854775808"] {
        let answer = ana.get(&format!("/api/token/{id}")).await;
        answer.refuses_saying(400, "invalid_id", "the id in the path must be a whole number");
    }
}
