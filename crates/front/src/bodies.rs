//! Reads the bodies of requests: each in its time, and all of them in the memory that there is for them.

use std::time::Duration;

use axum::body::{Body, Bytes};
use http_body_util::BodyExt;
use keymeter_door::bearer::Bearer;
use keymeter_door::body_memory::{BodyMemory, MAX_BODY, TIME, TIME_OF_LARGE, TakenMemory, UNVERIFIED};
use keymeter_door::refusals::DoorRefusal;

/// A body, and the memory that it takes.
#[derive(Debug)]
pub struct ReadBody {
    pub bytes: Bytes,
    _taken: TakenMemory,
}

/// Reads a body. Beyond its first 64 KiB only if `verify` says that its key may be used.
///
/// # Errors
/// It is too large or too slow, there is no memory for it, or its key may not be used.
pub async fn read_body(
    memory: &BodyMemory,
    bearer: &Bearer,
    body: Body,
    verify: impl Future<Output = Result<(), DoorRefusal>>,
) -> Result<ReadBody, DoorRefusal> {
    let mut reading = Reading { body, bytes: Vec::new(), is_complete: false };
    let mut first = memory.for_unverified(&bearer.origin());
    within(TIME, reading.read_to(UNVERIFIED, &mut first)).await?;
    let mut taken = memory.for_verified(&bearer.key);
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

struct Reading {
    body: Body,
    bytes: Vec<u8>,
    is_complete: bool,
}

impl Reading {
    /// Reads until the body ends or has more bytes than these.
    async fn read_to(&mut self, most: usize, taken: &mut TakenMemory) -> Result<(), DoorRefusal> {
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
