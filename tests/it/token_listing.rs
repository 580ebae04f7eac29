//! Specification §13.1: filters, orders and searches of a user's own tokens, and one token without its key.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Caller, START, TestApp};

const LIST: &str = "/api/token/";
const SEARCH: &str = "/api/token/search";

/// The names of the listed tokens, in the order of the answer.
async fn names(who: &Caller, path: &str) -> Vec<String> {
    let data = who.get(path).await.ok();
    let items = data["items"].as_array().unwrap();
    assert_eq!(data["total"].as_u64(), u64::try_from(items.len()).ok(), "{path}");
    items.iter().map(|token| token["name"].as_str().unwrap().to_owned()).collect()
}

/// The names of the tokens that a search by POST finds.
async fn found(who: &Caller, body: Value) -> Vec<String> {
    let data = who.post(SEARCH, body).await.ok();
    let items = data["items"].as_array().unwrap();
    assert!(items.iter().all(|token| token["key"] == ""), "{data}");
    items.iter().map(|token| token["name"].as_str().unwrap().to_owned()).collect()
}

/// Tokens that differ in everything that lists filter and order by, oldest first.
async fn create_examples(app: &TestApp, who: &Caller) {
    let examples = [
        json!({ "name": "delta", "remain_quota": 30, "expired_time": START + 900 }),
        json!({ "name": "Bravo", "unlimited_quota": true, "remain_quota": 5, "group": "auto" }),
        json!({ "name": "alpha", "remain_quota": 20, "expired_time": START - 5, "group": "default" }),
        json!({ "name": "charlie", "remain_quota": 10, "expired_time": START + 100 }),
        json!({ "name": "échelon", "remain_quota": 40 }),
    ];
    for token in examples {
        let id = who.creates(token.clone()).await;
        match token["name"].as_str().unwrap() {
            "charlie" => app.spend(id, 10).await,
            "Bravo" => app.spend(id, 7).await,
            "échelon" => {
                who.put("/api/token/?status_only=1", json!({ "id": id, "status": 2 })).await.ok();
            }
            _ => {}
        }
    }
    sqlx::query("update tokens set accessed_time = accessed_time + 10 * (7 - length(name))")
        .execute(&app.pool)
        .await
        .unwrap();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn tokens_are_filtered_by_status_and_group(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben) = (app.enabled_user("ana").await, app.enabled_user("ben").await);
    create_examples(&app, &ana).await;
    ben.creates(json!({ "name": "ben's" })).await;
    let table: [(&str, &[&str]); 10] = [
        ("status=1", &["Bravo", "delta"]),
        ("status=2", &["échelon"]),
        ("status=3", &["alpha"]),
        ("status=4", &["charlie"]),
        ("status=&group=", &["échelon", "charlie", "alpha", "Bravo", "delta"]),
        ("group=auto", &["Bravo"]),
        ("group=default", &["alpha"]),
        ("group=own", &["échelon", "charlie", "delta"]),
        ("group=own&status=1", &["delta"]),
        ("group=auto&status=3", &[]),
    ];
    for (query, expected) in table {
        for path in [LIST, SEARCH] {
            assert_eq!(names(&ana, &format!("{path}?size=100&{query}")).await, expected, "{path} {query}");
        }
        assert_eq!(names(&ana, &format!("{SEARCH}?size=100&token=sk-&{query}")).await, expected, "{query}");
    }
    // The status of the filter is the status of the answer.
    for status in 1..=4 {
        let shown = ana.get(&format!("{LIST}?status={status}")).await.ok();
        assert!(shown["items"].as_array().unwrap().iter().all(|token| token["status"] == status), "{shown}");
    }
    app.clock.advance(1_000);
    assert_eq!(names(&ana, &format!("{LIST}?status=3")).await, ["charlie", "alpha", "delta"]);
    assert_eq!(names(&ana, &format!("{LIST}?status=4")).await, [""; 0]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn tokens_are_ordered_by_each_column_in_both_directions(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    create_examples(&app, &ana).await;
    let table: [(&str, [&str; 5]); 6] = [
        ("id", ["delta", "Bravo", "alpha", "charlie", "échelon"]),
        ("name", ["alpha", "Bravo", "charlie", "delta", "échelon"]),
        ("remain_quota", ["charlie", "alpha", "delta", "échelon", "Bravo"]),
        ("used_quota", ["delta", "alpha", "échelon", "Bravo", "charlie"]),
        ("accessed_time", ["charlie", "échelon", "delta", "Bravo", "alpha"]),
        ("expired_time", ["alpha", "charlie", "delta", "Bravo", "échelon"]),
    ];
    for (sort, ascending) in table {
        let descending: Vec<_> = ascending.iter().rev().copied().collect();
        assert_eq!(names(&ana, &format!("{LIST}?sort={sort}&order=asc")).await, ascending, "{sort}");
        assert_eq!(names(&ana, &format!("{LIST}?sort={sort}&order=desc")).await, descending, "{sort}");
        assert_eq!(names(&ana, &format!("{LIST}?sort={sort}")).await, descending, "{sort}");
        let search = json!({ "token": "sk-", "sort": sort, "order": "asc" });
        assert_eq!(found(&ana, search).await, ascending, "{sort}");
    }
    assert_eq!(names(&ana, LIST).await, names(&ana, &format!("{LIST}?sort=id&order=desc")).await);
    assert_eq!(names(&ana, &format!("{SEARCH}?keyword=al&sort=name")).await, ["alpha"]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn equal_tokens_are_ordered_by_id_and_pages_do_not_overlap(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(json!(ana.creates(json!({ "name": "same" })).await));
    }
    let page = async |query: &str| ana.page(&format!("{LIST}?sort=name&size=2&{query}"), "id").await;
    assert_eq!(page("order=asc").await, (ids[..2].to_vec(), 5));
    assert_eq!(page("order=asc&p=1").await, (ids[2..4].to_vec(), 5));
    assert_eq!(page("order=asc&p=2").await, (ids[4..].to_vec(), 5));
    assert_eq!(page("order=asc&p=3").await, (vec![], 5));
    assert_eq!(page("p=2").await, (ids[..1].to_vec(), 5));
    assert_eq!(page("status=2&p=3").await, (vec![], 0));
    assert_eq!(ana.post(SEARCH, json!({ "token": "sk-", "p": 9, "size": 2 })).await.ok()["total"], 5);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn unknown_filters_and_orders_are_refused_by_name(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, admin) = (app.enabled_user("ana").await, app.admin("carla").await);
    let table = [
        ("status", "5", "`status` must be 1 (enabled), 2 (disabled), 3 (expired) or 4 (exhausted)"),
        ("status", "enabled", "`status` must be 1 (enabled), 2 (disabled), 3 (expired) or 4 (exhausted)"),
        ("group", "gold", "`group` must be `own`, `auto`, or one of: default"),
        ("sort", "key", "`sort` must be `id`, `name`, `remain_quota`, `used_quota`, `accessed_time` or `expired_time`"),
        ("order", "up", "`order` must be `asc` or `desc`"),
    ];
    for (member, value, message) in table {
        for path in [LIST, SEARCH] {
            let answer = ana.get(&format!("{path}?{member}={value}")).await;
            answer.refuses_saying(400, "invalid_filter", message);
        }
        let answer = admin.get(&format!("/api/admin/tokens?{member}={value}")).await;
        answer.refuses_saying(400, "invalid_filter", message);
        let body = if member == "status" { json!({ "status": 5 }) } else { json!({ member: value }) };
        ana.post(SEARCH, body.clone()).await.refuses_saying(400, "invalid_filter", message);
        admin.post("/api/admin/tokens/search", body).await.refuses_saying(400, "invalid_filter", message);
    }
    let answer = ana.post(SEARCH, json!({ "status": "enabled" })).await;
    answer.refuses_saying(400, "invalid_field", "`status` must be a whole number");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_search_by_post_takes_what_a_search_by_get_takes(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben) = (app.enabled_user("ana").await, app.enabled_user("ben").await);
    let (_, key) = ana.creates_with_key(json!({ "name": "prod one" })).await;
    let (_, other) = ana.creates_with_key(json!({ "name": "prod two" })).await;
    let masked = ana.get(LIST).await.ok()["items"][1]["masked_key"].clone();
    let (head, tail) = (&key[..7], &key[47..]);
    assert_eq!(masked, format!("{head}**********{tail}"));
    for token in
        [json!(key), json!(key[3..]), masked.clone(), json!(format!("{}***{tail}", &head[3..])), json!(key[9..30])]
    {
        assert_eq!(found(&ana, json!({ "token": token })).await, ["prod one"], "{token}");
        assert_eq!(found(&ana, json!({ "token": token, "keyword": "PROD" })).await, ["prod one"], "{token}");
        assert_eq!(found(&ana, json!({ "token": token, "keyword": "two" })).await, [""; 0], "{token}");
        assert_eq!(found(&ana, json!({ "token": token, "status": 2 })).await, [""; 0], "{token}");
        assert_eq!(found(&ben, json!({ "token": token })).await, [""; 0], "{token}");
    }
    let by_get = format!("{SEARCH}?token={}", masked.as_str().unwrap());
    assert_eq!(names(&ana, &by_get).await, ["prod one"]);
    assert_eq!(found(&ana, json!({ "token": format!("{}**********{}", &other[..7], &key[47..]) })).await, [""; 0]);
    let both = ["prod two", "prod one"];
    assert_eq!(found(&ana, json!({ "keyword": "prod" })).await, both);
    assert_eq!(found(&ana, json!({})).await, both);
    assert_eq!(found(&ana, json!({ "keyword": null, "token": null, "colour": "red" })).await, both);
    let bare = ana.send(ana.request(http::Method::POST, SEARCH)).await;
    bare.refuses_saying(400, "invalid_json", "send a JSON object as the body");
    assert_eq!(found(&ana, json!({ "p": 1, "size": 1 })).await, ["prod one"]);
    assert_eq!(found(&ana, json!({ "p": 1, "page_size": 1 })).await, ["prod two"]);
    assert_eq!(found(&ana, json!({ "p": 2, "ps": 1 })).await, ["prod one"]);
    for (body, code, message) in [
        (json!({ "p": -1 }), "invalid_page", "`p` must be a whole number from 0"),
        (json!({ "size": -1 }), "invalid_page", "the page size must be a whole number from 0"),
        (json!({ "p": "1" }), "invalid_field", "`p` must be a whole number"),
        (json!({ "token": "a" }), "invalid_search", "a search needs at least 2 characters beside `%`"),
        (json!({ "keyword": "a%%b" }), "invalid_search", "a search may not contain `%%`"),
        (json!([]), "invalid_json", "the body must be a JSON object"),
    ] {
        ana.post(SEARCH, body).await.refuses_saying(400, code, message);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn searches_by_get_and_by_post_count_together(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_LIMITS__SEARCH_PER_MINUTE", "2")]).await;
    let (ana, admin) = (app.enabled_user("ana").await, app.admin("carla").await);
    ana.get(SEARCH).await.ok();
    ana.post(SEARCH, json!({})).await.ok();
    for answer in [ana.get(SEARCH).await, ana.post(SEARCH, json!({})).await] {
        answer.refuses_saying(429, "rate_limited", "too many requests; try again in 30 s");
        assert_eq!(answer.header("retry-after"), Some("30"));
    }
    let all_users = "/api/admin/tokens/search";
    for _ in 0..2 {
        admin.post(all_users, json!({})).await.ok();
    }
    admin.post(all_users, json!({})).await.refuses_saying(429, "rate_limited", "too many requests; try again in 30 s");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_details_of_a_token_are_the_token_without_its_key_and_leave_no_audit_line(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben) = (app.enabled_user("ana").await, app.enabled_user("ben").await);
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 5, "note": "a note" })).await;
    let listed = ana.get(LIST).await.ok()["items"][0].clone();
    for path in [format!("/api/token/{id}/details"), format!("/api/token/{id}/details/")] {
        let answer = ana.get(&path).await;
        assert_eq!(answer.ok(), listed);
        assert!(!answer.text.contains(&key[3..]));
        ben.get(&path).await.refuses_saying(404, "not_found", "there is no such token");
    }
    let reveals = app.root().await.page("/api/admin/audit?action=token.key_revealed", "id").await.1;
    assert_eq!(reveals, 0);
    let answer = ana.get("/api/token/one/details").await;
    answer.refuses_saying(400, "invalid_id", "the id in the path must be a whole number");
    ana.delete(&format!("/api/token/{id}")).await.ok();
    let deleted = ana.get(&format!("/api/token/{id}/details")).await;
    deleted.refuses_saying(404, "not_found", "there is no such token");
}
