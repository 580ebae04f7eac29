//! Costs that are computed from counts by the price list (contract: prices).

use std::path::Path;

use serde_json::{Value, json};
use sqlx::PgPool;
use tempfile::NamedTempFile;

use crate::harness::database;
use crate::harness::gateway::{
    ENDED, NO_RESERVATION, REUSED, TOKEN_DISABLED, TOKEN_SHORT, asks, balances, edits, refused, settles,
};
use crate::harness::ledger_invariants::{assert_ledger_invariants, violations};
use crate::harness::{Caller, START, TestApp, process};

/// 2 and 10 dollars, so that a token of the prompt is a unit and one of the completion are five.
const PRICES: &str = r#"
    [groups.default]
    description = ""
    ratio = "1"
    [groups.half]
    description = ""
    ratio = "0.5"
    [prices]
    "gpt-5*" = { prompt = "2", completion = "10", cached = "0.2", cache_write = "1" }
    "writes" = { prompt = "2", completion = "10", cache_write = "3" }
    "long" = { prompt = "2", completion = "10", above = { prompt_tokens = 1000, prompt = "4", completion = "20" } }
    "picture" = { request = "0.04" }
    "dear" = { prompt = "1000000", completion = "1000000" }
"#;

fn file(text: &str) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

/// A service with these prices, a user with a wallet, and a gateway.
async fn app_with_prices(pool: PgPool, file: &Path) -> (TestApp, Caller, Caller) {
    let app = TestApp::with_file(pool, file).await;
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, 1_000_000).await;
    (app, ana, gateway)
}

const NOT_PRICED: &str = "model_not_priced";

fn not_priced(model: &str) -> String {
    format!("the model {model:?} has no price: add one with `keymeter prices set`, or send `quota` or `usd`")
}

