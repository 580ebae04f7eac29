//! Names, shapes and calls of other services, for clients that speak them: what they send becomes ours before a
//! handler, and what it answers becomes theirs after it.

pub mod billing;
pub mod log;
pub mod one_api;
