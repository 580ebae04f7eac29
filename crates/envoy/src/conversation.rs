//! What a proxy and this program say to each other about one request.

use futures_util::{Stream, StreamExt};
use keymeter_door::refusals::DoorRefusal;
use tokio::sync::{mpsc, watch};
use tonic::Status;

use crate::answers::Reply;
use crate::messages::{BodySendMode, ProcessingRequest, ProcessingResponse, ProtocolConfiguration, RequestPart};
use crate::replies::unchanged;

/// The messages of a proxy about one request, and the replies to them.
pub struct Conversation<S> {
    messages: S,
    replies: mpsc::Sender<Reply>,
    cut: watch::Receiver<bool>,
    /// How bodies come, as soon as that is known.
    pub modes: Modes,
    /// A message that came while something else was waited for.
    early: Option<ProcessingRequest>,
}

/// How the proxy sends bodies.
#[derive(Debug, Clone, Copy, Default)]
pub struct Modes {
    /// In pieces that are sent on as they are answered.
    pub request_is_duplex: bool,
    pub answer_is_duplex: bool,
}

/// Why a request goes no further here.
#[derive(Debug)]
pub enum Stop {
    Refused(DoorRefusal),
    /// The proxy answers it itself, or another filter does: it was not sent on.
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

impl<S> Conversation<S>
where
    S: Stream<Item = Result<ProcessingRequest, Status>> + Send + Unpin,
{
    /// A conversation that is broken off when `cut` becomes true.
    pub fn new(messages: S, replies: mpsc::Sender<Reply>, cut: watch::Receiver<bool>) -> Self {
        Self { messages, replies, cut, modes: Modes::default(), early: None }
    }

    /// Ends it well: the proxy has no need of this program any more.
    pub async fn end(self) {
        // Nobody may be there any more.
        let _ = self.replies.send(Reply::End).await;
    }

    /// Lets a message be the next one, which was taken too early.
    pub fn keep(&mut self, message: ProcessingRequest) {
        self.early = Some(message);
    }

    /// The next message.
    pub async fn next(&mut self) -> Result<ProcessingRequest, Stop> {
        if let Some(message) = self.early.take() {
            return Ok(message);
        }
        tokio::select! {
            message = self.messages.next() => match message {
                Some(Ok(message)) if message.request.is_some() => Ok(message),
                Some(Ok(_)) => Err(Stop::Broken("a message is of an unknown kind")),
                Some(Err(_)) | None => Err(Stop::Left),
            },
            _ = self.cut.wait_for(|is_cut| *is_cut) => Err(Stop::Broken("the program ends")),
        }
    }

    pub async fn send(&mut self, message: ProcessingResponse) -> Result<(), Stop> {
        self.replies.send(Reply::Message(message)).await.map_err(|_| Stop::Left)
    }

    /// Answers everything without a change, until the proxy has no more.
    pub async fn pass_on(&mut self, message: ProcessingRequest) -> Result<(), Stop> {
        self.keep(message);
        self.pass_on_rest().await
    }

    pub async fn pass_on_rest(&mut self) -> Result<(), Stop> {
        loop {
            match self.next().await {
                Ok(ProcessingRequest { request: Some(part), .. }) => self.send(self.unchanged(part)).await?,
                Ok(_) => {}
                Err(Stop::Left) => return Ok(()),
                Err(stop) => return Err(stop),
            }
        }
    }

    pub fn unchanged(&self, part: RequestPart) -> ProcessingResponse {
        let is_request = matches!(part, RequestPart::RequestBody(_));
        unchanged(part, if is_request { self.modes.request_is_duplex } else { self.modes.answer_is_duplex })
    }
}

impl Modes {
    /// How bodies come, if that can be metered: a request whole before it is sent on, an answer as it comes.
    pub fn read(config: Option<ProtocolConfiguration>) -> Result<Self, DoorRefusal> {
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
