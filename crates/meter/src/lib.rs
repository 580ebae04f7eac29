//! Reads from the answers of providers what they counted: units, the model, told costs.
//!
//! [`Extractors`](extractors::Extractors) are data: ours, and those that `genai-prices` publishes. One is chosen by
//! provider and API, and reads an answer ([`extract`](extractor::Extractor::extract)) or the events of a stream
//! ([`stream`](extractor::Extractor::stream)). What it cannot read is an error, so that nobody takes it for 0.
//!
//! Names of units are texts here. Which units there are, and what they cost, the server knows.

mod answer;
pub mod answer_meter;
pub mod event_stream;
pub mod extraction;
pub mod extractor;
pub mod extractors;
pub mod json_scanner;
pub mod json_value;
pub mod number;
mod picked_value;
pub mod picks;
pub mod request_json;
pub mod text_rule;
mod unread;
pub mod value_path;
