//! `keymeter import new-api`: databases of new-api and one-api with every oddity are moved, and people, keys and
//! balances go on as before (docs/moving-in.md).

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, PgPool};
use sqlx_mysql::MySqlConnection;

use crate::harness::database::{contents, url};
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::other_service::{
    Here, fixture, new_api_mariadb, new_api_postgres, new_api_sqlite, sqlite, with_now,
};
use crate::harness::{Client, MASTER_KEY, Server};

const KEY: &str = "Zk3vQm9TtY2wRr8uNn5xHh1cGg6bFf0dEe4sAa7pLl3jKk9i";
const UNLIMITED_KEY: &str = "0123456789abcdef0123456789abcdef";

/// The rows of a query, each as JSON.
async fn rows(pool: &PgPool, sql: &str) -> Value {
    let sql = format!("select coalesce(json_agg(r), '[]') from ({sql}) r");
    sqlx::query_scalar(AssertSqlSafe(sql)).fetch_one(pool).await.unwrap()
}

/// The number of rows of each finding in a report, without those of 0.
fn findings(report: &Value) -> Value {
    let counts = report["findings"].as_object().unwrap().iter();
    counts.map(|(name, finding)| (name.clone(), finding["count"].clone())).collect::<serde_json::Map<_, _>>().into()
}

