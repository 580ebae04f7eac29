//! Specification §15.1: a rotation gives a token another key, and the replaced one works for a while longer. Servers of
//! these tests hear nothing of each other's changes, as if every notification was lost.

use keymeter::domain::clock::Clock as _;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::answer::Refusal;
use crate::harness::gateway::{
    INVALID_KEY, app_with_wallet, asks, balances, edits, refused, refused_everywhere, reserves, settles, valid,
};
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::{Answer, Caller, START, TestApp};

const DAY: i64 = 86_400;
const MAX_GRACE: i64 = 30 * DAY;
const NO_TOKEN: Refusal = (404, "not_found", "there is no such token");
const NO_OLD_KEY: Refusal = (404, "not_found", "this token has no such old key that still works");

async fn rotates(ana: &Caller, id: i64, grace: Value) -> Answer {
    ana.post(&format!("/api/token/{id}/rotate"), grace).await
}

async fn old_keys(ana: &Caller, id: i64) -> Vec<Value> {
    ana.get(&format!("/api/token/{id}/old_keys")).await.ok().as_array().unwrap().clone()
}

async fn ended_keys(ana: &Caller, id: i64) -> Vec<Value> {
    ana.get(&format!("/api/token/{id}/old_keys?ended=1")).await.ok().as_array().unwrap().clone()
}

fn masked(key: &str) -> String {
    format!("{}**********{}", &key[..7], &key[key.len() - 4..])
}

/// The new key of an answer to a rotation.
fn new_key(answer: &Answer) -> String {
    answer.ok()["key"].as_str().unwrap().to_owned()
}

/// A charge that a batch of its own decides.
fn spend(key: &str) -> Value {
    json!({ "key": key, "quota": 1 })
}

