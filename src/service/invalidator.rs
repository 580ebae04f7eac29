//! The one way to commit a change of cached state.
//!
//! Servers cache users, credentials ([`Authenticator`]) and keys ([`KeyCache`]) for up to two seconds. A change must
//! leave these caches at once on this server, and soon on every other. [`Invalidator::commit`] does both, so a service
//! that changes an account, a token or a credential commits through it. Such a service does not import
//! `storage::commit`; that function is for transactions that change nothing cached.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::authenticator::Authenticator;
use super::clock::ClockReader;
use super::foreign_keys::ForeignKeys;
use super::key_cache::KeyCache;
use crate::domain::id::UserId;
use crate::domain::key::Digest;
use crate::service::prices::Prices;
use crate::storage::notifications::{self, Change, Listener, Notification};
use crate::storage::{self, Db, StorageError, Tx};
use crate::telemetry::caches::InvalidationMetrics;

/// How long to wait before listening again after a failure.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// How often a listener notifies itself. A connection that lost its way to PostgreSQL tells nobody otherwise.
const ECHO_EVERY: Duration = Duration::from_secs(5);

/// The most changes whose notification is timed at once.
const MAX_TIMED: usize = 64;

/// Commits changes of cached state and clears the caches.
#[derive(Debug, Clone)]
pub struct Invalidator {
    authenticator: Arc<Authenticator>,
    key_cache: Arc<KeyCache>,
    foreign_keys: Arc<ForeignKeys>,
    prices: Arc<Prices>,
    metrics: InvalidationMetrics,
    /// Changes of this server whose own notification has not arrived yet, and when they were committed.
    in_flight: Arc<Mutex<Vec<(Change, Instant)>>>,
}

impl Invalidator {
    /// An invalidator of these caches.
    pub fn new(
        authenticator: Arc<Authenticator>,
        key_cache: Arc<KeyCache>,
        foreign_keys: Arc<ForeignKeys>,
        prices: Arc<Prices>,
        metrics: InvalidationMetrics,
    ) -> Self {
        Self { authenticator, key_cache, foreign_keys, prices, metrics, in_flight: Arc::default() }
    }

    /// Commits a change of the account, the tokens or the access tokens of `user`, on this server and on all others.
    ///
    /// # Errors
    /// The database did not confirm.
    pub async fn commit(&self, tx: Tx, user: UserId) -> Result<(), StorageError> {
        self.commit_change(tx, Change::User(user)).await
    }

    /// The same for several users.
    ///
    /// # Errors
    /// The database did not confirm.
    pub async fn commit_users(&self, mut tx: Tx, users: &[UserId]) -> Result<(), StorageError> {
        notifications::notify_of_users(&mut tx, users).await?;
        let committed = storage::commit(tx).await;
        // Also if it failed: it may be committed and not be durable.
        for user in users {
            self.clear(Change::User(*user));
        }
        committed
    }

    /// Commits a transaction that locked rows and found everything as it should be. What it found is durable then: the
    /// locks are in PostgreSQL's log, behind the change before.
    ///
    /// # Errors
    /// The database did not confirm.
    pub async fn commit_unchanged(&self, tx: Tx) -> Result<(), StorageError> {
        storage::commit(tx).await
    }

    /// Commits a change of gateway credentials, on this server and on all others.
    ///
    /// # Errors
    /// The database did not confirm.
    pub async fn commit_gateway_credentials(&self, tx: Tx) -> Result<(), StorageError> {
        self.commit_change(tx, Change::GatewayCredentials).await
    }

    /// Commits a new version of the price list. When it returns, this server has it.
    ///
    /// # Errors
    /// The database did not confirm. The list stays as it is, unless it was committed all the same.
    pub async fn commit_prices(&self, tx: Tx) -> Result<(), StorageError> {
        let committed = self.commit_change(tx, Change::Prices).await;
        self.prices.load().await;
        committed
    }

