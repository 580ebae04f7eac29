//! Tokens of all users, for administrators.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Caller, START, TestApp};

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

/// The names of the tokens that a search finds, newest first, each with its owner.
async fn found(admin: &Caller, query: &str, body: Value) -> Vec<String> {
    let answer = admin.post(&format!("{TOKENS}/search{query}"), body).await;
    let data = answer.ok();
    assert_eq!((&data["truncated"], &data["page_size"]), (&json!(false), &json!(10)));
    let items = data["items"].as_array().unwrap();
    assert!(items.iter().all(|token| token["key"] == ""), "{data}");
    items
        .iter()
        .map(|token| format!("{} {}", token["username"].as_str().unwrap(), token["name"].as_str().unwrap()))
        .collect()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn administrators_find_the_owner_of_any_key_by_the_key_or_its_ends(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (admin, ana, ben) = (app.admin("carla").await, app.enabled_user("ana").await, app.enabled_user("ben").await);
    let (_, of_ana) = ana.creates_with_key(json!({ "name": "Deploy" })).await;
    let (_, of_ben) = ben.creates_with_key(json!({ "name": "laptop" })).await;
    let deleted = ben.creates_with_key(json!({ "name": "deleted" })).await;
    ben.delete(&format!("/api/token/{}", deleted.0)).await.ok();
    let (first, last) = (&of_ana[3..7], &of_ana[47..]);
    for token in [
        of_ana.clone(),
        of_ana[3..].to_owned(),
        format!(" sk-sk-{} ", &of_ana[3..]),
        format!("sk-{first}**********{last}"),
        format!("{first}*{last}"),
        format!("{first}%{last}"),
        format!("sk-{first}"),
        first.to_owned(),
        last.to_owned(),
        of_ana[..30].to_owned(),
        of_ana[20..].to_owned(),
        format!("%{last}"),
        format!("{first}%"),
        format!("%{}", &of_ana[30..]),
        format!("{}*{}", &of_ana[3..5], &of_ana[20..]),
    ] {
        assert_eq!(found(&admin, "", json!({ "token": token })).await, ["ana Deploy"], "{token}");
        assert_eq!(found(&admin, "", json!({ "token": token, "keyword": "dep" })).await, ["ana Deploy"], "{token}");
        assert_eq!(found(&admin, "", json!({ "token": token, "keyword": "lap" })).await, [""; 0], "{token}");
        assert_eq!(found(&admin, "", json!({ "token": token, "status": 2 })).await, [""; 0], "{token}");
        let own = format!("?user_id={}", ana.id);
        assert_eq!(found(&admin, &own, json!({ "token": token })).await, ["ana Deploy"], "{token}");
        let others = format!("?user_id={}", ben.id);
        assert_eq!(found(&admin, &others, json!({ "token": token })).await, [""; 0], "{token}");
    }
    let other_case: String = first.chars().map(|c| if c.is_ascii_lowercase() { 'A' } else { 'a' }).collect();
    for token in [deleted.1, format!("sk-{last}"), format!("sk-{other_case}"), format!("sk-{first}*{}", &of_ben[47..])]
    {
        assert_eq!(found(&admin, "", json!({ "token": token })).await, [""; 0], "{token}");
    }
    assert_eq!(found(&admin, "", json!({ "keyword": "LAP" })).await, ["ben laptop"]);
    let both = ["ben laptop", "ana Deploy"];
    assert_eq!(found(&admin, "", json!({})).await, both);
    assert_eq!(found(&admin, "", json!({ "sort": "name" })).await, both);
    assert_eq!(found(&admin, &format!("?user_id={}", ana.id), json!({})).await, ["ana Deploy"]);
    let message = "a search of all keys needs the first or the last 4 characters of the key, or more; \
                   one `*` or `%` stands for what is between them";
    for token in ["abc", "sk-", "sk-abc", "%abcd%", "abc*xyz"] {
        let answer = admin.post(&format!("{TOKENS}/search"), json!({ "token": token })).await;
        answer.refuses_saying(400, "invalid_search", message);
    }
    let answer = admin.post(&format!("{TOKENS}/search?user_id=ana"), json!({})).await;
    answer.refuses_saying(400, "invalid_query", "`user_id` must be a whole number");
}

/// Inserts this many tokens of a user whose keys all begin and end alike. Their sealed keys cannot be opened.
async fn insert_alike(app: &TestApp, owner: &Caller, count: i32) {
    let rows = "insert into tokens (user_id, key_digest, key_sealed, key_hint, name, name_folded, note, \
                created_time, accessed_time, remain_quota, unlimited_quota, used_quota, model_limits_enabled, \
                model_limits, allow_ips, group_name, cross_group_retry) \
                select $1, sha256(n::text::bytea), '', 'projwxyz', 'n ' || n, 'n ' || n, '', 1, 1, n, false, 0, false, \
                '', '', '', false from generate_series(1, $2) n";
    sqlx::query(rows).bind(owner.id).bind(count).execute(&app.pool).await.unwrap();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_search_that_too_many_keys_match_is_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (admin, ana) = (app.admin("carla").await, app.enabled_user("ana").await);
    insert_alike(&app, &ana, 1_001).await;
    for token in ["sk-proj", "%wxyz", "proj", "wxyz", "sk-proj**********wxyz"] {
        let answer = admin.post(&format!("{TOKENS}/search"), json!({ "token": token })).await;
        answer.refuses_saying(400, "invalid_search", "too many keys have these characters; send more of them");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_list_of_all_tokens_is_filtered_and_ordered_among_the_newest_ten_thousand(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (admin, ana, ben) = (app.admin("carla").await, app.enabled_user("ana").await, app.enabled_user("ben").await);
    let oldest = ana.creates(json!({ "name": "oldest", "remain_quota": 500_000 })).await;
    insert_alike(&app, &ben, 9_999).await;
    let newest = |query: &str| format!("{TOKENS}?size=2&sort=remain_quota{query}");
    let first = admin.get(&newest("")).await.ok();
    assert_eq!((&first["total"], &first["truncated"]), (&json!(10_000), &json!(false)));
    assert_eq!((&first["items"][0]["id"], &first["items"][0]["username"]), (&json!(oldest), &json!("ana")));
    assert_eq!(first["items"][1]["username"], "ben");
    insert_alike_more(&app, &ben).await;
    let first = admin.get(&newest("")).await.ok();
    assert_eq!((&first["total"], &first["truncated"]), (&json!(10_000), &json!(true)));
    assert_eq!(first["items"][0]["name"], "n 9999");
    let past_the_end = admin.get(&newest("&p=9000")).await.ok();
    assert_eq!((&past_the_end["total"], &past_the_end["items"]), (&json!(10_000), &json!([])));
    // One user's tokens, and the list in its usual order, have no such bound.
    let of_ana = admin.get(&newest(&format!("&user_id={}", ana.id))).await.ok();
    assert_eq!((&of_ana["total"], &of_ana["truncated"]), (&json!(1), &json!(false)));
    let all = admin.get(&format!("{TOKENS}?size=1")).await.ok();
    assert_eq!((&all["total"], &all["truncated"]), (&json!(10_001), &json!(false)));
    // An own list is cut only to find states.
    insert_alike_more(&app, &ben).await;
    let own = ben.get("/api/token/?size=1&sort=remain_quota").await.ok();
    assert_eq!((&own["total"], own.get("truncated")), (&json!(10_001), None));
    let own = ben.get("/api/token/?size=1&state=account_empty").await.ok();
    // The newest two have nothing to spend.
    assert_eq!((&own["total"], &own["truncated"]), (&json!(9_998), &json!(true)));
}

async fn insert_alike_more(app: &TestApp, owner: &Caller) {
    let row = "insert into tokens (user_id, key_digest, key_sealed, key_hint, name, name_folded, note, \
               created_time, accessed_time, remain_quota, unlimited_quota, used_quota, model_limits_enabled, \
               model_limits, allow_ips, group_name, cross_group_retry) \
               values ($1, sha256(gen_random_uuid()::text::bytea), '', 'projwxyz', 'more', 'more', '', 1, 1, 0, false, 0, false, \
               '', '', '', false)";
    sqlx::query(row).bind(owner.id).execute(&app.pool).await.unwrap();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn administrators_filter_and_order_all_tokens_and_read_one_without_its_key(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (admin, ana, ben) = (app.admin("carla").await, app.enabled_user("ana").await, app.enabled_user("ben").await);
    let (one, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 5, "group": "auto" })).await;
    let two = ben.creates(json!({ "name": "two", "remain_quota": 9 })).await;
    admin.post(&format!("{TOKENS}/{two}/status"), json!({ "status": 2 })).await.ok();
    let ids = async |query: &str| admin.page(&format!("{TOKENS}?{query}"), "id").await.0;
    assert_eq!(ids("status=1").await, [json!(one)]);
    assert_eq!(ids("status=2").await, [json!(two)]);
    assert_eq!(ids("group=auto").await, [json!(one)]);
    assert_eq!(ids("sort=remain_quota&order=asc").await, [json!(one), json!(two)]);
    assert_eq!(ids(&format!("status=2&user_id={}", ana.id)).await, Vec::<Value>::new());
    assert_eq!(ids("status=2&keyword=two").await, [json!(two)]);
    assert_eq!(ids("status=2&keyword=one").await, Vec::<Value>::new());
    assert_eq!(admin.page(TOKENS, "username").await.0, [json!("ben"), json!("ana")]);
    let answer = admin.get(&format!("{TOKENS}/{one}")).await;
    let mut expected = ana.get(&format!("/api/token/{one}/details")).await.ok();
    expected["username"] = json!("ana");
    assert_eq!(answer.ok(), expected);
    assert!(!answer.text.contains(&key[3..]));
    assert_eq!(app.root().await.page("/api/admin/audit?action=token.key_revealed", "id").await.1, 0);
    let absent = admin.get(&format!("{TOKENS}/999999")).await;
    absent.refuses_saying(404, "not_found", "there is no such token");
}
