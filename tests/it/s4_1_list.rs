//! Spec §4.1, list tokens, and §2.2, the Page object.

use serde_json::json;
use sqlx::PgPool;

use crate::harness::TestApp;

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_empty_list_is_an_empty_page(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let expected = json!({ "success": true, "message": "", "data": { "page": 0, "page_size": 10, "total": 0, "items": [] } });
    assert_eq!(ana.get("/api/token/").await.json(), expected);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn pages_count_from_0_newest_first_and_end_empty(pool: PgPool) {
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
async fn a_page_that_is_none_is_refused(pool: PgPool) {
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
