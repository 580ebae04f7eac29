//! One request, from its key to its reservation; then it is a task of its own.

use std::net::SocketAddr;
use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::response::Response;
use http::header::{CONTENT_ENCODING, UPGRADE};
use http::request::Parts;
use http::{Method, Request};
use http_body_util::BodyExt;
use keymeter_meter::request::{MeteredRequest, check_betas, read_request};
use keymeter_meter::route::Route;
use rand::TryRng;
use serde_json::{Value, json};
use tokio::sync::oneshot;

use crate::address::client_address;
use crate::door::Door;
use crate::headers::{has_odd_length, key_of, to_upstream};
use crate::keymeter::Unanswered;
use crate::refusals::FrontRefusal;
use crate::settlements::{Place, ReservationEnd, ReservationMade};
use crate::task::{RequestTask, answer_of, checked, no_answer};

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
    let mut metered = match metered {
        Some(metered) if !route.is_free() => metered,
        free => {
            verify(&door, &caller, free.as_ref().map(|free| free.model.as_str())).await?;
            return forward_free(&door, route, &head, read.bytes.clone(), place).await;
        }
    };
    let (place, reserved) = reserve(&door, &caller, &metered, place).await?;
    let (answer, answered) = oneshot::channel();
    let bytes = metered.body.take().map_or_else(|| read.bytes.clone(), Bytes::from);
    let headers = to_upstream(&head.headers, door.upstream.headers(), true);
    let (path, query) = (head.uri.path().to_owned(), query_of(&head));
    let mut task = RequestTask::new((Arc::clone(&door), route, extractors), metered, (place, reserved), answer);
    // Its own task: a client that leaves does not end it.
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
