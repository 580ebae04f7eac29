//! Specification §10.7: many users in one call, all or none, and the undo of top-ups.

use futures_util::future::join_all;
use http::{HeaderValue, Method};
use serde_json::{Value, json};
use sqlx::PgPool;
use tempfile::NamedTempFile;
use tokio::task::JoinSet;

use crate::harness::gateway::asks;
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::{Answer, Caller, TestApp};

const BULK: &str = "/api/admin/users/bulk";
const MAX: i64 = 500_000_000_000_000;
const TOO_LOW: &str = "your role does not allow this: administrators manage users, root manages everyone";

const GROUPS: &str = r#"
    [groups.default]
    description = ""
    ratio = "1"
    [groups.vip]
    description = ""
    ratio = "0.5"
"#;

/// The service, an administrator, and two users with these wallets.
async fn app_with_users(pool: PgPool, wallets: [i64; 2]) -> (TestApp, Caller, [Caller; 2]) {
    let app = TestApp::new(pool).await;
    let (carla, users) = (app.admin("carla").await, [app.enabled_user("ana").await, app.enabled_user("ben").await]);
    for (user, wallet) in users.iter().zip(wallets) {
        app.fills(user, wallet).await;
    }
    (app, carla, users)
}

async fn posts_keyed(caller: &Caller, key: &str, body: &Value) -> Answer {
    let mut request = caller.request(Method::POST, BULK);
    request.headers_mut().insert("idempotency-key", HeaderValue::from_str(key).unwrap());
    *request.body_mut() = body.to_string().into();
    caller.send(request).await
}

fn is_replayed(answer: &Answer) -> bool {
    answer.header("idempotency-replayed") == Some("true")
}

async fn wallets(app: &TestApp, users: &[Caller; 2]) -> [i64; 2] {
    let mut found = [0; 2];
    for (wallet, user) in found.iter_mut().zip(users) {
        let sql = "select quota from users where id = $1";
        *wallet = sqlx::query_scalar(sql).bind(user.id).fetch_one(&app.pool).await.unwrap();
    }
    found
}

async fn count(app: &TestApp, sql: &'static str) -> i64 {
    sqlx::query_scalar(sql).fetch_one(&app.pool).await.unwrap()
}

/// The newest entry of this action about a user.
async fn last_entry(admin: &Caller, action: &str, user: &Caller) -> Value {
    let path = format!("/api/admin/audit?action={action}&subject_kind=user&subject_id={}", user.id);
    admin.get(&path).await.ok()["items"][0].clone()
}

