//! An import that is run again: it adds what is missing, also after kill -9, and touches no balance.

use std::process::Stdio;

use serde_json::json;
use sqlx::{Connection, PgPool};
use sqlx_sqlite::SqliteConnection;

use crate::harness::MASTER_KEY;
use crate::harness::database::{contents, url};
use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::other_service::{Here, fixture, new_api_sqlite, sqlite, with_now};
use crate::harness::process::keymeter;
use crate::harness::wait::eventually;

/// 2,000 accounts with two keys and one day of usage each.
const MANY: &str = "
    with recursive n (id) as (select 1 union all select id + 1 from n where id < 2000)
    insert into users (id, username, password, role, status, quota, used_quota, request_count, access_token)
    select id, 'user' || id, '', case when id = 1 then 100 else 1 end, 1, id * 10, id, 1, printf('%032d', id) from n;
    insert into tokens (id, user_id, \"key\", status, name, created_time, expired_time, remain_quota, unlimited_quota, used_quota)
    select id * 2 + k, id, printf('%024d%024d', id, k), 1, 'key', 1, -1, 100, k, id
    from users, (select 0 as k union all select 1);
    insert into logs (user_id, created_at, type, token_name, model_name, quota, token_id)
    select user_id, NOW - 86400, 2, name, 'o1', 3, id from tokens;";

async fn execute(source: &str, sql: &'static str) {
    let mut connection = SqliteConnection::connect(&format!("sqlite://{source}")).await.unwrap();
    sqlx::raw_sql(sql).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// Accounts, tokens, access tokens, the sums of wallets, keys and usage.
async fn totals(pool: &PgPool) -> Vec<i64> {
    sqlx::query_scalar(
        "select array[(select count(*) from users), (select count(*) from tokens), (select count(*) from access_tokens), \
         (select sum(quota + used_quota) from users), (select sum(remain_quota + used_quota) from tokens), \
         (select sum(quota) from usage_imported), (select count(*) from imports)]::bigint[]",
    )
    .fetch_one(pool)
    .await
    .unwrap()
}

#[sqlx::test(migrations = false)]
async fn an_import_that_was_killed_is_completed_by_the_next_run(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    let source = sqlite(dir.path(), fixture("new_api.sqlite.sql") + &with_now(MANY)).await;
    assert!(here.run(&["migrate"]).status.success());
    let imported = async || -> i64 {
        sqlx::query_scalar("select count(*) from imports where kind = 'user'").fetch_one(&pool).await.unwrap()
    };
    let database = url(&pool);
    let settings = [("DATABASE_URL", database.as_str()), ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY)];
    for _ in 0..2 {
        let before = imported().await;
        let mut command = keymeter(dir.path(), &settings);
        command.args(["import", "new-api", &source]).stdout(Stdio::null()).stderr(Stdio::null());
        let mut process = command.spawn().unwrap();
        eventually("the import has begun", async || imported().await > before + 50).await;
        process.kill().unwrap();
        process.wait().unwrap();
        assert!(imported().await < 2_000, "it was killed in the middle");
        here.assert_doctor_finds_nothing();
    }
    let last = here.import(&source, &[]);
    assert_eq!(last.code, Some(0), "{}", last.stderr);
    let (done, present) = (&last.report["accounts"]["imported"], &last.report["accounts"]["present"]);
    assert_eq!(done.as_i64().unwrap() + present.as_i64().unwrap(), 2_000);
    let sum = 2_000 * 2_001 / 2;
    assert_eq!(totals(&pool).await, [2_000, 4_000, 2_000, sum * 11, 4_000 * 100 + 2 * sum, 12_000, 10_000]);
    here.assert_doctor_finds_nothing();
    assert_ledger_invariants(&pool).await;

    let nothing = here.import(&source, &[]);
    let requests = "select array[count(*), count(distinct foreign_id)] from requests_imported";
    let requests: Vec<i64> = sqlx::query_scalar(requests).fetch_one(&pool).await.unwrap();
    assert_eq!(requests, [4_000, 4_000]);
    assert_eq!(nothing.report["requests"]["imported"], json!(0));
    assert_eq!(nothing.report["accounts"], json!({ "found": 2_000, "imported": 0, "present": 2_000, "left_out": 0 }));
    assert_eq!(nothing.report["keys"], json!({ "found": 4_000, "imported": 0, "present": 4_000, "left_out": 0 }));
    assert_eq!(totals(&pool).await, [2_000, 4_000, 2_000, sum * 11, 4_000 * 100 + 2 * sum, 12_000, 10_000]);
}

#[sqlx::test(migrations = false)]
async fn another_run_adds_what_is_new_and_touches_no_balance(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    let source = new_api_sqlite(dir.path()).await;
    assert_eq!(here.import(&source, &["--history", "none"]).code, Some(0));
    // The account spends here, and its token is renamed; there, balances change, and an account and a token are added.
    sqlx::query("update users set quota = 77 where id = 2").execute(&pool).await.unwrap();
    sqlx::query("update tokens set name = 'renamed', remain_quota = 5 where id = 11").execute(&pool).await.unwrap();
    sqlx::query("update users set deleted_time = 1 where id = 6").execute(&pool).await.unwrap();
    execute(
        &source,
        "update users set quota = 1000000; update tokens set remain_quota = 1000000 where id = 11; \
         insert into users (id, username, password, status, quota) values (50, 'late', '', 1, 9); \
         insert into tokens (id, user_id, \"key\", status, name, expired_time, remain_quota) values \
           (50, 50, 'lateaccount000000000123456789abcdef0123456789abc', 1, 'late', -1, 3), \
           (51, 2, 'latekey0000000000000123456789abcdef0123456789abc', 1, 'late key', -1, 4);",
    )
    .await;
    let again = here.import(&source, &[]);
    assert_eq!(again.code, Some(0), "{}", again.stderr);
    assert_eq!(again.report["accounts"], json!({ "found": 8, "imported": 1, "present": 6, "left_out": 1 }));
    assert_eq!(again.report["findings"]["user_gone"]["count"], json!(1));
    assert_eq!(again.report["usage"]["accounts"], json!(2));
    let balances: Vec<(i64, i64)> =
        sqlx::query_as("select id, quota from users where id in (2, 50) order by id").fetch_all(&pool).await.unwrap();
    assert_eq!(balances, [(2, 77), (50, 9)]);
    let tokens: Vec<(i64, String, i64)> =
        sqlx::query_as("select id, name, remain_quota from tokens where id in (11, 50, 51) order by id")
            .fetch_all(&pool)
            .await
            .unwrap();
    assert_eq!(tokens, [(11, "renamed".into(), 5), (50, "late".into(), 3), (51, "late key".into(), 4)]);
    here.assert_doctor_finds_nothing();
    assert_ledger_invariants(&pool).await;
}

#[sqlx::test(migrations = false)]
async fn ids_that_are_created_after_an_import_are_above_the_imported_ones(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    assert_eq!(here.import(&new_api_sqlite(dir.path()).await, &[]).code, Some(0));
    let created = here.run(&["user", "create", "new"]);
    assert!(created.status.success(), "{}", String::from_utf8_lossy(&created.stderr));
    let id: i64 = sqlx::query_scalar("select id from users where username = 'new'").fetch_one(&pool).await.unwrap();
    assert!(id > 8, "{id}");
}

#[sqlx::test(migrations = false)]
async fn two_installations_are_moved_to_one_with_new_ids(pool: PgPool) {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let here = Here { dir: first.path(), pool: &pool };
    let new_api = new_api_sqlite(first.path()).await;
    let one_api = sqlite(second.path(), fixture("one_api.sqlite.sql")).await;
    assert_eq!(here.import(&new_api, &["--source", "east"]).code, Some(0));
    let other = here.import(&one_api, &["--source", "west", "--new-ids"]);
    assert_eq!(other.code, Some(0), "{}", other.stdout);
    assert_eq!(other.report["accounts"]["imported"], json!(2));
    let kept: i64 = sqlx::query_scalar("select count(*) from imports where source = 'west' and foreign_id = local_id")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(kept, 0);
    // Another run needs no option: it goes on as the first.
    assert_eq!(here.import(&one_api, &["--source", "west"]).report["accounts"]["present"], json!(2));
    here.assert_doctor_finds_nothing();
}

#[sqlx::test(migrations = false)]
async fn another_installation_is_not_added_to_the_one_of_the_same_name(pool: PgPool) {
    let (first, second) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let here = Here { dir: first.path(), pool: &pool };
    let new_api = new_api_sqlite(first.path()).await;
    let one_api = sqlite(second.path(), fixture("one_api.sqlite.sql")).await;
    assert_eq!(here.import(&new_api, &[]).code, Some(0));
    let before = contents(&pool).await;
    let refused = |arguments: &[&str], message: &str| {
        let blocked = here.import(&one_api, arguments);
        let expected = json!([{ "code": "other_installation", "message": message }]);
        assert_eq!((blocked.code, &blocked.report["blockers"]), (Some(2), &expected), "{}", blocked.stdout);
    };
    let nothing_shows = "nothing shows that this is the installation that was imported as `new-api`: no key, password or \
                         access token is the same; if it is another one, name it with --source NAME";
    // The two roots have the same id.
    execute(&one_api, "update users set username = 'boss', password = 'another hash' where id = 1").await;
    for arguments in [&["--dry-run"][..], &[], &["--new-ids"]] {
        refused(arguments, nothing_shows);
    }
    // Their tokens too.
    execute(&one_api, "update tokens set id = id + 10").await;
    refused(
        &[],
        "this is another installation than the one that was imported as `new-api`: 3 of its keys, such as that of the token \
         11, differ from those that were imported with the same ids; name it with --source NAME",
    );
    assert_eq!(contents(&pool).await, before);
    let named = here.import(&one_api, &["--source", "one-api", "--new-ids"]);
    assert_eq!((named.code, &named.report["accounts"]["imported"]), (Some(0), &json!(2)), "{}", named.stdout);
    here.assert_doctor_finds_nothing();
}

#[sqlx::test(migrations = false)]
async fn a_newer_copy_of_the_same_installation_goes_on_also_after_names_and_keys_changed(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    let source = new_api_sqlite(dir.path()).await;
    assert_eq!(here.import(&source, &[]).code, Some(0));
    // A token gets another key here. There, people change their names and passwords, and a token is deleted.
    sqlx::query("update tokens set key_digest = decode(repeat('ab', 32), 'hex'), key_foreign = false where id = 11")
        .execute(&pool)
        .await
        .unwrap();
    execute(
        &source,
        "update users set username = 'Anne', password = 'changed', access_token = 'changedchangedchangedchangedchan' \
           where id = 2; \
         update tokens set deleted_at = '2026-02-01 00:00:00' where id = 12; \
         insert into tokens (id, user_id, \"key\", status, name, expired_time, remain_quota) values \
           (51, 2, 'latekey0000000000000123456789abcdef0123456789abc', 1, 'late key', -1, 4);",
    )
    .await;
    let again = here.import(&source, &[]);
    assert_eq!(again.code, Some(0), "{}", again.stdout);
    assert_eq!(
        again.report["keys"]["imported"],
        json!(1),
        "the key that was replaced here does not come back, not even by a copy of it"
    );
    let renamed = json!([{ "user_id": 2, "detail": { "from": "Ana", "to": "Anne" } }]);
    assert_eq!(again.report["findings"]["renamed_there"]["rows"], renamed);

    // An account that nothing proves is not taken for the one that had its id.
    execute(
        &source,
        "update users set username = 'else' where id = 8; \
         insert into tokens (id, user_id, \"key\", status, name, expired_time, remain_quota) values \
           (52, 8, 'elsekey0000000000000123456789abcdef0123456789abc', 1, 'else', -1, 4);",
    )
    .await;
    let blocked = here.import(&source, &[]);
    let message = "the account 8 was called \"empty-group\" when it was imported as `new-api` and is called \"else\" now, and \
                   none of its keys, its password and its access token is the same; rename it there if it is the same \
                   person, and name another installation with --source NAME";
    let expected = json!([{ "code": "other_installation", "message": message }]);
    assert_eq!((blocked.code, &blocked.report["blockers"]), (Some(2), &expected));
}

#[tokio::test]
async fn an_import_into_the_private_postgres_needs_no_server() {
    use crate::harness::{Client, Server};
    let dir = tempfile::tempdir().unwrap();
    let source = sqlite(dir.path(), fixture("one_api.sqlite.sql")).await;
    let output = crate::harness::process::run(dir.path(), &[], &["import", "one-api", &source]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    let server = Server::start(dir.path(), &[]).await;
    let mut ben = Client::with(&server, "benbenbenbenbenbenbenbenbenbenbe");
    ben.headers.insert("new-api-user", "2".parse().unwrap());
    assert_eq!(ben.get("/api/token/").await.ok()["total"], json!(2));
    let root = Client::signed_in(&server, "root", "correct horse").await;
    assert_eq!(root.get("/api/user/self").await.ok()["role"], json!(100));
}
