//! Keymeter issues API keys and enforces what each may spend.
//!
//! Four layers: [`api`] uses [`service`], which uses [`storage`], which uses [`domain`]; a layer uses only those below
//! it. In every layer the same resources have the same names, so that a resource and a layer name the file: the SQL of
//! usage is `storage/usage.rs`. `ARCHITECTURE.md` is the map.

pub mod api;
pub mod app;
pub mod config;
pub mod domain;
pub mod service;
pub mod storage;
pub mod telemetry;
pub mod version;
