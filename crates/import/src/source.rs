//! A connection to the database of the other service, in one read-only snapshot. All values are read as text.

use std::collections::BTreeSet;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use futures_util::StreamExt;
use futures_util::stream::BoxStream;
use sqlx::{AssertSqlSafe, ConnectOptions, Connection, PgConnection, Row};
use sqlx_mysql::MySqlConnection;
use sqlx_sqlite::SqliteConnection;

use super::location::Location;

/// The values of a row; `None` is null.
pub type TextRow = Vec<Option<String>>;

/// Why the other database cannot be read. Each is one sentence.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    #[error("cannot open {0}: {1}")]
    Connect(String, String),
    #[error("{0} is not the database of new-api or one-api: it has no table `{1}`")]
    NoTable(String, &'static str),
    #[error("{0} is not the database of new-api or one-api: its table `{1}` has no column `{2}`")]
    NoColumn(String, &'static str, &'static str),
    #[error("{0} contains text that is not UTF-8; convert the database to UTF-8 (utf8mb4 in MySQL) and run this again")]
    NotUtf8(String),
    #[error(
        "cannot open {0}: {1}; copy it with its -wal and -journal files to a directory where this program may write, and name the copy"
    )]
    Journal(String, String),
    #[error("cannot copy {0} to {1}: {2}; set TMPDIR to a directory that has space for it")]
    Copy(String, String, String),
    #[error("{0} cannot be read: {1}")]
    Read(String, String),
}

/// The SQL that differs between databases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Sqlite,
    MySql,
    Postgres,
}

/// What happens to text that is not UTF-8.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidUtf8 {
    Refused,
    /// For names in the logs, which decide nothing: each wrong byte becomes a replacement character.
    Replaced,
}

/// An open database. The snapshot ends with the connection.
pub struct ForeignDatabase {
    connection: AnyConnection,
    pub dialect: Dialect,
    /// For messages.
    pub label: String,
}

enum AnyConnection {
    Sqlite(Box<SqliteConnection>),
    MySql(Box<MySqlConnection>),
    Postgres(Box<PgConnection>),
}

/// The rows of a statement as text.
macro_rules! text_rows {
    ($connection:expr, $sql:expr, $label:expr, $other:expr) => {{
        let label = $label.to_owned();
        #[expect(clippy::disallowed_methods, reason = "the other service's schema is known only when the program runs")]
        let rows = sqlx::query(AssertSqlSafe($sql)).fetch($connection);
        rows.map(move |row| {
            let read = |error: sqlx::Error| SourceError::Read(label.clone(), one_line(&error));
            let row = row.map_err(read)?;
            let value = |at: usize| {
                let bytes: Option<Vec<u8>> = row.try_get_unchecked(at).map_err(read)?;
                match $other {
                    InvalidUtf8::Refused => {
                        bytes.map(String::from_utf8).transpose().map_err(|_| SourceError::NotUtf8(label.clone()))
                    }
                    InvalidUtf8::Replaced => Ok(bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())),
                }
            };
            (0..row.len()).map(value).collect::<Result<TextRow, SourceError>>()
        })
        .boxed()
    }};
}

