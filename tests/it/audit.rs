//! The audit log.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Caller, START, TestApp};

const USERS: &str = "/api/admin/users";
const REQUESTS: &str = "/api/admin/token_api_requests";
const GATEWAYS: &str = "/api/admin/gateways";
const TOKENS: &str = "/api/admin/tokens";
const AUDIT: &str = "/api/admin/audit";

/// The path of a user, for administrators.
fn of(user: &Caller) -> String {
    format!("{USERS}/{}", user.id)
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_audit_log_shows_who_did_what_to_which_token_and_from_where(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_SERVER__TRUSTED_PROXIES", "192.0.2.0/24")]).await;
    let (admin, ana) = (app.admin("carla").await, app.enabled_user("ana").await);
    let token = ana.creates(json!({ "name": "one" })).await;
    let mut reveal = ana.request(http::Method::GET, &format!("/api/token/{token}"));
    reveal.headers_mut().insert("x-request-id", "my-request-7".parse().unwrap());
    reveal.headers_mut().insert("x-forwarded-for", "198.51.100.66, 203.0.113.9".parse().unwrap());
    let peer: std::net::SocketAddr = "192.0.2.1:4711".parse().unwrap();
    reveal.extensions_mut().insert(axum::extract::ConnectInfo(peer));
    ana.send(reveal).await.ok();
    ana.put("/api/token/", json!({ "id": token, "name": "two" })).await.ok();
    admin.post(&format!("{TOKENS}/{token}/status"), json!({ "status": 2 })).await.ok();
    admin.post(&format!("{TOKENS}/{token}/status"), json!({ "status": 1 })).await.ok();
    ana.delete(&format!("/api/token/{token}")).await.ok();
    let of_token = format!("{AUDIT}?subject_kind=token&subject_id={token}");
    let actions =
        ["token.deleted", "token.enabled", "token.disabled", "token.edited", "token.key_revealed", "token.created"];
    assert_eq!(admin.page(&of_token, "action").await, (actions.map(Value::from).to_vec(), 6));
    let actors = ["ana", "carla", "carla", "ana", "ana", "ana"];
    assert_eq!(admin.page(&of_token, "actor_name").await.0, actors.map(Value::from).to_vec());
    let line = admin.get(&format!("{of_token}&action=token.key_revealed")).await.ok()["items"][0].clone();
    let expected = json!({
        "id": line["id"], "at": START, "actor_id": ana.id, "actor_name": "ana", "action": "token.key_revealed",
        "subject_kind": "token", "subject_id": token, "subject_name": "two", "user_id": ana.id, "user_name": "ana",
        "ip": "203.0.113.9",
        "request_id": "my-request-7", "details": {}, "changes": [],
    });
    assert_eq!(line, expected);
    let by_admin = admin.page(&format!("{of_token}&actor_id={}", admin.id), "action").await.0;
    assert_eq!(by_admin, ["token.enabled", "token.disabled"].map(Value::from));
    assert_eq!(admin.page(&format!("{AUDIT}?user_id={}&action=token.created", ana.id), "subject_id").await.1, 1);
    assert_eq!(admin.page(&format!("{AUDIT}?action=nothing"), "id").await.1, 0);
    for field in ["actor_id", "subject_id", "user_id"] {
        let answer = admin.get(&format!("{AUDIT}?{field}=x")).await;
        answer.refuses_saying(400, "invalid_query", &format!("`{field}` must be a whole number"));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_action_of_an_administrator_is_logged(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, ana) = (app.root().await, app.user("ana").await);
    let request = ana.post("/api/user/token_api_request", json!({ "reason": "x" })).await.ok();
    root.post(&format!("{REQUESTS}/{}", request["id"]), json!({ "decision": "refuse" })).await.ok();
    let request = ana.post("/api/user/token_api_request", json!({ "reason": "x" })).await.ok();
    root.post(&format!("{REQUESTS}/{}", request["id"]), json!({ "decision": "approve" })).await.ok();
    root.post(&format!("{}/quota", of(&ana)), json!({ "delta": 9, "note": " for May " })).await.ok();
    root.patch(&of(&ana), json!({ "status": 2 })).await.ok();
    let gateway = root.post(GATEWAYS, json!({ "name": "edge" })).await.ok()["id"].clone();
    root.delete(&format!("{GATEWAYS}/{gateway}")).await.ok();
    root.delete(&of(&ana)).await.ok();
    for action in [
        "user.created",
        "user.edited",
        "user.deleted",
        "user.quota_granted",
        "token_api.refused",
        "token_api.approved",
        "gateway.created",
        "gateway.revoked",
    ] {
        let path = format!("{AUDIT}?actor_id={}&action={action}", root.id);
        assert_eq!(root.page(&path, "id").await.1, 1, "{action}");
    }
    assert_eq!(root.page(&format!("{AUDIT}?action=token_api.requested"), "actor_id").await.0, [ana.id, ana.id]);
    let granted = root.get(&format!("{AUDIT}?action=user.quota_granted")).await.ok()["items"][0]["details"].clone();
    assert_eq!(granted, json!({ "from": "0", "to": "9", "note": "for May" }));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn lines_have_the_present_names_of_what_they_are_about(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, ana) = (app.root().await, app.enabled_user("ana").await);
    let token = ana.creates(json!({ "name": "one" })).await;
    ana.put("/api/token/", json!({ "id": token, "name": "renamed" })).await.ok();
    ana.delete(&format!("/api/token/{token}")).await.ok();
    ana.post("/api/user/access_tokens", json!({ "name": "laptop" })).await.ok();
    let gateway = root.post(GATEWAYS, json!({ "name": "edge" })).await.ok()["id"].clone();
    let names = async |action: &str| {
        let line = root.get(&format!("{AUDIT}?action={action}")).await.ok()["items"][0].clone();
        (line["subject_name"].clone(), line["user_name"].clone())
    };
    assert_eq!(names("token.created").await, (json!("renamed"), json!("ana")));
    assert_eq!(names("access_token.created").await, (json!("laptop"), json!("ana")));
    assert_eq!(names("gateway.created").await, (json!("edge"), json!(null)));
    assert_eq!(names("user.created").await, (json!("ana"), json!("ana")));
    root.delete(&format!("{GATEWAYS}/{gateway}")).await.ok();
    assert_eq!(names("gateway.created").await, (json!(null), json!(null)));
    let ben = app.user("ben").await;
    ben.post("/api/user/token_api_request", json!({ "reason": "x" })).await.ok();
    assert_eq!(names("token_api.requested").await, (json!("ben"), json!("ben")));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_audit_log_is_limited_to_days_of_the_time_zone(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_USAGE__TIME_ZONE", "Asia/Tokyo")]).await;
    let admin = app.admin("carla").await;
    let before = app.root().await.page(AUDIT, "id").await.1;
    // 12:00 UTC is 21:00 in Tokyo, so the next day begins three hours later.
    app.clock.advance(3 * 3_600 - 1);
    admin.post(USERS, json!({ "username": "today", "password": "a password" })).await.ok();
    app.clock.advance(1);
    admin.post(USERS, json!({ "username": "tomorrow", "password": "a password" })).await.ok();
    app.clock.advance(86_400);
    admin.post(USERS, json!({ "username": "later", "password": "a password" })).await.ok();
    let made = async |query: &str| {
        let (names, _) =
            admin.page(&format!("{AUDIT}?action=user.created&actor_id={}&{query}", admin.id), "subject_name").await;
        names.iter().map(|name| name.as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(made("").await, ["later", "tomorrow", "today"]);
    assert_eq!(made("to=2026-03-10").await, ["today"]);
    assert_eq!(made("from=2026-03-11").await, ["later", "tomorrow"]);
    assert_eq!(made("from=2026-03-11&to=2026-03-11").await, ["tomorrow"]);
    assert_eq!(made("from=2026-03-10&to=2026-03-12").await, ["later", "tomorrow", "today"]);
    assert_eq!(made("to=2026-03-09").await, [""; 0]);
    assert_eq!(made("from=2026-03-13").await, [""; 0]);
    assert_eq!(admin.page(&format!("{AUDIT}?to=2026-03-10&size=1"), "id").await.1, before + 1);
    let date = "must be a date of the calendar written YYYY-MM-DD, such as 2026-01-05";
    for (query, code, message) in [
        ("from=1", "invalid_range", format!("`from` {date}")),
        ("to=2026-02-30", "invalid_range", format!("`to` {date}")),
        ("from=2026-03-02&to=2026-03-01", "invalid_range", "`from` is after `to`".to_owned()),
        ("format=xml", "invalid_filter", "`format` must be `json` or `csv`".to_owned()),
    ] {
        admin.get(&format!("{AUDIT}?{query}")).await.refuses_saying(400, code, &message);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_audit_log_is_saved_as_csv_up_to_a_bound(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (admin, ana) = (app.admin("carla").await, app.enabled_user("ana").await);
    let token = ana.creates(json!({ "name": "=cmd|' /C calc'!A0" })).await;
    let mut edit = ana.request(http::Method::PUT, "/api/token/");
    *edit.body_mut() = axum::body::Body::from(json!({ "id": token, "note": "x", "group": "auto" }).to_string());
    edit.headers_mut().insert("x-request-id", "my-request-7".parse().unwrap());
    ana.send(edit).await.ok();
    let path = format!("{AUDIT}?subject_kind=token&format=csv");
    let answer = admin.get(&path).await;
    assert_eq!(answer.status, 200);
    assert_eq!(answer.header("content-type"), Some("text/csv; charset=utf-8"));
    assert_eq!(answer.header("content-disposition"), Some("attachment; filename=\"audit.csv\""));
    let id = admin.get(&format!("{AUDIT}?action=token.edited")).await.ok()["items"][0]["id"].clone();
    let lines: Vec<&str> = answer.text.split("\r\n").collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(
        lines[0],
        "id,at,actor_id,actor_name,action,subject_kind,subject_id,subject_name,user_id,user_name,ip,request_id,details,changes"
    );
    let ana_id = ana.id;
    let details = r#""{""fields"":""note,group""}""#;
    let changes =
        r#""[{""field"":""note"",""old"":"""",""new"":""x""},{""field"":""group"",""old"":"""",""new"":""auto""}]""#;
    let edited = format!(
        "{id},{START},{ana_id},ana,token.edited,token,{token},'=cmd|' /C calc'!A0,{ana_id},ana,,my-request-7,{details},{changes}"
    );
    assert_eq!(lines[1], edited);
    assert!(lines[2].contains("token.created") && lines[3].is_empty());
    let insert = "insert into audit_log (at, actor_name, action, subject_kind, ip, request_id, details) \
                  select $1, '', 'many', 'x', '', '', '{}' from generate_series(1, $2)";
    sqlx::query(insert).bind(START).bind(10_000).execute(&app.pool).await.unwrap();
    let all = admin.get(&format!("{AUDIT}?action=many&format=csv")).await;
    assert_eq!(all.text.matches("\r\n").count(), 10_001);
    sqlx::query(insert).bind(START).bind(1).execute(&app.pool).await.unwrap();
    let message = "more than 10000 entries match; ask for fewer days with `from` and `to`";
    admin.get(&format!("{AUDIT}?action=many&format=csv")).await.refuses_saying(400, "range_too_large", message);
    assert_eq!(admin.page(&format!("{AUDIT}?action=many"), "id").await.1, 10_001);
}

/// The changes of the last line with this action, each as `[field, old, new]` or `[field, added, removed, left out]`.
async fn changes(admin: &Caller, action: &str) -> Vec<Value> {
    let line = admin.get(&format!("{AUDIT}?action={action}")).await.ok()["items"][0].clone();
    let unfold = |change: &Value| {
        if change["added"] == json!([]) && change["removed"] == json!([]) && change["left_out"] == 0 {
            json!([change["field"], change["old"], change["new"]])
        } else {
            assert_eq!((&change["old"], &change["new"]), (&Value::Null, &Value::Null));
            json!([change["field"], change["added"], change["removed"], change["left_out"]])
        }
    };
    line["changes"].as_array().unwrap().iter().map(unfold).collect()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_edit_is_logged_with_the_values_before_and_after(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, ana) = (app.root().await, app.enabled_user("ana").await);
    let key = json!({ "name": "one", "remain_quota": 500, "model_limits": "o1,o2", "allow_ips": "10.0.0.1" });
    let id = ana.creates(key).await;
    let edit = json!({
        "id": id, "name": "one", "remain_quota": 900, "period_limits": { "day": 50 }, "model_limits": "o2,o3",
        "allow_ips": "", "expired_time": START + 60,
    });
    ana.put("/api/token/", edit).await.ok();
    let expected = [
        json!(["expired_time", "-1", (START + 60).to_string()]),
        json!(["remain_quota", "500", "900"]),
        json!(["period_limits.day", null, "50"]),
        json!(["model_limits", ["o3"], ["o1"], 0]),
        json!(["allow_ips", [], ["10.0.0.1"], 0]),
    ];
    assert_eq!(changes(&root, "token.edited").await, expected);
    let own = ana.get("/api/user/activity?action=token.edited").await.ok()["items"][0]["changes"].clone();
    assert_eq!(own.as_array().unwrap().len(), expected.len());

    let models: Vec<String> = (0..1_000).map(|n| format!("model-{n:04}")).collect();
    ana.put("/api/token/", json!({ "id": id, "model_limits": models.join(",") })).await.ok();
    let long = changes(&root, "token.edited").await;
    let lengths = [1, 2].map(|n| long[0][n].as_array().unwrap().len());
    assert_eq!(lengths, [2_048 / 10, 2]);
    assert_eq!(long[0][3], 1_000 - 2_048 / 10, "the rest is counted");

    let edit = json!({ "role": 10, "display_name": "Ana", "max_tokens": 7, "period_limits": { "month": 9 },
                       "password": "a new password" });
    root.patch(&of(&ana), edit).await.ok();
    let expected = [
        json!(["display_name", "ana", "Ana"]),
        json!(["role", "1", "10"]),
        json!(["max_tokens", null, "7"]),
        json!(["period_limits.month", null, "9"]),
        json!(["password", null, null]),
    ];
    assert_eq!(changes(&root, "user.edited").await, expected);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_starting_balance_is_a_line_of_the_wallets_history(pool: PgPool) {
    let settings = [("KEYMETER_ACCOUNTS__INITIAL_QUOTA", "70"), ("KEYMETER_ACCOUNTS__REGISTRATION", "open")];
    let app = TestApp::with(pool, &settings).await;
    let root = app.root().await;
    root.post(USERS, json!({ "username": "ben", "password": "a password", "quota": 500 })).await.ok();
    root.post(USERS, json!({ "username": "empty", "password": "a password", "quota": 0 })).await.ok();
    let registered = json!({ "username": "zoe", "password": "a password" });
    app.stranger().post("/api/user/register", registered).await.ok();
    let (lines, _) = root.page(&format!("{AUDIT}?action=user.quota_granted"), "details").await;
    assert_eq!(lines, [json!({ "from": "0", "to": "70" }), json!({ "from": "0", "to": "500" })]);
}
