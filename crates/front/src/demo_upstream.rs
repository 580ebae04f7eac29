//! An API of language models that needs no account, to try a front with: it repeats what it was asked.

use std::net::{Ipv4Addr, SocketAddr};

use axum::Router;
use axum::body::Bytes;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use http::StatusCode;
use http::header::CONTENT_TYPE;
use serde_json::{Value, json};
use tokio::net::TcpListener;

use crate::error::FrontError;

/// Bytes of a token, about.
const BYTES: usize = 4;

/// Starts it on a port of this machine. It ends with the program.
///
/// # Errors
/// There is no port.
pub async fn start() -> Result<SocketAddr, FrontError> {
    let failed = |error| FrontError::Listen("127.0.0.1:0".to_owned(), error);
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let models = json!({ "object": "list", "data": [{ "id": "echo", "object": "model", "owned_by": "demo" }] });
    let router = Router::new()
        .route("/v1/models", get(async move || json_of(&models)))
        .route("/v1/chat/completions", post(chat));
    tokio::spawn(async move { drop(axum::serve(listener, router).await) });
    Ok(address)
}

async fn chat(body: Bytes) -> Response {
    let Ok(request) = serde_json::from_slice::<Value>(&body) else { return StatusCode::BAD_REQUEST.into_response() };
    let question = request["messages"].as_array().and_then(|messages| messages.last()).map(|last| &last["content"]);
    let text = format!("You said: {}", question.and_then(Value::as_str).unwrap_or_default());
    let (prompt, completion) = (body.len().div_ceil(BYTES), text.len().div_ceil(BYTES));
    let usage =
        json!({ "prompt_tokens": prompt, "completion_tokens": completion, "total_tokens": prompt + completion });
    let answer = |choice: Value| json!({ "id": "demo", "model": request["model"], "choices": [choice] });
    if request["stream"] != true {
        let message = json!({ "role": "assistant", "content": text });
        let mut whole = answer(json!({ "index": 0, "message": message, "finish_reason": "stop" }));
        whole["usage"] = usage;
        return json_of(&whole);
    }
    let words = text.split_inclusive(' ').map(|word| answer(json!({ "index": 0, "delta": { "content": word } })));
    let end = answer(json!({ "index": 0, "delta": {}, "finish_reason": "stop" }));
    let last = json!({ "id": "demo", "model": request["model"], "choices": [], "usage": usage });
    let events: Vec<String> = words.chain([end, last]).map(|event| format!("data: {event}\n\n")).collect();
    ([(CONTENT_TYPE, "text/event-stream")], events.concat() + "data: [DONE]\n\n").into_response()
}

fn json_of(value: &Value) -> Response {
    ([(CONTENT_TYPE, "application/json")], value.to_string()).into_response()
}
