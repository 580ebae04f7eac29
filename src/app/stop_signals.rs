//! The signals that stop this program, and the one by which it reads settings again.

use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};

/// SIGTERM, SIGINT (Ctrl-C) and SIGHUP, which are caught as soon as this exists; until then they end the process at
/// once, and leave its private PostgreSQL running.
pub struct StopSignals {
    signals: [Option<Signal>; 3],
    hangup: Hangup,
}

/// What a SIGHUP means.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Hangup {
    Stop,
    /// Stop, if it comes because the terminal was closed. One that somebody sends asks to read settings again.
    StopIfTerminalCloses,
}

impl StopSignals {
    /// For a command: each of them stops it.
    pub fn catch() -> Self {
        Self::with(Hangup::Stop)
    }

    /// For the service, which reads its prices again at a SIGHUP that somebody sends.
    pub fn catch_for_service() -> Self {
        Self::with(Hangup::StopIfTerminalCloses)
    }

    fn with(hangup: Hangup) -> Self {
        Self { signals: [SignalKind::terminate(), SignalKind::interrupt(), SignalKind::hangup()].map(caught), hangup }
    }

    /// Resolves when the process has to stop.
    pub async fn received(&mut self) {
        let [terminate, interrupt, hangup] = &mut self.signals;
        let hung_up = async {
            match self.hangup {
                Hangup::Stop => receive(hangup.as_mut()).await,
                Hangup::StopIfTerminalCloses => terminal_closed(hangup.as_mut()).await,
            }
        };
        tokio::select! {
            () = receive(terminate.as_mut()) => {}
            () = receive(interrupt.as_mut()) => {}
            () = hung_up => {}
        }
    }
}

/// SIGHUP, by which an operator asks to read settings again.
pub struct ReloadSignal(Option<Signal>);

impl ReloadSignal {
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

/// Resolves at a SIGHUP with which the terminal of the process closes. A terminal that has closed without one, such as
/// that of a shell that left the process in the background, is none any more.
async fn terminal_closed(mut hangup: Option<&mut Signal>) {
    let mut had_terminal = has_terminal();
    let mut looks = tokio::time::interval(Duration::from_secs(10));
    loop {
        tokio::select! {
            () = receive(hangup.as_deref_mut()) => {
                // The signal may be a moment earlier than the end of the terminal.
                for _ in 0..10 {
                    if had_terminal && !has_terminal() {
                        return;
                    }
                    tokio::time::sleep(Duration::from_millis(100)).await;
                }
            }
            _ = looks.tick() => had_terminal = has_terminal(),
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
