//! The pool of connections: limits, session options, and what happens when the database fails.

use std::pin::pin;
use std::sync::{Arc, Weak};
use std::time::Duration;

use prometheus_client::registry::Registry;
use sqlx::pool::PoolConnectionMetadata;
use sqlx::postgres::PgPoolOptions;
use sqlx::{ConnectOptions, Connection, PgPool};
use tokio::sync::Semaphore;

use super::acknowledged::{Acknowledged, list_lost};
use super::conn::{Conn, PoolConnection, ReadTx, begin_asynchronous, commit_asynchronous, flush};
use super::durability::Durability;
use super::errors::{StorageError, no_answer};
use super::hosts::Hosts;
use super::metrics::DbMetrics;
use super::migrations::newest_migration;
use super::options::DbOptions;
use super::own_connection::{Keep, OwnConnection};
use super::server_state::{DatabaseState, read_state};
use super::session_settings::SessionSettings;
use super::suspicion::Suspicion;
use super::tx::Tx;

/// Idle time after which a connection is pinged before use.
const IDLE_BEFORE_PING: Duration = Duration::from_secs(1);

/// A connection to a read-only server is closed at this age, so that the next one may find a primary. Younger ones
/// serve reads, so that a database that stays read-only is not flooded with new connections.
const READ_ONLY_AGE: Duration = Duration::from_secs(2);

/// How long a reading may take for which many requests wait.
const READ_TIMEOUT: Duration = Duration::from_secs(3);

/// How long work for a gateway may take, once it has a connection. A database that vanished is noticed by it: neither
/// the driver nor PostgreSQL says so. As long as an operation waits for a locked wallet.
const GATEWAY_TIMEOUT: Duration = Duration::from_secs(8);

/// How long a stop waits for connections.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(10);

/// How long a connection may take to answer a ping.
const PING_TIMEOUT: Duration = Duration::from_secs(3);

/// The database: a pool of connections.
#[derive(Debug, Clone)]
pub struct Db {
    pub(super) pool: PgPool,
    /// Reserved for requests of gateways, so that slow requests of people cannot take every connection.
    reserved: PgPool,
    hosts: Arc<Hosts>,
    settings: Arc<SessionSettings>,
    suspicion: Arc<Suspicion>,
    metrics: DbMetrics,
    own_connection: Arc<OwnConnection>,
    durability: Arc<Durability>,
    /// The transactions that change something and may have a connection at once: reads keep the others.
    changes: Arc<Semaphore>,
    /// How long to wait for one of those.
    acquire_timeout: Duration,
    /// How long work on a connection may take. Each statement has a shorter limit of its own.
    work_timeout: Duration,
    /// The same on a connection that is reserved for gateways.
    gateway_timeout: Duration,
    /// Shared by all clones, and by nothing in the pools.
    _in_use: Arc<()>,
}

/// The state of the database, for `/readyz` and for jobs.
#[derive(Debug, Clone, Copy)]
pub struct Health {
    /// Every migration of this binary was applied.
    pub is_migrated: bool,
    /// False for a standby and for a primary that was demoted.
    pub is_writable: bool,
}

impl Db {
    /// Wraps an existing pool, for tests.
    pub fn new(pool: PgPool) -> Self {
        let hosts = Arc::new(Hosts::new((*pool.connect_options()).clone(), []));
        let settings = Arc::new(SessionSettings::none());
        let own_connection = Arc::new(OwnConnection::new(Arc::clone(&hosts), Arc::clone(&settings)));
        let suspicion = Arc::new(Suspicion::new());
        let own = Arc::clone(&own_connection);
        let durability = Arc::new(Durability::new(Duration::from_mins(1), own, Arc::clone(&suspicion)));
        Self {
            reserved: pool.clone(),
            hosts,
            settings,
            suspicion,
            metrics: DbMetrics::new(vec![pool.clone()], Arc::clone(&durability)),
            own_connection,
            durability,
            changes: Arc::new(Semaphore::new(changes_of(pool.options().get_max_connections(), true))),
            acquire_timeout: Duration::from_mins(1),
            work_timeout: Duration::from_mins(1),
            gateway_timeout: Duration::from_mins(1),
            _in_use: Arc::default(),
            pool,
        }
    }

