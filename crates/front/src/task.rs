//! A request that was let through: sent, its answer passed on, and settled once.

use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use futures_util::stream;
use http::{HeaderMap, Method, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use keymeter_meter::answer_meter::{AnswerHead, AnswerMeter, Charge, End, Outcome};
use keymeter_meter::extractor::Extractor;
use keymeter_meter::extractors::Extractors;
use keymeter_meter::picks::Pick;
use keymeter_meter::request::MeteredRequest;
use keymeter_meter::route::Route;
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout, timeout_at};

use crate::door::Door;
use crate::headers::to_client;
use crate::refusals::FrontRefusal;
use crate::settings::OnLeave;
use crate::settlements::{Place, ReservationEnd, ReservationMade};
use crate::upstream::NoAnswer;

/// How long a client may take nothing of its answer.
const CLIENT_STALL: Duration = Duration::from_mins(1);

/// After a hold could not be extended.
const EXTEND_AGAIN: Duration = Duration::from_secs(10);

/// An answer whose client has left is read no longer, and no further, than this.
const MAX_UNREAD_TIME: Duration = Duration::from_hours(1);
const MAX_UNREAD: usize = 64 * 1024 * 1024;

/// The header by which a gateway of the same name tells a cost in dollars.
const TOLD_COST: &str = "x-litellm-response-cost";

/// What a client gets whose request the upstream did not answer.
pub fn no_answer(reason: NoAnswer) -> FrontRefusal {
    match reason {
        NoAnswer::Broken => FrontRefusal::bad_gateway(),
        NoAnswer::TooSlow => FrontRefusal::gateway_timeout(),
    }
}

