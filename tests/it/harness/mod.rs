//! What tests share. `TestApp` is the service inside the test, with a clock that the test sets and seeded random
//! numbers; `Caller` sends it requests. `Server` is the real program as a process; `Client` sends it requests over the
//! network. Both return an `Answer`.

#![allow(dead_code, unused_imports, reason = "the soak includes this module too, and uses only a part of it")]

pub mod answer;
pub mod app;
pub mod caller;
pub mod client;
pub mod cluster;
pub mod constraints;
pub mod database;
pub mod document;
pub mod gateway;
pub mod ledger_invariants;
pub mod limits;
pub mod mariadb;
pub mod metering;
pub mod other_service;
pub mod process;
pub mod project;
pub mod proxy;
pub mod raw;
pub mod servers;
pub mod wait;

pub use answer::Answer;
pub use app::TestApp;
pub use caller::Caller;
pub use client::Client;
pub use cluster::Cluster;
pub use process::Server;
pub use servers::Servers;

/// 2026-03-10 12:00:00 UTC, a Tuesday.
pub const START: i64 = 1_773_144_000;

pub const ROOT_PASSWORD: &str = "the root password";
pub const MASTER_KEY: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// Enough quota for everything that one test charges.
pub const PLENTY: i64 = 1_000_000_000;
