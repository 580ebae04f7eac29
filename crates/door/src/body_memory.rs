//! The memory for bodies of requests.

use std::sync::Arc;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::refusals::DoorRefusal;

/// What is read of a body before its key is verified.
pub const UNVERIFIED: usize = 64 * 1024;

pub const MAX_BODY: usize = 32 * 1024 * 1024;

/// Memory is counted in so many bytes.
const UNIT: usize = 4_096;

/// Bodies of keys that were not verified, and of all.
const UNVERIFIED_UNITS: usize = 64 * 1024 * 1024 / UNIT;
const UNITS: usize = 512 * 1024 * 1024 / UNIT;

/// The memory for bodies.
#[derive(Debug)]
pub struct BodyMemory {
    unverified: Arc<Semaphore>,
    all: Arc<Semaphore>,
}

impl Default for BodyMemory {
    fn default() -> Self {
        Self { unverified: Arc::new(Semaphore::new(UNVERIFIED_UNITS)), all: Arc::new(Semaphore::new(UNITS)) }
    }
}

impl BodyMemory {
    /// For a body whose key is not verified.
    pub fn for_unverified(&self) -> TakenMemory {
        TakenMemory::of(&self.unverified)
    }

    /// For a body whose key is verified, or that is read whole.
    pub fn for_verified(&self) -> TakenMemory {
        TakenMemory::of(&self.all)
    }
}

/// The memory that a body takes.
#[derive(Debug)]
pub struct TakenMemory {
    memory: Arc<Semaphore>,
    units: usize,
    permits: Vec<OwnedSemaphorePermit>,
}

impl TakenMemory {
    fn of(memory: &Arc<Semaphore>) -> Self {
        Self { memory: Arc::clone(memory), units: 0, permits: Vec::new() }
    }

    /// Takes what so many bytes need in all.
    ///
    /// # Errors
    /// There is none left.
    pub fn grow(&mut self, bytes: usize) -> Result<(), DoorRefusal> {
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
