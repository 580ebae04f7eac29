//! A request that was let through: sent, its answer passed on, and settled once.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use futures_util::stream;
use http::{HeaderMap, Method, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use keymeter_door::answer_head::answer_head;
use keymeter_door::refusals::DoorRefusal;
use keymeter_door::reserved_request::ReservedRequest;
use keymeter_meter::answer_meter::{AnswerMeter, End, Outcome};
use keymeter_meter::extractor::Extractor;
use keymeter_meter::picks::Pick;
use keymeter_meter::route::Route;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use tokio::time::{Instant, timeout};

use crate::headers::to_client;
use crate::settings::OnLeave;
use crate::shared::Shared;
use crate::upstream::{NoAnswer, Upstream};

/// How long a client may take nothing of its answer.
const CLIENT_STALL: Duration = Duration::from_mins(1);

/// An answer whose client has left is read no longer, and no further, than this.
const MAX_UNREAD_TIME: Duration = Duration::from_hours(1);
const MAX_UNREAD: usize = 64 * 1024 * 1024;

/// What a client gets whose request the upstream did not answer.
pub fn no_answer(reason: NoAnswer) -> DoorRefusal {
    match reason {
        NoAnswer::Broken => DoorRefusal::bad_gateway(),
        NoAnswer::TooSlow => DoorRefusal::gateway_timeout(),
    }
}

/// An answer that may be passed on: nothing that leads a client elsewhere, or blames it for our key.
pub fn checked(upstream: &Upstream, answer: http::Response<Incoming>) -> Result<http::Response<Incoming>, DoorRefusal> {
    match answer.status() {
        StatusCode::UNAUTHORIZED if upstream.has_own_key() => {
            tracing::error!("the upstream refuses its key: it answers 401");
            Err(DoorRefusal::misconfigured())
        }
        status if status.is_redirection() || status.is_informational() => {
            tracing::error!(%status, "the upstream redirects or upgrades: that is not passed on");
            Err(DoorRefusal::bad_gateway())
        }
        _ => Ok(answer),
    }
}

/// The answer of the upstream, as the client gets it.
pub fn answer_of(status: StatusCode, headers: &HeaderMap, body: Body) -> Response {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    *answer.headers_mut() = to_client(headers);
    answer
}

/// What waits for the answer of a request.
pub type AnswerSender = oneshot::Sender<Result<Response, DoorRefusal>>;

/// A request that was let through.
pub struct RequestTask {
    shared: Arc<Shared>,
    route: Route,
    reserved: Box<ReservedRequest>,
    answer: Option<AnswerSender>,
}

impl RequestTask {
    /// Of a request that is reserved. `answer` gets what its client is answered.
    pub fn new(shared: Arc<Shared>, route: Route, reserved: Box<ReservedRequest>, answer: AnswerSender) -> Self {
        Self { shared, route, reserved, answer: Some(answer) }
    }

    /// Sends the request to the upstream; `None` if the client left meanwhile, and the upstream was left too.
    pub async fn send(
        &mut self,
        path: &str,
        query: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Option<Result<http::Response<Incoming>, NoAnswer>> {
        let (shared, route) = (Arc::clone(&self.shared), self.route);
        let sent = shared.upstream.send(Method::POST, (path, query), (route, headers), body);
        let leaves = shared.on_leave == OnLeave::Close;
        let mut answer = self.answer.take();
        let sent = tokio::select! {
            sent = self.reserved.extended(sent) => Some(sent),
            () = closed(&mut answer), if leaves => None,
        };
        self.answer = answer;
        sent
    }

    /// Answers the client, and settles.
    pub async fn answer(mut self, sent: Option<Result<http::Response<Incoming>, NoAnswer>>) {
        let Some(sent) = sent else {
            return self.reserved.settle(Outcome::hold("the client left before the answer"));
        };
        let refusal = match sent {
            Ok(answer) => match checked(&self.shared.upstream, answer) {
                Ok(answer) => return self.pass(answer).await,
                Err(refusal) => {
                    self.reserved.settle(Outcome::nothing("the upstream refused it"));
                    refusal
                }
            },
            Err(reason) => {
                self.reserved.settle(match reason {
                    NoAnswer::Broken => Outcome::nothing("the upstream was not reached, or broke before its answer"),
                    NoAnswer::TooSlow => Outcome::hold("the upstream was too slow"),
                });
                no_answer(reason)
            }
        };
        self.respond(Err(refusal));
    }

    fn respond(&mut self, answer: Result<Response, DoorRefusal>) {
        if let Some(sender) = self.answer.take() {
            // A client that has left needs none.
            let _ = sender.send(answer);
        }
    }

    /// Passes an answer on, and settles what it did cost.
    async fn pass(mut self, answer: http::Response<Incoming>) {
        let (head, body) = answer.into_parts();
        let (to_client, from_upstream) = mpsc::channel::<Result<Bytes, BrokenAnswer>>(1);
        let stream = stream::unfold(from_upstream, async |mut chunks| Some((chunks.recv().await?, chunks)));
        self.respond(Ok(answer_of(head.status, &head.headers, Body::from_stream(stream))));
        let extractors = Arc::clone(&self.reserved.extractors);
        let Some(extractor) = self.route.extractor(&self.shared.door.options.meter, &extractors) else { return };
        self.read(extractor, (&head.headers, head.status), body, to_client).await;
    }

    /// A client has left. `None` if so many have that its answer is read no further.
    fn leave(&self) -> Option<Left> {
        let place = Arc::clone(&self.shared.left).try_acquire_owned().ok()?;
        Some(Left { since: Instant::now(), bytes: 0, _place: place })
    }

    /// Reads the answer, gives it to the client, and settles.
    async fn read(
        &mut self,
        extractor: &Extractor,
        (headers, status): (&HeaderMap, StatusCode),
        mut body: Incoming,
        client: mpsc::Sender<Result<Bytes, BrokenAnswer>>,
    ) {
        let head = answer_head(status, headers, self.reserved.metered.is_stream);
        let pick = Pick::of(extractor);
        let mut meter = AnswerMeter::new(extractor, &pick, self.reserved.metered.expected, head);
        let mut left: Option<Left> = None;
        let mut is_cut = false;
        let silence = self.shared.upstream.read_timeout();
        let end = loop {
            let frame = tokio::select! {
                frame = timeout(silence, self.reserved.extended(body.frame())) => frame,
                () = client.closed(), if left.is_none() => {
                    if self.shared.on_leave == OnLeave::Close {
                        break End::Left;
                    }
                    left = self.leave();
                    if left.is_none() {
                        break End::GivenUp;
                    }
                    continue;
                }
            };
            let frame = match frame {
                Err(_) => break End::GivenUp,
                Ok(None) => break End::Complete,
                Ok(Some(Err(_))) => break End::Broken,
                Ok(Some(Ok(frame))) => frame,
            };
            let Ok(data) = frame.into_data() else { continue };
            meter.read(&data);
            if let Some(left) = &mut left {
                if left.is_over(data.len()) {
                    break End::GivenUp;
                }
                continue;
            }
            let sent = self.reserved.extended(timeout(CLIENT_STALL, client.send(Ok(data)))).await;
            let is_stalled = sent.is_err();
            if matches!(sent, Ok(Ok(()))) {
                continue;
            }
            if self.shared.on_leave == OnLeave::Close {
                // Of a client that only takes nothing, more may have been made than was seen.
                break if is_stalled { End::GivenUp } else { End::Left };
            }
            is_cut = is_stalled;
            left = self.leave();
            if left.is_none() {
                break End::GivenUp;
            }
        };
        drop(body);
        self.reserved.settle(meter.end(end));
        if end != End::Complete || is_cut {
            // The client must not take what it has for the whole answer.
            let _ = timeout(CLIENT_STALL, client.send(Err(BrokenAnswer))).await;
        }
    }
}

/// Waits until the client that waits for an answer has left.
async fn closed(answer: &mut Option<AnswerSender>) {
    match answer {
        Some(answer) => answer.closed().await,
        None => std::future::pending().await,
    }
}

/// An answer whose client has left.
struct Left {
    since: Instant,
    bytes: usize,
    _place: OwnedSemaphorePermit,
}

impl Left {
    /// Counts bytes that nobody wants. Returns true if it is read no further.
    fn is_over(&mut self, bytes: usize) -> bool {
        self.bytes += bytes;
        self.bytes > MAX_UNREAD || self.since.elapsed() > MAX_UNREAD_TIME
    }
}

/// The upstream did not send the rest.
#[derive(Debug, Clone, Copy, thiserror::Error)]
#[error("the upstream did not send the rest of its answer")]
struct BrokenAnswer;
