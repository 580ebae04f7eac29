//! Tests that call the service over a real PostgreSQL, as its users do. The files `s2_…` to `s7_…` test the section of
//! `docs/specification.md` in their name. `scripts/with-postgres.sh` starts the database.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::format_collect,
    clippy::match_same_arms,
    clippy::needless_pass_by_value,
    clippy::single_match_else,
    clippy::too_many_lines,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "tests fail by panicking, run their own SQL, and read better as tables and long sequences"
)]

mod access_tokens;
mod add_quota;
mod administrators;
mod all_tokens;
mod architecture;
mod audit;
mod base_backup;
mod beside_new_api;
mod bulk;
mod bulk_chosen;
mod bulk_users;
mod cells;
mod charge_refusals;
mod cli;
mod client_address;
mod clock;
mod clock_repair;
mod command_line;
mod command_line_api;
mod command_line_lists;
mod command_line_names;
mod command_line_servers;
mod compression;
mod concurrency;
mod connections;
mod constraints;
mod cors;
mod cured_refusals;
mod dashboard;
mod data_dir;
mod database_tls;
mod deleted_tokens;
mod demo;
mod disabled_by;
mod doctor;
mod document_limits;
mod documents;
mod drop_in;
mod enablement;
mod envoy_processor;
mod error_codes;
mod error_shape;
mod etag;
mod ext_proc;
mod extend;
mod forecast;
mod foreign_database;
mod foreign_keys;
mod forgetting;
mod forward_auth;
mod forward_auth_clients;
mod front;
mod gateway;
mod gateway_auth;
mod gateway_credentials;
mod gateway_input;
mod gateways;
mod genai_prices;
mod harness;
mod helped_users;
mod hostile_database;
mod hygiene_dump;
mod hygiene_log;
mod idempotency;
mod idempotency_keys;
mod import;
mod import_administrators;
mod import_again;
mod import_growth;
mod import_odd_rows;
mod import_refusals;
mod import_unread;
mod jobs;
mod key_state;
mod ledger_constraints;
mod ledger_flush;
mod ledger_model;
mod ledger_retries;
mod ledger_torture;
mod limits;
mod list_plans;
mod master_key;
mod metrics;
mod migrations;
mod names;
mod old_keys;
mod older_statements;
mod one_api;
mod outage;
mod overview;
mod price_list;
mod price_versions;
mod prices;
mod private_postgres;
mod provider_usage;
mod refusals;
mod refused_requests;
mod registration;
mod report_queue;
mod request_history;
mod request_index;
mod request_log;
mod request_search;
mod reservation_refusals;
mod rotation_model;
mod rotation_torture;
mod routes;
mod s2_objects;
mod s3_states;
mod s4_1_list;
mod s4_2_search;
mod s4_3_get;
mod s4_4_create;
mod s4_5_update;
mod s4_6_delete;
mod s4_7_batch;
mod s4_8_usage_by_key;
mod s4_9_daily_usage;
mod s5_auth;
mod s7_errors;
mod sessions;
mod settings;
mod several_hosts;
mod sign_in;
mod sign_in_limits;
mod spend;
mod stalled;
mod start;
mod system;
mod token_listing;
mod token_policy;
mod top;
mod units;
mod unread_bodies;
mod usage_by_hour_and_group;
mod usage_comparison;
mod usage_reports;
mod usage_rollup;
mod users;
mod verify_refusals;
mod walk;
