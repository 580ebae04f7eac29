//! Migrations: over an empty database, over rows, twice, and by two processes at once.
//!
//! `tests/it/migrations/0001_sample.sql` has one row of every table of the first migration. Every later migration
//! `NNNN` brings two files: `NNNN_before.sql` adds rows to the schema before it, and `NNNN_after.sql` is a query that
//! returns `true` if the migration left every row right.

use std::borrow::Cow;
use std::process::Stdio;
use std::time::{Duration, Instant};

use keymeter::storage::{MIGRATOR, apply_pending, newest_migration};
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AssertSqlSafe, Connection, PgPool, SqlSafeStr};
use squawk_linter::{Linter, LinterSettings, Rule};
use squawk_syntax::SourceFile;

use crate::harness::database::{empty, url};
use crate::harness::process::{keymeter, run};
use crate::harness::project::project;

/// The text of a sample in `tests/it/migrations`, if it exists.
fn sample(name: &str) -> Option<String> {
    std::fs::read_to_string(project().join("tests/it/migrations").join(name)).ok()
}

/// The tables without a row, apart from the list of migrations.
async fn empty_tables(pool: &PgPool) -> Vec<String> {
    let tables = "select tablename::text from pg_tables \
                  where schemaname = 'public' and tablename <> '_sqlx_migrations' order by 1";
    let mut empty = Vec::new();
    for table in sqlx::query_scalar::<_, String>(tables).fetch_all(pool).await.unwrap() {
        let filled = format!("select exists (select from \"{table}\")");
        if !sqlx::query_scalar::<_, bool>(AssertSqlSafe(filled)).fetch_one(pool).await.unwrap() {
            empty.push(table);
        }
    }
    empty
}

async fn execute(pool: &PgPool, name: &str, sql: String) -> Result<(), String> {
    let done = sqlx::raw_sql(AssertSqlSafe(sql)).execute(pool).await;
    done.map(drop).map_err(|error| format!("{name}: {error}"))
}

/// Runs the migrations one after the other over their sample data. The error names the first that fails or has none.
async fn migrate_over_rows(
    pool: &PgPool,
    migrations: &[Migration],
    sample: impl Fn(&str) -> Option<String>,
) -> Result<(), String> {
    let needed = |name: &str| sample(name).ok_or_else(|| format!("tests/it/migrations/{name} is missing"));
    for (n, migration) in migrations.iter().enumerate() {
        let version = migration.version;
        if n > 0 {
            let name = format!("{version:04}_before.sql");
            execute(pool, &name, needed(&name)?).await?;
        }
        let until_here = Migrator { migrations: Cow::Owned(migrations[..=n].to_vec()), ..Migrator::DEFAULT };
        until_here.run(pool).await.map_err(|error| format!("migration {version} over rows: {error}"))?;
        if n == 0 {
            let name = format!("{version:04}_sample.sql");
            execute(pool, &name, needed(&name)?).await?;
            let empty = empty_tables(pool).await;
            if !empty.is_empty() {
                return Err(format!("{name} has no row of {}", empty.join(", ")));
            }
        } else {
            let query = needed(&format!("{version:04}_after.sql"))?;
            let right: bool = sqlx::query_scalar(AssertSqlSafe(query)).fetch_one(pool).await.unwrap();
            if !right {
                return Err(format!("migration {version} left its rows wrong"));
            }
        }
    }
    Ok(())
}

/// The applied migrations: version, checksum and time.
async fn applied(pool: &PgPool) -> Vec<(i64, Vec<u8>, String)> {
    sqlx::query_as("select version, checksum, installed_on::text from _sqlx_migrations where success order by version")
        .fetch_all(pool)
        .await
        .unwrap()
}

fn checksums<'a>(migrations: impl Iterator<Item = &'a Migration>) -> Vec<(i64, Vec<u8>)> {
    migrations.map(|migration| (migration.version, migration.checksum.to_vec())).collect()
}

async fn assert_every_migration(pool: &PgPool) {
    let found: Vec<_> = applied(pool).await.into_iter().map(|(version, checksum, _)| (version, checksum)).collect();
    assert_eq!(found, checksums(MIGRATOR.iter()));
}

#[sqlx::test(migrations = false)]
async fn an_empty_database_gets_every_migration_once(pool: PgPool) {
    empty(&pool).await;
    MIGRATOR.run(&pool).await.unwrap();
    assert_every_migration(&pool).await;
    let first = applied(&pool).await;
    MIGRATOR.run(&pool).await.unwrap();
    assert_eq!(applied(&pool).await, first);
}

