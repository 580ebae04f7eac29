//! What an operator sets.

use std::time::Duration;

use clap::ValueEnum;
use keymeter_door::settings::{DoorOptions, DoorSettings};

/// Seconds for which a hold lasts: it is extended while the proxy keeps its stream, and charged soon after a crash.
const TTL_SECONDS: u32 = 300;

/// The settings of a processor.
#[derive(Debug, Clone)]
pub struct EnvoySettings {
    pub door: DoorSettings,
    /// Where proxies connect: `127.0.0.1:13050`, or `unix:` and a path.
    pub listen: String,
    pub on_silence: OnSilence,
    /// Headers of clients that the upstream gets besides those that are known.
    pub pass_headers: Vec<String>,
    /// From the signal to stop until nothing new is accepted: proxies ask for the health meanwhile, and go elsewhere.
    pub stop_delay: Duration,
}

/// What is charged for a request that was let through, and of which the proxy told nothing more: its client may have
/// left, and the provider may still do and bill it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum OnSilence {
    /// Its hold.
    Charge,
    /// Nothing, where clients are trusted.
    Release,
}

/// The defaults of a processor.
pub fn default_options() -> DoorOptions {
    DoorOptions { ttl_seconds: TTL_SECONDS, ..DoorOptions::default() }
}
