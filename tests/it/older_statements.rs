//! The statements of the version before are right on the schema of this one: its servers run beside ours while an
//! operator upgrades. `make test-upgrade` lets both run; this finds most breaks in a second.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;
use sqlx::{AssertSqlSafe, Column, Executor, PgPool, SqlSafeStr, Statement, TypeInfo};
use tempfile::TempDir;

use crate::harness::project::{project, project_file};

/// The checked statements of the commit that `tests/upgrade/OLDER` names, as files.
fn of_older_commit() -> TempDir {
    let file = project_file("tests/upgrade/OLDER");
    let commit = file.lines().find(|line| !line.starts_with('#')).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let mut archive = Command::new("git")
        .args(["archive", "--format=tar", commit, ".sqlx"])
        .current_dir(project())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let unpacked =
        Command::new("tar").args(["-x", "-C"]).arg(dir.path()).stdin(archive.stdout.take().unwrap()).status();
    assert!(archive.wait().unwrap().success() && unpacked.unwrap().success(), "the commit {commit} cannot be read");
    dir
}

fn statements(dir: &Path) -> Vec<Value> {
    let files = std::fs::read_dir(dir.join(".sqlx")).unwrap();
    let read = |file: std::fs::DirEntry| serde_json::from_slice(&std::fs::read(file.path()).unwrap()).unwrap();
    files.map(|file| read(file.unwrap())).collect()
}

/// A type in lower case, as `int8` or `int8array`.
fn type_name(name: &str) -> String {
    name.replace("[]", "array").to_lowercase()
}

/// What the database says of a statement, against what the program relies on.
async fn compare(pool: &PgPool, statement: &Value) -> Result<(), String> {
    let sql = statement["query"].as_str().unwrap();
    let mut conn = pool.acquire().await.unwrap();
    let prepared = conn.prepare(AssertSqlSafe(sql).into_sql_str()).await.map_err(|error| format!("{error}: {sql}"))?;
    let found: Vec<_> = prepared
        .columns()
        .iter()
        .map(|column| (column.name().to_owned(), type_name(column.type_info().name())))
        .collect();
    let columns = statement["describe"]["columns"].as_array().unwrap();
    let expected: Vec<_> = columns
        .iter()
        .map(|column| {
            let name = column["name"].as_str().unwrap().to_owned();
            // A type of the schema itself is an object.
            (name, column["type_info"].as_str().map_or_else(String::new, type_name))
        })
        .collect();
    let is_same = found.len() == expected.len()
        && found
            .iter()
            .zip(&expected)
            .all(|(found, expected)| found.0 == expected.0 && (expected.1.is_empty() || found.1 == expected.1));
    if is_same { Ok(()) } else { Err(format!("{expected:?} became {found:?}: {sql}")) }
}

#[sqlx::test(migrator = "keymeter::storage::MIGRATOR")]
async fn statements_of_older_commit_are_right_on_this_schema(pool: PgPool) {
    let dir = of_older_commit();
    let statements = statements(dir.path());
    assert!(statements.len() > 200, "{} statements", statements.len());
    let mut broken = Vec::new();
    for statement in &statements {
        broken.extend(compare(&pool, statement).await.err());
    }
    // A migration that says `-- rolling: no` may break them: then `tests/upgrade/OLDER` moves with it.
    assert!(broken.is_empty(), "{}", broken.join("\n"));

    sqlx::query("alter table tokens alter column name type varchar").execute(&pool).await.unwrap();
    sqlx::query("alter table users rename column quota to budget").execute(&pool).await.unwrap();
    let mut noticed = 0;
    for statement in &statements {
        noticed += usize::from(compare(&pool, statement).await.is_err());
    }
    assert!(noticed > 10, "{noticed} statements are broken");
}
