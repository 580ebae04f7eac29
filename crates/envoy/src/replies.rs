//! What a proxy is answered.

use std::collections::BTreeMap;

use keymeter_door::refusals::DoorRefusal;
use keymeter_meter::route::Route;
use prost::bytes::Bytes;
use prost_types::value::Kind;
use prost_types::{Struct, Value};

use crate::client_request::envoy_header;
use crate::messages::{
    BodyMutation, CommonAnswer, CommonResponse, HeaderAppendAction, HeaderMutation, HeaderValueOption, HttpBody,
    HttpStatus, HttpTrailers, ImmediateResponse, MutatedBody, ProcessingResponse, RequestPart, ResponsePart,
};

/// The largest piece of a body: proxies limit messages.
const PIECE: usize = 64 * 1024;

/// The namespace of the metadata, and the beginning of what a log calls a refusal.
const NAMESPACE: &str = "keymeter";

/// What is said of a token, for the proxy's log.
const TOLD: [&str; 5] = ["token_id", "user_id", "name", "group", "reservation_id"];

pub fn reply(part: ResponsePart) -> ProcessingResponse {
    ProcessingResponse { response: Some(part), dynamic_metadata: None }
}

/// An answer that changes nothing. Where bodies are streamed both ways, that is the same bytes.
pub fn unchanged(part: RequestPart, is_duplex: bool) -> ProcessingResponse {
    let same = |body: HttpBody| if is_duplex { piece(body) } else { CommonAnswer::default() };
    reply(match part {
        RequestPart::RequestHeaders(_) => ResponsePart::RequestHeaders(CommonAnswer::default()),
        RequestPart::ResponseHeaders(_) => ResponsePart::ResponseHeaders(CommonAnswer::default()),
        RequestPart::RequestBody(body) => ResponsePart::RequestBody(same(body)),
        RequestPart::ResponseBody(body) => ResponsePart::ResponseBody(same(body)),
        RequestPart::RequestTrailers(_) => ResponsePart::RequestTrailers(HttpTrailers {}),
        RequestPart::ResponseTrailers(_) => ResponsePart::ResponseTrailers(HttpTrailers {}),
    })
}

/// Bytes of a body that is streamed both ways.
fn piece(body: HttpBody) -> CommonAnswer {
    let body_mutation = Some(BodyMutation { mutation: Some(MutatedBody::StreamedResponse(body)) });
    CommonAnswer { response: Some(CommonResponse { header_mutation: None, body_mutation }) }
}

/// The same, in pieces; the last ends the body if no trailers follow.
pub fn pieces(mut body: Bytes, has_trailers: bool) -> Vec<ProcessingResponse> {
    let mut pieces = Vec::new();
    loop {
        let next = body.split_to(body.len().min(PIECE));
        let is_last = body.is_empty();
        let part = piece(HttpBody { body: next, end_of_stream: is_last && !has_trailers });
        pieces.push(reply(ResponsePart::RequestBody(part)));
        if is_last {
            return pieces;
        }
    }
}

/// What becomes of the headers of a request.
pub fn passed_headers(target: Option<String>, removed: Vec<String>) -> HeaderMutation {
    let target = target.map(|target| set(":path", target));
    HeaderMutation { set_headers: target.into_iter().collect(), remove_headers: removed }
}

/// The same for a request with a body, which the upstream must read as it was read here.
pub fn passed_headers_with_body(target: Option<String>, removed: Vec<String>) -> HeaderMutation {
    let mut headers = passed_headers(target, removed);
    headers.set_headers.push(set("content-type", "application/json"));
    headers
}

/// The length of a body that is changed, where a proxy does not count it.
pub fn length_of(body: Option<&Bytes>) -> HeaderMutation {
    let length = body.map(|body| set("content-length", body.len().to_string()));
    HeaderMutation { set_headers: length.into_iter().collect(), remove_headers: Vec::new() }
}

/// The answer to the only message of a body, or to the headers of a request without one.
pub fn with_headers(headers: HeaderMutation, body: Option<Bytes>) -> CommonAnswer {
    let body_mutation = body.map(|body| BodyMutation { mutation: Some(MutatedBody::Body(body)) });
    CommonAnswer { response: Some(CommonResponse { header_mutation: Some(headers), body_mutation }) }
}

fn set(name: &str, value: impl Into<Bytes>) -> HeaderValueOption {
    let append_action = HeaderAppendAction::OverwriteIfExistsOrAdd.into();
    HeaderValueOption { header: Some(envoy_header(name, value)), append_action }
}

/// A refusal, which the client gets at once.
pub fn refused(refusal: &DoorRefusal, route: Option<Route>) -> ProcessingResponse {
    let answer = refusal.answer(route);
    let headers = answer.headers().iter().map(|(name, value)| set(name.as_str(), value.as_bytes().to_vec())).collect();
    reply(ResponsePart::ImmediateResponse(ImmediateResponse {
        status: Some(HttpStatus { code: answer.status().as_u16().into() }),
        headers: Some(HeaderMutation { set_headers: headers, remove_headers: Vec::new() }),
        details: format!("{NAMESPACE}_{}", refusal.code().trim_start_matches("keymeter_")),
        body: answer.into_body().into(),
    }))
}

/// What Keymeter says of a reservation, as metadata.
pub fn metadata(told: &serde_json::Value) -> Struct {
    let fields: BTreeMap<String, Value> =
        TOLD.iter().filter_map(|name| Some(((*name).to_owned(), value_of(&told[*name])?))).collect();
    let namespace = Value { kind: Some(Kind::StructValue(Struct { fields })) };
    Struct { fields: [(NAMESPACE.to_owned(), namespace)].into() }
}

/// Numbers are text: metadata has floats only.
fn value_of(value: &serde_json::Value) -> Option<Value> {
    let number = value.as_number().map(ToString::to_string);
    let text = value.as_str().map(str::to_owned).or(number)?;
    Some(Value { kind: Some(Kind::StringValue(text)) })
}
