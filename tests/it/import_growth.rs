//! A rehearsal says if the other service still works (docs/moving-in.md).

use std::time::Duration;

use serde_json::json;
use sqlx::{Connection, Executor, PgPool};
use sqlx_mysql::MySqlConnection;
use sqlx_sqlite::SqliteConnection;

use crate::harness::other_service::{Here, new_api_mariadb, new_api_postgres, new_api_sqlite};

const SPEND: &str = "update users set used_quota = used_quota + 7 where id = 2";

/// Spends in the other database all the time, while a rehearsal looks for a second.
async fn assert_work_is_noticed<C: Connection>(here: &Here<'_>, source: &str, mut connection: C, spend: &'static str)
where
    for<'c> &'c mut C: Executor<'c, Database = C::Database>,
{
    let quiet = here.import(source, &["--dry-run", "--watch", "1"]);
    assert_eq!((quiet.code, &quiet.report["notes"]), (Some(0), &json!([])), "{}", quiet.stderr);
    let (dir, pool, copied) = (here.dir.to_owned(), here.pool.clone(), source.to_owned());
    let rehearsal = tokio::task::spawn_blocking(move || {
        Here { dir: &dir, pool: &pool }.import(&copied, &["--dry-run", "--watch", "1"])
    });
    while !rehearsal.is_finished() {
        connection.execute(spend).await.unwrap();
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let watched = rehearsal.await.unwrap();
    let note = &watched.report["notes"][0];
    assert_eq!((watched.code, &note["code"]), (Some(0), &json!("still_growing")), "{}", watched.stderr);
    let grown: i64 = note["source_value"].as_str().unwrap().parse().unwrap();
    assert!(grown > 0 && grown % 7 == 0, "{grown}");
    let message = note["message"].as_str().unwrap();
    let start = format!("what accounts there have used changed by {grown} quota units in ");
    let end = "so the other service still works; before the import, take the traffic away from it, wait until this stands still, \
               and stop it then";
    assert!(message.starts_with(&start) && message.ends_with(end), "{message}");
    assert!(watched.stdout.contains(&format!("Note: {message}")), "{}", watched.stdout);
    let blind = here.import(source, &["--dry-run"]);
    assert_eq!(blind.report["notes"], json!([]), "the harness gives --watch 0");
}

#[sqlx::test(migrations = false)]
async fn a_rehearsal_on_a_sqlite_file_says_if_the_other_service_still_works(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let source = new_api_sqlite(dir.path()).await;
    let connection = SqliteConnection::connect(&format!("sqlite://{source}")).await.unwrap();
    assert_work_is_noticed(&Here { dir: dir.path(), pool: &pool }, &source, connection, SPEND).await;
}

#[sqlx::test(migrations = false)]
async fn a_rehearsal_on_mariadb_says_if_the_other_service_still_works(pool: PgPool) {
    let server = new_api_mariadb().await;
    let dir = tempfile::tempdir().unwrap();
    let connection = MySqlConnection::connect(&server.url()).await.unwrap();
    assert_work_is_noticed(&Here { dir: dir.path(), pool: &pool }, &server.dsn(), connection, SPEND).await;
}

#[sqlx::test(migrations = false)]
async fn a_rehearsal_on_postgres_says_if_the_other_service_still_works(pool: PgPool) {
    let source = new_api_postgres(&pool).await;
    let dir = tempfile::tempdir().unwrap();
    let connection = pool.acquire().await.unwrap().detach();
    let spend = "update there.users set used_quota = used_quota + 7 where id = 2";
    assert_work_is_noticed(&Here { dir: dir.path(), pool: &pool }, &source, connection, spend).await;
}
