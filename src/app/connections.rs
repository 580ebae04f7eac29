//! The connections of the server: accepts them, bounds how many there are and how long each may wait, and ends them
//! without losing a request when the server stops.
//!
//! Only HTTP/1 is spoken. Every phase of a connection has a bound: `server.header_timeout_seconds` for the head of
//! a request, `server.request_timeout_seconds` until it is answered (in [`crate::api::layers`]), and
//! `server.idle_timeout_seconds` until the answer is taken and the next request begins.
//!
//! A connection is a newcomer until it has sent the head of a request. Where there are too many newcomers, the oldest
//! is closed, so that half-open connections keep nobody out. With its first request a connection takes one of
//! `server.max_connections` places. Where none is left, [`crate::api::router::router_when_full`] answers.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::future::poll_fn;
use std::io;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::extract::ConnectInfo;
use axum::response::Response;
use http::{HeaderValue, Request, header};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use socket2::SockRef;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::watch;
use tokio::task::{AbortHandle, JoinError, JoinSet};
use tokio::time::{Instant, sleep};
use tower::Service;

use crate::api::state::AppState;
use crate::config;

/// Bytes that a connection buffers, and that the head of a request may have; a larger one is answered 431.
const BUFFER: usize = 32 * 1024;

/// How long a connection that is to end may still take for the head of a request or for the rest of an answer.
const GRACE: Duration = Duration::from_secs(1);

/// How long nothing is accepted after the system had no file descriptor or no memory for a connection.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// How long handshakes that are under way when the server stops listening may take to finish.
const HANDSHAKES: Duration = Duration::from_millis(20);

/// A warning that clients can provoke is written once in this time.
const WARN_EVERY: Duration = Duration::from_secs(10);

/// File descriptors for what is neither a client nor the database's pool: files, the event queue, the embedded database.
const OTHER_FILES: u64 = 64;

/// Connections that the system may complete before they are accepted; it takes the smaller of this and its own limit.
/// Where it is too small, a server under load loses connections before it sees them.
const BACKLOG: u32 = 4_096;

