//! Specification §11: how reservations are settled, released and expired.

use keymeter::domain::clock::Clock;
use serde_json::json;
use sqlx::PgPool;

use crate::harness::gateway::{
    ENDED, NO_RESERVATION, app_with_wallet, asks, balances, edits, refused, releases, reserves, settles,
};
use crate::harness::ledger_invariants::assert_ledger_invariants;

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_reservation_is_found_only_by_its_whole_id(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 100).await;
    let ben = app.enabled_user("ben").await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let held = reserves(&gateway, &key, 40).await;
    let text = held.as_str().unwrap();
    let (_, number) = text.split_once('.').unwrap();
    let wrong = [
        String::new(),
        "r".to_owned(),
        number.to_owned(),
        text[1..].to_owned(),
        format!("x{}", &text[1..]),
        format!("{text}0"),
        format!("{text}.1"),
        format!("r{}.{number}", ben.id),
        format!("r.{number}"),
        format!("r{}.1", ana.id),
        format!("r{}.-1", ana.id),
        format!("r99999999999999999999.{number}"),
        format!("r{}.{number}", i64::MIN),
    ];
    for id in wrong {
        refused(&settles(&gateway, &json!(id), 1).await, NO_RESERVATION);
        refused(&releases(&gateway, &json!(id)).await, NO_RESERVATION);
    }
    assert_eq!(balances(&app, &ana, &key).await, [40, 60, 40, 60]);
    assert_eq!(settles(&gateway, &held, 40).await.ok()["charged"], 40);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l7_a_reservation_ends_exactly_once(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 1_000 })).await;
    let held = reserves(&gateway, &key, 300).await;
    let settled = settles(&gateway, &held, 100).await.ok();
    assert_eq!(
        settled,
        json!({ "charged": 100, "shortfall": 0, "expired": false, "remain_quota": 900, "priced_by": "told" })
    );
    assert_eq!(settles(&gateway, &held, 100).await.ok(), settled);
    for other in [0, 99, 101, 300] {
        refused(&settles(&gateway, &held, other).await, ENDED);
    }
    refused(&releases(&gateway, &held).await, ENDED);
    assert_eq!(balances(&app, &ana, &key).await, [100, 900, 100, 900]);
    let held = reserves(&gateway, &key, 900).await;
    for _ in 0..2 {
        assert_eq!(releases(&gateway, &held).await.ok(), json!({ "remain_quota": 900 }));
    }
    refused(&settles(&gateway, &held, 1).await, ENDED);
    app.clock.advance(86_400);
    app.expire_overdue().await;
    refused(&settles(&gateway, &held, 1).await, ENDED);
    assert_eq!(balances(&app, &ana, &key).await, [100, 900, 100, 900]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l7_of_parallel_settles_and_releases_only_one_kind_succeeds(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 1_000 })).await;
    let held = reserves(&gateway, &key, 300).await;
    let settling = futures_util::future::join_all((0..20).map(|_| settles(&gateway, &held, 120)));
    let releasing = futures_util::future::join_all((0..20).map(|_| releases(&gateway, &held)));
    let (settled, released) = tokio::join!(settling, releasing);
    let (winners, losers) = if settled[0].status == 200 { (settled, released) } else { (released, settled) };
    for answer in &winners {
        assert_eq!(answer.ok(), winners[0].ok());
    }
    for answer in &losers {
        refused(answer, ENDED);
    }
    let used = winners[0].ok()["charged"].as_i64().unwrap_or(0);
    assert_eq!(balances(&app, &ana, &key).await, [used, 1_000 - used, used, 1_000 - used]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l1_a_cost_above_the_hold_is_charged_up_to_both_balances(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 150).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let held = reserves(&gateway, &key, 60).await;
    let settled = json!({ "charged": 100, "shortfall": 20, "expired": false, "remain_quota": 0, "priced_by": "told" });
    assert_eq!(settles(&gateway, &held, 120).await.ok(), settled);
    assert_eq!(balances(&app, &ana, &key).await, [100, 0, 100, 50]);
    let (_, free) = ana.creates_with_key(json!({ "name": "free", "unlimited_quota": true, "remain_quota": 7 })).await;
    let held = reserves(&gateway, &free, 10).await;
    let settled = json!({ "charged": 50, "shortfall": 450, "expired": false, "remain_quota": 7, "priced_by": "told" });
    assert_eq!(settles(&gateway, &held, 500).await.ok(), settled);
    assert_eq!(balances(&app, &ana, &key).await, [100, 0, 150, 0]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l7_an_expired_reservation_returns_its_hold_and_is_settled_up_to_both_balances(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let [first, second, third] =
        [reserves(&gateway, &key, 30).await, reserves(&gateway, &key, 30).await, reserves(&gateway, &key, 30).await];
    let long = json!({ "key": key, "quota": 10, "ttl_seconds": 601 });
    let kept = asks(&gateway, "reserve", &long).await.ok()["reservation_id"].clone();
    app.clock.advance(599);
    app.expire_overdue().await;
    assert_eq!(balances(&app, &ana, &key).await, [100, 0, 100, 900], "not expired yet");
    app.clock.advance(1);
    app.expire_overdue().await;
    app.expire_overdue().await;
    assert_eq!(balances(&app, &ana, &key).await, [10, 90, 10, 990], "expired once");
    let settled = json!({ "charged": 70, "shortfall": 0, "expired": true, "remain_quota": 20, "priced_by": "told" });
    assert_eq!(settles(&gateway, &first, 70).await.ok(), settled);
    let settled = json!({ "charged": 20, "shortfall": 10, "expired": true, "remain_quota": 0, "priced_by": "told" });
    assert_eq!(settles(&gateway, &second, 30).await.ok(), settled);
    refused(&settles(&gateway, &second, 20).await, ENDED);
    assert_eq!(releases(&gateway, &third).await.ok(), json!({ "remain_quota": 0 }), "its hold was returned before");
    assert_eq!(settles(&gateway, &kept, 10).await.ok()["expired"], false);
    assert_eq!(balances(&app, &ana, &key).await, [100, 0, 100, 900]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l7_settling_an_expired_reservation_is_idempotent(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let held = reserves(&gateway, &key, 30).await;
    app.clock.advance(600);
    app.expire_overdue().await;
    let settled = settles(&gateway, &held, 70).await.ok();
    assert_eq!(
        settled,
        json!({ "charged": 70, "shortfall": 0, "expired": true, "remain_quota": 30, "priced_by": "told" })
    );
    assert_eq!(settles(&gateway, &held, 70).await.ok(), settled);
    assert_eq!(balances(&app, &ana, &key).await, [70, 30, 70, 930]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l7_reservations_of_a_deleted_token_can_be_settled_and_released(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 100).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let [settled, released, expired] =
        [reserves(&gateway, &key, 30).await, reserves(&gateway, &key, 30).await, reserves(&gateway, &key, 30).await];
    ana.delete(&format!("/api/token/{id}")).await.ok();
    assert_eq!(settles(&gateway, &settled, 20).await.ok()["charged"], 20);
    releases(&gateway, &released).await.ok();
    app.clock.advance(600);
    app.expire_overdue().await;
    let me = ana.get("/api/user/self").await.ok();
    assert_eq!((&me["quota"], &me["used_quota"]), (&json!(80), &json!(20)));
    releases(&gateway, &expired).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l7_a_reservation_that_is_charged_on_expiry_is_charged_once_by_the_job(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let limits = json!({ "concurrency": 1 });
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 500, "rate_limits": limits })).await;
    let reserve = json!({
        "key": key, "quota": 100, "ttl_seconds": 60, "on_expiry": "charge", "request_id": "r 1", "model": "o1",
        "ip": "10.1.2.3",
    });
    let held = asks(&gateway, "reserve", &reserve).await.ok()["reservation_id"].clone();
    // The database has to be reachable for five minutes.
    for seconds in [60, 239] {
        app.clock.advance(seconds);
        app.expire_overdue().await;
        let open: i64 = sqlx::query_scalar("select count(*) from reservations where state = 'open'")
            .fetch_one(&app.pool)
            .await
            .unwrap();
        assert_eq!(open, 1);
        asks(&gateway, "reserve", &json!({ "key": key, "quota": 1 })).await.refuses(429, "too_many_concurrent");
    }
    app.clock.advance(1);
    for _ in 0..2 {
        app.expire_overdue().await;
        assert_eq!(balances(&app, &ana, &key).await, [100, 400, 100, 900]);
    }
    let charges: Vec<(i64, i64, String, String, String, i64)> = sqlx::query_as(
        "select quota, shortfall, model, request_id, ip, prompt_tokens + completion_tokens from charges",
    )
    .fetch_all(&app.pool)
    .await
    .unwrap();
    assert_eq!(charges, [(100, 0, "o1".to_owned(), "r 1".to_owned(), "10.1.2.3".to_owned(), 0)]);
    for gateway in [&gateway, &gateway.at(&app.server_ahead(0))] {
        for quota in [0, 99, 100, 101] {
            refused(&settles(gateway, &held, quota).await, ENDED);
        }
        refused(&releases(gateway, &held).await, ENDED);
        refused(&asks(gateway, "extend", &json!({ "reservation_id": held, "ttl_seconds": 900 })).await, ENDED);
        refused(&asks(gateway, "reserve", &reserve).await, ENDED);
    }
    assert_eq!(balances(&app, &ana, &key).await, [100, 400, 100, 900]);
    let daily = &ana.get(&format!("/api/token/{id}/usage")).await.ok()["daily"][0];
    assert_eq!((&daily["usd"], &daily["requests"]), (&json!(0.0002), &json!(1)));
    asks(&gateway, "reserve", &json!({ "key": key, "quota": 1 })).await.ok();
    assert_ledger_invariants(&app.pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l7_a_reservation_that_would_be_charged_can_be_ended_until_the_job_does_it(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 500 })).await;
    let reserve = async |on_expiry: &str| {
        let body = json!({ "key": key, "quota": 100, "ttl_seconds": 60, "on_expiry": on_expiry });
        asks(&gateway, "reserve", &body).await.ok()["reservation_id"].clone()
    };
    let [settled, released, charged, returned] =
        [reserve("charge").await, reserve("charge").await, reserve("charge").await, reserve("release").await];
    app.clock.advance(290);
    // The database does not answer for a moment: gateways get another five minutes.
    app.clock.missed();
    app.clock.advance(299);
    app.expire_overdue().await;
    assert_eq!(balances(&app, &ana, &key).await, [300, 200, 300, 700], "what is given back does not wait for gateways");
    let answer = json!({ "charged": 30, "shortfall": 0, "expired": false, "remain_quota": 270, "priced_by": "told" });
    assert_eq!(settles(&gateway, &settled, 30).await.ok(), answer);
    assert_eq!(releases(&gateway, &released).await.ok(), json!({ "remain_quota": 370 }));
    app.clock.advance(1);
    app.expire_overdue().await;
    assert_eq!(settles(&gateway, &settled, 30).await.ok()["charged"], 30, "settling again is no error");
    releases(&gateway, &released).await.ok();
    refused(&settles(&gateway, &charged, 100).await, ENDED);
    assert_eq!(settles(&gateway, &returned, 5).await.ok()["expired"], true);
    assert_eq!(balances(&app, &ana, &key).await, [135, 365, 135, 865]);
    assert_ledger_invariants(&app.pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l7_a_hold_that_an_older_version_gave_back_on_expiry_is_settled_once_and_answered_again(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 500 })).await;
    for (cost, left) in [(30, 470), (170, 300)] {
        let held = asks(&gateway, "reserve", &json!({ "key": key, "quota": 100, "ttl_seconds": 60 })).await.ok();
        app.clock.advance(60);
        app.expire_overdue().await;
        // It knows nothing of this column.
        let asked = "update reservations set charge_on_expiry = true where state = 'expired'";
        sqlx::query(asked).execute(&app.pool).await.unwrap();
        let answer =
            json!({ "charged": cost, "shortfall": 0, "expired": true, "remain_quota": left, "priced_by": "told" });
        for gateway in [&gateway, &gateway, &gateway.at(&app.server_ahead(0))] {
            assert_eq!(settles(gateway, &held["reservation_id"], cost).await.ok(), answer);
        }
        refused(&settles(&gateway, &held["reservation_id"], cost + 1).await, ENDED);
    }
    assert_eq!(balances(&app, &ana, &key).await, [200, 300, 200, 800]);
    assert_ledger_invariants(&app.pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l7_a_clock_that_jumps_ahead_for_a_moment_charges_no_hold(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 500 })).await;
    app.clock.advance(300);
    let body = json!({ "key": key, "quota": 100, "ttl_seconds": 600, "on_expiry": "charge" });
    let held = asks(&gateway, "reserve", &body).await.ok();
    app.clock.set_ahead(720);
    for _ in 0..15 {
        app.clock.advance(1);
        app.expire_overdue().await;
    }
    app.clock.set_ahead(-720);
    app.expire_overdue().await;
    assert_eq!(settles(&gateway, &held["reservation_id"], 5).await.ok()["charged"], 5);
    assert_eq!(balances(&app, &ana, &key).await, [5, 495, 5, 995]);
    assert_ledger_invariants(&app.pool).await;
}

