//! Who has to know when something changes: the caches of this server at once, those of others
//! through the database, in the transaction of the change.

use std::sync::Arc;
use std::time::Duration;

use super::authenticator::Authenticator;
use super::key_cache::KeyCache;
use crate::domain::id::UserId;
use crate::storage::notifications::{self, Listener, Notification};
use crate::storage::{Conn, Db, StorageError};

/// How long to wait before listening again after a failure.
const PAUSE: Duration = Duration::from_millis(500);

/// Spreads news of changes.
#[derive(Debug, Clone)]
pub struct Invalidator {
    authenticator: Arc<Authenticator>,
    key_cache: Arc<KeyCache>,
}

impl Invalidator {
    /// For these caches.
    #[must_use]
    pub const fn new(authenticator: Arc<Authenticator>, key_cache: Arc<KeyCache>) -> Self {
        Self { authenticator, key_cache }
    }

    /// Tells the other servers, once the transaction of `conn` is committed.
    ///
    /// # Errors
    /// The database.
    pub async fn notify_replicas(&self, conn: &mut Conn, user: UserId) -> Result<(), StorageError> {
        notifications::notify(conn, user).await
    }

    /// After a commit: tokens of this user changed.
    pub fn tokens_changed(&self, user: UserId) {
        self.key_cache.forget(user);
    }

    /// After a commit: this user's account or credentials changed.
    pub fn account_changed(&self, user: UserId) {
        self.authenticator.forget();
        self.key_cache.forget(user);
    }

    /// Listens to the other servers for as long as this one lives. Whenever touch was lost,
    /// everything is forgotten before anything is trusted again.
    pub async fn listen(self, db: Db) {
        loop {
            match Listener::listen(&db).await {
                Ok(changes) => {
                    self.lost_touch();
                    self.hear(changes).await;
                }
                Err(error) => tracing::warn!(%error, "cannot listen for changes of other servers; trying again"),
            }
            self.lost_touch();
            tokio::time::sleep(PAUSE).await;
        }
    }

    async fn hear(&self, mut changes: Listener) {
        loop {
            match changes.next().await {
                Ok(Notification::Changed(user)) => self.account_changed(user),
                Ok(Notification::LostTouch) => self.lost_touch(),
                Err(error) => {
                    tracing::warn!(%error, "lost touch with the other servers; listening again");
                    return;
                }
            }
        }
    }

    fn lost_touch(&self) {
        self.authenticator.forget();
        self.key_cache.forget_all();
    }
}
