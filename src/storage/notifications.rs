//! How servers tell each other that something about a user changed: `notify` in the transaction of
//! the change, `LISTEN` on a connection of its own. The embedded database has only one server.

use sqlx::postgres::PgListener;

use super::{Conn, Db, StorageError};
use crate::domain::id::UserId;

const CHANNEL: &str = "keymeter_changes";

/// Tells every server, once the transaction is committed.
pub async fn notify(conn: &mut Conn, user: UserId) -> Result<(), StorageError> {
    sqlx::query!(r#"select pg_notify($1, $2) as "told!: ()""#, CHANNEL, user.to_string()).execute(conn).await?;
    Ok(())
}

/// What was heard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notification {
    /// Something about this user changed: account, tokens, or credentials.
    Changed(UserId),
    /// The connection was lost for a while, so anything may have.
    LostTouch,
}

/// Listens on a connection of its own.
#[derive(Debug)]
pub struct Listener(PgListener);

impl Listener {
    /// Begins to listen.
    pub async fn listen(db: &Db) -> Result<Self, StorageError> {
        let mut listener = PgListener::connect_with(&db.pool).await?;
        listener.listen(CHANNEL).await?;
        Ok(Self(listener))
    }

    /// Waits for the next change.
    pub async fn next(&mut self) -> Result<Notification, StorageError> {
        let heard = self.0.try_recv().await?;
        let user = heard.and_then(|notification| notification.payload().parse().ok());
        Ok(user.map_or(Notification::LostTouch, |id| Notification::Changed(UserId::new(id))))
    }
}
