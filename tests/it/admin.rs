//! Spec §10.4 to §10.6, what administrators do: accounts, wallets, requests, tokens, gateways, the audit log.

use serde_json::{Value, json};
use sqlx::PgPool;

use crate::harness::{Caller, ROOT_PASSWORD, START, TestApp};

const USERS: &str = "/api/admin/users";
const REQUESTS: &str = "/api/admin/token_api_requests";
const TOKENS: &str = "/api/admin/tokens";
const GATEWAYS: &str = "/api/admin/gateways";
const AUDIT: &str = "/api/admin/audit";
const TOO_LOW: &str = "your role does not allow this: administrators manage users, root manages everyone";

fn of(user: &Caller) -> String {
    format!("{USERS}/{}", user.id)
}

/// One field of every item of a page, and the page's total.
async fn page(caller: &Caller, path: &str, field: &str) -> (Vec<Value>, i64) {
    let data = caller.get(path).await.ok();
    let items = data["items"].as_array().unwrap().iter().map(|item| item[field].clone()).collect();
    (items, data["total"].as_i64().unwrap())
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn accounts_are_listed_newest_first_and_found_by_a_part_of_a_name(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (ana, _anabel, _ben) = (app.user("ana").await, app.user("Anabel").await, app.user("ben").await);
    ana.put("/api/user/self", json!({ "display_name": "The Captain", "email": "ana@ships.example" })).await.ok();
    let admin = app.admin("carla").await;
    let names = async |query: &str| page(&admin, &format!("{USERS}?{query}"), "username").await;
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
    });
    assert_eq!(data, json!({ "page": 0, "page_size": 10, "total": 1, "items": [expected] }));
    let short = admin.get(&format!("{USERS}?keyword=a")).await;
    short.refuses_saying(400, "invalid_search", "a search needs at least 2 characters beside `%`");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_account_is_made_as_asked_for(pool: PgPool) {
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
    assert_eq!(page(&root, USERS, "id").await.1, 3);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn each_field_of_an_account_is_changed_alone(pool: PgPool) {
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
async fn an_own_limit_of_tokens_counts_at_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, ana) = (app.root().await, app.enabled_user("ana").await);
    root.patch(&of(&ana), json!({ "max_tokens": 1 })).await.ok();
    ana.creates(json!({ "name": "one" })).await;
    let full = ana.post("/api/token/", json!({ "name": "two" })).await;
    full.refuses_saying(409, "token_limit_reached", "you have reached your limit of 1 tokens; delete one first");
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
async fn nobody_changes_their_own_role_or_status_or_deletes_themselves(pool: PgPool) {
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
async fn a_deleted_account_loses_everything_and_gives_its_name_free(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, ana) = (app.root().await, app.enabled_user("ana").await);
    let by_token = ana.by_access_token().await;
    let token = ana.creates(json!({ "name": "one" })).await;
    let answer = root.delete(&of(&ana)).await;
    assert_eq!(answer.json(), json!({ "success": true, "message": "" }));
    ana.get("/api/user/self").await.refuses(401, "not_signed_in");
    by_token.get("/api/user/self").await.refuses(401, "invalid_credential");
    assert_eq!(page(&root, TOKENS, "id").await.1, 0);
    assert_eq!(page(&root, USERS, "username").await.0, [json!("root")]);
    root.delete(&of(&ana)).await.refuses_saying(404, "not_found", "there is no such user");
    root.patch(&of(&ana), json!({ "status": 1 })).await.refuses(404, "not_found");
    let again = app.enabled_user("ana").await;
    assert_ne!(again.id, ana.id);
    again.get(&format!("/api/token/{token}")).await.refuses(404, "not_found");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_wallet_is_topped_up_or_set_within_its_range(pool: PgPool) {
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
    assert_eq!(ana.get("/api/user/self").await.ok()["quota"], 1000);
    let absent = admin.post(&format!("{USERS}/999999/quota"), json!({ "set": 1 })).await;
    absent.refuses_saying(404, "not_found", "there is no such user");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn requests_for_enablement_are_listed_by_state_and_answered_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (admin, ana, ben) = (app.admin("carla").await, app.user("ana").await, app.user("ben").await);
    for user in [&ana, &ben] {
        user.post("/api/user/token_api_request", json!({ "reason": format!("for {}", user.username) })).await.ok();
    }
    assert_eq!(page(&admin, REQUESTS, "username").await, (vec![json!("ben"), json!("ana")], 2));
    let oldest = admin.get(REQUESTS).await.ok()["items"][1].clone();
    let expected = json!({
        "id": oldest["id"], "user_id": ana.id, "username": "ana", "reason": "for ana", "state": "pending",
        "created_time": START, "decided_time": null, "note": "",
    });
    assert_eq!(oldest, expected);
    let path = format!("{REQUESTS}/{}", oldest["id"]);
    for wrong in [json!({}), json!({ "decision": "yes" })] {
        let answer = admin.post(&path, wrong).await;
        answer.refuses_saying(400, "invalid_decision", "`decision` must be `approve` or `refuse`");
    }
    app.clock.advance(5);
    let decided = admin.post(&path, json!({ "decision": "approve" })).await.ok();
    assert_eq!((&decided["state"], &decided["decided_time"]), (&json!("approved"), &json!(START + 5)));
    for (state, names) in [("pending", vec![json!("ben")]), ("approved", vec![json!("ana")]), ("refused", vec![])] {
        assert_eq!(page(&admin, &format!("{REQUESTS}?state={state}"), "username").await.0, names);
    }
    let message = "`state` must be `pending`, `approved` or `refused`";
    admin.get(&format!("{REQUESTS}?state=new")).await.refuses_saying(400, "invalid_state", message);
    for decision in ["approve", "refuse"] {
        let again = admin.post(&path, json!({ "decision": decision })).await;
        again.refuses_saying(409, "already_decided", "this request has been decided already");
    }
    let absent = admin.post(&format!("{REQUESTS}/999999"), json!({ "decision": "approve" })).await;
    absent.refuses_saying(404, "not_found", "there is no such request");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn everybodys_tokens_are_shown_without_their_keys(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (admin, ana, ben) = (app.admin("carla").await, app.enabled_user("ana").await, app.enabled_user("ben").await);
    let (of_ana, ana_key) = ana.creates_with_key(json!({ "name": "Deploy" })).await;
    let (of_ben, ben_key) = ben.creates_with_key(json!({ "name": "laptop" })).await;
    let gone = ben.creates(json!({ "name": "gone" })).await;
    ben.delete(&format!("/api/token/{gone}")).await.ok();
    assert_eq!(page(&admin, TOKENS, "id").await, (vec![json!(of_ben), json!(of_ana)], 2));
    assert_eq!(page(&admin, &format!("{TOKENS}?user_id={}", ana.id), "id").await.0, [json!(of_ana)]);
    assert_eq!(page(&admin, &format!("{TOKENS}?keyword=dep"), "id").await.0, [json!(of_ana)]);
    assert_eq!(page(&admin, &format!("{TOKENS}?keyword=dep&user_id={}", ben.id), "id").await.1, 0);
    let answer = admin.get(TOKENS).await;
    assert!(![ana_key, ben_key].iter().any(|key| answer.text.contains(&key[3..])), "{}", answer.text);
    assert!(answer.ok()["items"].as_array().unwrap().iter().all(|token| token["key"] == ""));
    let message = "`user_id` must be a whole number";
    admin.get(&format!("{TOKENS}?user_id=ana")).await.refuses_saying(400, "invalid_query", message);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn anybodys_token_is_switched_off_and_on_by_the_rules(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (admin, ana) = (app.admin("carla").await, app.enabled_user("ana").await);
    let (token, key) = ana.creates_with_key(json!({ "name": "one", "expired_time": START + 60 })).await;
    let path = format!("{TOKENS}/{token}/status");
    for status in [2, 2, 1, 1, 2] {
        let switched = admin.post(&path, json!({ "status": status })).await;
        assert_eq!((&switched.ok()["status"], &switched.ok()["key"]), (&json!(status), &json!("")));
        assert!(!switched.text.contains(&key[3..]));
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

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_gateway_credential_is_shown_once(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let admin = app.admin("carla").await;
    let made = admin.post(GATEWAYS, json!({ "name": "edge" })).await;
    assert_eq!(made.header("cache-control"), Some("no-store"));
    let data = made.ok();
    let credential = data["credential"].as_str().unwrap();
    let list = admin.get(GATEWAYS).await;
    assert!(!list.text.contains(credential), "{}", list.text);
    let mut expected = data.clone();
    expected.as_object_mut().unwrap().remove("credential");
    assert_eq!(list.ok(), json!([expected]));
    let path = format!("{GATEWAYS}/{}", data["id"]);
    admin.delete(&path).await.ok();
    admin.delete(&path).await.refuses_saying(404, "not_found", "there is no such gateway");
    assert_eq!(admin.get(GATEWAYS).await.ok(), json!([]));
    for body in [json!({}), json!({ "name": " " })] {
        admin.post(GATEWAYS, body).await.refuses_saying(400, "missing_field", "`name` is required");
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn the_audit_log_tells_who_did_what_to_which_token_from_where(pool: PgPool) {
    let app = TestApp::with(pool, &[("KEYMETER_SERVER__TRUSTED_PROXIES", "192.0.2.0/24")]).await;
    let (admin, ana) = (app.admin("carla").await, app.enabled_user("ana").await);
    let token = ana.creates(json!({ "name": "one" })).await;
    let mut reveal = ana.request(http::Method::GET, &format!("/api/token/{token}"));
    reveal.headers_mut().insert("x-request-id", "my-request-7".parse().unwrap());
    reveal.headers_mut().insert("x-forwarded-for", "198.51.100.66, 203.0.113.9".parse().unwrap());
    let peer: std::net::SocketAddr = "192.0.2.1:4711".parse().unwrap();
    reveal.extensions_mut().insert(axum::extract::ConnectInfo(peer));
    ana.send(reveal).await.ok();
    ana.put("/api/token/", json!({ "id": token, "name": "two" })).await.ok();
    admin.post(&format!("{TOKENS}/{token}/status"), json!({ "status": 2 })).await.ok();
    admin.post(&format!("{TOKENS}/{token}/status"), json!({ "status": 1 })).await.ok();
    ana.delete(&format!("/api/token/{token}")).await.ok();
    let of_token = format!("{AUDIT}?subject_kind=token&subject_id={token}");
    let actions =
        ["token.deleted", "token.enabled", "token.disabled", "token.edited", "token.key_revealed", "token.created"];
    assert_eq!(page(&admin, &of_token, "action").await, (actions.map(Value::from).to_vec(), 6));
    let actors = ["ana", "carla", "carla", "ana", "ana", "ana"];
    assert_eq!(page(&admin, &of_token, "actor_name").await.0, actors.map(Value::from).to_vec());
    let line = admin.get(&format!("{of_token}&action=token.key_revealed")).await.ok()["items"][0].clone();
    let expected = json!({
        "id": line["id"], "at": START, "actor_id": ana.id, "actor_name": "ana", "action": "token.key_revealed",
        "subject_kind": "token", "subject_id": token, "user_id": ana.id, "ip": "203.0.113.9",
        "request_id": "my-request-7", "details": {},
    });
    assert_eq!(line, expected);
    let by_admin = page(&admin, &format!("{of_token}&actor_id={}", admin.id), "action").await.0;
    assert_eq!(by_admin, ["token.enabled", "token.disabled"].map(Value::from));
    assert_eq!(page(&admin, &format!("{AUDIT}?user_id={}&action=token.created", ana.id), "subject_id").await.1, 1);
    assert_eq!(page(&admin, &format!("{AUDIT}?action=nothing"), "id").await.1, 0);
    for field in ["actor_id", "subject_id", "user_id"] {
        let answer = admin.get(&format!("{AUDIT}?{field}=x")).await;
        answer.refuses_saying(400, "invalid_query", &format!("`{field}` must be a whole number"));
    }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn every_act_of_an_administrator_leaves_a_line(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let (root, ana) = (app.root().await, app.user("ana").await);
    let request = ana.post("/api/user/token_api_request", json!({ "reason": "x" })).await.ok();
    root.post(&format!("{REQUESTS}/{}", request["id"]), json!({ "decision": "refuse" })).await.ok();
    let request = ana.post("/api/user/token_api_request", json!({ "reason": "x" })).await.ok();
    root.post(&format!("{REQUESTS}/{}", request["id"]), json!({ "decision": "approve" })).await.ok();
    root.post(&format!("{}/quota", of(&ana)), json!({ "delta": 9 })).await.ok();
    root.patch(&of(&ana), json!({ "status": 2 })).await.ok();
    let gateway = root.post(GATEWAYS, json!({ "name": "edge" })).await.ok()["id"].clone();
    root.delete(&format!("{GATEWAYS}/{gateway}")).await.ok();
    root.delete(&of(&ana)).await.ok();
    for action in [
        "user.created",
        "user.edited",
        "user.deleted",
        "user.quota_granted",
        "token_api.refused",
        "token_api.approved",
        "gateway.created",
        "gateway.revoked",
    ] {
        let path = format!("{AUDIT}?actor_id={}&action={action}", root.id);
        assert_eq!(page(&root, &path, "id").await.1, 1, "{action}");
    }
    assert_eq!(page(&root, &format!("{AUDIT}?action=token_api.requested"), "actor_id").await.0, [ana.id, ana.id]);
    let granted = root.get(&format!("{AUDIT}?action=user.quota_granted")).await.ok()["items"][0]["details"].clone();
    assert_eq!(granted, json!({ "from": "0", "to": "9" }));
}
