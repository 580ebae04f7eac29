//! One request: what a proxy tells of it, and what the proxy is answered.

use std::pin::pin;
use std::sync::Arc;

use futures_util::Stream;
use http::StatusCode;
use keymeter_door::admission::{LetThrough, admit};
use keymeter_door::answer_head::answer_head;
use keymeter_door::body_memory::{MAX_BODY, TIME, TIME_OF_LARGE, TakenMemory, UNVERIFIED};
use keymeter_door::refusals::DoorRefusal;
use keymeter_door::request_head::RequestHead;
use keymeter_door::reserved_request::ReservedRequest;
use keymeter_meter::answer_meter::{AnswerMeter, End, Outcome};
use keymeter_meter::picks::Pick;
use keymeter_meter::route::Route;
use prost::bytes::{Bytes, BytesMut};
use tokio::sync::mpsc;
use tokio::time::timeout;
use tonic::Status;

use crate::answers::Reply;
use crate::client_request::{ClientRequest, MessageHead, attribute};
use crate::conversation::{Conversation, Modes, Stop};
use crate::messages::{HttpTrailers, ProcessingRequest, ProcessingResponse, RequestPart, ResponsePart};
use crate::processor::Processor;
use crate::replies::{
    length_of, metadata, passed_headers, passed_headers_with_body, pieces, refused, reply, with_headers,
};
use crate::settings::OnSilence;

/// One request, and what is known of it.
pub struct Process<S> {
    processor: Processor,
    proxy: Conversation<S>,
    route: Option<Route>,
}

/// The beginning of an answer.
struct BegunAnswer {
    head: MessageHead,
    from: AnswerFrom,
    is_empty: bool,
}

/// Whose answer it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswerFrom {
    Upstream,
    /// The upstream was not reached, or broke before its answer.
    Proxy,
    /// The upstream was too slow. It may go on, and bill.
    ProxyAfterTimeout,
}

/// The attribute that says whose answer it is, and its value for that of the upstream.
const DETAILS: &str = "response.code_details";
const VIA_UPSTREAM: &str = "via_upstream";

/// A body, and the memory that it takes.
struct CompleteBody {
    bytes: Bytes,
    has_trailers: bool,
    _taken: TakenMemory,
}

