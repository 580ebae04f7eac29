//! Keys without a checksum that an import brought from another service: every call admits them, on every server, and
//! forged ones cost no query.

use keymeter::domain::key::ApiKey;
use keymeter::service::rng::Rng;
use keymeter::service::vault::{MasterKey, Vault};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, PgPool};

use crate::harness::database::url;
use crate::harness::wait::eventually;
use crate::harness::{MASTER_KEY, PLENTY, Servers, TestApp};
use crate::jobs::LISTENERS;

/// A key of new-api, and a short one.
const KEY: &str = "Zk3vQm9TtY2wRr8uNn5xHh1cGg6bFf0dEe4sAa7pLl3jKk9i";
const SHORT_KEY: &str = "a1B2c3D4e5F6g7H8";

/// Gives a token this key, as an import does.
async fn make_foreign(pool: &PgPool, token: i64, key: &str) {
    let vault = Vault::new(&MasterKey::from_hex(MASTER_KEY).unwrap());
    let sealed = Rng::seeded(7).generate(|rng| vault.seal(&ApiKey::parse_foreign(key).unwrap(), rng));
    sqlx::query(
        "update tokens set key_digest = $2, key_sealed = $3, key_hint = left($4, 4) || right($4, 4), key_foreign = true where id = $1",
    )
    .bind(token)
    .bind(sealed.digest.as_bytes())
    .bind(&sealed.sealed)
    .bind(key)
    .execute(pool)
    .await
    .unwrap();
}

