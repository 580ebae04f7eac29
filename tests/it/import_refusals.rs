//! What `keymeter import` refuses: one sentence each, and nothing is written.

use std::path::Path;

use serde_json::json;
use sqlx::{Connection, PgPool};
use sqlx_sqlite::SqliteConnection;

use crate::harness::MASTER_KEY;
use crate::harness::database::{contents, url};
use crate::harness::other_service::{Here, fixture, new_api_sqlite, sqlite};
use crate::harness::process::run;

/// Runs an import with the default settings, which have one group.
fn import(dir: &Path, pool: &PgPool, arguments: &[&str]) -> (Option<i32>, String, String) {
    let database = url(pool);
    let settings = [("DATABASE_URL", database.as_str()), ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY)];
    let output =
        run(dir, &settings, &["import", "new-api"].into_iter().chain(arguments.iter().copied()).collect::<Vec<_>>());
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[sqlx::test(migrations = false)]
async fn groups_that_are_not_configured_block_the_import_and_the_settings_to_add_are_printed(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let source = new_api_sqlite(dir.path()).await;
    let (code, stdout, stderr) = import(dir.path(), &pool, &[&source]);
    assert_eq!((code, stderr.as_str()), (Some(2), ""));
    let blocked = "Blocked; nothing was imported:\n  \
                   - the group `vip` is not configured here; accounts that need it: 1, keys: 1; add it to the settings\n\n\
                   Add to the settings file beside its other groups, and adapt. A file that names any group names all, \
                   so repeat `default` if it is in use:\n\n\
                   [groups.vip]\ndescription = \"Paid\"\nratio = \"0.5\"\nopen = true\n";
    assert!(stdout.contains(blocked), "{stdout}");
    let written: i64 = sqlx::query_scalar("select (select count(*) from users) + (select count(*) from imports)")
        .fetch_one(&pool)
        .await
        .unwrap();
    assert_eq!(written, 0);
}

#[sqlx::test(migrations = false)]
async fn accounts_that_exist_block_an_import_that_would_keep_ids(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    let source = new_api_sqlite(dir.path()).await;
    for name in ["root2", "ana"] {
        assert!(here.run(&["user", "create", name, "--role", "root"]).status.success());
    }
    let before = contents(&pool).await;
    let blocked = here.import(&source, &[]);
    let message = "there are 2 accounts here already, so ids cannot be kept; add --new-ids, and tell people who send \
                   `New-Api-User` their new ids";
    assert_eq!(blocked.report["blockers"], json!([{ "code": "accounts_exist", "message": message }]));
    assert_eq!((blocked.code, contents(&pool).await), (Some(2), before));
    assert_eq!(here.import(&source, &["--new-ids"]).code, Some(0));
    let name: String = sqlx::query_scalar(
        "select username from users u join imports i on i.local_id = u.id and i.kind = 'user' where foreign_id = 2",
    )
    .fetch_one(&pool)
    .await
    .unwrap();
    assert_eq!(name, "Ana-2");
}

#[sqlx::test(migrations = false)]
async fn a_root_account_that_is_none_there_blocks_an_import_that_would_keep_ids(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    assert!(here.run(&["user", "create", "root", "--role", "root"]).status.success());
    let sql = fixture("one_api.sqlite.sql").replace("100, 1, '', 1,", "1, 1, '', 1,");
    let blocked = here.import(&sqlite(dir.path(), sql).await, &[]);
    let message = "the account 1 is root here and not root there, so ids cannot be kept; add --new-ids";
    assert_eq!((blocked.code, &blocked.report["blockers"][0]["message"]), (Some(2), &json!(message)));
}

#[sqlx::test(migrations = false)]
async fn what_cannot_be_read_is_refused_in_one_sentence(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name).to_str().unwrap().to_owned();
    std::fs::write(at("text"), "this is no database, and it is long enough to be read as one by mistake").unwrap();
    let made = async |name: &str, sql: &str| {
        let folder = dir.path().join(name);
        std::fs::create_dir(&folder).unwrap();
        sqlite(&folder, sql.to_owned()).await
    };
    let empty = made("empty", "create table x (id int)").await;
    let no_key = made(
        "no_key",
        &fixture("new_api.sqlite.sql")
            .replace("`key` varchar(128),", "")
            .replace("CREATE UNIQUE INDEX `idx_tokens_key` ON `tokens`(`key`);", ""),
    )
    .await;
    let latin = made(
        "latin",
        &(fixture("new_api.sqlite.sql")
            + "insert into users (id, username, password) values (1, cast(x'4af6726e' as text), '');"),
    )
    .await;
    let good = made("good", &fixture("new_api.sqlite.sql")).await;
    let no_logs =
        made("no_logs", &fixture("new_api.sqlite.sql").replace("CREATE TABLE `logs`", "CREATE TABLE `other`")).await;
    let port = crate::harness::process::free_port();
    let refused = "Connection refused (os error 111)";
    let table: Vec<(Vec<String>, String)> = vec![
        (
            vec![at("absent.db")],
            format!(
                "there is no file {}; SOURCE is a SQLite file, a mysql:// or postgres:// URL, or the SQL_DSN of the other service",
                at("absent.db")
            ),
        ),
        (vec![at("text")], format!("cannot open SQLite {}: file is not a database", at("text"))),
        (
            vec![empty.clone()],
            format!("SQLite {empty} is not the database of new-api or one-api: it has no table `users`"),
        ),
        (
            vec![no_key.clone()],
            format!(
                "SQLite {no_key} is not the database of new-api or one-api: its table `tokens` has no column `key`"
            ),
        ),
        (
            vec![latin.clone()],
            format!(
                "SQLite {latin} contains text that is not UTF-8; convert the database to UTF-8 (utf8mb4 in MySQL) and run this again"
            ),
        ),
        (
            vec![format!("mysql://root:secret@127.0.0.1:{port}/x")],
            format!("cannot open MySQL 127.0.0.1:{port}/x: {refused}"),
        ),
        (
            vec![format!("root:secret@tcp(127.0.0.1:{port})/x")],
            format!("cannot open MySQL 127.0.0.1:{port}/x: {refused}"),
        ),
        (
            vec![format!("postgres://root:secret@127.0.0.1:{port}/x")],
            format!("cannot open PostgreSQL 127.0.0.1:{port}/x: {refused}"),
        ),
        (
            vec!["root:secret@tcp(db:port)/x".into()],
            "the DSN of SOURCE cannot be read; write it as user:password@tcp(host:3306)/database".into(),
        ),
        (
            vec!["clickhouse://h/logs".into()],
            "ClickHouse cannot be read; import without its history: --history none".into(),
        ),
        (
            vec![good.clone(), "--logs".into(), no_logs.clone()],
            format!(
                "SQLite {no_logs} has no table `logs`; name the database that has it with --logs, or use --history none"
            ),
        ),
        (
            vec![good.clone(), "--report".into(), "/no/such/dir/r.json".into()],
            "cannot write /no/such/dir/r.json: No such file or directory (os error 2)".into(),
        ),
    ];
    for (arguments, expected) in table {
        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
        let (code, _, stderr) = import(dir.path(), &pool, &arguments);
        assert_eq!((code, stderr), (Some(1), format!("keymeter: {expected}\n")), "{arguments:?}");
    }
    let accounts: i64 = sqlx::query_scalar("select count(*) from users").fetch_one(&pool).await.unwrap();
    assert_eq!(accounts, 0);
}

