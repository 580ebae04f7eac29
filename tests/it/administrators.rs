//! Administrators who change each other, or who lose their rights while a change of theirs waits.

use futures_util::future::join;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Caller, TestApp};

const USERS: &str = "/api/admin/users";

fn of(user: &Caller) -> String {
    format!("{USERS}/{}", user.id)
}

async fn live_roots(app: &TestApp) -> i64 {
    let roots = "select count(*) from users where role = 100 and status = 1 and deleted_time is null";
    sqlx::query_scalar(roots).fetch_one(&app.pool).await.unwrap()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn of_two_roots_who_remove_each_other_one_remains(pool: PgPool) {
    let app = TestApp::new(pool).await;
    for round in 0..9 {
        let root = app.root().await;
        let other = app.makes(json!({ "username": format!("root{round}"), "role": 100 })).await;
        let (first, second) = match round % 3 {
            0 => {
                let body = json!({ "role": 1 });
                join(root.patch(&of(&other), body.clone()), other.patch(&of(&root), body)).await
            }
            1 => {
                let body = json!({ "status": 2 });
                join(root.patch(&of(&other), body.clone()), other.patch(&of(&root), body)).await
            }
            _ => join(root.delete(&of(&other)), other.delete(&of(&root))).await,
        };
        let statuses = [first.status.as_u16(), second.status.as_u16()];
        assert_eq!(statuses.iter().filter(|status| **status == 200).count(), 1, "{} {}", first.text, second.text);
        assert_eq!(live_roots(&app).await, 1);
        let restore = "update users set role = 100, status = 1, disabled_by = null, deleted_time = null where id = $1";
        sqlx::query(restore).bind(root.id).execute(&app.pool).await.unwrap();
        sqlx::query("update users set deleted_time = 1 where id = $1").bind(other.id).execute(&app.pool).await.unwrap();
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_change_that_waited_is_refused_if_its_administrator_was_disabled_meanwhile(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, root) = (app.enabled_user("ana").await, app.root().await);
    let (token, _) = ana.creates_with_key(json!({ "name": "one" })).await;
    let made = root.post("/api/admin/gateways", json!({ "name": "edge" })).await.ok();
    let gateway = format!("/api/admin/gateways/{}", made["gateway"]["id"].as_i64().or(made["id"].as_i64()).unwrap());
    let waiting = app.user("waiting").await;
    let request = waiting.post("/api/user/token_api_request", json!({ "reason": "please" })).await;
    let request = request.ok()["id"].clone();
    let before = snapshot(&app).await;
    let disabled = ("status = 2, disabled_by = 100", 403, "user_disabled");
    let demoted = ("role = 1", 403, "not_an_administrator");
    let deleted = ("deleted_time = 1", 401, "invalid_credential");
    for (change, status, code) in [disabled, demoted, deleted] {
        let requests: [(&str, String, Value); 9] = [
            ("PATCH", of(&ana), json!({ "group": "default", "display_name": "changed" })),
            ("POST", format!("{}/quota", of(&ana)), json!({ "set": 77 })),
            ("DELETE", of(&ana), Value::Null),
            ("POST", USERS.to_owned(), json!({ "username": "new", "password": "a password" })),
            ("POST", "/api/admin/gateways".to_owned(), json!({ "name": "new" })),
            ("DELETE", gateway.clone(), Value::Null),
            ("POST", format!("{gateway}/credentials"), Value::Null),
            ("POST", format!("/api/admin/token_api_requests/{request}"), json!({ "decision": "approve" })),
            ("POST", format!("/api/admin/tokens/{token}/status"), json!({ "status": 2 })),
        ];
        for (nth, (method, path, body)) in requests.into_iter().enumerate() {
            let name = format!("admin{nth}{status}{}", code.len());
            let admin = app.admin(&name).await;
            let mut holder = app.pool.begin().await.unwrap();
            let sql = sqlx::AssertSqlSafe(format!("update users set {change} where id = $1"));
            sqlx::query(sql).bind(admin.id).execute(&mut *holder).await.unwrap();
            let sent = async {
                match method {
                    "PATCH" => admin.patch(&path, body).await,
                    "DELETE" => admin.delete(&path).await,
                    _ => admin.post(&path, body).await,
                }
            };
            let commit = async {
                tokio::time::sleep(std::time::Duration::from_millis(150)).await;
                holder.commit().await.unwrap();
            };
            let (answer, ()) = join(sent, commit).await;
            assert_eq!(
                (answer.status.as_u16(), answer.error_code()),
                (status, Some(code)),
                "{method} {path}: {}",
                answer.text
            );
        }
    }
    assert_eq!(snapshot(&app).await, before);
}

/// What the refused requests would have changed.
async fn snapshot(app: &TestApp) -> String {
    let sql = "select (select string_agg(concat(id, display_name, quota, deleted_time, token_api_enabled), ',' order by id) \
               from users where username in ('ana', 'waiting', 'new')) || \
               (select string_agg(concat(id, name, switched_off_by), ',' order by id) from tokens) || \
               (select count(*) from gateways) || (select count(*) from gateway_credentials) || \
               (select string_agg(state, ',') from enablement_requests)";
    sqlx::query_scalar(sql).fetch_one(&app.pool).await.unwrap()
}
