//! Specification §4.4, create a token.

use axum::body::Body;
use http::Method;
use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::limits::{no_period_limits, no_period_usage, no_rate_limits};
use crate::harness::{Answer, Caller, START, TestApp};

const MOST_QUOTA: i64 = 500_000_000_000_000;

async fn create(ana: &Caller, body: &Value) -> Answer {
    ana.post("/api/token/", body.clone()).await
}

/// Creates a token with this field, and returns the field as it is shown.
async fn field_after_create(ana: &Caller, field: &str, value: Value) -> Value {
    let id = ana.creates(json!({ "name": "made", field: value })).await;
    ana.get(&format!("/api/token/{id}")).await.ok()[field].clone()
}

/// Sends this body with these headers.
async fn post_raw(ana: &Caller, body: impl Into<Body>, headers: &[(&'static str, &str)]) -> Answer {
    let mut request = ana.request(Method::POST, "/api/token/");
    *request.body_mut() = body.into();
    for (name, value) in headers {
        request.headers_mut().insert(*name, value.parse().unwrap());
    }
    ana.send(request).await
}

async fn total(ana: &Caller) -> i64 {
    ana.get("/api/token/").await.ok()["total"].as_i64().unwrap()
}

/// Asserts that each value of the field is refused with its message and that no token is created.
async fn assert_each_refused(ana: &Caller, error: &str, field: &str, refused: Vec<(Value, &str)>) {
    for (value, message) in refused {
        create(ana, &json!({ "name": "made", field: value })).await.refuses_saying(400, error, message);
    }
    assert_eq!(total(ana).await, 0);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_creation_returns_the_location_of_the_token(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    for path in ["/api/token/", "/api/token"] {
        let answer = ana.post(path, json!({ "name": path })).await;
        assert_eq!(answer.text, r#"{"success":true,"message":""}"#);
        assert_eq!(answer.status, 200);
        assert_eq!(ana.get(answer.header("location").unwrap()).await.ok()["name"], json!(path));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_caller_that_prefers_the_representation_gets_the_token_with_its_key(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    for prefer in ["return=representation", "respond-async, Return=Representation"] {
        let answer = post_raw(&ana, r#"{"name":"made"}"#, &[("prefer", prefer)]).await;
        let location = answer.header("location").unwrap();
        assert_eq!(answer.ok(), ana.get(location).await.ok(), "{prefer}");
        assert_eq!(answer.header("cache-control"), Some("no-store"));
    }
    let minimal = post_raw(&ana, r#"{"name":"made"}"#, &[("prefer", "return=minimal")]).await;
    assert_eq!(minimal.json(), json!({ "success": true, "message": "" }));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn only_the_name_is_required_and_null_means_omitted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let nulls = json!({
        "name": "made", "note": null, "expired_time": null, "remain_quota": null, "unlimited_quota": null,
        "model_limits_enabled": null, "model_limits": null, "allow_ips": null, "group": null,
        "cross_group_retry": null, "show_addresses": null,
    });
    for body in [json!({ "name": "made" }), nulls] {
        let (id, key) = ana.creates_with_key(body).await;
        let mut token = ana.get(&format!("/api/token/{id}")).await.ok();
        token.as_object_mut().unwrap().remove("masked_key");
        let expected = json!({
            "id": id, "user_id": ana.id, "key": key, "status": 1, "name": "made", "note": "", "created_time": START,
            "accessed_time": START, "expired_time": -1, "remain_quota": 0, "unlimited_quota": false,
            "used_quota": 0, "model_limits_enabled": false, "model_limits": "", "allow_ips": "", "group": "",
            "cross_group_retry": false, "period_limits": no_period_limits(), "period_usage": no_period_usage(),
            "rate_limits": no_rate_limits(), "state": "used_up",
            "show_addresses": false,
        });
        assert_eq!(token, expected);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_note_is_free_text_of_at_most_500_characters(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    assert_each_refused(
        &ana,
        "invalid_note",
        "note",
        vec![
            (json!("ü".repeat(501)), "`note` has more than 500 characters"),
            (json!("a\0b"), "`note` contains control characters; only line breaks and tabs are allowed"),
        ],
    )
    .await;
    for (sent, shown) in
        [("ü".repeat(500), "ü".repeat(500)), (" for ops:\r\n\tthe crawler ".into(), "for ops:\n\tthe crawler".into())]
    {
        let id = ana.creates(json!({ "name": "made", "note": sent })).await;
        assert_eq!(ana.get(&format!("/api/token/{id}")).await.ok()["note"], json!(shown));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn unknown_and_read_only_fields_are_ignored(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let id = ana
        .creates(json!({
            "name": "made", "colour": ["red"], "id": 7_000, "user_id": 1, "key": "", "masked_key": "x",
            "status": 1, "created_time": 1, "accessed_time": 1, "used_quota": 9,
        }))
        .await;
    let token = ana.get(&format!("/api/token/{id}")).await.ok();
    assert_ne!(id, 7_000);
    for (field, value) in [("user_id", ana.id), ("status", 1), ("created_time", START), ("used_quota", 0)] {
        assert_eq!(token[field], json!(value), "{field}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_restriction_under_another_name_is_refused_with_the_right_one(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, root) = (app.enabled_user("ana").await, app.root().await);
    let id = ana.creates(json!({ "name": "one" })).await;
    let table = [
        ("expires_at", json!(START), "expired_time"),
        ("expiresAt", json!("2030-01-01"), "expired_time"),
        ("duration", json!("30d"), "expired_time"),
        ("ttl", json!(0), "expired_time"),
        ("allowed_ips", json!(["10.0.0.1"]), "allow_ips"),
        ("Allow_Ips", json!("10.0.0.1"), "allow_ips"),
        ("alow_ips", json!("10.0.0.1"), "allow_ips"),
        ("ip_whitelist", json!(["10.0.0.1"]), "allow_ips"),
        ("allowed_models", json!(["o1"]), "model_limits"),
        ("max_budget", json!(0), "remain_quota"),
        ("quota", json!(5), "remain_quota"),
        ("remainQuota", json!(5), "remain_quota"),
        ("remain_qouta", json!(5), "remain_quota"),
        ("budget_duration", json!("1d"), "period_limits"),
        ("rpm", json!(5), "rate_limits"),
        ("max_parallel_requests", json!(5), "rate_limits"),
        ("enabled", json!(false), "status_only"),
        ("disabled", json!(true), "status_only"),
        ("scopes", json!(["read"]), "the known names are"),
        ("groups", json!(["vip"]), "group"),
        ("model_limit", json!("o1"), "model_limits"),
    ];
    for (name, value, right) in table {
        let answers = [
            create(&ana, &json!({ "name": "two", name: value })).await,
            ana.put("/api/token/", json!({ "id": id, name: value })).await,
            ana.post("/api/token/bulk", json!({ "tokens": [{ "name": "two", name: value }] })).await,
            ana.patch("/api/token/bulk", json!({ "ids": [id], "set": { name: value } })).await,
        ];
        for answer in answers {
            answer.refuses(400, "invalid_field");
            let message = answer.json()["message"].as_str().unwrap().to_owned();
            assert!(message.contains(&format!("`{name}`")) && message.contains(right), "{message}");
        }
    }
    for (name, value) in [("max_budget", json!(5)), ("enabled", json!(false)), ("expires_at", json!(START))] {
        let account = json!({ "username": "bob", "password": "a password", name: value });
        root.post("/api/admin/users", account).await.refuses(400, "invalid_field");
        root.patch(&format!("/api/admin/users/{}", ana.id), json!({ name: value })).await.refuses(400, "invalid_field");
    }
    let account = json!({ "username": "bob", "password": "a password", "status": 2 });
    root.post("/api/admin/users", account).await.refuses(400, "invalid_status");
    let named = json!({ "name": "a", "expired_time": START + 60 });
    ana.post("/api/user/access_tokens", named).await.refuses(400, "invalid_field");
    assert_eq!(total(&ana).await, 1, "none was created");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_key_or_a_status_that_restricts_is_refused_and_what_clients_send_is_accepted(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    for (field, value, error) in [
        ("key", json!("sk-mine"), "invalid_field"),
        ("key", json!(7), "invalid_field"),
        ("status", json!(2), "invalid_status"),
        ("status", json!("2"), "invalid_status"),
        ("status", json!("disabled"), "invalid_status"),
        ("status", json!("paused"), "invalid_status"),
        ("status", json!(false), "invalid_status"),
        ("key", json!("sk-***mine"), "invalid_field"),
        ("key_expiration", json!(60), "invalid_field"),
        ("team_id", json!("a"), "invalid_field"),
    ] {
        create(&ana, &json!({ "name": "one", field: value })).await.refuses(400, error);
    }
    // Objects of ours, and what clients of this family and of others send without a restriction.
    for (field, value) in [
        ("key", json!("")),
        ("key", json!("sk-ab12**********wxyz")),
        ("key", json!(null)),
        ("status", json!(1)),
        ("status", json!(0)),
        ("status", json!(3)),
        ("enabled", json!(true)),
        ("disabled", json!(false)),
        ("expires_at", json!(null)),
        ("allowed_models", json!([])),
        ("allowed_ips", json!("")),
        ("state", json!("working")),
        ("period_usage", json!({})),
        ("user_id", json!(1)),
        ("tokens_used", json!(1)),
        ("DeletedAt", json!(null)),
    ] {
        create(&ana, &json!({ "name": "one", field: value })).await.ok();
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_name_has_1_to_50_characters_once_trimmed(pool: PgPool) {
    const EMPTY: &str = "a token needs a `name` of 1 to 50 characters";
    const TOO_LONG: &str = "`name` has more than 50 characters";
    const CONTROL: &str = "`name` contains control or invisible characters";
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let refused = [
        (json!({}), EMPTY),
        (json!({ "name": null }), EMPTY),
        (json!({ "name": "" }), EMPTY),
        (json!({ "name": " \t\n " }), EMPTY),
        (json!({ "name": "n".repeat(51) }), TOO_LONG),
        (json!({ "name": "ü".repeat(51) }), TOO_LONG),
        (json!({ "name": "a\0b" }), CONTROL),
        (json!({ "name": "a\nb" }), CONTROL),
        (json!({ "name": "a\u{7f}b" }), CONTROL),
    ];
    for (body, message) in refused {
        create(&ana, &body).await.refuses_saying(400, "invalid_name", message);
    }
    assert_eq!(total(&ana).await, 0);
    for name in ["n".repeat(50), "ü".repeat(50), "鍵".repeat(50), "🔑".to_owned(), "<b>'; --\"".to_owned()] {
        assert_eq!(field_after_create(&ana, "name", json!(format!("  {name}\t"))).await, json!(name));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_expiry_is_a_timestamp_or_never(pool: PgPool) {
    const MESSAGE: &str = "`expired_time` must be a Unix timestamp in seconds, or -1 for never";
    const LAST: i64 = 253_402_300_799;
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    assert_each_refused(
        &ana,
        "invalid_expiry",
        "expired_time",
        [-2, i64::MIN, LAST + 1, 1_900_000_000_000, i64::MAX].map(|bad| (json!(bad), MESSAGE)).to_vec(),
    )
    .await;
    for (sent, shown) in [(-1, -1), (0, -1), (1, 1), (START - 1, START - 1), (START + 60, START + 60), (LAST, LAST)] {
        assert_eq!(field_after_create(&ana, "expired_time", json!(sent)).await, json!(shown));
    }
    let past = ana.creates(json!({ "name": "past", "expired_time": START - 1 })).await;
    assert_eq!(ana.get(&format!("/api/token/{past}")).await.ok()["status"], json!(3));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_limited_token_has_a_quota_from_0_to_one_billion_dollars(pool: PgPool) {
    const MESSAGE: &str = "`remain_quota` must be a whole number from 0 to 500000000000000";
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let refused = [-1, MOST_QUOTA + 1, i64::MIN, i64::MAX].map(|quota| (json!(quota), MESSAGE));
    assert_each_refused(&ana, "invalid_quota", "remain_quota", refused.into()).await;
    let limited = json!({ "name": "made", "remain_quota": -1, "unlimited_quota": false });
    create(&ana, &limited).await.refuses_saying(400, "invalid_quota", MESSAGE);
    for quota in [0, 1, 500_000, MOST_QUOTA] {
        assert_eq!(field_after_create(&ana, "remain_quota", json!(quota)).await, json!(quota));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_unlimited_token_accepts_any_quota(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    for (sent, shown) in [(500, 500), (0, 0), (-1, 0), (MOST_QUOTA + 1, 0)] {
        let id = ana.creates(json!({ "name": "made", "unlimited_quota": true, "remain_quota": sent })).await;
        let token = ana.get(&format!("/api/token/{id}")).await.ok();
        let expected = (&json!(true), &json!(shown), &json!(1));
        assert_eq!((&token["unlimited_quota"], &token["remain_quota"], &token["status"]), expected);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn model_limits_are_names_separated_by_commas(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let models = |n: usize| (0..n).map(|n| format!("m{n}")).collect::<Vec<_>>();
    let refused = vec![
        (json!(models(1_001).join(",")), "`model_limits` names more than 1000 models"),
        (json!(models(1_001)), "`model_limits` names more than 1000 models"),
        (json!("m".repeat(129)), "`model_limits` contains a name of more than 128 characters"),
        (json!("o3\ngpt-4o"), "`model_limits` contains control characters; separate names with commas"),
        (json!(["o3", "a\0b"]), "`model_limits` contains control characters; separate names with commas"),
    ];
    assert_each_refused(&ana, "invalid_models", "model_limits", refused).await;
    let table = [
        (json!("gpt-4o,o3"), "gpt-4o,o3".to_owned()),
        (json!(" gpt-4o , ,o3,gpt-4o,"), "gpt-4o,o3".to_owned()),
        (json!(["o3", " gpt-4o ", "o3", ""]), "o3,gpt-4o".to_owned()),
        (json!([]), String::new()),
        (json!(models(1_000).join(",")), models(1_000).join(",")),
        (json!("é".repeat(128)), "é".repeat(128)),
    ];
    for (sent, shown) in table {
        assert_eq!(field_after_create(&ana, "model_limits", sent).await, json!(shown));
    }
    assert_eq!(field_after_create(&ana, "model_limits_enabled", json!(true)).await, json!(true));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn model_limits_have_at_most_16_kib(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let names = |count: usize| (0..count).map(|n| format!("{n:0127}")).collect::<Vec<_>>().join(",");
    assert_eq!(field_after_create(&ana, "model_limits", json!(names(128))).await, names(128));
    let answer = create(&ana, &json!({ "name": "x", "model_limits": names(129) })).await;
    answer.refuses_saying(400, "invalid_models", "`model_limits` is longer than 16384 bytes");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn one_invalid_address_is_named_and_the_whole_list_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let addresses = |n: usize| (0..n).map(|n| format!("10.0.0.{n}")).collect::<Vec<_>>().join("\n");
    for bad in ["localhost", "10.0.0.0/33", "10.0.0", "256.1.1.1", "::1/129", "10.0.0.1-9", "10.0.0.2 10.0.0.3"] {
        let message =
            format!("`allow_ips` contains {bad:?}, which is neither an IP address nor a network in CIDR notation");
        let list = json!(format!("10.0.0.1\n{bad}\n10.0.0.9"));
        assert_each_refused(&ana, "invalid_ips", "allow_ips", vec![(list, &message)]).await;
    }
    let too_many = (json!(addresses(101)), "`allow_ips` has more than 100 entries");
    assert_each_refused(&ana, "invalid_ips", "allow_ips", vec![too_many]).await;
    let table = [
        ("192.0.2.7", "192.0.2.7".to_owned()),
        ("10.0.0.0/8\n2001:db8::/32\n::1", "10.0.0.0/8\n2001:db8::/32\n::1".to_owned()),
        (" 10.0.0.1 \r\n\n10.0.0.2,10.0.0.3\n", "10.0.0.1\n10.0.0.2\n10.0.0.3".to_owned()),
        (&addresses(100), addresses(100)),
        ("", String::new()),
    ];
    for (sent, shown) in table {
        assert_eq!(field_after_create(&ana, "allow_ips", json!(sent)).await, json!(shown));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_group_is_empty_or_auto_or_the_owners_or_open(pool: PgPool) {
    const MESSAGE: &str = "`group` must be empty, `auto`, or one of: default";
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let refused = ["vip", "AUTO", "def", "default,auto", "a\0b"].map(|group| (json!(group), MESSAGE));
    assert_each_refused(&ana, "invalid_group", "group", refused.into()).await;
    for group in ["", "auto", "default"] {
        assert_eq!(field_after_create(&ana, "group", json!(group)).await, json!(group));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn only_the_group_auto_retries_across_groups(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    for (group, sent, retries) in
        [("auto", true, true), ("auto", false, false), ("default", true, false), ("", true, false)]
    {
        let id = ana.creates(json!({ "name": "made", "group": group, "cross_group_retry": sent })).await;
        let token = ana.get(&format!("/api/token/{id}")).await.ok();
        assert_eq!(token["cross_group_retry"], json!(retries), "{group:?} {sent}");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_field_of_the_wrong_type_is_refused_by_name(pool: PgPool) {
    const NUMBER: &str = "must be a whole number";
    const TEXT: &str = "must be a string";
    const SWITCH: &str = "must be true or false";
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let table = [
        ("name", json!(5), TEXT),
        ("name", json!(["made"]), TEXT),
        ("expired_time", json!("5"), NUMBER),
        ("expired_time", json!(1.5), NUMBER),
        ("expired_time", json!(true), NUMBER),
        ("remain_quota", json!("5"), NUMBER),
        ("remain_quota", json!(1.5), NUMBER),
        ("remain_quota", json!(9_223_372_036_854_775_808_u64), NUMBER),
        ("remain_quota", json!(1e30), NUMBER),
        ("remain_quota", json!({}), NUMBER),
        ("note", json!(5), TEXT),
        ("unlimited_quota", json!(1), SWITCH),
        ("unlimited_quota", json!("true"), SWITCH),
        ("model_limits_enabled", json!(0), SWITCH),
        ("model_limits", json!(5), "must be a comma-separated string of names"),
        ("model_limits", json!({ "o3": true }), "must be a comma-separated string of names"),
        ("allow_ips", json!(["10.0.0.1"]), TEXT),
        ("group", json!(1), TEXT),
        ("cross_group_retry", json!("yes"), SWITCH),
        ("show_addresses", json!(1), SWITCH),
    ];
    for (field, value, must) in table {
        let mut body = json!({ "name": "made" });
        body[field] = value;
        create(&ana, &body).await.refuses_saying(400, "invalid_field", &format!("`{field}` {must}"));
    }
    assert_eq!(total(&ana).await, 0);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_body_that_is_not_a_json_object_is_refused(pool: PgPool) {
    const NEEDED: &str = "send a JSON object as the body";
    const OBJECT: &str = "the body must be a JSON object";
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let table: [(&[u8], &str); 11] = [
        (b"", NEEDED),
        (b" \n ", NEEDED),
        (b"null", OBJECT),
        (b"[]", OBJECT),
        (b"5", OBJECT),
        (br#""made""#, OBJECT),
        (br#"{"name":"#, "the body is not valid JSON (line 1, column 8)"),
        (b"name=made", "the body is not valid JSON (line 1, column 2)"),
        (b"{\n'name':'made'}", "the body is not valid JSON (line 2, column 1)"),
        (br#"{"name":"made"} {}"#, "the body is not valid JSON (line 1, column 17)"),
        (b"{\"name\":\"a\0b\"}", "the body is not valid JSON (line 1, column 11)"),
    ];
    for (body, message) in table {
        post_raw(&ana, body, &[]).await.refuses_saying(400, "invalid_json", message);
    }
    post_raw(&ana, &b"{\"name\":\"\xff\xfe\"}"[..], &[]).await.refuses(400, "invalid_json");
    assert_eq!(total(&ana).await, 0);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_array_of_the_values_of_the_fields_is_refused(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let body = r#"["made",-1,5,false,false,"","","",false]"#;
    post_raw(&ana, body, &[]).await.refuses_saying(400, "invalid_json", "the body must be a JSON object");
    assert_eq!(total(&ana).await, 0);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_content_type_is_ignored(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    for content_type in
        ["text/plain", "application/x-www-form-urlencoded", "nonsense", "application/json; charset=utf-8"]
    {
        post_raw(&ana, r#"{"name":"made"}"#, &[("content-type", content_type)]).await.ok();
    }
    post_raw(&ana, r#"{"name":"made"}"#, &[]).await.ok();
    assert_eq!(total(&ana).await, 5);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_compressed_body_is_refused_by_the_name_of_its_encoding(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    for (encoding, name) in [("gzip", "gzip"), ("identity, br", "br"), ("x-custom", "x-custom")] {
        let headers = [("content-encoding", encoding)];
        let answer = post_raw(&ana, r#"{"name":"one"}"#, &headers).await;
        answer.refuses(415, "unsupported_encoding");
        assert!(answer.json()["message"].as_str().unwrap().contains(&format!("`{name}`")));
        let mut request = gateway.request(http::Method::POST, "/api/gateway/verify");
        request.headers_mut().insert("content-encoding", encoding.parse().unwrap());
        *request.body_mut() = Body::from(r#"{"key":"sk-x"}"#);
        gateway.send(request).await.refuses(415, "unsupported_encoding");
    }
    post_raw(&ana, r#"{"name":"one"}"#, &[("content-encoding", "identity")]).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_body_has_at_most_1_mib(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let of_size = |bytes: usize| {
        let token = r#"{"name":"made"}"#;
        format!("{token}{}", " ".repeat(bytes - token.len()))
    };
    post_raw(&ana, of_size(1_048_576), &[]).await.ok();
    let refused = post_raw(&ana, of_size(1_048_577), &[]).await;
    refused.refuses_saying(413, "body_too_large", "the body is larger than 1 MiB");
    assert_eq!(total(&ana).await, 1);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_creation_above_the_limit_of_the_user_is_refused(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_ACCOUNTS__MAX_TOKENS", "2")]).await;
    let (ana, ben) = (app.enabled_user("ana").await, app.enabled_user("ben").await);
    let first = ana.creates(json!({ "name": "first" })).await;
    ana.creates(json!({ "name": "second" })).await;
    let third = json!({ "name": "third" });
    let message = "this account has reached its limit of 2 tokens; delete one first";
    create(&ana, &third).await.refuses_saying(409, "token_limit_reached", message);
    create(&ben, &third).await.ok();
    ana.delete(&format!("/api/token/{first}")).await.ok();
    create(&ana, &third).await.ok();
    create(&ana, &third).await.refuses(409, "token_limit_reached");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn models_and_subnet_of_one_api_are_restrictions(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.enabled_user("ana").await;
    let shown = async |id: i64| {
        let token = ana.get(&format!("/api/token/{id}/details")).await.ok();
        json!([token["model_limits_enabled"], token["model_limits"], token["allow_ips"]])
    };
    let id = ana.creates(json!({ "name": "old", "models": "gpt-4o, o3", "subnet": "10.0.0.0/8,192.0.2.1" })).await;
    let restricted = json!([true, "gpt-4o,o3", "10.0.0.0/8\n192.0.2.1"]);
    assert_eq!(shown(id).await, restricted);
    ana.put("/api/token/", json!({ "id": id, "name": "renamed" })).await.ok();
    assert_eq!(shown(id).await, restricted, "omitted members keep their value");
    let both = json!({ "id": id, "models": "gpt-4o,o3", "model_limits": "gpt-4o,o3", "model_limits_enabled": true });
    ana.put("/api/token/", both).await.ok();
    ana.put("/api/token/", json!({ "id": id, "models": "o1", "subnet": "" })).await.ok();
    assert_eq!(shown(id).await, json!([true, "o1", ""]));
    ana.put("/api/token/", json!({ "id": id, "models": "" })).await.ok();
    assert_eq!(shown(id).await, json!([false, "", ""]), "an empty list allows every model there");
    let free = ana.creates(json!({ "name": "free", "models": null, "subnet": null })).await;
    assert_eq!(shown(free).await, json!([false, "", ""]));
    let models = "`models` and `model_limits` with `model_limits_enabled` differ; send one of them";
    let ips = "`subnet` and `allow_ips` differ; send one of them";
    for (sent, code, message) in [
        (json!({ "models": "a", "model_limits": "b" }), "invalid_models", models),
        (json!({ "models": "a", "model_limits_enabled": false }), "invalid_models", models),
        (json!({ "models": "", "model_limits_enabled": true }), "invalid_models", models),
        (json!({ "subnet": "10.0.0.0/8", "allow_ips": "" }), "invalid_ips", ips),
    ] {
        for mut body in [json!({ "name": "x" }), json!({ "id": id })] {
            body.as_object_mut().unwrap().extend(sent.as_object().unwrap().clone());
            let answer = if body["id"].is_null() {
                ana.post("/api/token/", body).await
            } else {
                ana.put("/api/token/", body).await
            };
            answer.refuses_saying(400, code, message);
        }
    }
    ana.post("/api/token/", json!({ "name": "x", "subnet": "10.0.0.0/99" })).await.refuses(400, "invalid_ips");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_model_that_ends_in_a_star_is_a_pattern_everywhere(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_MODELS__NAMES", "gpt-4o, gpt-4o-mini, gpt-4o-audio, o1")]).await;
    let (ana, gateway) = (app.enabled_user("ana").await, app.gateway().await);
    app.fills(&ana, 1_000).await;
    let limits =
        json!({ "name": "one", "unlimited_quota": true, "model_limits_enabled": true, "model_limits": "gpt-4o-*,o3" });
    let (id, key) = ana.creates_with_key(limits).await;
    for (model, allowed) in [("gpt-4o-mini", true), ("o3", true), ("gpt-4o", false), ("o3-mini", false)] {
        let verified = gateway.post("/api/gateway/verify", json!({ "key": key, "model": model })).await.ok();
        assert_eq!(verified["valid"], json!(allowed), "{model}");
        for call in ["charge", "reserve"] {
            let answer =
                gateway.post(&format!("/api/gateway/{call}"), json!({ "key": key, "quota": 1, "model": model })).await;
            if allowed { drop(answer.ok()) } else { answer.refuses(403, "model_not_allowed") }
        }
    }
    let listed = app.holder_of(&key).get("/v1/models").await.json();
    let names: Vec<_> = listed["data"].as_array().unwrap().iter().map(|model| model["id"].clone()).collect();
    assert_eq!(names, ["gpt-4o-mini", "gpt-4o-audio", "o3"]);
    let star = "`model_limits` may have `*` only at the end of a name, after at least one character: `gpt-4o-*`";
    for bad in ["*", "gpt-*-mini", "a,**"] {
        ana.post("/api/token/", json!({ "name": "x", "model_limits": bad })).await.refuses_saying(
            400,
            "invalid_models",
            star,
        );
        ana.put("/api/token/", json!({ "id": id, "model_limits": bad })).await.refuses_saying(
            400,
            "invalid_models",
            star,
        );
    }
}
