//! A server of this database, as the others know it.

use std::collections::BTreeMap;

use super::time::UnixTime;

/// A server, as it says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownServer {
    /// Random, of the process.
    pub id: String,
    pub name: String,
    pub version: String,
    pub newest_migration: i64,
    /// The settings that administrators see, by name, without secrets.
    pub settings: BTreeMap<String, String>,
    pub started_time: UnixTime,
    pub seen_time: UnixTime,
}
