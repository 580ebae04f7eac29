//! docs/limits.md: limits that renew, and rates, as the API shows and applies them.

use keymeter::domain::wording::Wait;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::database::url;
use crate::harness::gateway::{app_with_wallet, asks, edits, releases, reserves, settles};
use crate::harness::limits::{DAY_ENDS, MONTH_ENDS, WEEK_ENDS, no_period_limits, period_limits};
use crate::harness::wait::eventually;
use crate::harness::{Answer, Caller, START, TestApp};
use crate::hostile_database::service_connection;

async fn token(owner: &Caller, id: i64) -> Value {
    owner.get(&format!("/api/token/{id}")).await.ok()
}

async fn charge(gateway: &Caller, key: &str, quota: i64) -> Answer {
    asks(gateway, "charge", &json!({ "key": key, "quota": quota })).await
}

/// Asserts a refusal by a period limit: its code, period, limit, what was used, and the seconds until the period ends.
#[track_caller]
fn exceeds(answer: &Answer, error: &str, period: &str, [limit, used, resets_at]: [i64; 3], now: i64) {
    names_limit(answer, error, period, [limit, used, resets_at]);
    assert_eq!(answer.header("retry-after"), Some(&*(resets_at - now).to_string()));
    let whose = if error == "token_period_exceeded" { "token" } else { "account" };
    let wait = Wait(resets_at - now);
    let message = format!(
        "this {whose} may use {limit} quota units per {period} and has used {used}; the {period} ends in {wait}"
    );
    assert_eq!(answer.json()["message"], message);
}

/// Asserts a refusal by a period limit that is smaller than what was asked for.
#[track_caller]
fn never_fits(answer: &Answer, error: &str, period: &str, details: [i64; 3]) {
    names_limit(answer, error, period, details);
    assert_eq!(answer.header("retry-after"), None);
    let (whose, limit) = (if error == "token_period_exceeded" { "token" } else { "account" }, details[0]);
    let message = format!("this {whose} may use {limit} quota units per {period}, so this request can never fit");
    assert_eq!(answer.json()["message"], message);
}

