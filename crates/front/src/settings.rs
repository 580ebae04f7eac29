//! What an operator sets.

use std::path::PathBuf;

use clap::ValueEnum;
use http::Uri;
use keymeter_door::settings::DoorSettings;
use secrecy::SecretString;

/// The settings of a front.
#[derive(Debug, Clone)]
pub struct FrontSettings {
    pub door: DoorSettings,
    /// Where clients send their requests, such as `127.0.0.1:8080`.
    pub listen: String,
    /// The base URL of the API, as SDKs take it: its path replaces `/v1`.
    pub upstream: Uri,
    /// The upstream's own key. Without one, none is sent.
    pub upstream_key: Option<SecretString>,
    /// Certificates that may sign that of the upstream, instead of the system's.
    pub upstream_ca: Option<PathBuf>,
    /// Where `/healthz`, `/readyz` and `/metrics` are, if they are anywhere.
    pub operation_listen: Option<String>,
    pub options: FrontOptions,
}

/// Settings that have defaults.
#[derive(Debug, Clone)]
pub struct FrontOptions {
    /// Where the key goes on messages: the header `x-api-key`, as Anthropic has it, or `authorization`.
    pub messages_key: KeyHeader,
    /// Headers that each request to the upstream has, by name.
    pub upstream_headers: Vec<(String, String)>,
    /// What happens if a client leaves: its answer is read to the end, because the provider bills it, or the upstream
    /// is left too, because one's own machines stop then.
    pub on_leave: OnLeave,
    /// Seconds of silence after which the upstream is given up.
    pub read_timeout_seconds: u32,
}

/// A header that has the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KeyHeader {
    XApiKey,
    Authorization,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnLeave {
    Read,
    Close,
}

impl Default for FrontOptions {
    fn default() -> Self {
        Self {
            messages_key: KeyHeader::XApiKey,
            upstream_headers: Vec::new(),
            on_leave: OnLeave::Read,
            read_timeout_seconds: 600,
        }
    }
}
