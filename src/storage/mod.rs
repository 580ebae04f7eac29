//! SQL and nothing else: one file per family of tables, free functions, the connection first.
//! Knows no rules and no HTTP. Every statement is checked by the compiler against `migrations/`.

#![expect(
    clippy::missing_errors_doc,
    reason = "every function here fails for one reason: StorageError, documented once"
)]

pub mod access_tokens;
pub mod audit;
mod columns;
pub mod consistency;
#[cfg(feature = "embedded")]
pub mod embedded;
pub mod enablement;
pub mod gateways;
pub mod installation;
pub mod ledger;
mod metrics;
pub mod notifications;
pub mod retention;
pub mod sessions;
pub mod tokens;
pub mod usage;
pub mod users;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use prometheus_client::registry::Registry;
use sqlx::error::DatabaseError;
use sqlx::migrate::{MigrateError, Migrator};
use sqlx::pool::PoolConnectionMetadata;
use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{ConnectOptions, Connection, PgPool, Postgres};

use self::metrics::DbMetrics;
use crate::domain::time::UnixTime;

/// A connection, in a transaction or not.
pub type Conn = sqlx::PgConnection;

/// A connection that goes back to its pool.
pub type PoolConnection = sqlx::pool::PoolConnection<Postgres>;

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

/// Options of every connection of the service. Where the reason is not beside them:
///
/// - A paused or cut-off server keeps its row locks for as long as its transaction lives, and every other server
///   waits for them. No transaction of ours rests between two statements, so PostgreSQL may end one that does.
/// - PostgreSQL notices a peer that vanished without a word after seconds, not after the kernel's two hours.
/// - A request waits for a locked row for a moment only. It would hold a connection while it waits, and a few of them
///   would hold all.
const OPTIONS: [(&str, &str); 12] = [
    ("idle_in_transaction_session_timeout", "5s"),
    ("tcp_keepalives_idle", "5"),
    ("tcp_keepalives_interval", "2"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "10s"),
    ("lock_timeout", "1s"),
    // An answer is a promise that a crash of the database keeps, whatever the database's own default is (L4).
    ("synchronous_commit", "on"),
    // Plans must not depend on statistics, which a fresh table or a restored one does not have: a plan that was made
    // while a table was small would read all of it when it is large, in every batch of the ledger. So no plan may read
    // a table, or a whole index, from one end to the other to join it.
    ("enable_seqscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    ("enable_bitmapscan", "off"),
    // No statement here is worth compiling.
    ("jit", "off"),
];

/// Connections that have to be left for everything else where some are kept for gateways.
const FEWEST_FOR_OTHERS: u32 = 4;

/// For how long connections are examined before use after the database refused or failed a request.
const SUSPICION: Duration = Duration::from_secs(5);

/// Age at which a connection to a server that takes no writes is closed, to find the one that does. Younger ones
/// serve reads, so that a database that stays read-only is not flooded with new connections.
const READ_ONLY_AGE: Duration = Duration::from_secs(2);

/// How long a connection may take to prove that it lives.
const PROOF_OF_LIFE: Duration = Duration::from_secs(3);

/// How the database is reached.
#[derive(Debug, Clone)]
pub struct DbOptions {
    /// Where, and as whom.
    pub connect: PgConnectOptions,
    /// Connections at most. The embedded database has just one.
    pub connections: u32,
    /// Those of them that are kept for what gateways wait for: charging, reading keys and credentials. None where fewer than
    /// four would be left for everything else.
    pub reserved: u32,
    /// PostgreSQL's `plan_cache_mode`.
    pub plan_cache_mode: &'static str,
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
    /// Another transaction holds a lock on a row for longer than anyone waits here.
    #[error("another transaction holds a row for too long: {0}")]
    Locked(#[source] sqlx::Error),
    /// The batch it was to be part of ended without an outcome.
    #[error("the batch ended without an outcome")]
    GivenUp,
    /// Too many requests wait for the same writer.
    #[error("too many requests are waiting")]
    Busy,
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
    UsernameSkeletonUnique,
    /// This account has asked already and waits for an answer.
    OnePendingRequest,
    /// Another server has just written this receipt.
    IdempotencyKeyUnique,
}

impl From<sqlx::Error> for StorageError {
    fn from(error: sqlx::Error) -> Self {
        use sqlx::Error::{BeginFailed, Io, PoolClosed, PoolTimedOut, Protocol, Tls, WorkerCrashed};
        let named = error.as_database_error().and_then(|answer| match answer.constraint() {
            Some("users_username_unique") => Some(Constraint::UsernameUnique),
            Some("users_username_skeleton_unique") => Some(Constraint::UsernameSkeletonUnique),
            Some("enablement_requests_one_pending") => Some(Constraint::OnePendingRequest),
            Some("idempotency_records_pkey") => Some(Constraint::IdempotencyKeyUnique),
            _ => None,
        });
        if let Some(constraint) = named {
            return Self::Constraint(constraint);
        }
        let code = error.as_database_error().and_then(DatabaseError::code);
        match code.as_deref() {
            Some("40001" | "40P01") => return Self::Contended(error),
            Some("55P03") => return Self::Locked(error),
            _ => {}
        }
        let passing = code.is_some_and(|code| PASSING.iter().any(|class| code.starts_with(class)));
        let no_connection =
            matches!(error, Io(_) | Tls(_) | Protocol(_) | PoolTimedOut | PoolClosed | WorkerCrashed | BeginFailed);
        if passing || no_connection { Self::Unavailable(error) } else { Self::Broken(error) }
    }
}

/// Classes of SQLSTATE that say nothing about the statement: the server, the connection or the session is in no state
/// to serve it, and the same request may work in a moment, here or on the server that takes over.
///
/// 08 connection exception, 25 invalid transaction state (25006: the server takes no writes; 25P03: idle for too
/// long), 28 invalid authorization, 3D no such database, 53 insufficient resources (disk full, out of memory, too many
/// connections), 55 not in prerequisite state, 57 operator intervention (shut down, crash, statement timeout), 58 system
/// error, F0 configuration file, XX internal error.
const PASSING: [&str; 10] = ["08", "25", "28", "3D", "53", "55", "57", "58", "F0", "XX"];

impl StorageError {
    /// Whether one row or one value of a batch may be the cause, so that the rest of the batch may work without it.
    #[must_use]
    pub fn may_concern_one_row(&self) -> bool {
        match self {
            Self::Broken(_) | Self::Constraint(_) => true,
            Self::Unavailable(error) => {
                let code = error.as_database_error().and_then(DatabaseError::code);
                // Damage of a page, or an error of the file system at one.
                code.is_some_and(|code| code.starts_with("XX") || code.starts_with("58"))
            }
            // Rows that are held are left out before; this is a table that is locked as a whole.
            Self::Locked(_) | Self::Contended(_) | Self::GivenUp | Self::Busy => false,
        }
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
    /// Names and texts would be refused, or stored damaged.
    #[error(
        "the database's encoding is {0}, and Keymeter needs UTF8; make a new database with \
         `create database keymeter encoding 'UTF8' template template0` and use that one"
    )]
    Encoding(String),
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
pub struct Db {
    pool: PgPool,
    /// Kept for what gateways wait for, so that slow requests of people cannot take every connection from them.
    reserved: PgPool,
    suspicion: Arc<Suspicion>,
    metrics: DbMetrics,
    /// How long a transaction of the ledger may take; the database ends each statement much sooner.
    patience: Duration,
}

/// When the database last failed a request. Connections are examined for a while after that; at all other times a
/// busy connection has just shown that it lives.
#[derive(Debug)]
struct Suspicion {
    start: Instant,
    /// Milliseconds from `start` to the end of the suspicion.
    until: AtomicU64,
}

impl Suspicion {
    fn new() -> Self {
        Self { start: Instant::now(), until: AtomicU64::new(0) }
    }

    fn raise(&self) {
        let until = u64::try_from((self.start.elapsed() + SUSPICION).as_millis()).unwrap_or(u64::MAX);
        self.until.fetch_max(until, Ordering::Relaxed);
    }

    fn is_raised(&self) -> bool {
        self.start.elapsed().as_millis() < u128::from(self.until.load(Ordering::Relaxed))
    }
}

/// What `/readyz` and the jobs ask of the database.
#[derive(Debug, Clone, Copy)]
pub struct Health {
    /// Whether every migration of this binary was applied.
    pub is_migrated: bool,
    /// Whether it takes writes: a standby, or a primary that was demoted, does not.
    pub is_writable: bool,
    /// What its clock says.
    pub now: UnixTime,
}

impl Db {
    /// Wraps a pool that is there already: tests bring their own.
    #[must_use]
    pub fn new(pool: PgPool) -> Self {
        Self {
            reserved: pool.clone(),
            suspicion: Arc::new(Suspicion::new()),
            metrics: DbMetrics::new(vec![pool.clone()]),
            patience: Duration::from_mins(1),
            pool,
        }
    }

    /// Opens the pool. Connections are made when they are needed, so that an outage of the database
    /// ends by itself.
    #[must_use]
    pub fn open(options: &DbOptions) -> Self {
        let suspicion = Arc::new(Suspicion::new());
        let others = options.connections.saturating_sub(options.reserved);
        let reserved = if others >= FEWEST_FOR_OTHERS { options.reserved } else { 0 };
        let pool = open_pool(options, options.connections.saturating_sub(reserved), &suspicion);
        let (reserved, pools) = if reserved > 0 {
            let reserved = open_pool(options, reserved, &suspicion);
            (reserved.clone(), vec![pool.clone(), reserved])
        } else {
            (pool.clone(), vec![pool.clone()])
        };
        let patience = options.statement_timeout.saturating_mul(2) + PROOF_OF_LIFE;
        Self { pool, reserved, suspicion, metrics: DbMetrics::new(pools), patience }
    }

    /// Registers the metrics of the connections.
    pub fn register_metrics(&self, registry: &mut Registry) {
        self.metrics.register(registry);
    }

    /// A connection, for statements that need no transaction.
    ///
    /// # Errors
    /// None came free in time.
    pub async fn acquire(&self) -> Result<PoolConnection, StorageError> {
        Ok(self.metrics.time(self.pool.acquire()).await?)
    }

    /// One of the connections that are kept for what gateways wait for.
    ///
    /// # Errors
    /// None came free in time.
    pub async fn acquire_reserved(&self) -> Result<PoolConnection, StorageError> {
        Ok(self.metrics.time(self.reserved.acquire()).await?)
    }

    /// A transaction.
    ///
    /// # Errors
    /// No connection came free in time.
    pub async fn begin(&self) -> Result<Tx, StorageError> {
        Ok(self.metrics.time(self.pool.begin()).await?)
    }

    /// Runs `work` on a connection that is kept for what gateways wait for, and that is closed, not waited for, if the answer does not come: a database that
    /// vanished without a word would otherwise hold its caller for as long as the kernel keeps trying.
    ///
    /// # Errors
    /// No connection came free in time; `work` failed or took too long.
    pub async fn bounded<T>(
        &self,
        work: impl AsyncFnOnce(&mut Conn) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        let mut conn = self.acquire_reserved().await?;
        match tokio::time::timeout(self.patience, work(&mut conn)).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => {
                self.suspect();
                Err(error)
            }
            Err(_) => {
                self.suspect();
                conn.close_on_drop();
                Err(StorageError::Unavailable(no_answer()))
            }
        }
    }

    /// To be called when a request failed in the database: connections are examined before use for a while, and those
    /// that lead to a server that takes no writes any more are closed.
    pub fn suspect(&self) {
        self.suspicion.raise();
    }

    /// How the database is.
    ///
    /// # Errors
    /// It does not answer.
    pub async fn health(&self) -> Result<Health, StorageError> {
        let mut conn = self.acquire().await?;
        let newest = MIGRATOR.iter().map(|migration| migration.version).max().unwrap_or(0);
        let row = sqlx::query!(
            r#"select (select max(version) from _sqlx_migrations where success) as applied,
               current_setting('transaction_read_only') = 'off' as "is_writable!",
               extract(epoch from clock_timestamp())::bigint as "now!: UnixTime""#
        )
        .fetch_one(&mut *conn)
        .await?;
        if !row.is_writable {
            self.suspect();
        }
        let is_migrated = row.applied.is_some_and(|applied| applied >= newest);
        Ok(Health { is_migrated, is_writable: row.is_writable, now: row.now })
    }

    /// Waits for every connection to come back, then closes them all.
    pub async fn close(&self) {
        // A dropped transaction is rolled back on its way home; the embedded database has to see that
        // before it is stopped.
        drop(self.pool.acquire().await);
        self.pool.close().await;
        self.reserved.close().await;
    }
}

/// A pool whose connections are examined before use while the database is under suspicion.
fn open_pool(options: &DbOptions, connections: u32, suspicion: &Arc<Suspicion>) -> PgPool {
    let limit = format!("{}ms", options.statement_timeout.as_millis());
    let (before_use, after_use) = (Arc::clone(suspicion), Arc::clone(suspicion));
    PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(options.acquire)
        .test_before_acquire(false)
        .before_acquire(move |conn, meta| {
            let is_suspected = before_use.is_raised();
            Box::pin(async move { is_usable(conn, &meta, is_suspected).await })
        })
        .after_release(move |conn, _| {
            let is_suspected = after_use.is_raised();
            // The pool asks without a limit of time, and an answer that never comes would keep the place.
            Box::pin(async move { if is_suspected { lives(conn).await.map(|()| true) } else { Ok(true) } })
        })
        .connect_lazy_with(
            options
                .connect
                .clone()
                .options(OPTIONS)
                .options([("statement_timeout", limit.as_str()), ("plan_cache_mode", options.plan_cache_mode)]),
        )
}

/// Whether a resting connection may be handed out. A rested one is asked whether it lives; under suspicion, every one
/// is asked whether it leads to a server that takes writes.
async fn is_usable(conn: &mut Conn, meta: &PoolConnectionMetadata, is_suspected: bool) -> Result<bool, sqlx::Error> {
    if is_suspected {
        let asked = sqlx::query_scalar!(r#"select current_setting('transaction_read_only') = 'off' as "is_writable!""#)
            .fetch_one(conn);
        let is_writable = tokio::time::timeout(PROOF_OF_LIFE, asked).await.map_err(|_| no_answer())??;
        return Ok(is_writable || meta.age < READ_ONLY_AGE);
    }
    if meta.idle_for > REST_BEFORE_PING {
        lives(conn).await?;
    }
    Ok(true)
}

async fn lives(conn: &mut Conn) -> Result<(), sqlx::Error> {
    tokio::time::timeout(PROOF_OF_LIFE, conn.ping()).await.map_err(|_| no_answer())?
}

fn no_answer() -> sqlx::Error {
    sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())
}

/// What the database's clock says. What is deleted for its age is deleted by this clock: a server whose own clock is
/// wrong must not destroy what the others rely on.
pub async fn now(conn: &mut Conn) -> Result<UnixTime, StorageError> {
    let now = sqlx::query_scalar!(r#"select extract(epoch from clock_timestamp())::bigint as "now!: UnixTime""#)
        .fetch_one(conn)
        .await?;
    Ok(now)
}

/// Begins a transaction on a connection that is there: rolled back unless committed.
pub async fn begin(conn: &mut Conn) -> Result<sqlx::Transaction<'_, Postgres>, StorageError> {
    Ok(conn.begin().await?)
}

/// Commits, or says why not.
///
/// # Errors
/// The database did not confirm.
pub async fn commit(tx: sqlx::Transaction<'_, Postgres>) -> Result<(), StorageError> {
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
    if found.encoding != "UTF8" {
        return Err(OpenError::Encoding(found.encoding));
    }
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
