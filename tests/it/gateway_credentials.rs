//! Credentials of gateways. Request ids and reservations belong to the gateway, not to one of its credentials.

use futures_util::future::join_all;
use http::Method;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Answer, Caller, START, TestApp};

const GATEWAYS: &str = "/api/admin/gateways";
const NO_GATEWAY: &str = "there is no such gateway";
const NO_CREDENTIAL: &str = "there is no such credential";
const NO_RESERVATION: &str = "reservation not found";
const NOT_A_GATEWAY: &str = "a gateway credential is required; an administrator can create one";

/// Creates a gateway. Returns its path, and a caller with its first credential.
async fn gateway(app: &TestApp, name: &str) -> (String, Caller) {
    let made = app.root().await.post(GATEWAYS, json!({ "name": name })).await.ok();
    (format!("{GATEWAYS}/{}", made["id"]), caller_with(app, &made))
}

/// Adds a credential to a gateway. Returns the path of the credential, and a caller with it.
async fn add_credential(app: &TestApp, gateway: &str) -> (String, Caller) {
    let made = app.root().await.post(&format!("{gateway}/credentials"), json!({})).await.ok();
    (format!("{gateway}/credentials/{}", made["id"]), caller_with(app, &made))
}

fn caller_with(app: &TestApp, made: &Value) -> Caller {
    app.stranger().with_access_token(made["credential"].as_str().unwrap())
}

/// The path of a gateway's first credential.
async fn first_credential(app: &TestApp, gateway: &str) -> String {
    let credentials = show_gateway(app, gateway).await["credentials"].clone();
    format!("{gateway}/credentials/{}", credentials.as_array().unwrap().last().unwrap()["id"])
}

/// A gateway as the list shows it.
async fn show_gateway(app: &TestApp, gateway: &str) -> Value {
    let all = app.root().await.get(GATEWAYS).await.ok();
    let named = |one: &&Value| format!("{GATEWAYS}/{}", one["id"]) == gateway;
    all.as_array().unwrap().iter().find(named).unwrap().clone()
}

/// Creates a user with a wallet and a key.
async fn key(app: &TestApp) -> (Caller, String) {
    let ana = app.enabled_user("ana").await;
    app.fills(&ana, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 1_000 })).await;
    (ana, key)
}

async fn used(app: &TestApp, key: &str) -> Value {
    app.holder_of(key).get("/api/usage/token/").await.ok()["total_used"].clone()
}

async fn charge(gateway: &Caller, key: &str, request_id: &str) -> Answer {
    gateway.post("/api/gateway/charge", json!({ "key": key, "quota": 40, "request_id": request_id })).await
}

async fn reserve(gateway: &Caller, key: &str) -> Value {
    gateway.post("/api/gateway/reserve", json!({ "key": key, "quota": 100 })).await.ok()["reservation_id"].clone()
}

async fn settle(gateway: &Caller, reservation: &Value, quota: i64) -> Answer {
    gateway.post("/api/gateway/settle", json!({ "reservation_id": reservation, "quota": quota })).await
}

async fn release(gateway: &Caller, reservation: &Value) -> Answer {
    gateway.post("/api/gateway/release", json!({ "reservation_id": reservation })).await
}

