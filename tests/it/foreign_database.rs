//! A database of another program, such as one that a stray `DATABASE_URL` names, is refused before anything is written.

use sqlx::PgPool;

use crate::harness::ROOT_PASSWORD;
use crate::harness::database::{empty, url};
use crate::harness::process::run;

/// Every command that opens the database.
const COMMANDS: [&[&str]; 6] = [
    &["serve"],
    &["migrate"],
    &["user", "create", "ana"],
    &["user", "unlock", "root"],
    &["gateway", "list"],
    &["import", "new-api", "postgres://127.0.0.1:1/theirs"],
];

async fn execute(pool: &PgPool, statement: &'static str) {
    sqlx::raw_sql(statement).execute(pool).await.unwrap();
}

async fn relations(pool: &PgPool) -> Vec<String> {
    let select = "select relname::text from pg_class where relnamespace = 'public'::regnamespace order by 1";
    sqlx::query_scalar(select).fetch_all(pool).await.unwrap()
}

/// Asserts that every command ends with code 2, names this table, and writes nothing.
async fn is_refused(pool: &PgPool, table: &str) {
    let before = relations(pool).await;
    for command in COMMANDS {
        let dir = tempfile::tempdir().unwrap();
        let url = url(pool);
        let settings = [("DATABASE_URL", url.as_str()), ("KEYMETER_ROOT__PASSWORD", ROOT_PASSWORD)];
        let output = run(dir.path(), &settings, command);
        assert_eq!(output.status.code(), Some(2), "{command:?} {output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        let expected = format!(
            "has tables of another program (such as `{table}`) and none of Keymeter; nothing was written. Check \
             DATABASE_URL, or create an empty database and use that one"
        );
        assert!(said.contains(&expected) && !said.contains("postgres://"), "{said}");
        assert!(!dir.path().join("data/master.key").exists(), "{command:?}");
    }
    assert_eq!(relations(pool).await, before);
}

#[sqlx::test(migrations = false)]
async fn a_database_of_another_program_is_refused_before_anything_is_written(pool: PgPool) {
    empty(&pool).await;
    execute(&pool, "create table orders (id bigint); create table users (id bigint)").await;
    is_refused(&pool, "orders").await;
    // Also one of a program that uses the same library for its migrations, or has a table of the same name.
    execute(
        &pool,
        "create table _sqlx_migrations (version bigint primary key, description text not null, \
         installed_on timestamptz not null default now(), success boolean not null, checksum bytea not null, \
         execution_time bigint not null); \
         insert into _sqlx_migrations values (1, 'theirs', now(), true, '\\x00', 1); \
         create table installation (id bigint)",
    )
    .await;
    is_refused(&pool, "installation").await;
}

#[sqlx::test(migrations = false)]
async fn an_empty_list_of_migrations_and_tables_elsewhere_are_no_other_program(pool: PgPool) {
    empty(&pool).await;
    execute(
        &pool,
        "create schema other; create table other.orders (id bigint); create view numbers as select 1 as one",
    )
    .await;
    // What a first start leaves that was killed before the first migration.
    execute(
        &pool,
        "create table _sqlx_migrations (version bigint primary key, description text not null, \
         installed_on timestamptz not null default now(), success boolean not null, checksum bytea not null, \
         execution_time bigint not null)",
    )
    .await;
    let dir = tempfile::tempdir().unwrap();
    let url = url(&pool);
    for _ in 0..2 {
        let output = run(dir.path(), &[("DATABASE_URL", url.as_str())], &["migrate"]);
        assert!(output.status.success(), "{output:?}");
    }
    // Tables that are added beside ours do not matter.
    execute(&pool, "create table a_report (id bigint)").await;
    let output = run(dir.path(), &[("DATABASE_URL", url.as_str())], &["user", "create", "ana"]);
    assert!(output.status.success(), "{output:?}");
}
