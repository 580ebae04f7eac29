//! The one way to commit a change of cached state.
//!
//! Servers cache users, credentials ([`Authenticator`]) and keys ([`KeyCache`]) for up to two seconds. A change must
//! leave these caches at once on this server, and soon on every other. [`Invalidator::commit`] does both, so a service
//! that changes an account, a token or a credential commits through it. Such a service does not import
//! `storage::commit`; that function is for transactions that change nothing cached.

use std::sync::Arc;
use std::time::Duration;

use super::authenticator::Authenticator;
use super::key_cache::KeyCache;
use crate::domain::id::UserId;
use crate::storage::notifications::{self, Change, Listener, Notification};
use crate::storage::{self, Db, StorageError, Tx};

/// How long to wait before listening again after a failure.
const RETRY_DELAY: Duration = Duration::from_millis(500);

/// Commits changes of cached state and clears the caches.
#[derive(Debug, Clone)]
pub struct Invalidator {
    authenticator: Arc<Authenticator>,
    key_cache: Arc<KeyCache>,
}

impl Invalidator {
    /// An invalidator of these caches.
    #[must_use]
    pub const fn new(authenticator: Arc<Authenticator>, key_cache: Arc<KeyCache>) -> Self {
        Self { authenticator, key_cache }
    }

    /// Commits a change of the account, the tokens or the access tokens of `user`, on this server and on all others.
    ///
    /// # Errors
    /// The database did not confirm; the caches stay as they are.
    pub async fn commit(&self, tx: Tx, user: UserId) -> Result<(), StorageError> {
        self.commit_change(tx, Change::User(user)).await
    }

    /// Commits a change of gateway credentials, on this server and on all others.
    ///
    /// # Errors
    /// The database did not confirm; the caches stay as they are.
    pub async fn commit_gateway_credentials(&self, tx: Tx) -> Result<(), StorageError> {
        self.commit_change(tx, Change::GatewayCredentials).await
    }

    async fn commit_change(&self, mut tx: Tx, change: Change) -> Result<(), StorageError> {
        notifications::notify(&mut tx, change).await?;
        storage::commit(tx).await?;
        self.clear(change);
        Ok(())
    }

    /// Receives the changes of other servers for as long as this one runs. Whenever the connection was lost, all caches
    /// are cleared.
    pub async fn listen(self, db: Db) {
        loop {
            match Listener::listen(&db).await {
                Ok(listener) => {
                    self.clear_all();
                    self.receive(listener).await;
                }
                Err(error) => tracing::warn!(%error, "cannot listen for changes of other servers; retrying"),
            }
            self.clear_all();
            tokio::time::sleep(RETRY_DELAY).await;
        }
    }

    async fn receive(&self, mut listener: Listener) {
        loop {
            match listener.next().await {
                Ok(Notification::Changed(change)) => self.clear(change),
                Ok(Notification::Incomplete) => self.clear_all(),
                Err(error) => {
                    tracing::warn!(%error, "lost the connection for changes of other servers; reconnecting");
                    return;
                }
            }
        }
    }

    fn clear(&self, change: Change) {
        self.authenticator.forget();
        match change {
            Change::User(user) => self.key_cache.forget(user),
            Change::GatewayCredentials => {}
        }
    }

    fn clear_all(&self) {
        self.authenticator.forget();
        self.key_cache.forget_all();
    }
}