/// What is here after the import of the fixture of new-api.
async fn assert_new_api_was_moved(here: &Here<'_>, report: &Value) {
    let pool = here.pool;
    let counts = |found: i64, imported: i64, left_out: i64| json!({ "found": found, "imported": imported, "present": 0, "left_out": left_out });
    assert_eq!(report["accounts"], counts(7, 7, 0));
    assert_eq!(report["keys"], counts(18, 14, 4));
    assert_eq!(report["access_tokens"], counts(2, 2, 0));
    let found = json!({
        "administrator_imported": 2, "affiliate_quota": 1, "email_dropped": 1, "expired_from_the_start": 1, "ips_dropped": 1, "key_invalid": 1,
        "key_taken": 1, "linked_identity": 1, "no_ip_left": 1, "no_password": 5, "role_unknown": 1, "second_factor": 1,
        "switched_off": 2, "token_capped": 1, "token_debt": 1, "token_deleted": 1, "token_name_changed": 2,
        "token_orphaned": 2, "usage_below_zero": 1, "usage_orphaned": 1, "user_deleted": 1, "user_status_unknown": 1,
        "username_changed": 1, "username_taken": 1, "wallet_capped": 1, "wallet_debt": 1,
    });
    assert_eq!(findings(report), found);
    assert_eq!(report["findings"]["wallet_debt"]["amount"], json!(700));
    assert_eq!(report["findings"]["token_debt"]["amount"], json!(300));
    assert_eq!(report["not_moved"], json!({ "channels": 2, "two-factor secrets": 1 }));
    let max = 500_000_000_000_000_i64;
    let sums = json!({
        "wallets": { "source": 600_000_100_504_307_i64, "imported": max + 100_505_007 },
        "wallets_used": { "source": 70_100, "imported": 70_100 },
        "keys_remaining": { "source": 600_000_000_000_000_i64 - 300 + 1_580, "imported": max + 1_580 },
        "keys_used": { "source": 5_730, "imported": 5_730 },
    });
    assert_eq!(report["sums"], sums);
    let usage = json!({ "accounts": 2, "present": 0, "quota": 151, "requests": 5, "source_quota": 146 });
    assert_eq!(report["usage"], usage);

    let users = "select id, username, role, status, disabled_by, quota, used_quota as used, opening_used as opening, group_name as \"group\", \
                 token_api_enabled as api from users order by id";
    let user = |id: i64, name: &str, role: i64, disabled_by: Value, quota: i64, used: i64, group: &str| {
        let status = if disabled_by.is_null() { 1 } else { 2 };
        json!({ "id": id, "username": name, "role": role, "status": status, "disabled_by": disabled_by, "quota": quota,
                "used": used, "opening": used, "group": group, "api": true })
    };
    let null = || Value::Null;
    let expected = json!([
        user(1, "boss", 100, null(), 100_000_000, 0, "default"),
        user(2, "Ana", 1, null(), 500_000, 70_000, "default"),
        user(3, "coco", 1, null(), 5_000, 100, "default"),
        user(4, "сосо-4", 1, null(), 0, 0, "default"),
        user(5, "debtor", 10, json!(100), 0, 0, "default"),
        user(6, "two_words", 1, null(), max, 0, "vip"),
        user(8, "empty-group", 1, json!(10), 7, 0, "default"),
    ]);
    assert_eq!(rows(pool, users).await, expected);

    let tokens = "select id, user_id as owner, name, switched_off_by is not null as off, expires_at as expiry, remain_quota as remain, \
                  unlimited_quota as unlimited, used_quota as used, opening_used as opening, group_name as \"group\", key_foreign from tokens order by id";
    let token = |id: i64, owner: i64, name: &str, off: bool, expiry: Value, remain: i64, used: i64| {
        let group = match id {
            11 => "vip",
            29 => "auto",
            _ => "",
        };
        json!({ "id": id, "owner": owner, "name": name, "off": off, "expiry": expiry, "remain": remain, "unlimited": id == 12,
                "used": used, "opening": used, "group": group, "key_foreign": true })
    };
    let expected = json!([
        token(11, 2, "prod", false, null(), 1_000, 400),
        token(12, 2, "token 12", false, null(), 0, 5_000),
        token(13, 2, "off", true, null(), 10, 0),
        token(14, 2, "expired", false, json!(1_700_000_003), 10, 0),
        token(15, 2, "why", true, null(), 10, 0),
        token(16, 2, "used up", false, null(), 0, 30),
        token(17, 2, "why not", true, null(), 500, 0),
        token(18, 2, "zero", false, json!(1), 10, 0),
        token(19, 3, "debt", false, null(), 0, 300),
        token(20, 3, "much", false, null(), max, 0),
        token(21, 3, "a name of more than fifty characters, which is cut", false, null(), 10, 0),
        token(22, 3, "nowhere", true, null(), 10, 0),
        token(23, 3, "somewhere", false, null(), 10, 0),
        token(29, 6, "auto", false, null(), 10, 0),
    ]);
    assert_eq!(rows(pool, tokens).await, expected);
    let restricted = "select model_limits_enabled as enabled, model_limits as models, allow_ips as ips, cross_group_retry as retry from tokens where id in (11, 23, 29) order by id";
    let restriction = |models: &str, ips: &str, retry: bool| json!({ "enabled": !models.is_empty(), "models": models, "ips": ips, "retry": retry });
    let expected = [
        restriction("gpt-4o,o3", "10.0.0.1\n192.168.0.0/16", false),
        restriction("", "10.0.0.1", false),
        restriction("", "", true),
    ];
    assert_eq!(rows(pool, restricted).await, json!(expected));

    let usage = "select user_id, token_id, (now() at time zone 'UTC')::date - day as age, model, quota, requests, prompt_tokens as prompt, completion_tokens as completion \
                 from usage_imported order by user_id, age desc, token_id, model";
    let used = |user: i64, token: i64, age: i64, model: &str, [quota, requests, prompt, completion]: [i64; 4]| {
        json!({ "user_id": user, "token_id": token, "age": age, "model": model, "quota": quota, "requests": requests,
                "prompt": prompt, "completion": completion })
    };
    let expected = json!([
        used(2, 0, 2, "gpt-4o", [13, 1, 1, 1]),
        used(2, 12, 2, "gpt-4o", [11, 1, 1, 1]),
        used(2, 11, 1, "gpt-4o", [120, 2, 30, 3]),
        used(2, 11, 1, "o3", [7, 1, 1, 1]),
        used(3, 19, 1, "gpt-4o", [0, 0, 0, 0]),
    ]);
    assert_eq!(rows(pool, usage).await, expected);

    // Single requests of keys that were imported, of the newest days; one of them by the name of its key.
    assert_eq!(report["requests"], json!({ "found": 6, "imported": 4 }));
    let requests = "select user_id, token_id, (now() at time zone 'UTC')::date - to_timestamp(at)::date as age, model, quota, \
                    prompt_tokens as prompt, completion_tokens as completion from requests_imported order by foreign_id";
    let expected = json!([
        { "user_id": 2, "token_id": 11, "age": 1, "model": "gpt-4o", "quota": 100, "prompt": 10, "completion": 1 },
        { "user_id": 2, "token_id": 11, "age": 1, "model": "gpt-4o", "quota": 50, "prompt": 20, "completion": 2 },
        { "user_id": 2, "token_id": 11, "age": 1, "model": "o3", "quota": 7, "prompt": 1, "completion": 1 },
        { "user_id": 2, "token_id": 12, "age": 2, "model": "gpt-4o", "quota": 11, "prompt": 1, "completion": 1 },
    ]);
    assert_eq!(rows(pool, requests).await, expected);
    here.assert_doctor_finds_nothing();
    assert_ledger_invariants(pool).await;
}

