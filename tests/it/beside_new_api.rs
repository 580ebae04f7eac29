//! nginx in front of Keymeter and of a new-api that goes on routing requests, with exactly the changes of
//! `examples/nginx/nginx.conf` that `docs/moving-in.md` tells to make.

use http::Method;
use serde_json::json;
use sqlx::PgPool;

use crate::forward_auth::{CLIENT, Front};
use crate::harness::Answer;
use crate::harness::project::project_file;
use crate::harness::proxy::{Kind, adapted};

/// The section of `docs/moving-in.md`, and its blocks for nginx.
fn documented() -> (String, Vec<String>) {
    let page = project_file("docs/moving-in.md");
    let section = page.split("## Keymeter beside a running new-api").nth(1).unwrap();
    let section = section.split("\n## ").next().unwrap().to_owned();
    let blocks = section.split("```nginx\n").skip(1).map(|rest| rest.split("```").next().unwrap().to_owned()).collect();
    (section, blocks)
}

/// The changes for one key of new-api.
fn one_key(config: String) -> String {
    let (section, blocks) = documented();
    let quoted = section.split("`location /`, replace `").nth(1).unwrap().split('`').collect::<Vec<_>>();
    let (before, after) = (quoted[0], quoted[2]);
    let locations = format!("{}        location / {{", blocks[0]);
    adapted(&config, &[(before, after.to_owned()), ("        location / {", locations)])
}

/// The changes for one key of new-api in each group. The documented group `vip` is the group of the test.
fn key_for_each_group(config: String) -> String {
    let (section, blocks) = documented();
    assert!(section.contains(r#"write `"Bearer $new_api_key"`"#));
    let map = adapted(&blocks[1], &[(" vip ", " ~^default$ ".to_owned())]);
    let changes = [
        (r#""Bearer sk-the-one-key-of-new-api""#, r#""Bearer $new_api_key""#.to_owned()),
        ("    server {\n        listen", format!("{map}    server {{\n        listen")),
    ];
    adapted(&one_key(config), &changes)
}

async fn get(front: &Front, path: &str, authorization: &str) -> Answer {
    front.request("127.0.0.1", Method::GET, path, &[("authorization", authorization)]).await
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn keymeter_answers_about_keys_and_usage_and_new_api_the_rest(pool: PgPool) {
    let front = Front::with(Kind::Nginx, &pool, str::to_owned, one_key).await;
    let (id, key) = front.create_key(json!({ "name": "good", "remain_quota": 1_000_000 })).await;
    let bearer = format!("Bearer {key}");
    for path in ["/v1/dashboard/billing/subscription", "/dashboard/billing/subscription/"] {
        assert_eq!(get(&front, path, &bearer).await.json()["hard_limit_usd"], json!(2), "{path}");
    }
    assert_eq!(get(&front, "/v1/dashboard/billing/usage?start_date=x", &bearer).await.json()["total_usage"], json!(0));
    assert_eq!(get(&front, "/api/log/token", &bearer).await.ok(), json!([]));
    assert_eq!(get(&front, "/api/usage/token/", &bearer).await.ok()["total_available"], json!(1_000_000));
    assert_eq!(get(&front, "/api/status", "").await.ok()["quota_display_type"], json!("USD"));
    let minted = front.ana.get("/api/user/token").await.ok();
    let listed = get(&front, "/api/token/?p=0", minted.as_str().unwrap()).await.ok();
    assert_eq!(listed["items"][0]["id"], json!(id));
    assert_eq!(front.served(), 0);
    // Models are those of new-api, in the shape that its clients read.
    assert_eq!(get(&front, "/v1/models", &bearer).await.json()["request"], json!("GET /v1/models"));
    assert_eq!(front.served(), 1);
    // A page of new-api, and its own calls, need a key like everything else.
    for path in ["/", "/api/channel/", "/v1/models", "/v1/chat/completions"] {
        assert_eq!(get(&front, path, "").await.status, 401, "{path}");
    }
    assert_eq!(front.served(), 1);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn new_api_gets_its_one_key_and_no_other(pool: PgPool) {
    let front = Front::with(Kind::Nginx, &pool, str::to_owned, one_key).await;
    let (_, key) = front.create_key(json!({ "name": "good", "remain_quota": 5, "allow_ips": CLIENT })).await;
    let bearer = format!("Bearer {key}");
    for valid in [("authorization", bearer.as_str()), ("x-api-key", &key), ("x-goog-api-key", &key)] {
        let others = ["x-api-key", "x-goog-api-key", "mj-api-secret", "sec-websocket-protocol"];
        let others = others.into_iter().filter(|name| *name != valid.0).map(|name| (name, "sk-old"));
        // x-api-key counts before x-goog-api-key.
        let others = others.filter(|(name, _)| valid.0 != "x-goog-api-key" || *name != "x-api-key");
        let headers: Vec<_> = [valid, ("cookie", "session=of-new-api")].into_iter().chain(others).collect();
        let answer = front.request(CLIENT, Method::POST, "/v1/messages", &headers).await;
        assert_eq!(answer.json()["headers"]["authorization"], json!(["Bearer sk-the-one-key-of-new-api"]));
        for secret in [key.as_str(), "sk-old", "session"] {
            assert!(!answer.text.contains(secret), "{}", answer.text);
        }
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn new_api_may_have_one_key_for_each_group(pool: PgPool) {
    let front = Front::with(Kind::Nginx, &pool, str::to_owned, key_for_each_group).await;
    let (_, key) = front.create_key(json!({ "name": "good", "remain_quota": 5 })).await;
    let received = get(&front, "/v1/models", &format!("Bearer {key}")).await.json();
    assert_eq!(received["headers"]["authorization"], json!(["Bearer sk-the-key-of-the-group-vip"]));
}
