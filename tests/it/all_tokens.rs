//! Tokens of all users, for administrators.

use serde_json::json;
use sqlx::PgPool;

use crate::harness::{START, TestApp};

const TOKENS: &str = "/api/admin/tokens";

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn administrators_list_all_tokens_without_their_keys(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (admin, ana, ben) = (app.admin("carla").await, app.enabled_user("ana").await, app.enabled_user("ben").await);
    let (of_ana, ana_key) = ana.creates_with_key(json!({ "name": "Deploy" })).await;
    let (of_ben, ben_key) = ben.creates_with_key(json!({ "name": "laptop" })).await;
    let deleted = ben.creates(json!({ "name": "deleted" })).await;
    ben.delete(&format!("/api/token/{deleted}")).await.ok();
    assert_eq!(admin.page(TOKENS, "id").await, (vec![json!(of_ben), json!(of_ana)], 2));
    assert_eq!(admin.page(&format!("{TOKENS}?user_id={}", ana.id), "id").await.0, [json!(of_ana)]);
    assert_eq!(admin.page(&format!("{TOKENS}?keyword=dep"), "id").await.0, [json!(of_ana)]);
    assert_eq!(admin.page(&format!("{TOKENS}?keyword=dep&user_id={}", ben.id), "id").await.1, 0);
    let answer = admin.get(TOKENS).await;
    assert!(![ana_key, ben_key].iter().any(|key| answer.text.contains(&key[3..])), "{}", answer.text);
    assert!(answer.ok()["items"].as_array().unwrap().iter().all(|token| token["key"] == ""));
    let message = "`user_id` must be a whole number";
    admin.get(&format!("{TOKENS}?user_id=ana")).await.refuses_saying(400, "invalid_query", message);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn administrators_disable_and_enable_any_token_within_the_rules(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (admin, ana) = (app.admin("carla").await, app.enabled_user("ana").await);
    let (token, key) = ana.creates_with_key(json!({ "name": "one", "expired_time": START + 60 })).await;
    let path = format!("{TOKENS}/{token}/status");
    for status in [2, 2, 1, 1, 2] {
        let answer = admin.post(&path, json!({ "status": status })).await;
        assert_eq!((&answer.ok()["status"], &answer.ok()["key"]), (&json!(status), &json!("")));
        assert!(!answer.text.contains(&key[3..]));
        assert_eq!(ana.get(&format!("/api/token/{token}")).await.ok()["status"], status);
    }
    for wrong in [json!({}), json!({ "status": 3 }), json!({ "status": 0 })] {
        let answer = admin.post(&path, wrong).await;
        answer.refuses_saying(400, "invalid_status", "`status` must be 1 (enable) or 2 (disable)");
    }
    app.clock.advance(60);
    let expired = "the token has expired; change its expiry time before enabling it";
    admin.post(&path, json!({ "status": 1 })).await.refuses_saying(409, "token_expired", expired);
    let spent = ana.creates(json!({ "name": "two", "remain_quota": 5 })).await;
    app.spend(spent, 5).await;
    let exhausted = "the token has used up its quota; raise it or make it unlimited before enabling it";
    let answer = admin.post(&format!("{TOKENS}/{spent}/status"), json!({ "status": 1 })).await;
    answer.refuses_saying(409, "token_exhausted", exhausted);
    let absent = admin.post(&format!("{TOKENS}/999999/status"), json!({ "status": 1 })).await;
    absent.refuses_saying(404, "not_found", "there is no such token");
}
