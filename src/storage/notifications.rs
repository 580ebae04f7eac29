//! Notifications between servers: `NOTIFY` in the transaction of a change, `LISTEN` on a connection of its own.

use std::time::Duration;

use sqlx::postgres::PgListener;

use super::errors::no_answer;
use super::{Conn, Db, StorageError};
use crate::domain::id::UserId;

const CHANNEL: &str = "keymeter_changes";

/// How long PostgreSQL may take to accept an echo.
const ECHO_TIMEOUT: Duration = Duration::from_secs(3);

/// The payload of [`Change::GatewayCredentials`]. The payload of [`Change::User`] is the user's id.
const GATEWAY_CREDENTIALS: &str = "gateway_credentials";

/// The payload of [`Change::ForeignKeys`].
const FOREIGN_KEYS: &str = "foreign_keys";

/// The payload of [`Change::KeyRestored`].
const KEY_RESTORED: &str = "key_restored";

/// The payload of [`Change::Prices`].
const PRICES: &str = "prices";

/// A committed change of state that servers cache.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The account, the tokens or the access tokens of this user.
    User(UserId),
    /// Credentials of gateways.
    GatewayCredentials,
    /// Foreign keys were imported.
    ForeignKeys,
    /// A key that servers may know as unknown is valid again.
    KeyRestored,
    /// There is a new version of the price list.
    Prices,
}

impl Change {
    fn payload(self) -> String {
        match self {
            Self::User(id) => id.to_string(),
            Self::GatewayCredentials => GATEWAY_CREDENTIALS.to_owned(),
            Self::ForeignKeys => FOREIGN_KEYS.to_owned(),
            Self::KeyRestored => KEY_RESTORED.to_owned(),
            Self::Prices => PRICES.to_owned(),
        }
    }

    fn parse(payload: &str) -> Option<Self> {
        match payload {
            GATEWAY_CREDENTIALS => Some(Self::GatewayCredentials),
            FOREIGN_KEYS => Some(Self::ForeignKeys),
            KEY_RESTORED => Some(Self::KeyRestored),
            PRICES => Some(Self::Prices),
            id => id.parse().ok().map(|id| Self::User(UserId::new(id))),
        }
    }
}

/// Notifies every server when the transaction is committed.
pub async fn notify(conn: &mut Conn, change: Change) -> Result<(), StorageError> {
    sqlx::query!(r#"select pg_notify($1, $2) as "notified!: ()""#, CHANNEL, change.payload()).execute(conn).await?;
    Ok(())
}

/// The same for each of these users.
pub async fn notify_of_users(conn: &mut Conn, users: &[UserId]) -> Result<(), StorageError> {
    sqlx::query!(
        r#"select pg_notify($1, u.id::text) as "notified!: ()" from unnest($2::bigint[]) as u (id)"#,
        CHANNEL,
        users as &[UserId]
    )
    .execute(conn)
    .await?;
    Ok(())
}

/// What a [`Listener`] receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Notification {
    /// Another server, or this one, committed a change.
    Changed(Change),
    /// What this listener sent to itself.
    Echo,
    /// Notifications may be missing: the connection was lost, or a payload is of a newer version.
    Incomplete,
}

/// Receives notifications on a connection of its own.
#[derive(Debug)]
pub struct Listener {
    inner: PgListener,
    /// A channel to which nobody else listens.
    own_channel: String,
}

impl Listener {
    /// Starts to listen.
    pub async fn listen(db: &Db) -> Result<Self, StorageError> {
        let mut inner = PgListener::connect_with(&db.pool).await?;
        let own_channel = format!("keymeter_echo_{:016x}", rand::random::<u64>());
        // A loss must be told before the connection is made again: an echo would make it so, and hide the loss.
        inner.eager_reconnect(false);
        inner.listen_all([CHANNEL, &own_channel]).await?;
        Ok(Self { inner, own_channel })
    }

    /// Waits for the next notification.
    pub async fn next(&mut self) -> Result<Notification, StorageError> {
        let received = self.inner.try_recv().await?;
        if received.as_ref().is_some_and(|notification| notification.channel() == self.own_channel) {
            return Ok(Notification::Echo);
        }
        let change = received.and_then(|notification| Change::parse(notification.payload()));
        Ok(change.map_or(Notification::Incomplete, Notification::Changed))
    }

    /// Sends a notification to itself, which waits for no standby.
    pub async fn send_echo(&mut self) -> Result<(), StorageError> {
        let sent = sqlx::query!(
            r#"select set_config('synchronous_commit', 'off', true) as "setting!", pg_notify($1, '') as "notified!: ()""#,
            self.own_channel
        )
        .fetch_one(&mut self.inner);
        tokio::time::timeout(ECHO_TIMEOUT, sent).await.map_err(|_| no_answer())??;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_change_survives_its_payload() {
        for change in [Change::User(UserId::new(7)), Change::GatewayCredentials, Change::ForeignKeys, Change::Prices] {
            assert_eq!(Change::parse(&change.payload()), Some(change));
        }
        assert_eq!(Change::parse("something newer"), None);
    }
}