impl ForeignDatabase {
    /// Connects and begins the snapshot. With `copy_file`, a SQLite file is copied first, because nobody can write to
    /// one that has a snapshot.
    ///
    /// # Errors
    /// The database cannot be reached, or is none.
    pub async fn open(location: &Location, copy_file: bool) -> Result<Self, SourceError> {
        let label = location.describe();
        let failed = |error: sqlx::Error| SourceError::Connect(label.clone(), one_line(&error));
        let (connection, dialect) = match location {
            Location::Sqlite(path) => {
                let failed = |error: sqlx::Error| {
                    let cause = one_line(&error);
                    // What it says of a file with a journal that it would have to write to.
                    if cause.contains("readonly database") || cause.contains("unable to open") {
                        return SourceError::Journal(label.clone(), cause);
                    }
                    SourceError::Connect(label.clone(), cause)
                };
                let mut connection = open_file(path).await.map_err(failed)?;
                if copy_file {
                    connection = open_copy(&mut connection).await.map_err(|error| {
                        SourceError::Copy(label.clone(), std::env::temp_dir().display().to_string(), one_line(&error))
                    })?;
                } else {
                    execute(&mut connection, SQLITE_SNAPSHOT).await.map_err(failed)?;
                }
                (AnyConnection::Sqlite(Box::new(connection)), Dialect::Sqlite)
            }
            Location::MySql(options) => {
                let options = options.as_ref().clone().disable_statement_logging();
                let mut connection = MySqlConnection::connect_with(&options).await.map_err(failed)?;
                // Rows are read as slowly as they are written here.
                for sql in [
                    "set session net_write_timeout = 3600, wait_timeout = 86400",
                    "set session transaction isolation level repeatable read",
                    "start transaction with consistent snapshot, read only",
                ] {
                    execute(&mut connection, sql).await.map_err(failed)?;
                }
                // The limits of MariaDB and of MySQL; each server knows one of them.
                for sql in ["set session max_statement_time = 0", "set session max_execution_time = 0"] {
                    let _ = execute(&mut connection, sql).await;
                }
                (AnyConnection::MySql(Box::new(connection)), Dialect::MySql)
            }
            Location::Postgres(options) => {
                let options = options.as_ref().clone().disable_statement_logging();
                let mut connection = PgConnection::connect_with(&options).await.map_err(failed)?;
                for sql in [
                    "set statement_timeout = 0",
                    "set idle_in_transaction_session_timeout = 0",
                    "begin isolation level repeatable read read only",
                ] {
                    execute(&mut connection, sql).await.map_err(failed)?;
                }
                (AnyConnection::Postgres(Box::new(connection)), Dialect::Postgres)
            }
        };
        Ok(Self { connection, dialect, label })
    }

    /// The rows of a statement, whose columns are all text, as they arrive.
    pub fn stream(&mut self, sql: String, other: InvalidUtf8) -> BoxStream<'_, Result<TextRow, SourceError>> {
        match &mut self.connection {
            AnyConnection::Sqlite(connection) => text_rows!(&mut **connection, sql, self.label, other),
            AnyConnection::MySql(connection) => text_rows!(&mut **connection, sql, self.label, other),
            AnyConnection::Postgres(connection) => text_rows!(&mut **connection, sql, self.label, other),
        }
    }

    /// All rows of a statement.
    ///
    /// # Errors
    /// The database failed, or the text is not UTF-8.
    pub async fn fetch(&mut self, sql: String) -> Result<Vec<TextRow>, SourceError> {
        self.fetch_as(sql, InvalidUtf8::Refused).await
    }

    /// All rows of a statement.
    ///
    /// # Errors
    /// The database failed; the text is not UTF-8, unless `other` lets it pass.
    pub async fn fetch_as(&mut self, sql: String, other: InvalidUtf8) -> Result<Vec<TextRow>, SourceError> {
        let mut rows = self.stream(sql, other);
        let mut all = Vec::new();
        while let Some(row) = rows.next().await {
            all.push(row?);
        }
        Ok(all)
    }

    /// The one number that a statement returns; 0 without a row.
    ///
    /// # Errors
    /// As [`ForeignDatabase::fetch`].
    pub async fn number(&mut self, sql: String) -> Result<i64, SourceError> {
        let rows = self.fetch(sql).await?;
        let value = rows.into_iter().next().and_then(|row| row.into_iter().next().flatten());
        Ok(value.and_then(|text| text.parse().ok()).unwrap_or(0))
    }

    /// Ends the snapshot and the connection.
    pub async fn close(self) {
        // What it read is known; a server that does not hear of the end finds out.
        let _ = match self.connection {
            AnyConnection::Sqlite(connection) => connection.close().await,
            AnyConnection::MySql(connection) => connection.close().await,
            AnyConnection::Postgres(connection) => connection.close().await,
        };
    }

    /// The columns of a table by the database's catalogue; none if it does not exist. `table` is a name of ours.
    ///
    /// # Errors
    /// As [`ForeignDatabase::fetch`].
    pub async fn columns(&mut self, table: &str) -> Result<BTreeSet<String>, SourceError> {
        let sql = match self.dialect {
            Dialect::Sqlite => format!("select cast(name as text) from pragma_table_info('{table}')"),
            Dialect::MySql => format!(
                "select cast(column_name as char) from information_schema.columns \
                 where table_schema = database() and table_name = '{table}'"
            ),
            Dialect::Postgres => format!(
                "select column_name::text from information_schema.columns \
                 where table_schema = any(current_schemas(false)) and table_name = '{table}'"
            ),
        };
        let rows = self.fetch(sql).await?;
        Ok(rows
            .into_iter()
            .filter_map(|row| row.into_iter().next().flatten())
            .map(|name| name.to_lowercase())
            .collect())
    }

    /// The columns of a table by their names as they are written there, each with its default as the catalogue has it.
    ///
    /// # Errors
    /// As [`ForeignDatabase::fetch`].
    pub async fn column_defaults(&mut self, table: &str) -> Result<Vec<(String, String)>, SourceError> {
        let sql = match self.dialect {
            Dialect::Sqlite => {
                format!("select cast(name as text), cast(dflt_value as text) from pragma_table_info('{table}')")
            }
            Dialect::MySql => format!(
                "select cast(column_name as char), cast(column_default as char) from information_schema.columns \
                 where table_schema = database() and table_name = '{table}'"
            ),
            Dialect::Postgres => format!(
                "select column_name::text, column_default::text from information_schema.columns \
                 where table_schema = any(current_schemas(false)) and table_name = '{table}'"
            ),
        };
        let column = |row: TextRow| {
            let mut values = row.into_iter();
            Some((values.next()??, values.next().flatten().unwrap_or_default()))
        };
        Ok(self.fetch(sql).await?.into_iter().filter_map(column).collect())
    }
}

