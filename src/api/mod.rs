//! HTTP: routes, permissions, requests and responses. Knows no SQL and no settings file.

#![expect(
    clippy::missing_errors_doc,
    reason = "handlers' docs are the OpenAPI document; `errors` maps errors to answers"
)]

pub mod access_tokens;
pub mod activity;
pub mod audit;
pub mod auth;
pub mod csv;
pub mod dashboard;
pub mod dialects;
pub mod enablement;
pub mod envelope;
pub mod errors;
pub mod etag;
pub mod extract;
mod file;
pub mod forecasts;
pub mod gateways;
pub mod health;
pub mod idempotency_key;
pub mod imports;
pub mod keys;
pub mod ledger;
pub mod limits;
pub mod locked_accounts;
pub mod member_names;
mod members;
pub mod middleware;
pub mod models;
pub mod old_keys;
pub mod openapi;
mod other_names;
pub mod outlook;
mod overview;
pub mod page;
pub mod permission;
mod price_costs;
mod price_versions;
pub mod prices;
pub mod refused_requests;
pub mod report_bodies;
mod request_details;
pub mod request_history;
pub mod router;
pub mod same_site;
pub mod sessions;
pub mod settings;
pub mod sign_in;
pub mod state;
pub mod system;
pub mod tokens;
mod units;
pub mod usage;
pub mod usage_reports;
pub mod users;
