//! What the programs that meter an API of language models share, whatever carries the requests: how a key is checked,
//! how what a request may cost is held, and how each request that was let through ends once.
//!
//! What is metered, and how, is in `keymeter-meter`. Nothing fails open: without an answer of Keymeter there is no
//! request. [`Door`](door::Door) is the way in.

pub mod address;
pub mod admission;
pub mod answer_head;
pub mod arguments;
pub mod bearer;
pub mod body_memory;
pub mod door;
pub mod ended;
pub mod error;
pub mod extractor_list;
pub mod http_client;
pub mod keymeter;
pub mod refusals;
pub mod request_head;
pub mod reserved_request;
pub mod settings;
pub mod settlements;
mod shares;