/// Of the newest charge: units, the price, and the counts of all kinds.
async fn last_charge(pool: &PgPool) -> (i64, Option<String>, [Option<i64>; 4]) {
    let row: (i64, Option<String>, i64, i64, Option<i64>, Option<i64>) = sqlx::query_as(
        "select c.quota + c.shortfall, p.content, prompt_tokens, completion_tokens, cached_tokens, cache_write_tokens \
         from charges c left join prices p on p.id = c.price_id order by c.id desc limit 1",
    )
    .fetch_one(pool)
    .await
    .unwrap();
    (row.0, row.1, [Some(row.2), Some(row.3), row.4, row.5])
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l10_counts_cost_what_the_price_of_the_model_says(pool: PgPool) {
    let file = file(PRICES);
    let (app, ana, gateway) = app_with_prices(pool.clone(), file.path()).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    let (_, half) = ana.creates_with_key(json!({ "name": "half", "unlimited_quota": true, "group": "half" })).await;
    let table = [
        (json!({ "key": key, "model": "gpt-5", "prompt_tokens": 100, "completion_tokens": 10 }), 150),
        (json!({ "key": key, "model": "gpt-5-mini", "prompt_tokens": 0, "completion_tokens": 1 }), 5),
        (json!({ "key": half, "model": "gpt-5", "prompt_tokens": 100, "completion_tokens": 11 }), 78),
        (
            json!({ "key": key, "model": "gpt-5", "prompt_tokens": 100, "completion_tokens": 0, "cached_tokens": 50 }),
            55,
        ),
        (
            json!({ "key": key, "model": "gpt-5", "prompt_tokens": 100, "completion_tokens": 0, "cached_tokens": 50,
                "cache_write_tokens": 50 }),
            30,
        ),
        (json!({ "key": key, "model": "long", "prompt_tokens": 1000, "completion_tokens": 1 }), 1_005),
        (json!({ "key": key, "model": "long", "prompt_tokens": 1001, "completion_tokens": 1 }), 2_012),
        (json!({ "key": key, "model": "picture", "prompt_tokens": 0, "completion_tokens": 0 }), 20_000),
    ];
    for (body, units) in table {
        assert_eq!(asks(&gateway, "charge", &body).await.ok()["charged"], units, "{body}");
        let charged = asks(&gateway, "charges", &json!({ "charges": [body] })).await.ok();
        assert_eq!(charged[0]["charged"], units, "{body}");
        let (recorded, price, counts) = last_charge(&pool).await;
        assert_eq!((recorded, price.is_some()), (units, true));
        let sent = ["prompt_tokens", "completion_tokens", "cached_tokens", "cache_write_tokens"];
        assert_eq!(counts, sent.map(|name| body[name].as_i64()));
        let made = asks(&gateway, "reserve", &body).await.ok();
        assert_eq!(made["reserved"], units, "{body}");
        let mut settle = body.clone();
        settle["reservation_id"] = made["reservation_id"].clone();
        settle["model"] = Value::Null;
        assert_eq!(asks(&gateway, "settle", &settle).await.ok()["charged"], units, "{body}");
        assert_eq!(last_charge(&pool).await, (units, price, counts), "the reservation's model is the default");
        let verified = asks(&gateway, "verify", &body).await.ok();
        assert_eq!(verified["valid"], true, "{body}");
    }
    // What is written to the cache is not known before.
    let most = json!({ "key": key, "model": "writes", "prompt_tokens": 100, "completion_tokens": 10 });
    assert_eq!(asks(&gateway, "reserve", &most).await.ok()["reserved"], 200);
    // An amount counts, whatever the counts say.
    let sent = json!({ "key": key, "model": "gpt-5", "quota": 7, "prompt_tokens": 100, "completion_tokens": 10,
        "cached_tokens": 3 });
    assert_eq!(asks(&gateway, "charge", &sent).await.ok()["charged"], 7);
    assert_eq!(last_charge(&pool).await, (7, None, [Some(100), Some(10), Some(3), None]));
    assert_ledger_invariants(&app.pool).await;
    let prices: i64 = sqlx::query_scalar("select count(*) from prices").fetch_one(&pool).await.unwrap();
    assert_eq!(prices, 4, "each price has one row");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_settlement_may_name_the_model_that_answered(pool: PgPool) {
    let file = file(PRICES);
    let (_, ana, gateway) = app_with_prices(pool.clone(), file.path()).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 3000 })).await;
    let reserve = json!({ "key": key, "model": "long", "prompt_tokens": 2000, "completion_tokens": 100 });
    // 4 and 20 dollars: more than the key has.
    refused(&asks(&gateway, "reserve", &reserve).await, TOKEN_SHORT);
    edits(&ana, id, json!({ "remain_quota": 9000 })).await;
    let made = asks(&gateway, "reserve", &reserve).await.ok();
    assert_eq!(made["reserved"], 5_000);
    let settle = |model: &str| json!({ "reservation_id": made["reservation_id"], "model": model, "prompt_tokens": 2000, "completion_tokens": 40 });
    // The token is deleted meanwhile, and its group still says the ratio.
    ana.delete(&format!("/api/token/{id}")).await.ok();
    let settled = asks(&gateway, "settle", &settle("gpt-5-mini")).await.ok();
    assert_eq!((&settled["charged"], &settled["shortfall"]), (&json!(2_200), &json!(0)));
    let model: String = sqlx::query_scalar("select model from charges").fetch_one(&pool).await.unwrap();
    assert_eq!(model, "gpt-5-mini");
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn work_that_is_done_is_never_free_because_a_price_is_missing(pool: PgPool) {
    let file = file(PRICES);
    let (app, ana, gateway) = app_with_prices(pool.clone(), file.path()).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    let reserve = json!({ "key": key, "model": "gpt-5", "prompt_tokens": 100, "completion_tokens": 100 });
    let settle = async |model: Option<&str>, gone: bool| {
        let id = asks(&gateway, "reserve", &reserve).await.ok()["reservation_id"].clone();
        if gone {
            app.sets_prices("[prices]\n").await;
        }
        let body = json!({ "reservation_id": id, "model": model, "prompt_tokens": 100, "completion_tokens": 10 });
        let first = asks(&gateway, "settle", &body).await.ok();
        assert_eq!(asks(&gateway, "settle", &body).await.ok()["charged"], first["charged"], "a retry is the same");
        first["charged"].as_i64().unwrap()
    };
    assert_eq!(settle(Some("nobody-knows"), false).await, 150, "the price of the model that it was made for");
    assert_eq!(settle(None, true).await, 600, "the whole hold");
    // A retry still gets the first answer when there is a price again, also on another server.
    let id: i64 = sqlx::query_scalar("select id from reservations where charged = 600").fetch_one(&pool).await.unwrap();
    app.sets_prices(PRICES).await;
    let body = json!({ "reservation_id": format!("r{}.{id}", ana.id), "prompt_tokens": 100, "completion_tokens": 10 });
    for gateway in [&gateway, &gateway.at(&app.server_with_file(file.path()).await)] {
        assert_eq!(asks(gateway, "settle", &body).await.ok()["charged"], 600);
    }
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_change_of_the_group_makes_no_work_cheaper_that_has_begun(pool: PgPool) {
    let file = file(PRICES);
    let (_, ana, gateway) = app_with_prices(pool.clone(), file.path()).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    let counts = json!({ "key": key, "model": "gpt-5", "prompt_tokens": 100, "completion_tokens": 10 });
    let made = asks(&gateway, "reserve", &counts).await.ok();
    edits(&ana, id, json!({ "group": "half" })).await;
    let settle = json!({ "reservation_id": made["reservation_id"], "prompt_tokens": 100, "completion_tokens": 10 });
    assert_eq!(asks(&gateway, "settle", &settle).await.ok()["charged"], 150);
    assert_eq!(asks(&gateway, "charge", &counts).await.ok()["charged"], 75);
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_price_of_all_others_replaces_no_price_of_the_requested_model(pool: PgPool) {
    let file = file(
        "[prices]\n\"gpt-5\" = { prompt = \"2\", completion = \"10\" }\n\"*\" = { prompt = \"0\", completion = \"0\" }\n",
    );
    let (_, ana, gateway) = app_with_prices(pool.clone(), file.path()).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    let table = [("gpt-5", "gpt-5-2026", 150), ("other", "another", 0), ("other", "gpt-5", 150)];
    for (requested, answered, units) in table {
        let counts = json!({ "key": key, "model": requested, "prompt_tokens": 100, "completion_tokens": 10 });
        let made = asks(&gateway, "reserve", &counts).await.ok();
        let settle = json!({ "reservation_id": made["reservation_id"], "model": answered, "prompt_tokens": 100,
            "completion_tokens": 10 });
        assert_eq!(asks(&gateway, "settle", &settle).await.ok()["charged"], units, "{requested} {answered}");
    }
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_deleted_token_is_settled_by_the_ratio_of_its_group(pool: PgPool) {
    let file = file(PRICES);
    let (_, ana, gateway) = app_with_prices(pool.clone(), file.path()).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true, "group": "half" })).await;
    let counts = json!({ "key": key, "model": "gpt-5", "prompt_tokens": 100, "completion_tokens": 10 });
    let made = asks(&gateway, "reserve", &counts).await.ok();
    assert_eq!(made["reserved"], 75);
    ana.delete(&format!("/api/token/{id}")).await.ok();
    let settle = json!({ "reservation_id": made["reservation_id"], "prompt_tokens": 100, "completion_tokens": 10 });
    assert_eq!(asks(&gateway, "settle", &settle).await.ok()["charged"], 75);
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_settlement_beyond_the_balances_keeps_its_price(pool: PgPool) {
    let file = file(PRICES);
    let (app, ana, gateway) = app_with_prices(pool.clone(), file.path()).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let reserve = json!({ "key": key, "model": "gpt-5", "prompt_tokens": 50, "completion_tokens": 10 });
    let made = asks(&gateway, "reserve", &reserve).await.ok();
    let settle = json!({ "reservation_id": made["reservation_id"], "prompt_tokens": 50, "completion_tokens": 30 });
    let settled = asks(&gateway, "settle", &settle).await.ok();
    assert_eq!((&settled["charged"], &settled["shortfall"]), (&json!(100), &json!(100)));
    assert_eq!(last_charge(&pool).await.0, 200);
    assert_eq!(balances(&app, &ana, &key).await[..2], [100, 0]);
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_model_without_a_price_is_refused_before_the_call_with_its_name(pool: PgPool) {
    let file = file(PRICES);
    let (app, ana, gateway) = app_with_prices(pool.clone(), file.path()).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let body = json!({ "key": key, "model": "gp\"t", "prompt_tokens": 1, "completion_tokens": 1, "request_id": "r" });
    let (code, message) = (NOT_PRICED, not_priced("gp\"t"));
    for call in ["charge", "reserve"] {
        asks(&gateway, call, &body).await.refuses_saying(403, code, &message);
    }
    let outcomes = asks(&gateway, "charges", &json!({ "charges": [body] })).await.ok();
    assert_eq!(outcomes, json!([{ "success": false, "error": code, "message": message }]));
    let verified = asks(&gateway, "verify", &body).await.ok();
    assert_eq!((&verified["valid"], &verified["reason"]), (&json!(false), &json!(code)));
    // It is in the list of requests, where its owner sees why.
    app.refused_requests.write().await.unwrap();
    let rows = ana.get("/api/usage/requests?outcome=refused").await.ok()["items"].clone();
    let reasons: Vec<_> =
        rows.as_array().unwrap().iter().map(|row| (&row["refusal"]["reason"], &row["model"])).collect();
    assert_eq!(reasons.len(), 4, "{rows}");
    assert!(reasons.iter().all(|row| *row == (&json!(code), &json!("gp\"t"))), "{rows}");
    // Reasons that come first are told first, and a refused request uses up no request id.
    edits(&ana, id, json!({ "model_limits_enabled": true, "model_limits": "gpt-5" })).await;
    let answer = asks(&gateway, "charge", &body).await;
    answer.refuses_saying(403, "model_not_allowed", "this token may not use this model");
    ana.put("/api/token/?status_only=1", json!({ "id": id, "status": 2 })).await.ok();
    refused(&asks(&gateway, "charge", &body).await, TOKEN_DISABLED);
    let most = 1_000_000_000_000_i64;
    let dear = json!({ "key": key, "model": "dear", "prompt_tokens": most, "completion_tokens": most });
    edits(&ana, id, json!({ "model_limits_enabled": false })).await;
    for call in ["charge", "reserve"] {
        refused(&asks(&gateway, call, &dear).await, TOKEN_DISABLED);
    }
    assert_eq!(asks(&gateway, "verify", &dear).await.ok()["reason"], "token_disabled");
    assert_eq!(balances(&app, &ana, &key).await, [0, 100, 0, 1_000_000]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn counts_that_say_no_cost_are_refused(pool: PgPool) {
    let file = file(PRICES);
    let (_, ana, gateway) = app_with_prices(pool.clone(), file.path()).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let part = "`cache_read_tokens` counts a part of `input_tokens`, so it must not be more than that";
    let parts = "`cache_read_tokens` and `cache_write_tokens` are parts of `input_tokens`, so together they must not \
                 be more than that";
    let required = "`quota`, `usd`, `units`, `usage`, or `prompt_tokens` and `completion_tokens` are required";
    let table = [
        (json!({ "prompt_tokens": 1 }), "missing_field", required),
        (json!({ "completion_tokens": 1 }), "missing_field", required),
        (json!({ "cached_tokens": 0 }), "missing_field", required),
        (
            json!({ "prompt_tokens": 1, "completion_tokens": 1, "model": "" }),
            "missing_field",
            "without `quota` and `usd`, `model` is required",
        ),
        (json!({ "prompt_tokens": 1, "completion_tokens": 1, "cached_tokens": 2 }), "invalid_count", part),
        (
            json!({ "prompt_tokens": 2, "completion_tokens": 1, "cached_tokens": 2, "cache_write_tokens": 1 }),
            "invalid_count",
            parts,
        ),
        (
            json!({ "prompt_tokens": 1, "completion_tokens": 1, "cached_tokens": -1 }),
            "invalid_count",
            "`cached_tokens` must be a number from 0 to 1000000000000, with 9 decimals at most",
        ),
        (
            json!({ "prompt_tokens": 1, "completion_tokens": 1, "cache_write_tokens": 1_000_000_000_001_i64 }),
            "invalid_count",
            "`cache_write_tokens` must be a number from 0 to 1000000000000, with 9 decimals at most",
        ),
        (
            json!({ "prompt_tokens": 1_000_000_000_000_i64, "completion_tokens": 1, "model": "dear" }),
            "invalid_count",
            "these counts cost more than 1000000000 dollars",
        ),
    ];
    for (fields, code, message) in table {
        let mut body = json!({ "key": key, "model": "gpt-5" });
        body.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        for call in ["verify", "charge", "reserve"] {
            // Who sends no cost to verify does not ask about it.
            if call != "verify" || message != required {
                refused(&asks(&gateway, call, &body).await, (400, code, message));
            }
        }
        let outcomes = asks(&gateway, "charges", &json!({ "charges": [body] })).await.ok();
        assert_eq!(outcomes, json!([{ "success": false, "error": code, "message": message }]));
        if body["model"] != "" {
            let made = asks(&gateway, "reserve", &json!({ "key": key, "quota": 1, "model": body["model"] })).await.ok();
            body["reservation_id"] = made["reservation_id"].clone();
            let answer = asks(&gateway, "settle", &body).await;
            if code == "missing_field" {
                refused(&answer, (400, code, message));
            } else {
                // A settlement whose cost cannot be told is charged its hold.
                assert_eq!((&answer.ok()["charged"], &answer.ok()["priced_by"]), (&json!(1), &json!("hold")));
            }
        }
    }
    let made = asks(&gateway, "reserve", &json!({ "key": key, "quota": 1 })).await.ok();
    let mut settle = json!({ "reservation_id": made["reservation_id"], "prompt_tokens": 1, "completion_tokens": 1 });
    settle["model"] = json!("x".repeat(129));
    refused(
        &asks(&gateway, "settle", &settle).await,
        (400, "invalid_model", "`model` must have at most 128 characters"),
    );
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l4_a_retry_after_a_change_of_the_price_gets_the_first_answer(pool: PgPool) {
    let file = file(PRICES);
    let (app, ana, gateway) = app_with_prices(pool.clone(), file.path()).await;
    let other = app.gateway().await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    let counts = |id: &str| {
        json!({ "key": key, "model": "gpt-5", "prompt_tokens": 10, "completion_tokens": 1, "cached_tokens": 5,
            "request_id": id })
    };
    let charged = asks(&gateway, "charge", &counts("c")).await.ok();
    let reserved = asks(&gateway, "reserve", &counts("r")).await.ok();
    let settled_id = asks(&gateway, "reserve", &counts("s")).await.ok()["reservation_id"].clone();
    let settle = |prompt: i64| json!({ "reservation_id": settled_id, "prompt_tokens": prompt, "completion_tokens": 2, "cached_tokens": 5 });
    let settled = asks(&gateway, "settle", &settle(20)).await.ok();
    assert_eq!((&charged["charged"], &settled["charged"]), (&json!(11), &json!(26)));

    for prices in [PRICES.replace("\"10\"", "\"20\""), PRICES.replace("\"gpt-5*\"", "\"gpt-6*\"")] {
        app.sets_prices(&prices).await;
        for gateway in [&gateway, &gateway.at(&app.server_with_file(file.path()).await)] {
            assert_eq!(asks(gateway, "charge", &counts("c")).await.ok(), charged);
            assert_eq!(asks(gateway, "reserve", &counts("r")).await.ok(), reserved);
            let again = asks(gateway, "settle", &settle(20)).await.ok();
            assert_eq!((&again["charged"], &again["expired"]), (&settled["charged"], &settled["expired"]));
            let mut changed = counts("c");
            changed["cached_tokens"] = json!(6);
            refused(&asks(gateway, "charge", &changed).await, REUSED);
        }
    }
    // Another cost than the first, whatever the price is now.
    app.sets_prices(PRICES).await;
    refused(&asks(&gateway, "settle", &settle(21)).await, ENDED);
    refused(&settles(&gateway, &settled_id, 27).await, ENDED);
    assert_eq!(settles(&gateway, &settled_id, 26).await.ok()["charged"], 26, "the same cost is the same settlement");
    refused(&asks(&other, "settle", &settle(20)).await, NO_RESERVATION);
    asks(&gateway, "release", &json!({ "reservation_id": reserved["reservation_id"] })).await.ok();
    let ended = json!({ "reservation_id": reserved["reservation_id"], "prompt_tokens": 1, "completion_tokens": 1 });
    refused(&asks(&gateway, "settle", &ended).await, ENDED);
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l7_parallel_settlements_by_the_same_counts_are_one(pool: PgPool) {
    let file = file(PRICES);
    let (app, ana, gateway) = app_with_prices(pool.clone(), file.path()).await;
    let second = app.server_with_file(file.path()).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    for _ in 0..5 {
        let reserve = json!({ "key": key, "model": "gpt-5", "prompt_tokens": 10, "completion_tokens": 10 });
        let id = asks(&gateway, "reserve", &reserve).await.ok()["reservation_id"].clone();
        let body = json!({ "reservation_id": id, "prompt_tokens": 10, "completion_tokens": 7 });
        let servers = [gateway.clone(), gateway.at(&second)];
        let calls = (0..20).map(|n| asks(&servers[n % 2], "settle", &body));
        for answer in futures_util::future::join_all(calls).await {
            assert_eq!(answer.ok()["charged"], 45);
        }
    }
    let (count, sum): (i64, i64) =
        sqlx::query_as("select count(*), sum(quota)::bigint from charges").fetch_one(&pool).await.unwrap();
    assert_eq!((count, sum), (5, 225));
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn many_requests_at_once_never_take_more_than_there_is(pool: PgPool) {
    let file = file(PRICES);
    let (app, ana, gateway) = app_with_prices(pool.clone(), file.path()).await;
    let second = app.server_with_file(file.path()).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 1_000 })).await;
    let body = json!({ "key": key, "model": "gpt-5", "prompt_tokens": 50, "completion_tokens": 10 });
    let servers = [gateway.clone(), gateway.at(&second)];
    let calls = (0..40).map(|n| asks(&servers[n % 2], ["charge", "reserve"][n / 2 % 2], &body));
    let answers = futures_util::future::join_all(calls).await;
    let taken: i64 = answers
        .iter()
        .filter(|answer| answer.status == 200)
        .map(|answer| answer.ok())
        .map(|data| data["charged"].as_i64().or(data["reserved"].as_i64()).unwrap())
        .sum();
    assert!((900..=1_000).contains(&taken), "{taken}");
    assert_eq!(balances(&app, &ana, &key).await[..2], [taken, 1_000 - taken]);
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_doctor_names_each_charge_that_is_not_what_its_price_says(pool: PgPool) {
    let file = file(PRICES);
    let (_, ana, gateway) = app_with_prices(pool.clone(), file.path()).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    for model in ["gpt-5", "long", "picture"] {
        for prompt in [0, 1_000, 1_001] {
            let body = json!({ "key": key, "model": model, "prompt_tokens": prompt, "completion_tokens": 3,
                "cached_tokens": prompt / 2 });
            asks(&gateway, "charge", &body).await.ok();
        }
    }
    database::record_first_start(&pool).await;
    let report = || process::doctor(&pool, &[]).1;
    assert!(report().contains("ok     ledger: L1, L3, L5, L9 and L10 hold"), "{}", report());
    let first: i64 = sqlx::query_scalar("select min(id) from charges").fetch_one(&pool).await.unwrap();
    let damages = [
        (
            "update charges set completion_tokens = 4, price_id = price_id where id = (select min(id) from charges)",
            format!("L10: charge {first} of token {id} took 15, but by its price it costs 20"),
        ),
        (
            "update charges set completion_tokens = 3, price_id = 99 where id = (select min(id) from charges)",
            format!("L10: charge {first} of token {id} took 15, but its price is gone"),
        ),
    ];
    for (damage, finding) in damages {
        sqlx::query(damage).execute(&pool).await.unwrap();
        let report = report();
        assert!(report.contains(&format!("WRONG  ledger: {finding}")), "{report}");
        assert!(violations(&pool).await.unwrap().iter().any(|found| found.starts_with("L10")));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_section_of_the_settings_is_the_first_version_and_counts_no_more_after_it(pool: PgPool) {
    let entry = "\"new\" = { prompt = \"2.50\", completion = \"10\", request = \"0.04\", above = { prompt_tokens = 9, \
                 prompt = \"4\", completion = \"20\" } }";
    let file = file(&format!("[prices]\n{entry}\n"));
    let (app, ana, gateway) = app_with_prices(pool, file.path()).await;
    let root = app.root().await;
    let shown = root.get("/api/admin/prices").await.ok();
    let tiered = |base: &str, above: &str| json!({ "base": base, "tiers": [{ "start": 9, "price": above }] });
    let expected = json!({ "models": { "new": { "input_mtok": tiered("2.5", "4"), "output_mtok": tiered("10", "20"),
        "requests_kcount": "40" } } });
    assert_eq!((&shown["number"], &shown["created_by"], &shown["file"]), (&json!(1), &json!(0), &expected));
    let listed = ana.get("/api/prices").await.ok();
    let rate = |unit: &str, per: i64, key: &str, usd: &str, above: Option<&str>| {
        let tiers: Vec<_> = above.iter().map(|usd| json!({ "start": 9, "usd": usd })).collect();
        json!({ "unit": unit, "per": per, "key": key, "usd": usd, "tiers": tiers })
    };
    let rates = [
        rate("input_tokens", 1_000_000, "input_mtok", "2.5", Some("4")),
        rate("output_tokens", 1_000_000, "output_mtok", "10", Some("20")),
        rate("requests", 1_000, "requests_kcount", "40", None),
    ];
    let price = json!({ "model": "new", "provider": null, "own": true, "rates": rates, "variants": [] });
    let expected = json!({ "version": 1, "since": START, "page": 0, "page_size": 10, "total": 1, "items": [price] });
    assert_eq!(listed, expected);
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    let body = json!({ "key": key, "model": "new", "prompt_tokens": 10, "completion_tokens": 1 });
    let charges = async |gateway: &Caller| asks(gateway, "charge", &body).await.ok()["charged"].clone();
    assert_eq!(charges(&gateway).await, 20_030);
    // Another server starts with another section.
    std::fs::write(file.path(), "[prices]\n\"new\" = { request = \"1\" }\n").unwrap();
    let second = app.server_with_file(file.path()).await;
    assert_eq!(charges(&gateway.at(&second)).await, 20_030);
    assert_eq!(root.get("/api/admin/prices").await.ok()["number"], 1);
    let audit = root.get("/api/admin/audit?action=prices.set").await.ok();
    assert_eq!((&audit["total"], &audit["items"][0]["details"]["version"]), (&json!(1), &json!("1")));
    app.stranger().get("/api/prices").await.refuses(401, "not_signed_in");
}
