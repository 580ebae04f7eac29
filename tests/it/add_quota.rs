//! Specification §13.2: `add_quota` changes what is left by an amount, exactly, also while the token is charged.

use serde_json::{Value, json};
use sqlx::PgPool;
use tokio::task::JoinSet;

use crate::harness::gateway::{app_with_wallet, asks, balances};
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::{Answer, Caller, TestApp};

const MAX: i64 = 500_000_000_000_000;

async fn update(who: &Caller, mut fields: Value, id: i64) -> Answer {
    fields["id"] = json!(id);
    who.put("/api/token/", fields).await
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn quota_is_added_and_taken_away(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let id = ana.creates(json!({ "name": "one", "remain_quota": 100 })).await;
    for (units, remain) in [(50, 150), (-150, 0), (0, 0), (MAX, MAX), (-1, MAX - 1), (1, MAX)] {
        assert_eq!(update(&ana, json!({ "add_quota": units }), id).await.ok()["remain_quota"], remain);
    }
    let both = update(&ana, json!({ "add_quota": -MAX, "name": "two" }), id).await.ok();
    assert_eq!((&both["remain_quota"], &both["name"]), (&json!(0), &json!("two")));
    let line = app.root().await.get("/api/admin/audit?action=token.edited").await.ok()["items"][0]["details"].clone();
    assert_eq!(line, json!({ "fields": "name,remain_quota", "add_quota": (-MAX).to_string() }));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn quota_is_not_taken_below_zero_raised_above_the_range_or_changed_in_two_ways(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let id = ana.creates(json!({ "name": "one", "remain_quota": 100 })).await;
    let before = ana.get(&format!("/api/token/{id}/details")).await.ok();
    let short = "the token has 100 quota units left, which is less than `add_quota` takes away";
    for units in [-101, i64::MIN] {
        let answer = update(&ana, json!({ "add_quota": units, "name": "two" }), id).await;
        answer.refuses_saying(409, "insufficient_quota", short);
    }
    let high = "the token has 100 quota units left; `add_quota` may not raise them above 500000000000000";
    for units in [MAX - 99, i64::MAX] {
        let answer = update(&ana, json!({ "add_quota": units, "name": "two" }), id).await;
        answer.refuses_saying(400, "invalid_quota", high);
    }
    let twice = update(&ana, json!({ "add_quota": 1, "remain_quota": 1 }), id).await;
    twice.refuses_saying(400, "invalid_quota", "send either `remain_quota` or `add_quota`, in quota units");
    let text = update(&ana, json!({ "add_quota": "1" }), id).await;
    text.refuses_saying(400, "invalid_field", "`add_quota` must be a whole number");
    update(&ana, json!({ "add_quota": 1 }), 999_999).await.refuses_saying(404, "not_found", "there is no such token");
    assert_eq!(ana.get(&format!("/api/token/{id}/details")).await.ok(), before);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn quota_of_an_unlimited_token_is_changed_for_when_it_is_limited_again(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let id = ana.creates(json!({ "name": "one", "remain_quota": 10, "unlimited_quota": true })).await;
    assert_eq!(update(&ana, json!({ "add_quota": 5 }), id).await.ok()["remain_quota"], 15);
    let short = "the token has 15 quota units left, which is less than `add_quota` takes away";
    update(&ana, json!({ "add_quota": -16 }), id).await.refuses_saying(409, "insufficient_quota", short);
    let limited = update(&ana, json!({ "add_quota": -15, "unlimited_quota": false }), id).await.ok();
    assert_eq!((&limited["remain_quota"], &limited["unlimited_quota"]), (&json!(0), &json!(false)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn quota_added_while_a_token_is_charged_is_exact(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000_000).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 10_000 })).await;
    let mut tasks = JoinSet::new();
    for n in 0..60_i64 {
        let (ana, gateway, key) = (ana.clone(), gateway.clone(), key.clone());
        tasks.spawn(async move {
            match n % 3 {
                0 => update(&ana, json!({ "add_quota": 100 + n }), id).await.ok(),
                1 => update(&ana, json!({ "add_quota": -n }), id).await.ok(),
                _ => asks(&gateway, "charge", &json!({ "key": key, "quota": 10 + n })).await.ok(),
            };
        });
    }
    tasks.join_all().await;
    let sum = |of: i64, first: i64| (0..60).filter(|n| n % 3 == of).map(|n| first + n).sum::<i64>();
    let (added, taken, charged) = (sum(0, 100), sum(1, 0), sum(2, 10));
    let [used, available, ..] = balances(&app, &ana, &key).await;
    assert_eq!((used, available), (charged, 10_000 + added - taken - charged));
    assert_ledger_invariants(&app.pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn of_parallel_withdrawals_only_those_that_fit_succeed(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let id = ana.creates(json!({ "name": "one", "remain_quota": 100 })).await;
    let mut tasks = JoinSet::new();
    for _ in 0..15 {
        let ana = ana.clone();
        tasks.spawn(async move { update(&ana, json!({ "add_quota": -30 }), id).await });
    }
    let answers = tasks.join_all().await;
    assert_eq!(answers.iter().filter(|answer| answer.status == 200).count(), 3);
    let short = "the token has 10 quota units left, which is less than `add_quota` takes away";
    for answer in answers.iter().filter(|answer| answer.status != 200) {
        answer.refuses_saying(409, "insufficient_quota", short);
    }
}
