#[path = "it/harness/mod.rs"]
mod harness;
#[path = "it/s4_8_usage_by_key.rs"]
mod s4_8_usage_by_key;
#[path = "it/s4_9_daily_usage.rs"]
mod s4_9_daily_usage;
#[path = "it/s5_auth.rs"]
mod s5_auth;
#[path = "it/accounts.rs"]
mod accounts;
#[path = "it/admin.rs"]
mod admin;
#[path = "it/s7_errors.rs"]
mod s7_errors;
#[path = "it/routes.rs"]
mod routes;
#[path = "it/concurrency.rs"]
mod concurrency;
#[path = "it/constraints.rs"]
mod constraints;
#[path = "it/hygiene_dump.rs"]
mod hygiene_dump;