async fn open_file(path: &Path) -> Result<SqliteConnection, sqlx::Error> {
    let options = sqlx_sqlite::SqliteConnectOptions::new().filename(path).read_only(true);
    options.disable_statement_logging().connect().await
}

/// The first read takes the snapshot.
const SQLITE_SNAPSHOT: &str = "begin; select count(*) from sqlite_master";

/// Copies an open database, and begins a snapshot of the copy. The copy contains keys, so only this process can read
/// it: it is deleted here, and exists until the connection ends.
async fn open_copy(connection: &mut SqliteConnection) -> Result<SqliteConnection, sqlx::Error> {
    let dir = tempfile::Builder::new().permissions(Permissions::from_mode(0o700)).tempdir()?;
    let path = dir.path().join("copy.db");
    #[expect(clippy::disallowed_methods, reason = "there is no such statement in PostgreSQL")]
    let copy = sqlx::query("vacuum into ?").bind(path.to_string_lossy().into_owned());
    copy.execute(connection).await?;
    let mut copy = open_file(&path).await?;
    execute(&mut copy, SQLITE_SNAPSHOT).await?;
    dir.close()?;
    Ok(copy)
}

/// Runs statements without parameters and without rows that matter.
async fn execute<'c, C>(connection: &'c mut C, sql: &'static str) -> Result<(), sqlx::Error>
where
    C: Connection,
    &'c mut C: sqlx::Executor<'c, Database = C::Database>,
{
    sqlx::raw_sql(sql).execute(connection).await.map(drop)
}

/// An error of the driver as one line.
fn one_line(error: &sqlx::Error) -> String {
    #[expect(clippy::wildcard_enum_match_arm, reason = "all others have one text")]
    let text = match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        sqlx::Error::Io(error) => error.to_string(),
        other => other.to_string(),
    };
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the file can be written to while it is open as a source.
    async fn is_writable_meanwhile(copy_file: bool) -> bool {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("one-api.db");
        let options = sqlx_sqlite::SqliteConnectOptions::new().filename(&path).create_if_missing(true);
        let options = options.busy_timeout(std::time::Duration::ZERO);
        let mut writer = options.connect().await.unwrap();
        execute(&mut writer, "create table logs (quota integer); insert into logs values (7)").await.unwrap();
        let mut source = ForeignDatabase::open(&Location::Sqlite(path), copy_file).await.unwrap();
        let written = execute(&mut writer, "insert into logs values (1)").await.is_ok();
        assert_eq!(source.number("select cast(sum(quota) as text) from logs".into()).await.unwrap(), 7);
        written
    }

    #[tokio::test]
    async fn a_rehearsal_does_not_block_a_service_that_writes_to_its_file() {
        assert!(is_writable_meanwhile(true).await);
        assert!(!is_writable_meanwhile(false).await, "an import reads the file itself");
    }
}