    /// The same for a change by which a key that was unknown becomes valid. When it returns, this server admits it,
    /// also one of another service.
    ///
    /// # Errors
    /// The database did not confirm.
    pub async fn commit_restored(
        &self,
        mut tx: Tx,
        user: UserId,
        foreign: Option<&Digest>,
    ) -> Result<(), StorageError> {
        notifications::notify(&mut tx, Change::User(user)).await?;
        if foreign.is_some() {
            notifications::notify(&mut tx, Change::ForeignKeys).await?;
        }
        let committed = self.commit_change(tx, Change::KeyRestored).await;
        if !matches!(committed, Ok(()) | Err(StorageError::NotDurable)) {
            return committed;
        }
        self.key_cache.forget(user);
        if foreign.is_some_and(|digest| !self.foreign_keys.may_contain(digest))
            && let Err(error) = self.foreign_keys.load().await
        {
            tracing::warn!(%error, "cannot load the imported keys; trying again in the background");
            self.foreign_keys.request_load();
        }
        committed
    }

    async fn commit_change(&self, mut tx: Tx, change: Change) -> Result<(), StorageError> {
        notifications::notify(&mut tx, change).await?;
        // Before the commit: the notification may be here before the answer to the commit.
        self.time_notification(change);
        let committed = storage::commit(tx).await;
        if committed.is_err() {
            self.notified(change);
        }
        // Also if it failed: it may be committed and not be durable.
        self.clear(change);
        committed
    }

    /// Receives the changes of other servers for as long as this one runs. Whenever the connection was lost, all caches
    /// are cleared, and the database's clock is read.
    pub async fn listen(self, db: Db, clock: Arc<ClockReader>) {
        loop {
            match Listener::listen(&db).await {
                Ok(listener) => {
                    self.clear_all();
                    // It may be another server's clock, after a failover.
                    if let Err(error) = clock.correct().await {
                        tracing::debug!(%error, "the database's clock could not be read");
                    }
                    self.metrics.set_connected(true);
                    self.receive(listener).await;
                    self.metrics.set_connected(false);
                    self.metrics.lost();
                }
                Err(error) => tracing::warn!(%error, "cannot listen for changes of other servers; retrying"),
            }
            self.clear_all();
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }

    async fn receive(&self, mut listener: Listener) {
        let mut ticks = tokio::time::interval(ECHO_EVERY);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        let mut is_awaited = false;
        loop {
            let received = tokio::select! {
                received = listener.next() => received,
                _ = ticks.tick() => {
                    if is_awaited {
                        tracing::warn!("notifications do not arrive; listening again");
                        return;
                    }
                    is_awaited = true;
                    match listener.send_echo().await {
                        Ok(()) => continue,
                        Err(error) => Err(error),
                    }
                }
            };
            match received {
                Ok(Notification::Echo) => is_awaited = false,
                Ok(Notification::Changed(change)) => {
                    self.clear(change);
                    if let Some(committed_at) = self.notified(change) {
                        self.metrics.delayed(committed_at.elapsed());
                    }
                }
                Ok(Notification::Incomplete) => {
                    self.clear_all();
                    self.metrics.lost();
                }
                Err(error) => {
                    tracing::warn!(%error, "lost the connection for changes of other servers; reconnecting");
                    return;
                }
            }
        }
    }

    /// Notes when a change was committed. Bounded, because a server without a listener is never notified.
    fn time_notification(&self, change: Change) {
        let mut in_flight = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        if in_flight.len() < MAX_TIMED {
            in_flight.push((change, Instant::now()));
        }
    }

    /// When a change was committed, if this server did it.
    fn notified(&self, change: Change) -> Option<Instant> {
        let mut in_flight = self.in_flight.lock().unwrap_or_else(PoisonError::into_inner);
        let at = in_flight.iter().position(|(sent, _)| *sent == change)?;
        Some(in_flight.remove(at).1)
    }

    fn clear(&self, change: Change) {
        self.authenticator.forget();
        match change {
            Change::User(user) => self.key_cache.forget(user),
            Change::GatewayCredentials => {}
            Change::ForeignKeys => self.foreign_keys.request_load(),
            Change::KeyRestored => self.key_cache.forget_unknown(),
            Change::Prices => self.prices.read_now(),
        }
    }

    fn clear_all(&self) {
        self.in_flight.lock().unwrap_or_else(PoisonError::into_inner).clear();
        self.authenticator.forget();
        self.key_cache.forget_all();
        self.prices.forget_ids();
        self.prices.read_now();
        self.foreign_keys.request_load();
    }
}
