//! Specification §13.8: requests of an hour, a request by its id in all days, and all that is known of one.

use keymeter::domain::clock::Clock;
use keymeter::service::jobs::{Finished, index_one_day};
use keymeter::storage::Db;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::gateway::{app_with_wallet, asks};
use crate::harness::{Caller, START, TestApp};
use crate::jobs::jobs_on;

const REQUESTS: &str = "/api/usage/requests";
const EVERYONE: &str = "/api/admin/usage/requests";
const OF_KEY: &str = "/api/usage/token/requests";
const DAY: i64 = 86_400;

/// Charges one unit, and returns the id of the request.
async fn charges(gateway: &Caller, key: &str, request_id: Option<&str>) -> String {
    let mut charge = json!({ "key": key, "quota": 1, "model": "o1" });
    if let Some(id) = request_id {
        charge["request_id"] = json!(id);
    }
    asks(gateway, "charge", &charge).await.ok()["request_id"].as_str().unwrap().to_owned()
}

/// Runs the jobs: makes partitions, deletes what is old, and indexes every day that has ended.
async fn days_pass(app: &TestApp, days: i64) {
    app.clock.advance(days * DAY);
    jobs_on(&app.pool, app.clock.clone(), 90).run_as_of(app.clock.now()).await.unwrap();
    let db = Db::new(app.pool.clone());
    while index_one_day(&db, app.clock.now(), 90).await.unwrap() == Finished::Later {}
}

/// The answer to a search for an id.
async fn searched(caller: &Caller, path: &str, id: &str) -> Value {
    let separator = if path.contains('?') { '&' } else { '?' };
    caller.get(&format!("{path}{separator}request_id={id}")).await.ok()
}

