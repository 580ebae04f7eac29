//! The gRPC service.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use futures_util::Stream;
use http::{Request, Response};
use keymeter_door::body_memory::MAX_BODY;
use tonic::body::Body;
use tonic::server::{Grpc, NamedService, StreamingService};
use tonic::{Status, Streaming};
use tonic_prost::ProstCodec;
use tower::Service;

use crate::answers::{self, Answers};
use crate::messages::{ProcessingRequest, ProcessingResponse};
use crate::process::Process;
use crate::processor::Processor;

const NAME: &str = "envoy.service.ext_proc.v3.ExternalProcessor";

/// The path of its only call.
const PROCESS: &str = "/envoy.service.ext_proc.v3.ExternalProcessor/Process";

/// A message is larger than the body in it.
const MAX_MESSAGE: usize = MAX_BODY + 1024 * 1024;

impl NamedService for Processor {
    const NAME: &'static str = NAME;
}

impl Service<Request<Body>> for Processor {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response<Body>, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let processor = self.clone();
        Box::pin(async move {
            if request.uri().path() != PROCESS {
                return Ok(Status::unimplemented("only Process is served").into_http());
            }
            let codec = ProstCodec::<ProcessingResponse, ProcessingRequest>::default();
            let mut grpc = Grpc::new(codec).apply_max_message_size_config(Some(MAX_MESSAGE), None);
            Ok(grpc.streaming(processor, request).await)
        })
    }
}

impl StreamingService<ProcessingRequest> for Processor {
    type Response = ProcessingResponse;
    type ResponseStream = Answers;
    type Future = std::future::Ready<Result<tonic::Response<Answers>, Status>>;

    fn call(&mut self, request: tonic::Request<Streaming<ProcessingRequest>>) -> Self::Future {
        let answers = self.answer(request.into_inner());
        std::future::ready(Ok(tonic::Response::new(answers)))
    }
}

impl Processor {
    /// Answers the messages of one request.
    pub fn answer<S>(&self, messages: S) -> Answers
    where
        S: Stream<Item = Result<ProcessingRequest, Status>> + Send + Unpin + 'static,
    {
        let (replies, answers) = answers::channel();
        // Its own task: what is reserved ends, whatever becomes of the call.
        tokio::spawn(Process::new(self.clone(), messages, replies).run());
        answers
    }
}
