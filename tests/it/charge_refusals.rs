//! Specification §11: charges, one by one and in batches, and the balances that limit them.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::TestApp;
use crate::harness::answer::Refusal;
use crate::harness::gateway::{
    INVALID_KEY, IP_NOT_ALLOWED, MODEL_NOT_ALLOWED, REUSED, USER_SHORT, app_with_wallet, asks, balances, edits,
    refused, valid,
};

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn each_charge_of_a_batch_succeeds_or_fails_alone(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 50).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let bad = (400, "invalid_charges", "`charges` must have 1 to 1000 entries");
    let one = json!({ "key": key, "quota": 0 });
    for charges in [json!(null), json!([]), json!(vec![one.clone(); 1_001])] {
        refused(&asks(&gateway, "charges", &json!({ "charges": charges })).await, bad);
    }
    let broken = json!({ "charges": [one, { "key": key, "quota": 0.5 }] });
    let whole = (400, "invalid_field", "`charges[1].quota` must be a whole number");
    refused(&asks(&gateway, "charges", &broken).await, whole);
    let again = json!({ "key": key, "quota": 20, "request_id": "r1" });
    let charges = json!([
        again, again, { "key": key, "quota": -1 }, { "key": "sk-none", "quota": 1 }, { "quota": 31, "key": key },
        { "key": key, "quota": 21, "request_id": "r1" }, { "key": key, "quota": 30, "request_id": "r2" },
    ]);
    let outcomes = asks(&gateway, "charges", &json!({ "charges": charges })).await.ok();
    let no = |(_, error, message): Refusal| json!({ "success": false, "error": error, "message": message });
    let made = |charged: i64, left: i64, request: &str| {
        json!({
            "success": true, "charged": charged, "remain_quota": left, "priced_by": "told", "request_id": request,
            "token_id": id,
            "user_id": ana.id, "name": "one", "group": "default",
        })
    };
    let first = made(20, 80, "r1");
    let quota = (400, "invalid_quota", "`quota` must be a whole number from 0 to 500000000000000");
    let last = made(30, 50, "r2");
    let expected = json!([first, first, no(quota), no(INVALID_KEY), no(USER_SHORT), no(REUSED), last]);
    assert_eq!(outcomes, expected);
    let full = json!({ "charges": vec![one; 1_000] });
    let outcomes = asks(&gateway, "charges", &full).await.ok();
    assert!(outcomes.as_array().unwrap().iter().all(|outcome| outcome["success"] == json!(true)));
    assert_eq!(balances(&app, &ana, &key).await, [50, 50, 50, 0]);
}

/// A model on one's own machine goes on when the money is out.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn what_costs_nothing_needs_no_quota(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 10).await;
    let (used, used_up) = ana.creates_with_key(json!({ "name": "used up", "remain_quota": 5 })).await;
    asks(&gateway, "charge", &json!({ "key": used_up, "quota": 5 })).await.ok();
    let (_, never_filled) = ana.creates_with_key(json!({ "name": "never filled" })).await;
    let eve = app.enabled_user("eve").await;
    let (_, no_wallet) = eve.creates_with_key(json!({ "name": "no wallet", "unlimited_quota": true })).await;
    for key in [&used_up, &never_filled, &no_wallet] {
        let nothing = json!({ "key": key, "quota": 0 });
        assert!(valid(&gateway, &nothing).await);
        asks(&gateway, "charge", &nothing).await.ok();
        let held = asks(&gateway, "reserve", &nothing).await.ok();
        let settle = json!({ "reservation_id": held["reservation_id"], "quota": 0 });
        assert_eq!(asks(&gateway, "settle", &settle).await.ok()["charged"], 0);
        for call in ["charge", "reserve"] {
            assert_eq!(asks(&gateway, call, &json!({ "key": key, "quota": 1 })).await.status.as_u16(), 402);
        }
    }
    // Without an amount it is not known that it costs nothing.
    assert!(!valid(&gateway, &json!({ "key": used_up })).await);
    // Limits of requests hold; a limit of a period that is 0 admits nothing, and one that is used up admits what costs
    // nothing.
    edits(&ana, used, json!({ "period_limits": { "day": 5 } })).await;
    asks(&gateway, "charge", &json!({ "key": used_up, "quota": 0 })).await.ok();
    edits(&ana, used, json!({ "period_limits": { "day": 0 } })).await;
    asks(&gateway, "charge", &json!({ "key": used_up, "quota": 0 })).await.refuses(429, "token_period_exceeded");
    edits(&ana, used, json!({ "period_limits": { "day": -1 }, "rate_limits": { "requests_per_minute": 0 } })).await;
    asks(&gateway, "charge", &json!({ "key": used_up, "quota": 0 })).await.refuses(429, "rate_limited");
}

