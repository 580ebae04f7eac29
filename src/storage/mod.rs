//! SQL and nothing else: one file per family of tables, free functions, the connection first.
//! Knows no rules and no HTTP. Every statement is checked by the compiler against `migrations/`.

#![expect(
    clippy::missing_errors_doc,
    reason = "every function here fails for one reason: StorageError, documented once"
)]

pub mod access_tokens;
pub mod api_requests;
pub mod audit;
pub mod changes;
#[cfg(feature = "embedded")]
pub mod embedded;
pub mod gateways;
pub mod installation;
pub mod ledger;
pub mod proof;
pub mod sessions;
pub mod tokens;
pub mod usage;
pub mod users;

use std::time::Duration;

use sqlx::error::DatabaseError;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, PgPool, Postgres};

/// A connection, in a transaction or not.
pub type Conn = sqlx::PgConnection;

/// A transaction: rolled back unless committed.
pub type Tx = sqlx::Transaction<'static, Postgres>;

/// The migrations, as files under `migrations/` and inside the binary.
pub static MIGRATOR: Migrator = sqlx::migrate!();

/// The oldest PostgreSQL that is served: 14, as `server_version_num` counts.
const OLDEST_SERVER: u32 = 140_000;

/// Seconds a connection may rest before it is asked whether it still lives.
const REST_BEFORE_PING: Duration = Duration::from_secs(1);

/// How long the first connection may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// How the database is reached.
#[derive(Debug, Clone)]
pub struct DbOptions {
    /// Where, and as whom.
    pub connect: PgConnectOptions,
    /// Connections at most. The embedded database has just one.
    pub connections: u32,
    /// How long a request waits for a connection before it is answered 503.
    pub acquire: Duration,
    /// How long one statement may run.
    pub statement_timeout: Duration,
}

/// What went wrong below the rules.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// Away, restarting, or overloaded: the same request may work in a moment.
    #[error("the database cannot be reached: {0}")]
    Unavailable(#[source] sqlx::Error),
    /// A named constraint said no.
    #[error("the constraint {0:?} refused it")]
    Constraint(Constraint),
    /// A deadlock or a serialization failure: trying again at once is likely to work.
    #[error("the database had to choose between transactions: {0}")]
    Contended(#[source] sqlx::Error),
    /// The batch it was to be part of ended without an outcome; nothing was written.
    #[error("the batch was given up before it was written")]
    GivenUp,
    /// A defect, here or there.
    #[error("the database answered with an error: {0}")]
    Broken(#[source] sqlx::Error),
}

/// The constraints that callers can run into, and that services turn into their own errors.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Constraint {
    /// Another live account has this name.
    UsernameUnique,
    /// Another live account looks like it.
    UsernameLooksUnique,
    /// This account has asked already and waits for an answer.
    OnePendingRequest,
    /// Another server has just written this receipt.
    ReceiptUnique,
}

impl From<sqlx::Error> for StorageError {
    fn from(error: sqlx::Error) -> Self {
        use sqlx::Error::{BeginFailed, Io, PoolClosed, PoolTimedOut, Protocol, Tls, WorkerCrashed};
        let named = error.as_database_error().and_then(|answer| match answer.constraint() {
            Some("users_username_unique") => Some(Constraint::UsernameUnique),
            Some("users_username_looks_unique") => Some(Constraint::UsernameLooksUnique),
            Some("token_api_requests_one_pending") => Some(Constraint::OnePendingRequest),
            Some("receipts_pkey") => Some(Constraint::ReceiptUnique),
            _ => None,
        });
        if let Some(constraint) = named {
            return Self::Constraint(constraint);
        }
        let code = error.as_database_error().and_then(DatabaseError::code);
        if matches!(code.as_deref(), Some("40001" | "40P01")) {
            return Self::Contended(error);
        }
        // Connection exceptions, insufficient resources, operator intervention (shut down, crash,
        // statement timeout) pass when one tries again.
        let passing = code.is_some_and(|code| ["08", "53", "57"].iter().any(|class| code.starts_with(class)));
        let no_connection =
            matches!(error, Io(_) | Tls(_) | Protocol(_) | PoolTimedOut | PoolClosed | WorkerCrashed | BeginFailed);
        if passing || no_connection { Self::Unavailable(error) } else { Self::Broken(error) }
    }
}

/// Why the database cannot be used at start.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// Nobody answers, or not to us.
    #[error("cannot reach PostgreSQL at {place}: {cause}; check DATABASE_URL and that the server runs")]
    Unreachable {
        /// Host and port, never the password.
        place: String,
        /// What the driver said.
        cause: sqlx::Error,
    },
    /// Too old.
    #[error("PostgreSQL {0} is too old: version 14 or newer is needed; upgrade the server")]
    TooOld(String),
    /// A newer keymeter has been here.
    #[error(
        "this database was migrated by a newer keymeter (it has migration {0}, which this binary does not know); \
         start that newer version"
    )]
    NewerSchema(i64),
    /// A migration did not run.
    #[error("cannot migrate the database: {0}; nothing of the failed migration was kept")]
    Migration(MigrateError),
    /// Something else.
    #[error("cannot use the database: {0}")]
    Other(#[from] StorageError),
}

/// The database: a pool of connections.
#[derive(Debug, Clone)]
pub struct Db(PgPool);

