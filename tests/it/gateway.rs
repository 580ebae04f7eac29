//! Spec §11, gateway calls: verify, charge, reserve, settle, release.

use serde_json::json;
use sqlx::PgPool;

use crate::harness::gateway::{app_with_wallet, asks, balances, releases, reserves, settles};
use crate::harness::{START, TestApp};

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_key_is_verified_charged_reserved_settled_and_released(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, 1_000).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 500 })).await;
    let verdict = gateway.post("/api/gateway/verify", json!({ "key": key })).await.ok();
    let expected = json!({
        "valid": true, "token_id": id, "user_id": ana.id, "name": "one", "group": "default",
        "cross_group_retry": false, "unlimited_quota": false, "remain_quota": 500, "usable_quota": 500, "expires_at": 0,
    });
    assert_eq!(verdict, expected);
    let charge = json!({ "key": key, "quota": 100, "request_id": "r1", "prompt_tokens": 7, "completion_tokens": 3 });
    let charged = json!({
        "charged": 100, "remain_quota": 400, "priced_by": "told", "request_id": "r1", "token_id": id, "user_id": ana.id,
        "name": "one",
        "group": "default",
    });
    assert_eq!(gateway.post("/api/gateway/charge", charge.clone()).await.ok(), charged);
    assert_eq!(gateway.post("/api/gateway/charge", charge).await.ok(), charged);
    let held = gateway.post("/api/gateway/reserve", json!({ "key": key, "quota": 300 })).await.ok();
    let made = json!({
        "reservation_id": held["reservation_id"], "expires_at": START + 600, "reserved": 300, "remain_quota": 100,
        "request_id": held["request_id"], "token_id": id, "user_id": ana.id, "name": "one", "group": "default",
    });
    assert_eq!(held, made);
    let too_much = gateway.post("/api/gateway/charge", json!({ "key": key, "quota": 101 })).await;
    too_much.refuses_saying(402, "token_quota_insufficient", "insufficient token quota for this amount");
    let settle = json!({ "reservation_id": held["reservation_id"], "quota": 50 });
    let settled = gateway.post("/api/gateway/settle", settle).await.ok();
    assert_eq!(
        settled,
        json!({ "charged": 50, "shortfall": 0, "expired": false, "remain_quota": 350, "priced_by": "told" })
    );
    let held = gateway.post("/api/gateway/reserve", json!({ "key": key, "quota": 350 })).await.ok();
    let released = gateway.post("/api/gateway/release", json!({ "reservation_id": held["reservation_id"] })).await.ok();
    assert_eq!(released, json!({ "remain_quota": 350 }));
    let usage = app.holder_of(&key).get("/api/usage/token/").await.ok();
    assert_eq!((&usage["total_used"], &usage["total_available"]), (&json!(150), &json!(350)));
    let daily = ana.get(&format!("/api/token/{id}/usage")).await.ok();
    let day = json!({ "date": "2026-03-10", "usd": 0.0003, "requests": 2, "prompt_tokens": 7, "completion_tokens": 3 });
    assert_eq!(daily["daily"], json!([day]));
    let me = ana.get("/api/user/self").await.ok();
    assert_eq!((&me["quota"], &me["used_quota"], &me["request_count"]), (&json!(850), &json!(150), &json!(2)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn charges_and_reservations_name_the_group_of_the_token_or_else_of_its_owner(pool: PgPool) {
    let (_, ana, gateway) = app_with_wallet(pool, 1_000).await;
    for (own, shown) in [("", "default"), ("auto", "auto")] {
        let (id, key) = ana.creates_with_key(json!({ "name": shown, "remain_quota": 9, "group": own })).await;
        for call in ["charge", "reserve"] {
            let made = asks(&gateway, call, &json!({ "key": key, "quota": 1 })).await.ok();
            let seen = ["token_id", "user_id", "name", "group"].map(|field| made[field].clone());
            assert_eq!(seen, [json!(id), json!(ana.id), json!(shown), json!(shown)], "{call}");
        }
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_charge_records_the_request_that_it_was_made_for(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 500 })).await;
    let generated = asks(&gateway, "charge", &json!({ "key": key, "quota": 1 })).await.ok()["request_id"].clone();
    asks(&gateway, "charge", &json!({ "key": key, "quota": 2, "request_id": "r 2", "ip": "::ffff:10.1.2.3" }))
        .await
        .ok();
    let held = asks(&gateway, "reserve", &json!({ "key": key, "quota": 9, "ip": "2001:DB8::1" })).await.ok();
    settles(&gateway, &held["reservation_id"], 3).await.ok();
    let (of_reservation,): (String,) =
        sqlx::query_as("select request_id from reservations").fetch_one(&app.pool).await.unwrap();
    let charges: Vec<(String, Option<String>)> =
        sqlx::query_as("select request_id, ip from charges order by quota").fetch_all(&app.pool).await.unwrap();
    let expected = [
        (generated.as_str().unwrap().to_owned(), None),
        ("r 2".to_owned(), Some("10.1.2.3".to_owned())),
        (of_reservation, Some("2001:db8::1".to_owned())),
    ];
    assert_eq!(charges, expected);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l1_parallel_charges_on_one_key_take_exactly_what_is_there(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, 1_000_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "hot", "remain_quota": 1_000 })).await;
    let charges = (0..200).map(|_| gateway.post("/api/gateway/charge", json!({ "key": key, "quota": 7 })));
    let answers = futures_util::future::join_all(charges).await;
    let charged = answers.iter().filter(|answer| answer.status == 200).count();
    assert_eq!(charged, 1_000 / 7);
    let usage = app.holder_of(&key).get("/api/usage/token/").await.ok();
    assert_eq!((&usage["total_used"], &usage["total_available"]), (&json!(994), &json!(6)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l3_l5_usage_by_key_by_day_and_the_wallet_agree_with_the_ledger(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 10_000).await;
    let (one, one_key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 1_000 })).await;
    let (two, two_key) = ana.creates_with_key(json!({ "name": "two", "unlimited_quota": true })).await;
    let mut open = 0;
    for (number, key) in [&one_key, &two_key].into_iter().cycle().take(24).enumerate() {
        let number = i64::try_from(number).unwrap();
        let charge = json!({
            "key": key, "quota": number, "model": format!("o{}", number % 3),
            "request_id": format!("r{}", number / 4 * 4 + number % 2), "prompt_tokens": number, "completion_tokens": 1,
        });
        asks(&gateway, "charge", &charge).await;
        let held = reserves(&gateway, key, 20 + number).await;
        match number % 4 {
            0 | 1 => drop(settles(&gateway, &held, 30).await.ok()),
            2 => drop(releases(&gateway, &held).await.ok()),
            _ => open += 20 + number,
        }
        app.clock.advance(60);
    }
    // The oldest of the open reservations are overdue.
    app.expire_overdue().await;
    let (charged, requests, held): (i64, i64, i64) = sqlx::query_as(
        "select (select sum(quota)::bigint from charges), (select count(*) from charges), \
         (select sum(held)::bigint from reservations where state = 'open')",
    )
    .fetch_one(&app.pool)
    .await
    .unwrap();
    assert!(0 < held && held < open, "some reservations expired and some did not: {held} of {open}");
    let me = ana.get("/api/user/self").await.ok();
    let wallet = ["quota", "used_quota", "request_count"].map(|field| me[field].as_i64().unwrap());
    assert_eq!(wallet, [10_000 - charged - held, charged + held, requests]);
    for (id, key) in [(one, &one_key), (two, &two_key)] {
        let (charged, requests, prompt, completion): (i64, i64, i64, i64) = sqlx::query_as(
            "select sum(quota)::bigint, count(*), sum(prompt_tokens)::bigint, sum(completion_tokens)::bigint \
             from charges where token_id = $1",
        )
        .bind(id)
        .fetch_one(&app.pool)
        .await
        .unwrap();
        let held: i64 = sqlx::query_scalar(
            "select coalesce(sum(held), 0)::bigint from reservations where state = 'open' and token_id = $1",
        )
        .bind(id)
        .fetch_one(&app.pool)
        .await
        .unwrap();
        let [used, left, ..] = balances(&app, &ana, key).await;
        assert_eq!(used, charged + held);
        assert!(id == two || used + left == 1_000, "L2");
        let day = &ana.get(&format!("/api/token/{id}/usage")).await.ok()["daily"][0];
        let counts = ["requests", "prompt_tokens", "completion_tokens"].map(|field| day[field].as_i64().unwrap());
        assert_eq!(counts, [requests, prompt, completion]);
        let usd: f64 = format!("0.{:06}", 2 * charged).parse().unwrap();
        assert_eq!(day["usd"], json!(usd));
    }
}