    /// Opens the pool. Connections are opened when needed, so that the service recovers from an outage by itself.
    pub fn open(options: &DbOptions) -> Self {
        let suspicion = Arc::new(Suspicion::new());
        let settings = Arc::new(SessionSettings::of(options));
        let open = |connections| open_pool(options, connections, &settings, &suspicion);
        let pool = open(options.connections.saturating_sub(options.reserved));
        let (reserved, pools) = if options.reserved > 0 {
            let reserved = open(options.reserved);
            (reserved.clone(), vec![pool.clone(), reserved])
        } else {
            (pool.clone(), vec![pool.clone()])
        };
        let in_use = Arc::new(());
        for pool in &pools {
            tokio::spawn(close_resting(pool.clone(), options.rest, Arc::downgrade(&in_use)));
        }
        let hosts = Arc::clone(&options.hosts);
        let own_connection = Arc::new(OwnConnection::new(Arc::clone(&hosts), Arc::clone(&settings)));
        let own = Arc::clone(&own_connection);
        let durability = Arc::new(Durability::new(options.patience, own, Arc::clone(&suspicion)));
        Self {
            changes: Arc::new(Semaphore::new(changes_of(pool.options().get_max_connections(), options.reserved == 0))),
            pool,
            reserved,
            hosts,
            settings,
            suspicion,
            metrics: DbMetrics::new(pools, Arc::clone(&durability)),
            own_connection,
            durability,
            acquire_timeout: options.acquire,
            work_timeout: options.statement_timeout + PING_TIMEOUT,
            gateway_timeout: GATEWAY_TIMEOUT,
            _in_use: in_use,
        }
    }

    /// Registers the metrics of the connections.
    pub fn register_metrics(&self, registry: &mut Registry) {
        self.metrics.register(registry);
    }

    /// A connection, for statements that need no transaction.
    ///
    /// # Errors
    /// No connection came free in time.
    pub async fn acquire(&self) -> Result<PoolConnection, StorageError> {
        Ok(self.metrics.time(self.pool.acquire()).await?)
    }

    /// A connection reserved for requests of gateways.
    ///
    /// # Errors
    /// No connection came free in time.
    pub async fn acquire_reserved(&self) -> Result<PoolConnection, StorageError> {
        Ok(self.metrics.time(self.reserved.acquire()).await?)
    }

