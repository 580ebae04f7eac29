//! Specification §4.9, daily usage of a token, §2.4, the Daily usage object, and its range rules of §8.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Caller, TestApp};

const NOT_FOUND: &str = "there is no such token";

/// Inserts quota, requests, prompt tokens and completion tokens of a day, as the ledger does.
async fn record(app: &TestApp, token: i64, day: &str, model: &str, [quota, requests, prompt, completion]: [i64; 4]) {
    sqlx::query(
        "insert into usage_daily (token_id, user_id, day, model, quota, requests, prompt_tokens, completion_tokens) \
         select id, user_id, $2::text::date, $3, $4, $5, $6, $7 from tokens where id = $1",
    )
    .bind(token)
    .bind(day)
    .bind(model)
    .bind(quota)
    .bind(requests)
    .bind(prompt)
    .bind(completion)
    .execute(&app.pool)
    .await
    .unwrap();
}

async fn usage(caller: &Caller, token: i64, query: &str) -> Value {
    caller.get(&format!("/api/token/{token}/usage?{query}")).await.ok()
}

/// The first day, the last day and the number of entries.
async fn range(caller: &Caller, token: i64, query: &str) -> (String, String, usize) {
    let data = usage(caller, token, query).await;
    let text = |name: &str| data[name].as_str().unwrap().to_owned();
    (text("start_date"), text("end_date"), data["daily"].as_array().unwrap().len())
}

