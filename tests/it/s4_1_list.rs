//! Specification §4.1, list tokens, and §2.2, the Page object.

use serde_json::json;
use sqlx::PgPool;

use crate::harness::TestApp;

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_empty_list_is_an_empty_page(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let expected =
        json!({ "success": true, "message": "", "data": { "page": 0, "page_size": 10, "total": 0, "items": [] } });
    assert_eq!(ana.get("/api/token/").await.json(), expected);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn pages_are_numbered_from_0_with_the_newest_token_first(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let mut ids = Vec::new();
    for n in 0..5 {
        ids.insert(0, ana.creates(json!({ "name": format!("token {n}") })).await);
    }
    let page = async |query: &str| {
        let data = ana.get(&format!("/api/token/?{query}")).await.ok();
        let items: Vec<i64> = data["items"].as_array().unwrap().iter().map(|t| t["id"].as_i64().unwrap()).collect();
        (data["page"].clone(), data["page_size"].clone(), data["total"].clone(), items)
    };
    assert_eq!(page("p=0&size=2").await, (json!(0), json!(2), json!(5), ids[..2].to_vec()));
    assert_eq!(page("p=2&size=2").await, (json!(2), json!(2), json!(5), ids[4..].to_vec()));
    assert_eq!(page("p=3&size=2").await, (json!(3), json!(2), json!(5), vec![]));
    assert_eq!(page("size=1000").await, (json!(0), json!(100), json!(5), ids.clone()));
    assert_eq!(page("p=1&page_size=2").await, (json!(1), json!(2), json!(5), ids[..2].to_vec()));
    assert_eq!(page("p=9223372036854775807&size=100").await.3, Vec::<i64>::new());
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn pages_with_size_are_numbered_from_1_if_it_is_set(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_COMPAT__FIRST_PAGE", "1")]).await;
    let ana = app.enabled_user("ana").await;
    let (first, second) = (ana.creates(json!({ "name": "one" })).await, ana.creates(json!({ "name": "two" })).await);
    for (query, page, id) in [
        ("size=1", 1, second),
        ("p=0&size=1", 1, second),
        ("p=1&size=1", 1, second),
        ("p=2&size=1", 2, first),
        ("p=2&page_size=1", 2, first),
    ] {
        let data = ana.get(&format!("/api/token/?{query}")).await.ok();
        assert_eq!((&data["page"], &data["items"][0]["id"]), (&json!(page), &json!(id)), "{query}");
    }
    let body = json!({ "keyword": "one", "p": 1, "size": 1 });
    assert_eq!(ana.post("/api/token/search", body).await.ok()["items"][0]["id"], first);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_invalid_page_is_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    for query in ["p=-1", "p=x", "p=1.5"] {
        let answer = ana.get(&format!("/api/token/?{query}")).await;
        answer.refuses_saying(400, "invalid_page", "`p` must be a whole number from 0");
    }
    for query in ["size=-1", "size=ten", "page_size=-5"] {
        let answer = ana.get(&format!("/api/token/?{query}")).await;
        answer.refuses_saying(400, "invalid_page", "the page size must be a whole number from 0");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_page_has_ten_tokens_by_default(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    for n in 0..11 {
        ana.creates(json!({ "name": format!("token {n}") })).await;
    }
    let queries = [
        // the query, the page, its size, the number of its tokens
        ("", 0, 10, 10),
        ("?size=0", 0, 10, 10),
        ("?size=", 0, 10, 10),
        ("?p=1", 1, 10, 1),
        ("?size=11", 0, 11, 11),
        ("?ps=4", 1, 4, 4),
        ("?p=3&ps=4", 3, 4, 3),
        ("?p=0&ps=4", 1, 4, 4),
        ("?p=-7&page_size=4", 1, 4, 4),
        ("?p=4&page_size=4", 4, 4, 0),
        ("?page_size=500", 1, 100, 11),
    ];
    for (query, page, page_size, held) in queries {
        let data = ana.get(&format!("/api/token/{query}")).await.ok();
        let items = data["items"].as_array().unwrap().len();
        assert_eq!((&data["page"], &data["page_size"], items), (&json!(page), &json!(page_size), held), "{query}");
        assert_eq!(data["total"], json!(11), "{query}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_trailing_slash_is_optional_and_unknown_parameters_are_ignored(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    ana.creates(json!({ "name": "one" })).await;
    let expected = ana.get("/api/token/").await.ok();
    assert_eq!(expected["total"], json!(1));
    for path in ["/api/token", "/api/token?p=0", "/api/token/?colour=red&_=1773144000", "/api/token?colour"] {
        assert_eq!(ana.get(path).await.ok(), expected, "{path}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_list_has_only_the_callers_own_live_tokens(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, ben) = (app.enabled_user("ana").await, app.enabled_user("ben").await);
    let root = app.root().await;
    let kept = ana.creates(json!({ "name": "kept" })).await;
    let deleted = ana.creates(json!({ "name": "deleted" })).await;
    ana.delete(&format!("/api/token/{deleted}")).await.ok();
    let bens = ben.creates(json!({ "name": "ben's" })).await;
    for (caller, expected) in [(&ana, vec![kept]), (&ben, vec![bens]), (&root, vec![])] {
        let data = caller.get("/api/token/").await.ok();
        let ids: Vec<i64> = data["items"].as_array().unwrap().iter().map(|t| t["id"].as_i64().unwrap()).collect();
        assert_eq!((ids, data["total"].as_u64()), (expected.clone(), u64::try_from(expected.len()).ok()));
    }
}
