//! Specification §11: how a reservation is extended.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::answer::Refusal;
use crate::harness::gateway::{
    ENDED, EXHAUSTED, INVALID_KEY, IP_NOT_ALLOWED, MODEL_NOT_ALLOWED, NO_RESERVATION, TOKEN_DISABLED, TOKEN_EXPIRED,
    TOKEN_SHORT, USER_DISABLED, USER_SHORT, app_with_wallet, asks, balances, edits, refused, releases, reserves,
    settles, switches,
};
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::{Answer, Caller, START};

/// Extends a reservation by these fields.
async fn extends(gateway: &Caller, reservation: &Value, mut to: Value) -> Answer {
    to["reservation_id"] = reservation.clone();
    asks(gateway, "extend", &to).await
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_reservation_holds_more_or_longer_and_never_less(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 500 })).await;
    let held = asks(&gateway, "reserve", &json!({ "key": key, "quota": 100, "ttl_seconds": 300 })).await.ok();
    let held = held["reservation_id"].clone();
    let table = [
        (json!({ "quota": 250 }), 250, 300),
        (json!({ "quota": 250 }), 250, 300),
        (json!({ "quota": 100 }), 250, 300),
        (json!({ "quota": 0, "ttl_seconds": 1 }), 250, 300),
        (json!({ "ttl_seconds": 301 }), 250, 301),
        (json!({ "ttl_seconds": 300 }), 250, 301),
        (json!({ "usd": "0.0006", "ttl_seconds": 86_400 }), 300, 86_400),
        (json!({ "usd": 0.001 }), 500, 86_400),
    ];
    for (to, reserved, seconds) in table {
        let left = 500 - reserved;
        let extended = json!({
            "reservation_id": held, "reserved": reserved, "expires_at": START + seconds, "remain_quota": left,
        });
        assert_eq!(extends(&gateway, &held, to.clone()).await.ok(), extended, "{to}");
        assert_eq!(balances(&app, &ana, &key).await, [reserved, left, reserved, 1_000 - reserved], "{to}");
        assert_ledger_invariants(&app.pool).await;
    }
    app.clock.advance(86_399);
    app.expire_overdue().await;
    let settled = json!({ "charged": 450, "shortfall": 0, "expired": false, "remain_quota": 50, "priced_by": "told" });
    assert_eq!(settles(&gateway, &held, 450).await.ok(), settled);
    assert_eq!(balances(&app, &ana, &key).await, [450, 50, 450, 550]);
    assert_ledger_invariants(&app.pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn invalid_extensions_are_refused_with_the_name_of_the_field(pool: PgPool) {
    const NOTHING: Refusal = (400, "missing_field", "`quota`, `usd` or `ttl_seconds` is required");
    const QUOTA: Refusal = (400, "invalid_quota", "`quota` must be a whole number from 0 to 500000000000000");
    const USD: Refusal = (400, "invalid_usd", "`usd` must be a decimal number from 0 to 1000000000");
    const BOTH: Refusal = (400, "ambiguous_amount", "send either `quota` or `usd`, not both");
    const TTL: Refusal = (400, "invalid_ttl", "`ttl_seconds` must be 1 to 86400");
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 500 })).await;
    let held = reserves(&gateway, &key, 100).await;
    let table = [
        (json!({}), NOTHING),
        (json!({ "quota": null, "usd": null, "ttl_seconds": null }), NOTHING),
        (json!({ "quota": -1 }), QUOTA),
        (json!({ "usd": "much" }), USD),
        (json!({ "usd": 1, "quota": 1 }), BOTH),
        (json!({ "ttl_seconds": 0 }), TTL),
        (json!({ "ttl_seconds": 86_401, "quota": 200 }), TTL),
        (json!({ "quota": "200" }), (400, "invalid_field", "`quota` must be a whole number")),
    ];
    for (to, refusal) in table {
        refused(&extends(&gateway, &held, to).await, refusal);
    }
    let no_id = (400, "missing_field", "`reservation_id` is required");
    refused(&extends(&gateway, &json!(null), json!({ "quota": 200 })).await, no_id);
    assert_eq!(balances(&app, &ana, &key).await, [100, 400, 100, 900]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l7_only_an_open_reservation_is_extended_and_only_by_its_gateway(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 1_000 })).await;
    let more = || json!({ "quota": 400, "ttl_seconds": 900 });
    for end in ["settled", "released", "overdue", "expired"] {
        let held = reserves(&gateway, &key, 100).await;
        match end {
            "settled" => drop(settles(&gateway, &held, 0).await.ok()),
            "released" => drop(releases(&gateway, &held).await.ok()),
            _ => app.clock.advance(600),
        }
        if end != "overdue" {
            app.expire_overdue().await;
        }
        refused(&extends(&gateway, &held, more()).await, ENDED);
        refused(&extends(&gateway, &held, json!({ "quota": 100 })).await, ENDED);
        app.expire_overdue().await;
        assert_eq!(balances(&app, &ana, &key).await, [0, 1_000, 0, 1_000], "{end}");
    }
    let held = reserves(&gateway, &key, 100).await;
    refused(&extends(&app.gateway().await, &held, more()).await, NO_RESERVATION);
    for unknown in ["", "r1.1", "r99.1"] {
        refused(&extends(&gateway, &json!(unknown), more()).await, NO_RESERVATION);
    }
    assert_eq!(balances(&app, &ana, &key).await, [100, 900, 100, 900]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l6_an_extension_is_admitted_like_a_reservation_of_what_is_added(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let period = (
        429,
        "token_period_exceeded",
        "this token may use 250 quota units per day and has used 0; the day ends in 12 h",
    );
    // What refuses more quota, and whether it refuses more time too.
    let table: [(&str, Refusal, bool); 11] = [
        ("disabled", TOKEN_DISABLED, true),
        ("expired", TOKEN_EXPIRED, true),
        ("deleted", INVALID_KEY, true),
        ("model", MODEL_NOT_ALLOWED, true),
        ("address", IP_NOT_ALLOWED, true),
        ("exhausted", EXHAUSTED, false),
        ("short", TOKEN_SHORT, false),
        ("wallet", USER_SHORT, false),
        ("period", period, false),
        ("free", (200, "", ""), false),
        ("owner disabled", USER_DISABLED, true),
    ];
    for (change, refusal, of_time) in table {
        app.fills(&ana, 1_000).await;
        let (id, key) = ana.creates_with_key(json!({ "name": change, "remain_quota": 500 })).await;
        let body = json!({ "key": key, "quota": 100, "model": "o1", "ip": "10.1.2.3" });
        let held = asks(&gateway, "reserve", &body).await.ok()["reservation_id"].clone();
        let there = gateway.at(&app.server_ahead(0));
        match change {
            "disabled" => drop(ana.put("/api/token/?status_only=1", json!({ "id": id, "status": 2 })).await.ok()),
            "expired" => edits(&ana, id, json!({ "expired_time": START })).await,
            "deleted" => drop(ana.delete(&format!("/api/token/{id}")).await.ok()),
            "owner disabled" => switches(&app, &ana, 2).await,
            "model" => edits(&ana, id, json!({ "model_limits_enabled": true, "model_limits": "o2" })).await,
            "address" => edits(&ana, id, json!({ "allow_ips": "10.1.2.4" })).await,
            "exhausted" => edits(&ana, id, json!({ "remain_quota": 0 })).await,
            "short" => edits(&ana, id, json!({ "remain_quota": 199 })).await,
            "wallet" => app.fills(&ana, 199).await,
            "period" => edits(&ana, id, json!({ "period_limits": { "day": 250 } })).await,
            _ => {}
        }
        let row = async || {
            let row = "select held, expires_at from reservations where state = 'open'";
            sqlx::query_as::<_, (i64, i64)>(row).fetch_one(&app.pool).await.unwrap()
        };
        let before = row().await;
        for gateway in [&gateway, &there] {
            let more = extends(gateway, &held, json!({ "quota": 300, "ttl_seconds": 900 })).await;
            let longer = extends(gateway, &held, json!({ "ttl_seconds": 800 })).await;
            if refusal.0 == 200 {
                more.ok();
            } else {
                refused(&more, refusal);
            }
            if of_time {
                refused(&longer, refusal);
                assert_eq!(row().await, before, "{change}");
            } else {
                longer.ok();
            }
            // What it already is, it may be.
            extends(gateway, &held, json!({ "quota": 100, "ttl_seconds": 1 })).await.ok();
        }
        assert_ledger_invariants(&app.pool).await;
        assert_eq!(settles(&gateway, &held, 100).await.ok()["charged"], 100, "{change}");
    }
    app.refused_requests.write().await.unwrap();
    let counted: i64 =
        sqlx::query_scalar("select sum(requests)::bigint from refused_requests where reason = 'token_disabled'")
            .fetch_one(&app.pool)
            .await
            .unwrap();
    assert_eq!(counted, 2, "refused extensions are shown like other refusals");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_extension_is_no_further_request_and_no_further_reservation(pool: PgPool) {
    let (_, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let limits = json!({ "requests_per_minute": 1, "concurrency": 1 });
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 500, "rate_limits": limits })).await;
    let held = reserves(&gateway, &key, 100).await;
    for n in 1..=5 {
        let extended = extends(&gateway, &held, json!({ "quota": 100 + n, "ttl_seconds": 600 + n })).await.ok();
        assert_eq!(extended["reserved"], 100 + n);
    }
    asks(&gateway, "reserve", &json!({ "key": key, "quota": 1 })).await.refuses(429, "rate_limited");
    releases(&gateway, &held).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l1_parallel_extensions_hold_no_more_than_there_is(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 300 })).await;
    let mut open = Vec::new();
    for _ in 0..10 {
        open.push(reserves(&gateway, &key, 10).await);
    }
    let there = gateway.at(&app.server_ahead(0));
    let both = [&gateway, &there];
    let all = open.iter().cycle().take(40).enumerate().map(|(n, held)| {
        let total = 20 + 10 * (n % 4);
        extends(both[n % 2], held, json!({ "quota": total }))
    });
    let answers = futures_util::future::join_all(all).await;
    assert!(answers.iter().any(|answer| answer.status == 200) && answers.iter().any(|answer| answer.status == 402));
    let held: i64 =
        sqlx::query_scalar("select sum(held)::bigint from reservations").fetch_one(&app.pool).await.unwrap();
    assert!(held > 280 && held <= 300, "{held}");
    assert_eq!(balances(&app, &ana, &key).await, [held, 300 - held, held, 1_000 - held]);
    assert_ledger_invariants(&app.pool).await;
}
