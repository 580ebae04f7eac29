//! One request, from its key to its settlement.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::response::Response;
use futures_util::stream;
use http::header::{CONTENT_ENCODING, UPGRADE};
use http::request::Parts;
use http::{HeaderMap, Method, Request, StatusCode};
use http_body_util::BodyExt;
use hyper::body::Incoming;
use keymeter_meter::answer_meter::{AnswerHead, AnswerMeter, Charge, End, Outcome};
use keymeter_meter::extractor::Extractor;
use keymeter_meter::extractors::Extractors;
use keymeter_meter::picks::Pick;
use keymeter_meter::request::{MeteredRequest, check_betas, read_request};
use keymeter_meter::route::Route;
use rand::TryRng;
use serde_json::{Map, Value, json};
use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, timeout, timeout_at};

use crate::address::client_address;
use crate::door::Door;
use crate::headers::{has_odd_length, key_of, to_client, to_upstream};
use crate::keymeter::Unanswered;
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

/// Answers a request.
pub async fn answer(door: Arc<Door>, peer: SocketAddr, request: Request<Body>) -> Response {
    let (head, body) = request.into_parts();
    let route = Route::find(head.method.as_str(), head.uri.path());
    match exchange(door, peer, head, body, route).await {
        Ok(answer) => answer,
        Err(refusal) => refusal.answer(route),
    }
}

async fn exchange(
    door: Arc<Door>,
    peer: SocketAddr,
    head: Parts,
    body: Body,
    route: Option<Route>,
) -> Result<Response, FrontRefusal> {
    let route = route.ok_or_else(|| FrontRefusal::not_served(head.method.as_str(), head.uri.path()))?;
    check_head(&door, &head, &body)?;
    let key = key_of(&head.headers).map(str::to_owned);
    let key = key.filter(|_| !names_key(head.uri.query().unwrap_or_default()));
    let key = key.ok_or_else(|| {
        FrontRefusal::invalid_key("send a valid API key as `Authorization: Bearer` or `x-api-key`, not in the address")
    })?;
    let address = client_address(peer.ip(), &head.headers, &door.options.trusted_proxies);
    let Some(address) = address else {
        // Without one, a key's `allow_ips` would not be checked.
        tracing::error!("a trusted proxy sends an `X-Forwarded-For` that cannot be read");
        return Err(FrontRefusal::misconfigured());
    };
    let caller = Caller { key, address: address.to_string() };
    let read = door.bodies.read(body, verify(&door, &caller, None)).await?;
    let Some(extractors) = door.extractors.newest() else {
        verify(&door, &caller, None).await?;
        return Err(FrontRefusal::unavailable("Keymeter has not told yet how answers are read"));
    };
    let metered = match head.method {
        Method::POST => {
            let extractor = route.extractor(&door.options.meter, &extractors);
            Some(read_request(route, &read.bytes, extractor, &door.options.meter)?)
        }
        _ => None,
    };
    let place = door.settlements.begin();
    let place = place.ok_or_else(|| FrontRefusal::unavailable("too many requests and settlements are open"))?;
    let metered = match metered {
        Some(metered) if !route.is_free() => metered,
        free => {
            verify(&door, &caller, free.as_ref().map(|free| free.model.as_str())).await?;
            return forward_free(&door, route, &head, read.bytes.clone(), place).await;
        }
    };
    let (place, reserved) = reserve(&door, &caller, &metered, place).await?;
    let (answer, answered) = oneshot::channel();
    let extend_at = Instant::now() + half_of(door.options.ttl_seconds);
    let place = Some(place);
    let mut task = Task { door, route, extractors, metered, reserved, place, extend_at, answer: Some(answer) };
    let bytes = task.metered.body.take().map_or_else(|| read.bytes.clone(), Bytes::from);
    let headers = to_upstream(&head.headers, task.door.upstream.headers(), true);
    let (path, query) = (head.uri.path().to_owned(), query_of(&head));
    // Its own task: a client that leaves does not end it.
    let door = Arc::clone(&task.door);
    door.spawn(async move {
        let sent = task.send(&path, query, headers, bytes).await;
        // Its memory is for others as soon as it is sent.
        drop(read);
        task.answer(sent).await;
    });
    answered.await.unwrap_or_else(|_| Err(FrontRefusal::misconfigured()))
}

