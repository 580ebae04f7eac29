//! Specification §15.3: a request with an `Idempotency-Key` is carried out once, however often it is sent.

use futures_util::future::join_all;
use http::{HeaderValue, Method};
use keymeter::domain::clock::Clock as _;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::answer::Refusal;
use crate::harness::gateway::app_with_wallet;
use crate::harness::{Answer, Caller, TestApp};
use crate::jobs::jobs_on;

const REUSED: Refusal =
    (422, "idempotency_key_reused", "this `Idempotency-Key` was used for another request; give each request its own");
const INVALID: Refusal =
    (400, "invalid_idempotency_key", "`Idempotency-Key` must be 1 to 255 printable ASCII characters");
const ROTATED: Refusal = (
    409,
    "key_rotated",
    "this request was carried out before, and the key that it made was replaced since; read the token's key",
);

async fn posts(caller: &Caller, path: &str, key: &str, body: Value) -> Answer {
    posts_text(caller, path, key, &body.to_string()).await
}

async fn posts_text(caller: &Caller, path: &str, key: &str, body: &str) -> Answer {
    let mut request = caller.request(Method::POST, path);
    request.headers_mut().insert("idempotency-key", HeaderValue::from_bytes(key.as_bytes()).unwrap());
    request.headers_mut().insert("prefer", HeaderValue::from_static("return=representation"));
    *request.body_mut() = body.to_owned().into();
    caller.send(request).await
}

async fn count(app: &TestApp, table: &str) -> i64 {
    let sql = sqlx::AssertSqlSafe(format!("select count(*) from {table}"));
    sqlx::query_scalar(sql).fetch_one(&app.pool).await.unwrap()
}