#[track_caller]
fn names_limit(answer: &Answer, error: &str, period: &str, [limit, used, resets_at]: [i64; 3]) {
    answer.refuses(429, error);
    let body = answer.json();
    let details = json!([body["period"], body["limit"], body["used"], body["resets_at"]]);
    assert_eq!(details, json!([period, limit, used, resets_at]));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn limits_are_created_shown_changed_one_by_one_and_removed(pool: PgPool) {
    let (_app, ana, _) = app_with_wallet(pool, 1_000).await;
    let plain = ana.creates(json!({ "name": "plain" })).await;
    assert_eq!(token(&ana, plain).await["period_limits"], no_period_limits());
    let rates = json!({ "requests_per_minute": 60, "tokens_per_minute": -1, "concurrency": 5 });
    let id =
        ana.creates(json!({ "name": "one", "period_limits": { "day": 100, "month": 0 }, "rate_limits": rates })).await;
    let shown = token(&ana, id).await;
    assert_eq!(shown["period_limits"], period_limits([100, -1, 0]));
    assert_eq!(shown["rate_limits"], rates);
    let expected = json!({
        "day": { "limit": 100, "used": 0, "remaining": 100, "resets_at": DAY_ENDS },
        "week": { "limit": -1, "used": 0, "remaining": -1, "resets_at": WEEK_ENDS },
        "month": { "limit": 0, "used": 0, "remaining": 0, "resets_at": MONTH_ENDS },
    });
    assert_eq!(shown["period_usage"], expected);

    edits(&ana, id, json!({ "period_limits": { "week": 700, "month": -1, "day": null } })).await;
    edits(&ana, id, json!({ "rate_limits": { "tokens_per_minute": 1_000, "concurrency": -1 } })).await;
    edits(&ana, id, json!({ "name": "renamed", "period_limits": null, "rate_limits": {} })).await;
    let shown = token(&ana, id).await;
    assert_eq!(shown["period_limits"], period_limits([100, 700, -1]));
    let rates = json!({ "requests_per_minute": 60, "tokens_per_minute": 1_000, "concurrency": -1 });
    assert_eq!(shown["rate_limits"], rates);

    // A token can be written back as it was read.
    let mut whole = shown.clone();
    whole["name"] = json!("written back");
    ana.put("/api/token/", whole).await.ok();
    assert_eq!(token(&ana, id).await["period_limits"], shown["period_limits"]);
    assert_eq!(token(&ana, id).await["rate_limits"], shown["rate_limits"]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn wrong_limits_are_refused_with_the_name_of_the_member(pool: PgPool) {
    let (app, ana, _) = app_with_wallet(pool, 1_000).await;
    let id = ana.creates(json!({ "name": "one", "period_limits": { "day": 7 } })).await;
    let users = format!("/api/admin/users/{}", ana.id);
    let period = "`period_limits` has no member `dya`; its members are `day`, `week` and `month`";
    let range =
        |member: &str, most: i64| format!("`{member}` must be a whole number from 0 to {most}, or -1 for no limit");
    let (quota, rate) = (500_000_000_000_000_i64, 1_000_000_000_i64);
    let table = [
        ("period_limits", json!({ "dya": 5 }), period.to_owned()),
        ("period_limits", json!({ "day": 5, "dya": 5 }), period.to_owned()),
        ("period_limits", json!({ "day": -2 }), range("period_limits.day", quota)),
        ("period_limits", json!({ "week": quota + 1 }), range("period_limits.week", quota)),
        ("period_limits", json!({ "month": "5" }), range("period_limits.month", quota)),
        ("period_limits", json!({ "day": 1.5 }), range("period_limits.day", quota)),
        ("period_limits", json!({ "day": u64::MAX }), range("period_limits.day", quota)),
        (
            "period_limits",
            json!(5),
            "`period_limits` must be a JSON object with the members `day`, `week` and `month`".to_owned(),
        ),
        (
            "period_limits",
            json!([1, 2, 3]),
            "`period_limits` must be a JSON object with the members `day`, `week` and `month`".to_owned(),
        ),
        ("rate_limits", json!({ "concurrency": -2 }), range("rate_limits.concurrency", rate)),
        ("rate_limits", json!({ "tokens_per_minute": rate + 1 }), range("rate_limits.tokens_per_minute", rate)),
        ("rate_limits", json!({ "requests_per_minute": true }), range("rate_limits.requests_per_minute", rate)),
        (
            "rate_limits",
            json!({ "rpm": 5 }),
            "`rate_limits` has no member `rpm`; its members are `requests_per_minute`, `tokens_per_minute` and \
             `concurrency`"
                .to_owned(),
        ),
        (
            "rate_limits",
            json!([1, 2, 3]),
            "`rate_limits` must be a JSON object with the members `requests_per_minute`, `tokens_per_minute` and \
             `concurrency`"
                .to_owned(),
        ),
    ];
    for (field, limits, message) in table {
        let code = if field == "period_limits" { "invalid_period_limit" } else { "invalid_rate_limit" };
        ana.post("/api/token/", json!({ "name": "two", field: limits })).await.refuses_saying(400, code, &message);
        ana.put("/api/token/", json!({ "id": id, field: limits })).await.refuses_saying(400, code, &message);
        if field == "period_limits" {
            app.root().await.patch(&users, json!({ field: limits })).await.refuses_saying(400, code, &message);
        }
    }
    assert_eq!(token(&ana, id).await["period_limits"], period_limits([7, -1, -1]));
    assert_eq!(ana.page("/api/token/", "name").await.1, 1, "nothing was created");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_call_refuses_beyond_a_period_limit_and_says_when_it_resets(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) =
        ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true, "period_limits": { "day": 100 } })).await;
    let body = json!({ "key": key, "quota": 41 });
    charge(&gateway, &key, 60).await.ok();
    exceeds(&asks(&gateway, "charge", &body).await, "token_period_exceeded", "day", [100, 60, DAY_ENDS], START);
    exceeds(&asks(&gateway, "reserve", &body).await, "token_period_exceeded", "day", [100, 60, DAY_ENDS], START);
    let verified = asks(&gateway, "verify", &body).await.ok();
    assert_eq!(verified["reason"], "token_period_exceeded");
    assert_eq!((&verified["valid"], &verified["usable_quota"]), (&json!(false), &json!(40)));
    assert_eq!((&verified["period"], &verified["resets_at"]), (&json!("day"), &json!(DAY_ENDS)));
    let outcomes =
        asks(&gateway, "charges", &json!({ "charges": [body, { "key": key, "quota": 40 }, body] })).await.ok();
    assert_eq!(outcomes[0]["error"], "token_period_exceeded");
    assert_eq!((&outcomes[0]["used"], &outcomes[0]["resets_at"]), (&json!(60), &json!(DAY_ENDS)));
    assert_eq!(outcomes[0]["retry_after"], DAY_ENDS - START);
    assert_eq!(verified["retry_after"], DAY_ENDS - START);
    assert_eq!((&outcomes[1]["success"], &outcomes[2]["used"]), (&json!(true), &json!(100)));
    // Used up: a key is refused whatever it would cost.
    assert_eq!(asks(&gateway, "verify", &json!({ "key": key })).await.ok()["reason"], "token_period_exceeded");
    let mut in_front = app.holder_of(&key).request(http::Method::GET, "/api/gateway/auth");
    in_front.headers_mut().insert("x-gateway-credential", gateway.secret().parse().unwrap());
    let answer = app.stranger().send(in_front).await;
    exceeds(&answer, "token_period_exceeded", "day", [100, 100, DAY_ENDS], START);
    assert_eq!(answer.header("x-error-code"), Some("token_period_exceeded"));

    app.clock.advance(DAY_ENDS - START - 1);
    exceeds(&charge(&gateway, &key, 1).await, "token_period_exceeded", "day", [100, 100, DAY_ENDS], DAY_ENDS - 1);
    app.clock.advance(1);
    charge(&gateway, &key, 100).await.ok();
    let usage = app.holder_of(&key).get("/api/usage/token/").await.ok();
    let day = json!({ "limit": 100, "used": 100, "remaining": 0, "resets_at": DAY_ENDS + 86_400 });
    assert_eq!(usage["period_usage"]["day"], day);
    assert_eq!(usage["period_usage"]["week"]["used"], 200);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_limit_of_the_user_holds_for_all_tokens_together(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let users = format!("/api/admin/users/{}", ana.id);
    let (_, one) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    let (_, two) = ana.creates_with_key(json!({ "name": "two", "unlimited_quota": true })).await;
    charge(&gateway, &one, 60).await.ok();
    // Set at noon, it counts what was used since midnight.
    let edited = app.root().await.patch(&users, json!({ "period_limits": { "month": 100 } })).await.ok();
    assert_eq!(edited["period_limits"], period_limits([-1, -1, 100]));
    let month = json!({ "limit": 100, "used": 60, "remaining": 40, "resets_at": MONTH_ENDS });
    assert_eq!(edited["period_usage"]["month"], month);
    exceeds(&charge(&gateway, &two, 41).await, "user_period_exceeded", "month", [100, 60, MONTH_ENDS], START);
    charge(&gateway, &two, 40).await.ok();
    assert_eq!(asks(&gateway, "verify", &json!({ "key": one })).await.ok()["reason"], "user_period_exceeded");
    assert_eq!(ana.get("/api/user/self").await.ok()["period_usage"]["month"]["remaining"], 0);
    app.root().await.patch(&users, json!({ "period_limits": { "month": -1 } })).await.ok();
    charge(&gateway, &one, 100).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_limit_below_what_was_used_admits_nothing_until_the_period_ends(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    charge(&gateway, &key, 80).await.ok();
    edits(&ana, id, json!({ "period_limits": { "day": 50 } })).await;
    exceeds(&charge(&gateway, &key, 0).await, "token_period_exceeded", "day", [50, 80, DAY_ENDS], START);
    assert_eq!(token(&ana, id).await["period_usage"]["day"]["remaining"], 0);
    edits(&ana, id, json!({ "period_limits": { "day": 0 } })).await;
    app.clock.advance(86_400);
    let tomorrow = [0, 0, DAY_ENDS + 86_400];
    never_fits(&charge(&gateway, &key, 0).await, "token_period_exceeded", "day", tomorrow);
    edits(&ana, id, json!({ "period_limits": { "day": 50 } })).await;
    charge(&gateway, &key, 50).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn open_reservations_count_across_midnight_and_a_settlement_is_never_refused(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (id, key) =
        ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true, "period_limits": { "day": 100 } })).await;
    app.clock.advance(DAY_ENDS - START - 60);
    let held = reserves(&gateway, &key, 70).await;
    app.clock.advance(60);
    let refused = charge(&gateway, &key, 31).await;
    exceeds(&refused, "token_period_exceeded", "day", [100, 0, DAY_ENDS + 86_400], DAY_ENDS);
    assert_eq!(token(&ana, id).await["period_usage"]["day"]["remaining"], 30);
    settles(&gateway, &held, 120).await.ok();
    assert_eq!(token(&ana, id).await["period_usage"]["day"]["used"], 120);
    assert_eq!(token(&ana, id).await["period_usage"]["week"]["used"], 120);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn rates_and_concurrency_refuse_with_the_seconds_to_wait_and_free_what_ends(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let limits = json!({ "requests_per_minute": 4, "concurrency": 1 });
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true, "rate_limits": limits })).await;
    let reserve = json!({ "key": key, "quota": 1 });
    let held = reserves(&gateway, &key, 1).await;
    for _ in 0..9 {
        let refused = asks(&gateway, "reserve", &reserve).await;
        let message = "this token has as many requests under way as it may have; retry when one has ended";
        refused.refuses_saying(429, "too_many_concurrent", message);
        assert_eq!(refused.header("retry-after"), Some("1"));
    }
    releases(&gateway, &held).await.ok();
    reserves(&gateway, &key, 1).await;
    // Nobody settles it: its slot is free again when it has expired.
    app.clock.advance(601);
    app.expire_overdue().await;
    let held = reserves(&gateway, &key, 1).await;
    settles(&gateway, &held, 1).await.ok();
    for _ in 0..3 {
        charge(&gateway, &key, 1).await.ok();
    }
    let refused = charge(&gateway, &key, 1).await;
    let message = "this token may make 4 requests per minute; retry after 15 s";
    refused.refuses_saying(429, "rate_limited", message);
    assert_eq!(refused.header("retry-after"), Some("15"));
    assert!(asks(&gateway, "verify", &reserve).await.ok()["valid"].as_bool().unwrap(), "verify is not counted");
    app.clock.advance(15);
    charge(&gateway, &key, 1).await.ok();

    let limits = json!({ "tokens_per_minute": 100 });
    let (_, key) = ana.creates_with_key(json!({ "name": "two", "unlimited_quota": true, "rate_limits": limits })).await;
    let long = json!({ "key": key, "quota": 1, "prompt_tokens": 100, "completion_tokens": 60 });
    asks(&gateway, "charge", &long).await.ok();
    let refused = charge(&gateway, &key, 1).await;
    refused.refuses_saying(429, "rate_limited", "this token may use 100 model tokens per minute; retry after 37 s");
    // An answer of several charges has no header for one of them.
    let outcome = &asks(&gateway, "charges", &json!({ "charges": [{ "key": key, "quota": 1 }] })).await.ok()[0];
    let message = "this token may use 100 model tokens per minute; retry after 37 s";
    let expected = json!({ "success": false, "error": "rate_limited", "message": message, "retry_after": 37 });
    assert_eq!(outcome, &expected);
    app.clock.advance(37);
    charge(&gateway, &key, 1).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn of_the_limits_of_key_and_user_the_one_that_ends_last_is_named(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    charge(&gateway, &key, 90).await.ok();
    let sets = async |of_key: Value, of_user: Value| {
        edits(&ana, id, json!({ "period_limits": of_key })).await;
        app.root().await.patch(&format!("/api/admin/users/{}", ana.id), json!({ "period_limits": of_user })).await.ok();
    };
    sets(json!({ "day": 100 }), json!({ "month": 100 })).await;
    exceeds(&charge(&gateway, &key, 11).await, "user_period_exceeded", "month", [100, 90, MONTH_ENDS], START);
    let verified = asks(&gateway, "verify", &json!({ "key": key, "quota": 11 })).await.ok();
    assert_eq!((&verified["reason"], &verified["period"]), (&json!("user_period_exceeded"), &json!("month")));
    sets(json!({ "day": -1, "week": 100 }), json!({ "day": 100, "month": -1 })).await;
    exceeds(&charge(&gateway, &key, 11).await, "token_period_exceeded", "week", [100, 90, WEEK_ENDS], START);
    sets(json!({ "week": -1, "day": 100 }), json!({ "day": 100 })).await;
    exceeds(&charge(&gateway, &key, 11).await, "token_period_exceeded", "day", [100, 90, DAY_ENDS], START);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn what_is_larger_than_a_limit_never_fits_and_has_no_retry_after(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let limits = json!({ "day": 100, "month": 150 });
    let (id, key) =
        ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true, "period_limits": limits })).await;
    let users = format!("/api/admin/users/{}", ana.id);
    charge(&gateway, &key, 60).await.ok();
    exceeds(&charge(&gateway, &key, 100).await, "token_period_exceeded", "month", [150, 60, MONTH_ENDS], START);
    // The month is exceeded too, but only the day never admits it.
    never_fits(&charge(&gateway, &key, 101).await, "token_period_exceeded", "day", [100, 60, DAY_ENDS]);
    let body = json!({ "key": key, "quota": 101 });
    never_fits(&asks(&gateway, "reserve", &body).await, "token_period_exceeded", "day", [100, 60, DAY_ENDS]);
    let verified = asks(&gateway, "verify", &body).await.ok();
    assert_eq!((&verified["reason"], verified.get("retry_after")), (&json!("token_period_exceeded"), None));
    let outcome = asks(&gateway, "charges", &json!({ "charges": [body] })).await.ok()[0].clone();
    assert_eq!((&outcome["error"], outcome.get("retry_after")), (&json!("token_period_exceeded"), None));
    app.root().await.patch(&users, json!({ "period_limits": { "week": 1 } })).await.ok();
    let answer = charge(&gateway, &key, 2).await;
    names_limit(&answer, "user_period_exceeded", "week", [1, 60, WEEK_ENDS]);
    assert_eq!(answer.header("retry-after"), None);
    assert_eq!(answer.json()["message"], "this account may use 1 quota unit per week, so this request can never fit");

    app.root().await.patch(&users, json!({ "period_limits": { "week": -1 } })).await.ok();
    edits(&ana, id, json!({ "period_limits": { "day": -1, "month": -1 } })).await;
    for (limits, message) in [
        (json!({ "concurrency": 0 }), "this token may have 0 reservations open; no retry can succeed"),
        (json!({ "tokens_per_minute": 0 }), "this token may use 0 model tokens per minute; no retry can succeed"),
        (json!({ "requests_per_minute": 0 }), "this token may make 0 requests per minute; no retry can succeed"),
    ] {
        edits(&ana, id, json!({ "rate_limits": limits })).await;
        let refused = asks(&gateway, "reserve", &json!({ "key": key, "quota": 1 })).await;
        let code = if limits.get("concurrency").is_some() { "too_many_concurrent" } else { "rate_limited" };
        refused.refuses_saying(429, code, message);
        assert_eq!(refused.header("retry-after"), None, "{limits}");
    }
    let mut in_front = app.holder_of(&key).request(http::Method::GET, "/api/gateway/auth");
    in_front.headers_mut().insert("x-gateway-credential", gateway.secret().parse().unwrap());
    let refused = app.stranger().send(in_front).await;
    let message = "this token may make 0 requests per minute; no retry can succeed";
    refused.refuses_saying(429, "rate_limited", message);
    assert_eq!(refused.header("retry-after"), None);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_member_that_is_there_twice_is_refused(pool: PgPool) {
    let (app, ana, _) = app_with_wallet(pool, 1_000).await;
    let root = app.root().await;
    let id = ana.creates(json!({ "name": "one" })).await;
    let users = format!("/api/admin/users/{}", ana.id);
    let twice = [
        (
            "period_limits",
            r#"{"day":5,"day":500}"#,
            "invalid_period_limit",
            "`period_limits.day` is there twice; send it once",
        ),
        (
            "period_limits",
            r#"{"month":5,"month":5}"#,
            "invalid_period_limit",
            "`period_limits.month` is there twice; send it once",
        ),
        (
            "rate_limits",
            r#"{"concurrency":1,"concurrency":null}"#,
            "invalid_rate_limit",
            "`rate_limits.concurrency` is there twice; send it once",
        ),
    ];
    for (field, limits, code, message) in twice {
        let mut calls = vec![
            (&ana, "POST", "/api/token/", r#""name":"two""#.to_owned()),
            (&ana, "PUT", "/api/token/", format!(r#""id":{id}"#)),
        ];
        if field == "period_limits" {
            let account = r#""username":"ben","password":"ben's password""#;
            calls.push((&root, "POST", "/api/admin/users", account.to_owned()));
            calls.push((&root, "PATCH", &users, r#""status":1"#.to_owned()));
            calls.push((&ana, "PUT", "/api/user/self", r#""display_name":"Ana""#.to_owned()));
        }
        for (caller, method, path, others) in calls {
            let mut request = caller.request(method.parse().unwrap(), path);
            *request.body_mut() = format!(r#"{{{others},"{field}":{limits}}}"#).into();
            caller.send(request).await.refuses_saying(400, code, message);
        }
    }
    assert_eq!(token(&ana, id).await["period_limits"], no_period_limits());
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_user_is_created_with_period_limits(pool: PgPool) {
    let (app, _, gateway) = app_with_wallet(pool, 1_000).await;
    let new = json!({ "username": "ben", "token_api_enabled": true, "quota": 1_000, "period_limits": { "day": 100, "week": null } });
    let ben = app.makes(new).await;
    assert_eq!(ben.get("/api/user/self").await.ok()["period_limits"], period_limits([100, -1, -1]));
    let (_, key) = ben.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    charge(&gateway, &key, 60).await.ok();
    exceeds(&charge(&gateway, &key, 41).await, "user_period_exceeded", "day", [100, 60, DAY_ENDS], START);
    let wrong = json!({ "username": "eva", "password": "eva's password", "period_limits": { "dya": 100 } });
    let message = "`period_limits` has no member `dya`; its members are `day`, `week` and `month`";
    app.root().await.post("/api/admin/users", wrong).await.refuses_saying(400, "invalid_period_limit", message);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_unknown_limit_is_refused_wherever_tokens_and_users_are_created_and_changed(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_ACCOUNTS__REGISTRATION", "open")]).await;
    let (ana, root) = (app.enabled_user("ana").await, app.root().await);
    let id = ana.creates(json!({ "name": "one" })).await;
    let user = format!("/api/admin/users/{}", ana.id);
    let ben = json!({ "username": "ben", "password": "ben's password" });
    let nearest = |name: &str, known: &str| format!("`{name}` is not known here; the nearest known name is `{known}`");
    let known = |name: &str, known: &str| format!("`{name}` is not known here; the known names are {known}");
    let switch = known("rate_limits_", "`id` and `status`");
    let table = [
        (
            &ana,
            "POST",
            "/api/token/",
            json!({ "name": "two" }),
            "period_limit",
            nearest("period_limit", "period_limits"),
        ),
        (&ana, "POST", "/api/token/", json!({ "name": "two" }), "rateLimits", nearest("rateLimits", "rate_limits")),
        (&ana, "POST", "/api/token/", json!({ "name": "two" }), "model_limit", nearest("model_limit", "model_limits")),
        (&ana, "PUT", "/api/token/", json!({ "id": id }), "period_limit", nearest("period_limit", "period_limits")),
        (&ana, "PUT", "/api/token/", json!({ "id": id }), "unlimited", nearest("unlimited", "unlimited_quota")),
        (&ana, "PUT", "/api/token/?status_only=1", json!({ "id": id, "status": 2 }), "rate_limits_", switch.clone()),
        (&root, "POST", &format!("/api/admin/tokens/{id}/status"), json!({ "status": 2 }), "rate_limits_", switch),
        (&root, "POST", "/api/admin/users", ben.clone(), "rate_limits", nearest("rate_limits", "period_limits")),
        (&root, "POST", "/api/admin/users", ben.clone(), "period_limit", nearest("period_limit", "period_limits")),
        (&root, "PATCH", &user, json!({ "status": 2 }), "rate_limits", nearest("rate_limits", "period_limits")),
        (&root, "PATCH", &user, json!({ "status": 2 }), "Period_Limits", nearest("Period_Limits", "period_limits")),
        (
            &root,
            "POST",
            &format!("{user}/quota"),
            json!({ "set": 9 }),
            "period_limits",
            known("period_limits", "`delta`, `set` and `note`"),
        ),
        (
            &ana,
            "PUT",
            "/api/user/self",
            json!({ "display_name": "x" }),
            "period_limit",
            nearest("period_limit", "period_limits"),
        ),
        (
            &app.stranger(),
            "POST",
            "/api/user/register",
            ben,
            "period_limits",
            known("period_limits", "`username`, `password` and `email`"),
        ),
    ];
    let (token_before, user_before) = (token(&ana, id).await, root.get(&user).await.ok());
    for (caller, method, path, mut body, name, message) in table {
        body[name] = json!({ "day": 5 });
        let mut request = caller.request(method.parse().unwrap(), path);
        *request.body_mut() = body.to_string().into();
        caller.send(request).await.refuses_saying(400, "invalid_field", &message);
    }
    assert_eq!(token(&ana, id).await, token_before);
    assert_eq!(root.get(&user).await.ok(), user_before);
    assert_eq!(root.page("/api/admin/users", "username").await.1, 2, "nobody was created");
    // Users do not set their own limits, and are told so.
    let message = "`period_limits` cannot be changed here; ask an administrator";
    let body = json!({ "display_name": "x", "period_limits": { "day": 5 } });
    ana.put("/api/user/self", body).await.refuses_saying(400, "invalid_field", message);
    assert_eq!(root.get(&user).await.ok(), user_before);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_object_may_be_sent_back_as_it_was_read(pool: PgPool) {
    let (app, ana, _) = app_with_wallet(pool, 1_000).await;
    let root = app.root().await;
    let limits = json!({ "name": "one", "period_limits": { "day": 5 }, "rate_limits": { "concurrency": 2 }, "model_limits": "o1" });
    let id = ana.creates(limits).await;
    let user = format!("/api/admin/users/{}", ana.id);
    root.patch(&user, json!({ "period_limits": { "month": 7 } })).await.ok();
    let admin_path = format!("/api/admin/tokens/{id}");
    let listed = async |caller: &Caller, path: &str| caller.get(path).await.ok()["items"][0].clone();
    let details = ana.get(&format!("/api/token/{id}/details")).await.ok();
    let found = ana.get("/api/token/search?keyword=one").await.ok()["items"][0].clone();
    for read in [
        token(&ana, id).await,
        details.clone(),
        listed(&ana, "/api/token/").await,
        found,
        root.get(&admin_path).await.ok(),
    ] {
        ana.put("/api/token/", read.clone()).await.ok();
        ana.put("/api/token/?status_only=1", read.clone()).await.ok();
        root.post(&format!("{admin_path}/status"), read.clone()).await.ok();
        ana.post("/api/token/", read.clone()).await.ok();
        let copy = listed(&ana, "/api/token/").await;
        for field in ["name", "period_limits", "rate_limits", "model_limits"] {
            assert_eq!(copy[field], read[field], "{field}");
        }
        ana.delete(&format!("/api/token/{}", copy["id"])).await;
    }
    assert_eq!(ana.get(&format!("/api/token/{id}/details")).await.ok(), details);

    let shown = root.get(&user).await.ok();
    let reads =
        [shown.clone(), listed(&root, "/api/admin/users?keyword=ana").await, ana.get("/api/user/self").await.ok()];
    for (nth, read) in reads.into_iter().enumerate() {
        root.patch(&user, read.clone()).await.ok();
        ana.put("/api/user/self", read.clone()).await.ok();
        // An account like this one, under another name.
        let mut like = read.clone();
        like["username"] = json!(format!("like{nth}"));
        like["password"] = json!("a password");
        let made = root.post("/api/admin/users", like).await.ok();
        assert_eq!(made["period_limits"], read["period_limits"]);
    }
    assert_eq!(root.get(&user).await.ok(), shown);
    let own = root.get("/api/user/self").await.ok();
    root.put("/api/user/self", own).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn forward_auth_counts_requests_on_each_server(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let limits = json!({ "requests_per_minute": 2 });
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true, "rate_limits": limits })).await;
    let other = app.server_ahead(0);
    for server in [&app, &other] {
        let ask = async || {
            let mut request = app.holder_of(&key).request(http::Method::GET, "/api/gateway/auth");
            request.headers_mut().insert("x-gateway-credential", gateway.secret().parse().unwrap());
            server.stranger().send(request).await
        };
        ask().await.ok();
        ask().await.ok();
        let refused = ask().await;
        let message = "this token may make 2 requests per minute; retry after 30 s";
        refused.refuses_saying(429, "rate_limited", message);
        assert_eq!(refused.header("x-error-code"), Some("rate_limited"));
    }
    // Charges have a rate of their own.
    charge(&gateway, &key, 1).await.ok();
}

/// Three servers whose clocks differ, across midnight: 12:00 minus the seconds until then, in parallel.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn l9_parallel_charges_at_three_servers_take_exactly_the_limit_of_each_day(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000_000).await;
    let (id, key) = ana
        .creates_with_key(json!({ "name": "hot", "unlimited_quota": true, "period_limits": { "day": 1_000 } }))
        .await;
    app.clock.advance(DAY_ENDS - START - 2);
    let servers = [app.server_ahead(-3), app.server_ahead(0), app.server_ahead(1)];
    let burst = async || {
        let charges = (0..600).map(|nth| {
            let gateway = gateway.at(&servers[nth % 3]);
            let (key, call) = (&key, if nth % 4 == 0 { "reserve" } else { "charge" });
            async move { asks(&gateway, call, &json!({ "key": key, "quota": 7 })).await }
        });
        let answers = futures_util::future::join_all(charges).await;
        for answer in answers.iter().filter(|answer| answer.status != 200) {
            answer.refuses(429, "token_period_exceeded");
        }
        answers.iter().filter(|answer| answer.status == 200).count()
    };
    assert_eq!(burst().await, 1_000 / 7);
    // Now the clock of one server has passed midnight, that of another has not.
    for server in &servers {
        server.clock.advance(2);
    }
    app.clock.advance(2);
    let open: i64 =
        sqlx::query_scalar("select held from tokens where id = $1").bind(id).fetch_one(&app.pool).await.unwrap();
    assert_eq!(i64::try_from(burst().await).unwrap(), (1_000 - open) / 7);
    assert_eq!(burst().await, 0);
    let consistent: bool = sqlx::query_scalar(
        "select t.day_used + t.held <= 1000 and t.day_used = (select sum(quota) from usage_daily where day = t.period_day) \
         and t.month_used = (select sum(quota) from usage_daily) \
         and t.held = (select sum(held) from reservations where state = 'open') from tokens t where id = $1",
    )
    .bind(id)
    .fetch_one(&app.pool)
    .await
    .unwrap();
    assert!(consistent);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn parallel_reservations_at_three_servers_are_never_more_than_the_concurrency(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000_000).await;
    let limits = json!({ "concurrency": 5, "requests_per_minute": 8 });
    let (_, key) = ana.creates_with_key(json!({ "name": "hot", "unlimited_quota": true, "rate_limits": limits })).await;
    let servers = [app.server_ahead(0), app.server_ahead(0), app.server_ahead(0)];
    let burst = async || {
        let reserve = (0..90).map(|nth| {
            let gateway = gateway.at(&servers[nth % 3]);
            let key = &key;
            async move { asks(&gateway, "reserve", &json!({ "key": key, "quota": 1 })).await }
        });
        let answers = futures_util::future::join_all(reserve).await;
        let held = answers.iter().filter(|answer| answer.status == 200);
        held.map(|answer| answer.ok()["reservation_id"].clone()).collect::<Vec<_>>()
    };
    let held = burst().await;
    assert_eq!(held.len(), 5);
    for (reservation, server) in held.iter().zip(servers.iter().cycle()) {
        releases(&gateway.at(server), reservation).await.ok();
    }
    assert_eq!(burst().await.len(), 3, "of the 8 requests of this minute, 3 are left");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn weeks_begin_on_the_day_of_the_setting_and_are_counted_again_when_it_changes(pool: PgPool) {
    let app = TestApp::with(pool.clone(), &[("KEYMETER_USAGE__WEEK_STARTS", "sunday")]).await;
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, 1_000).await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    charge(&gateway, &key, 10).await.ok();
    assert_eq!(token(&ana, id).await["period_usage"]["week"]["resets_at"], WEEK_ENDS - 86_400);
    // Sunday, then Monday.
    for used in [20, 30] {
        app.clock.advance(if used == 20 { 5 * 86_400 } else { 86_400 });
        charge(&gateway, &key, used).await.ok();
    }
    assert_eq!(token(&ana, id).await["period_usage"]["week"]["used"], 50);
    sqlx::query(
        "insert into installation (id, key_check, cell_label, created_time, week_starts) values (1, '', '00', 1, 7)",
    )
    .execute(&pool)
    .await
    .unwrap();
    let mut conn = pool.acquire().await.unwrap();
    assert!(keymeter::storage::installation::change_week_start(&mut conn, 1).await.unwrap());
    assert!(!keymeter::storage::installation::change_week_start(&mut conn, 1).await.unwrap());
    let weeks: Vec<i64> =
        sqlx::query_scalar("select week_used from tokens union all select week_used from users where week_used > 0")
            .fetch_all(&pool)
            .await
            .unwrap();
    assert_eq!(weeks, [30, 30]);
}

/// A server that starts with another first day of the week while others charge.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_week_is_counted_again_although_wallets_are_held_for_longer_than_a_lock_may_be_waited_for(pool: PgPool) {
    let app = TestApp::with(pool.clone(), &[("KEYMETER_USAGE__WEEK_STARTS", "sunday")]).await;
    let gateway = app.gateway().await;
    let mut users = Vec::new();
    for n in 0..5 {
        let user = app.enabled_user(&format!("user{n}")).await;
        app.fills(&user, 1_000).await;
        let (_, key) = user.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
        users.push((user.id, key));
    }
    // Sunday, then Monday.
    for days in [5, 1] {
        app.clock.advance(days * 86_400);
        for (_, key) in &users {
            charge(&gateway, key, 20 + days).await.ok();
        }
    }
    let installed =
        "insert into installation (id, key_check, cell_label, created_time, week_starts) values (1, '', '00', 1, 7)";
    sqlx::query(installed).execute(&pool).await.unwrap();
    let mut holder = pool.begin().await.unwrap();
    sqlx::query("select 1 from users where id = $1 for update").bind(users[2].0).execute(&mut *holder).await.unwrap();
    let mut conn = service_connection(&url(&pool)).await;
    let count = tokio::spawn(async move { keymeter::storage::installation::change_week_start(&mut conn, 1).await });
    // Only the wallet that is held waits.
    let counted = "select array_agg(id order by id) from users where week_used = 21";
    let others: Vec<i64> = users.iter().map(|(id, _)| *id).filter(|id| *id != users[2].0).collect();
    let is_ahead = async || {
        let ids: Option<Vec<i64>> = sqlx::query_scalar(counted).fetch_one(&pool).await.unwrap();
        ids.is_some_and(|ids| ids == others[..2])
    };
    eventually("the wallets before it are counted", is_ahead).await;
    tokio::time::sleep(std::time::Duration::from_secs(3)).await;
    assert!(!count.is_finished());
    holder.rollback().await.unwrap();
    assert!(count.await.unwrap().unwrap());
    let all: i64 =
        sqlx::query_scalar("select count(*) from users where week_used = 21").fetch_one(&pool).await.unwrap();
    assert_eq!(all, 5);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_changed_time_zone_loses_no_counter_and_leaves_the_ledger_consistent(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool.clone(), 1_000).await;
    let (id, key) =
        ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true, "period_limits": { "day": 100 } })).await;
    charge(&gateway, &key, 60).await.ok();
    // It is the 11th in Kiritimati, and a new day; back in UTC it stays the 11th.
    let east = TestApp::with(pool.clone(), &[("KEYMETER_USAGE__TIME_ZONE", "Pacific/Kiritimati")]).await;
    charge(&gateway.at(&east), &key, 70).await.ok();
    let refused = charge(&gateway, &key, 31).await;
    exceeds(&refused, "token_period_exceeded", "day", [100, 70, DAY_ENDS + 86_400], START);
    charge(&gateway, &key, 30).await.ok();
    assert_eq!(token(&ana, id).await["period_usage"]["month"]["used"], 160);
    drop(app);
}
