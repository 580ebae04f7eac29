//! Specification §2.1 and §5: the database has no secret in plain text.

use serde_json::json;
use sqlx::{AssertSqlSafe, PgPool, Row};

use crate::harness::{MASTER_KEY, ROOT_PASSWORD, TestApp};

async fn texts(pool: &PgPool, sql: String) -> Vec<String> {
    let rows = sqlx::query(AssertSqlSafe(sql)).fetch_all(pool).await.unwrap();
    rows.iter().map(|row| row.get::<Option<String>, _>(0).unwrap_or_default()).collect()
}

/// Every row of every table as text, and every binary column in three encodings.
async fn dump(pool: &PgPool) -> String {
    let tables = "select table_name::text from information_schema.tables where table_schema = 'public'";
    let mut dump = Vec::new();
    for table in texts(pool, tables.to_owned()).await {
        dump.extend(texts(pool, format!("select t::text from \"{table}\" t")).await);
        let binary = format!(
            "select column_name::text from information_schema.columns \
             where table_schema = 'public' and table_name = '{table}' and data_type = 'bytea'"
        );
        for column in texts(pool, binary).await {
            for format in ["escape", "hex", "base64"] {
                dump.extend(texts(pool, format!("select encode(\"{column}\", '{format}') from \"{table}\"")).await);
            }
        }
    }
    dump.join("\n")
}

/// The secret, its middle, and its middle as hexadecimal digits.
fn traces(secret: &str) -> Vec<String> {
    let middle = secret.len().saturating_sub(16) / 2;
    let middle = &secret[middle..(middle + 16).min(secret.len())];
    let hex = |text: &str| text.bytes().map(|byte| format!("{byte:02x}")).collect::<String>();
    vec![secret.to_owned(), middle.to_owned(), hex(middle)]
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_dump_of_the_database_has_no_secret(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, ana) = (app.root().await, app.enabled_user("ana").await);
    let access_token = ana.by_access_token().await;
    let (id, key) = access_token.creates_with_key(json!({ "name": "one", "remain_quota": 5 })).await;
    let (deleted, deleted_key) = ana.creates_with_key(json!({ "name": "deleted" })).await;
    let made = ana.post("/api/user/access_tokens", json!({ "name": "laptop" })).await.ok();
    let gateway = root.post("/api/admin/gateways", json!({ "name": "edge" })).await.ok();
    ana.get(&format!("/api/token/{id}")).await.ok();
    ana.get(&format!("/api/token/search?token={key}")).await.ok();
    ana.put("/api/token/", json!({ "id": id, "name": "two" })).await.ok();
    ana.delete(&format!("/api/token/{deleted}")).await.ok();
    app.holder_of(&key).get("/api/usage/token/").await.ok();
    let mixed_up = json!({ "username": "typed into the wrong field", "password": "a mistyped password" });
    app.stranger().post("/api/user/login", mixed_up).await.refuses(401, "wrong_credentials");
    let change = json!({ "password": "a better password", "original_password": "ana's password" });
    ana.put("/api/user/self", change).await.ok();
    let session = app.signs_in("ana", "a better password").await;
    let secrets = [
        &key[3..],
        &deleted_key[3..],
        access_token.secret(),
        made["token"].as_str().unwrap(),
        session.secret().strip_prefix("session=").unwrap(),
        root.secret().strip_prefix("session=").unwrap(),
        gateway["credential"].as_str().unwrap(),
        "ana's password",
        "a better password",
        "typed into the wrong field",
        "a mistyped password",
        ROOT_PASSWORD,
        MASTER_KEY,
    ];
    let dump = dump(&app.pool).await;
    for seen in ["ana", "token.key_revealed", "user.sign_in_failed", "laptop", "edge", "$argon2id$"] {
        assert!(dump.contains(seen), "{seen}");
    }
    for secret in secrets {
        for trace in traces(secret) {
            assert!(!dump.contains(&trace), "{trace}");
        }
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_secret_in_the_database_is_found_in_the_dump(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let secret = "kma_0123456789abcdefghijABCDEFGHIJ";
    let ana = app.enabled_user("ana").await;
    ana.creates(json!({ "name": "one" })).await;
    for leak in ["update tokens set key_sealed = convert_to($1, 'UTF8')", "update tokens set model_limits = $1"] {
        sqlx::query(leak).bind(secret).execute(&app.pool).await.unwrap();
        let dump = dump(&app.pool).await;
        assert!(traces(secret).iter().any(|trace| dump.contains(trace)), "{leak}");
        sqlx::query("update tokens set key_sealed = '\\x00', model_limits = ''").execute(&app.pool).await.unwrap();
    }
}