/// What is left in the wallets, before and after, in the order of the answer.
fn steps(data: &Value) -> Vec<(&str, i64, i64)> {
    let quota = |state: &Value| state["quota"].as_i64().unwrap();
    let step = |user: &Value| (quota(&user["before"]), quota(&user["after"]));
    let users = data["users"].as_array().unwrap();
    users.iter().map(|user| (user["username"].as_str().unwrap(), step(user).0, step(user).1)).collect()
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s10_7_users_are_topped_up_by_ids_names_and_a_file(pool: PgPool) {
    let (app, carla, users) = app_with_users(pool, [1_000, 2_000]).await;
    let [ana, ben] = &users;
    let answer = carla.post(BULK, json!({ "ids": [ben.id, ana.id], "add_quota": 5, "note": " March " })).await;
    let data = answer.ok();
    let limits = json!({ "day": -1, "week": -1, "month": -1 });
    let state = |quota: i64| json!({ "quota": quota, "period_limits": limits, "group": "default", "status": 1 });
    let of_ben = json!({ "id": ben.id, "username": "ben", "before": state(2_000), "after": state(2_005) });
    assert_eq!((&data["dry_run"], &data["users"][0]), (&json!(false), &of_ben));
    assert_eq!(steps(&data), [("ben", 2_000, 2_005), ("ana", 1_000, 1_005)]);
    let batch = data["undo"]["undo"].as_str().unwrap();
    assert_ne!(batch, answer.header("x-request-id").unwrap(), "callers choose that");
    assert_eq!(data["undo"], json!({ "ids": [ben.id, ana.id], "undo": batch }));
    let entry = last_entry(&carla, "user.quota_granted", ana).await;
    let details = json!({ "from": "1000", "to": "1005", "note": "March", "batch": batch });
    assert_eq!((&entry["details"], &entry["actor_name"]), (&details, &json!("carla")));

    let by_name = carla.post(BULK, json!({ "usernames": ["ANA", " ben "], "usd": "0.01" })).await.ok();
    assert_eq!(steps(&by_name), [("ana", 1_005, 6_005), ("ben", 2_005, 7_005)]);
    let csv = "\u{feff}user,usd,note\r\nBen,0.5,\"for ben, alone\"\r\nana,0.000002\r\n";
    let by_file = carla.post(BULK, json!({ "csv": csv, "note": "all" })).await.ok();
    assert_eq!(steps(&by_file), [("ben", 7_005, 257_005), ("ana", 6_005, 6_006)]);
    for (user, note) in [(ana, "all"), (ben, "for ben, alone")] {
        assert_eq!(last_entry(&carla, "user.quota_granted", user).await["details"]["note"], note);
    }
    let taken = carla.post(BULK, json!({ "ids": [ana.id, ben.id], "add_quota": -6_006 })).await.ok();
    assert_eq!(steps(&taken), [("ana", 6_006, 0), ("ben", 257_005, 250_999)]);
    assert_eq!(wallets(&app, &users).await, [0, 250_999]);
    assert_eq!(count(&app, "select count(*) from audit_log where action = 'user.edited'").await, 0);
    assert_ledger_invariants(&app.pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s10_7_limits_groups_and_status_take_effect_at_once(pool: PgPool) {
    let file = NamedTempFile::new().unwrap();
    std::fs::write(file.path(), GROUPS).unwrap();
    let app = TestApp::with_file(pool, file.path()).await;
    let (carla, ana, ben) = (app.admin("carla").await, app.enabled_user("ana").await, app.enabled_user("ben").await);
    let gateway = app.gateway().await;
    app.fills(&ana, 100).await;
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "remain_quota": 50 })).await;
    let verifies = async || asks(&gateway, "verify", &json!({ "key": key })).await.ok();
    assert_eq!(verifies().await["valid"], true);
    let change = json!({
        "ids": [ana.id, ben.id], "period_limits": { "day": 7 }, "group": "vip", "status": 2, "add_quota": 1,
        "note": "leave",
    });
    let data = carla.post(BULK, change.clone()).await.ok();
    let limits = json!({ "day": 7, "week": -1, "month": -1 });
    assert_eq!(data["users"][0]["before"]["status"], 1);
    let after = json!({ "quota": 101, "period_limits": limits, "group": "vip", "status": 2 });
    assert_eq!(data["users"][0]["after"], after);
    let refused = verifies().await;
    assert_eq!((&refused["valid"], &refused["reason"]), (&json!(false), &json!("user_disabled")));
    ana.get("/api/user/self").await.refuses(403, "user_disabled");
    let entry = last_entry(&carla, "user.edited", &ana).await;
    assert_eq!(entry["details"], json!({ "fields": "status,group,period_limits" }));
    let read = carla.get(&format!("/api/admin/users/{}", ana.id)).await.ok();
    let fields = ["quota", "group", "status", "disabled_by", "period_limits"].map(|field| read[field].clone());
    assert_eq!(fields, [json!(101), json!("vip"), json!(2), json!("administrator"), limits]);

    // The same again changes only the wallets, and writes no edit.
    carla.post(BULK, change).await.ok();
    assert_eq!(count(&app, "select count(*) from audit_log where action = 'user.edited'").await, 2);
    let enabled = carla.post(BULK, json!({ "usernames": ["ana", "ben"], "status": 1 })).await.ok();
    assert_eq!((&enabled["users"][1]["after"]["status"], &enabled["undo"]), (&json!(1), &json!(null)));
    ana.get("/api/user/self").await.refuses(401, "not_signed_in");
    assert_eq!(verifies().await["valid"], true);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s10_7_a_dry_run_says_what_would_be_and_changes_nothing(pool: PgPool) {
    let (app, carla, users) = app_with_users(pool, [1_000, 2_000]).await;
    let entries = count(&app, "select count(*) from audit_log").await;
    let mut body = json!({ "csv": "ana,1\nben,2", "status": 2, "dry_run": true });
    let data = posts_keyed(&carla, "k1", &body).await.ok();
    assert_eq!((&data["dry_run"], &data["undo"]), (&json!(true), &json!(null)));
    assert_eq!(steps(&data), [("ana", 1_000, 501_000), ("ben", 2_000, 1_002_000)]);
    assert_eq!(data["users"][1]["after"]["status"], 2);
    let unknown = carla.post(BULK, json!({ "csv": "ana,1\neve,2", "dry_run": true })).await;
    unknown.refuses_saying(404, "not_found", "line 2, `eve`: there is no such user");
    assert_eq!(wallets(&app, &users).await, [1_000, 2_000]);
    users[0].get("/api/user/self").await.ok();
    assert_eq!(count(&app, "select count(*) from audit_log").await, entries);
    assert_eq!(count(&app, "select count(*) from idempotency_keys").await, 0);
    body["dry_run"] = json!(false);
    let done = posts_keyed(&carla, "k1", &body).await;
    assert!(!is_replayed(&done));
    assert_eq!(done.ok()["users"], data["users"], "it does what it said");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s10_7_a_request_that_is_sent_again_is_carried_out_once(pool: PgPool) {
    let (app, carla, users) = app_with_users(pool, [1_000, 2_000]).await;
    let [ana, ben] = &users;
    let body = json!({ "usernames": ["ana", "ben"], "add_quota": 70 });
    let answers = join_all((0..10).map(|_| posts_keyed(&carla, "k1", &body))).await;
    assert_eq!(answers.iter().filter(|answer| !is_replayed(answer)).count(), 1);
    assert_eq!(wallets(&app, &users).await, [1_070, 2_070]);
    for answer in &answers {
        let data = answer.ok();
        assert_eq!(data["users"][1]["after"]["quota"], 2_070);
        assert_eq!(data["users"][1]["before"].is_null(), is_replayed(answer));
        assert_eq!(data["undo"], json!({ "ids": [ana.id, ben.id], "undo": "k1" }));
    }
    posts_keyed(&carla, "k1", &json!({ "usernames": ["ana"], "add_quota": 70 }))
        .await
        .refuses(422, "idempotency_key_reused");
    // What was changed since cannot be taken back any more; who was deleted is left out.
    app.fills(ana, 5).await;
    let replay = posts_keyed(&carla, "k1", &body).await.ok();
    assert_eq!(replay["users"][0]["after"]["quota"], 5);
    assert_eq!(replay["undo"], json!({ "ids": [ben.id], "undo": "k1" }));
    carla.delete(&format!("/api/admin/users/{}", ben.id)).await.ok();
    let replay = posts_keyed(&carla, "k1", &body).await.ok();
    assert_eq!((replay["users"].as_array().unwrap().len(), &replay["undo"]), (1, &json!(null)));
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s10_7_one_user_who_cannot_be_changed_keeps_all_as_they_are(pool: PgPool) {
    let (app, carla, users) = app_with_users(pool, [1_000, MAX - 1]).await;
    let ([ana, ben], root, dora) = (&users, app.root().await, app.admin("dora").await);
    let refused = async |who: &Caller, body: Value, (status, error, message): (u16, &str, &str)| {
        let answer = who.post(BULK, body).await;
        answer.refuses_saying(status, error, message);
        answer.json()["faults"].clone()
    };
    let fault = |place: Value, error: &str, message: &str| {
        let mut fault = place;
        fault["error"] = json!(error);
        fault["message"] = json!(message);
        fault
    };
    let absent = "there is no such user";
    let faults = refused(
        &carla,
        json!({ "csv": "ana,1\neve,2\n\nbo,3" }),
        (404, "not_found", "line 2, `eve`: there is no such user; 1 more in `faults`"),
    )
    .await;
    let at = |line: i64, username: &str| fault(json!({ "line": line, "username": username }), "not_found", absent);
    assert_eq!(faults, json!([at(2, "eve"), at(4, "bo")]));
    let faults = refused(
        &carla,
        json!({ "ids": [ana.id, 999_999], "add_quota": 1 }),
        (404, "not_found", "user 999999: there is no such user"),
    )
    .await;
    assert_eq!(faults, json!([fault(json!({ "id": 999_999 }), "not_found", absent)]));
    let message = format!("`dora`: {TOO_LOW}; 1 more in `faults`");
    let faults =
        refused(&carla, json!({ "ids": [dora.id, ana.id, root.id], "status": 2 }), (403, "role_too_low", &message))
            .await;
    let place = |user: &Caller| json!({ "id": user.id, "username": user.username });
    let low = |user: &Caller| fault(place(user), "role_too_low", TOO_LOW);
    assert_eq!(faults, json!([low(&dora), low(&root)]));
    let own = "you cannot change the status of your own account";
    refused(&root, json!({ "ids": [ana.id, root.id], "status": 2 }), (409, "own_account", &format!("`root`: {own}")))
        .await;
    let full = "`ben`: the wallet holds 499999999999999 quota units, and may hold 500000000000000 at most";
    refused(&carla, json!({ "ids": [ana.id, ben.id], "add_quota": 2 }), (400, "invalid_quota", full)).await;
    let short = "`ana`: the wallet holds 1000 quota units, less than the 1001 to take away";
    refused(&carla, json!({ "ids": [ben.id, ana.id], "add_quota": -1_001 }), (409, "insufficient_quota", short)).await;
    let twice = "`ANA`: this user is named twice";
    refused(&carla, json!({ "usernames": ["ana", "ANA"], "add_quota": 1 }), (400, "invalid_users", twice)).await;
    let comma = "line 2, `ben`: write the amount with a point, as in 12.50; a note of digits alone needs double quotes";
    refused(&carla, json!({ "csv": "ana,12.50\nben,12,50" }), (400, "invalid_usd", comma)).await;
    assert_eq!(wallets(&app, &users).await, [1_000, MAX - 1]);
    assert_eq!(count(&app, "select count(*) from users where status = 2").await, 0);

    // Root may, also with its own wallet.
    let data = root.post(BULK, json!({ "ids": [dora.id, root.id], "add_quota": 3 })).await.ok();
    assert_eq!(steps(&data), [("dora", 0, 3), ("root", 0, 3)]);
    root.patch(&format!("/api/admin/users/{}", ana.id), json!({ "status": 2 })).await.ok();
    let by_root = "`ana`: root disabled this account; only root can enable it again";
    let enables = json!({ "ids": [ana.id], "status": 1 });
    refused(&carla, enables.clone(), (403, "account_disabled_by_root", by_root)).await;
    root.post(BULK, enables).await.ok();
    ben.post(BULK, json!({ "ids": [ben.id], "add_quota": 1 })).await.refuses(403, "not_an_administrator");
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s10_7_the_body_says_whom_to_change_and_how(pool: PgPool) {
    let (app, carla, users) = app_with_users(pool, [1_000, 2_000]).await;
    let id = users[0].id;
    let many: Vec<i64> = (1..=1_001).collect();
    let whom = "say whom to change: `ids`, `usernames` or `csv`";
    let what = "say what to change: `add_quota`, `usd`, `period_limits`, `group` or `status`";
    let undo = "`undo` takes back what was added, and changes nothing else; send it with `ids`";
    let entries = "`ids` must have 1 to 1000 entries";
    let usd = "`usd` must be a decimal number from 0 to 1000000000";
    let own = "each line of `csv` has its own amount; leave `add_quota` and `usd` out";
    let near = "`add_qouta` is not known here; the nearest known name is `add_quota`";
    let table = [
        (json!({}), "missing_field", what),
        (json!({ "ids": [id], "period_limits": {} }), "missing_field", what),
        (json!({ "add_quota": 1 }), "missing_field", whom),
        (json!({ "undo": "x" }), "missing_field", whom),
        (
            json!({ "ids": [id], "usernames": ["ana"], "add_quota": 1 }),
            "invalid_users",
            "send only one of `ids`, `usernames` and `csv`",
        ),
        (json!({ "ids": [], "add_quota": 1 }), "invalid_users", entries),
        (json!({ "ids": many, "add_quota": 1 }), "invalid_users", entries),
        (json!({ "csv": "user,usd" }), "invalid_users", "`csv` must have 1 to 1000 entries"),
        (
            json!({ "ids": [id], "add_quota": 1, "usd": 1 }),
            "ambiguous_amount",
            "send either `add_quota` or `usd`, not both",
        ),
        (json!({ "csv": "ana,1", "usd": 1 }), "ambiguous_amount", own),
        (json!({ "ids": [id], "usd": "12,50" }), "invalid_usd", usd),
        (json!({ "ids": [id], "usd": -1 }), "invalid_usd", usd),
        (json!({ "ids": [id], "status": 3 }), "invalid_status", "`status` must be 1 (enable) or 2 (disable)"),
        (json!({ "ids": [id], "group": "gold" }), "invalid_group", "`group` must be one of: default"),
        (json!({ "ids": [id], "undo": "x", "add_quota": 1 }), "invalid_field", undo),
        (json!({ "csv": "ana,1", "undo": "x" }), "invalid_field", undo),
        (json!({ "ids": [id], "status": 1, "add_qouta": 5 }), "invalid_field", near),
    ];
    for (body, error, message) in table {
        carla.post(BULK, body).await.refuses_saying(400, error, message);
    }
    carla.post(BULK, json!({ "ids": [id], "period_limits": { "hour": 1 } })).await.refuses(400, "invalid_period_limit");
    carla.post(BULK, json!({ "usernames": ["a b"], "add_quota": 1 })).await.refuses(400, "invalid_username");
    carla
        .post(BULK, json!({ "ids": [id], "add_quota": 1, "note": "x".repeat(101) }))
        .await
        .refuses(400, "invalid_text");
    assert_eq!(wallets(&app, &users).await, [1_000, 2_000]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s10_7_a_thousand_users_are_topped_up_in_one_call(pool: PgPool) {
    let app = TestApp::new(pool).await;
    let carla = app.admin("carla").await;
    let many = "insert into users (username, username_folded, username_skeleton, password_hash, created_time, \
                display_name, email, role, status, group_name, quota, used_quota, request_count, token_api_enabled) \
                select 'u' || n, 'u' || n, text_range('u' || n, 'u' || n, '[]'), '', 1, '', '', 1, 1, 'default', n, 0, \
                0, false from generate_series(1, 1000) n";
    sqlx::query(many).execute(&app.pool).await.unwrap();
    let csv: String = (1..=1_000).map(|n| format!("u{n},0.00002\n")).collect();
    let answer = posts_keyed(&carla, "k1", &json!({ "csv": csv })).await;
    let data = answer.ok();
    assert_eq!(steps(&data)[999], ("u1000", 1_000, 1_010));
    let sum = "select sum(quota)::bigint from users";
    assert_eq!(count(&app, sum).await, 500_500 + 10_000);
    assert_eq!(count(&app, "select count(*) from audit_log where action = 'user.quota_granted'").await, 1_000);
    let undone = carla.post(BULK, data["undo"].clone()).await.ok();
    assert_eq!(undone["users"].as_array().unwrap().len(), 1_000);
    assert_eq!(count(&app, sum).await, 500_500);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s10_7_an_undo_takes_back_exactly_what_was_added_once(pool: PgPool) {
    let (app, carla, users) = app_with_users(pool, [1_000, 2_000]).await;
    let ([ana, ben], gateway) = (&users, app.gateway().await);
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    let body = json!({ "csv": "ana,0.001\nben,0.002", "period_limits": { "month": 9_000 } });
    let undo = carla.post(BULK, body).await.ok()["undo"].clone();
    assert_eq!(wallets(&app, &users).await, [1_500, 3_000]);
    // Neither a charge nor what users do themselves stands in the way.
    asks(&gateway, "charge", &json!({ "key": key, "quota": 1_000 })).await.ok();
    for _ in 0..201 {
        ana.put("/api/user/self", json!({ "display_name": "Ana" })).await.ok();
    }
    let mut dry_run = undo.clone();
    dry_run["dry_run"] = json!(true);
    let said = carla.post(BULK, dry_run).await.ok();
    assert_eq!((wallets(&app, &users).await, &said["undo"]), ([500, 3_000], &json!(null)));
    let undone = posts_keyed(&carla, "u1", &undo).await.ok();
    assert_eq!(undone["users"], said["users"]);
    assert_eq!(steps(&undone), [("ana", 500, 0), ("ben", 3_000, 2_000)]);
    assert_eq!(undone["undo"], json!(null));
    assert_eq!(undone["users"][1]["after"]["period_limits"]["month"], 9_000, "only quota is taken back");
    let entry = last_entry(&carla, "user.quota_granted", ben).await;
    let details = ["from", "to", "note"].map(|name| entry["details"][name].clone());
    assert_eq!(details, [json!("3000"), json!("2000"), json!("undo")]);

    let again = "`ana`: `carla` changed this user since, so nothing is taken back; 1 more in `faults`";
    carla.post(BULK, undo.clone()).await.refuses_saying(409, "user_changed", again);
    assert!(is_replayed(&posts_keyed(&carla, "u1", &undo).await));
    assert_eq!(wallets(&app, &users).await, [0, 2_000]);
    assert_ledger_invariants(&app.pool).await;
}

/// Callers and proxies may send one `X-Request-Id` with several requests.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s10_7_an_undo_is_of_one_call_even_if_all_have_the_same_request_id(pool: PgPool) {
    let (app, carla, users) = app_with_users(pool, [0, 0]).await;
    let posts = async |body: &Value| {
        let mut request = carla.request(Method::POST, BULK);
        request.headers_mut().insert("x-request-id", HeaderValue::from_static("the-same"));
        *request.body_mut() = body.to_string().into();
        carla.send(request).await
    };
    let adds = |units: i64| json!({ "ids": [users[0].id], "add_quota": units });
    let first = posts(&adds(50)).await.ok()["undo"].clone();
    let second = posts(&adds(30)).await.ok()["undo"].clone();
    posts(&first).await.refuses(409, "user_changed");
    assert_eq!(wallets(&app, &users).await, [80, 0]);
    posts(&second).await.ok();
    assert_eq!(wallets(&app, &users).await, [50, 0]);
    for undo in [&second, &first] {
        posts(undo).await.refuses(409, "user_changed");
    }
    assert_eq!(wallets(&app, &users).await, [50, 0]);
}

/// Accounts are locked meanwhile, so an undo does not read all that somebody wrote into the log.
#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s10_7_an_undo_looks_through_ten_thousand_entries_of_an_account_at_most(pool: PgPool) {
    let (app, carla, users) = app_with_users(pool, [0, 0]).await;
    let body = json!({ "ids": [users[0].id], "add_quota": 50 });
    let undo = carla.post(BULK, body).await.ok()["undo"].clone();
    let mut dry_run = undo.clone();
    dry_run["dry_run"] = json!(true);
    let writes = async |entries: i64| {
        let statement = "insert into audit_log
                (at, actor_id, actor_name, action, subject_kind, subject_id, user_id, ip, request_id, details)
            select 1, $1, 'ana', 'account.edited', 'user', $1, $1, '', '', '{}' from generate_series(1, $2)";
        sqlx::query(statement).bind(users[0].id).bind(entries).execute(&app.pool).await.unwrap();
    };
    writes(9_999).await;
    assert_eq!(carla.post(BULK, dry_run).await.ok()["users"][0]["after"]["quota"], 0);
    writes(1).await;
    carla.post(BULK, undo).await.refuses(409, "user_changed");
    assert_eq!(wallets(&app, &users).await, [50, 0]);
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s10_7_nothing_is_taken_back_if_it_is_spent_or_was_changed_since(pool: PgPool) {
    let (app, carla, users) = app_with_users(pool, [0, 0]).await;
    let ([ana, ben], root, gateway) = (&users, app.root().await, app.gateway().await);
    let (_, key) = ana.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await;
    let adds = json!({ "ids": [ana.id, ben.id], "add_quota": 100 });
    let undo = carla.post(BULK, adds.clone()).await.ok()["undo"].clone();
    asks(&gateway, "charge", &json!({ "key": key, "quota": 1 })).await.ok();
    let spent = carla.post(BULK, undo.clone()).await;
    let short = "the wallet holds 99 quota units, less than the 100 to take away";
    spent.refuses_saying(409, "insufficient_quota", &format!("`ana`: {short}"));
    let fault = json!({ "id": ana.id, "username": "ana", "error": "insufficient_quota", "message": short });
    assert_eq!(spent.json()["faults"], json!([fault]));
    assert_eq!(wallets(&app, &users).await, [99, 100]);

    // Held quota is spent too, until it is released.
    let reservation =
        asks(&gateway, "reserve", &json!({ "key": key, "quota": 50 })).await.ok()["reservation_id"].clone();
    carla.post(BULK, undo.clone()).await.refuses(409, "insufficient_quota");
    asks(&gateway, "release", &json!({ "reservation_id": reservation })).await.ok();

    let message =
        |user: &str, who: &str| format!("`{user}`: `{who}` changed this user since, so nothing is taken back");
    let of_ben = json!({ "ids": [ben.id], "undo": undo["undo"] });
    root.post(BULK, of_ben.clone()).await.refuses_saying(409, "user_changed", &message("ben", "carla"));
    root.patch(&format!("/api/admin/users/{}", ben.id), json!({ "email": "ben@example.org" })).await.ok();
    carla.post(BULK, of_ben).await.refuses_saying(409, "user_changed", &message("ben", "root"));
    app.fills(ana, 500).await;
    let both = format!("{}; 1 more in `faults`", message("ana", "root"));
    carla.post(BULK, undo).await.refuses_saying(409, "user_changed", &both);
    assert_eq!(wallets(&app, &users).await, [500, 100]);

    let dan = app.user("dan").await;
    let never = carla.post(BULK, json!({ "ids": [dan.id], "undo": "k9" })).await;
    never.refuses_saying(409, "user_changed", "`dan`: this call added nothing to this user's wallet");
    // Users whose fault is known are left out.
    let undo = carla.post(BULK, adds).await.ok()["undo"].clone();
    app.fills(ana, 1).await;
    carla.post(BULK, undo.clone()).await.refuses(409, "user_changed");
    carla.post(BULK, json!({ "ids": [ben.id], "undo": undo["undo"] })).await.ok();
    assert_eq!(wallets(&app, &users).await, [1, 100]);
    assert_ledger_invariants(&app.pool).await;
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn s10_7_quota_added_while_users_are_charged_is_exact(pool: PgPool) {
    let (app, carla, users) = app_with_users(pool, [10_000, 10_000]).await;
    let gateway = app.gateway().await;
    let mut keys = Vec::new();
    for user in &users {
        keys.push(user.creates_with_key(json!({ "name": "one", "unlimited_quota": true })).await.1);
    }
    let ids = [[users[0].id, users[1].id], [users[1].id, users[0].id]];
    let mut tasks = JoinSet::new();
    for n in 0..60_usize {
        let (carla, gateway, key, ids) = (carla.clone(), gateway.clone(), keys[n % 2].clone(), ids[n / 3 % 2]);
        let units = i64::try_from(n).unwrap();
        tasks.spawn(async move {
            match n % 3 {
                0 => carla.post(BULK, json!({ "ids": ids, "add_quota": 100 + units })).await.ok(),
                1 => {
                    // Topped up, and taken back unless another call came between.
                    let undo = carla.post(BULK, json!({ "ids": ids, "add_quota": 7 })).await.ok()["undo"].clone();
                    let undone = carla.post(BULK, undo).await;
                    if undone.status == 200 { undone.ok() } else { json!("kept") }
                }
                _ => asks(&gateway, "charge", &json!({ "key": key, "quota": 10 + units })).await.ok(),
            }
        });
    }
    let outcomes = tasks.join_all().await;
    let kept = i64::try_from(outcomes.iter().filter(|outcome| **outcome == json!("kept")).count()).unwrap();
    let added: i64 = (0..60).filter(|n| n % 3 == 0).map(|n| 100 + n).sum();
    let charged = |user: i64| -> i64 { (0..60).filter(|n| n % 3 == 2 && n % 2 == user).map(|n| 10 + n).sum() };
    let expected = [0, 1].map(|user| 10_000 + added + 7 * kept - charged(user));
    assert_eq!(wallets(&app, &users).await, expected);
    assert_ledger_invariants(&app.pool).await;
}