/// A gateway at three servers, whose clocks agree.
fn at_three_servers(app: &TestApp, gateway: &Caller) -> ([Caller; 3], [TestApp; 2]) {
    // Servers whose clocks begin alike would draw the same ids.
    let others = [app.server_ahead(0), app.server_ahead(1)];
    others[1].clock.advance(-1);
    ([gateway.clone(), gateway.at(&others[0]), gateway.at(&others[1])], others)
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_1_both_keys_spend_one_balance_until_the_deadline_on_every_server(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (servers, others) = at_three_servers(&app, &gateway);
    let (id, first) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    // All servers remember the key.
    for gateway in &servers {
        asks(gateway, "charge", &spend(&first)).await.ok();
    }
    let answer = rotates(&ana, id, json!({ "grace_seconds": 60, "grace_from": "now" })).await;
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let second = new_key(&answer);
    let rotated = answer.ok();
    let old_id = rotated["old_keys"][0]["id"].clone();
    let old = json!({
        "id": old_id, "masked_key": masked(&first), "rotated_at": START, "expires_at": START + 60, "last_used_at": null,
    });
    let expected = json!({ "id": id, "key": second, "masked_key": masked(&second), "old_keys": [old] });
    assert_eq!(rotated, expected);
    assert_eq!(old_keys(&ana, id).await, [old]);
    assert_ne!(first, second);
    let shown = ana.post(&format!("/api/token/{id}/key"), json!({})).await.ok();
    assert_eq!(shown["key"], json!(second));
    let listed = ana.get(&format!("/api/token/{id}/details")).await.ok();
    assert_eq!((&listed["masked_key"], &listed["used_quota"]), (&json!(masked(&second)), &json!(3)));

    for gateway in &servers {
        for key in [&first, &second] {
            asks(gateway, "charge", &spend(key)).await.ok();
            let hold = reserves(gateway, key, 2).await;
            settles(gateway, &hold, 1).await.ok();
        }
        let verified = asks(gateway, "verify", &json!({ "key": second })).await.ok();
        assert_eq!((&verified["valid"], &verified["key_expires_at"]), (&json!(true), &Value::Null));
    }
    assert_eq!(balances(&app, &ana, &first).await, [15, 85, 15, 985], "one balance");
    assert_eq!(balances(&app, &ana, &second).await, [15, 85, 15, 985]);
    let verified = asks(&gateway, "verify", &json!({ "key": first })).await.ok();
    assert_eq!((&verified["valid"], &verified["key_expires_at"]), (&json!(true), &json!(START + 60)));

    let holds = [reserves(&servers[1], &first, 2).await, reserves(&servers[2], &first, 2).await];
    app.clock.advance(59);
    for other in &others {
        other.clock.advance(59);
    }
    for gateway in &servers {
        asks(gateway, "charge", &spend(&first)).await.ok();
    }
    app.clock.advance(1);
    for other in &others {
        other.clock.advance(1);
    }
    for gateway in &servers {
        refused_everywhere(gateway, &spend(&first), INVALID_KEY).await;
        asks(gateway, "charge", &spend(&second)).await.ok();
    }
    app.holder_of(&first).get("/api/usage/token/").await.refuses(401, "invalid_key");
    app.holder_of(&first).get("/api/usage/token/daily").await.refuses(401, "invalid_key");
    // Work that began with the old key ends as it was admitted.
    settles(&gateway, &holds[0], 1).await.ok();
    asks(&gateway, "extend", &json!({ "reservation_id": holds[1], "quota": 3 })).await.ok();
    settles(&servers[2], &holds[1], 3).await.ok();
    assert_eq!(old_keys(&ana, id).await, [] as [Value; 0]);
    assert_eq!(ended_keys(&ana, id).await[0]["id"], old_id);
    assert_ledger_invariants(&app.pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_1_without_grace_the_replaced_key_ends_with_the_answer(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (servers, _others) = at_three_servers(&app, &gateway);
    let (id, first) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    for gateway in &servers {
        asks(gateway, "charge", &spend(&first)).await.ok();
    }
    let answer = rotates(&ana, id, json!({ "grace_seconds": 0, "grace_from": "now" })).await;
    assert_eq!(answer.ok()["old_keys"], json!([]));
    let second = new_key(&answer);
    for gateway in &servers {
        refused(&asks(gateway, "charge", &spend(&first)).await, INVALID_KEY);
        refused(&asks(gateway, "reserve", &spend(&first)).await, INVALID_KEY);
        asks(gateway, "charge", &spend(&second)).await.ok();
    }
    assert!(!valid(&gateway, &json!({ "key": first })).await, "where it was rotated");
    let ended = ended_keys(&ana, id).await;
    assert_eq!((ended.len(), &ended[0]["expires_at"]), (1, &json!(START)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_1_the_grace_period_begins_with_the_first_use_of_the_new_key(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let there = app.server_ahead(0);
    for call in ["charge", "reserve", "charges", "verify", "forward-auth"] {
        let (id, first) = ana.creates_with_key(json!({ "name": call, "remain_quota": 100 })).await;
        let rotated = rotates(&ana, id, json!({ "grace_seconds": 60 })).await;
        assert_eq!(rotated.ok()["old_keys"][0]["expires_at"], Value::Null, "{call}");
        let second = new_key(&rotated);
        // Neither use of the old key nor a question of the key's holder begins it, and neither does a refusal.
        asks(&gateway, "charge", &spend(&first)).await.ok();
        assert!(valid(&gateway, &json!({ "key": first })).await);
        app.holder_of(&second).get("/api/usage/token/").await.ok();
        asks(&gateway, "charge", &json!({ "key": second, "quota": 1_000 }))
            .await
            .refuses(402, "token_quota_insufficient");
        assert!(!valid(&gateway, &json!({ "key": second, "quota": 1_000 })).await);
        assert_eq!(old_keys(&ana, id).await[0]["expires_at"], Value::Null, "{call}");
        let latest = app.clock.now().get() + MAX_GRACE + 60;
        let verified = asks(&gateway, "verify", &json!({ "key": first })).await.ok();
        assert_eq!(verified["key_expires_at"], json!(latest), "{call}: the latest that it can be");

        app.clock.advance(5);
        there.clock.advance(5);
        let gateway = gateway.at(&there);
        match call {
            "charges" => drop(asks(&gateway, "charges", &json!({ "charges": [spend(&second)] })).await.ok()),
            "verify" => assert!(valid(&gateway, &json!({ "key": second })).await),
            "forward-auth" => drop(forward_auth(&gateway, &second).await.ok()),
            call => drop(asks(&gateway, call, &spend(&second)).await.ok()),
        }
        let deadline = json!(app.clock.now().get() + 60);
        // After verify, a batch of its own writes it.
        while old_keys(&ana, id).await[0]["expires_at"] == Value::Null {
            tokio::task::yield_now().await;
        }
        assert_eq!(old_keys(&ana, id).await[0]["expires_at"], deadline, "{call}");
        // Later uses move it no more.
        app.clock.advance(5);
        there.clock.advance(5);
        asks(&gateway, "charge", &spend(&second)).await.ok();
        assert_eq!(old_keys(&ana, id).await[0]["expires_at"], deadline, "{call}");
    }
}

async fn forward_auth(gateway: &Caller, key: &str) -> Answer {
    let mut request = gateway.request(http::Method::GET, "/api/gateway/auth");
    let credential = request.headers_mut().remove("authorization").unwrap();
    let credential = credential.to_str().unwrap().trim_start_matches("Bearer ").parse().unwrap();
    request.headers_mut().insert("x-gateway-credential", credential);
    request.headers_mut().insert("authorization", format!("Bearer {key}").parse().unwrap());
    gateway.send(request).await
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_1_forward_auth_says_when_the_key_ends(pool: PgPool) {
    let (_app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (id, first) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    assert_eq!(forward_auth(&gateway, &first).await.header("x-key-expires-at"), None);
    let second = new_key(&rotates(&ana, id, json!({ "grace_seconds": 60, "grace_from": "now" })).await);
    let deadline = (START + 60).to_string();
    let answer = forward_auth(&gateway, &first).await;
    assert_eq!(answer.header("x-key-expires-at"), Some(deadline.as_str()));
    assert_eq!(answer.ok()["key_expires_at"], json!(START + 60));
    assert_eq!(forward_auth(&gateway, &second).await.header("x-key-expires-at"), None);
    // No key outlives its token.
    edits(&ana, id, json!({ "expired_time": START + 30 })).await;
    assert_eq!(forward_auth(&gateway, &first).await.ok()["key_expires_at"], json!(START + 30));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_1_a_new_key_that_nobody_uses_does_not_keep_the_old_one_alive(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (id, first) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    rotates(&ana, id, json!({ "grace_seconds": 60 })).await.ok();
    app.clock.advance(MAX_GRACE + 59);
    asks(&gateway, "charge", &spend(&first)).await.ok();
    app.clock.advance(1);
    refused_everywhere(&gateway, &spend(&first), INVALID_KEY).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_1_earlier_keys_keep_their_deadlines_and_three_may_work(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (id, first) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let waits = json!({ "grace_seconds": 60 });
    let second = new_key(&rotates(&ana, id, waits.clone()).await);
    let third = new_key(&rotates(&ana, id, waits.clone()).await);
    let answer = rotates(&ana, id, json!({ "grace_seconds": 500, "grace_from": "now" })).await;
    let fourth = new_key(&answer);
    let ends = |keys: &[Value]| keys.iter().map(|key| key["expires_at"].clone()).collect::<Vec<_>>();
    assert_eq!(ends(answer.ok()["old_keys"].as_array().unwrap()), [json!(START + 500), Value::Null, Value::Null]);
    rotates(&ana, id, waits.clone()).await.is((
        409,
        "too_many_old_keys",
        "3 replaced keys of this token still work; end one first, or rotate with `grace_seconds` 0 from `now`",
    ));
    assert_eq!(old_keys(&ana, id).await.len(), 3, "nothing changed");
    asks(&gateway, "charge", &spend(&fourth)).await.ok();
    // The use of the second key begins the grace period of the first, not its own.
    let (other, _) = ana.creates_with_key(json!({ "name": "two", "remain_quota": 100 })).await;
    let other_second = new_key(&rotates(&ana, other, waits.clone()).await);
    rotates(&ana, other, waits.clone()).await.ok();
    asks(&gateway, "charge", &spend(&other_second)).await.ok();
    assert_eq!(ends(&old_keys(&ana, other).await), [Value::Null, json!(START + 60)]);
    assert_eq!(ends(&old_keys(&ana, id).await), [json!(START + 500), json!(START + 60), json!(START + 60)]);
    // A key that leaked goes at once, whatever works.
    let fifth = new_key(&rotates(&ana, id, json!({ "grace_seconds": 0, "grace_from": "now" })).await);
    refused(&asks(&gateway, "charge", &spend(&fourth)).await, INVALID_KEY);
    app.clock.advance(60);
    for key in [&first, &second] {
        refused(&asks(&gateway, "charge", &spend(key)).await, INVALID_KEY);
    }
    for key in [&third, &fifth] {
        asks(&gateway, "charge", &spend(key)).await.ok();
    }
    rotates(&ana, id, waits).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_1_with_a_grace_of_0_the_first_use_of_the_new_key_ends_the_old_one(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let there = gateway.at(&app.server_ahead(0));
    let (id, first) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let second = new_key(&rotates(&ana, id, json!({ "grace_seconds": 0, "grace_from": "first_use" })).await);
    asks(&there, "charge", &spend(&first)).await.ok();
    // Charges of one call are decided in this order, in one batch.
    let charges: Vec<Value> = [&first, &second, &first].into_iter().map(|key| spend(key)).collect();
    let outcomes = asks(&gateway, "charges", &json!({ "charges": charges })).await.ok();
    let succeeded = |n: usize| outcomes[n]["success"].as_bool().unwrap();
    assert_eq!([succeeded(0), succeeded(1), succeeded(2)], [true, true, false], "{outcomes}");
    assert_eq!(outcomes[2]["error"], "invalid_key");
    refused_everywhere(&gateway, &spend(&first), INVALID_KEY).await;
    refused(&asks(&there, "charge", &spend(&first)).await, INVALID_KEY);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_1_an_old_key_can_be_ended_at_once(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let there = gateway.at(&app.server_ahead(0));
    let (id, first) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let rotated = rotates(&ana, id, json!({})).await;
    let old = rotated.ok()["old_keys"][0]["id"].as_i64().unwrap();
    asks(&there, "charge", &spend(&first)).await.ok();
    let path = format!("/api/token/{id}/old_keys/{old}");
    let ben = app.enabled_user("ben").await;
    ben.delete(&path).await.is(NO_TOKEN);
    let (other, _) = ana.creates_with_key(json!({ "name": "two" })).await;
    ana.delete(&format!("/api/token/{other}/old_keys/{old}")).await.is(NO_OLD_KEY);
    asks(&there, "charge", &spend(&first)).await.ok();
    ana.delete(&path).await.ok();
    refused_everywhere(&gateway, &spend(&first), INVALID_KEY).await;
    refused(&asks(&there, "charge", &spend(&first)).await, INVALID_KEY);
    asks(&there, "charge", &spend(&new_key(&rotated))).await.ok();
    ana.delete(&path).await.is(NO_OLD_KEY);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_1_what_a_rotation_refuses(pool: PgPool) {
    let (app, ana, _) = app_with_wallet(pool, 1_000).await;
    let (id, first) = ana.creates_with_key(json!({ "name": "one", "expired_time": START + 10 })).await;
    let seconds = (400, "invalid_grace", "`grace_seconds` must be 0 to 2592000");
    rotates(&ana, id, json!({ "grace_seconds": -1 })).await.is(seconds);
    rotates(&ana, id, json!({ "grace_seconds": 2_592_001 })).await.is(seconds);
    rotates(&ana, id, json!({ "grace_seconds": 1.5 })).await.refuses(400, "invalid_field");
    let from = (400, "invalid_grace", "`grace_from` must be \"first_use\" or \"now\"");
    rotates(&ana, id, json!({ "grace_from": "later" })).await.is(from);
    rotates(&ana, 0, json!({})).await.is(NO_TOKEN);
    let ben = app.enabled_user("ben").await;
    rotates(&ben, id, json!({})).await.is(NO_TOKEN);
    ben.get(&format!("/api/token/{id}/old_keys")).await.is(NO_TOKEN);
    app.clock.advance(10);
    rotates(&ana, id, json!({})).await.is((409, "token_expired", "this token has expired; extend its expiry first"));
    assert!(old_keys(&ana, id).await.is_empty() && ended_keys(&ana, id).await.is_empty());
    let shown = ana.post(&format!("/api/token/{id}/key"), json!({})).await.ok();
    assert_eq!(shown["key"], json!(first), "nothing was replaced");
    // Disabled and exhausted tokens may rotate.
    let (disabled, _) = ana.creates_with_key(json!({ "name": "off", "remain_quota": 0 })).await;
    ana.put("/api/token/?status_only=1", json!({ "id": disabled, "status": 2 })).await.ok();
    rotates(&ana, disabled, json!({})).await.ok();
    let token = ana.get(&format!("/api/token/{disabled}/details")).await.ok();
    assert_eq!(token["status"], 2, "it stays disabled");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_1_a_rotation_without_a_body_keeps_the_old_key_for_a_day_after_the_first_use(pool: PgPool) {
    let (_app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (id, _) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let second = new_key(&ana.post_text(&format!("/api/token/{id}/rotate"), "").await);
    asks(&gateway, "charge", &spend(&second)).await.ok();
    assert_eq!(old_keys(&ana, id).await[0]["expires_at"], json!(START + DAY));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l4_a_retry_by_an_old_key_gets_its_answer_also_after_the_key_ended(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let other = app.server_ahead(0);
    let there = gateway.at(&other);
    let (id, first) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let charge = |key: &str, request_id: &str| json!({ "key": key, "quota": 7, "request_id": request_id });
    let before = asks(&gateway, "charge", &charge(&first, "before")).await.ok();
    let rotated = rotates(&ana, id, json!({ "grace_seconds": 60, "grace_from": "now" })).await;
    let after = asks(&gateway, "charge", &charge(&first, "after")).await.ok();
    app.clock.advance(60);
    other.clock.advance(60);
    for gateway in [&gateway, &there] {
        assert_eq!(asks(gateway, "charge", &charge(&first, "before")).await.ok(), before);
        assert_eq!(asks(gateway, "charge", &charge(&first, "after")).await.ok(), after);
        refused(&asks(gateway, "charge", &charge(&first, "new")).await, INVALID_KEY);
        // The id belongs to the key that was sent.
        asks(gateway, "charge", &charge(&new_key(&rotated), "before")).await.refuses(409, "request_id_reused");
    }
    ana.delete(&format!("/api/token/{id}")).await.ok();
    assert_eq!(asks(&there, "charge", &charge(&first, "before")).await.ok(), before);
    refused(&asks(&there, "charge", &charge(&first, "new")).await, INVALID_KEY);
    assert_ledger_invariants(&app.pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_1_old_keys_of_deleted_tokens_end(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (id, first) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    rotates(&ana, id, json!({})).await.ok();
    app.clock.advance(3);
    ana.delete(&format!("/api/token/{id}")).await.ok();
    refused_everywhere(&gateway, &spend(&first), INVALID_KEY).await;
    let ended: (i64, bool) =
        sqlx::query_as("select expires_at, waits_for_use from old_keys").fetch_one(&app.pool).await.unwrap();
    assert_eq!(ended, (START + 3, false));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_1_no_old_key_outlives_its_token(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let gateways = [gateway.clone(), gateway.at(&app.server_ahead(0))];
    let grace = json!({ "grace_seconds": DAY, "grace_from": "now" });
    let mut tokens = Vec::new();
    for grace in [grace.clone(), json!({ "grace_seconds": DAY })] {
        let (id, old) =
            ana.creates_with_key(json!({ "name": "one", "expired_time": START + 10, "remain_quota": 9 })).await;
        let new = new_key(&rotates(&ana, id, grace).await);
        asks(&gateway, "charge", &spend(&old)).await.ok();
        tokens.push((id, old, new));
    }
    assert_eq!(old_keys(&ana, tokens[0].0).await[0]["expires_at"], START + 10, "with the token");
    app.clock.advance(10);
    for (id, ..) in &tokens {
        assert!(old_keys(&ana, *id).await.is_empty());
        assert_eq!(ended_keys(&ana, *id).await[0]["expires_at"], START + 10);
    }

    edits(&ana, tokens[0].0, json!({ "expired_time": -1 })).await;
    let all = json!({ "ids": [tokens[1].0], "set": { "expired_time": START + 20 } });
    ana.patch("/api/token/bulk", all).await.ok();
    for (id, old, new) in &tokens {
        for gateway in &gateways {
            asks(gateway, "charge", &spend(new)).await.ok();
            refused(&asks(gateway, "charge", &spend(old)).await, INVALID_KEY);
        }
        assert!(old_keys(&ana, *id).await.is_empty());
        assert_eq!(ended_keys(&ana, *id).await.len(), 1);
    }

    // A token that has not expired keeps its old keys.
    let (id, old) = ana.creates_with_key(json!({ "name": "two", "expired_time": START + 20, "remain_quota": 9 })).await;
    rotates(&ana, id, grace).await.ok();
    edits(&ana, id, json!({ "expired_time": -1 })).await;
    asks(&gateway, "charge", &spend(&old)).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_1_the_last_use_of_an_old_key_is_recorded_once_a_minute(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (id, first) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let second = new_key(&rotates(&ana, id, json!({ "grace_seconds": 600, "grace_from": "now" })).await);
    let last_used = async || {
        app.old_key_uses.write().await.unwrap();
        old_keys(&ana, id).await[0]["last_used_at"].clone()
    };
    asks(&gateway, "charge", &spend(&second)).await.ok();
    asks(&gateway, "charge", &json!({ "key": first, "quota": 500 })).await.refuses(402, "token_quota_insufficient");
    assert_eq!(last_used().await, Value::Null, "neither the new key nor a refusal is a use");
    app.clock.advance(7);
    asks(&gateway, "charge", &spend(&first)).await.ok();
    assert_eq!(last_used().await, json!(START + 7));
    app.clock.advance(1);
    assert!(valid(&gateway, &json!({ "key": first })).await);
    assert_eq!(last_used().await, json!(START + 7), "within a minute");
    let other = app.server_ahead(0);
    reserves(&gateway.at(&other), &first, 1).await;
    other.old_key_uses.write().await.unwrap();
    assert_eq!(last_used().await, json!(START + 8), "each server for itself");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_1_a_token_is_found_by_its_old_keys(pool: PgPool) {
    let (app, ana, _) = app_with_wallet(pool, 1_000).await;
    let (id, first) = ana.creates_with_key(json!({ "name": "one" })).await;
    rotates(&ana, id, json!({ "grace_seconds": 0, "grace_from": "now" })).await.ok();
    let found = ana.page(&format!("/api/token/search?token={first}"), "id").await;
    assert_eq!(found, (vec![json!(id)], 1));
    let found = app.root().await.post("/api/admin/tokens/search", json!({ "token": first })).await.ok();
    assert_eq!((&found["items"][0]["id"], &found["total"]), (&json!(id), &json!(1)));
    let ben = app.enabled_user("ben").await;
    assert_eq!(ben.page(&format!("/api/token/search?token={first}"), "id").await, (vec![], 0));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_1_the_owner_sees_where_an_ended_key_is_still_tried(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (id, first) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    rotates(&ana, id, json!({ "grace_seconds": 0, "grace_from": "now" })).await.ok();
    let body = json!({ "key": first, "quota": 3, "ip": "192.0.2.7", "model": "o1" });
    let there = app.server_ahead(0);
    refused(&asks(&gateway, "charge", &body).await, INVALID_KEY);
    assert!(!valid(&gateway.at(&there), &body).await);
    for server in [&app, &there] {
        server.refused_requests.write().await.unwrap();
    }
    let rows = ana.get(&format!("/api/usage/requests?token_id={id}&outcome=refused")).await.ok();
    let rows = rows["items"].as_array().unwrap();
    let tried: Vec<_> =
        rows.iter().map(|row| [&row["refusal"]["call"], &row["refusal"]["reason"], &row["ip"]]).collect();
    let row = |call| [json!(call), json!("invalid_key"), json!("192.0.2.7")];
    assert_eq!(json!(tried), json!([row("verify"), row("charge")]));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_1_rotations_are_in_the_audit_log_without_a_key(pool: PgPool) {
    let (_app, ana, _) = app_with_wallet(pool, 1_000).await;
    let (id, first) = ana.creates_with_key(json!({ "name": "one" })).await;
    let rotated = rotates(&ana, id, json!({ "grace_seconds": 60, "grace_from": "now" })).await;
    let old = rotated.ok()["old_keys"][0]["id"].as_i64().unwrap();
    ana.delete(&format!("/api/token/{id}/old_keys/{old}")).await.ok();
    let log = ana.get("/api/user/activity").await.ok();
    let lines = log["items"].as_array().unwrap();
    assert_eq!(
        (&lines[0]["action"], &lines[0]["details"]),
        (&json!("token.old_key_ended"), &json!({ "old_key": masked(&first) }))
    );
    let details = json!({ "old_key": masked(&first), "grace_seconds": "60", "grace_from": "now" });
    assert_eq!((&lines[1]["action"], &lines[1]["details"]), (&json!("token.rotated"), &details));
    let text = log.to_string();
    assert!(!text.contains(&first) && !text.contains(&new_key(&rotated)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_1_parallel_rotations_make_one_key_each_and_no_money(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (id, first) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let grace = json!({ "grace_seconds": 600, "grace_from": "now" });
    let answers = futures_util::future::join_all((0..8).map(|_| rotates(&ana, id, grace.clone()))).await;
    let (made, refused): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert_eq!((made.len(), refused.len()), (3, 5));
    for answer in refused {
        answer.refuses(409, "too_many_old_keys");
    }
    for key in made.into_iter().map(new_key).chain([first]) {
        asks(&gateway, "charge", &spend(&key)).await.ok();
    }
    let [used, left, wallet_used, wallet_left] =
        balances(&app, &ana, &new_key(answers.iter().find(|a| a.status == 200).unwrap())).await;
    assert_eq!([used, left, wallet_used, wallet_left], [4, 96, 4, 996]);
    assert_ledger_invariants(&app.pool).await;
}

/// Clocks are set back, after a failover for example. What was ended at once stays ended.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_1_an_ended_key_stays_ended_whatever_a_clock_says(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (id, first) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let other = app.server_ahead(0);
    let there = gateway.at(&other);
    app.clock.set_ahead(600);
    let second = new_key(&rotates(&ana, id, json!({ "grace_seconds": 0, "grace_from": "now" })).await);
    let third = new_key(&rotates(&ana, id, json!({ "grace_seconds": 0, "grace_from": "first_use" })).await);
    asks(&gateway, "charge", &spend(&third)).await.ok();
    let fourth = new_key(&rotates(&ana, id, json!({})).await);
    let old = old_keys(&ana, id).await[0]["id"].clone();
    app.clock.set_ahead(-700);
    ana.delete(&format!("/api/token/{id}/old_keys/{old}")).await.ok();
    for gateway in [&gateway, &there] {
        for key in [&first, &second, &third] {
            refused_everywhere(gateway, &spend(key), INVALID_KEY).await;
        }
        asks(gateway, "charge", &spend(&fourth)).await.ok();
    }
    assert!(old_keys(&ana, id).await.is_empty());
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_1_a_token_remembers_a_hundred_replaced_keys_and_forgets_none_that_works(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (id, first) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    rotates(&ana, id, json!({})).await.ok();
    for _ in 0..105 {
        rotates(&ana, id, json!({ "grace_seconds": 0, "grace_from": "now" })).await.ok();
    }
    assert_eq!((ended_keys(&ana, id).await.len(), old_keys(&ana, id).await.len()), (100, 1));
    asks(&gateway, "charge", &spend(&first)).await.ok();
    let count: i64 = sqlx::query_scalar("select count(*) from old_keys").fetch_one(&app.pool).await.unwrap();
    assert_eq!(count, 101);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_1_a_request_that_a_rate_refuses_begins_no_grace_period(pool: PgPool) {
    let (_app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let limits = json!({ "name": "one", "remain_quota": 100, "rate_limits": { "requests_per_minute": 1 } });
    let (id, first) = ana.creates_with_key(limits).await;
    forward_auth(&gateway, &first).await.ok();
    let second = new_key(&rotates(&ana, id, json!({})).await);
    forward_auth(&gateway, &second).await.refuses(429, "rate_limited");
    // A charge of another token gives the lane time for what was not queued.
    let (_, other) = ana.creates_with_key(json!({ "name": "two", "remain_quota": 100 })).await;
    asks(&gateway, "charge", &spend(&other)).await.ok();
    assert_eq!(old_keys(&ana, id).await[0]["expires_at"], Value::Null);
}
