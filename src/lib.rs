//! Keymeter.
pub mod domain;
pub mod storage;
