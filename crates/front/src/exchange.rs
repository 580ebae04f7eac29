//! One request, from its key to its reservation; then it is a task of its own.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::{Body, Bytes, HttpBody};
use axum::response::Response;
use http::request::Parts;
use http::{Method, Request};
use http_body_util::BodyExt;
use keymeter_door::admission::{LetThrough, admit};
use keymeter_door::refusals::DoorRefusal;
use keymeter_door::request_head::RequestHead;
use keymeter_door::settlements::Place;
use keymeter_meter::route::Route;
use tokio::sync::oneshot;

use crate::bodies::read_body;
use crate::headers::{has_odd_length, to_upstream};
use crate::shared::Shared;
use crate::task::{RequestTask, answer_of, checked, no_answer};

/// Answers a request.
pub async fn answer(shared: Arc<Shared>, peer: SocketAddr, request: Request<Body>) -> Response {
    let (head, body) = request.into_parts();
    let route = Route::find(head.method.as_str(), head.uri.path());
    match exchange(shared, peer, head, body, route).await {
        Ok(answer) => answer,
        Err(refusal) => refusal.answer(route).map(Body::from),
    }
}

async fn exchange(
    shared: Arc<Shared>,
    peer: SocketAddr,
    head: Parts,
    body: Body,
    route: Option<Route>,
) -> Result<Response, DoorRefusal> {
    let door = &shared.door;
    let target = (head.method.as_str(), head.uri.path(), head.uri.query());
    let request = RequestHead::read(route, target, &head.headers, Some(peer.ip()), &door.options)?;
    if has_odd_length(&head.headers) || (head.method == Method::GET && !body.is_end_stream()) {
        return Err(DoorRefusal::invalid_request("the length of the body is not clear"));
    }
    let read = read_body(&door.bodies, &request.bearer, body, door.verify(&request.bearer, None)).await?;
    let has_body = head.method == Method::POST;
    let mut reserved = match admit(door, &request, has_body.then_some(read.bytes.as_ref())).await? {
        LetThrough::Reserved(reserved) => reserved,
        LetThrough::Free(place) => return forward_free(&shared, &request, &head, read.bytes.clone(), place).await,
    };
    let (answer, answered) = oneshot::channel();
    let bytes = reserved.metered.body.take().map_or_else(|| read.bytes.clone(), Bytes::from);
    let headers = to_upstream(&head.headers, shared.upstream.headers(), true);
    let (path, query) = (head.uri.path().to_owned(), request.query);
    let mut task = RequestTask::new(Arc::clone(&shared), request.route, reserved, answer);
    // Its own task: a client that leaves does not end it.
    shared.spawn(async move {
        let sent = task.send(&path, query, headers, bytes).await;
        // Its memory is for others as soon as it is sent.
        drop(read);
        task.answer(sent).await;
    });
    answered.await.unwrap_or_else(|_| Err(DoorRefusal::misconfigured()))
}

/// Passes on what nobody bills.
async fn forward_free(
    shared: &Shared,
    request: &RequestHead,
    head: &Parts,
    body: Bytes,
    place: Place,
) -> Result<Response, DoorRefusal> {
    let has_body = head.method == Method::POST;
    let headers = to_upstream(&head.headers, shared.upstream.headers(), has_body);
    let target = (head.uri.path(), request.query);
    let sent = shared.upstream.send(head.method.clone(), target, (request.route, headers), body).await;
    let answer = checked(&shared.upstream, sent.map_err(no_answer)?)?;
    let (head, body) = answer.into_parts();
    // It has its place until its client has read it.
    let body = body.map_frame(move |frame| {
        let _ = &place;
        frame
    });
    Ok(answer_of(head.status, &head.headers, Body::new(body)))
}
