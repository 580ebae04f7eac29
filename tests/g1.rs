#![allow(clippy::all, dead_code)]
#[path = "it/gateway_refusals.rs"]
mod gateway_refusals;
#[path = "it/harness/mod.rs"]
mod harness;
#[path = "it/ledger_constraints.rs"]
mod ledger_constraints;
