//! Why a processor does not start.

use std::io;

use keymeter_door::error::DoorError;

#[derive(Debug, thiserror::Error)]
pub enum EnvoyError {
    #[error("cannot listen on {0}: {1}")]
    Listen(String, io::Error),
    #[error(transparent)]
    Door(#[from] DoorError),
    #[error("cannot serve: {0}")]
    Serve(#[from] tonic::transport::Error),
}
