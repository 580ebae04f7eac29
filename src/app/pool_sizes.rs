//! How many connections to the database each part of a server gets.

use crate::config::Config;

/// One to read keys, one for the audit log, one to read credentials, one to read the clock.
const BESIDE_THE_LEDGER: u32 = 4;

/// Connections are reserved for gateways only if at least this many are left for other requests.
const MIN_FOR_PEOPLE: u32 = 4;

/// Batches that wait for the disk get connections of their own only if at least this many are left for other requests.
const ENOUGH_FOR_PEOPLE: u32 = 8;

/// The connections for requests of gateways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PoolSizes {
    /// Batches that may be under way at once.
    pub(super) lanes: u32,
    /// Batches that may wait for the disk beside those: as many, if that leaves enough for people.
    pub(super) flushes: u32,
    /// How many of all connections are reserved for requests of gateways. If it is 0, they share all.
    pub(super) reserved: u32,
}

impl PoolSizes {
    pub(super) fn of(config: &Config) -> Self {
        let processors = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let lanes = match config.ledger.lanes {
            0 => u32::try_from(processors()).unwrap_or(u32::MAX).min(8),
            lanes => lanes,
        };
        Self::share(lanes, config.database.connections)
    }

    fn share(lanes: u32, connections: u32) -> Self {
        // Each batch takes a connection.
        let lanes = lanes.min(connections).max(1);
        let needed = lanes.saturating_add(BESIDE_THE_LEDGER);
        let flushes = connections.saturating_sub(needed.saturating_add(ENOUGH_FOR_PEOPLE)).min(lanes);
        let reserved = needed.saturating_add(flushes);
        let leaves_enough = connections.saturating_sub(reserved) >= MIN_FOR_PEOPLE;
        Self { lanes, flushes, reserved: if leaves_enough { reserved } else { 0 } }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_that_wait_for_the_disk_leave_enough_connections_for_people() {
        let table = [
            // lanes, connections: lanes, flushes, reserved
            ((1, 24), (1, 1, 6)),
            ((2, 24), (2, 2, 8)),
            ((4, 24), (4, 4, 12)),
            ((6, 24), (6, 6, 16)),
            ((8, 24), (8, 4, 16)),
            ((2, 16), (2, 2, 8)),
            ((4, 16), (4, 0, 8)),
            ((2, 10), (2, 0, 6)),
            ((2, 9), (2, 0, 0)),
            ((20, 24), (20, 0, 0)),
            ((1_000, 24), (24, 0, 0)),
            ((2, 1), (1, 0, 0)),
            ((2, 0), (1, 0, 0)),
        ];
        for ((wanted, connections), (lanes, flushes, reserved)) in table {
            let sizes = PoolSizes::share(wanted, connections);
            assert_eq!(sizes, PoolSizes { lanes, flushes, reserved }, "{wanted} lanes, {connections} connections");
        }
    }
}
