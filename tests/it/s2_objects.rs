//! Specification §2.1, the Token object, and §2.2, the Page object; §8, the shape of keys.

use std::collections::{BTreeMap, BTreeSet};

use http::Method;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Caller, TestApp};

const TOKEN: [(&str, &str); 23] = [
    ("id", "int"),
    ("user_id", "int"),
    ("key", "string"),
    ("masked_key", "string"),
    ("status", "int"),
    ("state", "string"),
    ("name", "string"),
    ("note", "string"),
    ("created_time", "int"),
    ("accessed_time", "int"),
    ("expired_time", "int"),
    ("remain_quota", "int"),
    ("unlimited_quota", "bool"),
    ("used_quota", "int"),
    ("period_limits", "object"),
    ("period_usage", "object"),
    ("rate_limits", "object"),
    ("model_limits_enabled", "bool"),
    ("model_limits", "string"),
    ("allow_ips", "string"),
    ("group", "string"),
    ("cross_group_retry", "bool"),
    ("show_addresses", "bool"),
];

const PAGE: [(&str, &str); 4] = [("page", "int"), ("page_size", "int"), ("total", "int"), ("items", "array")];

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Number(number) if number.is_i64() => "int",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Bool(_) => "bool",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
        Value::Null => "null",
    }
}

/// The members of an object with their types.
fn shape(object: &Value) -> BTreeMap<&str, &'static str> {
    object.as_object().unwrap().iter().map(|(name, value)| (name.as_str(), kind(value))).collect()
}

/// The token's id, then the token in every answer without its key, then in every answer with it.
async fn read_by_every_call(ana: &Caller) -> (i64, Vec<Value>, Vec<Value>) {
    let mut request = ana.request(Method::POST, "/api/token/");
    *request.body_mut() = json!({ "name": "shown" }).to_string().into();
    request.headers_mut().insert("prefer", "return=representation".parse().unwrap());
    let made = ana.send(request).await.ok();
    let id = made["id"].as_i64().unwrap();
    let without_key = vec![
        ana.get("/api/token/").await.ok()["items"][0].clone(),
        ana.get("/api/token/search?keyword=shown").await.ok()["items"][0].clone(),
        ana.put("/api/token/", json!({ "id": id })).await.ok(),
        ana.put("/api/token/?status_only=1", json!({ "id": id, "status": 1 })).await.ok(),
    ];
    let shown = ana.get(&format!("/api/token/{id}")).await.ok();
    (id, without_key, vec![made, shown])
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_token_has_its_16_fields_the_masked_key_the_note_and_its_limits(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let (_, without_key, with_key) = read_by_every_call(&ana).await;
    for token in without_key.iter().chain(&with_key) {
        assert_eq!(shape(token), BTreeMap::from(TOKEN));
        assert_eq!(token["user_id"], json!(ana.id));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_page_has_its_4_fields_in_lists_and_in_searches(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    for path in ["/api/token/", "/api/token/search", "/api/token/search?token=abc"] {
        assert_eq!(shape(&ana.get(path).await.ok()), BTreeMap::from(PAGE), "{path}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_key_is_shown_only_when_one_token_is_read_or_created(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let (_, without_key, with_key) = read_by_every_call(&ana).await;
    assert_eq!(with_key[0]["key"], with_key[1]["key"]);
    let key = with_key[0]["key"].as_str().unwrap();
    let masked = format!("{}**********{}", &key[..7], &key[47..]);
    assert_eq!(masked.len(), "sk-ab12**********wxyz".len());
    for token in &without_key {
        assert_eq!((&token["key"], &token["masked_key"]), (&json!(""), &json!(masked)));
    }
    for token in &with_key {
        assert_eq!(token["masked_key"], json!(masked));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn lists_show_the_masked_key_where_the_operator_sets_it(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_COMPAT__LIST_KEY", "masked")]).await;
    let ana = app.enabled_user("ana").await;
    let (_, without_key, with_key) = read_by_every_call(&ana).await;
    for in_a_list in &without_key[..2] {
        assert_eq!(in_a_list["key"], in_a_list["masked_key"]);
        assert_eq!(in_a_list["key"].as_str().unwrap().len(), "sk-ab12**********wxyz".len());
    }
    for token in &with_key {
        assert_eq!(token["key"].as_str().unwrap().len(), 51);
    }
}

/// Six base-62 digits of the CRC-32, most significant first.
fn checksum(text: &str) -> String {
    const DIGITS: &[u8; 62] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
    let sum = usize::try_from(crc32fast::hash(text.as_bytes())).unwrap();
    (0..6).rev().map(|place| char::from(DIGITS[sum / 62_usize.pow(place) % 62])).collect()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_key_is_sk_and_48_letters_and_digits_that_end_in_their_checksum(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let mut keys = BTreeSet::new();
    for _ in 0..20 {
        let (_, key) = ana.creates_with_key(json!({ "name": "same name" })).await;
        let bare = key.strip_prefix("sk-").unwrap();
        assert!(bare.len() == 48 && bare.bytes().all(|byte| byte.is_ascii_alphanumeric()), "{key}");
        assert_eq!(key[45..], checksum(&key[..45]), "{key}");
        keys.insert(key);
    }
    assert_eq!(keys.len(), 20);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn no_key_is_stored_in_plain_text(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let (id, key) = ana.creates_with_key(json!({ "name": "secret" })).await;
    ana.get(&format!("/api/token/{id}")).await.ok();
    let secret = &key[7..47];
    let rows = "select t::text from tokens t union all select a::text from audit_log a";
    let rows: Vec<String> = sqlx::query_scalar(rows).fetch_all(&app.pool).await.unwrap();
    let in_hex = secret.bytes().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().concat();
    assert!(rows.len() > 2);
    for row in rows {
        assert!(!row.contains(secret) && !row.contains(&in_hex), "{row}");
    }
}
