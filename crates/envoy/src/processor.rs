//! What all requests share.

use std::sync::Arc;

use keymeter_door::door::Door;
use tokio::sync::watch;

use crate::settings::OnSilence;

/// What all requests share.
#[derive(Debug, Clone)]
pub struct Processor {
    pub door: Arc<Door>,
    pub on_silence: OnSilence,
    /// Headers of clients that the upstream gets besides those that are known.
    pub pass_headers: Arc<[String]>,
    /// Becomes true when requests that are still under way are cut.
    pub cut: watch::Receiver<bool>,
}
