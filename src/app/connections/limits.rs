//! The limits of connections, from the settings and from the limit of open files.

use std::time::Duration;

use crate::config;

/// File descriptors that are used neither by clients nor by the database's pool: files, the event
/// queue.
const OTHER_FILES: u64 = 64;

#[derive(Debug, Clone, Copy)]
pub struct ConnectionLimits {
    pub(super) connections: usize,
    pub(super) header: Duration,
    pub(super) idle: Duration,
    pub(super) stop_delay: Duration,
    pub(super) drain: Duration,
}

impl ConnectionLimits {
    /// Reads the limits from the settings. Raises this process's limit of open files as far as needed, and lowers
    /// `max_connections` if the system does not allow that many. `pool` is the number of database connections.
    #[must_use]
    pub fn new(settings: &config::ServerSettings, pool: u32) -> Self {
        let drain = Duration::from_secs(settings.drain_seconds);
        let connections = allowed_connections(settings.max_connections.get(), pool);
        Self {
            connections: usize::try_from(connections).unwrap_or(usize::MAX),
            header: Duration::from_secs(settings.header_timeout_seconds.get().into()),
            idle: Duration::from_secs(settings.idle_timeout_seconds.get().into()),
            // Requests that arrive during the delay need time to finish.
            stop_delay: Duration::from_secs(settings.stop_delay_seconds).min(drain / 2),
            drain,
        }
    }

    /// With fewer free slots than this, connections close after each answer instead of staying open, so that new
    /// connections find a slot.
    pub(super) const fn reserve(&self) -> usize {
        self.connections.div_ceil(4)
    }
}

/// `wanted` connections, or as many as the limit of open files allows. Each needs two files: one for its slot, and one
/// for a pending connection.
fn allowed_connections(wanted: u32, pool: u32) -> u64 {
    let wanted = u64::from(wanted);
    let others = OTHER_FILES + u64::from(pool);
    match rlimit::increase_nofile_limit(2 * wanted + others) {
        Ok(files) if files < 2 * wanted + others => {
            let allowed = (files.saturating_sub(others) / 2).max(1);
            tracing::warn!(files, wanted, allowed, "the limit of open files is too low for server.max_connections");
            allowed
        }
        Ok(_) => wanted,
        Err(error) => {
            tracing::warn!(%error, "the limit of open files cannot be read; server.max_connections may be too high");
            wanted
        }
    }
}
