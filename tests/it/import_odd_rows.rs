//! Rows that no program would write, and that an import must survive (docs/moving-in.md).

use std::os::unix::fs::PermissionsExt;

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, PgPool};
use sqlx_mysql::MySqlConnection;

use crate::harness::ledger_invariants::assert_ledger_invariants;
use crate::harness::other_service::{
    Here, fixture, new_api_mariadb, new_api_postgres, new_api_sqlite, sqlite, with_now,
};

/// Large ids, sums beyond 2^63, a name of 20 kB and a time in milliseconds, for all three databases.
fn odd_rows() -> String {
    let name = "m".repeat(20_000);
    let lines = "(2, NOW - 60, 2, 'x', 9223372036854775807, 9223372036854775807, 1, 11), ".repeat(3);
    with_now(&format!(
        "insert into users (id, username, password, role, status, quota) values
           (549755813887, 'last', '', 1, 1, 1), (549755813888, 'half', '', 1, 1, 2),
           (4611686018427387904, 'large', '', 1, 1, 4), (9223372036854775807, 'largest', '', 1, 1, 8);
         insert into tokens (id, user_id, \"key\", status, name, expired_time, remain_quota) values
           (549755813887, 549755813887, 'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa', 1, 'last', -1, 1),
           (4611686018427387904, 4611686018427387904, 'bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb', 1, 'large', -1, 2),
           (9223372036854775807, 9223372036854775807, 'cccccccccccccccccccccccccccccccc', 1, 'largest', -1, 4);
         insert into logs (user_id, created_at, type, model_name, quota, prompt_tokens, completion_tokens, token_id) values
           {lines}(2, NOW - 60, 6, 'refunded', -9223372036854775807, 0, 0, 11),
           (3, NOW - 60, 2, '{name}1', 10, 1, 1, 19), (3, NOW - 60, 2, '{name}2', 20, 1, 1, 19),
           (3, NOW000, 2, 'late', 40, 1, 1, 19), (9223372036854775807, NOW - 60, 2, 'o3', 5, 1, 1, 9223372036854775807);"
    ))
}

async fn assert_odd_rows_are_moved(here: &Here<'_>, source: &str) {
    let imported = here.import(source, &[]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    let rows = |finding: &str| imported.report["findings"][finding]["rows"].clone();
    let (large, largest) = (4_611_686_018_427_387_904_i64, i64::MAX);
    let out_of_range = json!([
        { "user_id": 549_755_813_888_i64 },
        { "user_id": large }, { "user_id": large, "token_id": large },
        { "user_id": largest }, { "user_id": largest, "token_id": largest },
    ]);
    assert_eq!(rows("id_out_of_range"), out_of_range);
    let cut = rows("usage_model_cut");
    assert_eq!(cut, json!([{ "user_id": 3, "detail": { "text": "m".repeat(128) } }]));

    // The last id that is kept, and the new ones after it.
    let ids: Vec<(String, i64)> =
        sqlx::query_as("select username, id from users where id > 8 order by id").fetch_all(here.pool).await.unwrap();
    let first = 549_755_813_887_i64;
    assert!(ids.len() == 4 && ids[0] == ("last".into(), first) && ids[3].1 < first + 20, "{ids:?}");
    let tokens: Vec<(String, i64)> = sqlx::query_as(
        "select t.name, t.id from tokens t join users u on u.id = t.user_id where u.id > 8 order by t.id",
    )
    .fetch_all(here.pool)
    .await
    .unwrap();
    assert!(tokens[0] == ("last".into(), first) && tokens[2].1 < first + 20, "{tokens:?}");
    // Accounts can be made after that.
    assert!(here.run(&["user", "create", "new"]).status.success());

    let usage: Vec<(i64, String, i64, i64, i64)> = sqlx::query_as(
        "select user_id, model, quota, prompt_tokens, ((now() at time zone 'UTC')::date - day)::bigint from usage_imported \
         where model in ('x', 'refunded', 'late', repeat('m', 128)) order by user_id, model",
    )
    .fetch_all(here.pool)
    .await
    .unwrap();
    let max = 500_000_000_000_000;
    let (refunded, x) = (usage[0].clone(), usage[1].clone());
    assert_eq!((refunded.1.as_str(), refunded.2), ("refunded", max));
    assert_eq!((x.1.as_str(), x.2, x.3), ("x", max, i64::MAX));
    let late = usage.iter().find(|row| row.1 == "late").unwrap();
    assert!(late.2 == 40 && late.4 <= 1, "{late:?}");
    let long = usage.iter().find(|row| row.1.starts_with('m')).unwrap();
    assert_eq!(long.2, 30);
    here.assert_doctor_finds_nothing();
    assert_ledger_invariants(here.pool).await;

    let again = here.import(source, &[]);
    assert_eq!((again.code, &again.report["accounts"]["imported"]), (Some(0), &json!(0)), "{}", again.stderr);
    assert_eq!(again.report["findings"]["id_out_of_range"], Value::Null);
}

#[sqlx::test(migrations = false)]
async fn odd_rows_of_sqlite_are_moved(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let source = new_api_sqlite(dir.path()).await;
    let mut connection = sqlx_sqlite::SqliteConnection::connect(&format!("sqlite://{source}")).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(odd_rows())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    assert_odd_rows_are_moved(&Here { dir: dir.path(), pool: &pool }, &source).await;
}

#[sqlx::test(migrations = false)]
async fn odd_rows_of_mariadb_are_moved(pool: PgPool) {
    let server = new_api_mariadb().await;
    let mut connection = MySqlConnection::connect(&server.url()).await.unwrap();
    let sql =
        format!("set session sql_mode = 'ANSI_QUOTES'; alter table logs modify model_name longtext; {}", odd_rows());
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    assert_odd_rows_are_moved(&Here { dir: dir.path(), pool: &pool }, &server.dsn()).await;
}

#[sqlx::test(migrations = false)]
async fn odd_rows_of_postgres_are_moved(pool: PgPool) {
    let source = new_api_postgres(&pool).await;
    let sql = format!("set search_path = there; {} reset search_path", odd_rows());
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut *pool.acquire().await.unwrap()).await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    assert_odd_rows_are_moved(&Here { dir: dir.path(), pool: &pool }, &source).await;
}

#[sqlx::test(migrations = false)]
async fn passwords_that_take_too_long_to_check_are_replaced_and_the_report_is_private(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    let sql = fixture("new_api.sqlite.sql")
        + "INSERT INTO users (id, username, password, role, status) VALUES
             (1, 'root', '$2a$12$abcdefghijklmnopqrstuu23JPZtHcGhwXSF41f93o/7vBdDut3Xu', 100, 1),
             (2, 'ana', '$2a$13$abcdefghijklmnopqrstuufJyGQz74MaXA58G4n4SAlu8WLjGODFe', 1, 1);";
    let imported = here.import(&sqlite(dir.path(), sql).await, &[]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    let expected = json!([{ "user_id": 2, "detail": { "text": "cost 13" } }]);
    assert_eq!(imported.report["findings"]["password_too_costly"]["rows"], expected);
    assert_eq!(imported.report["passwords"][0]["username"], json!("ana"));
    let hashes: Vec<String> =
        sqlx::query_scalar("select left(password_hash, 7) from users order by id").fetch_all(&pool).await.unwrap();
    assert_eq!(hashes, ["$2a$12$", "$argon2"]);
    let mode = |name: &str| std::fs::metadata(dir.path().join(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode("report.json"), 0o600);
    let old = dir.path().join("old.json");
    std::fs::write(&old, "{}").unwrap();
    std::fs::set_permissions(&old, std::fs::Permissions::from_mode(0o644)).unwrap();
    let source = dir.path().join("one-api.db");
    let (source, report) = (source.to_str().unwrap(), old.to_str().unwrap());
    here.run(&["import", "new-api", source, "--dry-run", "--watch", "0", "--report", report]);
    assert_eq!(mode("old.json"), 0o600, "also if it was there before");
}

/// `two_fas` and `passkey_credentials` have other columns in other versions.
#[sqlx::test(migrations = false)]
async fn people_with_a_second_factor_are_named(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    let sql = fixture("new_api.sqlite.sql")
        + "ALTER TABLE two_fas ADD COLUMN is_enabled numeric; ALTER TABLE two_fas ADD COLUMN deleted_at datetime;
           CREATE TABLE passkey_credentials (id integer PRIMARY KEY, user_id integer);
           INSERT INTO users (id, username, password, role, status) VALUES
             (1, 'root', '', 100, 1), (2, 'ana', '', 1, 1), (3, 'bob', '', 1, 1), (4, 'cid', '', 1, 1), (5, 'dan', '', 1, 1);
           INSERT INTO two_fas (user_id, secret, is_enabled, deleted_at) VALUES
             (2, 'x', true, null), (3, 'x', false, null), (4, 'x', true, '2026-01-01 00:00:00');
           INSERT INTO passkey_credentials (user_id) VALUES (2), (5);";
    let dry = here.import(&sqlite(dir.path(), sql).await, &["--dry-run"]);
    let expected = json!([
        { "user_id": 2, "detail": { "text": "ana" } },
        { "user_id": 5, "detail": { "text": "dan" } },
    ]);
    assert_eq!((dry.code, &dry.report["findings"]["second_factor"]["rows"]), (Some(0), &expected), "{}", dry.stderr);
}
