//! Migrations: over an empty database, over sample data, twice, and by two processes at once.
//!
//! A migration `NNNN` that moves data brings two files in `tests/it/migrations/`: `NNNN_before.sql` fills the
//! schema as it was before, and `NNNN_after.sql` is a query that answers one `true` if all went well.

use std::borrow::Cow;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use keymeter::storage::MIGRATOR;
use sqlx::migrate::{Migration, Migrator};
use sqlx::{AssertSqlSafe, PgPool};

use crate::harness::process::{keymeter, run};
use crate::wire::url;

fn project() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn sample(version: i64, when: &str) -> PathBuf {
    project().join(format!("tests/it/migrations/{version:04}_{when}.sql"))
}

/// What is applied: version, checksum and when.
async fn applied(pool: &PgPool) -> Vec<(i64, Vec<u8>, String)> {
    sqlx::query_as("select version, checksum, installed_on::text from _sqlx_migrations where success order by version")
        .fetch_all(pool)
        .await
        .unwrap()
}

fn checksums<'a>(migrations: impl Iterator<Item = &'a Migration>) -> Vec<(i64, Vec<u8>)> {
    migrations.map(|migration| (migration.version, migration.checksum.to_vec())).collect()
}

async fn has_those_of_this_binary(pool: &PgPool) {
    let found: Vec<_> = applied(pool).await.into_iter().map(|(version, checksum, _)| (version, checksum)).collect();
    assert_eq!(found, checksums(MIGRATOR.iter()));
}

#[sqlx::test(migrations = false)]
async fn an_empty_database_gets_them_all_and_the_second_time_none(pool: PgPool) {
    MIGRATOR.run(&pool).await.unwrap();
    has_those_of_this_binary(&pool).await;
    let first = applied(&pool).await;
    MIGRATOR.run(&pool).await.unwrap();
    assert_eq!(applied(&pool).await, first);
}

#[sqlx::test(migrations = false)]
async fn each_runs_over_the_data_of_its_time(pool: PgPool) {
    let all: Vec<_> = MIGRATOR.iter().cloned().collect();
    for (n, migration) in all.iter().enumerate() {
        let version = migration.version;
        if let Ok(fill) = std::fs::read_to_string(sample(version, "before")) {
            sqlx::raw_sql(AssertSqlSafe(fill)).execute(&pool).await.unwrap();
        }
        let until_here = Migrator { migrations: Cow::Owned(all[..=n].to_vec()), ..Migrator::DEFAULT };
        until_here.run(&pool).await.unwrap_or_else(|error| panic!("migration {version}: {error}"));
        if let Ok(question) = std::fs::read_to_string(sample(version, "after")) {
            let well: bool = sqlx::query_scalar(AssertSqlSafe(question)).fetch_one(&pool).await.unwrap();
            assert!(well, "migration {version} left its data wrong");
        }
    }
    has_those_of_this_binary(&pool).await;
}

#[tokio::test]
async fn the_binary_holds_the_files_of_the_project() {
    let files = Migrator::new(project().join("migrations")).await.unwrap();
    assert_eq!(checksums(files.iter()), checksums(MIGRATOR.iter()));
    let numbers: Vec<_> = MIGRATOR.iter().map(|migration| migration.version).collect();
    let count = i64::try_from(numbers.len()).unwrap();
    assert_eq!(numbers, (1..=count).collect::<Vec<_>>(), "they are numbered from 1 without a gap");
    assert!(MIGRATOR.iter().all(|migration| migration.migration_type.is_up_migration()));
}

#[sqlx::test(migrations = false)]
async fn two_processes_may_migrate_at_once(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let database = url(&pool);
    let settings = [("DATABASE_URL", database.as_str())];
    let started = [(), ()].map(|()| {
        let mut command = keymeter(dir.path(), &settings);
        command.arg("migrate").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    });
    for process in started {
        let ended = process.wait_with_output().unwrap();
        assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
        assert_eq!(String::from_utf8_lossy(&ended.stdout), "the database is up to date\n");
    }
    has_those_of_this_binary(&pool).await;
    let first = applied(&pool).await;
    assert!(run(dir.path(), &settings, &["migrate"]).status.success());
    assert_eq!(applied(&pool).await, first);
    assert!(!dir.path().join("data").exists(), "`keymeter migrate` needs no master key and makes none");
}

#[sqlx::test(migrations = false)]
async fn a_migration_that_was_changed_afterwards_is_noticed(pool: PgPool) {
    MIGRATOR.run(&pool).await.unwrap();
    sqlx::query("update _sqlx_migrations set checksum = '\\x00' where version = 1").execute(&pool).await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let refused = run(dir.path(), &[("DATABASE_URL", &url(&pool))], &["migrate"]);
    assert_eq!(refused.status.code(), Some(1));
    let told = String::from_utf8(refused.stderr).unwrap();
    assert!(
        told.starts_with("keymeter: cannot migrate the database: migration 1 ") && told.lines().count() == 1,
        "{told}"
    );
}
