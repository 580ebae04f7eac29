//! The metering of requests to language models: what a request may cost, and what its answer did cost.
//!
//! Bytes in, decisions out: no clock, no socket, in linear time and bounded memory. A door, such as a proxy, reads a
//! body with [`read_request`](request::read_request), which refuses it or says what to hold; gives the answer as it
//! passes to an [`AnswerMeter`](answer_meter::AnswerMeter); and settles what that says at the end. `cases/` has a file
//! for each situation.
//!
//! [`Extractors`](extractors::Extractors) are data: ours, and those that `genai-prices` publishes. One is chosen by
//! provider and API, and reads an answer ([`extract`](extractor::Extractor::extract)) or the events of a stream
//! ([`stream`](extractor::Extractor::stream)). What it cannot read is an error, so that nobody takes it for 0.
//!
//! Names of units are texts here. Which units there are, and what they cost, the server knows.

mod answer;
pub mod answer_meter;
mod content;
pub mod event_stream;
pub mod extraction;
pub mod extractor;
pub mod extractors;
pub mod json_scanner;
pub mod json_value;
pub mod number;
mod picked_value;
pub mod picks;
pub mod refusal;
pub mod request;
pub mod request_json;
pub mod route;
pub mod settings;
pub mod text_rule;
mod unread;
pub mod value_path;