    /// A connection beside the pool, whose statements may run for hours and wait for locks as long. Its commits wait
    /// for no disk and no standby, so nobody may be told of them.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn connect_unlimited(&self) -> Result<Conn, StorageError> {
        let connect = self.settings.asked_for(self.hosts.current().clone()).disable_statement_logging();
        let mut conn = connect.connect().await?;
        sqlx::query!(
            r#"select set_config('statement_timeout', '0', false) as "a!", set_config('lock_timeout', '0', false) as "b!",
               set_config('synchronous_commit', 'off', false) as "c!""#
        )
        .fetch_one(&mut conn)
        .await?;
        Ok(conn)
    }

    /// A transaction that changes something.
    ///
    /// # Errors
    /// [`StorageError::Stalled`] while a commit waits for too long; no connection came free in time.
    pub async fn begin(&self) -> Result<Tx, StorageError> {
        self.check_stalled()?;
        let place = tokio::time::timeout(self.acquire_timeout, Arc::clone(&self.changes).acquire_owned());
        let place = place.await;
        self.check_stalled()?;
        let place = place.map_err(|_| sqlx::Error::PoolTimedOut)?.map_err(|_| sqlx::Error::PoolClosed)?;
        let durability = Arc::clone(&self.durability);
        self.begun(|conn| Tx::begin(conn, place, durability)).await
    }

    fn check_stalled(&self) -> Result<(), StorageError> {
        if self.is_stalled() { Err(StorageError::Stalled) } else { Ok(()) }
    }

    /// Returns true while a commit waits for the disk or a standby for too long, so that no change may begin.
    pub fn is_stalled(&self) -> bool {
        self.durability.is_stalled()
    }

    /// Waits until what this connection committed, or has seen, is on disk and on synchronous standbys.
    ///
    /// # Errors
    /// Whatever was committed may be on disk or not: [`StorageError::Unavailable`] or [`StorageError::NotDurable`].
    pub async fn flush(&self, mut conn: PoolConnection) -> Result<(), StorageError> {
        let flushed = self.durability.wait(async move { flush(&mut conn).await }).await;
        if let Err(error) = &flushed
            && error.may_concern_server()
        {
            self.suspect();
        }
        flushed
    }

    /// Does `work` as a transaction on a reserved connection, and waits until it is durable.
    ///
    /// # Errors
    /// As [`Db::begin`], [`Db::bounded`] and [`Db::flush`].
    pub async fn change_reserved<T>(
        &self,
        work: impl AsyncFnOnce(&mut Conn) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        self.check_stalled()?;
        let mut conn = self.acquire_reserved().await?;
        let done = self.bounded_on(&mut conn, async |conn| {
            let mut tx = begin_asynchronous(conn).await?;
            let done = work(&mut tx).await?;
            commit_asynchronous(tx).await?;
            Ok(done)
        });
        let done = done.await?;
        self.flush(conn).await?;
        Ok(done)
    }

    /// A transaction that reads.
    ///
    /// # Errors
    /// No connection came free in time.
    pub async fn begin_reading(&self) -> Result<ReadTx, StorageError> {
        self.begun(|conn| async { Ok(sqlx::Transaction::begin(conn, None).await?) }).await
    }

    async fn begun<T: Send + 'static, F: Future<Output = Result<T, StorageError>> + Send + 'static>(
        &self,
        begin: impl FnOnce(PoolConnection) -> F,
    ) -> Result<T, StorageError> {
        let (begun, db) = (begin(self.acquire().await?), self.clone());
        // In a task of its own, which goes on if the request is cancelled: sqlx knows of a transaction only once the
        // database has answered. Before that it would return the connection to the pool with the transaction open, and
        // statements of other requests would become part of it and be rolled back after their answers.
        let begun = tokio::spawn(async move {
            let mut begun = pin!(begun);
            if let Ok(begun) = tokio::time::timeout(db.work_timeout, begun.as_mut()).await {
                return begun;
            }
            // The connection is checked on its way back to the pool.
            db.suspect();
            Err(StorageError::Unavailable(Arc::new(no_answer())))
        });
        begun.await.map_err(|_| StorageError::GivenUp)?
    }

    /// Runs `work` on a reserved connection, within a limit of time. On a timeout the connection is closed: a database
    /// that vanished would otherwise hold the caller for as long as the kernel keeps trying.
    ///
    /// # Errors
    /// No connection came free in time; `work` failed or took too long.
    pub async fn bounded<T>(
        &self,
        work: impl AsyncFnOnce(&mut Conn) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        let mut conn = self.acquire_reserved().await?;
        self.bounded_on(&mut conn, work).await
    }

    /// The same on a connection that the caller has.
    ///
    /// # Errors
    /// `work` failed or took too long.
    pub async fn bounded_on<T>(
        &self,
        conn: &mut PoolConnection,
        work: impl AsyncFnOnce(&mut Conn) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        self.within_time(conn, self.gateway_timeout, work).await
    }

    /// The same for a short reading that many requests wait for.
    ///
    /// # Errors
    /// As [`Db::bounded`].
    pub async fn read_soon<T>(
        &self,
        work: impl AsyncFnOnce(&mut Conn) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        let mut conn = self.acquire_reserved().await?;
        self.within_time(&mut conn, READ_TIMEOUT, work).await
    }

    /// The same on a connection that is not reserved.
    ///
    /// # Errors
    /// As [`Db::bounded`].
    pub async fn bounded_not_reserved<T>(
        &self,
        work: impl AsyncFnOnce(&mut Conn) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        let mut conn = self.acquire().await?;
        self.within_time(&mut conn, self.work_timeout, work).await
    }

    async fn within_time<T>(
        &self,
        conn: &mut PoolConnection,
        limit: Duration,
        work: impl AsyncFnOnce(&mut Conn) -> Result<T, StorageError>,
    ) -> Result<T, StorageError> {
        match tokio::time::timeout(limit, work(conn)).await {
            Ok(Ok(done)) => Ok(done),
            Ok(Err(error)) => {
                if error.may_concern_server() {
                    self.suspect();
                }
                Err(error)
            }
            Err(_) => {
                self.suspect();
                conn.close_on_drop();
                Err(StorageError::Unavailable(Arc::new(no_answer())))
            }
        }
    }

    /// Call this when a request failed in the database. For a while, connections are checked before use, and those to a
    /// server that became read-only are closed.
    pub fn suspect(&self) {
        self.suspicion.raise();
    }

    /// # Errors
    /// The database does not answer.
    pub async fn health(&self) -> Result<Health, StorageError> {
        let health = self.own_connection.ask(async |conn: &mut Conn| {
            let row = sqlx::query!(
                r#"select (select max(version) from _sqlx_migrations where success) as applied,
                   current_setting('transaction_read_only') = 'off' as "is_writable!""#
            )
            .fetch_one(conn)
            .await?;
            let is_migrated = row.applied.is_some_and(|applied| applied >= newest_migration());
            // The next connection may find a primary.
            let keep = if row.is_writable { Keep::Yes } else { Keep::No };
            Ok((Health { is_migrated, is_writable: row.is_writable }, keep))
        });
        let health = health.await?;
        if !health.is_writable {
            self.suspect();
        }
        Ok(health)
    }

    /// The state of the database, on the connection of [`Self::health`]. Called all the time, but by no request: if the
    /// server takes no writes or does not answer, another one of the settings is looked for.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn state(&self) -> Result<DatabaseState, StorageError> {
        let state = self.own_connection.ask(async |conn: &mut Conn| Ok((read_state(conn).await?, Keep::Yes))).await;
        if !state.as_ref().is_ok_and(|state| state.is_writable) {
            self.follow_primary().await;
        }
        state
    }

    /// Lets new connections go to the server that takes writes. Those that were opened before are closed instead of
    /// used.
    async fn follow_primary(&self) {
        let before = self.hosts.index();
        self.hosts.find_primary().await;
        if self.hosts.index() == before {
            return;
        }
        let connect = self.hosts.current();
        tracing::warn!(
            host = connect.get_host(),
            port = connect.get_port(),
            "connecting to another server of PostgreSQL"
        );
        for pool in [&self.pool, &self.reserved] {
            pool.set_connect_options(self.settings.asked_for(connect.clone()));
        }
        self.suspicion.note_move();
        self.suspect();
    }

    /// Those of these answers that the database does not know any more.
    ///
    /// # Errors
    /// [`StorageError::ReadOnly`] of a standby, which may only be behind; the database does not answer.
    pub async fn list_lost(&self, answers: &[Acknowledged]) -> Result<Vec<Acknowledged>, StorageError> {
        // On the connection that told of the change: others may still lead to a server that was left behind.
        let lost = self.own_connection.ask(async |conn: &mut Conn| {
            if !read_state(conn).await?.is_writable {
                return Err(StorageError::ReadOnly);
            }
            Ok((list_lost(conn, answers).await?, Keep::Yes))
        });
        lost.await
    }

    /// Waits until all connections are returned, then closes them. One that waits for a standby is left behind.
    pub async fn close(&self) {
        let closed = async {
            // A dropped transaction is rolled back when its connection returns to the pool. A private PostgreSQL is
            // stopped next, which would cut that off.
            drop(self.pool.acquire().await);
            self.pool.close().await;
            self.reserved.close().await;
        };
        if tokio::time::timeout(CLOSE_TIMEOUT, closed).await.is_err() {
            tracing::warn!("connections that wait for the disk or a standby are left behind");
        }
    }
}