/// Returns true if the credential is accepted, and false if it is refused.
async fn is_accepted(gateway: &Caller) -> bool {
    let answer = gateway.post("/api/gateway/verify", json!({ "key": "sk-none" })).await;
    if answer.status == 200 {
        return true;
    }
    answer.refuses_saying(401, "invalid_gateway", NOT_A_GATEWAY);
    false
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_retry_with_another_credential_of_the_gateway_charges_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (_, key) = key(&app).await;
    let (edge, first) = gateway(&app, "edge").await;
    let charged = charge(&first, &key, "r1").await.ok();
    let held = reserve(&first, &key).await;
    let (_, second) = add_credential(&app, &edge).await;
    assert_eq!(charge(&second, &key, "r1").await.ok(), charged);
    app.root().await.delete(&first_credential(&app, &edge).await).await.ok();
    assert!(!is_accepted(&first).await);
    assert_eq!(charge(&second, &key, "r1").await.ok(), charged);
    assert_eq!(used(&app, &key).await, 140, "charged 40 once, and 100 are held");
    assert_eq!(settle(&second, &held, 60).await.ok()["charged"], 60);
    assert_eq!(used(&app, &key).await, 100);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn only_the_gateway_that_reserved_ends_the_reservation(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (_, key) = key(&app).await;
    let (edge, first) = gateway(&app, "edge").await;
    let (_, other) = gateway(&app, "other").await;
    let assert_other_finds_none = async |held: &Value| {
        for quota in [0, 60, 100] {
            settle(&other, held, quota).await.refuses_saying(404, "reservation_not_found", NO_RESERVATION);
        }
        release(&other, held).await.refuses_saying(404, "reservation_not_found", NO_RESERVATION);
    };
    let [settled, released, expired, orphan] = [
        reserve(&first, &key).await,
        reserve(&first, &key).await,
        reserve(&first, &key).await,
        reserve(&first, &key).await,
    ];
    for held in [&settled, &released, &expired] {
        assert_other_finds_none(held).await;
    }
    assert_eq!(used(&app, &key).await, 400, "nothing was charged or given back");
    settle(&first, &settled, 60).await.ok();
    release(&first, &released).await.ok();
    assert_other_finds_none(&settled).await;
    assert_other_finds_none(&released).await;
    assert_eq!(used(&app, &key).await, 260);
    app.clock.advance(600);
    app.expire_overdue().await;
    assert_eq!(used(&app, &key).await, 60, "the job ends the reservations of all gateways");
    assert_other_finds_none(&expired).await;
    assert_eq!(settle(&first, &expired, 10).await.ok()["expired"], true);
    app.root().await.delete(&edge).await.ok();
    assert_other_finds_none(&orphan).await;
    assert_eq!(used(&app, &key).await, 70);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn deleting_a_gateway_revokes_its_credentials_and_keeps_its_charges_and_reservations(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (_, key) = key(&app).await;
    let (edge, first) = gateway(&app, "edge").await;
    let (credential, second) = add_credential(&app, &edge).await;
    charge(&first, &key, "r1").await.ok();
    reserve(&second, &key).await;
    let root = app.root().await;
    root.delete(&edge).await.ok();
    assert!(!is_accepted(&first).await && !is_accepted(&second).await);
    assert_eq!(root.get(GATEWAYS).await.ok(), json!([]));
    root.delete(&edge).await.refuses_saying(404, "not_found", NO_GATEWAY);
    root.delete(&credential).await.refuses_saying(404, "not_found", NO_CREDENTIAL);
    root.post(&format!("{edge}/credentials"), json!({})).await.refuses_saying(404, "not_found", NO_GATEWAY);
    let (again, new) = gateway(&app, "edge").await;
    assert_ne!(again, edge, "the id of a gateway is never reused");
    charge(&new, &key, "r1").await.ok();
    assert_eq!(used(&app, &key).await, 180, "each gateway has its own request ids");
    let gateways: Vec<i64> =
        sqlx::query_scalar("select gateway_id from charges order by id").fetch_all(&app.pool).await.unwrap();
    assert_eq!([&edge, &again], [&format!("{GATEWAYS}/{}", gateways[0]), &format!("{GATEWAYS}/{}", gateways[1])]);
    app.clock.advance(600);
    app.expire_overdue().await;
    assert_eq!(used(&app, &key).await, 80, "its reservation has expired");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_credential_is_shown_once_and_revoked_alone(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let admin = app.admin("carla").await;
    let first = admin.post(GATEWAYS, json!({ "name": "edge" })).await.ok();
    let edge = format!("{GATEWAYS}/{}", first["id"]);
    app.clock.advance(5);
    let made = admin.post(&format!("{edge}/credentials"), json!({})).await;
    assert_eq!(made.header("cache-control"), Some("no-store"));
    let made = made.ok();
    let secrets = [&first, &made].map(|one| one["credential"].as_str().unwrap().to_owned());
    let hint = |secret: &str| secret[secret.len() - 4..].to_owned();
    let credential = |id: &Value, secret: &str, at: i64| {
        json!({
            "id": id, "hint": hint(secret), "created_time": at, "created_by": admin.id, "last_used_time": null,
        })
    };
    let old = credential(&first["credentials"][0]["id"], &secrets[0], START);
    let mut new = credential(&made["id"], &secrets[1], START + 5);
    assert_eq!(first["credentials"], json!([old]));
    new["credential"] = json!(secrets[1]);
    assert_eq!(made, new);
    new.as_object_mut().unwrap().remove("credential");
    let list = admin.get(GATEWAYS).await;
    assert!(secrets.iter().all(|secret| !list.text.contains(secret.as_str())), "{}", list.text);
    let expected = json!({
        "id": first["id"], "name": "edge", "created_time": START, "created_by": admin.id, "credentials": [new, old],
    });
    assert_eq!(list.ok(), json!([expected]));

    let [old_holder, new_holder] = secrets.map(|secret| app.stranger().with_access_token(&secret));
    assert!(is_accepted(&old_holder).await && is_accepted(&new_holder).await);
    let path = format!("{edge}/credentials/{}", old["id"]);
    let (other, _) = gateway(&app, "elsewhere").await;
    let foreign = format!("{other}/credentials/{}", old["id"]);
    admin.delete(&foreign).await.refuses_saying(404, "not_found", NO_CREDENTIAL);
    assert_eq!(admin.delete(&path).await.json(), json!({ "success": true, "message": "" }));
    assert!(!is_accepted(&old_holder).await && is_accepted(&new_holder).await);
    admin.delete(&path).await.refuses_saying(404, "not_found", NO_CREDENTIAL);
    admin.delete(&format!("{edge}/credentials/{}", made["id"])).await.ok();
    assert!(!is_accepted(&new_holder).await);
    assert_eq!(show_gateway(&app, &edge).await["credentials"], json!([]), "a gateway may have none");
    let (_, third) = add_credential(&app, &edge).await;
    assert!(is_accepted(&third).await);
    for absent in ["999999", "0", "-1"] {
        let answer = admin.post(&format!("{GATEWAYS}/{absent}/credentials"), json!({})).await;
        answer.refuses_saying(404, "not_found", NO_GATEWAY);
    }
    for (path, method) in [("x/credentials", Method::POST), ("1/credentials/x", Method::DELETE)] {
        let answer = admin.send(admin.request(method, &format!("{GATEWAYS}/{path}"))).await;
        answer.refuses_saying(400, "invalid_id", "the id in the path must be a whole number");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_gateway_has_at_most_ten_credentials_also_if_they_are_created_in_parallel(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let root = app.root().await;
    let (edge, _) = gateway(&app, "edge").await;
    let path = format!("{edge}/credentials");
    let answers = join_all((0..20).map(|_| root.post(&path, json!({})))).await;
    let (made, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert_eq!((made.len(), refused.len()), (9, 11));
    let message = "a gateway has at most 10 credentials; revoke one that is no longer used";
    for answer in refused {
        answer.refuses_saying(409, "credential_limit_reached", message);
    }
    root.delete(&format!("{path}/{}", made[0].ok()["id"])).await.ok();
    root.post(&path, json!({})).await.ok();
    root.post(&path, json!({})).await.refuses(409, "credential_limit_reached");
    let (_, other) = gateway(&app, "other").await;
    assert!(is_accepted(&other).await, "the limit is per gateway");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn another_server_refuses_a_revoked_credential_within_two_seconds(pool: PgPool) {
    let (app, other) = (TestApp::new(pool.clone()).await, TestApp::new(pool).await);
    let (edge, here) = gateway(&app, "edge").await;
    let there = other.stranger().with_access_token(here.secret());
    assert!(is_accepted(&here).await && is_accepted(&there).await);
    let credential = first_credential(&app, &edge).await;
    app.root().await.delete(&credential).await.ok();
    assert!(!is_accepted(&here).await);
    other.clock.advance(2);
    assert!(!is_accepted(&there).await);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_last_use_of_a_credential_is_stored_once_a_minute(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (edge, first) = gateway(&app, "edge").await;
    add_credential(&app, &edge).await;
    let last_used = async || {
        let credentials = show_gateway(&app, &edge).await["credentials"].clone();
        assert_eq!(credentials[0]["last_used_time"], json!(null), "the other was never used");
        credentials[1]["last_used_time"].clone()
    };
    assert_eq!(last_used().await, json!(null));
    assert!(is_accepted(&first).await);
    assert_eq!(last_used().await, START);
    app.clock.advance(59);
    assert!(is_accepted(&first).await);
    assert_eq!(last_used().await, START);
    app.clock.advance(1);
    let mut forward_auth = app.stranger().request(Method::GET, "/api/gateway/auth");
    forward_auth.headers_mut().insert("x-gateway-credential", first.secret().parse().unwrap());
    forward_auth.headers_mut().insert("authorization", "Bearer sk-none".parse().unwrap());
    app.stranger().send(forward_auth).await.refuses(401, "invalid_key");
    assert_eq!(last_used().await, START + 60);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_gateway_works_if_its_last_use_cannot_be_written(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (edge, first) = gateway(&app, "edge").await;
    let mut tx = app.pool.begin().await.unwrap();
    sqlx::query("select id from gateway_credentials for update").execute(&mut *tx).await.unwrap();
    assert!(is_accepted(&first).await, "it does not wait for the lock");
    tx.rollback().await.unwrap();
    for statement in [
        "create function refuse() returns trigger language plpgsql as $$ begin raise exception 'no'; end $$",
        "create trigger refuse before update on gateway_credentials for each row execute function refuse()",
    ] {
        sqlx::query(statement).execute(&app.pool).await.unwrap();
    }
    app.clock.advance(2);
    assert!(is_accepted(&first).await);
    assert_eq!(show_gateway(&app, &edge).await["credentials"][0]["last_used_time"], json!(null));
    sqlx::query("drop trigger refuse on gateway_credentials").execute(&app.pool).await.unwrap();
    app.clock.advance(2);
    assert!(is_accepted(&first).await);
    assert_eq!(show_gateway(&app, &edge).await["credentials"][0]["last_used_time"], START + 4);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_audit_log_has_every_change_of_a_credential(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let root = app.root().await;
    let (edge, _) = gateway(&app, "edge").await;
    let (credential, _) = add_credential(&app, &edge).await;
    root.delete(&credential).await.ok();
    root.delete(&edge).await.ok();
    let id: i64 = edge.rsplit('/').next().unwrap().parse().unwrap();
    let lines = root.get(&format!("/api/admin/audit?subject_kind=gateway&subject_id={id}")).await.ok()["items"].clone();
    let entries: Vec<Value> = lines
        .as_array()
        .unwrap()
        .iter()
        .map(|line| json!([line["action"], line["actor_id"], line["details"]]))
        .collect();
    let second = credential.rsplit('/').next().unwrap();
    let first = (second.parse::<i64>().unwrap() - 1).to_string();
    let expected = [
        json!(["gateway.revoked", root.id, { "name": "edge" }]),
        json!(["gateway.credential_revoked", root.id, { "credential": second }]),
        json!(["gateway.credential_created", root.id, { "credential": second }]),
        json!(["gateway.created", root.id, { "name": "edge", "credential": first }]),
    ];
    assert_eq!(entries, expected);
}
