//! One request, from its key to its reservation; then it is a task of its own.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::response::Response;
use http::header::{CONTENT_ENCODING, UPGRADE};
use http::request::Parts;
use http::{Method, Request};
use http_body_util::BodyExt;
use keymeter_door::address::client_address;
use keymeter_door::bearer::{Bearer, passed_query, required_key};
use keymeter_door::refusals::DoorRefusal;
use keymeter_door::reserved_request::ReservedRequest;
use keymeter_door::settlements::Place;
use keymeter_meter::request::{check_betas, read_request};
use keymeter_meter::route::Route;
use keymeter_meter::settings::MeterSettings;
use tokio::sync::oneshot;

use crate::headers::{has_odd_length, to_upstream};
use crate::shared::Shared;
use crate::task::{RequestTask, answer_of, checked, no_answer};

/// Answers a request.
pub async fn answer(shared: Arc<Shared>, peer: SocketAddr, request: Request<Body>) -> Response {
    let (head, body) = request.into_parts();
    let route = Route::find(head.method.as_str(), head.uri.path());
    match exchange(shared, peer, head, body, route).await {
        Ok(answer) => answer,
        Err(refusal) => refusal.answer(route),
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
    let route = route.ok_or_else(|| DoorRefusal::not_served(head.method.as_str(), head.uri.path()))?;
    check_head(&door.options.meter, &head, &body)?;
    let key = required_key(&head.headers, head.uri.query().unwrap_or_default())?;
    let address = client_address(peer.ip(), &head.headers, &door.options.trusted_proxies);
    // Without one, a key's `allow_ips` would not be checked.
    let address = address.ok_or_else(DoorRefusal::unknown_address)?.to_string();
    let bearer = Bearer { key, address: Some(address) };
    let read = shared.bodies.read(body, door.verify(&bearer, None)).await?;
    let Some(extractors) = door.extractors.newest() else {
        door.verify(&bearer, None).await?;
        return Err(DoorRefusal::unavailable("Keymeter has not told yet how answers are read"));
    };
    let metered = match head.method {
        Method::POST => {
            let extractor = route.extractor(&door.options.meter, &extractors);
            Some(read_request(route, &read.bytes, extractor, &door.options.meter)?)
        }
        _ => None,
    };
    let place = door.settlements.begin();
    let place = place.ok_or_else(|| DoorRefusal::unavailable("too many requests and settlements are open"))?;
    let mut metered = match metered {
        Some(metered) if !route.is_free() => metered,
        free => {
            door.verify(&bearer, free.as_ref().map(|free| free.model.as_str())).await?;
            return forward_free(&shared, route, &head, read.bytes.clone(), place).await;
        }
    };
    let reserved = ReservedRequest::reserve(door, &bearer, &metered, place).await?;
    let (answer, answered) = oneshot::channel();
    let bytes = metered.body.take().map_or_else(|| read.bytes.clone(), Bytes::from);
    let headers = to_upstream(&head.headers, shared.upstream.headers(), true);
    let (path, query) = (head.uri.path().to_owned(), passed_query(head.uri.query()));
    let mut task = RequestTask::new((Arc::clone(&shared), route, extractors), metered, reserved, answer);
    // Its own task: a client that leaves does not end it.
    shared.spawn(async move {
        let sent = task.send(&path, query, headers, bytes).await;
        // Its memory is for others as soon as it is sent.
        drop(read);
        task.answer(sent).await;
    });
    answered.await.unwrap_or_else(|_| Err(DoorRefusal::misconfigured()))
}

fn check_head(settings: &MeterSettings, head: &Parts, body: &Body) -> Result<(), DoorRefusal> {
    use axum::body::HttpBody;

    if head.headers.contains_key(UPGRADE) {
        return Err(DoorRefusal::not_metered("upgrades are not served here"));
    }
    if has_odd_length(&head.headers) || (head.method == Method::GET && !body.is_end_stream()) {
        return Err(DoorRefusal::invalid_request("the length of the body is not clear"));
    }
    let is_identity = |value: &http::HeaderValue| value.as_bytes().eq_ignore_ascii_case(b"identity");
    if head.headers.get_all(CONTENT_ENCODING).iter().any(|value| !is_identity(value)) {
        return Err(DoorRefusal::compressed());
    }
    for value in head.headers.get_all("anthropic-beta") {
        let value = value.to_str().map_err(|_| DoorRefusal::invalid_request("`anthropic-beta` cannot be read"))?;
        check_betas(value, settings)?;
    }
    Ok(())
}

/// Passes on what nobody bills.
async fn forward_free(
    shared: &Shared,
    route: Route,
    head: &Parts,
    body: Bytes,
    place: Place,
) -> Result<Response, DoorRefusal> {
    let has_body = head.method == Method::POST;
    let headers = to_upstream(&head.headers, shared.upstream.headers(), has_body);
    let target = (head.uri.path(), passed_query(head.uri.query()));
    let sent = shared.upstream.send(head.method.clone(), target, (route, headers), body).await;
    let answer = checked(&shared.upstream, sent.map_err(no_answer)?)?;
    let (head, body) = answer.into_parts();
    // It has its place until its client has read it.
    let body = body.map_frame(move |frame| {
        let _ = &place;
        frame
    });
    Ok(answer_of(head.status, &head.headers, Body::new(body)))
}