/// The times of the requests that were found.
fn times(answer: &Value) -> Vec<i64> {
    answer["items"].as_array().unwrap().iter().map(|item| item["at"].as_i64().unwrap()).collect()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn requests_are_listed_from_one_second_to_another(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    for _ in 0..4 {
        charges(&gateway, &key, None).await;
        app.clock.advance(60);
    }
    let admin = app.admin("carla").await;
    let (minute, next) = (START + 60, START + 120);
    for (range, expected) in [
        (format!("from={minute}&to={next}"), vec![next, minute]),
        (format!("from={minute}&to={minute}"), vec![minute]),
        (format!("to={minute}"), vec![minute, START]),
        (format!("from={}&to=2026-03-10", minute + 1), vec![START + 180, next]),
        (format!("from=2026-03-10&to={}", START - 1), vec![]),
    ] {
        for (caller, path) in [(&ana, REQUESTS), (&admin, EVERYONE)] {
            assert_eq!(times(&caller.get(&format!("{path}?{range}")).await.ok()), expected, "{path} {range}");
            let csv = caller.get(&format!("{path}?{range}&format=csv")).await.text;
            assert_eq!(csv.matches("\r\n").count(), expected.len() + 1, "{path} {range}");
        }
        let of_key = app.holder_of(&key).get(&format!("{OF_KEY}?{range}")).await.ok();
        assert_eq!(times(&of_key), expected, "{range}");
    }
    let form = "must be a date written YYYY-MM-DD, such as 2026-01-05, or a Unix timestamp in seconds";
    for (range, message) in [
        ("from=14:02".to_owned(), format!("`from` {form}")),
        (format!("to={START}000"), format!("`to` {form}")),
        (format!("from={next}&to={minute}"), "`from` is after `to`".to_owned()),
    ] {
        ana.get(&format!("{REQUESTS}?{range}")).await.refuses_saying(400, "invalid_range", &message);
    }
    // Reports have whole days.
    ana.get(&format!("/api/usage?from={START}")).await.refuses(400, "invalid_range");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_request_of_any_day_is_found_by_its_id_by_those_who_may_see_it(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let ben = app.enabled_user("ben").await;
    days_pass(&app, 0).await;
    let (token, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let sent = charges(&gateway, &key, Some("sent-then")).await;
    let made = charges(&gateway, &key, None).await;
    days_pass(&app, 4).await;
    let records: i64 =
        sqlx::query_scalar("select count(*) from idempotency_records").fetch_one(&app.pool).await.unwrap();
    assert_eq!(records, 0, "four days later only the index knows it");
    let now = START + 4 * DAY;
    let sent_today = charges(&gateway, &key, Some("sent-today")).await;
    let reserve = json!({ "key": key, "quota": 5, "request_id": "reserved" });
    let reserved = asks(&gateway, "reserve", &reserve).await.ok();
    assert_eq!(times(&searched(&ana, REQUESTS, "reserved").await), [0; 0], "nothing is charged yet");
    let settle = json!({ "reservation_id": reserved["reservation_id"], "quota": 3 });
    asks(&gateway, "settle", &settle).await.ok();
    let made_today = charges(&gateway, &key, None).await;
    let admin = app.admin("carla").await;
    let of_ana = format!("{EVERYONE}?user_id={}", ana.id);
    let of_token = format!("{REQUESTS}?token_id={token}");
    let of_ben = format!("{EVERYONE}?user_id={}", ben.id);
    let holder = app.holder_of(&key);
    for (id, at) in [(sent, START), (made, START), (sent_today, now), ("reserved".to_owned(), now), (made_today, now)] {
        for (caller, path) in
            [(&ana, REQUESTS), (&ana, &*of_token), (&admin, EVERYONE), (&admin, &*of_ana), (&holder, OF_KEY)]
        {
            let answer = searched(caller, path, &id).await;
            assert_eq!(times(&answer), [at], "{path} {id}");
            assert_eq!((&answer["next"], &answer["searched_from"]), (&Value::Null, &Value::Null), "{path} {id}");
        }
        for (caller, path) in [(&ben, REQUESTS), (&admin, &*of_ben)] {
            let answer = searched(caller, path, &id).await;
            assert_eq!((times(&answer), &answer["searched_from"]), (vec![], &Value::Null), "{path} {id}");
        }
        // Other filters count, too.
        assert_eq!(times(&searched(&ana, &format!("{REQUESTS}?model=o9"), &id).await), [0; 0], "{id}");
        assert_eq!(times(&searched(&ana, &format!("{REQUESTS}?outcome=refused"), &id).await), [0; 0], "{id}");
        assert_eq!(times(&searched(&ana, &format!("{REQUESTS}?from=2026-03-10"), &id).await), [at], "as before: {id}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn requests_with_one_id_are_found_together_and_in_pages(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let (_, poor) = ana.creates_with_key(json!({ "name": "poor", "remain_quota": 0 })).await;
    days_pass(&app, 0).await;
    // A gateway may use an id again after 72 hours, and tries a refused one again.
    charges(&gateway, &key, Some("a")).await;
    days_pass(&app, 4).await;
    asks(&gateway, "charge", &json!({ "key": poor, "quota": 1, "request_id": "a" }))
        .await
        .refuses(402, "token_quota_insufficient");
    app.refused_requests.write().await.unwrap();
    app.clock.advance(60);
    charges(&gateway, &key, Some("a")).await;
    let now = START + 4 * DAY;
    let found = searched(&ana, REQUESTS, "a").await;
    assert_eq!(times(&found), [now + 60, now, START]);
    let outcomes: Vec<_> = found["items"].as_array().unwrap().iter().map(|item| &item["outcome"]).collect();
    assert_eq!(outcomes, ["charged", "refused", "charged"]);
    let first = searched(&ana, &format!("{REQUESTS}?size=2"), "a").await;
    assert_eq!(first["items"].as_array().unwrap()[..], found["items"].as_array().unwrap()[..2]);
    let second = searched(&ana, &format!("{REQUESTS}?size=2&after={}", first["next"].as_str().unwrap()), "a").await;
    assert_eq!((&second["items"][0], &second["next"]), (&found["items"][2], &Value::Null));
    assert_eq!(times(&searched(&ana, &format!("{REQUESTS}?outcome=refused"), "a").await), [now]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_id_that_is_not_among_the_newest_charges_is_not_found_and_the_answer_says_so(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (token, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    days_pass(&app, 0).await;
    let lost = charges(&gateway, &key, None).await;
    app.clock.advance(30_000);
    // A hundred a second, for 21,000 seconds.
    let many = "insert into charges (at, token_id, user_id, model, quota, shortfall, prompt_tokens, completion_tokens, \
                request_id) select $1 - n / 100, $2, $3, 'o1', 1, 0, 1, 1, 'n' || n from generate_series(0, 2099999) n";
    sqlx::query(many).bind(START + 30_000).bind(token).bind(ana.id).execute(&app.pool).await.unwrap();
    sqlx::query("vacuum analyze charges").execute(&app.pool).await.unwrap();
    let admin = app.admin("carla").await;
    for (caller, path) in [(&ana, REQUESTS), (&admin, EVERYONE)] {
        let answer = searched(caller, path, &lost).await;
        assert_eq!((times(&answer), &answer["next"]), (vec![], &Value::Null), "{path}");
        let from = answer["searched_from"].as_i64().unwrap() - START;
        // 2,000,000 charges are 20,000 seconds; a rest of a sixteenth may be left.
        assert!((10_000..=11_250).contains(&from), "{path}: {from}");
        assert_eq!(times(&searched(caller, path, "n1800000").await), [START + 12_000], "{path}");
        let before = format!("{path}?from={START}&to={START}");
        assert_eq!(times(&searched(caller, &before, &lost).await), [START], "{path}");
    }
    // Of the next day, the index knows all.
    days_pass(&app, 1).await;
    for (caller, path) in [(&ana, REQUESTS), (&admin, EVERYONE)] {
        assert_eq!(times(&searched(caller, path, &lost).await), [START], "{path}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn one_charge_has_its_reservation_and_the_price_that_was_used(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 10_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    let root = app.root().await;
    let sets = async |dollars: &str| {
        let tiered = json!({ "base": dollars, "tiers": [{ "start": 1_000, "price": "8" }] });
        let file = json!({ "models": { "m": { "input_mtok": tiered, "output_mtok": "10" } } });
        root.put("/api/admin/prices", json!({ "file": file, "accept": true })).await.ok();
    };
    sets("2").await;
    let details = async |id: &str| {
        let all = searched(&ana, REQUESTS, id).await;
        let item = &all["items"][0];
        assert_eq!(item.get("details"), None, "only for one that is asked for alone");
        let one = ana.get(&format!("{REQUESTS}?id={}", item["id"].as_str().unwrap())).await.ok()["items"][0].clone();
        one["details"].clone()
    };
    let counts = json!({ "key": key, "model": "m", "prompt_tokens": 100, "completion_tokens": 10, "request_id": "c" });
    asks(&gateway, "charge", &counts).await.ok();
    let reserve = |id: &str, more: Value| {
        let mut body = json!({ "key": key, "model": "m", "quota": 50, "request_id": id, "ttl_seconds": 60 });
        body.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        body
    };
    let made = asks(&gateway, "reserve", &reserve("s", json!({}))).await.ok();
    app.clock.advance(10);
    let settle = json!({ "reservation_id": made["reservation_id"], "prompt_tokens": 2_000, "completion_tokens": 0 });
    asks(&gateway, "settle", &settle).await.ok();
    asks(&gateway, "reserve", &reserve("e", json!({ "on_expiry": "charge" }))).await.ok();
    app.clock.advance(3_600);
    app.expire_overdue().await;
    // A charge keeps its price.
    sets("3").await;

    let line = |unit: &str, count: &str, rate: &str, usd: &str| json!({ "unit": unit, "count": count, "rate": rate, "per": 1_000_000, "usd": usd });
    let mut charge = details("c").await;
    charge["price"]["lines"].as_array_mut().unwrap().sort_by_key(|line| line["unit"].to_string());
    let lines = [line("input_tokens", "100", "2", "0.0002"), line("output_tokens", "10", "10", "0.0001")];
    let price = json!({ "ratio": "1", "lines": lines });
    assert_eq!(charge, json!({ "call": "charge", "requested": 150, "reservation": null, "price": price }));

    let reservation = |created: i64, on_expiry: &str, expired: bool| {
        json!({ "held": 50, "created_time": created, "expires_at": created + 60, "on_expiry": on_expiry,
            "expired": expired })
    };
    // 2,000 tokens for 8 dollars a million.
    let price = json!({ "ratio": "1", "lines": [line("input_tokens", "2000", "8", "0.016")] });
    let expired = reservation(START + 10, "charge", true);
    for (id, expected) in [
        ("s", json!(["settle", 8_000, reservation(START, "release", false), price])),
        ("e", json!(["expire", 50, expired, null])),
    ] {
        let found = details(id).await;
        assert_eq!(json!([found["call"], found["requested"], found["reservation"], found["price"]]), expected, "{id}");
    }
    // Reservations are known for 72 hours, prices as long as the charge.
    sqlx::query("update reservations set ended_time = 1 where state <> 'open'").execute(&app.pool).await.unwrap();
    jobs_on(&app.pool, app.clock.clone(), 90).run_as_of(app.clock.now()).await.unwrap();
    let settled = details("s").await;
    assert_eq!((&settled["reservation"], &settled["price"]), (&Value::Null, &price), "{settled}");
}

/// A record belongs to its gateway, so a charge of a gateway that was revoked is found among the newest.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_refusal_with_the_same_id_hides_no_charge(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let too_much = json!({ "key": key, "quota": 101, "model": "o1", "request_id": "a" });
    asks(&gateway, "charge", &too_much).await.refuses(402, "token_quota_insufficient");
    app.refused_requests.write().await.unwrap();
    app.clock.advance(60);
    charges(&gateway, &key, Some("a")).await;
    app.root().await.delete("/api/admin/gateways/1").await.ok();
    assert_eq!(times(&searched(&ana, REQUESTS, "a").await), [START + 60, START]);
}
