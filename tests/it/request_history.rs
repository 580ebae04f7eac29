//! Specification §13.8: single requests, newest first.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use sqlx::PgPool;

use keymeter::domain::request_history::Position;

use crate::harness::gateway::{app_with_wallet, asks};
use crate::harness::{Caller, START, TestApp};

const REQUESTS: &str = "/api/usage/requests";
const EVERYONE: &str = "/api/admin/usage/requests";

/// Writes `count` charges of a token for a model, `apart` seconds between two, the newest at `newest`.
async fn charged(app: &TestApp, owner: &Caller, token: i64, model: &str, newest: i64, apart: i64, count: i64) {
    let insert = "insert into charges (at, token_id, user_id, model, quota, shortfall, prompt_tokens, completion_tokens) \
                  select $1 - n * $2, $3, $4, $5, 1, 0, 2, 3 from generate_series(0, $6 - 1) n";
    let insert = sqlx::query(insert).bind(newest).bind(apart).bind(token).bind(owner.id).bind(model).bind(count);
    insert.execute(&app.pool).await.unwrap();
}

/// All pages of a list, each with at most `size` requests; and how many pages there were.
async fn every_page(caller: &Caller, path: &str, size: usize) -> (Vec<Value>, usize) {
    let (mut requests, mut pages, mut after) = (Vec::new(), 0, String::new());
    loop {
        let page = caller.get(&format!("{path}size={size}&after={after}")).await.ok();
        let items = page["items"].as_array().unwrap();
        assert!(items.len() <= size);
        requests.extend_from_slice(items);
        pages += 1;
        match page["next"].as_str() {
            Some(next) => next.clone_into(&mut after),
            None => return (requests, pages),
        }
    }
}

fn ids(requests: &[Value]) -> Vec<&str> {
    requests.iter().map(|request| request["id"].as_str().unwrap()).collect()
}

fn place(request: &Value) -> Position {
    let position = Position::parse(request["id"].as_str().unwrap()).unwrap();
    assert_eq!(
        (position.at.get(), position.kind.as_str()),
        (request["at"].as_i64().unwrap(), request["outcome"].as_str().unwrap())
    );
    position
}

