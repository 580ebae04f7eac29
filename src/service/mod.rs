//! Operations: the order of steps, transactions, caches, limits. A service loads rows, applies a rule of `domain`, saves
//! and commits. It knows no HTTP. Services may use each other, but not in a circle.

pub mod access_tokens;
pub mod actors;
pub mod audit;
pub mod audit_writer;
pub mod authenticator;
pub mod charge_history;
pub mod clock;
pub mod clock_repair;
pub mod enablement;
pub mod forecasts;
pub mod foreign_keys;
pub mod gateways;
pub mod imports;
pub mod invalidator;
pub mod jobs;
pub mod key_cache;
pub mod key_holders;
pub mod keys;
pub mod ledger;
pub mod overview;
pub mod passwords;
pub mod rate_limiter;
pub mod recent_balances;
pub mod refused_requests;
pub mod report_queue;
pub mod request_history;
pub mod rng;
pub mod sessions;
pub mod sign_in;
pub mod sign_in_limits;
pub mod tokens;
pub mod usage;
pub mod usage_reports;
pub mod users;
pub mod vault;
