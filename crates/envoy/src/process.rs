//! One request: what a proxy tells of it, and what the proxy is answered.

use std::pin::pin;
use std::sync::Arc;

use futures_util::{Stream, StreamExt};
use http::StatusCode;
use keymeter_door::admission::{LetThrough, admit};
use keymeter_door::answer_head::answer_head;
use keymeter_door::body_memory::{MAX_BODY, TakenMemory, UNVERIFIED};
use keymeter_door::refusals::DoorRefusal;
use keymeter_door::request_head::RequestHead;
use keymeter_door::reserved_request::ReservedRequest;
use keymeter_meter::answer_meter::{AnswerMeter, End, Outcome};
use keymeter_meter::picks::Pick;
use keymeter_meter::route::Route;
use prost::bytes::{Bytes, BytesMut};
use tokio::sync::mpsc;
use tonic::Status;

use crate::answers::Reply;
use crate::client_request::{ClientRequest, MessageHead, attribute};
use crate::messages::{
    BodySendMode, CommonAnswer, HttpTrailers, ProcessingRequest, ProcessingResponse, ProtocolConfiguration,
    RequestPart, ResponsePart,
};
use crate::processor::Processor;
use crate::replies::{common, let_through, metadata, pieces, refused, reply, unchanged};

use crate::settings::OnSilence;

/// One request, and what is known of it.
pub struct Process<S> {
    processor: Processor,
    messages: S,
    answers: mpsc::Sender<Reply>,
    route: Option<Route>,
    modes: Modes,
    /// A message that came while something else was waited for.
    early: Option<ProcessingRequest>,
}

/// How the proxy sends bodies.
#[derive(Debug, Clone, Copy, Default)]
struct Modes {
    /// In pieces that are sent on as they are answered.
    request_is_duplex: bool,
    answer_is_duplex: bool,
}

