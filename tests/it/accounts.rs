//! Spec §10.1 to §10.3, what people do with their own account: see and change it, register, access tokens,
//! groups and models.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Answer, Caller, START, TestApp};

const SELF: &str = "/api/user/self";
const TOKENS: &str = "/api/user/access_tokens";

async fn registers(app: &TestApp, account: Value) -> Answer {
    app.stranger().post("/api/user/register", account).await
}

/// Makes an access token; its id, and its owner signed in with it.
async fn makes_token(caller: &Caller, token: Value) -> (i64, Caller) {
    let made = caller.post(TOKENS, token).await.ok();
    (made["id"].as_i64().unwrap(), caller.with_access_token(made["token"].as_str().unwrap()))
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn everyone_sees_their_own_account(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_ACCOUNTS__INITIAL_QUOTA", "1000")]).await;
    let ana = app.user("ana").await;
    let expected = json!({
        "id": ana.id, "username": "ana", "display_name": "ana", "email": "", "role": 1, "status": 1,
        "group": "default", "quota": 1000, "used_quota": 0, "request_count": 0, "token_api_enabled": false,
        "max_tokens": null, "created_time": START,
    });
    assert_eq!(ana.get(SELF).await.ok(), expected);
    assert_eq!(app.root().await.get(SELF).await.ok()["role"], 100);
    assert_eq!(app.admin("carla").await.get(SELF).await.ok()["role"], 10);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn name_and_address_change_and_what_is_left_out_stays(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    let changed = ana.put(SELF, json!({ "display_name": " Ana Ágnes ", "email": "ana@example.org" })).await.ok();
    assert_eq!((&changed["display_name"], &changed["email"]), (&json!("Ana Ágnes"), &json!("ana@example.org")));
    let ignored = json!({ "role": 100, "quota": 5, "status": 2, "group": "x", "username": "x", "email": null });
    ana.put(SELF, ignored).await.ok();
    assert_eq!(ana.get(SELF).await.ok(), changed);
    assert_eq!(ana.put(SELF, json!({ "email": "" })).await.ok()["email"], "");
    let label = "`display_name` must have at most 100 characters, without control or invisible characters";
    for bad in ["x".repeat(101), "a\u{7}b".to_owned()] {
        ana.put(SELF, json!({ "display_name": bad })).await.refuses_saying(400, "invalid_text", label);
    }
    for bad in ["ana", "@example.org", "ana@", "a na@example.org"] {
        let answer = ana.put(SELF, json!({ "email": bad })).await;
        answer.refuses_saying(400, "invalid_email", "`email` is not an e-mail address");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_new_password_needs_the_old_one_and_8_to_128_characters(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    let wrong = "the current password is wrong; send it as `original_password`";
    for body in [
        json!({ "password": "a better one" }),
        json!({ "password": "a better one", "original_password": "a guess" }),
        json!({ "password": "a better one", "original_password": "", "display_name": "changed" }),
    ] {
        ana.put(SELF, body).await.refuses_saying(403, "wrong_password", wrong);
    }
    let length = "the password must have 8 to 128 characters";
    for bad in ["1234567".to_owned(), "x".repeat(129)] {
        let body = json!({ "password": bad, "original_password": "ana's password" });
        ana.put(SELF, body).await.refuses_saying(400, "invalid_password", length);
    }
    assert_eq!(ana.get(SELF).await.ok()["display_name"], "ana");
    let longest = "ü".repeat(128);
    ana.put(SELF, json!({ "password": longest, "original_password": "ana's password" })).await.ok();
    app.signs_in("ana", &longest).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn registration_is_closed_unless_the_operator_opens_it(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let answer = registers(&app, json!({ "username": "ana", "password": "ana's password" })).await;
    let message = "registration is closed; ask your administrator for an account";
    answer.refuses_saying(403, "registration_closed", message);
    assert_eq!(app.stranger().get("/api/status").await.ok()["registration"], false);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn where_it_is_open_anyone_registers_and_is_not_enabled(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_ACCOUNTS__REGISTRATION", "open")]).await;
    assert_eq!(app.stranger().get("/api/status").await.ok()["registration"], true);
    let account = json!({ "username": "Ana", "password": "ana's password", "email": "ana@example.org", "role": 100 });
    let answer = registers(&app, account).await;
    assert_eq!(answer.json(), json!({ "success": true, "message": "" }));
    let ana = app.signs_in("Ana", "ana's password").await;
    let me = ana.get(SELF).await.ok();
    assert_eq!((&me["role"], &me["email"], &me["quota"]), (&json!(1), &json!("ana@example.org"), &json!(0)));
    ana.get("/api/token/").await.refuses(403, "token_api_not_enabled");
    for taken in ["Ana", "ana", " ANA "] {
        let answer = registers(&app, json!({ "username": taken, "password": "12345678" })).await;
        answer.refuses_saying(409, "username_taken", "this username is taken");
    }
    let username = "`username` must have 1 to 50 characters, without white space";
    for bad in [json!(null), json!(""), json!("a b"), json!("x".repeat(51))] {
        let answer = registers(&app, json!({ "username": bad, "password": "12345678" })).await;
        answer.refuses_saying(400, "invalid_username", username);
    }
    let length = "the password must have 8 to 128 characters";
    let short = registers(&app, json!({ "username": "ben", "password": "1234567" })).await;
    short.refuses_saying(400, "invalid_password", length);
    registers(&app, json!({ "username": "ben" })).await.refuses_saying(400, "invalid_password", length);
    let answer = registers(&app, json!({ "username": "ben", "password": "12345678", "email": "ben" })).await;
    answer.refuses_saying(400, "invalid_email", "`email` is not an e-mail address");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn registrations_are_limited(pool: PgPool) {
    let settings = [("KEYMETER_ACCOUNTS__REGISTRATION", "open"), ("KEYMETER_LIMITS__REGISTER_PER_MINUTE", "2")];
    let app = TestApp::with(pool, &settings).await;
    for name in ["ana", "ben"] {
        registers(&app, json!({ "username": name, "password": "12345678" })).await.ok();
    }
    let answer = registers(&app, json!({ "username": "carla", "password": "12345678" })).await;
    answer.refuses_saying(429, "rate_limited", "too many requests; try again in 30 s");
    app.clock.advance(30);
    registers(&app, json!({ "username": "carla", "password": "12345678" })).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_access_token_is_shown_once_and_listed_without_itself(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    let minted = ana.get("/api/user/token").await;
    assert_eq!(minted.header("cache-control"), Some("no-store"));
    assert!(minted.ok().is_string());
    let made = ana.post(TOKENS, json!({ "name": "laptop", "expires_at": START + 60 })).await;
    assert_eq!(made.header("cache-control"), Some("no-store"));
    let data = made.ok();
    let token = data["token"].as_str().unwrap();
    ana.with_access_token(token).get(SELF).await.ok();
    let list = ana.get(TOKENS).await;
    assert!(!list.text.contains(token) && !list.text.contains(minted.ok().as_str().unwrap()), "{}", list.text);
    let list = list.ok();
    let newest = json!({ "id": data["id"], "name": "laptop", "created_time": START, "expires_at": START + 60 });
    assert_eq!((list.as_array().unwrap().len(), &list[0]), (2, &newest));
    assert_eq!(list[1]["expires_at"], -1);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_revoked_access_token_is_over_at_once_and_only_its_owner_revokes_it(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben) = (app.user("ana").await, app.user("ben").await);
    let (id, one) = makes_token(&ana, json!({ "name": "one" })).await;
    let (_, two) = makes_token(&ana, json!({ "name": "two" })).await;
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
async fn an_access_token_expires_when_its_time_comes(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    let (_, short) = makes_token(&ana, json!({ "name": "short", "expires_at": START + 60 })).await;
    for forever in [json!(null), json!(0), json!(-1)] {
        let (_, long) = makes_token(&ana, json!({ "name": "long", "expires_at": forever })).await;
        long.get(SELF).await.ok();
    }
    app.clock.advance(59);
    short.get(SELF).await.ok();
    app.clock.advance(1);
    short.get(SELF).await.refuses(401, "invalid_credential");
    let message = "`expires_at` must be a Unix timestamp in seconds, or -1 for never";
    let answer = ana.post(TOKENS, json!({ "name": "bad", "expires_at": -2 })).await;
    answer.refuses_saying(400, "invalid_expiry", message);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_access_token_is_not_made_for_the_past(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    let message = "`expires_at` has passed already; it must lie in the future, or be -1 for never";
    for past in [1, START - 1, START] {
        for caller in [ana.clone(), ana.by_access_token().await] {
            let answer = caller.post(TOKENS, json!({ "name": "old", "expires_at": past })).await;
            answer.refuses_saying(400, "invalid_expiry", message);
        }
    }
    makes_token(&ana, json!({ "name": "new", "expires_at": START + 1 })).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_access_token_outlives_the_one_that_made_it_in_no_way(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    let end = START + 60;
    let (_, short) = makes_token(&ana, json!({ "name": "short", "expires_at": end })).await;
    let message = format!("`expires_at` may be {end} at most, when this access token expires; sign in for a later one");
    for later in [end + 1, i64::MAX, 0, -1] {
        let answer = short.post(TOKENS, json!({ "name": "long", "expires_at": later })).await;
        answer.refuses_saying(400, "invalid_expiry", &message);
    }
    for (asked, expected) in [(json!(end), end), (json!(START + 7), START + 7), (json!(null), end)] {
        let made = short.post(TOKENS, json!({ "name": "made", "expires_at": asked })).await.ok();
        assert_eq!(made["expires_at"], expected);
    }
    let minted = ana.with_access_token(short.get("/api/user/token").await.ok().as_str().unwrap());
    let (_, made_of_it) = makes_token(&minted, json!({ "name": "third" })).await;
    let list = ana.get(TOKENS).await.ok();
    assert!(list.as_array().unwrap().iter().all(|token| token["expires_at"].as_i64().unwrap() <= end), "{list}");
    app.clock.advance(60);
    for over in [short, minted, made_of_it] {
        over.get(SELF).await.refuses(401, "invalid_credential");
    }
    // By session, and by a token without an end, as asked.
    let (_, forever) = makes_token(&ana, json!({ "name": "forever" })).await;
    makes_token(&forever, json!({ "name": "forever too", "expires_at": -1 })).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn access_tokens_that_ended_are_cleared_away(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben) = (app.user("ana").await, app.user("ben").await);
    let dead = "insert into access_tokens (user_id, name, digest, created_time, expires_at) \
                select $1, 'dead', sha256(convert_to($1::text || n::text, 'UTF8')), 1, 1000000000 \
                from generate_series(1, 500) n";
    for user in [&ana, &ben] {
        sqlx::query(dead).bind(user.id).execute(&app.pool).await.unwrap();
    }
    makes_token(&ana, json!({ "name": "live" })).await;
    let list = ana.get(TOKENS).await.ok();
    assert_eq!((list.as_array().unwrap().len(), &list[0]["name"]), (1, &json!("live")));
    let of_ben = "select count(*) from access_tokens where user_id = $1";
    let left: i64 = sqlx::query_scalar(of_ben).bind(ben.id).fetch_one(&app.pool).await.unwrap();
    assert_eq!(left, 500, "those of others are for the job");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_access_token_needs_a_name_and_there_are_100_at_most(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    for body in [json!({}), json!({ "name": " " })] {
        ana.post(TOKENS, body).await.refuses_saying(400, "missing_field", "`name` is required");
    }
    let label = "`name` must have at most 100 characters, without control or invisible characters";
    ana.post(TOKENS, json!({ "name": "x".repeat(101) })).await.refuses_saying(400, "invalid_text", label);
    for n in 0..100 {
        makes_token(&ana, json!({ "name": format!("token {n}") })).await;
    }
    let full = "you have 100 access tokens, which is the limit; revoke one first";
    ana.post(TOKENS, json!({ "name": "one more" })).await.refuses_saying(409, "access_token_limit_reached", full);
    ana.get("/api/user/token").await.refuses_saying(409, "access_token_limit_reached", full);
    let newest = ana.get(TOKENS).await.ok()[0]["id"].clone();
    ana.delete(&format!("{TOKENS}/{newest}")).await.ok();
    makes_token(&ana, json!({ "name": "one more" })).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn groups_and_models_are_those_of_the_settings(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_MODELS__NAMES", "gpt-4o, o1")]).await;
    let ana = app.user("ana").await;
    assert_eq!(ana.get("/api/user/self/groups").await.ok(), json!({ "default": { "desc": "Default", "ratio": 1 } }));
    for path in ["/api/user/models", "/api/user/self/models"] {
        assert_eq!(ana.get(path).await.ok(), json!(["gpt-4o", "o1"]));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_status_says_what_the_service_is_and_what_is_open(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_ACCOUNTS__CONTACT", "keys@example.org")]).await;
    let expected = json!({
        "name": "keymeter", "version": env!("CARGO_PKG_VERSION"), "quota_per_unit": 500_000,
        "registration": false, "token_api": "by_request", "contact": "keys@example.org", "time_zone": "UTC",
    });
    let status = app.stranger().get("/api/status").await.ok();
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&status[field], value, "{field}");
    }
}
