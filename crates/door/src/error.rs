//! Why a door does not open.

use std::io;
use std::path::PathBuf;

/// Why a program that meters does not start.
#[derive(Debug, thiserror::Error)]
pub enum DoorError {
    #[error("the system's certificates cannot be read: {0}")]
    Certificates(io::Error),
    #[error("the certificates of {} cannot be used: {reason}", path.display())]
    Ca { path: PathBuf, reason: String },
    #[error(
        "{0} must be an http or https URL without a query, a name and a password, such as https://api.openai.com/v1"
    )]
    Url(&'static str),
    #[error("the credential cannot be sent in a header")]
    Credential,
}