impl<S> Process<S>
where
    S: Stream<Item = Result<ProcessingRequest, Status>> + Send + Unpin,
{
    pub fn new(processor: Processor, messages: S, answers: mpsc::Sender<Reply>) -> Self {
        let proxy = Conversation::new(messages, answers, processor.cut.clone());
        Self { processor, proxy, route: None }
    }

    pub async fn run(mut self) {
        let ended = match self.request().await {
            Err(Stop::Refused(refusal)) => self.proxy.send(refused(&refusal, self.route)).await,
            Err(Stop::AnsweredElsewhere(message)) => self.proxy.pass_on(message).await,
            ended => ended,
        };
        match ended {
            Ok(()) => self.proxy.end().await,
            Err(Stop::Broken(reason)) => tracing::warn!(reason, "a request was broken off"),
            // Nobody is there any more.
            Err(Stop::Left | Stop::Refused(_) | Stop::AnsweredElsewhere(_)) => {}
        }
    }

    async fn request(&mut self) -> Result<(), Stop> {
        let first = self.proxy.next().await?;
        self.proxy.modes = Modes::read(first.protocol_config)?;
        let headers = match first.request {
            Some(RequestPart::RequestHeaders(headers)) => headers,
            Some(RequestPart::ResponseHeaders(_)) => return Err(answered_elsewhere(first)),
            _ => {
                tracing::error!("the proxy does not send the headers of requests: request_header_mode must be SEND");
                return Err(DoorRefusal::misconfigured().into());
            }
        };
        let has_body = !headers.end_of_stream;
        let request = ClientRequest::read(&headers, &first.attributes);
        let request = request.ok_or_else(|| DoorRefusal::invalid_request("a header cannot be read"))?;
        self.route = request.route();
        let head = request.checked(&self.processor.door.options)?;
        let is_get = matches!(head.route, Route::Models | Route::Model);
        if has_body && (is_get || request.length() == Some(0)) {
            return Err(DoorRefusal::invalid_request("the length of the body is not clear").into());
        }
        let body = if has_body { Some(self.body(&request, &head).await?) } else { None };
        let read = body.as_ref().map_or(&b""[..], |body| &body.bytes);
        match self.admitted(&head, (!is_get).then_some(read)).await? {
            LetThrough::Free(place) => {
                self.send_on(&request, &head, body, None).await?;
                // The proxy bounds what clients leave unread.
                drop(place);
                self.proxy.pass_on_rest().await
            }
            LetThrough::Reserved(mut reserved) => {
                let changed = reserved.metered.body.take().map(Bytes::from);
                if let Err(stop) = self.send_on(&request, &head, body, Some((changed, &reserved))).await {
                    // Some of it may have been sent on, but no upstream answers a part of a body.
                    reserved.settle(Outcome::nothing("the proxy left before it was let through"));
                    return Err(stop);
                }
                // An answer may take long, and there may be many.
                drop((request, head));
                self.answer(&mut reserved).await
            }
        }
    }

    /// Waits until a body is complete. One that is large, or of unknown length, only after its key is verified.
    async fn body(&mut self, request: &ClientRequest, head: &RequestHead) -> Result<CompleteBody, Stop> {
        let (door, length) = (Arc::clone(&self.processor.door), request.length());
        if length.is_some_and(|length| length > MAX_BODY) {
            return Err(DoorRefusal::too_large().into());
        }
        let (mut taken, time) = if length.is_some_and(|length| length <= UNVERIFIED) {
            (door.bodies.for_unverified(&head.bearer.origin()), TIME)
        } else {
            door.verify(&head.bearer, None).await?;
            let mut taken = door.bodies.for_verified(&head.bearer.key);
            // A message is in memory before it is seen.
            taken.grow(length.unwrap_or(MAX_BODY))?;
            (taken, TIME_OF_LARGE)
        };
        if !self.proxy.modes.request_is_duplex {
            // Now, and not with the body: a proxy may find that there is none.
            let (target, removed) = self.header_changes(request, head);
            let headers = passed_headers_with_body(target, removed);
            self.proxy.send(reply(ResponsePart::RequestHeaders(with_headers(headers, None)))).await?;
        }
        let (bytes, has_trailers) =
            timeout(time, self.body_bytes(length, &mut taken)).await.map_err(|_| DoorRefusal::too_slow())??;
        Ok(CompleteBody { bytes, has_trailers, _taken: taken })
    }

    /// The bytes of a body, and whether trailers followed it.
    async fn body_bytes(&mut self, length: Option<usize>, taken: &mut TakenMemory) -> Result<(Bytes, bool), Stop> {
        let mut pieces = BytesMut::new();
        loop {
            let message = self.proxy.next().await?;
            match message.request {
                Some(RequestPart::RequestBody(body)) => {
                    let size = pieces.len() + body.body.len();
                    if length.is_some_and(|length| size > length) {
                        return Err(DoorRefusal::invalid_request("the length of the body is not clear").into());
                    }
                    if size > MAX_BODY {
                        return Err(DoorRefusal::too_large().into());
                    }
                    taken.grow(size)?;
                    if !self.proxy.modes.request_is_duplex {
                        // A whole body is one message, whatever follows.
                        return Ok((body.body, false));
                    }
                    if pieces.is_empty() {
                        pieces.reserve(length.unwrap_or_default());
                    }
                    pieces.extend_from_slice(&body.body);
                    if body.end_of_stream {
                        return Ok((pieces.freeze(), false));
                    }
                }
                Some(RequestPart::RequestTrailers(_)) => return Ok((pieces.freeze(), true)),
                _ => return Err(answered_elsewhere(message)),
            }
        }
    }

    /// The target that the upstream gets, if it is another one, and the headers that it does not get.
    fn header_changes(&self, request: &ClientRequest, head: &RequestHead) -> (Option<String>, Vec<String>) {
        (request.other_target(head.query), request.removed_headers(&self.processor.pass_headers))
    }

    /// Whether it is let through. If the proxy leaves meanwhile, nothing is held.
    async fn admitted(&mut self, head: &RequestHead, body: Option<&[u8]>) -> Result<LetThrough, Stop> {
        let door = Arc::clone(&self.processor.door);
        let mut admitting = pin!(admit(&door, head, body));
        tokio::select! {
            biased;
            admitted = &mut admitting => Ok(admitted?),
            early = self.proxy.next() => {
                self.proxy.keep(early?);
                Ok(admitting.await?)
            }
        }
    }

    /// Answers the request, so that the proxy sends it on, with another body if it is changed.
    async fn send_on(
        &mut self,
        request: &ClientRequest,
        head: &RequestHead,
        body: Option<CompleteBody>,
        reserved: Option<(Option<Bytes>, &ReservedRequest)>,
    ) -> Result<(), Stop> {
        let (changed, told) = match reserved {
            Some((changed, reserved)) => (changed, Some(metadata(&reserved.told))),
            None => (None, None),
        };
        let (first, rest) = match body {
            None => {
                let (target, removed) = self.header_changes(request, head);
                (ResponsePart::RequestHeaders(with_headers(passed_headers(target, removed), None)), None)
            }
            // Its headers were answered before.
            Some(_) if !self.proxy.modes.request_is_duplex => {
                (ResponsePart::RequestBody(with_headers(length_of(changed.as_ref()), changed)), None)
            }
            Some(body) => {
                let (target, removed) = self.header_changes(request, head);
                let headers = passed_headers_with_body(target, removed);
                (ResponsePart::RequestHeaders(with_headers(headers, None)), Some((changed, body)))
            }
        };
        self.proxy.send(ProcessingResponse { dynamic_metadata: told, ..reply(first) }).await?;
        let Some((changed, body)) = rest else { return Ok(()) };
        for piece in pieces(changed.unwrap_or(body.bytes), body.has_trailers) {
            self.proxy.send(piece).await?;
        }
        if body.has_trailers {
            self.proxy.send(reply(ResponsePart::RequestTrailers(HttpTrailers {}))).await?;
        }
        Ok(())
    }

    /// Passes on the answer to a request that is reserved, and settles what it did cost.
    async fn answer(&mut self, reserved: &mut ReservedRequest) -> Result<(), Stop> {
        let BegunAnswer { head, from, is_empty } = match self.begun_answer(reserved).await {
            Ok(read) => read,
            Err(Stop::Left) => {
                reserved.settle(match self.processor.on_silence {
                    OnSilence::Charge => Outcome::hold("nothing was heard of its answer"),
                    OnSilence::Release => Outcome::nothing("nothing was heard of its answer"),
                });
                return Err(Stop::Left);
            }
            Err(stop) => return Err(stop),
        };
        match from {
            AnswerFrom::Upstream => {}
            AnswerFrom::ProxyAfterTimeout => {
                reserved.settle(Outcome::hold("the upstream was too slow"));
                return self.proxy.pass_on_rest().await;
            }
            AnswerFrom::Proxy => {
                reserved.settle(Outcome::nothing("the upstream was not reached, or broke before its answer"));
                return self.proxy.pass_on_rest().await;
            }
        }
        let status = head.status().ok_or(Stop::Broken("an answer has no status"))?;
        let route = self.route.ok_or(Stop::Broken("a request has no route"))?;
        let extractors = Arc::clone(&reserved.extractors);
        let extractor = route.extractor(&self.processor.door.options.meter, &extractors);
        let extractor = extractor.ok_or(Stop::Broken("nothing reads the answers of this route"))?;
        let pick = Pick::of(extractor);
        let answer_head = answer_head(status, &head.headers, reserved.metered.is_stream);
        let mut meter = AnswerMeter::new(extractor, &pick, reserved.metered.expected, answer_head);
        let read = if is_empty { Ok(()) } else { self.read_answer(&mut meter, reserved).await };
        let end = match &read {
            Ok(()) => End::Complete,
            Err(Stop::Broken(_)) => End::GivenUp,
            // Of the client, the upstream or a time limit: the proxy does not say which.
            Err(Stop::Left | Stop::Refused(_) | Stop::AnsweredElsewhere(_)) => End::Broken,
        };
        reserved.settle(meter.end(end));
        read?;
        self.proxy.pass_on_rest().await
    }

    /// Waits for the head of the answer.
    async fn begun_answer(&mut self, reserved: &mut ReservedRequest) -> Result<BegunAnswer, Stop> {
        loop {
            let ProcessingRequest { request, attributes, .. } = reserved.extended(self.proxy.next()).await?;
            let Some(part) = request else { continue };
            let begun = if let RequestPart::ResponseHeaders(headers) = &part {
                let head = MessageHead::read(headers).ok_or(Stop::Broken("a header cannot be read"))?;
                let from = AnswerFrom::read(&head, attribute(&attributes, DETAILS));
                Some(BegunAnswer { head, from, is_empty: headers.end_of_stream })
            } else {
                None
            };
            let sent = reserved.extended(self.proxy.send(self.proxy.unchanged(part))).await;
            if let Some(begun) = begun {
                return Ok(begun);
            }
            sent?;
        }
    }

    /// Reads the body of an answer until it is complete.
    async fn read_answer(&mut self, meter: &mut AnswerMeter<'_>, reserved: &mut ReservedRequest) -> Result<(), Stop> {
        loop {
            let message = reserved.extended(self.proxy.next()).await?;
            let Some(part) = message.request else { continue };
            let (bytes, is_end) = if let RequestPart::ResponseBody(body) = &part {
                (body.body.clone(), body.end_of_stream)
            } else {
                (Bytes::new(), matches!(part, RequestPart::ResponseTrailers(_)))
            };
            // The client does not wait until it is read.
            let sent = reserved.extended(self.proxy.send(self.proxy.unchanged(part))).await;
            meter.read(&bytes);
            if is_end {
                return Ok(());
            }
            sent?;
        }
    }
}

