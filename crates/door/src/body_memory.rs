//! The memory for bodies of requests.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::refusals::DoorRefusal;
use crate::shares::{Share, Shares};

/// What is read of a body before its key is verified.
pub const UNVERIFIED: usize = 64 * 1024;

pub const MAX_BODY: usize = 32 * 1024 * 1024;

/// For what is read before a key is verified, and for the rest.
pub const TIME: Duration = Duration::from_secs(10);
pub const TIME_OF_LARGE: Duration = Duration::from_mins(2);

/// Memory is counted in so many bytes.
const UNIT: usize = 4_096;

/// Bodies of keys that were not verified, and of all.
const UNVERIFIED_UNITS: usize = 64 * 1024 * 1024 / UNIT;
const UNITS: usize = 512 * 1024 * 1024 / UNIT;

/// The memory for bodies.
#[derive(Debug)]
pub struct BodyMemory {
    unverified: Memory,
    all: Memory,
}

#[derive(Debug)]
struct Memory {
    units: Arc<Semaphore>,
    shares: Arc<Shares>,
}

impl Default for BodyMemory {
    fn default() -> Self {
        Self { unverified: Memory::of(UNVERIFIED_UNITS), all: Memory::of(UNITS) }
    }
}

impl BodyMemory {
    /// For a body whose key is not verified: a share of this address.
    pub fn for_unverified(&self, address: &str) -> TakenMemory {
        self.unverified.taken_by(address)
    }

    /// For a body whose key is verified, or that is read whole: a share of this key.
    pub fn for_verified(&self, key: &str) -> TakenMemory {
        self.all.taken_by(key)
    }
}

impl Memory {
    fn of(units: usize) -> Self {
        Self { units: Arc::new(Semaphore::new(units)), shares: Shares::of(units) }
    }

    fn taken_by(&self, who: &str) -> TakenMemory {
        TakenMemory { memory: Arc::clone(&self.units), share: self.shares.share(who), units: 0, permits: Vec::new() }
    }
}

/// The memory that a body takes.
#[derive(Debug)]
pub struct TakenMemory {
    memory: Arc<Semaphore>,
    share: Share,
    units: usize,
    permits: Vec<OwnedSemaphorePermit>,
}

impl TakenMemory {
    /// Takes what so many bytes need in all.
    ///
    /// # Errors
    /// There is none left, or none for this key or address.
    pub fn grow(&mut self, bytes: usize) -> Result<(), DoorRefusal> {
        let units = bytes.div_ceil(UNIT);
        let more = units.saturating_sub(self.units);
        if more == 0 {
            return Ok(());
        }
        if !self.share.take(more) {
            return Err(DoorRefusal::too_many("too many bodies of this key or address are being read; retry shortly"));
        }
        let permits = u32::try_from(more).unwrap_or(u32::MAX);
        let taken = Arc::clone(&self.memory).try_acquire_many_owned(permits);
        self.permits.push(taken.map_err(|_| DoorRefusal::unavailable("there is no memory for another body"))?);
        self.units = units;
        Ok(())
    }
}
