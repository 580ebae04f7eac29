//! Tests as real callers, against the real router and a real PostgreSQL. One file a section of the
//! spec; `scripts/with-postgres.sh` brings the database.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::needless_pass_by_value,
    clippy::unwrap_used,
    reason = "tests fail by panicking, ask the database what they like, and read better with values"
)]

mod architecture;
mod harness;
mod s4_1_list;