/// More than one round reads at once.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l7_the_holds_of_a_locked_wallet_keep_no_others_from_expiring(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 10_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    let bob = app.enabled_user("bob").await;
    app.fills(&bob, 1_000).await;
    let (_, bobs) = bob.creates_with_key(json!({ "name": "one", "remain_quota": 500 })).await;
    for _ in 0..1_001 {
        asks(&gateway, "reserve", &json!({ "key": key, "quota": 1, "ttl_seconds": 60 })).await.ok();
    }
    asks(&gateway, "reserve", &json!({ "key": bobs, "quota": 100, "ttl_seconds": 61 })).await.ok();
    app.clock.advance(61);
    let mut holder = app.pool.begin().await.unwrap();
    sqlx::query("select 1 from users where id = $1 for update").bind(ana.id).execute(&mut *holder).await.unwrap();
    app.expire_overdue().await;
    assert_eq!(balances(&app, &bob, &bobs).await, [0, 500, 0, 1_000]);
    holder.rollback().await.unwrap();
    app.expire_overdue().await;
    let open: i64 = sqlx::query_scalar("select count(*) from reservations where state = 'open'")
        .fetch_one(&app.pool)
        .await
        .unwrap();
    assert_eq!(open, 0);
    assert_ledger_invariants(&app.pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l7_a_hold_is_charged_on_expiry_whatever_became_of_its_token(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    app.clock.advance(300);
    for change in ["nothing", "disabled", "limit", "unlimited", "gateway revoked", "deleted"] {
        let (id, key) = ana.creates_with_key(json!({ "name": change, "remain_quota": 100 })).await;
        let root = app.root().await;
        let made = root.post("/api/admin/gateways", json!({ "name": "other" })).await.ok();
        let other = gateway.with_access_token(made["credential"].as_str().unwrap());
        let body = json!({ "key": key, "quota": 60, "ttl_seconds": 1, "on_expiry": "charge" });
        asks(&other, "reserve", &body).await.ok();
        match change {
            "disabled" => drop(ana.put("/api/token/?status_only=1", json!({ "id": id, "status": 2 })).await.ok()),
            "limit" => edits(&ana, id, json!({ "period_limits": { "day": 1 } })).await,
            "unlimited" => edits(&ana, id, json!({ "unlimited_quota": true })).await,
            "gateway revoked" => drop(root.delete(&format!("/api/admin/gateways/{}", made["id"])).await.ok()),
            "deleted" => drop(ana.delete(&format!("/api/token/{id}")).await.ok()),
            _ => {}
        }
        app.clock.advance(1);
        app.expire_overdue().await;
        let row = "select used_quota, remain_quota, held, open_reservations from tokens where id = $1";
        let row: (i64, i64, i64, i64) = sqlx::query_as(row).bind(id).fetch_one(&app.pool).await.unwrap();
        assert_eq!(row, (60, 40, 0, 0), "{change}");
        assert_ledger_invariants(&app.pool).await;
    }
    let me = ana.get("/api/user/self").await.ok();
    assert_eq!((&me["quota"], &me["used_quota"], &me["request_count"]), (&json!(640), &json!(360), &json!(6)));
}
