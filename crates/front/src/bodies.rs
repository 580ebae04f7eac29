//! Reads the bodies of requests: each in its time, and all of them in the memory that there is for them.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body_util::BodyExt;
use keymeter_door::refusals::DoorRefusal;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// What is read of a body before its key is verified.
const UNVERIFIED: usize = 64 * 1024;

const MAX_BODY: usize = 32 * 1024 * 1024;

/// For what is read before a key is verified, and for the rest.
const TIME: Duration = Duration::from_secs(10);
const TIME_OF_LARGE: Duration = Duration::from_mins(2);

/// Memory is counted in so many bytes.
const UNIT: usize = 4_096;

/// Bodies of keys that were not verified, and of all.
const UNVERIFIED_UNITS: usize = 64 * 1024 * 1024 / UNIT;
const UNITS: usize = 512 * 1024 * 1024 / UNIT;

/// The memory for bodies.
#[derive(Debug)]
pub struct Bodies {
    unverified: Arc<Semaphore>,
    all: Arc<Semaphore>,
}

/// A body, and the memory that it takes.
#[derive(Debug)]
pub struct ReadBody {
    pub bytes: Bytes,
    _taken: Taken,
}

impl Default for Bodies {
    fn default() -> Self {
        Self { unverified: Arc::new(Semaphore::new(UNVERIFIED_UNITS)), all: Arc::new(Semaphore::new(UNITS)) }
    }
}

impl Bodies {
    /// Reads a body. Beyond its first 64 KiB only if `verify` says that its key may be used.
    ///
    /// # Errors
    /// It is too large or too slow, there is no memory for it, or its key may not be used.
    pub async fn read(
        &self,
        body: Body,
        verify: impl Future<Output = Result<(), DoorRefusal>>,
    ) -> Result<ReadBody, DoorRefusal> {
        let mut reading = Reading { body, bytes: Vec::new(), is_complete: false };
        let mut first = Taken::of(&self.unverified);
        within(TIME, reading.read_to(UNVERIFIED, &mut first)).await?;
        let mut taken = Taken::of(&self.all);
        if !reading.is_complete {
            verify.await?;
            within(TIME_OF_LARGE, reading.read_to(MAX_BODY, &mut taken)).await?;
            if !reading.is_complete {
                return Err(DoorRefusal::too_large());
            }
        }
        taken.grow(reading.bytes.len())?;
        Ok(ReadBody { bytes: reading.bytes.into(), _taken: taken })
    }
}

/// The memory that a body takes.
#[derive(Debug)]
struct Taken {
    memory: Arc<Semaphore>,
    units: usize,
    permits: Vec<OwnedSemaphorePermit>,
}

impl Taken {
    fn of(memory: &Arc<Semaphore>) -> Self {
        Self { memory: Arc::clone(memory), units: 0, permits: Vec::new() }
    }

    /// Takes what so many bytes need in all.
    fn grow(&mut self, bytes: usize) -> Result<(), DoorRefusal> {
        let units = bytes.div_ceil(UNIT);
        let more = u32::try_from(units.saturating_sub(self.units)).unwrap_or(u32::MAX);
        if more > 0 {
            let taken = Arc::clone(&self.memory).try_acquire_many_owned(more);
            self.permits.push(taken.map_err(|_| DoorRefusal::unavailable("there is no memory for another body"))?);
            self.units = units;
        }
        Ok(())
    }
}

struct Reading {
    body: Body,
    bytes: Vec<u8>,
    is_complete: bool,
}

impl Reading {
    /// Reads until the body ends or has more bytes than these.
    async fn read_to(&mut self, most: usize, taken: &mut Taken) -> Result<(), DoorRefusal> {
        while self.bytes.len() <= most {
            let Some(frame) = self.body.frame().await else {
                self.is_complete = true;
                return Ok(());
            };
            let frame = frame.map_err(|_| DoorRefusal::invalid_request("the body could not be read"))?;
            if let Ok(data) = frame.into_data() {
                taken.grow(self.bytes.len() + data.len())?;
                self.bytes.extend_from_slice(&data);
            }
        }
        Ok(())
    }
}

async fn within(time: Duration, read: impl Future<Output = Result<(), DoorRefusal>>) -> Result<(), DoorRefusal> {
    tokio::time::timeout(time, read).await.unwrap_or_else(|_| Err(DoorRefusal::too_slow()))
}
