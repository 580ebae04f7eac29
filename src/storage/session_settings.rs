//! The settings of every session of the service, and whether they arrived: a pooler may drop them.

use sqlx::postgres::PgConnectOptions;

use super::conn::Conn;
use super::options::DbOptions;

/// Times are milliseconds, as `pg_settings` has them.
///
/// - `idle_in_transaction_session_timeout`: a paused or disconnected server keeps its row locks until its transaction
///   ends, and every other server waits for them. Our transactions are never idle for long, so PostgreSQL may end one
///   that is.
/// - `lock_timeout`: a request that waits for a row holds a connection, and a few of them would hold all.
const SETTINGS: [(&str, &str); 7] = [
    ("idle_in_transaction_session_timeout", "5000"),
    ("lock_timeout", "1000"),
    // Plans must not depend on statistics, which a new or restored table does not have: a plan made while a table was
    // small would later scan a large table in every batch of the ledger. So no plan may scan a whole table or index.
    ("enable_seqscan", "off"),
    ("enable_hashjoin", "off"),
    ("enable_mergejoin", "off"),
    ("enable_bitmapscan", "off"),
    // No statement runs long enough to be worth compiling.
    ("jit", "off"),
];

/// PostgreSQL notices a peer that vanished after seconds instead of two hours. They are not checked: over a socket of
/// this machine they are always 0.
const OF_THE_SOCKET: [(&str, &str); 4] = [
    ("tcp_keepalives_idle", "5"),
    ("tcp_keepalives_interval", "2"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "10000"),
];

/// What a session asks for when it begins.
#[derive(Debug)]
pub(super) struct SessionSettings {
    names: Vec<String>,
    values: Vec<String>,
}

/// Settings that a session asked for and does not have.
#[derive(Debug, Clone, thiserror::Error)]
#[error(
    "the database did not take the settings of the session ({0}), without which answered charges can be lost; a pooler \
     such as PgBouncer drops them; connect to PostgreSQL itself"
)]
pub struct SettingsDropped(String);

impl SessionSettings {
    pub(super) fn of(options: &DbOptions) -> Self {
        let timeout = options.statement_timeout.as_millis().to_string();
        let own = [("statement_timeout", &*timeout), ("plan_cache_mode", options.plan_cache_mode)];
        let all = SETTINGS.into_iter().chain(own).map(|(name, value)| (name.to_owned(), value.to_owned()));
        let (names, values) = all.unzip();
        Self { names, values }
    }

    /// What the pool of a test was opened with.
    pub(super) const fn none() -> Self {
        Self { names: Vec::new(), values: Vec::new() }
    }

    pub(super) fn asked_for(&self, connect: PgConnectOptions) -> PgConnectOptions {
        connect.options(OF_THE_SOCKET).options(self.names.iter().zip(&self.values))
    }

    /// Compares what the session has with what it asked for. Lets its commits wait for the disk, whatever the default
    /// of the database is; one that waits for more stays (L4).
    pub(super) async fn check(&self, conn: &mut Conn) -> Result<Result<(), SettingsDropped>, sqlx::Error> {
        let dropped = sqlx::query_scalar!(
            r#"select string_agg(name, ', ' order by name) filter (where setting <> value) from (
                 select name, value, setting from unnest($1::text[], $2::text[]) as asked (name, value)
                 join pg_settings using (name)
                 where set_config('synchronous_commit', case current_setting('synchronous_commit')
                   when 'remote_apply' then 'remote_apply' else 'on' end, false) <> 'off' offset 0) of_session"#,
            &self.names,
            &self.values
        )
        .fetch_one(conn)
        .await?;
        Ok(dropped.map_or(Ok(()), |names| Err(SettingsDropped(names))))
    }
}
