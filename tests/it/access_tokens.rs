//! Access tokens.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Caller, START, TestApp};

const SELF: &str = "/api/user/self";
const TOKENS: &str = "/api/user/access_tokens";

/// Creates an access token. Returns its id, and a caller who sends it.
async fn create_token(caller: &Caller, token: Value) -> (i64, Caller) {
    let made = caller.post(TOKENS, token).await.ok();
    (made["id"].as_i64().unwrap(), caller.with_access_token(made["token"].as_str().unwrap()))
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_access_token_is_shown_once_and_listed_without_its_secret(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    let created = ana.get("/api/user/token").await;
    assert_eq!(created.header("cache-control"), Some("no-store"));
    assert!(created.ok().is_string());
    let made = ana.post(TOKENS, json!({ "name": "laptop", "expires_at": START + 60 })).await;
    assert_eq!(made.header("cache-control"), Some("no-store"));
    let data = made.ok();
    let token = data["token"].as_str().unwrap();
    ana.with_access_token(token).get(SELF).await.ok();
    let list = ana.get(TOKENS).await;
    assert!(!list.text.contains(token) && !list.text.contains(created.ok().as_str().unwrap()), "{}", list.text);
    let list = list.ok();
    let newest = json!({ "id": data["id"], "name": "laptop", "created_time": START, "expires_at": START + 60,
        "last_used_time": START });
    assert_eq!((list.as_array().unwrap().len(), &list[0]), (2, &newest));
    assert_eq!(list[1]["expires_at"], -1);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_revoked_access_token_stops_working_at_once_and_only_its_owner_revokes_it(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben) = (app.user("ana").await, app.user("ben").await);
    let (id, one) = create_token(&ana, json!({ "name": "one" })).await;
    let (_, two) = create_token(&ana, json!({ "name": "two" })).await;
    one.get(SELF).await.ok();
    let path = format!("{TOKENS}/{id}");
    ben.delete(&path).await.refuses_saying(404, "not_found", "there is no such access token");
    one.get(SELF).await.ok();
    ana.delete(&path).await.ok();
    one.get(SELF).await.refuses(401, "invalid_credential");
    two.get(SELF).await.ok();
    ana.delete(&path).await.refuses_saying(404, "not_found", "there is no such access token");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_access_token_works_until_its_expiry(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    let (_, short) = create_token(&ana, json!({ "name": "short", "expires_at": START + 60 })).await;
    for forever in [json!(null), json!(0), json!(-1)] {
        let (_, long) = create_token(&ana, json!({ "name": "long", "expires_at": forever })).await;
        long.get(SELF).await.ok();
    }
    app.clock.advance(59);
    short.get(SELF).await.ok();
    app.clock.advance(1);
    short.get(SELF).await.refuses(401, "invalid_credential");
    let message = "`expires_at` must be a Unix timestamp in seconds, or -1 for never";
    for bad in [-2_i64, 253_402_300_800, 1_900_000_000_000] {
        let answer = ana.post(TOKENS, json!({ "name": "bad", "expires_at": bad })).await;
        answer.refuses_saying(400, "invalid_expiry", message);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_access_token_cannot_expire_in_the_past(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    let message = "`expires_at` has passed already; it must lie in the future, or be -1 for never";
    for past in [1, START - 1, START] {
        for caller in [ana.clone(), ana.by_access_token().await] {
            let answer = caller.post(TOKENS, json!({ "name": "old", "expires_at": past })).await;
            answer.refuses_saying(400, "invalid_expiry", message);
        }
    }
    create_token(&ana, json!({ "name": "new", "expires_at": START + 1 })).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_access_token_cannot_outlive_the_one_that_created_it(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    let end = START + 60;
    let (_, short) = create_token(&ana, json!({ "name": "short", "expires_at": end })).await;
    let message = format!("`expires_at` may be {end} at most, when this access token expires; sign in for a later one");
    for later in [end + 1, 253_402_300_799, 0, -1] {
        let answer = short.post(TOKENS, json!({ "name": "long", "expires_at": later })).await;
        answer.refuses_saying(400, "invalid_expiry", &message);
    }
    for (sent, expected) in [(json!(end), end), (json!(START + 7), START + 7), (json!(null), end)] {
        let made = short.post(TOKENS, json!({ "name": "made", "expires_at": sent })).await.ok();
        assert_eq!(made["expires_at"], expected);
    }
    let created = ana.with_access_token(short.get("/api/user/token").await.ok().as_str().unwrap());
    let (_, descendant) = create_token(&created, json!({ "name": "third" })).await;
    let list = ana.get(TOKENS).await.ok();
    assert!(list.as_array().unwrap().iter().all(|token| token["expires_at"].as_i64().unwrap() <= end), "{list}");
    app.clock.advance(60);
    for over in [short, created, descendant] {
        over.get(SELF).await.refuses(401, "invalid_credential");
    }
    // A session, and a token that never expires, can create tokens that never expire.
    let (_, forever) = create_token(&ana, json!({ "name": "forever" })).await;
    create_token(&forever, json!({ "name": "forever too", "expires_at": -1 })).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn expired_access_tokens_are_deleted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben) = (app.user("ana").await, app.user("ben").await);
    let insert = "insert into access_tokens (user_id, name, digest, created_time, expires_at) \
                select $1, 'expired', sha256(convert_to($1::text || n::text, 'UTF8')), 1, 1000000000 \
                from generate_series(1, 500) n";
    for user in [&ana, &ben] {
        sqlx::query(insert).bind(user.id).execute(&app.pool).await.unwrap();
    }
    create_token(&ana, json!({ "name": "live" })).await;
    let list = ana.get(TOKENS).await.ok();
    assert_eq!((list.as_array().unwrap().len(), &list[0]["name"]), (1, &json!("live")));
    let of_ben = "select count(*) from access_tokens where user_id = $1";
    let left: i64 = sqlx::query_scalar(of_ben).bind(ben.id).fetch_one(&app.pool).await.unwrap();
    assert_eq!(left, 500, "those of other users are deleted by the job");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_access_token_needs_a_name_and_a_user_has_at_most_100(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    for body in [json!({}), json!({ "name": " " })] {
        ana.post(TOKENS, body).await.refuses_saying(400, "missing_field", "`name` is required");
    }
    let label = "`name` must have at most 100 characters, without control or invisible characters";
    ana.post(TOKENS, json!({ "name": "x".repeat(101) })).await.refuses_saying(400, "invalid_text", label);
    for n in 0..100 {
        create_token(&ana, json!({ "name": format!("token {n}") })).await;
    }
    let full = "you have 100 access tokens, which is the limit; revoke one first";
    ana.post(TOKENS, json!({ "name": "one more" })).await.refuses_saying(409, "access_token_limit_reached", full);
    ana.get("/api/user/token").await.refuses_saying(409, "access_token_limit_reached", full);
    let newest = ana.get(TOKENS).await.ok()[0]["id"].clone();
    ana.delete(&format!("{TOKENS}/{newest}")).await.ok();
    create_token(&ana, json!({ "name": "one more" })).await;
}
