//! Keymeter.
pub mod domain;
pub mod service;
pub mod storage;
