//! Accounts: a user's own account, and all accounts for administrators.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::limits::{no_period_limits, no_period_usage};
use crate::harness::{Caller, ROOT_PASSWORD, START, TestApp};

const SELF: &str = "/api/user/self";
const USERS: &str = "/api/admin/users";
const TOKENS: &str = "/api/admin/tokens";
const TOO_LOW: &str = "your role does not allow this: administrators manage users, root manages everyone";

/// The path of a user, for administrators.
fn of(user: &Caller) -> String {
    format!("{USERS}/{}", user.id)
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_user_sees_their_own_account(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_ACCOUNTS__INITIAL_QUOTA", "1000")]).await;
    let ana = app.user("ana").await;
    let expected = json!({
        "id": ana.id, "username": "ana", "display_name": "ana", "email": "", "role": 1, "status": 1,
        "group": "default", "quota": 1000, "used_quota": 0, "request_count": 0, "token_api_enabled": false,
        "max_tokens": null, "created_time": START,
        "period_limits": no_period_limits(), "period_usage": no_period_usage(),
    });
    assert_eq!(ana.get(SELF).await.ok(), expected);
    assert_eq!(app.root().await.get(SELF).await.ok()["role"], 100);
    assert_eq!(app.admin("carla").await.get(SELF).await.ok()["role"], 10);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn name_and_email_change_and_omitted_fields_stay(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    let changed = ana.put(SELF, json!({ "display_name": " Ana Ágnes ", "email": "ana@example.org" })).await.ok();
    assert_eq!((&changed["display_name"], &changed["email"]), (&json!("Ana Ágnes"), &json!("ana@example.org")));
    let ignored = json!({ "role": 100, "quota": 5, "status": 2, "group": "x", "username": "x", "email": null });
    ana.put(SELF, ignored).await.ok();
    assert_eq!(ana.get(SELF).await.ok(), changed);
    assert_eq!(ana.put(SELF, json!({ "email": "" })).await.ok()["email"], "");
    let label = "`display_name` must have at most 100 characters, without control or invisible characters";
    for bad in ["x".repeat(101), "a\u{7}b".to_owned()] {
        ana.put(SELF, json!({ "display_name": bad })).await.refuses_saying(400, "invalid_text", label);
    }
    for bad in ["ana", "@example.org", "ana@", "a na@example.org"] {
        let answer = ana.put(SELF, json!({ "email": bad })).await;
        answer.refuses_saying(400, "invalid_email", "`email` is not an e-mail address");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_new_password_needs_the_current_one_and_8_to_128_characters(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let ana = app.user("ana").await;
    let wrong = "the current password is wrong; send it as `original_password`";
    for body in [
        json!({ "password": "a better one" }),
        json!({ "password": "a better one", "original_password": "a guess" }),
        json!({ "password": "a better one", "original_password": "", "display_name": "changed" }),
    ] {
        ana.put(SELF, body).await.refuses_saying(403, "wrong_password", wrong);
    }
    let length = "the password must have 8 to 128 characters";
    for bad in ["1234567".to_owned(), "x".repeat(129)] {
        let body = json!({ "password": bad, "original_password": "ana's password" });
        ana.put(SELF, body).await.refuses_saying(400, "invalid_password", length);
    }
    assert_eq!(ana.get(SELF).await.ok()["display_name"], "ana");
    let longest = "ü".repeat(128);
    ana.put(SELF, json!({ "password": longest, "original_password": "ana's password" })).await.ok();
    app.signs_in("ana", &longest).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn groups_and_models_are_those_of_the_settings(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_MODELS__NAMES", "gpt-4o, o1")]).await;
    let ana = app.user("ana").await;
    assert_eq!(ana.get("/api/user/self/groups").await.ok(), json!({ "default": { "desc": "Default", "ratio": 1 } }));
    for path in ["/api/user/models", "/api/user/self/models"] {
        assert_eq!(ana.get(path).await.ok(), json!(["gpt-4o", "o1"]));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_status_shows_the_version_and_what_is_open(pool: PgPool) {
    let app = TestApp::with(pool.clone(), &[("KEYMETER_ACCOUNTS__CONTACT", "keys@example.org")]).await;
    let expected = json!({
        "name": "keymeter", "version": env!("CARGO_PKG_VERSION"), "quota_per_unit": 500_000,
        "registration": false, "token_api": "by_request", "contact": "keys@example.org", "time_zone": "UTC",
        "week_starts": "monday", "low_wallet_days": 7,
    });
    let status = app.stranger().get("/api/status").await.ok();
    for (field, value) in expected.as_object().unwrap() {
        assert_eq!(&status[field], value, "{field}");
    }
    let app = TestApp::with(pool, &[("KEYMETER_USAGE__WEEK_STARTS", "sunday")]).await;
    assert_eq!(app.stranger().get("/api/status").await.ok()["week_starts"], "sunday");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn accounts_are_listed_newest_first_and_found_by_a_part_of_a_name(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, _anabel, _ben) = (app.user("ana").await, app.user("Anabel").await, app.user("ben").await);
    ana.put("/api/user/self", json!({ "display_name": "The Captain", "email": "ana@ships.example" })).await.ok();
    let admin = app.admin("carla").await;
    let names = async |query: &str| admin.page(&format!("{USERS}?{query}"), "username").await;
    assert_eq!(names("").await, (["carla", "ben", "Anabel", "ana", "root"].map(Value::from).to_vec(), 5));
    assert_eq!(names("p=1&size=2").await, (["Anabel", "ana"].map(Value::from).to_vec(), 5));
    assert_eq!(names("keyword=ANA").await, (["Anabel", "ana"].map(Value::from).to_vec(), 2));
    assert_eq!(names("keyword=captain").await, (vec![json!("ana")], 1));
    assert_eq!(names("keyword=nobody").await, (vec![], 0));
    let data = admin.get(&format!("{USERS}?keyword=captain")).await.ok();
    let expected = json!({
        "id": ana.id, "username": "ana", "display_name": "The Captain", "email": "ana@ships.example", "role": 1,
        "status": 1, "group": "default", "quota": 0, "used_quota": 0, "request_count": 0,
        "token_api_enabled": false, "max_tokens": null, "created_time": START,
        "period_limits": no_period_limits(), "period_usage": no_period_usage(),
    });
    assert_eq!(data, json!({ "page": 0, "page_size": 10, "total": 1, "items": [expected] }));
    let short = admin.get(&format!("{USERS}?keyword=a")).await;
    short.refuses_saying(400, "invalid_search", "a search needs at least 2 characters beside `%`");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn accounts_are_filtered_by_status_group_and_role(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (admin, ana) = (app.admin("carla").await, app.user("ana").await);
    app.user("ben").await;
    admin.patch(&format!("{USERS}/{}", ana.id), json!({ "status": 2 })).await.ok();
    let names = async |query: &str| admin.page(&format!("{USERS}?{query}"), "username").await;
    let table: [(&str, &[&str]); 8] = [
        ("status=2", &["ana"]),
        ("status=1", &["ben", "carla", "root"]),
        ("role=1", &["ben", "ana"]),
        ("role=10", &["carla"]),
        ("role=100", &["root"]),
        ("group=default&role=1&status=1", &["ben"]),
        ("keyword=an&status=1", &[]),
        ("status=&group=&role=", &["ben", "ana", "carla", "root"]),
    ];
    for (query, expected) in table {
        let total = i64::try_from(expected.len()).unwrap();
        assert_eq!(names(query).await, (expected.iter().map(|name| json!(name)).collect(), total), "{query}");
    }
    assert_eq!(names("role=1&size=1").await, (vec![json!("ben")], 2));
    app.fills(&ana, 9).await;
    sqlx::query("update users set used_quota = 5 where username = 'carla'").execute(&app.pool).await.unwrap();
    let orders: [(&str, [&str; 4]); 5] = [
        ("sort=id&order=asc", ["root", "carla", "ana", "ben"]),
        ("sort=username&order=asc", ["ana", "ben", "carla", "root"]),
        ("sort=username", ["root", "carla", "ben", "ana"]),
        ("sort=quota&order=asc", ["root", "carla", "ben", "ana"]),
        ("sort=used_quota&order=desc", ["carla", "ben", "ana", "root"]),
    ];
    for (query, expected) in orders {
        assert_eq!(names(query).await, (expected.map(Value::from).to_vec(), 4), "{query}");
    }
    assert_eq!(names("sort=quota&role=1&keyword=an").await, (vec![json!("ana")], 1));
    assert_eq!(names("sort=quota&p=2&size=3").await, (vec![], 4));
    for (query, message) in [
        ("status=3", "`status` must be 1 (enabled) or 2 (disabled)"),
        ("status=on", "`status` must be 1 (enabled) or 2 (disabled)"),
        ("group=gold", "`group` must be one of: default"),
        ("role=2", "`role` must be 1 (user), 10 (administrator) or 100 (root)"),
        ("sort=email", "`sort` must be `id`, `username`, `quota` or `used_quota`"),
        ("order=up", "`order` must be `asc` or `desc`"),
    ] {
        admin.get(&format!("{USERS}?{query}")).await.refuses_saying(400, "invalid_filter", message);
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_account_is_read_as_it_is_listed(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (admin, ana) = (app.admin("carla").await, app.user("ana").await);
    let listed = admin.get(&format!("{USERS}?keyword=ana")).await.ok()["items"][0].clone();
    assert_eq!(admin.get(&format!("{USERS}/{}", ana.id)).await.ok(), listed);
    admin.delete(&format!("{USERS}/{}", ana.id)).await.ok();
    for id in [ana.id, 999_999] {
        admin.get(&format!("{USERS}/{id}")).await.refuses_saying(404, "not_found", "there is no such user");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_account_is_created_with_the_requested_fields(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_ACCOUNTS__INITIAL_QUOTA", "7")]).await;
    let root = app.root().await;
    let all = json!({
        "username": "ana", "password": "ana's password", "display_name": "Ana", "email": "ana@example.org",
        "role": 10, "group": "default", "quota": 500, "token_api_enabled": true, "max_tokens": 3,
    });
    let made = root.post(USERS, all.clone()).await.ok();
    for (field, value) in all.as_object().unwrap() {
        if field != "password" {
            assert_eq!(&made[field], value, "{field}");
        }
    }
    app.signs_in("ana", "ana's password").await.get(USERS).await.ok();
    let plain = root.post(USERS, json!({ "username": "ben", "password": "ben's password" })).await.ok();
    for (field, value) in [
        ("display_name", json!("ben")),
        ("email", json!("")),
        ("role", json!(1)),
        ("status", json!(1)),
        ("quota", json!(7)),
        ("token_api_enabled", json!(false)),
        ("max_tokens", json!(null)),
    ] {
        assert_eq!(plain[field], value, "{field}");
    }
    let table = [
        (json!({ "username": "BEN" }), 409, "username_taken", "this username is taken"),
        (
            json!({ "username": "a b" }),
            400,
            "invalid_username",
            "`username` must have 1 to 50 characters, without white space",
        ),
        (
            json!({ "username": null }),
            400,
            "invalid_username",
            "`username` must have 1 to 50 characters, without white space",
        ),
        (json!({ "password": "short" }), 400, "invalid_password", "the password must have 8 to 128 characters"),
        (json!({ "email": "x" }), 400, "invalid_email", "`email` is not an e-mail address"),
        (json!({ "role": 5 }), 400, "invalid_role", "`role` must be 1, 10 or 100"),
        (json!({ "group": "vip" }), 400, "invalid_group", "`group` must be one of: default"),
        (json!({ "quota": -1 }), 400, "invalid_quota", "`quota` must be a whole number from 0 to 500000000000000"),
        (
            json!({ "max_tokens": -2 }),
            400,
            "invalid_max_tokens",
            "`max_tokens` must be a whole number from 0 to 1000000, or -1 for the general limit",
        ),
    ];
    for (wrong, status, error, message) in table {
        let mut account = json!({ "username": "carla", "password": "carla's password" });
        account.as_object_mut().unwrap().extend(wrong.as_object().unwrap().clone());
        root.post(USERS, account).await.refuses_saying(status, error, message);
    }
    assert_eq!(root.page(USERS, "id").await.1, 3);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_change_of_one_field_leaves_the_others(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, ana) = (app.root().await, app.user("ana").await);
    let mut before = ana.get("/api/user/self").await.ok();
    for (field, value) in [
        ("display_name", json!("Ana")),
        ("email", json!("ana@example.org")),
        ("token_api_enabled", json!(true)),
        ("max_tokens", json!(0)),
        ("group", json!("default")),
        ("status", json!(2)),
        ("status", json!(1)),
        ("role", json!(10)),
    ] {
        before[field] = value.clone();
        match before["status"].as_i64() {
            Some(2) => before["disabled_by"] = json!("root"),
            _ => drop(before.as_object_mut().unwrap().remove("disabled_by")),
        }
        assert_eq!(root.patch(&of(&ana), json!({ field: value })).await.ok(), before, "{field}");
    }
    assert_eq!(root.patch(&of(&ana), json!({ "max_tokens": -1 })).await.ok()["max_tokens"], json!(null));
    root.patch(&of(&ana), json!({ "password": "set by root" })).await.ok();
    app.signs_in("ana", "set by root").await;
    let table = [
        (json!({ "status": 3 }), "invalid_status", "`status` must be 1 (enable) or 2 (disable)"),
        (json!({ "role": 2 }), "invalid_role", "`role` must be 1, 10 or 100"),
        (json!({ "group": "auto" }), "invalid_group", "`group` must be one of: default"),
        (json!({ "password": "short" }), "invalid_password", "the password must have 8 to 128 characters"),
        (
            json!({ "max_tokens": 1_000_001 }),
            "invalid_max_tokens",
            "`max_tokens` must be a whole number from 0 to 1000000, or -1 for the general limit",
        ),
    ];
    for (wrong, error, message) in table {
        root.patch(&of(&ana), wrong).await.refuses_saying(400, error, message);
    }
    let absent = root.patch(&format!("{USERS}/999999"), json!({ "email": "" })).await;
    absent.refuses_saying(404, "not_found", "there is no such user");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_limit_of_tokens_for_one_account_takes_effect_on_the_next_request(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, ana) = (app.root().await, app.enabled_user("ana").await);
    root.patch(&of(&ana), json!({ "max_tokens": 1 })).await.ok();
    ana.creates(json!({ "name": "one" })).await;
    let full = ana.post("/api/token/", json!({ "name": "two" })).await;
    full.refuses_saying(409, "token_limit_reached", "this account has reached its limit of 1 token; delete one first");
    root.patch(&of(&ana), json!({ "max_tokens": 2 })).await.ok();
    ana.creates(json!({ "name": "two" })).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_administrator_manages_users_and_root_everyone(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, admin, other) = (app.root().await, app.admin("carla").await, app.admin("dora").await);
    let ana = app.user("ana").await;
    admin.patch(&of(&ana), json!({ "display_name": "Ana" })).await.ok();
    for above in [&other, &root] {
        for answer in [
            admin.patch(&of(above), json!({ "display_name": "x" })).await,
            admin.patch(&of(above), json!({ "password": "taken over" })).await,
            admin.patch(&of(above), json!({ "status": 2 })).await,
            admin.delete(&of(above)).await,
            admin.post(&format!("{}/quota", of(above)), json!({ "delta": 1 })).await,
        ] {
            answer.refuses_saying(403, "role_too_low", TOO_LOW);
        }
    }
    for role in [10, 100] {
        let account = json!({ "username": "eve", "password": "eve's password", "role": role });
        admin.post(USERS, account).await.refuses_saying(403, "role_too_low", TOO_LOW);
        admin.patch(&of(&ana), json!({ "role": role })).await.refuses_saying(403, "role_too_low", TOO_LOW);
    }
    admin.post(&format!("{}/quota", of(&admin)), json!({ "set": 1 })).await.refuses_saying(
        403,
        "role_too_low",
        TOO_LOW,
    );
    assert_eq!(root.patch(&of(&other), json!({ "role": 1 })).await.ok()["role"], 1);
    other.get(USERS).await.refuses_saying(403, "not_an_administrator", "an administrator account is required");
    root.delete(&of(&admin)).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn administrators_cannot_change_their_own_role_or_status_or_delete_themselves(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let message = "you cannot change the role or status of your own account, or delete it";
    for caller in [app.root().await, app.admin("carla").await] {
        for answer in [
            caller.patch(&of(&caller), json!({ "role": 1 })).await,
            caller.patch(&of(&caller), json!({ "status": 2 })).await,
            caller.delete(&of(&caller)).await,
        ] {
            answer.refuses_saying(409, "own_account", message);
        }
    }
    app.signs_in("root", ROOT_PASSWORD).await.get(USERS).await.ok();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn deleting_an_account_ends_its_credentials_and_frees_its_name(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, ana) = (app.root().await, app.enabled_user("ana").await);
    let by_token = ana.by_access_token().await;
    let token = ana.creates(json!({ "name": "one" })).await;
    let answer = root.delete(&of(&ana)).await;
    assert_eq!(answer.json(), json!({ "success": true, "message": "" }));
    ana.get("/api/user/self").await.refuses(401, "not_signed_in");
    by_token.get("/api/user/self").await.refuses(401, "invalid_credential");
    assert_eq!(root.page(TOKENS, "id").await.1, 0);
    assert_eq!(root.page(USERS, "username").await.0, [json!("root")]);
    root.delete(&of(&ana)).await.refuses_saying(404, "not_found", "there is no such user");
    root.patch(&of(&ana), json!({ "status": 1 })).await.refuses(404, "not_found");
    let again = app.enabled_user("ana").await;
    assert_ne!(again.id, ana.id);
    again.get(&format!("/api/token/{token}")).await.refuses(404, "not_found");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_wallet_is_increased_or_set_within_its_range(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (admin, ana) = (app.admin("carla").await, app.user("ana").await);
    let wallet = format!("{}/quota", of(&ana));
    let max = 500_000_000_000_000_i64;
    for (change, holds) in [
        (json!({ "delta": 500 }), 500),
        (json!({ "delta": -200 }), 300),
        (json!({ "delta": -300 }), 0),
        (json!({ "set": max }), max),
        (json!({ "set": 1000 }), 1000),
        (json!({ "delta": 0 }), 1000),
    ] {
        assert_eq!(admin.post(&wallet, change).await.ok()["quota"], holds);
    }
    let range = "the wallet would be outside 0 to 500000000000000; it holds 1000 quota units";
    for change in [
        json!({ "delta": -1001 }),
        json!({ "delta": max }),
        json!({ "delta": i64::MAX }),
        json!({ "set": -1 }),
        json!({ "set": max + 1 }),
    ] {
        admin.post(&wallet, change).await.refuses_saying(400, "invalid_quota", range);
    }
    for change in [json!({}), json!({ "delta": 1, "set": 1 }), json!({ "delta": null })] {
        let answer = admin.post(&wallet, change).await;
        answer.refuses_saying(400, "invalid_quota", "send either `delta` or `set`, in quota units");
    }
    for note in ["x".repeat(101), "two\nlines".to_owned()] {
        let message = "`note` must have at most 100 characters, without control or invisible characters";
        let answer = admin.post(&wallet, json!({ "delta": 1, "note": note })).await;
        answer.refuses_saying(400, "invalid_text", message);
    }
    assert_eq!(ana.get("/api/user/self").await.ok()["quota"], 1000);
    let absent = admin.post(&format!("{USERS}/999999/quota"), json!({ "set": 1 })).await;
    absent.refuses_saying(404, "not_found", "there is no such user");
}
