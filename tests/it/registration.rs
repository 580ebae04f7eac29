//! Registration: users create their own accounts.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Answer, TestApp};

const SELF: &str = "/api/user/self";

async fn register(app: &TestApp, account: Value) -> Answer {
    app.stranger().post("/api/user/register", account).await
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn registration_is_closed_unless_the_operator_opens_it(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let answer = register(&app, json!({ "username": "ana", "password": "ana's password" })).await;
    let message = "registration is closed; ask your administrator for an account";
    answer.refuses_saying(403, "registration_closed", message);
    assert_eq!(app.stranger().get("/api/status").await.ok()["registration"], false);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn with_open_registration_anyone_registers_and_is_not_enabled(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_ACCOUNTS__REGISTRATION", "open")]).await;
    assert_eq!(app.stranger().get("/api/status").await.ok()["registration"], true);
    let account = json!({ "username": "Ana", "password": "ana's password", "email": "ana@example.org", "role": 100 });
    let answer = register(&app, account).await;
    assert_eq!(answer.json(), json!({ "success": true, "message": "" }));
    let ana = app.signs_in("Ana", "ana's password").await;
    let me = ana.get(SELF).await.ok();
    assert_eq!((&me["role"], &me["email"], &me["quota"]), (&json!(1), &json!("ana@example.org"), &json!(0)));
    ana.get("/api/token/").await.refuses(403, "token_api_not_enabled");
    for taken in ["Ana", "ana", " ANA "] {
        let answer = register(&app, json!({ "username": taken, "password": "12345678" })).await;
        answer.refuses_saying(409, "username_taken", "this username is taken");
    }
    let username = "`username` must have 1 to 50 characters, without white space";
    for bad in [json!(null), json!(""), json!("a b"), json!("x".repeat(51))] {
        let answer = register(&app, json!({ "username": bad, "password": "12345678" })).await;
        answer.refuses_saying(400, "invalid_username", username);
    }
    let length = "the password must have 8 to 128 characters";
    let short = register(&app, json!({ "username": "ben", "password": "1234567" })).await;
    short.refuses_saying(400, "invalid_password", length);
    register(&app, json!({ "username": "ben" })).await.refuses_saying(400, "invalid_password", length);
    let answer = register(&app, json!({ "username": "ben", "password": "12345678", "email": "ben" })).await;
    answer.refuses_saying(400, "invalid_email", "`email` is not an e-mail address");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn registrations_are_limited(pool: PgPool) {
    let settings = [("KEYMETER_ACCOUNTS__REGISTRATION", "open"), ("KEYMETER_LIMITS__REGISTER_PER_MINUTE", "2")];
    let app = TestApp::with(pool, &settings).await;
    for name in ["ana", "ben"] {
        register(&app, json!({ "username": name, "password": "12345678" })).await.ok();
    }
    let answer = register(&app, json!({ "username": "carla", "password": "12345678" })).await;
    answer.refuses_saying(429, "rate_limited", "too many requests; try again in 30 s");
    app.clock.advance(30);
    register(&app, json!({ "username": "carla", "password": "12345678" })).await.ok();
}
