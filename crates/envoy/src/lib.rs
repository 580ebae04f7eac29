//! An external processor (`envoy.service.ext_proc.v3`) that meters each request to an API of language models in
//! Keymeter: for Envoy, and all that is built on it or speaks its protocol. What a request may cost is reserved before
//! the proxy sends it on, and charged afterwards at what it did cost.
//!
//! What is metered, and how, is in `keymeter-meter`, and how Keymeter is asked in `keymeter-door`; this crate has the
//! protocol. A stream that ends well tells a proxy to go on without this program, so none does before its request has
//! ended. [`run`](server::run) is all of it.

mod answers;
pub mod check;
pub mod client_request;
mod conversation;
pub mod error;
pub mod messages;
mod process;
pub mod processor;
mod replies;
pub mod server;
pub mod service;
pub mod settings;