/// An answer that may be passed on: nothing that leads a client elsewhere, or blames it for our key.
pub fn checked(door: &Door, answer: http::Response<Incoming>) -> Result<http::Response<Incoming>, FrontRefusal> {
    match answer.status() {
        StatusCode::UNAUTHORIZED if door.upstream.has_own_key() => {
            tracing::error!("the upstream refuses its key: it answers 401");
            Err(FrontRefusal::misconfigured())
        }
        status if status.is_redirection() || status.is_informational() => {
            tracing::error!(%status, "the upstream redirects or upgrades: that is not passed on");
            Err(FrontRefusal::bad_gateway())
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
pub type AnswerSender = oneshot::Sender<Result<Response, FrontRefusal>>;

/// A request that was let through.
pub struct RequestTask {
    door: Arc<Door>,
    route: Route,
    extractors: Arc<Extractors>,
    metered: MeteredRequest,
    reserved: ReservationMade,
    place: Option<Place>,
    /// When the hold is extended next.
    extend_at: Instant,
    answer: Option<AnswerSender>,
}

impl Drop for RequestTask {
    /// Whatever happened: a reservation ends once. Without an outcome, as after a panic, its hold is charged.
    fn drop(&mut self) {
        if self.place.is_some() {
            self.settle(Outcome::hold("the request was not finished"));
        }
    }
}

impl RequestTask {
    /// Of a request that is reserved. `answer` gets what its client is answered.
    pub fn new(
        (door, route, extractors): (Arc<Door>, Route, Arc<Extractors>),
        metered: MeteredRequest,
        (place, reserved): (Place, ReservationMade),
        answer: AnswerSender,
    ) -> Self {
        let extend_at = Instant::now() + half_of(door.options.ttl_seconds);
        let (place, answer) = (Some(place), Some(answer));
        Self { door, route, extractors, metered, reserved, place, extend_at, answer }
    }

    /// Sends the request to the upstream; `None` if the client left meanwhile, and the upstream was left too.
    pub async fn send(
        &mut self,
        path: &str,
        query: &str,
        headers: HeaderMap,
        body: Bytes,
    ) -> Option<Result<http::Response<Incoming>, NoAnswer>> {
        let (door, route) = (Arc::clone(&self.door), self.route);
        let sent = door.upstream.send(Method::POST, (path, query), (route, headers), body);
        let leaves = door.options.on_leave == OnLeave::Close;
        let mut answer = self.answer.take();
        let sent = tokio::select! {
            sent = self.extended(sent) => Some(sent),
            () = closed(&mut answer), if leaves => None,
        };
        self.answer = answer;
        sent
    }

    /// Answers the client, and settles.
    pub async fn answer(mut self, sent: Option<Result<http::Response<Incoming>, NoAnswer>>) {
        let Some(sent) = sent else {
            return self.settle(Outcome::hold("the client left before the answer"));
        };
        let refusal = match sent {
            Ok(answer) => match checked(&self.door, answer) {
                Ok(answer) => return self.pass(answer).await,
                Err(refusal) => {
                    self.settle(Outcome::nothing("the upstream refused it"));
                    refusal
                }
            },
            Err(reason) => {
                self.settle(match reason {
                    NoAnswer::Broken => Outcome::nothing("the upstream was not reached, or broke before its answer"),
                    NoAnswer::TooSlow => Outcome::hold("the upstream was too slow"),
                });
                no_answer(reason)
            }
        };
        self.respond(Err(refusal));
    }

    fn respond(&mut self, answer: Result<Response, FrontRefusal>) {
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
        let extractors = Arc::clone(&self.extractors);
        let Some(extractor) = self.route.extractor(&self.door.options.meter, &extractors) else { return };
        self.read(extractor, (&head.headers, head.status), body, to_client).await;
    }

    /// Reads the answer, gives it to the client, and settles.
    async fn read(
        &mut self,
        extractor: &Extractor,
        (headers, status): (&HeaderMap, StatusCode),
        mut body: Incoming,
        client: mpsc::Sender<Result<Bytes, BrokenAnswer>>,
    ) {
        let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or("unreadable"));
        let told_usd = text(TOLD_COST).filter(|_| !self.metered.is_stream);
        let head = AnswerHead { status: status.as_u16(), content_encoding: text("content-encoding"), told_usd };
        let pick = Pick::of(extractor);
        let mut meter = AnswerMeter::new(extractor, &pick, self.metered.expected, head);
        let mut left: Option<Left> = None;
        let mut is_cut = false;
        let silence = self.door.upstream.read_timeout();
        let end = loop {
            let frame = tokio::select! {
                frame = timeout(silence, self.extended(body.frame())) => frame,
                () = client.closed(), if left.is_none() => {
                    if self.door.options.on_leave == OnLeave::Close {
                        break End::Left;
                    }
                    left = Some(Left { since: Instant::now(), bytes: 0 });
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
            let sent = self.extended(timeout(CLIENT_STALL, client.send(Ok(data)))).await;
            let is_stalled = sent.is_err();
            if matches!(sent, Ok(Ok(()))) {
                continue;
            }
            if self.door.options.on_leave == OnLeave::Close {
                // Of a client that only takes nothing, more may have been made than was seen.
                break if is_stalled { End::GivenUp } else { End::Left };
            }
            is_cut = is_stalled;
            left = Some(Left { since: Instant::now(), bytes: 0 });
        };
        drop(body);
        self.settle(meter.end(end));
        if end != End::Complete || is_cut {
            // The client must not take what it has for the whole answer.
            let _ = timeout(CLIENT_STALL, client.send(Err(BrokenAnswer))).await;
        }
    }

    /// Waits, and extends the hold when half of its time is over.
    async fn extended<T>(&mut self, work: impl Future<Output = T>) -> T {
        let mut work = std::pin::pin!(work);
        loop {
            if Instant::now() >= self.extend_at {
                self.extend().await;
            }
            if let Ok(done) = timeout_at(self.extend_at, &mut work).await {
                return done;
            }
        }
    }

    async fn extend(&mut self) {
        let half = half_of(self.door.options.ttl_seconds);
        // If it fails, or is broken off.
        self.extend_at = Instant::now() + half.min(EXTEND_AGAIN);
        let ReservationMade::Known { id, .. } = &self.reserved else { return };
        let body = json!({ "reservation_id": id, "ttl_seconds": self.door.options.ttl_seconds });
        match self.door.keymeter.call("extend", &body).await {
            Ok(answered) if answered.status == 200 => self.extend_at = Instant::now() + half,
            Ok(answered) => tracing::warn!(status = answered.status, "a hold was not extended"),
            Err(error) => tracing::warn!(%error, "a hold was not extended"),
        }
    }

    fn settle(&mut self, outcome: Outcome) {
        let Some(place) = self.place.take() else { return };
        self.door.ended.count(&outcome.charge);
        tracing::debug!(why = outcome.why, charge = ?outcome.charge, "a request has ended");
        let model = outcome.model.filter(|_| self.door.options.answer_model);
        let mut settle = Map::new();
        match outcome.charge {
            Charge::Nothing => {
                return place.settle(ReservationEnd { reservation: self.reserved.clone(), settle: None });
            }
            Charge::Hold => {
                // A usage that says nothing: the hold is charged, and recorded as that.
                let settle = Some(json!({ "usage": {} }));
                return place.settle(ReservationEnd { reservation: self.reserved.clone(), settle });
            }
            Charge::Told(dollars) => drop(settle.insert("usd".to_owned(), dollars.to_string().into())),
            Charge::Units => {}
        }
        if !outcome.units.is_empty() {
            let number = |text: String| serde_json::from_str::<Value>(&text).unwrap_or(Value::Null);
            let units = outcome.units.into_iter().map(|(unit, count)| (unit, number(count.to_string())));
            settle.insert("units".to_owned(), Value::Object(units.collect()));
        }
        if !outcome.context.is_empty() {
            settle.insert("context".to_owned(), json!(outcome.context));
        }
        if let Some(model) = model {
            settle.insert("model".to_owned(), model.into());
        }
        let settle = Some(Value::Object(settle));
        place.settle(ReservationEnd { reservation: self.reserved.clone(), settle });
    }
}

fn half_of(ttl_seconds: u32) -> Duration {
    Duration::from_secs(u64::from(ttl_seconds).div_ceil(2))
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
