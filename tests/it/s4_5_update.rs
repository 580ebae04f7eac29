//! Specification §4.5, update a token: its fields (§4.5a) and its status only (§4.5b).

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Answer, Caller, START, TestApp};

const PATH: &str = "/api/token/";
const STATUS_ONLY: &str = "/api/token/?status_only=1";

async fn put(ana: &Caller, id: i64, mut fields: Value) -> Answer {
    fields["id"] = json!(id);
    ana.put(PATH, fields).await
}

async fn listed(ana: &Caller) -> Value {
    ana.get(PATH).await.ok()["items"][0].clone()
}

/// Creates a token whose fields all differ from their defaults.
async fn create_full(ana: &Caller) -> i64 {
    ana.creates(json!({
        "name": "before", "note": "for tests", "expired_time": START + 60, "remain_quota": 500, "unlimited_quota": false,
        "model_limits_enabled": true, "model_limits": "o3,gpt-4o", "allow_ips": "10.0.0.0/8\n::1",
        "group": "auto", "cross_group_retry": true, "show_addresses": true,
    }))
    .await
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn each_field_changes_alone_and_the_answer_is_the_token_without_its_key(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let id = create_full(&ana).await;
    let mut expected = listed(&ana).await;
    assert_eq!(expected["key"], json!(""));
    let table = [
        // the field, what is sent, what is shown
        ("name", json!(" after "), json!("after")),
        ("note", json!("for the crawler"), json!("for the crawler")),
        ("note", json!(""), json!("")),
        ("expired_time", json!(START + 120), json!(START + 120)),
        ("expired_time", json!(0), json!(-1)),
        ("expired_time", json!(-1), json!(-1)),
        ("remain_quota", json!(500_000_000_000_000_i64), json!(500_000_000_000_000_i64)),
        ("remain_quota", json!(0), json!(0)),
        ("unlimited_quota", json!(true), json!(true)),
        ("unlimited_quota", json!(false), json!(false)),
        ("model_limits_enabled", json!(false), json!(false)),
        ("model_limits", json!(["a", " b ", "a"]), json!("a,b")),
        ("model_limits", json!(""), json!("")),
        ("allow_ips", json!("192.0.2.7, 2001:db8::/32"), json!("192.0.2.7\n2001:db8::/32")),
        ("allow_ips", json!(""), json!("")),
        ("cross_group_retry", json!(false), json!(false)),
        ("show_addresses", json!(false), json!(false)),
        ("show_addresses", json!(true), json!(true)),
        ("group", json!("default"), json!("default")),
        ("group", json!(""), json!("")),
    ];
    app.clock.advance(30);
    for (field, sent, shown) in table {
        expected[field] = shown;
        let has_quota = expected["unlimited_quota"] == true || expected["remain_quota"] != 0;
        expected["state"] = json!(if has_quota { "account_empty" } else { "used_up" });
        let answer = put(&ana, id, json!({ field: sent })).await;
        assert_eq!(answer.json(), json!({ "success": true, "message": "", "data": expected }), "{field}");
        assert_eq!(listed(&ana).await, expected, "{field}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn omitted_and_null_fields_are_unchanged(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let id = create_full(&ana).await;
    let before = listed(&ana).await;
    let nulls = json!({
        "name": null, "expired_time": null, "remain_quota": null, "unlimited_quota": null,
        "model_limits_enabled": null, "model_limits": null, "allow_ips": null, "group": null,
        "cross_group_retry": null, "show_addresses": null,
    });
    for body in [json!({}), nulls] {
        assert_eq!(put(&ana, id, body).await.ok(), before);
    }
    assert_eq!(listed(&ana).await, before);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn unknown_and_read_only_fields_are_ignored(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one" })).await;
    let before = ana.get(&format!("/api/token/{id}")).await.ok();
    let fields = json!({
        "user_id": 1, "key": "", "masked_key": "x", "created_time": 1, "accessed_time": 1,
        "used_quota": 9, "status": "none", "colour": "red",
    });
    put(&ana, id, fields).await.ok();
    let after = ana.get(&format!("/api/token/{id}")).await.ok();
    assert_eq!(after, before);
    assert_eq!(after["key"], json!(key));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_full_update_changes_no_status_and_says_so_if_it_should(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let id = ana.creates(json!({ "name": "one" })).await;
    for status in [1, 3, 7] {
        assert_eq!(put(&ana, id, json!({ "status": status })).await.ok()["status"], json!(1));
    }
    let answer = put(&ana, id, json!({ "status": 2, "name": "two" })).await;
    answer.refuses(400, "invalid_status");
    assert!(answer.json()["message"].as_str().unwrap().contains("status_only"));
    // Also as other languages write the number.
    for status in [json!(2.0), json!("2.00"), json!("02"), json!("+2"), json!("off")] {
        put(&ana, id, json!({ "status": status, "name": "two" })).await.refuses(400, "invalid_status");
    }
    assert_eq!(listed(&ana).await["name"], "one");
    ana.put(STATUS_ONLY, json!({ "id": id, "status": 2 })).await.ok();
    for status in [1, 2] {
        let after = put(&ana, id, json!({ "status": status, "name": "two" })).await.ok();
        assert_eq!((&after["status"], &after["name"]), (&json!(2), &json!("two")));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_object_that_comes_back_unchanged_is_accepted_and_another_key_is_not(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let (id, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 5 })).await;
    let (other, others) = ana.creates_with_key(json!({ "name": "two" })).await;
    // As older versions accepted it.
    let late = "update tokens set expires_at = 9999999999999 where id = $1";
    sqlx::query(late).bind(id).execute(&app.pool).await.unwrap();
    let path = format!("/api/token/{id}");
    for disabled in [false, true] {
        if disabled {
            ana.put(STATUS_ONLY, json!({ "id": id, "status": 2 })).await.ok();
        }
        for object in [ana.get(&path).await.ok(), ana.get(&format!("{path}/details")).await.ok()] {
            ana.put("/api/token/", object).await.ok();
        }
        let masked = ana.get(&path).await.ok()["masked_key"].clone();
        for own in [json!(key), json!(key.trim_start_matches("sk-")), masked, json!("")] {
            put(&ana, id, json!({ "key": own })).await.ok();
        }
    }
    for wrong in [json!(others), json!("sk-mine"), json!("sk-ab12**********wxyz"), json!(1)] {
        put(&ana, id, json!({ "key": wrong })).await.refuses(400, "invalid_field");
    }
    ana.patch("/api/token/bulk", json!({ "ids": [id], "set": { "key": key } })).await.refuses(400, "invalid_field");
    put(&ana, id, json!({ "expired_time": 9_999_999_999_998_i64 })).await.refuses(400, "invalid_expiry");
    put(&ana, other, json!({ "expired_time": 9_999_999_999_999_i64 })).await.refuses(400, "invalid_expiry");
    assert_eq!(ana.get(&path).await.ok()["expired_time"], json!(9_999_999_999_999_i64));
    // A replaced key is one that it had.
    let rotated = ana.post(&format!("{path}/rotate"), json!({})).await.ok();
    for own in [json!(key), rotated["key"].clone()] {
        put(&ana, id, json!({ "key": own })).await.ok();
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn only_the_group_auto_retries_across_groups(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let id = ana.creates(json!({ "name": "one" })).await;
    let steps = [
        (json!({ "cross_group_retry": true }), false),
        (json!({ "group": "auto", "cross_group_retry": true }), true),
        (json!({ "name": "two" }), true),
        (json!({ "group": "default" }), false),
        (json!({ "group": "default", "cross_group_retry": true }), false),
    ];
    for (fields, retries) in steps {
        let answer = put(&ana, id, fields.clone()).await.ok();
        assert_eq!(answer["cross_group_retry"], json!(retries), "{fields}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_unlimited_token_keeps_its_quota(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let id = ana.creates(json!({ "name": "one", "remain_quota": 500 })).await;
    app.spend(id, 100).await;
    for unlimited in [true, false] {
        let token = put(&ana, id, json!({ "unlimited_quota": unlimited })).await.ok();
        let expected = (&json!(unlimited), &json!(400), &json!(100));
        assert_eq!((&token["unlimited_quota"], &token["remain_quota"], &token["used_quota"]), expected);
    }
    let both = json!({ "unlimited_quota": true, "remain_quota": -1 });
    assert_eq!(put(&ana, id, both).await.ok()["unlimited_quota"], json!(true));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_invalid_field_is_refused_and_nothing_changes(pool: PgPool) {
    const QUOTA: &str = "`remain_quota` must be a whole number from 0 to 500000000000000";
    const GROUP: &str = "`group` must be empty, `auto`, or one of: default";
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let id = create_full(&ana).await;
    let before = listed(&ana).await;
    let table = [
        ("name", json!(""), "invalid_name", "a token needs a `name` of 1 to 50 characters"),
        ("name", json!("ü".repeat(51)), "invalid_name", "`name` has more than 50 characters"),
        ("name", json!("a\0b"), "invalid_name", "`name` contains control or invisible characters"),
        ("name", json!(5), "invalid_field", "`name` must be a string"),
        (
            "expired_time",
            json!(-2),
            "invalid_expiry",
            "`expired_time` must be a Unix timestamp in seconds, or -1 for never",
        ),
        ("expired_time", json!("5"), "invalid_field", "`expired_time` must be a whole number"),
        ("remain_quota", json!(-1), "invalid_quota", QUOTA),
        ("remain_quota", json!(500_000_000_000_001_i64), "invalid_quota", QUOTA),
        ("remain_quota", json!(1.5), "invalid_field", "`remain_quota` must be a whole number"),
        ("unlimited_quota", json!(1), "invalid_field", "`unlimited_quota` must be true or false"),
        (
            "model_limits",
            json!("m".repeat(129)),
            "invalid_models",
            "`model_limits` contains a name of more than 128 characters",
        ),
        (
            "allow_ips",
            json!("10.0.0.1\nlocalhost"),
            "invalid_ips",
            "`allow_ips` contains \"localhost\", which is neither an IP address nor a network in CIDR notation",
        ),
        ("group", json!("vip"), "invalid_group", GROUP),
    ];
    for (field, value, error, message) in table {
        let mut fields = json!({ "model_limits_enabled": false });
        fields[field] = value;
        put(&ana, id, fields).await.refuses_saying(400, error, message);
    }
    assert_eq!(listed(&ana).await, before);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_update_needs_an_id(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    for path in [PATH, STATUS_ONLY] {
        for body in [json!({ "status": 1 }), json!({ "id": null, "status": 1 })] {
            ana.put(path, body).await.refuses_saying(400, "missing_field", "`id` is required");
        }
        for id in [json!("7"), json!(7.5), json!([7])] {
            let answer = ana.put(path, json!({ "id": id, "status": 1 })).await;
            answer.refuses_saying(400, "invalid_field", "`id` must be a whole number");
        }
        let empty = ana.send(ana.request(http::Method::PUT, path)).await;
        empty.refuses_saying(400, "invalid_json", "send a JSON object as the body");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn absent_deleted_and_other_users_tokens_are_not_found(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, root) = (app.enabled_user("ana").await, app.root().await);
    let anas = ana.creates(json!({ "name": "ana's" })).await;
    let before = listed(&ana).await;
    let deleted = root.creates(json!({ "name": "deleted" })).await;
    root.delete(&format!("/api/token/{deleted}")).await.ok();
    for id in [anas, deleted, 999_999, 0, -1] {
        for path in [PATH, STATUS_ONLY] {
            let answer = root.put(path, json!({ "id": id, "name": "mine", "status": 2 })).await;
            answer.refuses_saying(404, "not_found", "there is no such token");
        }
    }
    assert_eq!(listed(&ana).await, before);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_trailing_slash_is_optional_in_both_updates(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let id = ana.creates(json!({ "name": "one" })).await;
    for slash in ["", "/"] {
        let name = format!("with {slash:?}");
        let renamed = ana.put(&format!("/api/token{slash}"), json!({ "id": id, "name": name })).await.ok();
        assert_eq!(renamed["name"], json!(name));
        for status in [2, 1] {
            let path = format!("/api/token{slash}?status_only=1");
            assert_eq!(ana.put(&path, json!({ "id": id, "status": status })).await.ok()["status"], json!(status));
        }
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn status_only_is_on_unless_it_is_empty_or_0_or_false(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let table = [
        ("?status_only=1", true),
        ("?status_only=true", true),
        ("?status_only=yes", true),
        ("?status_only=2", true),
        ("?colour=red&status_only=1", true),
        ("?status_only=0", false),
        ("?status_only=false", false),
        ("?status_only=", false),
        ("?status_only", false),
        ("?status=1", false),
        ("", false),
    ];
    for (query, status_only) in table {
        let id = ana.creates(json!({ "name": "before" })).await;
        let answer = ana.put(&format!("{PATH}{query}"), json!({ "id": id, "status": 2, "name": "after" })).await;
        if status_only {
            let token = answer.ok();
            assert_eq!((&token["status"], &token["name"]), (&json!(2), &json!("before")), "{query}");
        } else {
            answer.refuses(400, "invalid_status");
            let token =
                ana.put(&format!("{PATH}{query}"), json!({ "id": id, "status": 1, "name": "after" })).await.ok();
            assert_eq!((&token["status"], &token["name"]), (&json!(1), &json!("after")), "{query}");
        }
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_status_only_update_ignores_all_other_fields(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let id = create_full(&ana).await;
    let mut expected = listed(&ana).await;
    expected["status"] = json!(2);
    expected["state"] = json!("disabled");
    let others = json!({ "id": id, "status": 2, "name": 5, "remain_quota": -1, "group": "vip", "expired_time": 1 });
    let answer = ana.put(STATUS_ONLY, others).await;
    assert_eq!(answer.json(), json!({ "success": true, "message": "", "data": expected }));
    assert_eq!(listed(&ana).await, expected);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_status_can_be_set_to_1_or_2_only(pool: PgPool) {
    const MESSAGE: &str = "`status` must be 1 (enable) or 2 (disable)";
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let id = ana.creates(json!({ "name": "one" })).await;
    for status in [json!(0), json!(3), json!(4), json!(-1), json!(null)] {
        let answer = ana.put(STATUS_ONLY, json!({ "id": id, "status": status })).await;
        answer.refuses_saying(400, "invalid_status", MESSAGE);
    }
    ana.put(STATUS_ONLY, json!({ "id": id })).await.refuses_saying(400, "invalid_status", MESSAGE);
    for status in [json!("2"), json!(2.5), json!(true)] {
        let answer = ana.put(STATUS_ONLY, json!({ "id": id, "status": status })).await;
        answer.refuses_saying(400, "invalid_field", "`status` must be a whole number");
    }
    assert_eq!(listed(&ana).await["status"], json!(1));
}
