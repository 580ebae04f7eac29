//! The signals that stop this program, and the one by which it reads settings again.

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM, SIGINT (Ctrl-C) and the SIGHUP of a closed terminal, which are caught as soon as this exists; until then they end
/// the process at once, and leave its private PostgreSQL running.
pub struct StopSignals {
    signals: [Option<Signal>; 3],
    /// Whether the process was started in a terminal.
    had_terminal: bool,
}

impl StopSignals {
    #[must_use]
    pub fn catch() -> Self {
        let signals = [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()].map(caught);
        Self { signals, had_terminal: has_terminal() }
    }

    /// Resolves when one of them arrives. A SIGHUP that somebody sends is not one of them: it asks a service to read its prices
    /// again.
    pub async fn received(&mut self) {
        let [terminate, interrupt, hangup] = &mut self.signals;
        tokio::select! {
            () = receive(terminate.as_mut()) => {}
            () = receive(interrupt.as_mut()) => {}
            () = terminal_closed(hangup.as_mut(), self.had_terminal) => {}
        }
    }
}

/// SIGHUP, by which an operator asks to read settings again.
pub struct ReloadSignal(Option<Signal>);

impl ReloadSignal {
    #[must_use]
    pub fn catch() -> Self {
        Self(caught(SignalKind::hangup()))
    }

    /// Resolves when it arrives.
    pub async fn received(&mut self) {
        receive(self.0.as_mut()).await;
    }
}

fn caught(kind: SignalKind) -> Option<Signal> {
    signal(kind).inspect_err(|error| tracing::warn!(%error, "cannot catch a signal")).ok()
}

/// Resolves at the first SIGHUP after which the terminal of the process is gone.
async fn terminal_closed(mut hangup: Option<&mut Signal>, had_terminal: bool) {
    loop {
        receive(hangup.as_deref_mut()).await;
        if had_terminal && !has_terminal() {
            return;
        }
    }
}

/// Returns true if the process has a terminal that is open.
fn has_terminal() -> bool {
    std::fs::File::open("/dev/tty").is_ok()
}

async fn receive(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => {
            signal.recv().await;
        }
        None => std::future::pending().await,
    }
}
