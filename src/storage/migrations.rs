//! Reads the state of a database, and migrates it.

use std::collections::HashMap;
use std::time::Duration;

use sqlx::error::DatabaseError;
use sqlx::migrate::{MigrateError, Migration, Migrator};
use sqlx::postgres::PgConnectOptions;
use sqlx::{ConnectOptions, Connection};

use super::conn::Conn;
use super::errors::{StorageError, is_outage};
use super::installation;
use super::migrate::apply_pending;
use super::options::DbOptions;
use super::session_settings::{SessionSettings, SettingsDropped};

/// The migrations, as files under `migrations/` and inside the binary.
pub static MIGRATOR: Migrator = sqlx::migrate!();

/// The newest migration of this program.
pub fn newest_migration() -> i64 {
    MIGRATOR.iter().map(|migration| migration.version).max().unwrap_or(0)
}

/// The oldest supported PostgreSQL: 14, as `server_version_num` counts.
const MIN_SERVER_VERSION: u32 = 140_000;

/// How long the first connection may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Why no connection can be opened, and what to do.
fn explained(cause: &sqlx::Error) -> String {
    // The first answer to a connection was none, or nothing that PostgreSQL says.
    if let sqlx::Error::Protocol(text) = cause
        && text.contains("SSLRequest")
    {
        return NOT_POSTGRES.to_owned();
    }
    format!("{cause}; {}", remedy(cause))
}

const NOT_POSTGRES: &str = "what answers there closes the connection: a proxy such as HAProxy that has no PostgreSQL behind it, \
     or another program; check that a PostgreSQL is up, and DATABASE_URL";

/// What to do if no connection can be opened.
fn remedy(cause: &sqlx::Error) -> &'static str {
    let refused = cause.as_database_error();
    if is_certificate(cause) {
        CERTIFICATE
    } else if refused.is_some_and(|error| error.message().contains("unsupported startup parameter")) {
        "this is a pooler such as PgBouncer, which drops the settings of sessions that Keymeter needs; connect to PostgreSQL itself"
    } else if refused.and_then(DatabaseError::code).is_some_and(|code| code.starts_with("28")) {
        "check user and password in DATABASE_URL; special characters of a password are percent-encoded (`@` is %40, `#` is %23)"
    } else {
        "check DATABASE_URL and that the server runs"
    }
}

/// Returns true if the server's certificate is not accepted, which is an error of the socket.
fn is_certificate(cause: &sqlx::Error) -> bool {
    let is_invalid = |error: &std::io::Error| error.kind() == std::io::ErrorKind::InvalidData;
    matches!(cause, sqlx::Error::Tls(_)) || matches!(cause, sqlx::Error::Io(error) if is_invalid(error))
}

const CERTIFICATE: &str = "if an authority of your own has signed its certificate, add `sslrootcert=/path/to/ca.pem` to DATABASE_URL, \
     or add the authority to those of the system";

/// Why the database cannot be used at start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No answer, or the credentials were refused.
    #[error("cannot reach PostgreSQL at {place}: {}", explained(.cause))]
    Unreachable {
        /// Host and port or the directory of the socket, never the password.
        place: String,
        cause: sqlx::Error,
    },
    #[error(transparent)]
    SettingsDropped(#[from] SettingsDropped),
    #[error("PostgreSQL {0} is too old: version 14 or newer is needed; upgrade the server")]
    TooOld(String),
    /// Other encodings refuse or damage text.
    #[error(
        "the database's encoding is {0}, and Keymeter needs UTF8; make a new database with \
         `create database keymeter encoding 'UTF8' template template0` and use that one"
    )]
    Encoding(String),
    /// Charges could not wait for the disk.
    #[error(
        "the role {role} may not call pg_logical_emit_message, with which Keymeter waits for the disk; allow it with \
         `grant execute on function {function} to {role}`"
    )]
    FlushForbidden { role: String, function: String },
    /// A newer program has changed what the statements of this one rely on.
    #[error(
        "a newer keymeter has migrated this database, and only programs with migration {0} can use it; start that \
         newer version"
    )]
    NewerSchema(i64),
    /// Probably a stray `DATABASE_URL`.
    #[error(
        "the database {database} at {place} has tables of another program (such as `{table}`) and none of Keymeter; nothing \
         was written. Check DATABASE_URL, or create an empty database and use that one"
    )]
    ForeignDatabase { database: String, place: String, table: String },
    /// A migration failed and was rolled back.
    #[error("cannot migrate the database: {0}; the failed migration was rolled back")]
    Migration(MigrateError),
    #[error("cannot use the database: {0}")]
    Other(#[from] StorageError),
}

