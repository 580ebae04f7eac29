//! Who has to know when something changes: the caches of this server at once, those of others
//! through the database, in the transaction of the change.

use std::sync::Arc;
use std::time::Duration;

use super::callers::Callers;
use super::keyring::Keyring;
use crate::domain::id::UserId;
use crate::storage::changes::{self, Changes, Heard};
use crate::storage::{Conn, Db, StorageError};

/// How long to wait before listening again after a failure.
const PAUSE: Duration = Duration::from_millis(500);

/// Spreads news of changes.
#[derive(Debug, Clone)]
pub struct News {
    callers: Arc<Callers>,
    keyring: Arc<Keyring>,
}

impl News {
    /// For these caches.
    #[must_use]
    pub const fn new(callers: Arc<Callers>, keyring: Arc<Keyring>) -> Self {
        Self { callers, keyring }
    }

    /// Tells the other servers, once the transaction of `conn` is committed.
    ///
    /// # Errors
    /// The database.
    pub async fn tell_others(&self, conn: &mut Conn, user: UserId) -> Result<(), StorageError> {
        changes::notify(conn, user).await
    }

    /// After a commit: tokens of this user changed.
    pub fn tokens_changed(&self, user: UserId) {
        self.keyring.forget(user);
    }

    /// After a commit: this user's account or credentials changed.
    pub fn account_changed(&self, user: UserId) {
        self.callers.forget();
        self.keyring.forget(user);
    }

    /// Listens to the other servers for as long as this one lives. Whenever touch was lost,
    /// everything is forgotten before anything is trusted again.
    pub async fn listen(self, db: Db) {
        loop {
            match Changes::listen(&db).await {
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

    async fn hear(&self, mut changes: Changes) {
        loop {
            match changes.next().await {
                Ok(Heard::Changed(user)) => self.account_changed(user),
                Ok(Heard::LostTouch) => self.lost_touch(),
                Err(error) => {
                    tracing::warn!(%error, "lost touch with the other servers; listening again");
                    return;
                }
            }
        }
    }

    fn lost_touch(&self) {
        self.callers.forget();
        self.keyring.forget_all();
    }
}
