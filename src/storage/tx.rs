//! Transactions that change something, and when they are answered.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use sqlx::SqlSafeStr;
use sqlx::postgres::PgTransactionManager;
use sqlx_core::transaction::TransactionManager;
use tokio::sync::OwnedSemaphorePermit;

use super::conn::{BEGIN_ASYNCHRONOUS, Conn, PoolConnection, flush};
use super::durability::Durability;
use super::errors::{StorageError, no_answer};

/// A transaction that changes something: rolled back unless committed. Others see its changes and get its locks when it
/// is committed, before they are durable.
#[derive(Debug)]
pub struct Tx {
    conn: PoolConnection,
    is_open: bool,
    /// One of as many as may have a connection at once.
    _place: OwnedSemaphorePermit,
    durability: Arc<Durability>,
}

impl Tx {
    pub(super) async fn begin(
        mut conn: PoolConnection,
        place: OwnedSemaphorePermit,
        durability: Arc<Durability>,
    ) -> Result<Self, StorageError> {
        PgTransactionManager::begin(&mut conn, Some(BEGIN_ASYNCHRONOUS.into_sql_str())).await?;
        Ok(Self { conn, is_open: true, _place: place, durability })
    }

    /// Rolls it back. One that is dropped is rolled back as well, but some time later, and keeps its locks until then.
    pub async fn rollback(mut self) -> Result<(), StorageError> {
        PgTransactionManager::rollback(&mut self.conn).await?;
        self.is_open = false;
        Ok(())
    }

    async fn commit(&mut self) -> Result<(), StorageError> {
        PgTransactionManager::commit(&mut self.conn).await?;
        self.is_open = false;
        Ok(())
    }
}

impl Drop for Tx {
    fn drop(&mut self) {
        if self.is_open {
            // Sent before the next statement of the connection, or when it returns to its pool.
            PgTransactionManager::start_rollback(&mut self.conn);
        }
    }
}

impl Deref for Tx {
    type Target = Conn;

    fn deref(&self) -> &Conn {
        &self.conn
    }
}

impl DerefMut for Tx {
    fn deref_mut(&mut self) -> &mut Conn {
        &mut self.conn
    }
}

/// Commits a transaction, and waits until that is on disk and on synchronous standbys. If the error is
/// [`StorageError::NotDurable`], it is committed, and may be lost in a failover.
pub async fn commit(mut tx: Tx) -> Result<(), StorageError> {
    let durability = Arc::clone(&tx.durability);
    let is_committed = Arc::new(AtomicBool::new(false));
    let has_answered = Arc::clone(&is_committed);
    let commit = async move {
        tx.commit().await?;
        has_answered.store(true, Ordering::Relaxed);
        flush(&mut tx.conn).await
    };
    match durability.wait(commit).await {
        // Nobody knows whether it is.
        Err(StorageError::NotDurable) if !is_committed.load(Ordering::Relaxed) => Err(no_answer().into()),
        outcome => outcome,
    }
}
