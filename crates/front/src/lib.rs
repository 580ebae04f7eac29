//! A reverse proxy for one API of language models, such as a provider's or a gateway's, that meters each request in
//! Keymeter: what it may cost is reserved before it is passed on, and charged afterwards at what it did cost.
//!
//! What is metered, and how, is in `keymeter-meter`; this crate is the door: connections, headers, bodies, waiting.
//! It routes, translates, caches and retries nothing. Nothing fails open: without an answer of Keymeter there is no
//! request. [`run`](front::run) is all of it.

mod address;
mod bodies;
pub mod demo_upstream;
mod door;
mod ended;
pub mod error;
mod exchange;
mod extractor_list;
pub mod front;
mod headers;
mod http_client;
mod keymeter;
mod operation;
mod refusals;
pub mod settings;
mod settlements;
mod task;
mod upstream;
