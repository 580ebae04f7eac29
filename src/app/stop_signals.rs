//! The signals that stop this program.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM, SIGINT (Ctrl-C) and SIGHUP (the terminal closes), which are caught as soon as this exists; until then they
/// end the process at once, and leave its private PostgreSQL running.
pub struct StopSignals([Option<Signal>; 3]);

impl StopSignals {
    pub fn catch() -> Self {
        let caught = |kind| signal(kind).inspect_err(|error| tracing::warn!(%error, "cannot catch a signal")).ok();
        Self([SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()].map(caught))
    }

    /// Resolves when the process has to stop.
    pub async fn received(&mut self) {
        let [terminate, interrupt, hangup] = &mut self.0;
        tokio::select! {
            () = receive(terminate.as_mut()) => {}
            () = receive(interrupt.as_mut()) => {}
            () = receive(hangup.as_mut()) => {}
        }
    }
}

async fn receive(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}