fn nothing_on(day: &str) -> Value {
    json!({ "date": day, "usd": 0, "requests": 0, "prompt_tokens": 0, "completion_tokens": 0 })
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn each_day_sums_its_models_and_days_without_use_are_zero(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let (token, other) = (ana.creates(json!({ "name": "one" })).await, ana.creates(json!({ "name": "other" })).await);
    record(&app, token, "2026-03-08", "o1", [500_000, 3, 100, 20]).await;
    record(&app, token, "2026-03-08", "gpt-4o", [1, 1, 7, 5]).await;
    record(&app, token, "2026-03-10", "o1", [2, 1, 1, 1]).await;
    record(&app, token, "2026-03-07", "o1", [9, 9, 9, 9]).await;
    record(&app, other, "2026-03-09", "o1", [9, 9, 9, 9]).await;
    let answer = ana.get(&format!("/api/token/{token}/usage?start_date=2026-03-08&end_date=2026-03-10")).await;
    let day = |date: &str, usd: f64, requests: i64, prompt: i64, completion: i64| {
        json!({
            "date": date, "usd": usd, "requests": requests, "prompt_tokens": prompt, "completion_tokens": completion,
        })
    };
    let expected = json!({
        "success": true,
        "data": {
            "token_id": token, "token_name": "one", "start_date": "2026-03-08", "end_date": "2026-03-10",
            "daily": [
                day("2026-03-08", 1.000_002, 4, 107, 25),
                nothing_on("2026-03-09"),
                day("2026-03-10", 0.000_004, 1, 1, 1),
            ],
        },
    });
    assert_eq!((answer.status.as_u16(), answer.json()), (200, expected));
    assert!(answer.text.contains("\"usd\":0.000004,") && answer.text.contains("\"usd\":0,"), "{}", answer.text);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn without_dates_the_range_is_today(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let token = ana.creates(json!({ "name": "one" })).await;
    record(&app, token, "2026-03-09", "o1", [9, 9, 9, 9]).await;
    let today = usage(&ana, token, "").await;
    assert_eq!(today["daily"], json!([nothing_on("2026-03-10")]));
    app.clock.advance(12 * 3600 - 1);
    assert_eq!(usage(&ana, token, "").await["start_date"], "2026-03-10");
    app.clock.advance(1);
    assert_eq!(usage(&ana, token, "").await["start_date"], "2026-03-11");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn ranges_follow_the_rules_and_are_shown_in_the_answer(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let token = ana.creates(json!({ "name": "one" })).await;
    let table = [
        ("", "2026-03-10", "2026-03-10", 1),
        ("start_date=&end_date=", "2026-03-10", "2026-03-10", 1),
        ("start_date=2026-03-10", "2026-03-10", "2026-03-10", 1),
        ("start_date=2026-03-08", "2026-03-08", "2026-03-10", 3),
        ("start_date=2026-03-03", "2026-03-03", "2026-03-10", 8),
        ("start_date=2026-03-02", "2026-03-02", "2026-03-09", 8),
        ("end_date=2026-02-01", "2026-02-01", "2026-02-01", 1),
        ("start_date=2026-02-26&end_date=2026-03-02", "2026-02-26", "2026-03-02", 5),
        ("start_date=2026-01-01&end_date=2026-01-08", "2026-01-01", "2026-01-08", 8),
        ("start_date=2026-01-01&end_date=2026-01-09", "2026-01-01", "2026-01-08", 8),
        ("start_date=2026-01-01&end_date=2026-12-31", "2026-01-01", "2026-01-08", 8),
        ("start_date=2024-02-28&end_date=2024-03-01", "2024-02-28", "2024-03-01", 3),
        ("start_date=2026-03-10&end_date=2026-03-12&unknown=1", "2026-03-10", "2026-03-12", 3),
        ("start_date=9999-12-31&end_date=9999-12-31", "9999-12-31", "9999-12-31", 1),
    ];
    for (query, first, last, days) in table {
        assert_eq!(range(&ana, token, query).await, (first.to_owned(), last.to_owned(), days), "{query}");
    }
    let data = usage(&ana, token, "start_date=2026-02-26&end_date=2026-03-02").await;
    let days = ["2026-02-26", "2026-02-27", "2026-02-28", "2026-03-01", "2026-03-02"].map(nothing_on);
    assert_eq!(data["daily"], json!(days));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn invalid_dates_and_reversed_ranges_are_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let token = ana.creates(json!({ "name": "one" })).await;
    let assert_refused = async |query: String, message: &str| {
        let answer = ana.get(&format!("/api/token/{token}/usage?{query}")).await;
        answer.refuses_saying(400, "invalid_range", message);
    };
    let bad =
        ["2026-1-5", "2026-02-30", "2026-13-01", "20260105", "2026-01-05T00:00", "05-01-2026", "x", "%202026-1-5"];
    for date in bad {
        for field in ["start_date", "end_date"] {
            let message = format!("`{field}` must be a date of the calendar written YYYY-MM-DD, such as 2026-01-05");
            assert_refused(format!("{field}={date}"), &message).await;
        }
    }
    assert_refused("start_date=2026-03-02&end_date=2026-03-01".into(), "`start_date` is after `end_date`").await;
    assert_refused("start_date=2026-03-11".into(), "`start_date` is in the future").await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_answer_is_cached_for_ten_minutes_by_token_and_range_and_shows_its_age(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let (token, other) = (ana.creates(json!({ "name": "one" })).await, ana.creates(json!({ "name": "other" })).await);
    let today = async |token: i64| {
        let answer = ana.get(&format!("/api/token/{token}/usage")).await;
        let age = answer.header("age").unwrap().to_owned();
        (answer.json()["data"]["daily"][0]["requests"].clone(), age)
    };
    assert_eq!(today(token).await, (json!(0), "0".to_owned()));
    for token in [token, other] {
        record(&app, token, "2026-03-10", "o1", [1, 7, 1, 1]).await;
    }
    app.clock.advance(599);
    assert_eq!(today(token).await, (json!(0), "599".to_owned()));
    assert_eq!(today(other).await, (json!(7), "0".to_owned()));
    let two_days = usage(&ana, token, "start_date=2026-03-09").await;
    assert_eq!(two_days["daily"][1]["requests"], 7);
    app.clock.advance(1);
    assert_eq!(today(token).await, (json!(7), "0".to_owned()));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn ownership_is_checked_before_the_cache(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben) = (app.enabled_user("ana").await, app.enabled_user("ben").await);
    let token = ana.creates(json!({ "name": "one" })).await;
    let path = format!("/api/token/{token}/usage");
    ana.get(&path).await.ok();
    ben.get(&path).await.refuses_saying(404, "not_found", NOT_FOUND);
    app.root().await.get(&path).await.refuses_saying(404, "not_found", NOT_FOUND);
    ana.get("/api/token/999999/usage").await.refuses_saying(404, "not_found", NOT_FOUND);
    ana.delete(&format!("/api/token/{token}")).await.ok();
    ana.get(&path).await.refuses_saying(404, "not_found", NOT_FOUND);
    ana.get("/api/token/one/usage").await.refuses_saying(
        400,
        "invalid_id",
        "the id in the path must be a whole number",
    );
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_renamed_token_shows_its_new_name(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let token = ana.creates(json!({ "name": "one" })).await;
    usage(&ana, token, "").await;
    ana.put("/api/token/", json!({ "id": token, "name": "renamed" })).await.ok();
    assert_eq!(usage(&ana, token, "").await["token_name"], "renamed");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn days_are_those_of_the_configured_time_zone(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_USAGE__TIME_ZONE", "Pacific/Kiritimati")]).await;
    let ana = app.enabled_user("ana").await;
    let token = ana.creates(json!({ "name": "one" })).await;
    assert_eq!(range(&ana, token, "").await.0, "2026-03-11");
    assert_eq!(range(&ana, token, "start_date=2026-03-11").await.2, 1);
    app.clock.advance(22 * 3600);
    assert_eq!(range(&ana, token, "").await.0, "2026-03-12");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn sessions_and_access_tokens_can_read_it(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let token = ana.creates(json!({ "name": "one" })).await;
    for caller in [ana.clone(), ana.by_access_token().await] {
        for slash in ["", "/"] {
            assert_eq!(caller.get(&format!("/api/token/{token}/usage{slash}")).await.ok()["token_id"], token);
        }
    }
    let message = "sign in, or send an access token in `Authorization`";
    app.stranger().get(&format!("/api/token/{token}/usage")).await.refuses_saying(401, "not_signed_in", message);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_key_reads_its_own_daily_usage_in_the_same_shape(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, 1_000_000).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 1_000_000 })).await;
    gateway.post("/api/gateway/charge", json!({ "key": key, "quota": 500_000, "prompt_tokens": 5 })).await.ok();
    let range = "start_date=2026-03-09&end_date=2026-03-10";
    let by_user = ana.get(&format!("/api/token/{id}/usage?{range}")).await.json();
    let by_key = app.holder_of(&key).get(&format!("/api/usage/token/daily?{range}")).await;
    assert_eq!(by_key.json(), by_user);
    assert_eq!(by_key.header("age"), Some("0"));
    assert_eq!(by_user["data"]["daily"][1]["usd"], json!(1));
    let reversed = "/api/usage/token/daily?start_date=2026-03-10&end_date=2026-03-09";
    let refused = app.holder_of(&key).get(reversed).await;
    refused.refuses_saying(400, "invalid_range", "`start_date` is after `end_date`");
    assert_eq!(refused.json()["code"], json!(false));
    app.holder_of("sk-nonsense").get("/api/usage/token/daily").await.refuses(401, "invalid_key");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn usage_from_before_an_import_is_added_to_the_days_of_its_token(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let (id, other) = (ana.creates(json!({ "name": "one" })).await, ana.creates(json!({ "name": "two" })).await);
    record(&app, id, "2026-03-09", "o1", [500_000, 1, 10, 20]).await;
    for (token, day, model, quota) in [
        (id, "2026-03-08", "o1", 250_000),
        (id, "2026-03-09", "o1", 250_000),
        (other, "2026-03-09", "o1", 1),
        (0, "2026-03-09", "o2", 2),
    ] {
        sqlx::query(
            "insert into usage_imported (token_id, user_id, day, model, quota, requests, prompt_tokens, completion_tokens) \
             values ($1, $2, $3::text::date, $4, $5, 2, 3, 4)",
        )
        .bind(token)
        .bind(ana.id)
        .bind(day)
        .bind(model)
        .bind(quota)
        .execute(&app.pool)
        .await
        .unwrap();
    }
    let days = usage(&ana, id, "start_date=2026-03-08&end_date=2026-03-09").await["daily"].clone();
    assert_eq!(
        days,
        json!([
            { "date": "2026-03-08", "usd": 0.5, "requests": 2, "prompt_tokens": 3, "completion_tokens": 4 },
            { "date": "2026-03-09", "usd": 1.5, "requests": 3, "prompt_tokens": 13, "completion_tokens": 24 },
        ])
    );
    // The overview has the usage of all tokens, also of those that were not imported.
    let overview = ana.get("/api/user/self/overview").await.ok();
    let day = overview["daily"].as_array().unwrap().iter().find(|day| day["date"] == "2026-03-09").unwrap().clone();
    assert_eq!((day["usd"].as_f64(), day["requests"].as_i64()), (Some(1.500_006), Some(7)));
}
