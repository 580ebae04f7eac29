//! Tests as real callers, against the real router and a real PostgreSQL. One file a section of the
//! spec; `scripts/with-postgres.sh` brings the database.

mod harness;
mod s4_1_list;
