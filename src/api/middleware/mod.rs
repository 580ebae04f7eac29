//! What every request passes, one file per concern. `router.rs` puts them in order.

pub mod compression;
pub mod cors;
pub mod errors;
pub mod headers;
pub mod observe;
pub mod request_id;
pub mod timeout;