fn is_replayed(answer: &Answer) -> bool {
    answer.header("idempotency-replayed") == Some("true")
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_3_fifty_parallel_twins_on_three_servers_make_one_key(pool: PgPool) {
    let (app, ana, _) = app_with_wallet(pool, 1_000).await;
    let callers = [ana.clone(), ana.at(&app.server_ahead(0)), ana.at(&app.server_ahead(1))];
    let twins =
        (0..50).map(|n| posts(&callers[n % 3], "/api/token/", "k1", json!({ "name": "one", "remain_quota": 5 })));
    let answers = join_all(twins).await;
    let first = answers[0].ok();
    assert!(answers.iter().all(|answer| answer.ok() == first), "{answers:?}");
    assert!(first["key"].as_str().unwrap().starts_with("sk-"));
    assert_eq!(answers.iter().filter(|answer| !is_replayed(answer)).count(), 1);
    assert_eq!((count(&app, "tokens").await, count(&app, "idempotency_keys").await), (1, 1));
    let path = answers[0].header("location").unwrap().to_owned();
    assert!(answers.iter().all(|answer| answer.header("location") == Some(&path)));
    // Without the header, each request makes one.
    ana.post("/api/token/", json!({ "name": "one", "remain_quota": 5 })).await.ok();
    assert_eq!(count(&app, "tokens").await, 2);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_3_a_key_belongs_to_one_request_of_one_user(pool: PgPool) {
    let (app, ana, _) = app_with_wallet(pool, 1_000).await;
    let ben = app.enabled_user("ben").await;
    let body = json!({ "name": "one", "note": "x" });
    let made = posts(&ana, "/api/token/", "k1", body.clone()).await.ok();
    posts(&ana, "/api/token/", "k1", json!({ "name": "two", "note": "x" })).await.is(REUSED);
    posts(&ana, &format!("/api/token/{}/rotate", made["id"]), "k1", json!({})).await.is(REUSED);
    posts(&ana, "/api/token/bulk", "k1", json!({ "tokens": [body] })).await.is(REUSED);
    let again = posts_text(&ana, "/api/token", "k1", "{ \"name\" : \"one\",\n \"note\":\"x\" }").await;
    assert_eq!((again.ok(), is_replayed(&again)), (made.clone(), true), "spaces and the slash do not matter");
    let of_ben = posts(&ben, "/api/token/", "k1", body).await;
    assert!(of_ben.ok()["id"] != made["id"] && !is_replayed(&of_ben));
    for bad in ["", "a\tb", "\u{e9}", &"x".repeat(256)] {
        posts(&ana, "/api/token/", bad, json!({ "name": "one" })).await.is(INVALID);
    }
    let mut twice = ana.request(Method::POST, "/api/token/");
    twice.headers_mut().append("idempotency-key", HeaderValue::from_static("a"));
    twice.headers_mut().append("idempotency-key", HeaderValue::from_static("b"));
    *twice.body_mut() = "{\"name\":\"one\"}".into();
    ana.send(twice).await.is(INVALID);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_3_a_replay_reveals_the_key_only_if_the_answer_shows_it(pool: PgPool) {
    let (app, ana, _) = app_with_wallet(pool, 1_000).await;
    let body = json!({ "name": "one" });
    let made = posts(&ana, "/api/token/", "k1", body.clone()).await;
    let reveals = async || -> i64 {
        let sql = "select count(*) from audit_log where action = 'token.key_revealed'";
        sqlx::query_scalar(sql).fetch_one(&app.pool).await.unwrap()
    };
    let before = reveals().await;
    let mut request = ana.request(Method::POST, "/api/token/");
    request.headers_mut().insert("idempotency-key", HeaderValue::from_static("k1"));
    *request.body_mut() = body.to_string().into();
    let replay = ana.send(request).await;
    assert!(is_replayed(&replay) && replay.header("location") == made.header("location"));
    assert_eq!((replay.text.contains("sk-"), reveals().await), (false, before));
    assert_eq!(posts(&ana, "/api/token/", "k1", body).await.ok()["key"], made.ok()["key"]);
    assert_eq!(reveals().await, before + 1);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_3_refusals_are_not_remembered(pool: PgPool) {
    let (app, ana, _) = app_with_wallet(pool, 1_000).await;
    let path = format!("/api/admin/users/{}", ana.id);
    app.root().await.patch(&path, json!({ "max_tokens": 0 })).await.ok();
    let body = json!({ "name": "one" });
    posts(&ana, "/api/token/", "k1", body.clone()).await.refuses(409, "token_limit_reached");
    posts(&ana, "/api/token/", "k1", json!({ "name": "" })).await.refuses(400, "invalid_name");
    assert_eq!(count(&app, "idempotency_keys").await, 0);
    app.root().await.patch(&path, json!({ "max_tokens": 1 })).await.ok();
    let made = posts(&ana, "/api/token/", "k1", body.clone()).await;
    assert!(!is_replayed(&made));
    // A replay is answered although one more would be refused.
    assert_eq!(posts(&ana, "/api/token/", "k1", body).await.ok(), made.ok());
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_3_a_rotation_is_made_once(pool: PgPool) {
    let (_app, ana, _) = app_with_wallet(pool, 1_000).await;
    let (id, _) = ana.creates_with_key(json!({ "name": "one" })).await;
    let path = format!("/api/token/{id}/rotate");
    let grace = json!({ "grace_seconds": 60, "grace_from": "now" });
    let answers = join_all((0..8).map(|_| posts(&ana, &path, "r1", grace.clone()))).await;
    let first = answers[0].ok();
    assert!(answers.iter().all(|answer| answer.ok() == first));
    assert_eq!(first["old_keys"].as_array().unwrap().len(), 1);
    assert_eq!(answers.iter().filter(|answer| is_replayed(answer)).count(), 7);
    assert_eq!(answers[7].header("cache-control"), Some("no-store"));
    posts(&ana, &path, "r2", grace.clone()).await.ok();
    let replay = posts(&ana, &path, "r1", grace.clone()).await;
    replay.is(ROTATED);
    assert!(!replay.text.contains("sk-"));
    ana.delete(&format!("/api/token/{id}")).await.ok();
    posts(&ana, &path, "r2", grace).await.refuses_saying(
        404,
        "not_found",
        "this request was carried out before, and its token was deleted since",
    );
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_3_a_created_key_that_was_rotated_since_is_not_shown_again(pool: PgPool) {
    let (_app, ana, _) = app_with_wallet(pool, 1_000).await;
    let body = json!({ "name": "one" });
    let made = posts(&ana, "/api/token/", "k1", body.clone()).await.ok();
    ana.post(&format!("/api/token/{}/rotate", made["id"]), json!({})).await.ok();
    posts(&ana, "/api/token/", "k1", body).await.is(ROTATED);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_3_quota_is_granted_once(pool: PgPool) {
    let (app, ana, _) = app_with_wallet(pool, 1_000).await;
    let root = app.root().await;
    let path = format!("/api/admin/users/{}/quota", ana.id);
    let grant = json!({ "delta": 70 });
    let answers = join_all((0..20).map(|_| posts(&root, &path, "g1", grant.clone()))).await;
    assert!(answers.iter().all(|answer| answer.ok()["quota"] == 1_070), "{answers:?}");
    assert_eq!(answers.iter().filter(|answer| !is_replayed(answer)).count(), 1);
    posts(&root, &path, "g1", json!({ "delta": 71 })).await.is(REUSED);
    let other = app.enabled_user("ben").await;
    posts(&root, &format!("/api/admin/users/{}/quota", other.id), "g1", grant.clone()).await.is(REUSED);
    posts(&root, &path, "g2", grant).await.ok();
    assert_eq!(ana.get("/api/user/self").await.ok()["quota"], 1_140);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_3_a_key_is_kept_for_72_hours(pool: PgPool) {
    let (app, ana, _) = app_with_wallet(pool, 1_000).await;
    let made = posts(&ana, "/api/token/", "k1", json!({ "name": "one" })).await.ok();
    let jobs = jobs_on(&app.pool, app.clock.clone(), 90);
    jobs.run_as_of(app.clock.now().plus(72 * 3_600)).await.unwrap();
    assert_eq!(posts(&ana, "/api/token/", "k1", json!({ "name": "one" })).await.ok(), made);
    jobs.run_as_of(app.clock.now().plus(72 * 3_600 + 1)).await.unwrap();
    let again = posts(&ana, "/api/token/", "k1", json!({ "name": "one" })).await;
    assert!(again.ok()["id"] != made["id"] && !is_replayed(&again));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_3_another_request_is_never_answered_as_200(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_HTTP__ERRORS_AS_200", "true")]).await;
    let ana = app.enabled_user("ana").await;
    posts(&ana, "/api/token/", "k1", json!({ "name": "one" })).await.ok();
    posts(&ana, "/api/token/", "k1", json!({ "name": "two" })).await.is(REUSED);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_3_quota_is_added_to_tokens_once(pool: PgPool) {
    let (_app, ana, _) = app_with_wallet(pool, 1_000).await;
    let (id, _) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let sends = async |method: Method, path: &str, key: &'static str, body: Value| {
        let mut request = ana.request(method, path);
        request.headers_mut().insert("idempotency-key", HeaderValue::from_static(key));
        *request.body_mut() = body.to_string().into();
        ana.send(request).await
    };
    let edit = json!({ "id": id, "add_quota": 5 });
    for n in 0..3 {
        let answer = sends(Method::PUT, "/api/token/", "e1", edit.clone()).await;
        assert_eq!((answer.ok()["remain_quota"].clone(), is_replayed(&answer)), (json!(105), n > 0));
        assert!(answer.header("etag").is_some());
    }
    sends(Method::PUT, "/api/token/", "e1", json!({ "id": id, "add_quota": 6 })).await.is(REUSED);
    let bulk = json!({ "ids": [id], "set": { "add_quota": 5 } });
    for n in 0..3 {
        let answer = sends(Method::PATCH, "/api/token/bulk", "b1", bulk.clone()).await;
        assert_eq!((answer.ok()[0]["remain_quota"].clone(), is_replayed(&answer)), (json!(110), n > 0));
    }
    ana.delete(&format!("/api/token/{id}")).await.ok();
    sends(Method::PUT, "/api/token/", "e1", edit).await.refuses(404, "not_found");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_3_each_reveal_is_in_the_audit_log(pool: PgPool) {
    let (_app, ana, _) = app_with_wallet(pool, 1_000).await;
    for _ in 0..3 {
        posts(&ana, "/api/token/", "k1", json!({ "name": "one" })).await.ok();
    }
    assert_eq!(ana.get("/api/user/activity?action=token.key_revealed").await.ok()["total"], 2);
    assert_eq!(ana.get("/api/user/activity?action=token.created").await.ok()["total"], 1);
}
