//! Keymeter hands out API keys with quotas, and holds every one of them to its quota.
//!
//! Four floors: [`http`] over [`service`] over [`storage`] over [`domain`]; a floor sees only what
//! is below it, and `tests/it/architecture.rs` keeps it so. Columns run through the floors under
//! the same names: tokens, accounts, usage. Two words find any line: "SQL of usage" is
//! `storage/usage.rs`. `ARCHITECTURE.md` is the map.

pub mod api;
pub mod app;
pub mod cli;
pub mod config;
pub mod demo;
pub mod doctor;
pub mod domain;
pub mod service;
pub mod storage;
pub mod telemetry;

/// Every request makes and drops a few dozen small things.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
