//! Types and rules as pure functions: no SQL, no HTTP. Time and random numbers are passed in.
//!
//! A type is built through one fallible constructor, so that every value is valid.

pub mod access_token;
pub mod account;
pub mod attention;
pub mod audit;
pub mod bounds;
pub mod calendar;
pub mod caller;
pub mod cell;
pub mod charge_history;
pub mod clock;
pub mod date_range;
pub mod enablement;
pub mod gateway;
pub mod group;
pub mod id;
pub mod import_run;
pub mod ip_allowlist;
pub mod key;
pub mod ledger;
pub mod limit_change;
pub mod model_limits;
pub mod money;
pub mod page;
pub mod password;
pub mod period_limits;
pub mod rate_limits;
pub mod refused_requests;
pub mod search;
pub mod secrets;
pub mod session;
pub mod setting;
pub mod sign_in_limit;
pub mod spend;
pub mod status;
pub mod text;
pub mod time;
pub mod token;
pub mod token_listing;
pub mod token_policy;
pub mod usage;
pub mod usage_report;
pub mod user;
pub mod username;
pub mod wording;
