//! Columns of the other service that are not read: restrictions do not vanish without a word (docs/moving-in.md).

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, PgPool};
use sqlx_mysql::MySqlConnection;

use crate::harness::database::contents;
use crate::harness::other_service::{Here, fixture, new_api_mariadb, new_api_postgres, new_api_sqlite, sqlite};

/// What a fork added, for all three databases (MySQL with `ANSI_QUOTES`). The account 7 and the token 27 are deleted.
const FORK: &str = "
    alter table users add column daily_token_limit bigint default 0;
    alter table users add column monthly_limit numeric(10, 6) default 5.5;
    alter table users add column nickname varchar(20) default 'none';
    alter table tokens add column auto_groups varchar(100) default '';
    alter table tokens add column unread_limit bigint default -1;
    update users set daily_token_limit = 1000 where id in (2, 3, 7);
    update users set monthly_limit = 6 where id = 4;
    update users set nickname = 'bee' where id = 2;
    update users set remark = 'pays late' where id in (5, 6);
    update users set setting = '{\"model_limits\":[\"o3\"],\"notify_type\":\"email\",\"record_ip_log\":true,\"group\":\"\"}' where id = 2;
    update users set setting = '{\"notify_type\":\"webhook\"}' where id = 3;
    update tokens set auto_groups = '[\"vip\"]' where id in (11, 27);";

fn lost() -> Value {
    json!([
        { "detail": { "name": "tokens.auto_groups", "rows": 1 } },
        { "detail": { "name": "users.daily_token_limit", "rows": 2 } },
        { "detail": { "name": "users.monthly_limit", "rows": 1 } },
        { "detail": { "name": "users.setting.model_limits", "rows": 1 } },
    ])
}

/// The import is blocked until the columns are accepted.
fn assert_restrictions_are_told(here: &Here<'_>, source: &str) {
    let blocked = here.import(source, &[]);
    let message = "these columns look like restrictions and are not read, so what they forbid there is open here: \
                   `tokens.auto_groups` (rows: 1), `users.daily_token_limit` (rows: 2), `users.monthly_limit` (rows: 1), \
                   `users.setting.model_limits` (rows: 1); accept that with --accept \
                   tokens.auto_groups,users.daily_token_limit,users.monthly_limit,users.setting.model_limits";
    let expected = json!([{ "code": "restrictions_lost", "message": message }]);
    assert_eq!((blocked.code, &blocked.report["blockers"]), (Some(2), &expected), "{}", blocked.stderr);
    assert_eq!(blocked.report["findings"]["restriction_lost"]["rows"], lost());
    let not_moved = json!({
        "channels": 2, "two-factor secrets": 1, "values of `users.nickname`": 1, "values of `users.remark`": 2,
        "values of `users.setting.notify_type`": 2, "values of `users.setting.record_ip_log`": 1,
    });
    assert_eq!(blocked.report["not_moved"], not_moved);
    assert!(blocked.stdout.contains("          users.daily_token_limit, rows: 2\n"), "{}", blocked.stdout);

    let some = here.import(source, &["--accept", "tokens.auto_groups,users.setting.model_limits"]);
    let blocker = some.report["blockers"][0]["message"].as_str().unwrap();
    assert!(blocker.ends_with("--accept users.daily_token_limit,users.monthly_limit"), "{blocker}");
    let accepted = "tokens.auto_groups,users.daily_token_limit,users.monthly_limit,users.setting.model_limits";
    let all = here.import(source, &["--accept", accepted]);
    assert_eq!(all.code, Some(0), "{}", all.stderr);
    assert_eq!(all.report["findings"]["restriction_lost"]["rows"], lost());
}

#[sqlx::test(migrations = false)]
async fn restrictions_in_columns_of_sqlite_that_are_not_read_block_the_import(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    let source = new_api_sqlite(dir.path()).await;
    let mut connection = sqlx_sqlite::SqliteConnection::connect(&format!("sqlite://{source}")).await.unwrap();
    sqlx::raw_sql(FORK).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    assert_eq!(here.import(&source, &[]).code, Some(2));
    let before = contents(&pool).await;
    assert_eq!(here.import(&source, &[]).code, Some(2));
    assert_eq!(contents(&pool).await, before);
    assert_restrictions_are_told(&here, &source);
}

#[sqlx::test(migrations = false)]
async fn restrictions_in_columns_of_mariadb_that_are_not_read_block_the_import(pool: PgPool) {
    let server = new_api_mariadb().await;
    let mut connection = MySqlConnection::connect(&server.url()).await.unwrap();
    sqlx::raw_sql(FORK).execute(&mut connection).await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    assert_restrictions_are_told(&Here { dir: dir.path(), pool: &pool }, &server.dsn());
}

#[sqlx::test(migrations = false)]
async fn restrictions_in_columns_of_postgres_that_are_not_read_block_the_import(pool: PgPool) {
    let source = new_api_postgres(&pool).await;
    let sql = format!("set search_path = there; {FORK} reset search_path");
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut *pool.acquire().await.unwrap()).await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    assert_restrictions_are_told(&Here { dir: dir.path(), pool: &pool }, &source);
}

/// A database that has the columns of both services.
#[sqlx::test(migrations = false)]
async fn the_lists_of_one_api_count_as_unread_beside_those_of_new_api(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    let sql = fixture("one_api.sqlite.sql") + "alter table tokens add column model_limits text;";
    let blocked = here.import(&sqlite(dir.path(), sql).await, &[]);
    let expected = json!([{ "detail": { "name": "tokens.models", "rows": 1 } }]);
    assert_eq!((blocked.code, &blocked.report["findings"]["restriction_lost"]["rows"]), (Some(2), &expected));
}