#[sqlx::test(migrations = false)]
async fn a_sqlite_file_of_new_api_is_moved_with_every_oddity(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    let imported = here.import(&new_api_sqlite(dir.path()).await, &[]);
    assert_eq!((imported.code, imported.stderr.as_str()), (Some(0), ""), "{}", imported.stdout);
    assert!(
        imported.stdout.starts_with("Before you import, take the traffic away from the other service, wait until"),
        "{}",
        imported.stdout
    );
    assert!(
        imported.stdout.contains("accounts                7 imported; 7 found, 0 here before, 0 left out\n"),
        "{}",
        imported.stdout
    );
    assert_new_api_was_moved(&here, &imported.report).await;
}

#[sqlx::test(migrations = false)]
async fn every_single_request_is_moved_whatever_its_id(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    let source = new_api_postgres(&pool).await;
    // More than are read at once, with ids of five and of six digits; and one with a time in milliseconds.
    let lines = "insert into there.logs (id, user_id, created_at, type, token_name, model_name, quota, token_id) \
                 select n, 2, extract(epoch from now())::bigint - 60, 2, 'prod', 'o1', 1, 11 \
                 from generate_series(94000, 106000) n \
                 union all select 106001, 2, 1773144000000, 2, 'prod', 'o1', 1, 11";
    sqlx::query(lines).execute(&pool).await.unwrap();
    let imported = here.import(&source, &[]);
    assert_eq!(imported.report["requests"], json!({ "found": 12_007, "imported": 12_005 }), "{}", imported.stderr);
}

#[sqlx::test(migrations = false)]
async fn a_mariadb_database_of_new_api_is_moved_with_every_oddity(pool: PgPool) {
    let server = new_api_mariadb().await;
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    for source in [server.url(), server.socket_dsn()] {
        assert_eq!(here.import(&source, &["--dry-run"]).code, Some(0));
    }
    let imported = here.import(&server.dsn(), &[]);
    assert_eq!((imported.code, imported.stderr.as_str()), (Some(0), ""), "{}", imported.stdout);
    assert!(!imported.stdout.contains("p@ss"), "{}", imported.stdout);
    assert_new_api_was_moved(&here, &imported.report).await;
}

#[sqlx::test(migrations = false)]
async fn a_postgres_database_of_new_api_is_moved_with_every_oddity(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    let imported = here.import(&new_api_postgres(&pool).await, &[]);
    assert_eq!((imported.code, imported.stderr.as_str()), (Some(0), ""), "{}", imported.stdout);
    assert_new_api_was_moved(&here, &imported.report).await;
}

