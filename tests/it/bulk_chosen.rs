//! Specification §15.4: tokens chosen by ids or by a filter are changed, saved as a file and given other keys.

use std::collections::BTreeSet;

use http::{HeaderValue, Method, header};
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::gateway::{app_with_wallet, asks};
use crate::harness::{Answer, Caller, TestApp};

const OWN: &str = "/api/token/bulk";
const ANY: &str = "/api/admin/tokens/bulk";

/// Makes so many tokens, at most 100, and returns their ids and keys.
async fn makes(owner: &Caller, name: &str, count: usize) -> Vec<(i64, String)> {
    let token = |n| json!({ "name": format!("{name} {n}"), "remain_quota": 10 });
    let made = owner.post(OWN, json!({ "tokens": (0..count).map(token).collect::<Vec<_>>() })).await.ok();
    let pair = |token: &Value| (token["id"].as_i64().unwrap(), token["key"].as_str().unwrap().to_owned());
    made.as_array().unwrap().iter().map(pair).collect()
}

async fn sum(app: &TestApp, sql: &'static str) -> i64 {
    sqlx::query_scalar(sql).fetch_one(&app.pool).await.unwrap()
}

const QUOTA: &str = "select sum(remain_quota)::bigint from tokens";

async fn changes(admin: &Caller, name: &str, body: &Value) -> Answer {
    let mut request = admin.request(Method::PATCH, ANY);
    request.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    request.headers_mut().insert("idempotency-key", HeaderValue::from_str(name).unwrap());
    *request.body_mut() = body.to_string().into();
    admin.send(request).await
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_4_all_tokens_that_match_a_filter_are_changed_or_none(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let ben = app.enabled_user("ben").await;
    makes(&ben, "web", 1).await;
    let web = makes(&ana, "web", 3).await;
    let ci = makes(&ana, "ci", 2).await;
    let day = json!({ "period_limits": { "day": 4 } });
    let changed = ana.patch(OWN, json!({ "filter": { "keyword": "WEB" }, "set": day })).await.ok();
    let ids: Vec<i64> = changed.as_array().unwrap().iter().map(|token| token["id"].as_i64().unwrap()).collect();
    assert_eq!(ids, web.iter().map(|(id, _)| *id).collect::<Vec<_>>());
    assert!(changed.as_array().unwrap().iter().all(|token| token["period_limits"]["day"] == 4));
    asks(&gateway, "charge", &json!({ "key": web[0].1, "quota": 5 })).await.refuses(429, "token_period_exceeded");
    asks(&gateway, "charge", &json!({ "key": ci[0].1, "quota": 5 })).await.ok();
    assert_eq!(sum(&app, "select count(*) from tokens where day_limit is not null").await, 3);

    // One that cannot be enabled keeps all as they are.
    let off = json!({ "filter": { "state": "working" }, "set": { "status": 2 } });
    assert_eq!(ana.patch(OWN, off).await.ok().as_array().unwrap().len(), 5);
    app.root().await.post(&format!("/api/admin/tokens/{}/status", ci[1].0), json!({ "status": 2 })).await.ok();
    let on = json!({ "filter": { "status": 2 }, "set": { "status": 1 } });
    let refused = ana.patch(OWN, on).await;
    refused.refuses(403, "switched_off_by_root");
    assert_eq!(refused.json()["id"], ci[1].0);
    assert_eq!(sum(&app, "select count(*) from tokens where switched_off_by is not null").await, 5);

    let none = json!({ "filter": { "keyword": "nothing is called so" }, "set": { "status": 2 } });
    assert_eq!(ana.patch(OWN, none).await.ok(), json!([]));
    let all = json!({ "filter": {}, "set": { "add_quota": 1 } });
    assert_eq!(ana.patch(OWN, all).await.ok().as_array().unwrap().len(), 5);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_4_what_is_chosen_is_said_in_one_way_and_no_filter_is_ignored(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, root) = (app.enabled_user("ana").await, app.root().await);
    let [(id, _)] = makes(&ana, "one", 1).await.try_into().unwrap();
    let set = json!({ "add_quota": 1 });
    for (caller, change, export) in [(&ana, OWN, "/api/token/export"), (&root, ANY, "/api/admin/tokens/export")] {
        for (chosen, code) in [
            (json!({}), "missing_field"),
            (json!({ "ids": [id], "filter": {} }), "invalid_ids"),
            (json!({ "ids": [] }), "invalid_ids"),
            (
                json!({ "ids": vec![id; 1_001].iter().zip(0..).map(|(id, n)| id + n).collect::<Vec<_>>() }),
                "invalid_ids",
            ),
            (json!({ "filter": 5 }), "invalid_field"),
            (json!({ "filter": { "user": 5 } }), "invalid_field"),
            (json!({ "filter": { "keyword": "%" } }), "invalid_search"),
            (json!({ "filter": { "keyword": " " } }), "invalid_filter"),
            (json!({ "filter": { "state": "" } }), "invalid_filter"),
            (json!({ "filter": { "group": "" } }), "invalid_filter"),
            (json!({ "filter": {}, "owner": 5 }), "invalid_field"),
            (json!({ "filter": {}, "dry_run": true }), "invalid_field"),
            (json!({ "filter": { "state": "on" } }), "invalid_filter"),
            (json!({ "filter": { "group": "nobody's" } }), "invalid_filter"),
        ] {
            let mut body = chosen.clone();
            caller.post(export, body.clone()).await.refuses(400, code);
            body["set"] = set.clone();
            caller.patch(change, body).await.refuses(400, code);
        }
        caller.patch(change, json!({ "ids": [id] })).await.refuses(400, "missing_field");
        let absent = caller.patch(change, json!({ "ids": [id, 999], "set": set })).await;
        absent.refuses(404, "not_found");
        assert_eq!(absent.json()["id"], 999);
    }
    assert_eq!(sum(&app, QUOTA).await, 10);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_4_administrators_change_tokens_of_many_owners_who_see_it(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, carla) = (app.root().await, app.admin("carla").await);
    let (ana, ben, dora) = (app.enabled_user("ana").await, app.enabled_user("ben").await, app.admin("dora").await);
    let (of_ana, of_ben) = (makes(&ana, "web", 2).await, makes(&ben, "web", 3).await);
    let of_dora = makes(&dora, "web", 1).await;
    let body = json!({ "filter": { "keyword": "web" }, "set": { "add_quota": 5, "note": "spring" } });
    let fault = json!({ "user_id": dora.id, "username": "dora", "id": null, "error": "role_too_low",
        "message": "only root may make and change tokens of administrators" });
    let expected = json!({ "changed": 5, "faults": [fault], "next": null });
    assert_eq!(changes(&carla, "spring", &body).await.ok(), expected);
    // Sent again, nothing is added twice.
    assert_eq!(changes(&carla, "spring", &body).await.ok(), expected);
    assert_eq!(sum(&app, QUOTA).await, 5 * 15 + 10);
    let mut other = body.clone();
    other["set"]["add_quota"] = json!(6);
    changes(&carla, "spring", &other).await.refuses(422, "idempotency_key_reused");
    // Nor for others, before anything is changed.
    let of_ben_alone = json!({ "filter": {}, "user_id": ben.id, "set": { "add_quota": 6 } });
    changes(&carla, "spring", &of_ben_alone).await.refuses(422, "idempotency_key_reused");
    assert_eq!(sum(&app, QUOTA).await, 5 * 15 + 10);

    // All of an owner or none: ben's second token cannot be enabled.
    root.post(&format!("/api/admin/tokens/{}/status", of_ben[1].0), json!({ "status": 2 })).await.ok();
    let ids: Vec<i64> = of_ana.iter().chain(&of_ben).map(|(id, _)| *id).collect();
    let on = carla.patch(ANY, json!({ "ids": ids, "set": { "status": 1, "group": "own" } })).await;
    let codes = |answer: &Answer| {
        answer.ok()["faults"].as_array().unwrap().iter().map(|fault| fault["error"].clone()).collect::<Vec<_>>()
    };
    assert_eq!(codes(&on), ["invalid_group", "invalid_group"], "of each owner, by its group");
    let on = carla.patch(ANY, json!({ "ids": ids, "set": { "status": 1, "note": "on" } })).await.ok();
    let fault = &on["faults"][0];
    assert_eq!((&on["changed"], &fault["user_id"], &fault["id"]), (&json!(2), &json!(ben.id), &json!(of_ben[1].0)));
    assert_eq!(fault["error"], "switched_off_by_root");
    assert_eq!(sum(&app, "select count(*) from tokens where note = 'on'").await, 2);
    let seen = ana.get("/api/user/activity?subject_kind=token").await.ok();
    assert_eq!(
        (&seen["items"][0]["actor_name"], &seen["items"][0]["action"]),
        (&json!("carla"), &json!("token.edited"))
    );

    // Administrators stop keys of each other, and change nothing else of them.
    let stop = json!({ "ids": [of_dora[0].0], "set": { "status": 2 } });
    assert_eq!(carla.patch(ANY, stop).await.ok()["changed"], 1);
    let stop = json!({ "ids": [of_dora[0].0], "set": { "status": 1, "note": "mine" } });
    assert_eq!(carla.patch(ANY, stop).await.ok()["faults"][0]["error"], "role_too_low");
    assert_eq!(
        root.patch(ANY, json!({ "filter": {}, "user_id": ben.id, "set": { "note": "b" } })).await.ok()["changed"],
        3
    );
    ana.patch(ANY, json!({ "ids": ids, "set": { "note": "b" } })).await.refuses(403, "not_an_administrator");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_4_many_owners_are_gone_through_in_parts(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let root = app.root().await;
    let mut owners = Vec::new();
    for name in ["ana", "ben", "cid"] {
        let owner = app.enabled_user(name).await;
        for _ in 0..6 {
            makes(&owner, "x", 100).await;
        }
        owners.push(owner);
    }
    let mut body = json!({ "filter": { "status": 1 }, "set": { "status": 2 } });
    let first = root.patch(ANY, body.clone()).await.ok();
    assert_eq!(first, json!({ "changed": 1_200, "faults": [], "next": owners[1].id }));
    body["after"] = first["next"].clone();
    assert_eq!(root.patch(ANY, body).await.ok(), json!({ "changed": 600, "faults": [], "next": null }));
    assert_eq!(sum(&app, "select count(*) from tokens where switched_off_by is null").await, 0);
    let all = owners[0].patch(OWN, json!({ "filter": {}, "set": { "name": "same" } })).await.ok();
    assert_eq!(all.as_array().unwrap().len(), 600);
}

/// What was done is in the answer: without it, nobody could go on without doing it again.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_4_where_a_call_cannot_go_on_it_says_how_far_it_was(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let root = app.root().await;
    let (ana, ben) = (app.enabled_user("ana").await, app.enabled_user("ben").await);
    makes(&ana, "x", 2).await;
    makes(&ben, "x", 2).await;
    let fails = format!(
        "create function fails() returns trigger language plpgsql as $$ begin raise exception 'no disk'; end $$;
         create trigger fails before update on tokens for each row when (new.user_id = {}) execute function fails()",
        ben.id
    );
    sqlx::raw_sql(sqlx::AssertSqlSafe(fails)).execute(&app.pool).await.unwrap();
    let mut body = json!({ "filter": {}, "set": { "add_quota": 1 } });
    let first = root.patch(ANY, body.clone()).await.ok();
    assert_eq!(first, json!({ "changed": 2, "faults": [], "next": ana.id }));
    body["after"] = first["next"].clone();
    root.patch(ANY, body.clone()).await.refuses(500, "internal");
    sqlx::raw_sql("drop trigger fails on tokens").execute(&app.pool).await.unwrap();
    assert_eq!(root.patch(ANY, body).await.ok(), json!({ "changed": 2, "faults": [], "next": null }));
    assert_eq!(sum(&app, QUOTA).await, 44);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_4_tokens_are_saved_as_a_file_without_their_keys(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben) = (app.enabled_user("ana").await, app.enabled_user("ben").await);
    let (of_ana, of_ben) = (makes(&ana, "web", 3).await, makes(&ben, "web, =x", 1).await);
    let csv = ana.post("/api/token/export", json!({ "filter": { "keyword": "web" }, "format": "csv-bom" })).await;
    assert_eq!(csv.header("content-disposition"), Some("attachment; filename=\"keys.csv\""));
    let lines: Vec<&str> = csv.text.lines().collect();
    assert!(lines[0].starts_with("\u{feff}id,user_id,username,name,masked_key,state,"), "{}", lines[0]);
    assert_eq!(lines.len(), 4);
    assert!(lines[1].starts_with(&format!("{},{},ana,web 0,sk-", of_ana[0].0, ana.id)), "{}", lines[1]);
    assert!(of_ana.iter().all(|(_, key)| !csv.text.contains(&key[3..])));
    let limits = json!({ "ids": [of_ana[1].0], "set": { "period_limits": { "day": 7, "month": 70 }, "note": "=1" } });
    ana.patch(OWN, limits).await.ok();
    let one = ana.post("/api/token/export", json!({ "ids": [of_ana[1].0] })).await.text;
    let lines: Vec<Vec<&str>> = one.lines().map(|line| line.split(',').collect()).collect();
    let cell = |name: &str| lines[1][lines[0].iter().position(|column| *column == name).unwrap()];
    let names = ["day_limit", "week_limit", "month_limit", "concurrency", "remain_quota", "expired_time", "note"];
    assert_eq!(names.map(cell), ["7", "-1", "70", "-1", "10", "-1", "'=1"]);
    // Only of the caller.
    ana.post("/api/token/export", json!({ "ids": [of_ben[0].0] })).await.refuses(404, "not_found");
    ana.post("/api/token/export", json!({ "filter": {}, "user_id": ben.id })).await.refuses(400, "invalid_filter");
    let any = json!({ "filter": { "keyword": "web" }, "user_id": ben.id });
    let csv = app.root().await.post("/api/admin/tokens/export", any).await;
    assert!(csv.text.lines().nth(1).unwrap().contains(",ben,\"web, =x 0\","), "{}", csv.text);
    ana.post("/api/admin/tokens/export", json!({ "filter": {} })).await.refuses(403, "not_an_administrator");
    ana.post("/api/token/export", json!({ "filter": {}, "format": "json" })).await.refuses(400, "invalid_filter");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s15_4_the_keys_of_many_tokens_are_replaced_together_or_not_at_all(pool: PgPool) {
    let (app, ana, gateway) = app_with_wallet(pool, 1_000).await;
    let made = makes(&ana, "x", 3).await;
    let ids: Vec<i64> = made.iter().map(|(id, _)| *id).collect();
    let rotate = "/api/token/bulk/rotate";
    let expired = json!({ "id": ids[1], "expired_time": 5 });
    ana.put("/api/token/", expired).await.ok();
    let refused = ana.post(rotate, json!({ "ids": ids })).await;
    refused.refuses(409, "token_expired");
    assert_eq!(refused.json()["id"], ids[1]);
    ana.put("/api/token/", json!({ "id": ids[1], "expired_time": -1 })).await.ok();
    for (_, key) in &made {
        assert_eq!(asks(&gateway, "verify", &json!({ "key": key })).await.ok()["valid"], true);
    }
    let answer = ana.post(rotate, json!({ "ids": ids, "grace_seconds": 60, "grace_from": "now" })).await;
    assert_eq!(answer.header("cache-control"), Some("no-store"));
    let rotated = answer.ok();
    let keys: BTreeSet<&str> =
        rotated.as_array().unwrap().iter().map(|rotated| rotated["key"].as_str().unwrap()).collect();
    assert_eq!(keys.len(), 3);
    for (rotated, (id, old)) in rotated.as_array().unwrap().iter().zip(&made) {
        assert_eq!(rotated["id"], *id);
        for key in [&rotated["key"], &json!(old)] {
            asks(&gateway, "charge", &json!({ "key": key, "quota": 1 })).await.ok();
        }
    }
    app.clock.advance(61);
    for (_, old) in &made {
        asks(&gateway, "charge", &json!({ "key": old, "quota": 1 })).await.refuses(401, "invalid_key");
    }
    let others = app.enabled_user("ben").await;
    others.post(rotate, json!({ "ids": ids })).await.refuses(404, "not_found");
    let many: Vec<i64> = (0..101).collect();
    ana.post(rotate, json!({ "ids": many })).await.is((400, "invalid_ids", "`ids` must have 1 to 100 entries"));
    ana.post(rotate, json!({ "ids": ids, "grace": 5 })).await.refuses(400, "invalid_field");
}
