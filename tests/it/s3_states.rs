//! Specification §3, states and transitions.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Answer, Caller, START, TestApp};

const ENABLED: i64 = 1;
const DISABLED: i64 = 2;
const EXPIRED: i64 = 3;
const EXHAUSTED: i64 = 4;

const HOUR: i64 = 3_600;

const EXPIRED_REFUSAL: (u16, &str, &str) =
    (409, "token_expired", "the token has expired; change its expiry time before enabling it");
const EXHAUSTED_REFUSAL: (u16, &str, &str) =
    (409, "token_exhausted", "the token has used up its quota; raise it or make it unlimited before enabling it");

async fn switch(ana: &Caller, id: i64, status: i64) -> Answer {
    ana.put("/api/token/?status_only=1", json!({ "id": id, "status": status })).await
}

#[track_caller]
fn refused(answer: &Answer, (status, error, message): (u16, &str, &str)) {
    answer.refuses_saying(status, error, message);
}

async fn edit(ana: &Caller, id: i64, mut fields: Value) -> Value {
    fields["id"] = json!(id);
    ana.put("/api/token/", fields).await.ok()
}

/// The status of a token, which must be the same in every answer.
async fn status(ana: &Caller, id: i64) -> i64 {
    let shown = ana.get(&format!("/api/token/{id}")).await.ok()["status"].as_i64().unwrap();
    for path in ["/api/token/?size=100", "/api/token/search?keyword=state&size=100"] {
        let page = ana.get(path).await.ok();
        let listed = page["items"].as_array().unwrap().iter().find(|token| token["id"] == json!(id)).unwrap();
        assert_eq!(listed["status"], json!(shown), "{path}");
    }
    shown
}

async fn exhausted(app: &TestApp, ana: &Caller) -> i64 {
    let id = ana.creates(json!({ "name": "state 4", "remain_quota": 7 })).await;
    app.spend(id, 7).await;
    id
}

