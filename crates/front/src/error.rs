//! Why a front does not start.

use std::io;

use keymeter_door::error::DoorError;

/// Why a front does not start.
#[derive(Debug, thiserror::Error)]
pub enum FrontError {
    #[error("cannot listen on {0}: {1}")]
    Listen(String, io::Error),
    #[error(transparent)]
    Door(#[from] DoorError),
    #[error("the header {0:?} of the upstream cannot be sent")]
    Header(String),
}
