//! The limits of connections, and the limit of open files.

use std::time::Duration;

/// File descriptors that are used neither by clients nor by the database's pool: files, the event
/// queue.
const OTHER_FILES: u64 = 64;

#[derive(Debug, Clone, Copy)]
pub struct ConnectionLimits {
    pub connections: usize,
    /// For the head of a request.
    pub header: Duration,
    /// For an answer, from its head to its end.
    pub answer: Duration,
    /// From an answer to the next request.
    pub idle: Duration,
    /// From the signal to stop until the listener is closed.
    pub stop_delay: Duration,
    /// From the signal to stop until requests in progress are cut.
    pub drain: Duration,
}

impl ConnectionLimits {
    /// Raises this process's limit of open files as far as needed, and lowers `connections` if the system does not
    /// allow that many. `others` is the number of connections that the process has besides, such as to a database.
    pub fn within_open_files(self, others: u32) -> Self {
        let wanted = u32::try_from(self.connections).unwrap_or(u32::MAX);
        let allowed = allowed_connections(wanted, others);
        Self { connections: usize::try_from(allowed).unwrap_or(usize::MAX), ..self }
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