#[sqlx::test(migrations = false)]
async fn a_file_of_one_api_is_moved(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    let imported = here.import(&sqlite(dir.path(), fixture("one_api.sqlite.sql")).await, &["--history", "all"]);
    assert_eq!((imported.code, &imported.report["service"]), (Some(0), &json!("one-api")), "{}", imported.stderr);
    let tokens = "select name, remain_quota as remain, unlimited_quota as unlimited, used_quota as used, model_limits_enabled as limited, \
                  model_limits as models, allow_ips as ips from tokens order by id";
    let expected = json!([
        { "name": "one", "remain": 40, "unlimited": false, "used": 60, "limited": true, "models": "gpt-4o,o3", "ips": "10.0.0.0/8\n192.168.1.1" },
        { "name": "two", "remain": 0, "unlimited": true, "used": 30, "limited": false, "models": "", "ips": "" },
    ]);
    assert_eq!(rows(&pool, tokens).await, expected);
    // Its logs name tokens, but have no ids.
    let usage = rows(&pool, "select token_id, quota from usage_imported order by token_id").await;
    assert_eq!(usage, json!([{ "token_id": 1, "quota": 60 }, { "token_id": 2, "quota": 30 }]));
    assert_eq!(imported.report["requests"], json!({ "found": 2, "imported": 2 }));
    let requests = rows(&pool, "select token_id, quota from requests_imported order by token_id").await;
    assert_eq!(requests, json!([{ "token_id": 1, "quota": 60 }, { "token_id": 2, "quota": 30 }]));
    assert_eq!(
        findings(&imported.report),
        json!({ "administrator_imported": 1, "no_password": 1, "user_deleted": 1, "token_orphaned": 1 })
    );
    here.assert_doctor_finds_nothing();
}

#[sqlx::test(migrations = false)]
async fn a_dry_run_says_what_an_import_would_do_and_writes_nothing(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    let source = new_api_sqlite(dir.path()).await;
    assert!(here.run(&["user", "create", "first", "--role", "root"]).status.success());
    let before = contents(&pool).await;
    let dry = here.import(&source, &["--dry-run", "--new-ids"]);
    assert_eq!(dry.code, Some(0), "{}", dry.stderr);
    assert!(dry.stdout.contains("7 would be imported"), "{}", dry.stdout);
    assert_eq!(contents(&pool).await, before);
    let real = here.import(&source, &["--new-ids"]);
    let without_mode = |report: &Value| {
        let mut report = report.clone();
        report["dry_run"] = json!(null);
        report["requests"]["imported"] = json!(null);
        report
    };
    assert_eq!(without_mode(&dry.report), without_mode(&real.report));
    assert_eq!(dry.report["requests"], json!({ "found": 6, "imported": null }));
}

#[sqlx::test(migrations = false)]
async fn people_and_their_programs_go_on_as_before_on_servers_that_were_running(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    here.run(&["migrate"]);
    let config = dir.path().join("keymeter.toml");
    let database = url(&pool);
    let settings = [("DATABASE_URL", database.as_str()), ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY)];
    let mut command = crate::harness::process::keymeter(dir.path(), &settings);
    command.args(["--config", config.to_str().unwrap(), "serve"]);
    let server = Server::spawn(dir.path(), command).await;
    let imported = here.import(&new_api_sqlite(dir.path()).await, &[]);
    assert_eq!(imported.code, Some(0), "{}", imported.stdout);
    assert_eq!(findings(&imported.report)["root_replaced"], json!(1));

    // Root signs in with the name and the password of the other service; its old access token works too.
    let root = Client::signed_in(&server, "boss", "correct horse").await;
    assert_eq!(root.get("/api/user/self").await.ok()["id"], json!(1));
    let mut program = Client::with(&server, "0123456789abcdef0123456789abcdef");
    program.headers.insert("new-api-user", "2".parse().unwrap());
    let listed = program.get("/api/token/?size=100").await.ok();
    assert_eq!(listed["total"], json!(8));
    let mut moved = listed["items"].as_array().unwrap().iter();
    assert!(moved.all(|token| token["imported"] == json!(true)), "imported keys carry a mark");
    Client::signed_in(&server, "Ana", "correct horse").await;

    // What the import did is told to administrators, and to nobody else.
    let runs = root.get("/api/admin/imports").await.ok();
    let (run, told) = (&runs[0], &runs[0]["report"]);
    assert_eq!((runs.as_array().unwrap().len(), &run["name"], &run["complete"]), (1, &json!("new-api"), &json!(true)));
    for part in ["accounts", "keys", "access_tokens", "sums", "findings", "not_moved", "notes", "source", "service"] {
        assert_eq!(told[part], imported.report[part], "{part}");
    }
    program.get("/api/admin/imports").await.refuses(403, "not_an_administrator");

    // A gateway spends with the old keys; the holder of a key asks for its usage.
    let gateway = root.post("/api/admin/gateways", json!({ "name": "edge" })).await.ok();
    let gateway = Client::with(&server, gateway["credential"].as_str().unwrap());
    crate::harness::wait::eventually("the server admits the imported keys", async || {
        gateway.post("/api/gateway/verify", json!({ "key": UNLIMITED_KEY })).await.ok()["valid"] == json!(true)
    })
    .await;
    gateway.post("/api/gateway/charge", json!({ "key": format!("sk-{KEY}"), "quota": 100, "model": "o3" })).await.ok();
    gateway.post("/api/gateway/charge", json!({ "key": UNLIMITED_KEY, "quota": 50 })).await.ok();
    let usage = Client::with(&server, &format!("Bearer sk-{KEY}")).get("/api/usage/token/").await.ok();
    assert_eq!((&usage["total_used"], &usage["total_available"]), (&json!(500), &json!(900)));
    let overview = program.get("/api/user/self/overview").await.ok();
    let spent: i64 = overview["daily"].as_array().unwrap().iter().map(|day| day["requests"].as_i64().unwrap()).sum();
    assert_eq!(spent, 5 + 2);
    here.assert_doctor_finds_nothing();
    assert_ledger_invariants(&pool).await;
}