#[sqlx::test(migrations = false)]
async fn a_database_without_logs_is_moved_without_history_and_says_so(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    let sql = fixture("one_api.sqlite.sql");
    let sql = sql.split("CREATE TABLE `logs`").next().unwrap().to_owned()
        + "INSERT INTO users (id, username, password, role, status) VALUES (1, 'root', '', 100, 1);";
    let imported = here.import(&sqlite(dir.path(), sql).await, &[]);
    assert_eq!(imported.code, Some(0), "{}", imported.stderr);
    let note = "there is no table `logs` that this account may read, so no history is imported; --logs names another \
                database that has it";
    assert_eq!(imported.report["notes"], json!([{ "code": "no_logs", "message": note }]));
}

#[sqlx::test(migrations = false)]
async fn options_that_make_no_sense_are_refused(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    for (arguments, expected) in [
        (vec!["x", "--history", "week"], "use a number of days, `all` or `none`"),
        (vec!["x", "--source", "two words"], "use 1 to 50 letters, digits, `-`, `_` and `.`"),
        (vec![], "the following required arguments were not provided"),
    ] {
        let (code, _, stderr) = import(dir.path(), &pool, &arguments);
        assert!(code == Some(2) && stderr.contains(expected), "{stderr}");
    }
}

#[sqlx::test(migrations = false)]
async fn the_report_of_an_earlier_run_stays_if_another_one_fails(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let source = new_api_sqlite(dir.path()).await;
    let report = dir.path().join("report.json");
    let import = |source: &str| {
        import(dir.path(), &pool, &[source, "--dry-run", "--watch", "0", "--report", report.to_str().unwrap()]).0
    };
    assert_eq!(import(&source), Some(2));
    let before = std::fs::read_to_string(&report).unwrap();
    assert!(before.ends_with("}\n"));
    assert_eq!(import("postgres://nobody@127.0.0.1:1/none"), Some(1));
    assert_eq!(std::fs::read_to_string(&report).unwrap(), before);
    std::fs::write(&report, format!("{before}{before}")).unwrap();
    assert_eq!(import(&source), Some(2));
    assert_eq!(std::fs::read_to_string(&report).unwrap(), before);
}

#[sqlx::test(migrations = false)]
async fn a_database_with_empty_logs_although_quota_was_used_says_so(pool: PgPool) {
    let dir = tempfile::tempdir().unwrap();
    let here = Here { dir: dir.path(), pool: &pool };
    let source = new_api_sqlite(dir.path()).await;
    let note = "the table `logs` has no row although quota was used, so no history is imported; if LOG_SQL_DSN of the other \
                service names another database, name it with --logs";
    let notes = |arguments: &[&str]| {
        let imported = here.import(&source, arguments);
        assert_eq!(imported.code, Some(0), "{}", imported.stderr);
        imported.report["notes"].clone()
    };
    assert_eq!(notes(&["--dry-run"]), json!([]), "it has logs");
    let mut connection = SqliteConnection::connect(&format!("sqlite://{source}")).await.unwrap();
    sqlx::raw_sql("delete from logs").execute(&mut connection).await.unwrap();
    let expected = json!([{ "code": "logs_empty", "message": note }]);
    assert_eq!(notes(&["--dry-run"]), expected);
    assert_eq!(notes(&["--dry-run", "--history", "none"]), json!([]), "none is wanted");
    assert_eq!(notes(&["--dry-run", "--logs", &source]), expected, "the other database has none either");
    // The sum is beyond 64 bits; SQLite refuses to compute it.
    let huge = "update users set used_quota = 9223372036854775807";
    sqlx::raw_sql(huge).execute(&mut connection).await.unwrap();
    assert_eq!(notes(&[]), expected);
    sqlx::raw_sql("update users set used_quota = 0").execute(&mut connection).await.unwrap();
    assert_eq!(notes(&["--dry-run"]), json!([]), "nothing was used");
}