/// Metrics that grow when the database or the cache of keys is asked.
async fn look_ups(app: &TestApp) -> Vec<String> {
    let text = app.stranger().get("/metrics").await.text;
    let counts = |line: &&str| {
        line.starts_with("keymeter_key_cache_lookups_total") || line.starts_with("keymeter_db_acquire_seconds_count")
    };
    text.lines().filter(counts).map(str::to_owned).collect()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_call_that_takes_a_key_admits_a_foreign_one(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, PLENTY).await;
    let (admin, ben) = (app.root().await, app.enabled_user("ben").await);
    for key in [KEY.to_owned(), SHORT_KEY.to_owned(), "x_Y".repeat(42)] {
        let id = ana.creates(json!({ "name": "moved", "remain_quota": 1_000 })).await;
        make_foreign(&app.pool, id, &key).await;
        app.foreign_keys.load().await.unwrap();
        for sent in [key.clone(), format!("sk-{key}"), format!("sk-sk-{key}")] {
            let verified = gateway.post("/api/gateway/verify", json!({ "key": sent })).await.ok();
            assert_eq!((&verified["valid"], &verified["token_id"]), (&json!(true), &json!(id)), "{sent}");
        }
        gateway.post("/api/gateway/charge", json!({ "key": format!("sk-{key}"), "quota": 10 })).await.ok();
        let hold = gateway.post("/api/gateway/reserve", json!({ "key": key, "quota": 10 })).await.ok();
        let settle = json!({ "reservation_id": hold["reservation_id"], "quota": 5 });
        gateway.post("/api/gateway/settle", settle).await.ok();
        let usage = app.holder_of(&format!("sk-{key}")).get("/api/usage/token/").await.ok();
        assert_eq!((&usage["total_used"], &usage["total_available"]), (&json!(15), &json!(985)));
        app.holder_of(&key).get("/api/usage/token/daily").await.ok();
        for search in [format!("sk-{key}"), key.clone(), format!("{}%", &key[..9])] {
            let found = ana.page(&format!("/api/token/search?token={}", search.replace('%', "%25")), "id").await;
            assert_eq!(found, (vec![json!(id)], 1), "{search}");
        }
        let whole = json!({ "token": key });
        let owners = admin.post("/api/admin/tokens/search", whole).await.ok();
        assert_eq!((&owners["items"][0]["id"], &owners["total"]), (&json!(id), &json!(1)));
        let shown = ana.post(&format!("/api/token/{id}/key"), json!({})).await.ok();
        assert_eq!(shown["key"], json!(format!("sk-{key}")));

        // Of a replaced key only the digest is left.
        ana.post(&format!("/api/token/{id}/rotate"), json!({})).await.ok();
        for search in [format!("sk-{key}"), key.clone()] {
            let found = ana.page(&format!("/api/token/search?token={search}"), "id").await;
            assert_eq!(found, (vec![json!(id)], 1), "{search}");
            let owners = admin.post("/api/admin/tokens/search", json!({ "token": search })).await.ok();
            assert_eq!((&owners["items"][0]["id"], &owners["total"]), (&json!(id), &json!(1)));
            let ben = ben.page(&format!("/api/token/search?token={search}"), "id").await;
            assert_eq!(ben, (vec![], 0), "another user's");
        }
        assert_eq!(ana.page(&format!("/api/token/search?token={}%25", &key[..9]), "id").await.1, 0, "no part of one");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_foreign_key_in_the_address_is_refused_and_texts_like_it_are_not(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let id = ana.creates(json!({ "name": "moved", "remain_quota": 1_000 })).await;
    make_foreign(&app.pool, id, SHORT_KEY).await;
    let holder = app.holder_of(SHORT_KEY);
    app.foreign_keys.load().await.unwrap();
    for path in ["?q=sk-0123456789abcdef", "?q=a1B2c3D4e5F6g7H9", "?task-id=5"] {
        holder.get(&format!("/api/usage/token/{path}")).await.ok();
    }
    for path in ["?q=a1B2c3D4e5F6g7H8", "?q=sk-a1B2c3D4e5F6g7H8"] {
        holder.get(&format!("/api/usage/token/{path}")).await.refuses(401, "invalid_key");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_forged_key_costs_no_query(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    let id = ana.creates(json!({ "name": "moved", "remain_quota": 1_000 })).await;
    make_foreign(&app.pool, id, KEY).await;
    app.foreign_keys.load().await.unwrap();
    let verify = async |key: &str| gateway.post("/api/gateway/verify", json!({ "key": key })).await.ok();
    assert_eq!(verify(KEY).await["valid"], true);
    let before = look_ups(&app).await;
    assert_eq!(before.len(), 4, "{before:?}");
    for n in 0..50 {
        let forged = format!("{}{n:02}", &KEY[..46]);
        let refused = verify(&forged).await;
        assert_eq!(refused["reason"], "invalid_key");
        gateway.post("/api/gateway/charge", json!({ "key": forged, "quota": 1 })).await.refuses(401, "invalid_key");
        app.holder_of(&forged).get("/api/usage/token/").await.refuses(401, "invalid_key");
    }
    assert_eq!(look_ups(&app).await, before);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_foreign_key_is_unknown_until_its_server_has_loaded_it_and_its_number_is_a_metric(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    let id = ana.creates(json!({ "name": "moved", "unlimited_quota": true })).await;
    make_foreign(&app.pool, id, KEY).await;
    let verify = async || gateway.post("/api/gateway/verify", json!({ "key": KEY })).await.ok()["valid"].clone();
    assert_eq!(verify().await, json!(false));
    app.foreign_keys.load().await.unwrap();
    assert_eq!(verify().await, json!(true));
    assert!(app.stranger().get("/metrics").await.text.contains("keymeter_foreign_keys 1\n"));
    // A deleted key is refused at once, and leaves the set with the next load.
    ana.delete(&format!("/api/token/{id}")).await.ok();
    assert_eq!(verify().await, json!(false));
    assert_eq!(app.foreign_keys.len(), 1);
    app.foreign_keys.load().await.unwrap();
    assert!(app.foreign_keys.is_empty());
}

#[sqlx::test(migrations = false)]
async fn every_server_admits_an_imported_key_without_a_restart_and_forgets_a_deleted_one(pool: PgPool) {
    let servers = Servers::start(&url(&pool), 2, &[]).await;
    let ana = servers.owner("ana", PLENTY).await;
    let (id, _) = ana.key(json!({ "name": "moved", "unlimited_quota": true })).await;
    let is_valid = async |server: usize, key: &str| {
        let answer: Value = servers.gateway(server).post("/api/gateway/verify", json!({ "key": key })).await.ok();
        answer["valid"] == json!(true)
    };
    make_foreign(&pool, id, KEY).await;
    assert!(!is_valid(0, KEY).await);
    sqlx::query("select pg_notify('keymeter_changes', 'foreign_keys')").execute(&pool).await.unwrap();
    for server in 0..2 {
        eventually("the server admits the imported key", async || is_valid(server, KEY).await).await;
    }
    // A server that was not told, because it lost its connection, loads the keys when it is connected again.
    let (second, _) = ana.key(json!({ "name": "moved too", "unlimited_quota": true })).await;
    make_foreign(&pool, second, SHORT_KEY).await;
    sqlx::query(AssertSqlSafe(format!("select pg_terminate_backend(pid) from {LISTENERS}")))
        .execute(&pool)
        .await
        .unwrap();
    for server in 0..2 {
        eventually("the server admits the key after reconnecting", async || is_valid(server, SHORT_KEY).await).await;
    }
    let mut at_second = ana.client.clone();
    at_second.base.clone_from(&servers.running[1].base);
    at_second.delete(&format!("/api/token/{id}")).await.ok();
    assert!(!is_valid(1, KEY).await);
    eventually("the other server refuses the deleted key", async || !is_valid(0, KEY).await).await;
}

/// A rotation moves the digest of an imported key to the old ones, where servers find it too.
#[sqlx::test(migrations = false)]
async fn s15_1_a_replaced_imported_key_works_until_its_deadline_on_every_server(pool: PgPool) {
    let mut servers = Servers::start(&url(&pool), 2, &[]).await;
    let ana = servers.owner("ana", PLENTY).await;
    let (id, _) = ana.key(json!({ "name": "moved", "remain_quota": 100 })).await;
    make_foreign(&pool, id, KEY).await;
    let announce = async || sqlx::query("select pg_notify('keymeter_changes', 'foreign_keys')").execute(&pool).await;
    let charge = json!({ "key": KEY, "quota": 1 });
    let answers = async |servers: &Servers, at: usize| {
        servers.gateway(at).post("/api/gateway/charge", charge.clone()).await.status.as_u16()
    };
    announce().await.unwrap();
    for at in 0..2 {
        eventually("the server admits the key", async || answers(&servers, at).await == 200).await;
    }
    let rotate = format!("/api/token/{id}/rotate");
    let rotated = ana.client.post(&rotate, json!({ "grace_seconds": 600, "grace_from": "now" })).await.ok();
    assert_eq!(rotated["old_keys"][0]["masked_key"], json!("sk-Zk3v**********Kk9i"));
    let token = ana.client.get(&format!("/api/token/{id}/details")).await.ok();
    assert_ne!(token["imported"], json!(true), "the new key is one of ours");
    announce().await.unwrap();
    let counts_none =
        async |at: usize| servers.gateway(at).get("/metrics").await.text.contains("keymeter_foreign_keys 0\n");
    eventually("the keys are loaded anew", async || counts_none(1).await).await;
    servers.running[0].kill();
    servers.restart().await;
    assert_eq!((answers(&servers, 0).await, answers(&servers, 1).await), (200, 200));
    sqlx::query("update old_keys set rotated_at = rotated_at - 600, expires_at = expires_at - 600")
        .execute(&pool)
        .await
        .unwrap();
    sqlx::query("update tokens set version = version + 1").execute(&pool).await.unwrap();
    assert_eq!((answers(&servers, 0).await, answers(&servers, 1).await), (401, 401));
}

/// As with a key of ours (`idempotency.rs`): the server does not know the key any more, but the answer of the charge.
#[sqlx::test(migrations = false)]
async fn l4_a_retry_after_an_imported_key_was_deleted_gets_its_answer_on_every_server(pool: PgPool) {
    let mut servers = Servers::start(&url(&pool), 2, &[]).await;
    let ana = servers.owner("ana", PLENTY).await;
    let (id, _) = ana.key(json!({ "name": "moved", "remain_quota": 100 })).await;
    make_foreign(&pool, id, KEY).await;
    let announce = async || sqlx::query("select pg_notify('keymeter_changes', 'foreign_keys')").execute(&pool).await;
    announce().await.unwrap();
    let charge = async |server: &Servers, at: usize, quota: i64, request_id: &str| {
        let body = json!({ "key": KEY, "quota": quota, "request_id": request_id });
        server.gateway(at).post("/api/gateway/charge", body).await
    };
    for server in 0..2 {
        let body = json!({ "key": KEY });
        eventually("the server admits the key", async || {
            servers.gateway(server).post("/api/gateway/verify", body.clone()).await.ok()["valid"] == json!(true)
        })
        .await;
    }
    let charged = charge(&servers, 0, 40, "r1").await.ok();
    ana.client.delete(&format!("/api/token/{id}")).await.ok();
    // One server loads the keys anew, the other one starts anew.
    announce().await.unwrap();
    let counts_none =
        async |at: usize| servers.gateway(at).get("/metrics").await.text.contains("keymeter_foreign_keys 0\n");
    eventually("the keys are loaded anew", async || counts_none(1).await).await;
    servers.running[0].kill();
    servers.restart().await;
    for at in 0..2 {
        assert_eq!(charge(&servers, at, 40, "r1").await.ok(), charged, "server {at}");
        charge(&servers, at, 41, "r1").await.refuses(409, "request_id_reused");
        charge(&servers, at, 40, "r2").await.refuses(401, "invalid_key");
    }
    // Answers are kept for 72 hours. After that, the key is like any other text.
    sqlx::query("update tokens set deleted_time = deleted_time - 72 * 3600 where id = $1")
        .bind(id)
        .execute(&pool)
        .await
        .unwrap();
    servers.running[0].kill();
    servers.restart().await;
    charge(&servers, 0, 40, "r1").await.refuses(401, "invalid_key");
    let spent: i64 =
        sqlx::query_scalar("select used_quota from tokens where id = $1").bind(id).fetch_one(&pool).await.unwrap();
    assert_eq!(spent, 40);
}