/// One token in each state, by number.
async fn one_of_each(app: &TestApp, ana: &Caller) -> [i64; 4] {
    let enabled = ana.creates(json!({ "name": "state 1", "remain_quota": 7 })).await;
    let disabled = ana.creates(json!({ "name": "state 2", "remain_quota": 7 })).await;
    switch(ana, disabled, DISABLED).await.ok();
    let expired = ana.creates(json!({ "name": "state 3", "expired_time": START - HOUR })).await;
    [enabled, disabled, expired, exhausted(app, ana).await]
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn there_are_four_states(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    for (id, expected) in one_of_each(&app, &ana).await.into_iter().zip([ENABLED, DISABLED, EXPIRED, EXHAUSTED]) {
        assert_eq!(status(&ana, id).await, expected);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_token_can_be_disabled_and_enabled_and_the_answer_shows_it(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let id = ana.creates(json!({ "name": "state", "remain_quota": 7 })).await;
    let mut expected = edit(&ana, id, json!({})).await;
    let working = expected["state"].clone();
    for to in [ENABLED, DISABLED, DISABLED, ENABLED, ENABLED] {
        expected["status"] = json!(to);
        expected["state"] = if to == DISABLED { json!("disabled") } else { working.clone() };
        assert_eq!(switch(&ana, id, to).await.ok(), expected);
        assert_eq!(status(&ana, id).await, to);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn enabling_what_is_enabled_and_disabling_what_is_disabled_changes_nothing(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, root) = (app.enabled_user("ana").await, app.root().await);
    let id = ana.creates(json!({ "name": "one" })).await;
    let state = async || {
        let version: i64 =
            sqlx::query_scalar("select version from tokens where id = $1").bind(id).fetch_one(&app.pool).await.unwrap();
        let lines: i64 = sqlx::query_scalar("select count(*) from audit_log").fetch_one(&app.pool).await.unwrap();
        (version, lines)
    };
    for status in [1, 2] {
        switch(&ana, id, status).await.ok();
        let before = state().await;
        switch(&ana, id, status).await.ok();
        ana.patch("/api/token/bulk", json!({ "ids": [id], "set": { "status": status } })).await.ok();
        assert_eq!(state().await, before, "{status}");
    }
    let before = state().await;
    root.post(&format!("/api/admin/tokens/{id}/status"), json!({ "status": 2 })).await.ok();
    assert_ne!(state().await, before, "a higher role disables it now");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_token_expires_at_the_second_of_its_expiry(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let id = ana.creates(json!({ "name": "state", "expired_time": START + HOUR })).await;
    let forever = ana.creates(json!({ "name": "state", "expired_time": -1 })).await;
    app.clock.advance(HOUR - 1);
    assert_eq!(status(&ana, id).await, ENABLED);
    app.clock.advance(1);
    assert_eq!(status(&ana, id).await, EXPIRED);
    assert_eq!(status(&ana, forever).await, ENABLED);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_expired_token_cannot_be_enabled_before_its_expiry_is_in_the_future(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let id = ana.creates(json!({ "name": "state", "expired_time": START + HOUR })).await;
    app.clock.advance(HOUR);
    refused(&switch(&ana, id, ENABLED).await, EXPIRED_REFUSAL);
    assert_eq!(edit(&ana, id, json!({ "expired_time": START + HOUR - 1 })).await["status"], json!(EXPIRED));
    refused(&switch(&ana, id, ENABLED).await, EXPIRED_REFUSAL);
    assert_eq!(edit(&ana, id, json!({ "unlimited_quota": true })).await["status"], json!(EXPIRED));
    refused(&switch(&ana, id, ENABLED).await, EXPIRED_REFUSAL);
    for later in [START + 2 * HOUR, -1] {
        assert_eq!(edit(&ana, id, json!({ "expired_time": later })).await["status"], json!(ENABLED));
        assert_eq!(switch(&ana, id, ENABLED).await.ok()["status"], json!(ENABLED));
    }
    assert_eq!(status(&ana, id).await, ENABLED);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_token_is_exhausted_when_its_last_quota_is_spent(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let id = ana.creates(json!({ "name": "state", "remain_quota": 7 })).await;
    app.spend(id, 6).await;
    assert_eq!(status(&ana, id).await, ENABLED);
    app.spend(id, 1).await;
    assert_eq!(status(&ana, id).await, EXHAUSTED);
    refused(&switch(&ana, id, ENABLED).await, EXHAUSTED_REFUSAL);
    assert_eq!(status(&ana, id).await, EXHAUSTED);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_exhausted_token_works_again_with_more_quota_or_without_a_limit(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    for raise in [json!({ "remain_quota": 1 }), json!({ "unlimited_quota": true })] {
        let id = exhausted(&app, &ana).await;
        assert_eq!(edit(&ana, id, raise).await["status"], json!(ENABLED));
        assert_eq!(switch(&ana, id, ENABLED).await.ok()["status"], json!(ENABLED));
        assert_eq!(status(&ana, id).await, ENABLED);
    }
    let id = exhausted(&app, &ana).await;
    edit(&ana, id, json!({ "unlimited_quota": true })).await;
    assert_eq!(edit(&ana, id, json!({ "unlimited_quota": false })).await["status"], json!(EXHAUSTED));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn neither_an_unused_nor_an_unlimited_token_is_exhausted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let unused = ana.creates(json!({ "name": "state", "remain_quota": 0 })).await;
    let unlimited = ana.creates(json!({ "name": "state", "unlimited_quota": true })).await;
    app.spend(unlimited, 1_000_000).await;
    for id in [unused, unlimited] {
        assert_eq!(status(&ana, id).await, ENABLED);
        assert_eq!(switch(&ana, id, ENABLED).await.ok()["status"], json!(ENABLED));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn disabling_always_works(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    for id in one_of_each(&app, &ana).await {
        assert_eq!(switch(&ana, id, DISABLED).await.ok()["status"], json!(DISABLED));
        assert_eq!(status(&ana, id).await, DISABLED);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_disabled_token_is_enabled_only_if_neither_expired_nor_exhausted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let [_, sound, expired, exhausted] = one_of_each(&app, &ana).await;
    for id in [expired, exhausted] {
        switch(&ana, id, DISABLED).await.ok();
    }
    assert_eq!(switch(&ana, sound, ENABLED).await.ok()["status"], json!(ENABLED));
    for (id, refusal, remedy) in [
        (expired, EXPIRED_REFUSAL, json!({ "expired_time": START + HOUR })),
        (exhausted, EXHAUSTED_REFUSAL, json!({ "unlimited_quota": true })),
    ] {
        refused(&switch(&ana, id, ENABLED).await, refusal);
        assert_eq!(status(&ana, id).await, DISABLED);
        assert_eq!(edit(&ana, id, remedy).await["status"], json!(DISABLED));
        assert_eq!(switch(&ana, id, ENABLED).await.ok()["status"], json!(ENABLED));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn disabled_comes_before_expired_and_expired_before_exhausted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let id = exhausted(&app, &ana).await;
    edit(&ana, id, json!({ "expired_time": START - HOUR })).await;
    assert_eq!(status(&ana, id).await, EXPIRED);
    refused(&switch(&ana, id, ENABLED).await, EXPIRED_REFUSAL);
    switch(&ana, id, DISABLED).await.ok();
    assert_eq!(status(&ana, id).await, DISABLED);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_token_of_any_state_can_be_deleted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    for id in one_of_each(&app, &ana).await {
        ana.delete(&format!("/api/token/{id}")).await.ok();
    }
    let batch = one_of_each(&app, &ana).await;
    assert_eq!(ana.post("/api/token/batch", json!({ "ids": batch })).await.ok(), json!(4));
    assert_eq!(ana.get("/api/token/").await.ok()["total"], json!(0));
}