/// Listens at an address, such as `127.0.0.1:3000` or `localhost:3000`.
///
/// # Errors
/// The name has no address, or none of its addresses can be listened at.
pub async fn listen(address: &str) -> io::Result<TcpListener> {
    let mut failure = io::Error::new(io::ErrorKind::InvalidInput, "it has no address");
    for address in tokio::net::lookup_host(address).await? {
        let socket = if address.is_ipv4() { TcpSocket::new_v4() } else { TcpSocket::new_v6() };
        let listening = socket.and_then(|socket| {
            // Otherwise a server that was just stopped keeps the port for a minute.
            socket.set_reuseaddr(true)?;
            socket.bind(address)?;
            socket.listen(BACKLOG)
        });
        match listening {
            Ok(listener) => return Ok(listener),
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// The bounds of connections.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    connections: usize,
    header: Duration,
    idle: Duration,
    stop_delay: Duration,
    drain: Duration,
}

impl Limits {
    /// The bounds of the settings. Raises this process's limit of open files as far as they need, and lowers
    /// `max_connections` where the system does not allow that many; `pool` of the files are for the database.
    #[must_use]
    pub fn new(settings: &config::Server, pool: u32) -> Self {
        let drain = Duration::from_secs(settings.drain_seconds);
        Self {
            connections: usize::try_from(fitting(settings.max_connections.get(), pool)).unwrap_or(usize::MAX),
            header: Duration::from_secs(settings.header_timeout_seconds.get().into()),
            idle: Duration::from_secs(settings.idle_timeout_seconds.get().into()),
            // What is taken in the delay must still have time to be finished.
            stop_delay: Duration::from_secs(settings.stop_delay_seconds).min(drain / 2),
            drain,
        }
    }

    /// Places that stay free of connections that only rest, so that new ones find one.
    const fn reserve(&self) -> usize {
        self.connections.div_ceil(4)
    }
}

/// As many connections as wanted, or as the limit of open files allows: each place needs two, one for a newcomer.
fn fitting(wanted: u32, pool: u32) -> u64 {
    let wanted = u64::from(wanted);
    let others = OTHER_FILES + u64::from(pool);
    match rlimit::increase_nofile_limit(2 * wanted + others) {
        Ok(files) if files < 2 * wanted + others => {
            let fitting = (files.saturating_sub(others) / 2).max(1);
            tracing::warn!(files, wanted, fitting, "the limit of open files is too low for server.max_connections");
            fitting
        }
        Ok(_) => wanted,
        Err(error) => {
            tracing::warn!(%error, "the limit of open files cannot be read; server.max_connections may be too high");
            wanted
        }
    }
}

/// Answers until `stop` comes. Then `/readyz` fails at once, and requests and connections are still taken for the stop
/// delay, but no connection is kept. At last nothing new is taken and what is in flight is finished. What is not
/// finished within the drain time is cut.
pub async fn serve(
    listener: TcpListener,
    state: Arc<AppState>,
    router: Router,
    limits: Limits,
    stop: impl Future<Output = ()>,
) {
    let mut connections = Connections::new(state, router, limits);
    connections.accept_until(&listener, stop).await;
    connections.shared.state.draining.store(true, Ordering::SeqCst);
    tracing::info!(seconds = limits.stop_delay.as_secs(), "stopping: not ready; requests are taken a little longer");
    let ending = async {
        connections.accept_until(&listener, sleep(limits.stop_delay)).await;
        connections.stop_listening(listener).await;
        tracing::info!("stopping: no new connections; finishing what is in flight");
        connections.finish().await;
    };
    if tokio::time::timeout(limits.drain, ending).await.is_err() {
        tracing::warn!(seconds = limits.drain.as_secs(), "some requests did not finish in time and were cut");
    }
}

/// What all connections share.
struct Shared {
    state: Arc<AppState>,
    router: Router,
    router_when_full: Router,
    limits: Limits,
    http: http1::Builder,
    /// Places that nobody has.
    free: AtomicUsize,
    /// Connections without a place, by age.
    newcomers: Mutex<BTreeMap<u64, AbortHandle>>,
}

impl Shared {
    fn newcomers(&self) -> MutexGuard<'_, BTreeMap<u64, AbortHandle>> {
        self.newcomers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes a place, if one is left.
    fn take_place(&self) -> bool {
        self.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |free| free.checked_sub(1)).is_ok()
    }
}

/// Accepts connections and knows those that are open.
struct Connections {
    shared: Arc<Shared>,
    tasks: JoinSet<()>,
    /// Turns true when connections shall end.
    end: watch::Sender<bool>,
    accepted: u64,
    warned: Option<Instant>,
}

impl Connections {
    fn new(state: Arc<AppState>, router: Router, limits: Limits) -> Self {
        let mut http = http1::Builder::new();
        http.max_buf_size(BUFFER).max_header_size(BUFFER);
        let shared = Shared {
            router_when_full: crate::api::router::router_when_full(Arc::clone(&state)),
            state,
            router,
            limits,
            http,
            free: AtomicUsize::new(limits.connections),
            newcomers: Mutex::default(),
        };
        Self {
            shared: Arc::new(shared),
            tasks: JoinSet::new(),
            end: watch::Sender::new(false),
            accepted: 0,
            warned: None,
        }
    }

    async fn accept_until(&mut self, listener: &TcpListener, until: impl Future<Output = ()>) {
        let mut until = pin!(until);
        loop {
            tokio::select! {
                () = &mut until => return,
                accepted = listener.accept() => match accepted {
                    Ok((stream, peer)) => self.open(stream, peer),
                    Err(error) => self.not_accepted(&error).await,
                },
                Some(ended) = self.tasks.join_next() => report(ended),
            }
        }
    }

    fn open(&mut self, stream: TcpStream, peer: SocketAddr) {
        // Small answers must not wait for more; where it cannot be set, they are only slower.
        let _ = stream.set_nodelay(true);
        self.accepted += 1;
        let connection = Connection {
            number: self.accepted,
            peer,
            shared: Arc::clone(&self.shared),
            state: Mutex::new(State { phase: Phase::Head(Instant::now()), has_place: false, leaving: Leaving::No }),
        };
        let crowded = {
            // Held while the task is made, so that it cannot end before it is entered.
            let mut newcomers = self.shared.newcomers();
            let task = self.tasks.spawn(drive(Arc::new(connection), stream, self.end.subscribe()));
            newcomers.insert(self.accepted, task);
            newcomers.len() > self.shared.limits.connections
        };
        if crowded {
            self.close_oldest_newcomer();
            self.warn(|| tracing::warn!("too many connections without a request; the oldest are closed"));
        }
    }

    fn close_oldest_newcomer(&self) {
        let oldest = self.shared.newcomers().pop_first();
        if let Some((_, task)) = oldest {
            task.abort();
        }
    }

    /// The client may be gone already, which is its own matter. Anything else lies with this machine, and trying
    /// again at once would only burn its time.
    async fn not_accepted(&mut self, error: &io::Error) {
        use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
        if matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset | Interrupted) {
            return;
        }
        self.warn(|| tracing::warn!(%error, "a connection cannot be accepted; trying again in a moment"));
        self.close_oldest_newcomer();
        sleep(ACCEPT_PAUSE).await;
    }

    fn warn(&mut self, write: impl FnOnce()) {
        if self.warned.is_none_or(|warned| warned.elapsed() >= WARN_EVERY) {
            self.warned = Some(Instant::now());
            write();
        }
    }

    /// Takes what has reached the listener and closes it.
    async fn stop_listening(&mut self, listener: TcpListener) {
        refuse_handshakes(&listener);
        self.accept_until(&listener, sleep(HANDSHAKES)).await;
        // The runtime may not have heard of the last ones yet: ask the system itself, until there are none.
        let Ok(listener) = listener.into_std() else { return };
        while let Ok((stream, peer)) = listener.accept() {
            if let Ok(stream) = stream.set_nonblocking(true).and_then(|()| TcpStream::from_std(stream)) {
                self.open(stream, peer);
            }
        }
    }

    /// Ends every connection as soon as it has nothing to answer.
    async fn finish(&mut self) {
        self.end.send_replace(true);
        while let Some(ended) = self.tasks.join_next().await {
            report(ended);
        }
    }
}

