//! Applies migrations, by one server at a time, while others serve.

use std::collections::HashMap;
use std::time::Duration;

use sqlx::error::DatabaseError;
use sqlx::migrate::{Migrate, MigrateError, Migration, Migrator};
use sqlx::{AssertSqlSafe, Executor};

use super::conn::Conn;
use crate::telemetry::seldom::Seldom;

/// The table in which sqlx records what was applied.
const APPLIED: &str = "_sqlx_migrations";

/// The advisory lock of the server that migrates. Others try to take it again and again: one that waited for it would
/// have an old view of the tables, for which `create index concurrently` waits.
const LOCK: i64 = 1_953_064_058;

/// How long a migration waits for the lock of a table. All that come after it wait as long, also those that only read.
const LOCK_TIMEOUT: &str = "200ms";

/// The pause before a lock is tried again.
const PAUSE: Duration = Duration::from_secs(1);

/// Applies those of the migrations that were not applied. Migrations of a newer program stay.
///
/// # Errors
/// A migration fails, which undoes it, or was changed after it was applied.
pub async fn apply_pending(conn: &mut Conn, migrator: &Migrator) -> Result<(), MigrateError> {
    let mut line = Seldom::default();
    while !try_lock(conn).await? {
        if line.is_due() {
            tracing::warn!("waiting for another server that migrates the database");
        }
        tokio::time::sleep(PAUSE).await;
    }
    // Excludes programs that know only this lock, of sqlx.
    conn.lock().await?;
    conn.ensure_migrations_table(APPLIED).await?;
    let applied = conn.list_applied_migrations(APPLIED).await?.into_iter();
    let applied: HashMap<_, _> = applied.map(|migration| (migration.version, migration.checksum)).collect();
    for migration in migrator.iter() {
        match applied.get(&migration.version) {
            Some(checksum) if *checksum != migration.checksum => {
                return Err(MigrateError::VersionMismatch(migration.version));
            }
            Some(_) => {}
            None => apply(conn, migration).await?,
        }
    }
    Ok(())
}

/// Applies a migration. While a transaction uses a table that it changes, it is tried again.
async fn apply(conn: &mut Conn, migration: &Migration) -> Result<(), MigrateError> {
    let (version, mut line) = (migration.version, Seldom::default());
    if migration.no_tx {
        // It locks nothing that others need, and waits for every transaction that began before it.
        set_lock_timeout(conn, "0").await?;
        drop_invalid_indexes(conn, migration.sql.as_str()).await?;
    } else {
        set_lock_timeout(conn, LOCK_TIMEOUT).await?;
    }
    loop {
        match conn.apply(APPLIED, migration).await {
            Err(MigrateError::ExecuteMigration(error, _))
                if error.as_database_error().and_then(DatabaseError::code).is_some_and(|code| code == "55P03") =>
            {
                if line.is_due() {
                    let oldest = oldest_transaction(conn).await?;
                    tracing::warn!(version, oldest, "a migration waits for a transaction that uses a table");
                }
                tokio::time::sleep(PAUSE).await;
            }
            outcome => return outcome.map(drop),
        }
    }
}

async fn try_lock(conn: &mut Conn) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar!(r#"select pg_try_advisory_lock($1) as "locked!""#, LOCK).fetch_one(conn).await
}

async fn set_lock_timeout(conn: &mut Conn, timeout: &str) -> Result<(), sqlx::Error> {
    sqlx::query!("select set_config('lock_timeout', $1, false)", timeout).fetch_one(conn).await.map(drop)
}

/// Drops what an interrupted `create index concurrently` of this migration left: `if not exists` would keep it.
async fn drop_invalid_indexes(conn: &mut Conn, migration: &str) -> Result<(), sqlx::Error> {
    let invalid = sqlx::query_scalar!(
        r#"select quote_ident(relname) as "name!" from pg_class join pg_index on indexrelid = oid
           where not indisvalid and relkind = 'i' and not relispartition
           and relnamespace = current_schema()::regnamespace and position(relname in $1) > 0"#,
        migration
    )
    .fetch_all(&mut *conn)
    .await?;
    for name in invalid {
        conn.execute(AssertSqlSafe(format!("drop index concurrently {name}"))).await?;
    }
    Ok(())
}

/// The process that has been in a transaction for longest, for the log.
async fn oldest_transaction(conn: &mut Conn) -> Result<Option<String>, sqlx::Error> {
    sqlx::query_scalar!(
        r#"select format('process %s of %s (%s), since %s', pid, usename, application_name, xact_start) as "oldest!"
           from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()
           and backend_type = 'client backend' and xact_start is not null order by xact_start limit 1"#
    )
    .fetch_optional(conn)
    .await
}
