//! Administrators make, change, replace and delete tokens of users, who see it; only the owner reads a key.

use http::{HeaderValue, Method, header};
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::answer::Refusal;
use crate::harness::gateway::{app_with_wallet, asks};
use crate::harness::{Answer, Caller, TestApp};

const TOO_LOW: Refusal = (403, "role_too_low", "only root may make and change tokens of administrators");
const NOT_ENABLED: Refusal =
    (403, "token_api_not_enabled", "the token API is not enabled for the owner's account; enable it first");

fn tokens_of(user: &Caller) -> String {
    format!("/api/admin/users/{}/tokens", user.id)
}

fn token(id: i64) -> String {
    format!("/api/admin/tokens/{id}")
}

async fn sends(caller: &Caller, method: Method, path: &str, headers: &[(&'static str, &str)], body: Value) -> Answer {
    let mut request = caller.request(method, path);
    for (name, value) in headers {
        request.headers_mut().insert(*name, HeaderValue::from_str(value).unwrap());
    }
    request.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    *request.body_mut() = body.to_string().into();
    caller.send(request).await
}

/// What the owner's activity says, oldest first: who did what.
async fn activity(owner: &Caller) -> Vec<(String, String)> {
    let page = owner.get("/api/user/activity?subject_kind=token&page_size=100").await.ok();
    let line =
        |line: &Value| (line["actor_name"].as_str().unwrap().to_owned(), line["action"].as_str().unwrap().to_owned());
    page["items"].as_array().unwrap().iter().rev().map(line).collect()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_administrator_helps_a_user_who_sees_it_and_alone_reads_the_key(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let carla = app.admin("carla").await;
    let body = json!({ "name": "for ana", "remain_quota": 5, "period_limits": { "day": 3 } });
    let headers = [("prefer", "return=representation"), ("idempotency-key", "once")];
    let made = sends(&carla, Method::POST, &tokens_of(&ana), &headers, body.clone()).await;
    let shown = made.ok();
    let id = shown["id"].as_i64().unwrap();
    let said = (&shown["key"], &shown["username"], &shown["remain_quota"], &shown["user_id"]);
    assert_eq!(said, (&json!(""), &json!("ana"), &json!(5), &json!(ana.id)));
    let again = sends(&carla, Method::POST, &tokens_of(&ana), &headers, body).await;
    assert_eq!((again.ok()["id"].as_i64(), again.header("idempotency-replayed")), (Some(id), Some("true")));
    let first = ana.get(&format!("/api/token/{id}")).await.ok()["key"].as_str().unwrap().to_owned();
    assert!(!made.text.contains(&first[3..]) && !again.text.contains(&first[3..]));
    asks(&gateway, "charge", &json!({ "key": first, "quota": 3 })).await.ok();

    let edited = carla.patch(&token(id), json!({ "add_quota": 4, "period_limits": { "day": -1 } })).await;
    assert_eq!((&edited.ok()["remain_quota"], edited.ok()["name"].as_str()), (&json!(6), Some("for ana")));
    let tag = carla.get(&token(id)).await.header("etag").unwrap().to_owned();
    assert_eq!(edited.header("etag"), Some(&*tag));
    let outdated = [("if-match", "\"1\"")];
    let changed = (412, "token_changed", "the token was changed since you read it; read it again");
    sends(&carla, Method::PATCH, &token(id), &outdated, json!({ "note": "blue" })).await.is(changed);
    sends(&carla, Method::PATCH, &token(id), &[("if-match", &tag)], json!({ "note": "blue" })).await.ok();

    let grace = json!({ "grace_seconds": 0, "grace_from": "now" });
    let rotate = format!("{}/rotate", token(id));
    let rotated = sends(&carla, Method::POST, &rotate, &[("idempotency-key", "leaked")], grace.clone()).await;
    let repeated = sends(&carla, Method::POST, &rotate, &[("idempotency-key", "leaked")], grace).await;
    let second = ana.get(&format!("/api/token/{id}")).await.ok()["key"].as_str().unwrap().to_owned();
    for answer in [&rotated, &repeated] {
        assert!(!answer.text.contains(&second[3..]) && answer.ok().get("key").is_none(), "{}", answer.text);
        assert_eq!((&answer.ok()["id"], &answer.ok()["old_keys"]), (&json!(id), &json!([])));
    }
    asks(&gateway, "charge", &json!({ "key": first, "quota": 1 })).await.refuses(401, "invalid_key");
    asks(&gateway, "charge", &json!({ "key": second, "quota": 1 })).await.ok();

    carla.delete(&token(id)).await.ok();
    asks(&gateway, "charge", &json!({ "key": second, "quota": 1 })).await.refuses(401, "invalid_key");
    carla.delete(&token(id)).await.refuses(404, "not_found");
    let own = |action: &str| ("ana".to_owned(), action.to_owned());
    let helped = |action: &str| ("carla".to_owned(), action.to_owned());
    let expected = [
        helped("token.created"),
        own("token.key_revealed"),
        helped("token.edited"),
        helped("token.edited"),
        helped("token.rotated"),
        own("token.key_revealed"),
        helped("token.deleted"),
    ];
    assert_eq!(activity(&ana).await, expected);
}

/// Whether each call on a user and a token of theirs is answered, or refused like this.
async fn tries(caller: &Caller, owner: &Caller, id: i64, refused: Refusal) {
    caller.post(&tokens_of(owner), json!({ "name": "x" })).await.is(refused);
    caller.patch(&token(id), json!({ "note": "x" })).await.is(refused);
    caller.post(&format!("{}/rotate", token(id)), json!({})).await.is(refused);
    caller.delete(&token(id)).await.is(refused);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn administrators_help_users_and_root_helps_all_who_may_use_the_token_api(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, carla, dora) = (app.root().await, app.admin("carla").await, app.admin("dora").await);
    let ana = app.enabled_user("ana").await;
    let of_dora = dora.creates(json!({ "name": "dora's" })).await;
    let of_ana = ana.creates(json!({ "name": "ana's" })).await;
    tries(&carla, &dora, of_dora, TOO_LOW).await;
    root.patch(&token(of_dora), json!({ "note": "x" })).await.ok();
    root.post(&tokens_of(&dora), json!({ "name": "more" })).await.ok();

    root.patch(&format!("/api/admin/users/{}", ana.id), json!({ "token_api_enabled": false })).await.ok();
    tries(&carla, &ana, of_ana, NOT_ENABLED).await;
    tries(&root, &ana, of_ana, NOT_ENABLED).await;
    // To stop a key is always possible.
    carla.post(&format!("{}/status", token(of_ana)), json!({ "status": 2 })).await.ok();
    carla.post(&format!("{}/status", token(of_dora)), json!({ "status": 2 })).await.ok();

    let not_admin = (403, "not_an_administrator", "an administrator account is required");
    tries(&ana, &dora, of_dora, not_admin).await;
    carla.post("/api/admin/users/999999/tokens", json!({ "name": "x" })).await.refuses(404, "not_found");
    carla.patch(&token(999_999), json!({ "note": "x" })).await.refuses(404, "not_found");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_groups_and_the_limit_are_those_of_the_owner(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (carla, ana) = (app.admin("carla").await, app.enabled_user("ana").await);
    carla.patch(&format!("/api/admin/users/{}", ana.id), json!({ "max_tokens": 1 })).await.ok();
    carla.post(&tokens_of(&ana), json!({ "name": "x", "group": "nobody-has-it" })).await.refuses(400, "invalid_group");
    let id = carla.post(&tokens_of(&ana), json!({ "name": "x" })).await.ok()["id"].as_i64().unwrap();
    let full = carla.post(&tokens_of(&ana), json!({ "name": "y" })).await;
    full.refuses_saying(409, "token_limit_reached", "this account has reached its limit of 1 token; delete one first");
    for (body, code) in [
        (json!({ "id": id + 1, "note": "x" }), "invalid_id"),
        (json!({ "status": 2 }), "invalid_status"),
        (json!({ "key": "sk-another" }), "invalid_field"),
    ] {
        carla.patch(&token(id), body).await.refuses(400, code);
    }
    carla.patch(&token(id), json!({ "id": id, "name": "z" })).await.ok();
}