impl Db {
    /// Wraps a pool that is there already: tests bring their own.
    #[must_use]
    pub const fn new(pool: PgPool) -> Self {
        Self(pool)
    }

    /// Opens the pool. Connections are made when they are needed, so that an outage of the database
    /// ends by itself.
    #[must_use]
    pub fn open(options: &DbOptions) -> Self {
        let limit = format!("{}ms", options.statement_timeout.as_millis());
        let pool = PgPoolOptions::new()
            .max_connections(options.connections)
            .acquire_timeout(options.acquire)
            // A busy connection has just shown that it lives; only a rested one is asked.
            .test_before_acquire(false)
            .before_acquire(|conn, rested| {
                Box::pin(async move {
                    if rested.idle_for > REST_BEFORE_PING {
                        conn.ping().await?;
                    }
                    Ok(true)
                })
            })
            .connect_lazy_with(options.connect.clone().options([
                ("statement_timeout", limit.as_str()),
                // Our statements have one good plan each, an index walk; planning a page anew for its
                // limit and offset costs more than reading it.
                ("plan_cache_mode", "force_generic_plan"),
                // A plan made while a table was small would read all of it when it is large, in every batch
                // of the ledger, until PostgreSQL counts anew. And no statement here is worth compiling.
                ("enable_seqscan", "off"),
                ("jit", "off"),
            ]));
        Self(pool)
    }

    /// A connection, for statements that need no transaction.
    ///
    /// # Errors
    /// None came free in time.
    pub async fn acquire(&self) -> Result<sqlx::pool::PoolConnection<Postgres>, StorageError> {
        Ok(self.0.acquire().await?)
    }

    /// A transaction.
    ///
    /// # Errors
    /// No connection came free in time.
    pub async fn begin(&self) -> Result<Tx, StorageError> {
        Ok(self.0.begin().await?)
    }

    /// Whether the database answers, and is as new as this binary.
    ///
    /// # Errors
    /// It does not answer.
    pub async fn is_ready(&self) -> Result<bool, StorageError> {
        let mut conn = self.acquire().await?;
        let newest = MIGRATOR.iter().map(|migration| migration.version).max().unwrap_or(0);
        let applied = sqlx::query_scalar!("select max(version) from _sqlx_migrations where success")
            .fetch_one(&mut *conn)
            .await?;
        Ok(applied.is_some_and(|applied| applied >= newest))
    }

    /// Waits for every connection to come back, then closes them all.
    pub async fn close(&self) {
        // A dropped transaction is rolled back on its way home; the embedded database has to see that
        // before it is stopped.
        drop(self.0.acquire().await);
        self.0.close().await;
    }
}

/// Commits, or says why not.
///
/// # Errors
/// The database did not confirm.
pub async fn commit(tx: Tx) -> Result<(), StorageError> {
    Ok(tx.commit().await?)
}

/// What is there before anything is changed.
#[derive(Debug)]
pub struct Found {
    /// The server's version, as people write it.
    pub server: String,
    /// Migrations of this binary that it does not have yet.
    pub pending: usize,
    /// The mark of the master key it was made with; none before the first start.
    pub key_check: Option<Vec<u8>>,
}

/// Looks at the database without changing anything.
///
/// # Errors
/// See [`OpenError`]; each says what to do.
pub async fn look(options: &DbOptions) -> Result<Found, OpenError> {
    let mut conn = connect(options).await?;
    let version = conn.server_version_num().unwrap_or(0);
    let server = format!("{}.{}", version / 10_000, version % 10_000);
    if version < OLDEST_SERVER {
        return Err(OpenError::TooOld(server));
    }
    let found = installation::look(&mut conn).await?;
    let known = |version: &i64| MIGRATOR.iter().any(|migration| migration.version == *version);
    if let Some(newer) = found.applied.iter().find(|version| !known(version)) {
        return Err(OpenError::NewerSchema(*newer));
    }
    conn.close().await.map_err(StorageError::from)?;
    let pending = MIGRATOR.iter().count().saturating_sub(found.applied.len());
    Ok(Found { server, pending, key_check: found.key_check })
}

/// Brings the schema up to this binary's, under an advisory lock: any number of replicas may start.
///
/// # Errors
/// See [`OpenError`].
pub async fn migrate(options: &DbOptions) -> Result<(), OpenError> {
    let mut conn = connect(options).await?;
    match MIGRATOR.run(&mut conn).await {
        Ok(()) => {}
        Err(MigrateError::VersionMissing(version)) => return Err(OpenError::NewerSchema(version)),
        Err(error) => return Err(OpenError::Migration(error)),
    }
    conn.close().await.map_err(StorageError::from)?;
    Ok(())
}

async fn connect(options: &DbOptions) -> Result<Conn, OpenError> {
    let place = format!("{}:{}", options.connect.get_host(), options.connect.get_port());
    // What exists already is no news.
    let quiet = options.connect.clone().options([("client_min_messages", "warning")]);
    match tokio::time::timeout(PATIENCE, quiet.connect()).await {
        Ok(Ok(conn)) => Ok(conn),
        Ok(Err(cause)) => Err(OpenError::Unreachable { place, cause }),
        Err(_) => Err(OpenError::Unreachable { place, cause: sqlx::Error::PoolTimedOut }),
    }
}
