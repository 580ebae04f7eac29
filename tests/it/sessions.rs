//! Specification §13.5: a user's own sessions, activity, and the last use of access tokens.

use http::Method;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Caller, START, TestApp};

const SESSIONS: &str = "/api/user/sessions";
const ACTIVITY: &str = "/api/user/activity";
const DAY: i64 = 86_400;

/// Signs in again, with a browser's `User-Agent`, through a trusted proxy.
async fn signs_in_from(app: &TestApp, who: &Caller, ip: &str, user_agent: &str) {
    let stranger = app.stranger();
    let mut request = stranger.request(Method::POST, "/api/user/login");
    let body = json!({ "username": who.username, "password": format!("{}'s password", who.username) });
    *request.body_mut() = axum::body::Body::from(body.to_string());
    request.headers_mut().insert("x-forwarded-for", ip.parse().unwrap());
    request.headers_mut().insert("user-agent", user_agent.parse().unwrap());
    let peer: std::net::SocketAddr = "192.0.2.1:4711".parse().unwrap();
    request.extensions_mut().insert(axum::extract::ConnectInfo(peer));
    stranger.send(request).await.ok();
}

async fn listed(who: &Caller) -> Vec<Value> {
    who.get(SESSIONS).await.ok().as_array().unwrap().clone()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_user_sees_where_they_are_signed_in(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_SERVER__TRUSTED_PROXIES", "192.0.2.0/24")]).await;
    let (ana, _ben) = (app.user("ana").await, app.user("ben").await);
    app.clock.advance(10);
    signs_in_from(&app, &ana, "203.0.113.9", &"Mozilla/5.0 ".repeat(40)).await;
    app.clock.advance(10);
    let answer = ana.get(SESSIONS).await;
    let sessions = answer.ok();
    let expected = json!([
        {
            "id": sessions[0]["id"], "created_time": START, "last_seen_time": START + 20,
            "expires_at": sessions[0]["expires_at"], "ip": "", "user_agent": "", "current": true,
        },
        {
            "id": sessions[1]["id"], "created_time": START + 10, "last_seen_time": START + 10,
            "expires_at": sessions[1]["expires_at"], "ip": "203.0.113.9",
            "user_agent": "Mozilla/5.0 ".repeat(25), "current": false,
        },
    ]);
    assert_eq!(sessions, expected);
    for session in sessions.as_array().unwrap() {
        let ends = session["expires_at"].as_i64().unwrap();
        assert!((START + 30 * DAY..=START + 30 * DAY + 60).contains(&ends), "{session}");
    }
    // Neither the secret in the cookie nor its digest.
    let secret = ana.secret().strip_prefix("session=").unwrap();
    assert!(!answer.text.contains(secret));
    let digests: Vec<String> =
        sqlx::query_scalar("select encode(digest, 'hex') from sessions").fetch_all(&app.pool).await.unwrap();
    assert!(digests.len() > 2 && digests.iter().all(|digest| !answer.text.contains(digest)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_last_use_of_a_session_is_recorded_at_most_once_a_minute(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    let last_seen = async || listed(&ana).await[0]["last_seen_time"].clone();
    assert_eq!(last_seen().await, START);
    app.clock.advance(59);
    assert_eq!(last_seen().await, START);
    app.clock.advance(1);
    assert_eq!(last_seen().await, START + 60);
    // The same session at another server.
    let other = app.server_ahead(30);
    ana.at(&other).get("/api/user/self").await.ok();
    assert_eq!(last_seen().await, START + 60);
    let other = app.server_ahead(70);
    ana.at(&other).get("/api/user/self").await.ok();
    assert_eq!(last_seen().await, START + 130);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_session_can_be_ended_and_is_not_signed_in_from_then_on(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben) = (app.user("ana").await, app.user("ben").await);
    let elsewhere = app.signs_in("ana", "ana's password").await;
    let sessions = listed(&ana).await;
    let id = &sessions.iter().find(|session| session["current"] == false).unwrap()["id"];
    let path = format!("{SESSIONS}/{id}");
    ben.delete(&path).await.refuses_saying(404, "not_found", "there is no such session");
    elsewhere.get("/api/user/self").await.ok();
    ana.delete(&path).await.ok();
    elsewhere.get("/api/user/self").await.refuses(401, "not_signed_in");
    ana.delete(&path).await.refuses_saying(404, "not_found", "there is no such session");
    ana.delete(&format!("{SESSIONS}/x")).await.refuses_saying(
        400,
        "invalid_id",
        "the id in the path must be a whole number",
    );
    let left = listed(&ana).await;
    assert_eq!(left.len(), 1);
    ana.delete(&format!("{SESSIONS}/{}", left[0]["id"])).await.ok();
    ana.get(SESSIONS).await.refuses(401, "not_signed_in");
    ben.get("/api/user/self").await.ok();
    let lines = app.root().await.get("/api/admin/audit?action=user.session_ended").await.ok();
    assert_eq!((&lines["total"], &lines["items"][1]["details"]), (&json!(2), &json!({ "session": id.to_string() })));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn all_other_sessions_can_be_ended_at_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben) = (app.user("ana").await, app.user("ben").await);
    let others = [app.signs_in("ana", "ana's password").await, app.signs_in("ana", "ana's password").await];
    assert_eq!(ana.delete(SESSIONS).await.ok(), 2);
    for other in &others {
        other.get("/api/user/self").await.refuses(401, "not_signed_in");
    }
    assert_eq!(ana.delete(SESSIONS).await.ok(), 0);
    assert_eq!(listed(&ana).await.len(), 1);
    ben.get("/api/user/self").await.ok();
    // An access token is no session: none is the current one.
    let program = ana.by_access_token().await;
    assert_eq!(listed(&program).await[0]["current"], false);
    assert_eq!(program.delete(SESSIONS).await.ok(), 1);
    ana.get("/api/user/self").await.refuses(401, "not_signed_in");
    program.get("/api/user/self").await.ok();
    let lines = app.root().await.page("/api/admin/audit?action=user.session_ended", "details").await;
    assert_eq!(lines, (vec![json!({ "sessions": "1" }), json!({ "sessions": "2" })], 2));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn sessions_that_ended_by_themselves_are_not_listed(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    app.clock.advance(29 * DAY);
    let later = app.signs_in("ana", "ana's password").await;
    assert_eq!(listed(&later).await.len(), 2);
    app.clock.advance(2 * DAY);
    assert_eq!(listed(&later).await.len(), 1);
    ana.get(SESSIONS).await.refuses(401, "not_signed_in");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_last_use_of_an_access_token_is_listed(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    let program = ana.by_access_token().await;
    let unused = ana.by_access_token().await;
    let last_used = async || {
        let list = ana.get("/api/user/access_tokens").await.ok();
        assert_eq!(list[0]["last_used_time"], json!(null), "the other was never used");
        list[1]["last_used_time"].clone()
    };
    assert_eq!(last_used().await, json!(null));
    program.get("/api/user/self").await.ok();
    assert_eq!(last_used().await, START);
    app.clock.advance(59);
    program.get("/api/user/self").await.ok();
    assert_eq!(last_used().await, START);
    app.clock.advance(1);
    program.get("/api/user/self").await.ok();
    assert_eq!(last_used().await, START + 60);
    drop(unused);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn users_see_what_happened_to_their_account_without_the_addresses_of_others(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_SERVER__TRUSTED_PROXIES", "192.0.2.0/24")]).await;
    let (admin, ana, ben) = (app.admin("carla").await, app.enabled_user("ana").await, app.enabled_user("ben").await);
    let token = ana.creates(json!({ "name": "one" })).await;
    ben.creates(json!({ "name": "ben's" })).await;
    let from = |who: &Caller, method: Method, path: &str, body: Value| {
        let mut request = who.request(method, path);
        *request.body_mut() = axum::body::Body::from(body.to_string());
        request.headers_mut().insert("x-forwarded-for", "203.0.113.9".parse().unwrap());
        let peer: std::net::SocketAddr = "192.0.2.1:4711".parse().unwrap();
        request.extensions_mut().insert(axum::extract::ConnectInfo(peer));
        request
    };
    let status = format!("/api/admin/tokens/{token}/status");
    admin.send(from(&admin, Method::POST, &status, json!({ "status": 2 }))).await.ok();
    ana.send(from(&ana, Method::PUT, "/api/token/", json!({ "id": token, "name": "renamed" }))).await.ok();
    let stranger = app.stranger();
    let wrong = json!({ "username": "ana", "password": "a wrong password" });
    stranger.send(from(&stranger, Method::POST, "/api/user/login", wrong)).await.refuses(401, "wrong_credentials");
    let page = ana.get(&format!("{ACTIVITY}?size=3")).await.ok();
    assert_eq!(page["total"], 6, "{page}");
    let line = |n: usize, actor: &Caller, action: &str, kind: &str, ip: &str, details: Value| {
        let actor_id = if actor.id == 0 { Value::Null } else { json!(actor.id) };
        let (subject, name) = if kind == "token" { (token, "renamed") } else { (ana.id, "ana") };
        json!({
            "id": page["items"][n]["id"], "at": START, "actor_id": actor_id, "actor_name": actor.username,
            "action": action, "subject_kind": kind, "subject_id": subject, "subject_name": name, "ip": ip,
            "details": details, "changes": page["items"][n]["changes"],
        })
    };
    let expected = [
        line(0, &stranger, "user.sign_in_failed", "user", "203.0.113.9", json!({})),
        line(1, &ana, "token.edited", "token", "203.0.113.9", json!({ "fields": "name" })),
        line(2, &admin, "token.disabled", "token", "", json!({})),
    ];
    assert_eq!(page["items"], json!(expected));
    let (actions, total) = ana.page(&format!("{ACTIVITY}?subject_kind=token&subject_id={token}"), "action").await;
    assert_eq!((actions.len(), total), (3, 3));
    assert_eq!(ana.page(&format!("{ACTIVITY}?action=token.created"), "subject_id").await, (vec![json!(token)], 1));
    assert_eq!(ana.page(&format!("{ACTIVITY}?from=2026-03-11"), "id").await.1, 0);
    assert_eq!(ana.page(&format!("{ACTIVITY}?to=2026-03-10&from=2026-03-10"), "id").await.1, 6);
    // Nobody chooses another account.
    assert_eq!(ana.page(&format!("{ACTIVITY}?user_id={}", ben.id), "id").await.1, 6);
    let date = "must be a date of the calendar written YYYY-MM-DD, such as 2026-01-05";
    for (query, code, message) in [
        ("from=2026-3-1", "invalid_range", format!("`from` {date}")),
        ("to=yesterday", "invalid_range", format!("`to` {date}")),
        ("from=2026-03-02&to=2026-03-01", "invalid_range", "`from` is after `to`".to_owned()),
        ("subject_id=x", "invalid_query", "`subject_id` must be a whole number".to_owned()),
        ("action=a%00b", "invalid_query", "`action` contains control characters".to_owned()),
    ] {
        ana.get(&format!("{ACTIVITY}?{query}")).await.refuses_saying(400, code, &message);
    }
}