/// A pool that checks connections before use while a [`Suspicion`] is raised.
fn open_pool(
    options: &DbOptions,
    connections: u32,
    settings: &Arc<SessionSettings>,
    suspicion: &Arc<Suspicion>,
) -> PgPool {
    let (settings, connect) = (Arc::clone(settings), settings.asked_for(options.hosts.current().clone()));
    let (before_use, after_use) = (Arc::clone(suspicion), Arc::clone(suspicion));
    PgPoolOptions::new()
        .max_connections(connections)
        .acquire_timeout(options.acquire)
        .test_before_acquire(false)
        .after_connect(move |conn, _| {
            let settings = Arc::clone(&settings);
            Box::pin(async move {
                // A request that waits for a connection gets none, and the log says why.
                settings.check(conn).await?.map_err(|dropped| sqlx::Error::Configuration(Box::new(dropped)))
            })
        })
        .before_acquire(move |conn, meta| {
            let (is_suspected, is_left) = (before_use.is_raised(), before_use.is_from_before_move(meta.age));
            Box::pin(async move { if is_left { Ok(false) } else { is_usable(conn, &meta, is_suspected).await } })
        })
        .after_release(move |conn, _| {
            let is_suspected = after_use.is_raised();
            // The pool's own check has no timeout, and a check that never ends would keep the connection's slot in the
            // pool.
            Box::pin(async move { if is_suspected { end_transaction(conn).await.map(|()| true) } else { Ok(true) } })
        })
        .connect_lazy_with(connect)
}

