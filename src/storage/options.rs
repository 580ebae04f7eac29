//! How to connect to the database.

use std::sync::Arc;
use std::time::Duration;

use super::hosts::Hosts;

/// How to connect, and with what limits.
#[derive(Debug, Clone)]
pub struct DbOptions {
    pub hosts: Arc<Hosts>,
    /// At most.
    pub connections: u32,
    /// Those of them that are reserved for requests of gateways: charging, reading keys and credentials. If it is 0,
    /// they share all.
    pub reserved: u32,
    /// PostgreSQL's `plan_cache_mode`.
    pub plan_cache_mode: &'static str,
    /// How long a request waits for a connection.
    pub acquire: Duration,
    /// How long one statement may run.
    pub statement_timeout: Duration,
    /// How long a commit may wait for the disk or a standby before changes are refused.
    pub patience: Duration,
    /// Connections that all rest for so long are closed, but for one of each pool: each takes some megabytes of
    /// PostgreSQL.
    pub rest: Duration,
}
