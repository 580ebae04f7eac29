//! One connection: speaks HTTP until it ends, keeps its time limits, and closes without losing a request.

use std::convert::Infallible;
use std::future::poll_fn;
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use axum::extract::ConnectInfo;
use axum::response::Response;
use http::{HeaderValue, Request, header};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use socket2::SockRef;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Instant, sleep};
use tower::Service;

use super::socket::{ReadObserver, Socket};
use super::{ConnectionLimits, Shared};

/// Time that a closing connection still has for the head of a request or for the rest of an answer.
const GRACE: Duration = Duration::from_secs(1);

pub(super) struct Connection {
    /// Counts the accepted connections.
    number: u64,
    peer: SocketAddr,
    shared: Arc<Shared>,
    state: Mutex<State>,
}

#[derive(Clone, Copy)]
struct State {
    phase: Phase,
    has_slot: bool,
    closing: Closing,
}

/// What a connection does. Phases with a time limit have the time at which they began.
#[derive(Clone, Copy)]
enum Phase {
    /// Waiting for the head of a request, or reading it.
    Head(Instant),
    /// Answering a request.
    Busy,
    /// Sending an answer.
    Sending(Instant),
    Idle(Instant),
}

/// The steps of closing a connection.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Closing {
    No,
    /// Close when the system has no unread bytes.
    Requested,
    /// The system has no unread bytes.
    NothingToRead,
    /// The HTTP implementation was asked to shut down.
    Started,
}

enum Event {
    Ended,
    NothingToRead,
    Close,
    Timer,
}

/// Speaks HTTP on a connection until it ends.
pub(super) async fn run(connection: Arc<Connection>, stream: TcpStream, mut close: watch::Receiver<bool>) {
    let ConnectionLimits { header, answer, idle, .. } = connection.shared.limits;
    let io = TokioIo::new(Socket::new(stream, Arc::clone(&connection)));
    let service = service_fn(|request| Arc::clone(&connection).answer(request));
    let mut http = pin!(connection.shared.http.serve_connection(io, service));
    // One timer serves all phases. A request does not reset it; when it fires, the phase decides what happens.
    let mut timer = pin!(sleep(header));
    let mut closing = false;
    loop {
        let http_event = poll_fn(|context| match http.as_mut().poll(context) {
            Poll::Ready(_) => Poll::Ready(Event::Ended),
            Poll::Pending if connection.may_shut_down() => Poll::Ready(Event::NothingToRead),
            Poll::Pending => Poll::Pending,
        });
        let event = tokio::select! {
            biased;
            event = http_event => event,
            _ = close.changed(), if !closing => Event::Close,
            () = timer.as_mut() => Event::Timer,
        };
        let now = Instant::now();
        match event {
            Event::Ended => return,
            Event::NothingToRead => http.as_mut().graceful_shutdown(),
            Event::Close => {
                closing = true;
                connection.request_close();
                timer.as_mut().reset(now + GRACE);
            }
            Event::Timer => match connection.phase() {
                Phase::Head(since) if closing || now >= since + header => return,
                Phase::Head(since) => timer.as_mut().reset(since + header),
                Phase::Busy => timer.as_mut().reset(now + header),
                phase @ (Phase::Sending(since) | Phase::Idle(since)) => {
                    let end = since + if matches!(phase, Phase::Idle(_)) { idle } else { answer };
                    if now >= end + GRACE {
                        return;
                    }
                    if now >= end {
                        closing = true;
                        connection.request_close();
                    }
                    timer.as_mut().reset(if now >= end { end + GRACE } else { end });
                }
            },
        }
    }
}

impl Connection {
    pub(super) fn new(number: u64, peer: SocketAddr, shared: Arc<Shared>) -> Self {
        let state = State { phase: Phase::Head(Instant::now()), has_slot: false, closing: Closing::No };
        Self { number, peer, shared, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn phase(&self) -> Phase {
        self.state().phase
    }

    async fn answer(self: Arc<Self>, mut request: Request<Incoming>) -> Result<http::Response<SentBody>, Infallible> {
        let has_slot = self.begin_request();
        request.extensions_mut().insert(ConnectInfo(self.peer));
        let mut router = if has_slot { &self.shared.routers.router } else { &self.shared.routers.when_full }.clone();
        let mut answer: Response = match router.call(request).await {
            Ok(answer) => answer,
            Err(never) => match never {},
        };
        if !self.end_request() {
            answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        Ok(answer.map(|body| SentBody { body, connection: self }))
    }

    /// Call this when a request has arrived. Returns true if the connection has a slot.
    fn begin_request(&self) -> bool {
        let mut state = self.state();
        state.phase = Phase::Busy;
        if !state.has_slot {
            state.has_slot = self.shared.slots.take(self.number);
        }
        state.has_slot
    }

    /// Call this when a request is answered. Returns true if the client may send another one.
    fn end_request(&self) -> bool {
        let mut state = self.state();
        state.phase = Phase::Sending(Instant::now());
        state.has_slot
            && state.closing == Closing::No
            && self.shared.slots.free() >= self.shared.limits.reserve()
            && !self.shared.draining.load(Ordering::Relaxed)
    }

    /// Call this when an answer is sent, or given up.
    fn end_answer(&self) {
        let mut state = self.state();
        if let Phase::Sending(_) = state.phase {
            state.phase = Phase::Idle(Instant::now());
        }
    }

    fn request_close(&self) {
        let mut state = self.state();
        if state.closing == Closing::No {
            state.closing = Closing::Requested;
        }
    }

    /// Returns true, once, if the connection is closing and has nothing to read.
    fn may_shut_down(&self) -> bool {
        let mut state = self.state();
        let may_shut_down = state.closing == Closing::NothingToRead;
        if may_shut_down {
            state.closing = Closing::Started;
        }
        may_shut_down
    }
}

/// The body of an answer, which says when it has ended.
struct SentBody {
    body: Body,
    connection: Arc<Connection>,
}

impl HttpBody for SentBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for SentBody {
    fn drop(&mut self) {
        self.connection.end_answer();
    }
}

impl ReadObserver for Connection {
    /// Bytes that arrive while no request is in progress begin the head of the next one.
    fn on_bytes_read(&self) {
        let mut state = self.state();
        // While an answer is sent, they wait for its end.
        if let Phase::Idle(_) = state.phase {
            state.phase = Phase::Head(Instant::now());
        }
    }

    /// For a closing connection, this checks the system too: bytes that
    /// have arrived may be a request, and closing now would lose it.
    fn on_nothing_to_read(&self, stream: &TcpStream) {
        let mut state = self.state();
        if state.closing == Closing::Requested && matches!(state.phase, Phase::Sending(_) | Phase::Idle(_)) {
            let unread = SockRef::from(stream).peek(&mut [MaybeUninit::uninit()]);
            if !unread.is_ok_and(|bytes| bytes > 0) {
                state.closing = Closing::NothingToRead;
            }
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if self.state().has_slot {
            self.shared.slots.release();
        } else {
            self.shared.slots.remove_pending(self.number);
        }
    }
}
