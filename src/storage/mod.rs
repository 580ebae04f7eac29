//! SQL and nothing else: one file per resource, free functions, the connection first. No rules, no HTTP. The compiler
//! checks every statement against `migrations/`.

#![expect(
    clippy::missing_errors_doc,
    reason = "every function here fails for one reason: StorageError, documented once"
)]

pub mod access_tokens;
pub mod acknowledged;
pub mod audit;
pub mod clock_repair;
pub mod columns;
mod conn;
pub mod consistency;
pub mod database_figures;
mod durability;
pub mod enablement;
mod errors;
pub mod gateways;
pub mod held_charges;
mod hosts;
pub mod idempotency_keys;
pub mod imported_requests;
pub mod imports;
pub mod installation;
pub mod keys;
pub mod ledger;
pub mod loader;
mod metrics;
mod migrate;
mod migrations;
pub mod notifications;
pub mod old_keys;
mod options;
mod own_connection;
mod pool;
mod price_content;
pub mod price_proof;
pub mod price_versions;
pub mod prices;
pub mod proof_rounds;
pub mod refusals;
pub mod refused_requests;
pub mod request_history;
pub mod request_index;
pub mod request_lookup;
pub mod reservations;
pub mod retention;
pub mod secrets;
pub mod server_state;
pub mod servers;
mod session_settings;
pub mod sessions;
pub mod sign_in_limits;
pub mod spend;
mod suspicion;
pub mod tokens;
mod tx;
mod units;
pub mod usage;
pub mod usage_reports;
pub mod usage_rollup;
pub mod users;

pub use self::conn::{
    Conn, PoolConnection, ReadTx, begin_asynchronous, begin_asynchronous_and_wait, commit_asynchronous, end,
    read_clock, rollback,
};
pub use self::errors::{Constraint, StorageError};
pub use self::hosts::Hosts;
pub use self::migrate::apply_pending;
pub use self::migrations::{MIGRATOR, OpenError, SchemaState, inspect, migrate, newest_migration};
pub use self::options::DbOptions;
pub use self::pool::{Db, Health};
pub use self::tx::{Tx, commit};
