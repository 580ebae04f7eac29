//! Reads the database's clock, by which the service decides.

use std::sync::Arc;

use tokio::sync::Mutex;

use crate::domain::bounds;
use crate::domain::clock::{Clock, DatabaseClock, Reading, SystemClock};
use crate::domain::time::Micros;
use crate::storage::{self, Conn, Db, StorageError};
use crate::telemetry::clock::ClockMetrics;

/// A clock that goes by a first reading.
///
/// # Errors
/// The database.
pub async fn start(db: &Db) -> Result<Arc<DatabaseClock>, StorageError> {
    let reading = db.bounded(async |conn| read(conn, &SystemClock).await).await?;
    Ok(Arc::new(DatabaseClock::new(reading)))
}

/// Reads the database's clock on this connection, and corrects `clock` by it.
///
/// # Errors
/// The database.
pub async fn correct(conn: &mut Conn, clock: &dyn Clock) -> Result<(), StorageError> {
    if let Some(micros) = clock.correct(read(conn, clock).await?) {
        tracing::warn!(
            seconds = micros / Micros::PER_SECOND,
            "the database's clock was set: the time moved by these seconds"
        );
    }
    Ok(())
}

async fn read(conn: &mut Conn, clock: &dyn Clock) -> Result<Reading, StorageError> {
    let asked_at = clock.uptime();
    let time = storage::read_clock(conn).await?;
    Ok(Reading { asked_at, time, answered_at: clock.uptime() })
}

/// Keeps a clock current.
#[derive(Debug)]
pub struct ClockReader {
    db: Db,
    clock: Arc<dyn Clock>,
    metrics: ClockMetrics,
    /// Held while the clock is read: all that wait for a reading share it.
    reading: Mutex<()>,
}

impl ClockReader {
    pub fn new(db: Db, clock: Arc<dyn Clock>, metrics: ClockMetrics) -> Self {
        Self { db, clock, metrics, reading: Mutex::default() }
    }

    /// The time, for a decision about a key. Reads the database's clock first if its last reading is too old.
    ///
    /// # Errors
    /// The reading is too old and the database does not answer.
    pub async fn micros(&self) -> Result<Micros, StorageError> {
        if !self.clock.is_current() {
            let _reading = self.reading.lock().await;
            if !self.clock.is_current() {
                self.correct().await?;
            }
        }
        Ok(self.clock.micros())
    }

    /// Reads the database's clock each second, for as long as the server runs.
    pub async fn run(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(bounds::CLOCK_INTERVAL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            // Requests that need a reading report the failure.
            if let Err(error) = self.correct().await {
                self.clock.missed();
                tracing::debug!(%error, "the database's clock could not be read");
            }
        }
    }

    /// Reads the database's clock now.
    ///
    /// # Errors
    /// The database does not answer.
    pub async fn correct(&self) -> Result<(), StorageError> {
        self.db.read_soon(async |conn| correct(conn, &*self.clock).await).await?;
        self.metrics.skewed(SystemClock.now().since(self.clock.now()));
        Ok(())
    }
}