#[sqlx::test(migrations = false)]
async fn each_migration_runs_over_rows(pool: PgPool) {
    empty(&pool).await;
    let all: Vec<_> = MIGRATOR.iter().cloned().collect();
    assert_eq!(migrate_over_rows(&pool, &all, sample).await, Ok(()));
    assert_every_migration(&pool).await;
}

/// The first migration, and a second one with this SQL.
fn with_second(sql: &'static str) -> Vec<Migration> {
    let first = MIGRATOR.iter().next().unwrap().clone();
    vec![first, migration(2, sql)]
}

#[sqlx::test(migrations = false)]
async fn a_second_migration_needs_sample_data_and_must_leave_its_rows_right(pool: PgPool) {
    const RIGHT: &str = "alter table tokens add column colour text; update tokens set colour = note; \
                         alter table tokens alter column colour set not null";
    const FAILS_OVER_ROWS: &str = "alter table tokens add column colour text not null";
    const LOSES_DATA: &str = "alter table tokens add column colour text not null default 'red'";
    let files = |given: &'static [(&'static str, &'static str)]| {
        move |name: &str| {
            let first = || sample(name).filter(|_| name.starts_with("0001"));
            given.iter().find(|file| file.0 == name).map(|file| file.1.to_owned()).or_else(first)
        }
    };
    let before = ("0002_before.sql", "update tokens set note = 'blue'");
    let after = ("0002_after.sql", "select bool_and(colour = 'blue') from tokens");
    let both: &[_] = Box::leak(Box::new([before, after]));
    let only_before: &[_] = Box::leak(Box::new([before]));
    let no_audit_log: &[_] = &[("0001_sample.sql", "select 1")];
    for (sql, given, expected) in [
        (RIGHT, both, Ok(())),
        (RIGHT, &[], Err("tests/it/migrations/0002_before.sql is missing")),
        (RIGHT, only_before, Err("tests/it/migrations/0002_after.sql is missing")),
        (FAILS_OVER_ROWS, both, Err("migration 2 over rows: ")),
        (LOSES_DATA, both, Err("migration 2 left its rows wrong")),
        (RIGHT, no_audit_log, Err("0001_sample.sql has no row of access_tokens, audit_log, ")),
    ] {
        empty(&pool).await;
        let result = migrate_over_rows(&pool, &with_second(sql), files(given)).await;
        match (&result, expected) {
            (Err(error), Err(start)) => assert!(error.starts_with(start), "{error}"),
            _ => assert_eq!(result, expected.map_err(str::to_owned), "{sql}"),
        }
    }
}

#[tokio::test]
async fn the_program_contains_the_migrations_of_the_project() {
    let files = Migrator::new(project().join("migrations")).await.unwrap();
    assert_eq!(checksums(files.iter()), checksums(MIGRATOR.iter()));
    let numbers: Vec<_> = MIGRATOR.iter().map(|migration| migration.version).collect();
    let count = i64::try_from(numbers.len()).unwrap();
    assert_eq!(numbers, (1..=count).collect::<Vec<_>>(), "the migrations are numbered from 1 without a gap");
    assert!(MIGRATOR.iter().all(|migration| migration.migration_type.is_up_migration()));
}

#[sqlx::test(migrations = false)]
async fn two_processes_can_migrate_at_once(pool: PgPool) {
    empty(&pool).await;
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
    assert_every_migration(&pool).await;
    let first = applied(&pool).await;
    assert!(run(dir.path(), &settings, &["migrate"]).status.success());
    assert_eq!(applied(&pool).await, first);
    assert!(!dir.path().join("data").exists(), "`keymeter migrate` neither needs nor makes a master key");
}

#[sqlx::test(migrations = false)]
async fn a_migration_that_was_changed_after_it_ran_is_refused(pool: PgPool) {
    empty(&pool).await;
    MIGRATOR.run(&pool).await.unwrap();
    sqlx::query("update _sqlx_migrations set checksum = '\\x00' where version = 1").execute(&pool).await.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let refused = run(dir.path(), &[("DATABASE_URL", &url(&pool))], &["migrate"]);
    assert_eq!(refused.status.code(), Some(1));
    let stderr = String::from_utf8(refused.stderr).unwrap();
    assert!(
        stderr.starts_with("keymeter: cannot migrate the database: migration 1 ") && stderr.lines().count() == 1,
        "{stderr}"
    );
}