/// `ip` may have a port, as proxies send it.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_address_with_a_port_is_that_address(pool: PgPool) {
    let (_app, ana, gateway) = app_with_wallet(pool, 10).await;
    let list = "203.0.113.0/24\n::ffff:198.51.100.0/120\n2001:db8::/32";
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 9, "allow_ips": list })).await;
    for ip in ["203.0.113.7:61598", "198.51.100.9", "[2001:db8::7]:443", "::ffff:203.0.113.7", "[::ffff:203.0.113.7]:1"]
    {
        assert!(valid(&gateway, &json!({ "key": key, "ip": ip })).await, "{ip}");
        asks(&gateway, "charge", &json!({ "key": key, "ip": ip, "quota": 1 })).await.ok();
    }
    refused(&asks(&gateway, "charge", &json!({ "key": key, "ip": "192.0.2.1:80", "quota": 1 })).await, IP_NOT_ALLOWED);
    for ip in ["203.0.113.7:x", "203.0.113.7:", "x"] {
        asks(&gateway, "charge", &json!({ "key": key, "ip": ip, "quota": 1 })).await.refuses(400, "invalid_ip");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_unlimited_token_is_limited_by_the_wallet_and_keeps_its_remain_quota(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 50).await;
    let token = json!({ "name": "free", "unlimited_quota": true, "remain_quota": 7 });
    let (_, key) = ana.creates_with_key(token).await;
    let verdict = asks(&gateway, "verify", &json!({ "key": key, "quota": 50 })).await.ok();
    let seen = ["valid", "unlimited_quota", "remain_quota", "usable_quota"].map(|field| verdict[field].clone());
    assert_eq!(seen, [json!(true), json!(true), json!(7), json!(50)]);
    let charged = asks(&gateway, "charge", &json!({ "key": key, "quota": 50 })).await.ok();
    assert_eq!((&charged["charged"], &charged["remain_quota"]), (&json!(50), &json!(7)));
    refused(&asks(&gateway, "charge", &json!({ "key": key, "quota": 1 })).await, USER_SHORT);
    refused(&asks(&gateway, "reserve", &json!({ "key": key, "quota": 1 })).await, USER_SHORT);
    app.fills(&ana, 1).await;
    asks(&gateway, "charge", &json!({ "key": key, "quota": 1 })).await.ok();
    let me = ana.get("/api/user/self").await.ok();
    assert_eq!((&me["quota"], &me["used_quota"]), (&json!(0), &json!(51)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l1_many_keys_spend_exactly_the_quota_of_their_wallet(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let mut keys = Vec::new();
    for number in 0..20 {
        let token = json!({ "name": format!("{number}"), "unlimited_quota": number % 2 == 0, "remain_quota": 500 });
        keys.push(ana.creates_with_key(token).await.1);
    }
    let body = |key: &String| json!({ "key": key, "quota": 7 });
    let bodies: Vec<Value> = keys.iter().flat_map(|key| std::iter::repeat_n(body(key), 10)).collect();
    let answers = futures_util::future::join_all(bodies.iter().map(|body| asks(&gateway, "charge", body))).await;
    let (charged, short): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert_eq!((charged.len(), short.len()), (142, 58));
    for answer in &short {
        refused(answer, USER_SHORT);
    }
    let mut used = 0;
    for (number, key) in keys.iter().enumerate() {
        let [spent, left, ..] = balances(&app, &ana, key).await;
        used += spent;
        assert!(number % 2 == 0 || spent + left == 500, "L2");
    }
    assert_eq!(used, 994);
    let me = ana.get("/api/user/self").await.ok();
    assert_eq!((&me["quota"], &me["used_quota"], &me["request_count"]), (&json!(6), &json!(994), &json!(142)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l8_a_full_queue_refuses_charges_and_loses_none(pool: PgPool) {
    let narrow = [("KEYMETER_LEDGER__LANES", "1"), ("KEYMETER_LEDGER__QUEUE", "1")];
    let app = TestApp::with(pool, &narrow).await;
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 1_000 })).await;
    let bodies: Vec<Value> =
        (0..100).map(|number| json!({ "key": key, "quota": 1, "request_id": format!("r{number}") })).collect();
    let answers = futures_util::future::join_all(bodies.iter().map(|body| asks(&gateway, "charge", body))).await;
    let (charged, busy): (Vec<_>, Vec<_>) = answers.iter().partition(|answer| answer.status == 200);
    assert!(!charged.is_empty() && !busy.is_empty());
    for answer in &busy {
        refused(answer, (503, "ledger_busy", "the ledger is busy; retry shortly"));
        assert_eq!(answer.header("retry-after"), Some("1"));
    }
    let taken = i64::try_from(charged.len()).unwrap();
    assert_eq!(balances(&app, &ana, &key).await, [taken, 1_000 - taken, taken, 1_000 - taken]);
    for body in &bodies {
        assert_eq!(asks(&gateway, "charge", body).await.ok()["charged"], 1);
    }
    assert_eq!(balances(&app, &ana, &key).await, [100, 900, 100, 900], "a retry charges exactly what was refused");
}

/// The statement that locks tokens does not read their lists: they are those in the cache, unless the token was edited.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l6_lists_that_were_edited_at_another_server_apply_to_the_next_charge(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let token = json!({ "name": "one", "remain_quota": 100, "model_limits_enabled": true, "model_limits": "o1" });
    let (id, key) = ana.creates_with_key(token).await;
    let other = gateway.at(&app.server_ahead(0));
    let charge = json!({ "key": key, "quota": 1, "model": "o1", "ip": "10.1.2.3" });
    asks(&other, "charge", &charge).await.ok();
    edits(&ana, id, json!({ "model_limits": "o2" })).await;
    refused(&asks(&other, "charge", &charge).await, MODEL_NOT_ALLOWED);
    edits(&ana, id, json!({ "model_limits": "o2,o1", "allow_ips": "10.1.2.4" })).await;
    refused(&asks(&other, "charge", &charge).await, IP_NOT_ALLOWED);
    edits(&ana, id, json!({ "allow_ips": "" })).await;
    asks(&other, "charge", &charge).await.ok();
}