/// Closing the listener resets connections that nobody has accepted yet, and the clients believe them open. So no new
/// handshake begins in the last moment: a client that gets no answer tries again, and then finds the port closed.
#[cfg(target_os = "linux")]
fn refuse_handshakes(listener: &TcpListener) {
    use socket2::SockFilter;
    // Classic BPF on the TCP header: drop what has SYN (2) but not ACK (16) in byte 13, pass everything else.
    let drop_syn = [
        SockFilter::new(0x30, 0, 0, 13),
        SockFilter::new(0x54, 0, 0, 0x12),
        SockFilter::new(0x15, 0, 1, 0x02),
        SockFilter::new(0x06, 0, 0, 0),
        SockFilter::new(0x06, 0, 0, u32::MAX),
    ];
    if let Err(error) = SockRef::from(listener).attach_filter(&drop_syn) {
        tracing::debug!(%error, "new handshakes cannot be held off; one may be cut");
    }
}

#[cfg(not(target_os = "linux"))]
fn refuse_handshakes(_: &TcpListener) {}

/// One that panicked is a defect, and none of the others' business.
fn report(ended: Result<(), JoinError>) {
    if let Err(error) = ended
        && error.is_panic()
    {
        tracing::error!(%error, "a connection panicked");
    }
}

/// One connection.
struct Connection {
    /// How many were accepted up to it.
    number: u64,
    peer: SocketAddr,
    shared: Arc<Shared>,
    state: Mutex<State>,
}

#[derive(Clone, Copy)]
struct State {
    phase: Phase,
    has_place: bool,
    leaving: Leaving,
}

/// What a connection does, and since when where that has a bound.
#[derive(Clone, Copy)]
enum Phase {
    /// The head of a request is awaited, or has begun to arrive.
    Head(Instant),
    /// A request is being answered.
    Busy,
    /// An answer is being taken, or there is nothing to do.
    Idle(Instant),
}

/// Whether a connection is to end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Leaving {
    No,
    /// As soon as no bytes wait to be read.
    Soon,
    /// No bytes wait to be read.
    Silent,
    /// The protocol was told.
    Told,
}

/// What happens next to a connection.
enum Event {
    Ended,
    Silent,
    Leave,
    Timer,
}