/// Who asks.
struct Caller {
    key: String,
    address: String,
}

fn check_head(door: &Door, head: &Parts, body: &Body) -> Result<(), FrontRefusal> {
    use axum::body::HttpBody;

    if head.headers.contains_key(UPGRADE) {
        return Err(FrontRefusal::not_metered("upgrades are not served here"));
    }
    if has_odd_length(&head.headers) || (head.method == Method::GET && !body.is_end_stream()) {
        return Err(FrontRefusal::invalid_request("the length of the body is not clear"));
    }
    let is_identity = |value: &http::HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    if head.headers.get_all(CONTENT_ENCODING).iter().any(|value| !is_identity(value)) {
        return Err(FrontRefusal::compressed());
    }
    for value in head.headers.get_all("anthropic-beta") {
        let value = value.to_str().map_err(|_| FrontRefusal::invalid_request("`anthropic-beta` cannot be read"))?;
        check_betas(value, &door.options.meter)?;
    }
    Ok(())
}

/// The only query that reaches the upstream, which SDKs send.
fn query_of(head: &Parts) -> &'static str {
    let is_beta = head.uri.query().is_some_and(|query| query.split('&').any(|pair| pair == "beta=true"));
    if is_beta { "?beta=true" } else { "" }
}

/// Returns true if a query may have a key, with or without escapes.
fn names_key(query: &str) -> bool {
    let query = query.to_ascii_lowercase();
    let unescaped = query.replace("%6b", "k").replace("%4b", "k").replace("%65", "e").replace("%45", "e");
    let unescaped = unescaped.replace("%79", "y").replace("%59", "y");
    unescaped.split(['&', ';']).any(|pair| pair.split('=').next().is_some_and(|name| name.ends_with("key")))
}

/// Whether a key may be used, for a model if one is named.
async fn verify(door: &Door, caller: &Caller, model: Option<&str>) -> Result<(), FrontRefusal> {
    let mut body = json!({ "key": caller.key, "quota": 0, "ip": caller.address });
    set(&mut body, "model", model);
    let answered = door.keymeter.call("verify", &body).await.map_err(|error| unavailable(&error))?;
    if answered.status != 200 {
        return Err(FrontRefusal::of_keymeter(&answered));
    }
    match answered.body.data["valid"].as_bool() {
        Some(true) => Ok(()),
        _ => Err(FrontRefusal::of_reason(answered.body.data["reason"].as_str().unwrap_or("invalid_key"))),
    }
}

/// Holds what a request may cost.
async fn reserve(
    door: &Door,
    caller: &Caller,
    metered: &MeteredRequest,
    place: Place,
) -> Result<(Place, ReservationMade), FrontRefusal> {
    let options = &door.options;
    let mut body = json!({
        "key": caller.key,
        "ip": caller.address,
        "model": metered.model,
        "request_id": random_id()?,
        "ttl_seconds": options.ttl_seconds,
        "on_expiry": options.on_expiry.as_str(),
    });
    set(&mut body, "provider", options.provider.as_deref());
    match &options.hold_usd {
        Some(dollars) => set(&mut body, "usd", Some(dollars)),
        None => body["units"] = json!(metered.hold),
    }
    if !metered.context.is_empty() {
        body["context"] = json!(metered.context);
    }
    let mut reserving = Reserving { place: Some(place), body };
    match door.keymeter.call("reserve", &reserving.body).await {
        Ok(made) if made.status == 200 => {
            let reservation = ReservationMade::read(&made).map_err(|reason| FrontRefusal::unavailable(&reason))?;
            let place = reserving.place.take();
            Ok((place.ok_or_else(FrontRefusal::misconfigured)?, reservation))
        }
        Ok(refused) => {
            if refused.status < 500 {
                drop(reserving.place.take());
            }
            Err(FrontRefusal::of_keymeter(&refused))
        }
        Err(unanswered) => {
            if let Unanswered::NotSent = unanswered {
                drop(reserving.place.take());
            }
            Err(unavailable(&unanswered))
        }
    }
}

