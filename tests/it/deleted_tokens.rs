//! Specification §15.5: deleted tokens are listed and can be restored for some time; then their keys are erased.

use keymeter::domain::clock::Clock as _;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::answer::Refusal;
use crate::harness::gateway::{
    INVALID_KEY, TOKEN_DISABLED, app_with_wallet, asks, balances, refused, reserves, settles,
};
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::{Caller, START, TestApp};
use crate::jobs::jobs_on;

const DAY: i64 = 86_400;
const NOT_FOUND: Refusal = (404, "not_found", "there is no such token");

async fn deletes(ana: &Caller, id: i64) {
    ana.delete(&format!("/api/token/{id}")).await.ok();
}

fn restore(id: i64) -> String {
    format!("/api/token/{id}/restore")
}

async fn bin(ana: &Caller) -> (Vec<Value>, i64) {
    ana.page("/api/token/?deleted=1", "id").await
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_5_a_deleted_token_is_listed_and_restored_with_its_key(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let other_server = app.server_ahead(0);
    let there = gateway.at(&other_server);
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100, "note": "mine" })).await;
    let (other, _) = ana.creates_with_key(json!({ "name": "two" })).await;
    let charge = json!({ "key": key, "quota": 1 });
    asks(&gateway, "charge", &charge).await.ok();
    let held = reserves(&gateway, &key, 10).await;
    app.clock.advance(5);
    deletes(&ana, id).await;
    for gateway in [&gateway, &there] {
        refused(&asks(gateway, "charge", &charge).await, INVALID_KEY);
    }
    // Its hold ends as it was made.
    settles(&gateway, &held, 4).await.ok();
    app.clock.advance(5);
    deletes(&ana, other).await;
    assert_eq!(bin(&ana).await, (vec![json!(other), json!(id)], 2));
    let token = ana.get("/api/token/?deleted=1&p=2&page_size=1").await.ok()["items"][0].clone();
    assert_eq!((&token["id"], &token["key"], &token["note"]), (&json!(id), &json!(""), &json!("mine")));
    assert_eq!((&token["deleted_time"], &token["restorable_until"]), (&json!(START + 5), &json!(START + 5 + 30 * DAY)));
    let ben = app.enabled_user("ben").await;
    assert_eq!(bin(&ben).await, (vec![], 0));
    ben.post(&restore(id), json!({})).await.is(NOT_FOUND);

    let restored = ana.post(&restore(id), json!({})).await;
    let body = restored.ok();
    assert_eq!((&body["id"], &body["used_quota"], &body["remain_quota"]), (&json!(id), &json!(5), &json!(95)));
    assert_eq!(body.get("deleted_time"), None);
    let details = ana.get(&format!("/api/token/{id}/details")).await;
    assert!(restored.header("etag").is_some() && restored.header("etag") == details.header("etag"));
    assert_eq!(bin(&ana).await, (vec![json!(other)], 1));
    asks(&gateway, "charge", &charge).await.ok();
    // Nothing told the other server, and it trusts nothing for longer.
    other_server.clock.advance(2);
    asks(&there, "charge", &charge).await.ok();
    assert_eq!(ana.post(&format!("/api/token/{id}/key"), json!({})).await.ok()["key"], json!(key));
    assert_eq!(balances(&app, &ana, &key).await, [7, 93, 7, 993]);
    ana.post(&restore(id), json!({})).await.is(NOT_FOUND);
    let log = ana.get("/api/user/activity?action=token.restored").await.ok();
    assert_eq!(log["total"], 1);
    assert_ledger_invariants(&app.pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_5_what_held_before_the_deletion_holds_after_it(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (id, first) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let rotated =
        ana.post(&format!("/api/token/{id}/rotate"), json!({ "grace_seconds": 600, "grace_from": "now" })).await;
    let key = rotated.ok()["key"].as_str().unwrap().to_owned();
    asks(&gateway, "charge", &json!({ "key": first, "quota": 1 })).await.ok();
    app.root().await.post(&format!("/api/admin/tokens/{id}/status"), json!({ "status": 2 })).await.ok();
    deletes(&ana, id).await;
    let restored = ana.post(&restore(id), json!({})).await.ok();
    assert_eq!((&restored["status"], &restored["disabled_by"]), (&json!(2), &json!("root")));
    refused(&asks(&gateway, "charge", &json!({ "key": key, "quota": 1 })).await, TOKEN_DISABLED);
    refused(&asks(&gateway, "charge", &json!({ "key": first, "quota": 1 })).await, INVALID_KEY);
    ana.put("/api/token/?status_only=1", json!({ "id": id, "status": 1 })).await.refuses(403, "switched_off_by_root");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_5_the_limit_of_tokens_holds_for_restored_ones(pool: PgPool) {
    let (app, ana, _) = app_with_wallet(pool, 1_000).await;
    let (id, _) = ana.creates_with_key(json!({ "name": "one" })).await;
    deletes(&ana, id).await;
    ana.creates(json!({ "name": "two" })).await;
    let path = format!("/api/admin/users/{}", ana.id);
    app.root().await.patch(&path, json!({ "max_tokens": 1 })).await.ok();
    let full = (409, "token_limit_reached", "this account has reached its limit of 1 token; delete one first");
    ana.post(&restore(id), json!({})).await.is(full);
    app.root().await.patch(&path, json!({ "max_tokens": 2 })).await.ok();
    ana.post(&restore(id), json!({})).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_5_after_30_days_a_token_is_gone_and_its_key_erased(pool: PgPool) {
    let (app, ana, _) = app_with_wallet(pool, 1_000).await;
    let lists = json!({ "name": "one", "note": "n", "model_limits": "o1", "allow_ips": "10.0.0.1" });
    let (id, _) = ana.creates_with_key(lists).await;
    let (live, _) = ana.creates_with_key(json!({ "name": "two" })).await;
    let ana = ana.by_access_token().await;
    deletes(&ana, id).await;
    let sealed = async |id: i64| -> Vec<u8> {
        sqlx::query_scalar("select key_sealed from tokens where id = $1").bind(id).fetch_one(&app.pool).await.unwrap()
    };
    let jobs = jobs_on(&app.pool, app.clock.clone(), 90);
    app.clock.advance(30 * DAY - 1);
    jobs.run_as_of(app.clock.now()).await.unwrap();
    assert!(!sealed(id).await.is_empty());
    assert_eq!(bin(&ana).await.1, 1);
    app.clock.advance(1);
    assert_eq!(bin(&ana).await.1, 0);
    ana.post(&restore(id), json!({})).await.is(NOT_FOUND);
    jobs.run_as_of(app.clock.now()).await.unwrap();
    assert_eq!((sealed(id).await.len(), sealed(live).await.is_empty()), (0, false));
    // What can be long goes with it: one account makes and deletes as many as it likes.
    let long = "select note || model_limits || allow_ips from tokens where id = $1";
    assert_eq!(sqlx::query_scalar::<_, String>(long).bind(id).fetch_one(&app.pool).await.unwrap(), "");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_5_the_days_are_a_setting(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_TOKENS__RESTORE_DAYS", "0")]).await;
    let ana = app.enabled_user("ana").await;
    let (id, _) = ana.creates_with_key(json!({ "name": "one" })).await;
    deletes(&ana, id).await;
    assert_eq!(bin(&ana).await.1, 0);
    ana.post(&restore(id), json!({})).await.is(NOT_FOUND);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_5_deleted_tokens_are_neither_filtered_nor_searched(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, root) = (app.enabled_user("ana").await, app.root().await);
    let together = "`deleted` is not together with `status`, `state`, `group`, `sort` or `order`";
    for filter in ["status=1", "state=active", "group=own", "sort=name", "order=asc"] {
        ana.get(&format!("/api/token/?deleted=1&{filter}")).await.is((400, "invalid_filter", together));
    }
    let own = "`deleted` is only for the list of your own tokens, without a search";
    ana.get("/api/token/search?keyword=one&deleted=1").await.is((400, "invalid_filter", own));
    root.get("/api/admin/tokens?deleted=1").await.is((400, "invalid_filter", own));
    for flag in [json!(1), json!("1"), json!(true)] {
        ana.post("/api/token/search", json!({ "keyword": "one", "deleted": flag })).await.is((
            400,
            "invalid_filter",
            own,
        ));
        root.post("/api/admin/tokens/search", json!({ "deleted": flag })).await.is((400, "invalid_filter", own));
    }
    for flag in [json!(0), json!(false), json!(""), Value::Null] {
        ana.post("/api/token/search", json!({ "deleted": flag })).await.ok();
    }
    assert_eq!(ana.page("/api/token/?deleted=0", "id").await.1, 0);
}

/// Servers of the version before know no list of deleted tokens.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_5_what_an_older_server_deletes_is_listed_too(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let (id, _) = ana.creates_with_key(json!({ "name": "one" })).await;
    sqlx::query("update tokens set deleted_time = $1, version = version + 1")
        .bind(START)
        .execute(&app.pool)
        .await
        .unwrap();
    assert_eq!(bin(&ana).await, (vec![json!(id)], 1));
    ana.post(&restore(id), json!({})).await.ok();
    deletes(&ana, id).await;
    assert_eq!(bin(&ana).await, (vec![json!(id)], 1), "deleted again");
}
