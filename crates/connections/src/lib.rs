//! The connections of the server: accepts them, limits their number and how long each may wait, and closes them without
//! losing a request when the server stops.
//!
//! The server speaks HTTP/1 only. Every phase of a connection has a time limit: `server.header_timeout_seconds` for the
//! head of a request, `server.request_timeout_seconds` for answering it (by the router itself), and
//! `server.idle_timeout_seconds` until the client has read the answer and begins the next request.
//!
//! A connection is pending until it has sent the head of a request. If too many are pending, the oldest is closed, so
//! that half-open connections do not keep other clients out. With its first request a connection takes one of
//! `server.max_connections` slots. If no slot is free, the router [`Routers::when_full`] answers.

mod connection;
mod limits;
mod listen;
mod slots;
mod socket;

use std::io;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::{JoinError, JoinSet};
use tokio::time::{Instant, sleep};

use self::connection::Connection;
pub use self::limits::ConnectionLimits;
pub use self::listen::{Sharing, listen};
use self::slots::Slots;

/// Bytes that a connection buffers, and the largest head of a request. A larger head is answered with 431.
const BUFFER: usize = 32 * 1024;

/// Pause after the system had no file descriptor or no memory for a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Time for the TCP handshakes that are in progress when the server stops listening.
const HANDSHAKES: Duration = Duration::from_millis(20);

/// Time for the answers under way when another server takes the listener over.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Clients can cause these warnings, so one is logged at most once in this time.
const WARN_EVERY: Duration = Duration::from_secs(10);

/// What answers requests.
pub struct Routers {
    pub router: Router,
    /// For connections without a slot.
    pub when_full: Router,
}

/// Serves until `stop` resolves. Then `draining` is true at once, so that the server can say that it is not ready.
/// During the stop delay, requests and new connections are still accepted, but every connection closes after its
/// answer. After the delay nothing new is accepted, and requests in progress are finished. Requests that are not
/// finished within the drain time are cut.
pub async fn serve(
    listener: TcpListener,
    routers: Routers,
    draining: Arc<AtomicBool>,
    limits: ConnectionLimits,
    stop: impl Future<Output = ()>,
) {
    let mut connections = Connections::new(routers, draining, limits);
    connections.accept_until(&listener, stop).await;
    connections.shared.draining.store(true, Ordering::SeqCst);
    tracing::info!(seconds = limits.stop_delay.as_secs(), "stopping: not ready; accepting requests during the delay");
    let drain = async {
        connections.accept_until(&listener, sleep(limits.stop_delay)).await;
        connections.stop_listening(listener).await;
        tracing::info!("stopping: no new connections; finishing requests in progress");
        connections.finish().await;
    };
    if tokio::time::timeout(limits.drain, drain).await.is_err() {
        tracing::warn!(seconds = limits.drain.as_secs(), "some requests did not finish in time and were cut");
    }
}

/// Serves until `until` resolves, and returns its outcome. Every connection closes after its answer, so that clients
/// find with the next one what serves on this listener then.
pub async fn serve_until<T>(
    listener: &TcpListener,
    routers: Routers,
    limits: ConnectionLimits,
    until: impl Future<Output = T>,
) -> T {
    let mut connections = Connections::new(routers, Arc::new(AtomicBool::new(true)), limits);
    let outcome = connections.accept_until(listener, until).await;
    let _ = tokio::time::timeout(LAST_ANSWERS, connections.finish()).await;
    outcome
}

/// What all connections share.
struct Shared {
    draining: Arc<AtomicBool>,
    routers: Routers,
    limits: ConnectionLimits,
    http: http1::Builder,
    slots: Slots,
}

/// Accepts connections and owns their tasks.
struct Connections {
    shared: Arc<Shared>,
    tasks: JoinSet<()>,
    /// Becomes true when all connections must close.
    close: watch::Sender<bool>,
    accepted: u64,
    last_warning: Option<Instant>,
}

impl Connections {
    fn new(routers: Routers, draining: Arc<AtomicBool>, limits: ConnectionLimits) -> Self {
        let mut http = http1::Builder::new();
        http.max_buf_size(BUFFER).max_header_size(BUFFER);
        let shared = Shared { draining, routers, limits, http, slots: Slots::new(limits.connections) };
        Self {
            shared: Arc::new(shared),
            tasks: JoinSet::new(),
            close: watch::Sender::new(false),
            accepted: 0,
            last_warning: None,
        }
    }

    async fn accept_until<T>(&mut self, listener: &TcpListener, until: impl Future<Output = T>) -> T {
        let mut until = pin!(until);
        loop {
            tokio::select! {
                outcome = &mut until => return outcome,
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => self.start(stream, peer),
                    Err(error) => self.handle_accept_error(&error).await,
                },
                Some(ended) = self.tasks.join_next() => log_panic(ended),
            }
        }
    }

    fn start(&mut self, stream: TcpStream, peer: SocketAddr) {
        // Send small answers at once. If the option cannot be set, answers are only slower.
        let _ = stream.set_nodelay(true);
        self.accepted += 1;
        let connection = Arc::new(Connection::new(self.accepted, peer, Arc::clone(&self.shared)));
        let pending = {
            // The lock is held while the task is spawned, so that the task cannot end before it is inserted.
            let mut pending = self.shared.slots.lock_pending();
            let task = self.tasks.spawn(connection::run(connection, stream, self.close.subscribe()));
            pending.insert(self.accepted, task);
            pending.len()
        };
        if pending > self.shared.limits.connections {
            self.shared.slots.abort_oldest_pending();
            self.warn(|| tracing::warn!("too many connections without a request; the oldest are closed"));
        }
    }

    /// Ignores errors of a client that is already gone. Other errors come from this machine, and trying again at once
    /// would only waste its time.
    async fn handle_accept_error(&mut self, error: &io::Error) {
        use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
        if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted) {
            return;
        }
        self.warn(|| tracing::warn!(%error, "cannot accept a connection; retrying shortly"));
        self.shared.slots.abort_oldest_pending();
        sleep(ACCEPT_PAUSE).await;
    }

    fn warn(&mut self, log: impl FnOnce()) {
        if self.last_warning.is_none_or(|last| last.elapsed() >= WARN_EVERY) {
            self.last_warning = Some(Instant::now());
            log();
        }
    }

    /// Accepts the connections that have reached the listener, and closes it.
    async fn stop_listening(&mut self, listener: TcpListener) {
        listen::refuse_handshakes(&listener);
        self.accept_until(&listener, sleep(HANDSHAKES)).await;
        // The runtime may not know of the last connections yet. Ask the system until there are none.
        let Ok(listener) = listener.into_std() else { return };
        while let Ok((stream, peer)) = listener.accept() {
            if let Ok(stream) = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream)) {
                self.start(stream, peer);
            }
        }
    }

    /// Closes every connection as soon as it has no request to answer.
    async fn finish(&mut self) {
        self.close.send_replace(true);
        while let Some(ended) = self.tasks.join_next().await {
            log_panic(ended);
        }
    }
}

/// A panic in a connection is a defect, but it must not affect the other connections.
fn log_panic(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "a connection panicked");
    }
}