/// A `reserve` that is under way. If nobody waits for its answer any more, or that is lost, it may be held all the
/// same, and is released.
struct Reserving {
    place: Option<Place>,
    body: Value,
}

impl Drop for Reserving {
    fn drop(&mut self) {
        if let Some(place) = self.place.take() {
            let reservation = ReservationMade::Lost(std::mem::take(&mut self.body));
            place.settle(ReservationEnd { reservation, settle: None });
        }
    }
}

fn unavailable(error: &Unanswered) -> FrontRefusal {
    FrontRefusal::unavailable(&error.to_string())
}

fn set(body: &mut Value, name: &str, value: Option<&str>) {
    if let Some(value) = value {
        body[name] = value.into();
    }
}

/// An id of our own: clients could choose that of a header, and proxies repeat it.
fn random_id() -> Result<String, FrontRefusal> {
    let mut bytes = [0_u8; 16];
    rand::rngs::SysRng.try_fill_bytes(&mut bytes).map_err(|_| FrontRefusal::misconfigured())?;
    Ok(bytes.iter().fold("front-".to_owned(), |id, byte| format!("{id}{byte:02x}")))
}

/// Passes on what nobody bills.
async fn forward_free(
    door: &Door,
    route: Route,
    head: &Parts,
    body: Bytes,
    place: Place,
) -> Result<Response, FrontRefusal> {
    let has_body = head.method == Method::POST;
    let headers = to_upstream(&head.headers, door.upstream.headers(), has_body);
    let target = (head.uri.path(), query_of(head));
    let sent = door.upstream.send(head.method.clone(), target, (route, headers), body).await;
    let answer = checked(door, sent.map_err(no_answer)?)?;
    let (head, body) = answer.into_parts();
    // It has its place until its client has read it.
    let body = body.map_frame(move |frame| {
        let _ = &place;
        frame
    });
    Ok(answer_of(head.status, &head.headers, Body::new(body)))
}

fn no_answer(reason: NoAnswer) -> FrontRefusal {
    match reason {
        NoAnswer::Broken => FrontRefusal::bad_gateway(),
        NoAnswer::TooSlow => FrontRefusal::gateway_timeout(),
    }
}

/// An answer that may be passed on: nothing that leads a client elsewhere, or blames it for our key.
fn checked(door: &Door, answer: http::Response<Incoming>) -> Result<http::Response<Incoming>, FrontRefusal> {
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

fn answer_of(status: StatusCode, headers: &HeaderMap, body: Body) -> Response {
    let mut answer = Response::new(body);
    *answer.status_mut() = status;
    *answer.headers_mut() = to_client(headers);
    answer
}

/// A request that was let through.
struct Task {
    door: Arc<Door>,
    route: Route,
    extractors: Arc<Extractors>,
    metered: MeteredRequest,
    reserved: ReservationMade,
    place: Option<Place>,
    /// When the hold is extended next.
    extend_at: Instant,
    answer: Option<oneshot::Sender<Result<Response, FrontRefusal>>>,
}

impl Drop for Task {
    /// Whatever happened: a reservation ends once. Without an outcome, as after a panic, its hold is charged.
    fn drop(&mut self) {
        if self.place.is_some() {
            self.settle(Outcome::hold("the request was not finished"));
        }
    }
}

impl Task {
    /// Sends the request to the upstream; `None` if the client left meanwhile, and the upstream was left too.
    async fn send(
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
    async fn answer(mut self, sent: Option<Result<http::Response<Incoming>, NoAnswer>>) {
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
async fn closed(answer: &mut Option<oneshot::Sender<Result<Response, FrontRefusal>>>) {
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