/// Writes `count` refusals of a token, `apart` seconds between two, the newest at `newest`.
async fn refused(app: &TestApp, owner: &Caller, token: i64, newest: i64, apart: i64, count: i64) {
    let insert = "insert into refusals (at, token_id, user_id, gateway_id, call, reason, model, suppressed) \
                  select $1 - n * $2, $3, $4, 1, 'charge', 'token_exhausted', 'o1', 0 from generate_series(0, $5 - 1) n";
    let insert = sqlx::query(insert).bind(newest).bind(apart).bind(token).bind(owner.id).bind(count);
    insert.execute(&app.pool).await.unwrap();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_request_says_what_was_charged_for_what_and_by_whom(pool: PgPool) {
    let (_app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (one, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    let charge = json!({
        "key": key, "quota": 7, "model": "o1", "ip": "192.0.2.7", "request_id": "r-1", "prompt_tokens": 11,
        "completion_tokens": 5,
    });
    asks(&gateway, "charge", &charge).await.ok();
    let held = asks(&gateway, "reserve", &json!({ "key": key, "quota": 50, "request_id": "r-2" })).await.ok();
    let settlement = json!({ "reservation_id": held["reservation_id"], "quota": 120 });
    asks(&gateway, "settle", &settlement).await.ok();
    ana.delete(&format!("/api/token/{one}")).await.ok();

    let page = ana.get(REQUESTS).await.ok();
    let ids = ids(page["items"].as_array().unwrap());
    let common = json!({
        "at": START, "outcome": "charged", "refusal": null, "priced_by": "told", "hold_reason": null, "token_id": one, "token_name": "one", "user_id": ana.id, "username": "ana", "gateway_name": "edge",
        "gateway_id": page["items"][0]["gateway_id"],
    });
    let row = |more: Value| {
        let mut row = common.clone();
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        row
    };
    let settled = row(json!({
        "id": ids[0], "model": "", "quota": 93, "usd": 0.000_186, "shortfall": 27, "prompt_tokens": 0,
        "completion_tokens": 0, "units": {}, "ip": null, "request_id": "r-2", "reservation_id": held["reservation_id"],
    }));
    let charged = row(json!({
        "id": ids[1], "model": "o1", "quota": 7, "usd": 0.000_014, "shortfall": 0, "prompt_tokens": 11,
        "completion_tokens": 5, "units": { "input_tokens": 11, "output_tokens": 5 }, "ip": "192.0.2.7", "request_id": "r-1", "reservation_id": null,
    }));
    assert_eq!(page, json!({ "items": [settled, charged], "next": null }));

    let csv = ana.get(&format!("{REQUESTS}?format=csv")).await;
    assert_eq!(csv.header("content-disposition"), Some("attachment; filename=\"requests.csv\""));
    let (user, gateway) = (ana.id, &page["items"][0]["gateway_id"]);
    let reservation = held["reservation_id"].as_str().unwrap();
    let expected = format!(
        "id,at,outcome,user_id,username,token_id,token_name,model,prompt_tokens,completion_tokens,quota,usd,shortfall,\
         reason,message,call,requested,suppressed,ip,request_id,reservation_id,gateway_id,gateway_name,units,priced_by,\
         hold_reason\r\n\
         {},{START},charged,{user},ana,{one},one,,0,0,93,0.000186,27,,,,,,,r-2,{reservation},{gateway},edge,{{}},told,\r\n\
         {},{START},charged,{user},ana,{one},one,o1,11,5,7,0.000014,0,,,,,,192.0.2.7,r-1,,{gateway},edge,\
         \"{{\"\"input_tokens\"\":11,\"\"output_tokens\"\":5}}\",told,\r\n",
        ids[0], ids[1]
    );
    assert_eq!(csv.text, expected);
}

/// Writes `count` requests that another service charged, `apart` seconds between two, the newest at `newest`.
async fn imported(app: &TestApp, owner: &Caller, token: i64, newest: i64, apart: i64, count: i64) {
    let insert = "insert into requests_imported (source, foreign_id, at, token_id, user_id, model, quota, prompt_tokens, \
                    completion_tokens) \
                  select $3::text, n, $1 - n * $2, $3, $4, 'o1', 4, 2, 3 from generate_series(0, $5 - 1) n";
    let insert = sqlx::query(insert).bind(newest).bind(apart).bind(token).bind(owner.id).bind(count);
    insert.execute(&app.pool).await.unwrap();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn requests_that_another_service_charged_are_in_all_lists_and_in_no_sum(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (one, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    asks(&gateway, "charge", &json!({ "key": key, "quota": 7, "model": "o1" })).await.ok();
    imported(&app, &ana, one, START, 60, 2).await;
    let rows = ana.get(REQUESTS).await.ok()["items"].as_array().unwrap().clone();
    let outcomes: Vec<_> = rows.iter().map(|row| (row["outcome"].as_str().unwrap(), &row["quota"])).collect();
    assert_eq!(outcomes, [("charged", &json!(7)), ("imported", &json!(4)), ("imported", &json!(4))]);
    let expected = json!({
        "id": rows[1]["id"], "at": START, "outcome": "imported", "token_id": one, "token_name": "one", "user_id": ana.id,
        "username": "ana", "model": "o1", "quota": 4, "usd": 0.000_008, "shortfall": 0, "prompt_tokens": 2,
        "completion_tokens": 3, "units": { "input_tokens": 2, "output_tokens": 3 }, "priced_by": null,
        "hold_reason": null, "ip": null, "request_id": null, "reservation_id": null, "gateway_id": null,
        "gateway_name": null, "refusal": null,
    });
    assert_eq!(rows[1], expected);
    let admin = app.admin("carla").await;
    let id = rows[1]["id"].as_str().unwrap();
    for (caller, path) in [
        (&ana, format!("{REQUESTS}?outcome=imported&")),
        (&admin, format!("{EVERYONE}?outcome=imported&")),
        (&admin, format!("{EVERYONE}?outcome=imported&token_id={one}&")),
    ] {
        assert_eq!(every_page(caller, &path, 1).await.0, rows[1..], "{path}");
    }
    assert_eq!(ana.get(&format!("{REQUESTS}?id={id}")).await.ok()["items"], json!([rows[1]]));
    assert_eq!(ana.get(&format!("{REQUESTS}?outcome=charged")).await.ok()["items"], json!([rows[0]]));
    let csv = ana.get(&format!("{REQUESTS}?format=csv&outcome=imported")).await.text;
    assert_eq!(csv.matches(",imported,").count(), 2, "{csv}");
    // As tools of the other service read them.
    let log = ana.get("/api/log/self?type=2").await.ok();
    assert_eq!(
        (&log["total"], &log["items"][0]["quota"], &log["items"][2]["quota"]),
        (&json!(3), &json!(7), &json!(4))
    );
    assert_eq!(app.holder_of(&key).get("/api/log/token").await.json()["data"].as_array().unwrap().len(), 3);
    // What was used before the import comes from its sums by day.
    assert_eq!(ana.get("/api/usage?group_by=model").await.ok()["total"]["quota"], 7);
    assert_eq!(ana.get("/api/log/self/stat?start_timestamp=1").await.ok()["quota"], 7);
    let message = "`outcome` must be `charged`, `refused` or `imported`";
    ana.get(&format!("{REQUESTS}?outcome=lost")).await.refuses_saying(400, "invalid_filter", message);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn pages_have_every_request_once_whatever_is_charged_meanwhile(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben) = (app.enabled_user("ana").await, app.enabled_user("ben").await);
    let (one, two) = (ana.creates(json!({ "name": "one" })).await, ana.creates(json!({ "name": "two" })).await);
    let bens = ben.creates(json!({ "name": "ben's" })).await;
    // Many in one second, some far apart, some of long ago, and one of a clock that was ahead.
    charged(&app, &ana, one, "o1", START, 0, 25).await;
    charged(&app, &ana, two, "o2", START, 3_600, 30).await;
    charged(&app, &ana, one, "o1", START - 20_000_000, 10_000_000, 5).await;
    charged(&app, &ana, two, "o1", START + 1_000_000, 0, 1).await;
    charged(&app, &ben, bens, "o1", START, 60, 10).await;
    // Refusals in the same seconds and between them.
    refused(&app, &ana, one, START, 0, 12).await;
    refused(&app, &ana, two, START - 1, 1_800, 9).await;
    imported(&app, &ana, one, START, 0, 8).await;
    imported(&app, &ana, two, START - 7, 1_800, 5).await;
    let admin = app.admin("carla").await;
    let by_token = format!("{REQUESTS}?token_id={one}&");
    let of_ana = format!("{EVERYONE}?user_id={}&", ana.id);
    for (caller, path, count) in [
        (&ana, format!("{REQUESTS}?outcome=imported&"), 13),
        (&ana, format!("{REQUESTS}?"), 95),
        (&ana, format!("{REQUESTS}?outcome=charged&"), 61),
        (&ana, format!("{REQUESTS}?outcome=refused&"), 21),
        (&ana, format!("{REQUESTS}?reason=token_exhausted&"), 21),
        (&ana, format!("{REQUESTS}?reason=token_expired&"), 0),
        (&ana, by_token, 50),
        (&ben, format!("{REQUESTS}?"), 10),
        (&admin, format!("{EVERYONE}?"), 105),
        (&admin, of_ana, 95),
        (&admin, format!("{EVERYONE}?token_id={bens}&"), 10),
        (&ana, format!("{REQUESTS}?model=o1&"), 65),
        (&ana, format!("{REQUESTS}?model=o1&token_id={two}&"), 15),
        (&ana, format!("{REQUESTS}?from=2026-03-10&to=2026-03-10&token_id={one}&"), 45),
    ] {
        for size in [7, 100] {
            let (requests, _) = every_page(caller, &path, size).await;
            let places: Vec<_> = requests.iter().map(place).collect();
            assert_eq!(places.iter().collect::<BTreeSet<_>>().len(), count, "{path} {size}");
            assert!(places.is_sorted_by(|newer, older| newer > older), "{path} {size}");
        }
    }
    let first = ana.get(&format!("{REQUESTS}?size=20")).await.ok();
    charged(&app, &ana, one, "o1", START, 0, 3).await;
    let after = first["next"].as_str().unwrap();
    let second = ana.get(&format!("{REQUESTS}?size=100&after={after}")).await.ok();
    let both = [first["items"].as_array().unwrap().as_slice(), second["items"].as_array().unwrap()].concat();
    let distinct: BTreeSet<_> = ids(&both).into_iter().collect();
    assert_eq!((both.len(), distinct.len()), (95, 95), "what came meanwhile is newer than the first page");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_rare_model_among_many_charges_is_found_in_bounded_steps(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let one = ana.creates(json!({ "name": "one" })).await;
    charged(&app, &ana, one, "o1", START, 1, 120_000).await;
    charged(&app, &ana, one, "rare", START - 119_999, 1, 1).await;
    let admin = app.admin("carla").await;
    for (caller, path) in [(&ana, format!("{REQUESTS}?model=rare&")), (&admin, format!("{EVERYONE}?model=rare&"))] {
        let (requests, pages) = every_page(caller, &path, 10).await;
        assert_eq!(requests.len(), 1, "{path}");
        assert!((2..=8).contains(&pages), "{path}: {pages} pages");
    }
    let (requests, pages) = every_page(&ana, &format!("{REQUESTS}?model=o1&"), 100).await;
    assert_eq!((requests.len(), pages), (120_000, 1_200));

    let lines = async |caller: &Caller, path: String| caller.get(&path).await.text.matches("\r\n").count();
    assert_eq!(lines(&ana, format!("{REQUESTS}?format=csv&model=rare")).await, 2);
    assert_eq!(lines(&admin, format!("{EVERYONE}?format=csv&model=rare")).await, 2);
    charged(&app, &ana, one, "half", START, 2, 50_000).await;
    assert_eq!(lines(&ana, format!("{REQUESTS}?format=csv&model=half")).await, 50_001);
    charged(&app, &ana, one, "half", START, 2, 1).await;
    let message = "more than 50000 requests match; ask for fewer days";
    for (caller, path) in [(&ana, REQUESTS), (&admin, EVERYONE)] {
        caller.get(&format!("{path}?format=csv&model=half")).await.refuses_saying(400, "range_too_large", message);
    }
    charged(&app, &ana, one, "o1", START - 200_000, 1, 500_000).await;
    let message = "at most 500000 requests are read for one file; ask for fewer days, or for one token";
    for (caller, path) in [(&ana, REQUESTS), (&admin, EVERYONE)] {
        caller.get(&format!("{path}?format=csv&model=none")).await.refuses_saying(400, "range_too_large", message);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn requests_are_found_by_their_id_and_by_their_gateway(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 100 })).await;
    for id in ["a", "b"] {
        asks(&gateway, "charge", &json!({ "key": key, "quota": 1, "request_id": id })).await.ok();
    }
    let found = ana.get(&format!("{REQUESTS}?request_id=b")).await.ok();
    assert_eq!((found["items"].as_array().unwrap().len(), &found["items"][0]["request_id"]), (1, &json!("b")));
    let id = found["items"][0]["gateway_id"].as_i64().unwrap();
    let count = async |path: &str| ana.get(path).await.ok()["items"].as_array().unwrap().len();
    assert_eq!(count(&format!("{REQUESTS}?gateway_id={id}")).await, 2);
    assert_eq!(count(&format!("{REQUESTS}?gateway_id={}", id + 1)).await, 0);
    assert_eq!(count(&format!("{REQUESTS}?request_id=B")).await, 0);
    app.root().await.delete(&format!("/api/admin/gateways/{id}")).await.ok();
    let found = ana.get(REQUESTS).await.ok();
    assert_eq!((&found["items"][0]["gateway_id"], &found["items"][0]["gateway_name"]), (&json!(id), &Value::Null));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn requests_of_others_and_impossible_questions_are_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben) = (app.enabled_user("ana").await, app.enabled_user("ben").await);
    let bens = ben.creates(json!({ "name": "ben's" })).await;
    let admin = app.admin("carla").await;
    for (query, status, code, message) in [
        (format!("token_id={bens}"), 404, "not_found", "there is no such token"),
        ("token_id=x".into(), 400, "invalid_query", "`token_id` must be a whole number"),
        ("gateway_id=x".into(), 400, "invalid_query", "`gateway_id` must be a whole number"),
        ("after=7".into(), 400, "invalid_page", "`after` must be the `next` of a page"),
        ("size=-1".into(), 400, "invalid_page", "the page size must be a whole number from 0"),
        ("after=7.1".into(), 400, "invalid_page", "`after` must be the `next` of a page"),
        ("outcome=x".into(), 400, "invalid_filter", "`outcome` must be `charged`, `refused` or `imported`"),
        (
            "reason=x".into(),
            400,
            "invalid_filter",
            "`reason` must be the error code of a refusal, such as `token_exhausted`",
        ),
        ("id=7".into(), 400, "invalid_filter", "`id` must be the `id` of a request in this list"),
        ("format=xml".into(), 400, "invalid_filter", "`format` must be `json` or `csv`"),
        ("model=%00".into(), 400, "invalid_query", "`model` contains control characters"),
        ("request_id=%00".into(), 400, "invalid_query", "`request_id` contains control characters"),
        ("from=2026-03-02&to=2026-03-01".into(), 400, "invalid_range", "`from` is after `to`"),
    ] {
        ana.get(&format!("{REQUESTS}?{query}")).await.refuses_saying(status, code, message);
    }
    for (query, message) in [("user_id=999999", "there is no such user"), ("token_id=999999", "there is no such token")]
    {
        admin.get(&format!("{EVERYONE}?{query}")).await.refuses_saying(404, "not_found", message);
    }
    ana.get(EVERYONE).await.refuses(403, "not_an_administrator");
}
