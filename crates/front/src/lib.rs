//! A reverse proxy for one API of language models, such as a provider's or a gateway's, that meters each request in
//! Keymeter: what it may cost is reserved before it is passed on, and charged afterwards at what it did cost.
//!
//! What is metered, and how, is in `keymeter-meter`, and how Keymeter is asked in `keymeter-door`; this crate has the
//! connections, headers, bodies and the waiting. It routes, translates, caches and retries nothing. Nothing fails
//! open: without an answer of Keymeter there is no request. [`run`](front::run) is all of it.

mod bodies;
pub mod demo_upstream;
pub mod error;
mod exchange;
pub mod front;
mod headers;
mod operation;
pub mod settings;
mod shared;
mod task;
mod upstream;