impl OpenError {
    /// Returns true if the same may succeed shortly: the database does not answer, or takes no writes.
    pub fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable { cause, .. } => may_answer_later(cause),
            Self::Migration(MigrateError::Execute(cause) | MigrateError::ExecuteMigration(cause, _)) => {
                is_outage(cause)
            }
            Self::Other(error) => error.is_outage(),
            Self::SettingsDropped(_)
            | Self::TooOld(_)
            | Self::Encoding(_)
            | Self::FlushForbidden { .. }
            | Self::NewerSchema(_)
            | Self::ForeignDatabase { .. }
            | Self::Migration(_) => false,
        }
    }
}

/// Returns true if a server that could not be reached may answer later: it starts, fails over or has no free
/// connection. False if it refused the user, the database or the way to connect.
fn may_answer_later(cause: &sqlx::Error) -> bool {
    match cause.as_database_error().and_then(DatabaseError::code) {
        // 53 insufficient resources, 57 operator intervention: it starts or stops.
        Some(code) => code.starts_with("53") || code.starts_with("57"),
        None => {
            matches!(cause, sqlx::Error::Io(_) | sqlx::Error::Protocol(_) | sqlx::Error::PoolTimedOut)
                && !is_certificate(cause)
        }
    }
}

/// The state of a database before it is migrated.
#[derive(Debug)]
pub struct SchemaState {
    /// The version of PostgreSQL, such as `17.2`.
    pub server: String,
    /// The number of migrations to apply.
    pub pending: usize,
    /// Of the master keys that open the database: of one, or of two while it is changed. Empty before the first start.
    pub key_checks: Vec<Vec<u8>>,
}

/// Reads the state of a database without changing anything.
///
/// # Errors
/// See [`OpenError`].
pub async fn inspect(options: &DbOptions) -> Result<SchemaState, OpenError> {
    let settings = SessionSettings::of(options);
    options.hosts.find_primary().await;
    let mut conn = connect(options, settings.asked_for(options.hosts.current().clone())).await?;
    settings.check(&mut conn).await.map_err(StorageError::from)??;
    let version = conn.server_version_num().unwrap_or(0);
    let server = format!("{}.{}", version / 10_000, version % 10_000);
    if version < MIN_SERVER_VERSION {
        return Err(OpenError::TooOld(server));
    }
    let found = installation::inspect(&mut conn).await?;
    if found.encoding != "UTF8" {
        return Err(OpenError::Encoding(found.encoding));
    }
    if let Some(table) = found.foreign_table {
        return Err(foreign_database(options, table));
    }
    if let Some(function) = found.forbidden_flush {
        return Err(OpenError::FlushForbidden { role: found.role, function });
    }
    if newest_migration() < found.min_migration {
        return Err(OpenError::NewerSchema(found.min_migration));
    }
    let applied: HashMap<_, _> = found.applied.into_iter().collect();
    let is_changed =
        |migration: &&Migration| applied.get(&migration.version).is_some_and(|sum| *sum != *migration.checksum);
    if let Some(changed) = MIGRATOR.iter().find(is_changed) {
        return Err(OpenError::Migration(MigrateError::VersionMismatch(changed.version)));
    }
    conn.close().await.map_err(StorageError::from)?;
    let pending = MIGRATOR.iter().filter(|migration| !applied.contains_key(&migration.version)).count();
    Ok(SchemaState { server, pending, key_checks: found.key_checks })
}

/// Applies the pending migrations. Any number of servers may start at once: one of them does it.
///
/// # Errors
/// See [`OpenError`].
pub async fn migrate(options: &DbOptions) -> Result<(), OpenError> {
    inspect(options).await?;
    let mut conn = connect(options, options.hosts.current().clone()).await?;
    apply_pending(&mut conn, &MIGRATOR).await.map_err(OpenError::Migration)?;
    conn.close().await.map_err(StorageError::from)?;
    Ok(())
}

/// Host and port or the directory of the socket, never the password.
fn place(options: &DbOptions) -> String {
    let connect = options.hosts.current();
    match connect.get_socket() {
        Some(directory) => directory.display().to_string(),
        None => format!("{}:{}", connect.get_host(), connect.get_port()),
    }
}

fn foreign_database(options: &DbOptions, table: String) -> OpenError {
    let connect = options.hosts.current();
    let database = connect.get_database().unwrap_or_else(|| connect.get_username()).to_owned();
    OpenError::ForeignDatabase { database, place: place(options), table }
}

async fn connect(options: &DbOptions, connect: PgConnectOptions) -> Result<Conn, OpenError> {
    let place = place(options);
    // Notices such as "relation already exists, skipping" are not worth a line in the log.
    let quiet = connect.options([("client_min_messages", "warning")]);
    match tokio::time::timeout(CONNECT_TIMEOUT, quiet.connect()).await {
        Ok(Ok(conn)) => Ok(conn),
        Ok(Err(cause)) => Err(OpenError::Unreachable { place, cause }),
        Err(_) => Err(OpenError::Unreachable { place, cause: sqlx::Error::PoolTimedOut }),
    }
}
