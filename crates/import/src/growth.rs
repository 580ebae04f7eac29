//! Whether the other service still works: what its accounts have used grows.

use std::time::{Duration, Instant};

use super::ImportError;
use super::location::Location;
use super::report::Note;
use super::schema::ForeignSchema;
use super::source::ForeignDatabase;

/// What was used when a rehearsal began.
pub struct Growth<'a> {
    location: &'a Location,
    interval: Duration,
    begun: Instant,
    used: i128,
}

impl<'a> Growth<'a> {
    /// Reads what all accounts have used.
    ///
    /// # Errors
    /// The other database cannot be read.
    pub async fn begin(location: &'a Location, interval: Duration) -> Result<Self, ImportError> {
        let used = used_quota(location).await?;
        Ok(Self { location, interval, begun: Instant::now(), used })
    }

    /// Reads it again, one interval after [`Growth::begin`] or later, and says so if it changed.
    ///
    /// # Errors
    /// The other database cannot be read.
    pub async fn end(self) -> Result<Option<Note>, ImportError> {
        tokio::time::sleep(self.interval.saturating_sub(self.begun.elapsed())).await;
        let grown = used_quota(self.location).await? - self.used;
        Ok((grown != 0).then(|| Note::still_growing(grown, self.begun.elapsed().as_secs().max(1))))
    }
}

/// What all accounts have used, over a connection of its own: one that reads a snapshot sees no change.
async fn used_quota(location: &Location) -> Result<i128, ImportError> {
    let mut source = ForeignDatabase::open(location, false).await?;
    let schema = ForeignSchema::read(&mut source).await?;
    let used = schema.read_used_quota(&mut source).await?;
    source.close().await;
    Ok(used)
}