/// In Go, what is null is 0: neither enabled nor unexpired.
#[sqlx::test(migrations = false)]
async fn what_is_null_there_opens_nothing_here(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    let sql = fixture("new_api.sqlite.sql")
        + "INSERT INTO users (id, username, password, role, status, quota) VALUES (1, 'root', '', 100, 1, 5), (2, 'ana', '', 1, NULL, 5);
           INSERT INTO tokens (id, user_id, key, status, name, expired_time, remain_quota) VALUES
             (1, 1, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', NULL, 'no status', -1, 5),
             (2, 1, 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', 1, 'no expiry', NULL, 5);";
    let imported = here.import(&sqlite(dir.path(), sql).await, &[]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    let tokens = rows(&pool, "select id, switched_off_by is null as is_on, expires_at from tokens order by id").await;
    let expected = json!([
        { "id": 1, "is_on": false, "expires_at": null },
        { "id": 2, "is_on": true, "expires_at": 1 },
    ]);
    assert_eq!(tokens, expected);
    assert_eq!(rows(&pool, "select id, status from users order by id").await[1]["status"], 2);
}

/// The collations of MySQL take these names for equal.
#[sqlx::test(migrations = false)]
async fn names_in_the_history_of_mariadb_stay_apart(pool: PgPool) {
    let server = new_api_mariadb().await;
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    let sql = with_now(
        "insert into logs (user_id, created_at, type, model_name, quota, token_id) values
         (3, NOW - 60, 2, 'GPT-4o', 1, 0), (3, NOW - 60, 2, 'gpt-4o', 2, 0),
         (3, NOW - 60, 2, '\u{1f680}', 4, 0), (3, NOW - 60, 2, '\u{1f389}', 8, 0)",
    );
    let mut connection = MySqlConnection::connect(&server.url()).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
    assert_eq!(here.import(&server.dsn(), &[]).code, Some(0));
    let models = "select model, sum(quota) as quota from usage_imported where user_id = 3 and token_id = 0
                  and quota in (1, 2, 4, 8) group by model order by quota";
    let expected = json!([
        { "model": "GPT-4o", "quota": 1 }, { "model": "gpt-4o", "quota": 2 },
        { "model": "\u{1f680}", "quota": 4 }, { "model": "\u{1f389}", "quota": 8 },
    ]);
    assert_eq!(rows(&pool, models).await, expected);
}