/// Why a request goes no further here.
#[derive(Debug)]
enum Stop {
    Refused(DoorRefusal),
    /// The proxy answers it itself, or another filter does, before it was let through.
    AnsweredElsewhere(ProcessingRequest),
    /// The proxy ended it.
    Left,
    /// It is cut, or the proxy sent what it may not. The proxy gets an error.
    Broken(&'static str),
}

impl From<DoorRefusal> for Stop {
    fn from(refusal: DoorRefusal) -> Self {
        Self::Refused(refusal)
    }
}

/// The beginning of an answer.
struct BegunAnswer {
    head: MessageHead,
    /// The proxy answers itself, because the upstream was too slow. That may go on, and bill.
    timed_out: bool,
    is_empty: bool,
}

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
        Self { processor, messages, answers, route: None, modes: Modes::default(), early: None }
    }

    pub async fn run(mut self) {
        let ended = match self.request().await {
            Err(Stop::Refused(refusal)) => self.send(refused(&refusal, self.route)).await,
            Err(Stop::AnsweredElsewhere(message)) => self.pass_on(message).await,
            ended => ended,
        };
        match ended {
            Ok(()) => drop(self.answers.send(Reply::End).await),
            Err(Stop::Broken(reason)) => tracing::warn!(reason, "a request was broken off"),
            // Nobody is there any more.
            Err(Stop::Left | Stop::Refused(_) | Stop::AnsweredElsewhere(_)) => {}
        }
    }

    async fn request(&mut self) -> Result<(), Stop> {
        let mut first = self.next().await?;
        self.modes = Modes::read(first.protocol_config)?;
        let Some(RequestPart::RequestHeaders(headers)) = first.request.take_if(|part| is_request_head(part)) else {
            return Err(Stop::AnsweredElsewhere(first));
        };
        let has_body = !headers.end_of_stream;
        let request = ClientRequest::read(headers, &first.attributes);
        let request = request.ok_or_else(|| DoorRefusal::invalid_request("a header cannot be read"))?;
        self.route = request.route();
        let head = request.checked(&self.processor.door.options)?;
        let body = if has_body { Some(self.body(&head, request.length()).await?) } else { None };
        let is_get = matches!(head.route, Route::Models | Route::Model);
        if is_get && body.as_ref().is_some_and(|body| !body.bytes.is_empty()) {
            return Err(DoorRefusal::invalid_request("a GET has no body").into());
        }
        let read = body.as_ref().map_or(&b""[..], |body| &body.bytes);
        match self.admitted(&head, (!is_get).then_some(read)).await? {
            LetThrough::Free(place) => {
                self.let_through(&request, &head, body, None).await?;
                let ended = self.pass_on_rest().await;
                drop(place);
                ended
            }
            LetThrough::Reserved(mut reserved) => {
                let changed = reserved.metered.body.take().map(Bytes::from);
                // Nothing was sent upstream if this fails.
                let sent = self.let_through(&request, &head, body, Some((changed, &reserved))).await;
                if let Err(stop) = sent {
                    reserved.settle(Outcome::nothing("the proxy left before it was let through"));
                    return Err(stop);
                }
                self.answer(&mut reserved).await
            }
        }
    }

    /// The next message.
    async fn next(&mut self) -> Result<ProcessingRequest, Stop> {
        if let Some(message) = self.early.take() {
            return Ok(message);
        }
        tokio::select! {
            message = self.messages.next() => match message {
                Some(Ok(message)) if message.request.is_some() => Ok(message),
                Some(Ok(_)) => Err(Stop::Broken("a message is of an unknown kind")),
                Some(Err(_)) | None => Err(Stop::Left),
            },
            _ = self.processor.cut.wait_for(|is_cut| *is_cut) => Err(Stop::Broken("the program ends")),
        }
    }

    async fn send(&mut self, message: ProcessingResponse) -> Result<(), Stop> {
        self.answers.send(Reply::Message(message)).await.map_err(|_| Stop::Left)
    }

    /// Waits until a body is complete. One that is large, or of unknown length, only after its key is verified.
    async fn body(&mut self, head: &RequestHead, length: Option<usize>) -> Result<CompleteBody, Stop> {
        let door = Arc::clone(&self.processor.door);
        if length.is_some_and(|length| length > MAX_BODY) {
            return Err(DoorRefusal::too_large().into());
        }
        let is_small = length.is_some_and(|length| length <= UNVERIFIED);
        let mut taken = if is_small {
            door.bodies.for_unverified()
        } else {
            door.verify(&head.bearer, None).await?;
            door.bodies.for_verified()
        };
        taken.grow(length.unwrap_or_default())?;
        if !self.modes.request_is_duplex {
            let nothing = ResponsePart::RequestHeaders(CommonAnswer::default());
            self.send(reply(nothing)).await?;
        }
        let (mut bytes, mut has_trailers) = (Bytes::new(), false);
        let mut more = BytesMut::new();
        loop {
            let message = self.next().await?;
            match message.request {
                Some(RequestPart::RequestBody(body)) => {
                    let size = bytes.len() + more.len() + body.body.len();
                    if size > length.unwrap_or(MAX_BODY) {
                        return Err(DoorRefusal::too_large().into());
                    }
                    taken.grow(size)?;
                    if bytes.is_empty() {
                        bytes = body.body;
                    } else {
                        more.extend_from_slice(&body.body);
                    }
                    // A whole body is one message, whatever follows.
                    if body.end_of_stream || !self.modes.request_is_duplex {
                        break;
                    }
                }
                Some(RequestPart::RequestTrailers(_)) => {
                    has_trailers = true;
                    break;
                }
                _ => return Err(Stop::AnsweredElsewhere(message)),
            }
        }
        if !more.is_empty() {
            bytes = [bytes.as_ref(), more.as_ref()].concat().into();
        }
        Ok(CompleteBody { bytes, has_trailers, _taken: taken })
    }

    /// Whether it is let through. If the proxy leaves meanwhile, nothing is held.
    async fn admitted(&mut self, head: &RequestHead, body: Option<&[u8]>) -> Result<LetThrough, Stop> {
        let door = Arc::clone(&self.processor.door);
        let mut admitting = pin!(admit(&door, head, body));
        tokio::select! {
            biased;
            admitted = &mut admitting => Ok(admitted?),
            early = self.next() => {
                self.early = Some(early?);
                Ok(admitting.await?)
            }
        }
    }

    /// Answers the request, so that the proxy sends it on, with another body if it is changed.
    async fn let_through(
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
        let length = changed.as_ref().map(Bytes::len);
        let removed = request.removed_headers(&self.processor.pass_headers);
        let headers = |length| let_through(request.other_target(head.query), length, removed);
        let Some(body) = body else {
            let mut answer = reply(ResponsePart::RequestHeaders(common(headers(None), None)));
            answer.dynamic_metadata = told;
            return self.send(answer).await;
        };
        if !self.modes.request_is_duplex {
            let mut answer = reply(ResponsePart::RequestBody(common(headers(length), changed)));
            answer.dynamic_metadata = told;
            return self.send(answer).await;
        }
        let mut answer = reply(ResponsePart::RequestHeaders(common(headers(None), None)));
        answer.dynamic_metadata = told;
        self.send(answer).await?;
        for piece in pieces(changed.unwrap_or(body.bytes), body.has_trailers) {
            self.send(piece).await?;
        }
        if body.has_trailers {
            self.send(reply(ResponsePart::RequestTrailers(HttpTrailers {}))).await?;
        }
        Ok(())
    }

    /// Passes on the answer to a request that is reserved, and settles what it did cost.
    async fn answer(&mut self, reserved: &mut ReservedRequest) -> Result<(), Stop> {
        let BegunAnswer { head, timed_out, is_empty } = match self.begun_answer(reserved).await {
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
        if timed_out {
            reserved.settle(Outcome::hold("the upstream was too slow"));
            return self.pass_on_rest().await;
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
        self.pass_on_rest().await
    }

    /// Waits for the head of the answer.
    async fn begun_answer(&mut self, reserved: &mut ReservedRequest) -> Result<BegunAnswer, Stop> {
        loop {
            let ProcessingRequest { request, attributes, .. } = reserved.extended(self.next()).await?;
            let Some(part) = request else { continue };
            let begun = if let RequestPart::ResponseHeaders(headers) = &part {
                let head = MessageHead::read(headers.clone()).ok_or(Stop::Broken("a header cannot be read"))?;
                let timed_out = timed_out(&head, attribute(&attributes, "response.code_details"));
                Some(BegunAnswer { head, timed_out, is_empty: headers.end_of_stream })
            } else {
                None
            };
            let sent = self.send(self.unchanged(part)).await;
            if let Some(begun) = begun {
                return Ok(begun);
            }
            sent?;
        }
    }

    /// Reads the body of an answer until it is complete.
    async fn read_answer(&mut self, meter: &mut AnswerMeter<'_>, reserved: &mut ReservedRequest) -> Result<(), Stop> {
        loop {
            let message = reserved.extended(self.next()).await?;
            let Some(part) = message.request else { continue };
            let (bytes, is_end) = if let RequestPart::ResponseBody(body) = &part {
                (body.body.clone(), body.end_of_stream)
            } else {
                (Bytes::new(), matches!(part, RequestPart::ResponseTrailers(_)))
            };
            // The client does not wait until it is read.
            let sent = self.send(self.unchanged(part)).await;
            meter.read(&bytes);
            if is_end {
                return Ok(());
            }
            sent?;
        }
    }

    /// Answers everything without a change, until the proxy has no more.
    async fn pass_on(&mut self, message: ProcessingRequest) -> Result<(), Stop> {
        self.early = Some(message);
        self.pass_on_rest().await
    }

    async fn pass_on_rest(&mut self) -> Result<(), Stop> {
        loop {
            match self.next().await {
                Ok(ProcessingRequest { request: Some(part), .. }) => self.send(self.unchanged(part)).await?,
                Ok(_) => {}
                Err(Stop::Left) => return Ok(()),
                Err(stop) => return Err(stop),
            }
        }
    }

    fn unchanged(&self, part: RequestPart) -> ProcessingResponse {
        let is_request = matches!(part, RequestPart::RequestBody(_));
        unchanged(part, if is_request { self.modes.request_is_duplex } else { self.modes.answer_is_duplex })
    }
}

impl Modes {
    /// How bodies come, if that can be metered: a request whole before it is sent on, an answer as it comes.
    fn read(config: Option<ProtocolConfiguration>) -> Result<Self, DoorRefusal> {
        use BodySendMode::{Buffered, FullDuplexStreamed, Streamed};

        let config = config.unwrap_or_default();
        match (config.request_body_mode(), config.response_body_mode()) {
            (request @ (Buffered | FullDuplexStreamed), answer @ (Streamed | FullDuplexStreamed)) => Ok(Self {
                request_is_duplex: request == FullDuplexStreamed,
                answer_is_duplex: answer == FullDuplexStreamed,
            }),
            (request, answer) => {
                tracing::error!(
                    ?request,
                    ?answer,
                    "the proxy's processing_mode must have request_body_mode BUFFERED or FULL_DUPLEX_STREAMED, and \
                     response_body_mode STREAMED or FULL_DUPLEX_STREAMED: without, nothing can be metered"
                );
                Err(DoorRefusal::misconfigured())
            }
        }
    }
}

fn is_request_head(part: &RequestPart) -> bool {
    matches!(part, RequestPart::RequestHeaders(_))
}

/// Returns true if the proxy answered itself because the upstream was too slow: what it does may still be billed.
fn timed_out(head: &MessageHead, details: Option<&str>) -> bool {
    match details {
        Some("via_upstream") => false,
        Some(details) => details.contains("timeout") || details.contains("duration"),
        None => matches!(head.status(), Some(StatusCode::REQUEST_TIMEOUT | StatusCode::GATEWAY_TIMEOUT)),
    }
}