impl AnswerFrom {
    fn read(head: &MessageHead, details: Option<&str>) -> Self {
        match details {
            Some(VIA_UPSTREAM) => Self::Upstream,
            Some(details) if details.contains("timeout") || details.contains("duration") => Self::ProxyAfterTimeout,
            Some(_) => Self::Proxy,
            None if matches!(head.status(), Some(StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT)) => {
                Self::ProxyAfterTimeout
            }
            None => Self::Upstream,
        }
    }
}

/// A message that answers a request which was not let through here: the proxy's own, or that of a filter before.
fn answered_elsewhere(message: ProcessingRequest) -> Stop {
    let details = attribute(&message.attributes, DETAILS);
    let is_refused = || {
        let Some(RequestPart::ResponseHeaders(headers)) = &message.request else { return false };
        let status = MessageHead::read(headers).and_then(|head| head.status());
        status.is_some_and(|status| status.as_u16() >= 300)
    };
    let is_answer = matches!(message.request, Some(RequestPart::ResponseHeaders(_)));
    if is_answer && details.map_or_else(is_refused, |details| details != VIA_UPSTREAM) {
        return Stop::AnsweredElsewhere(message);
    }
    tracing::error!("the proxy sent a request on that was not let through here: see `keymeter-envoy check`");
    Stop::Broken("it was sent on before it was let through")
}