/// Speaks HTTP on a connection until it ends.
async fn drive(connection: Arc<Connection>, stream: TcpStream, mut end: watch::Receiver<bool>) {
    let Limits { header, idle, .. } = connection.shared.limits;
    let io = TokioIo::new(Stream { inner: stream, connection: Arc::clone(&connection) });
    let service = service_fn(|request| connection.answer(request));
    let mut protocol = pin!(connection.shared.http.serve_connection(io, service));
    // One timer for all phases. It is not reset by each request, but looks at the phase when it fires.
    let mut timer = pin!(sleep(header));
    let mut leaving = false;
    loop {
        let protocol_moves = poll_fn(|context| match protocol.as_mut().poll(context) {
            Poll::Ready(_) => Poll::Ready(Event::Ended),
            Poll::Pending if connection.is_silent() => Poll::Ready(Event::Silent),
            Poll::Pending => Poll::Pending,
        });
        let event = tokio::select! {
            biased;
            event = protocol_moves => event,
            _ = end.changed(), if !leaving => Event::Leave,
            () = timer.as_mut() => Event::Timer,
        };
        let now = Instant::now();
        match event {
            Event::Ended => return,
            Event::Silent => protocol.as_mut().graceful_shutdown(),
            Event::Leave => {
                leaving = true;
                connection.leave();
                timer.as_mut().reset(now + GRACE);
            }
            Event::Timer => match connection.phase() {
                Phase::Head(since) if leaving || now >= since + header => return,
                Phase::Head(since) => timer.as_mut().reset(since + header),
                Phase::Busy => timer.as_mut().reset(now + header),
                Phase::Idle(since) if now >= since + idle + GRACE => return,
                Phase::Idle(since) if now >= since + idle => {
                    leaving = true;
                    connection.leave();
                    timer.as_mut().reset(since + idle + GRACE);
                }
                Phase::Idle(since) => timer.as_mut().reset(since + idle),
            },
        }
    }
}

impl Connection {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn phase(&self) -> Phase {
        self.state().phase
    }

    async fn answer(&self, mut request: Request<Incoming>) -> Result<Response, Infallible> {
        let has_place = self.begin();
        request.extensions_mut().insert(ConnectInfo(self.peer));
        let mut router = if has_place { &self.shared.router } else { &self.shared.router_when_full }.clone();
        let mut answer = match router.call(request).await {
            Ok(answer) => answer,
            Err(never) => match never {},
        };
        if !self.answered() {
            answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        Ok(answer)
    }

    /// A request has come. Returns whether the connection has a place.
    fn begin(&self) -> bool {
        let mut state = self.state();
        state.phase = Phase::Busy;
        if !state.has_place && self.shared.take_place() {
            state.has_place = true;
            self.shared.newcomers().remove(&self.number);
        }
        state.has_place
    }

    /// A request is answered. Returns whether the connection may send another one.
    fn answered(&self) -> bool {
        let mut state = self.state();
        state.phase = Phase::Idle(Instant::now());
        state.has_place
            && state.leaving == Leaving::No
            && self.shared.free.load(Ordering::Relaxed) >= self.shared.limits.reserve()
            && !self.shared.state.draining.load(Ordering::Relaxed)
    }

    fn leave(&self) {
        let mut state = self.state();
        if state.leaving == Leaving::No {
            state.leaving = Leaving::Soon;
        }
    }

    /// Bytes were read. Without a request in flight they are the head of one.
    fn heard(&self) {
        let mut state = self.state();
        if let Phase::Idle(_) = state.phase {
            state.phase = Phase::Head(Instant::now());
        }
    }

    /// There is nothing to read, as far as the runtime knows. For a connection that is to end the system is asked
    /// itself, because bytes that have arrived may be a request that would be lost.
    fn not_heard(&self, stream: &TcpStream) {
        let mut state = self.state();
        if state.leaving == Leaving::Soon && matches!(state.phase, Phase::Idle(_)) {
            let waiting = SockRef::from(stream).peek(&mut [MaybeUninit::uninit()]);
            if !waiting.is_ok_and(|bytes| bytes > 0) {
                state.leaving = Leaving::Silent;
            }
        }
    }

    /// Whether it is to end and nothing waits to be read. True once.
    fn is_silent(&self) -> bool {
        let mut state = self.state();
        let silent = state.leaving == Leaving::Silent;
        if silent {
            state.leaving = Leaving::Told;
        }
        silent
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.state().has_place {
            self.shared.free.fetch_add(1, Ordering::Relaxed);
        } else {
            self.shared.newcomers().remove(&self.number);
        }
    }
}

/// The socket of a connection, which tells it what was read.
struct Stream {
    inner: TcpStream,
    connection: Arc<Connection>,
}

impl AsyncRead for Stream {
    fn poll_read(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = buf.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(context, buf);
        if polled.is_pending() {
            self.connection.not_heard(&self.inner);
        } else if buf.filled().len() > before {
            self.connection.heard();
        }
        polled
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, context: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, buf)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bufs: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(context, bufs)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }
}