/// How many of the connections for people may be used to change something. One is the listener's; a quarter, and at
/// least one, is for reads. Batches have connections of their own, unless all are shared.
fn changes_of(connections: u32, is_shared: bool) -> usize {
    let others = if is_shared { connections.saturating_mul(3) / 4 } else { 1 + (connections / 4).max(1) };
    usize::try_from(connections.saturating_sub(others)).unwrap_or(usize::MAX).max(1)
}

/// Closes connections that nobody needed for a while, until the pool is closed or not used any more. The pool hands its
/// connections out in turn, so that each is used now and then, and none is idle for long; what counts is how many were
/// idle at every moment.
async fn close_resting(pool: PgPool, rest: Duration, in_use: Weak<()>) {
    const SAMPLES: u32 = 30;
    let mut ticks = tokio::time::interval(rest / SAMPLES);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        let mut resting = usize::MAX;
        for _ in 0..SAMPLES {
            ticks.tick().await;
            if pool.is_closed() || in_use.strong_count() == 0 {
                return;
            }
            resting = resting.min(pool.num_idle());
        }
        for _ in 1..resting {
            let Some(conn) = pool.try_acquire() else { break };
            // One that does not end in time ends when the server finds that it has no client.
            let _ = tokio::time::timeout(PING_TIMEOUT, conn.close()).await;
        }
    }
}

/// Returns true if an idle connection may be used. One that was idle for long is pinged; after a failure, each is
/// checked for a server that takes writes.
async fn is_usable(conn: &mut Conn, meta: &PoolConnectionMetadata, is_suspected: bool) -> Result<bool, sqlx::Error> {
    if is_suspected {
        let query = sqlx::query_scalar!(r#"select current_setting('transaction_read_only') = 'off' as "is_writable!""#)
            .fetch_one(conn);
        let is_writable = tokio::time::timeout(PING_TIMEOUT, query).await.map_err(|_| no_answer())??;
        return Ok(is_writable || meta.age < READ_ONLY_AGE);
    }
    if meta.idle_for > IDLE_BEFORE_PING {
        ping(conn).await?;
    }
    Ok(true)
}

async fn ping(conn: &mut Conn) -> Result<(), sqlx::Error> {
    tokio::time::timeout(PING_TIMEOUT, conn.ping()).await.map_err(|_| no_answer())?
}

/// Checks a connection, and ends a transaction that began after its caller had given up.
async fn end_transaction(conn: &mut Conn) -> Result<(), sqlx::Error> {
    let ended = sqlx::raw_sql("begin; rollback").execute(conn);
    tokio::time::timeout(PING_TIMEOUT, ended).await.map_err(|_| no_answer())?.map(drop)
}
