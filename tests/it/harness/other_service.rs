//! Databases of new-api and one-api, and `keymeter import` on them.

use std::path::Path;
use std::process::Output;

use serde_json::Value;
use sqlx::{AssertSqlSafe, Connection, PgPool};
use sqlx_mysql::MySqlConnection;
use sqlx_sqlite::SqliteConnection;

use super::MASTER_KEY;
use super::database::url;
use super::mariadb::MariaDb;
use super::process::run;
use super::project::project_file;

/// The settings that have the groups of the fixtures.
const SETTINGS: &str = "[groups.default]\ndescription = \"Everyone\"\nratio = \"1\"\n\
                        [groups.vip]\ndescription = \"Paid\"\nratio = \"0.5\"\n";

/// A fixture with the present time.
pub fn fixture(name: &str) -> String {
    with_now(&project_file(&format!("tests/it/import/{name}")))
}

/// SQL with the present second in place of NOW.
#[expect(clippy::disallowed_methods, reason = "the program under test reads the clock too")]
pub fn with_now(sql: &str) -> String {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    sql.replace("NOW", &now.to_string())
}

/// Makes a SQLite file from SQL, and returns its path.
pub async fn sqlite(dir: &Path, sql: String) -> String {
    let path = dir.join("one-api.db");
    let options = sqlx_sqlite::SqliteConnectOptions::new().filename(&path).create_if_missing(true);
    let mut connection = SqliteConnection::connect_with(&options).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    path.to_str().unwrap().to_owned()
}

/// A SQLite file of new-api with every oddity.
pub async fn new_api_sqlite(dir: &Path) -> String {
    sqlite(dir, fixture("new_api.sqlite.sql") + &fixture("new_api_rows.sql")).await
}

/// The same in MariaDB.
pub async fn new_api_mariadb() -> MariaDb {
    let server = MariaDb::start().await;
    let mut connection = MySqlConnection::connect(&server.url()).await.unwrap();
    let rows = format!("set session sql_mode = 'ANSI_QUOTES';\n{}", fixture("new_api_rows.sql"));
    for sql in [fixture("new_api.mysql.sql"), rows] {
        sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
    }
    server
}

/// The same in PostgreSQL, in a schema of its own of the test's database. Returns its URL.
pub async fn new_api_postgres(pool: &PgPool) -> String {
    let sql = fixture("new_api.postgres.sql") + &fixture("new_api_rows.sql");
    let mut connection = pool.acquire().await.unwrap();
    let sql = format!("create schema there; set search_path = there;\n{sql};\nreset search_path");
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut *connection).await.unwrap();
    let here = url(pool);
    let separator = if here.contains('?') { '&' } else { '?' };
    format!("{here}{separator}options[search_path]=there")
}

/// An installation, on the database of a test, that an import writes to.
pub struct Here<'a> {
    pub dir: &'a Path,
    pub pool: &'a PgPool,
}

/// What an import printed and returned.
pub struct Imported {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
    /// The report as JSON; null if there is none.
    pub report: Value,
}

impl Here<'_> {
    pub fn run(&self, arguments: &[&str]) -> Output {
        let config = self.dir.join("keymeter.toml");
        if !config.exists() {
            std::fs::write(&config, SETTINGS).unwrap();
        }
        let database = url(self.pool);
        let settings = [("DATABASE_URL", database.as_str()), ("KEYMETER_SECRETS__MASTER_KEY", MASTER_KEY)];
        let all: Vec<&str> =
            ["--config", config.to_str().unwrap()].into_iter().chain(arguments.iter().copied()).collect();
        run(self.dir, &settings, &all)
    }

    /// Runs `keymeter import new-api`.
    pub fn import(&self, source: &str, arguments: &[&str]) -> Imported {
        let file = self.dir.join("report.json");
        let _ = std::fs::remove_file(&file);
        // The last value of an option that is given twice counts.
        let fixed = ["import", "new-api", source, "--report", file.to_str().unwrap(), "--watch", "0"];
        let output = self.run(&fixed.into_iter().chain(arguments.iter().copied()).collect::<Vec<_>>());
        let report = std::fs::read(&file).ok().and_then(|json| serde_json::from_slice(&json).ok());
        Imported {
            code: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
            report: report.unwrap_or_default(),
        }
    }

    /// Asserts that `keymeter doctor` finds no error.
    pub fn assert_doctor_finds_nothing(&self) {
        let output = self.run(&["doctor"]);
        let report = String::from_utf8(output.stdout).unwrap();
        assert!(output.status.success() && report.ends_with("no errors found\n"), "{report}");
    }
}
