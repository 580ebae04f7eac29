//! The answers of one request.

use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::Stream;
use tokio::sync::mpsc;
use tonic::Status;

use crate::messages::ProcessingResponse;

/// Answers that a proxy has not taken yet.
const WAITING: usize = 4;

/// One message, or the word that the request has ended.
#[derive(Debug)]
pub enum Reply {
    Message(ProcessingResponse),
    End,
}

/// The answers of one request. They end well only after [`Reply::End`]: a proxy would else send the rest of the
/// request past this program, with the client's own key.
#[derive(Debug)]
pub struct Answers {
    receiver: mpsc::Receiver<Reply>,
    state: AnswersState,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum AnswersState {
    Open,
    Ended,
}

impl Stream for Answers {
    type Item = Result<ProcessingResponse, Status>;

    fn poll_next(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        if self.state == AnswersState::Ended {
            return Poll::Ready(None);
        }
        self.receiver.poll_recv(context).map(|answer| match answer {
            Some(Reply::Message(message)) => Some(Ok(message)),
            Some(Reply::End) => {
                self.state = AnswersState::Ended;
                None
            }
            None => {
                self.state = AnswersState::Ended;
                Some(Err(Status::unavailable("the request was not finished here")))
            }
        })
    }
}

/// What takes the answers of a request, and the answers.
pub fn channel() -> (mpsc::Sender<Reply>, Answers) {
    let (sender, receiver) = mpsc::channel(WAITING);
    (sender, Answers { receiver, state: AnswersState::Open })
}