/// A migration with this number and SQL; one outside of a transaction has the line that says so.
fn migration(version: i64, sql: &'static str) -> Migration {
    let no_transaction = sql.starts_with("-- no-transaction");
    Migration::new(version, "made up".into(), MigrationType::Simple, sql.into_sql_str(), no_transaction)
}

/// All migrations and this one.
fn with_one_more(sql: &'static str) -> Migrator {
    let more = migration(newest_migration() + 1, sql);
    Migrator::with_migrations(MIGRATOR.iter().cloned().chain([more]).collect())
}

/// Applies migrations on a connection of their own.
fn applies(pool: &PgPool, migrator: Migrator) -> tokio::task::JoinHandle<()> {
    let pool = pool.clone();
    tokio::spawn(async move {
        let mut conn = pool.acquire().await.unwrap().detach();
        apply_pending(&mut conn, &migrator).await.unwrap();
        conn.close().await.unwrap();
    })
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn a_migration_that_waits_for_a_reader_stops_nobody(pool: PgPool) {
    let mut reader = pool.begin().await.unwrap();
    sqlx::query("select count(*) from tokens").execute(&mut *reader).await.unwrap();
    let applying = applies(&pool, with_one_more("alter table tokens add column shade text"));
    let started = Instant::now();
    let mut slowest = Duration::ZERO;
    while started.elapsed() < Duration::from_secs(4) {
        let asked = Instant::now();
        sqlx::query("select count(*) from tokens").execute(&pool).await.unwrap();
        slowest = slowest.max(asked.elapsed());
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert!(!applying.is_finished());
    // Behind a lock that waits for the reader, none would be answered.
    assert!(slowest < Duration::from_secs(2), "{slowest:?}");
    reader.rollback().await.unwrap();
    applying.await.unwrap();
    sqlx::query("select shade from tokens").execute(&pool).await.unwrap();
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn an_index_that_was_interrupted_is_made_again_while_another_server_waits(pool: PgPool) {
    const INDEX: &str =
        "-- no-transaction\ncreate unique index concurrently if not exists made_up on sign_in_limits (tat);";
    let fill = "insert into sign_in_limits (account, network, tat) values ('\\x01', '', 1), ('\\x02', '', 1)";
    sqlx::query(fill).execute(&pool).await.unwrap();
    let fails = sqlx::raw_sql(INDEX).execute(&pool).await.unwrap_err();
    assert!(fails.to_string().contains("could not create unique index"), "{fails}");
    sqlx::query("delete from sign_in_limits where account = '\\x02'").execute(&pool).await.unwrap();
    let mut writer = pool.begin().await.unwrap();
    sqlx::query("update sign_in_limits set tat = 2").execute(&mut *writer).await.unwrap();
    // The index waits for the writer; the second server for the first.
    let both = [applies(&pool, with_one_more(INDEX)), applies(&pool, with_one_more(INDEX))];
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert!(both.iter().all(|one| !one.is_finished()));
    writer.commit().await.unwrap();
    for one in both {
        one.await.unwrap();
    }
    let valid = "select indisvalid from pg_index where indexrelid = 'made_up'::regclass";
    assert!(sqlx::query_scalar::<_, bool>(valid).fetch_one(&pool).await.unwrap());
}

/// The last migration that does not say whether it is rolling. These are; their files never change.
const LAST_UNSAID: i64 = 27;

/// Whether servers of before run on beside this migration, and what it must do if they do not.
fn is_rolling(migration: &Migration) -> Result<bool, String> {
    let (sql, version) = (migration.sql.as_str(), migration.version);
    let says: Vec<_> = sql.lines().filter_map(|line| line.strip_prefix("-- rolling: ")).collect();
    match says[..] {
        ["yes"] => Ok(true),
        ["no"] => {
            for line in [
                format!("alter table installation alter column min_migration set default {version};"),
                format!("update installation set min_migration = {version};"),
            ] {
                if !sql.contains(&line) {
                    return Err(format!("it is not rolling, so it needs: {line}"));
                }
            }
            Ok(false)
        }
        _ => Err("it needs one line `-- rolling: yes`, or no".to_owned()),
    }
}

#[test]
fn every_migration_says_whether_servers_of_before_run_on() {
    for migration in MIGRATOR.iter().filter(|migration| migration.version > LAST_UNSAID) {
        if let Err(why) = is_rolling(migration) {
            panic!("migration {}, see docs/conventions.md: {why}", migration.version);
        }
    }
    let raises = "-- rolling: no\nalter table installation alter column min_migration set default 40;\n\
                  update installation set min_migration = 40;";
    for (sql, expected) in [
        ("select 1", None),
        ("-- rolling: maybe\nselect 1", None),
        ("-- rolling: no\nselect 1", None),
        ("-- rolling: yes\nselect 1", Some(true)),
        (raises, Some(false)),
    ] {
        assert_eq!(is_rolling(&migration(40, sql)).ok(), expected, "{sql}");
    }
    assert!(is_rolling(&migration(41, raises)).is_err());
}

/// The last migration before the first release. These were free to lock: there were no tables with data.
const LAST_BEFORE_RELEASE: i64 = 10;

/// The only one that locks a table, in the days before the first release.
const LOCKS_A_TABLE: i64 = 19;

/// What would lock a large table for longer than a moment, or break servers of the version before, which run on during
/// an upgrade.
const RULES: [Rule; 14] = [
    Rule::AddingFieldWithDefault,
    Rule::AddingForeignKeyConstraint,
    Rule::AddingNotNullableField,
    Rule::AddingRequiredField,
    Rule::AddingSerialPrimaryKeyField,
    Rule::BanDropColumn,
    Rule::BanDropTable,
    Rule::ChangingColumnType,
    Rule::ConstraintMissingNotValid,
    Rule::DisallowedUniqueConstraint,
    Rule::RenamingColumn,
    Rule::RenamingTable,
    Rule::RequireConcurrentIndexCreation,
    Rule::RequireConcurrentIndexDeletion,
];

/// Why this migration is refused.
fn refusals(sql: &str) -> Vec<String> {
    let file = SourceFile::parse(sql);
    let mut refusals: Vec<String> = file.errors().iter().map(|error| format!("cannot be parsed: {error:?}")).collect();
    let mut linter = Linter::from(RULES);
    // sqlx runs a migration in a transaction, unless its first line says otherwise.
    let assume_in_transaction = !sql.starts_with("-- no-transaction");
    linter.settings = LinterSettings { pg_version: "14".parse().unwrap(), assume_in_transaction };
    let violations = linter.lint(&file, sql);
    refusals.extend(violations.into_iter().map(|found| format!("{}: {}", found.code, found.message)));
    let statements = sql.lines().filter(|line| !line.trim_start().starts_with("--")).collect::<Vec<_>>().join(" ");
    if statements.to_lowercase().split_whitespace().collect::<Vec<_>>().join(" ").contains("lock table") {
        refusals.push("lock-table: all requests wait for it".to_owned());
    }
    refusals
}

#[test]
fn a_migration_locks_no_large_table_and_breaks_no_server_of_the_version_before() {
    for migration in MIGRATOR.iter().filter(|migration| migration.version > LAST_BEFORE_RELEASE) {
        let mut refused = refusals(migration.sql.as_str());
        refused.retain(|why| migration.version != LOCKS_A_TABLE || !why.starts_with("lock-table"));
        assert!(refused.is_empty(), "migration {}, see docs/conventions.md: {refused:#?}", migration.version);
    }
}

#[test]
fn the_check_of_migrations_refuses_what_locks_and_admits_what_expands() {
    let refused = [
        "create index charges_of_model on charges (model);",
        "alter table tokens add column shadow boolean not null;",
        "alter table tokens add column seed double precision default random();",
        "alter table tokens alter column used_quota type numeric;",
        "alter table tokens rename column name to title;",
        "alter table tokens drop column note;",
        "alter table tokens add constraint tokens_shadow check (id > 0);",
        "alter table charges add constraint charges_of_user foreign key (user_id) references users (id);",
        "alter table tokens add constraint tokens_name_unique unique (name);",
        "drop table sessions;",
        "lock table\n tokens in exclusive mode;",
    ];
    for sql in refused {
        assert!(!refusals(sql).is_empty(), "{sql}");
    }
    let admitted = [
        "alter table tokens add column shadow boolean not null default false;",
        "alter table charges add column request_id text;",
        "alter table tokens add constraint tokens_shadow check (id > 0) not valid;",
        "-- no-transaction\ncreate index concurrently if not exists charges_of_model on charges (model);",
        "-- Not read since 0.3.\n-- squawk-ignore ban-drop-column\nalter table tokens drop column note;",
        "create table prices (id bigint primary key, name text not null); create index prices_by_name on prices (name);",
    ];
    for sql in admitted {
        assert_eq!(refusals(sql), Vec::<String>::new(), "{sql}");
    }
}
