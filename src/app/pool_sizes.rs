//! How many connections to the database each part of a server gets.

use crate::config::Config;
use crate::storage::MIN_SHARED_CONNECTIONS;

/// One to read keys, one for the audit log, one to read credentials, one to read the clock.
const BESIDE_THE_LEDGER: usize = 4;

/// The connections for requests of gateways.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PoolSizes {
    /// Batches that may be under way at once.
    pub(super) lanes: usize,
    /// Batches that may wait for the disk beside those: as many, if that leaves enough for people.
    pub(super) flushes: usize,
}

impl PoolSizes {
    pub(super) fn of(config: &Config) -> Self {
        let processors = || std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let lanes = if config.ledger.lanes == 0 { processors().min(8) } else { config.ledger.lanes };
        Self::share(lanes, config.database.connections)
    }

    fn share(lanes: usize, connections: u32) -> Self {
        let for_gateways = usize::try_from(connections.saturating_sub(MIN_SHARED_CONNECTIONS)).unwrap_or(usize::MAX);
        let flushes = for_gateways.saturating_sub(lanes.saturating_add(BESIDE_THE_LEDGER)).min(lanes);
        Self { lanes, flushes }
    }

    /// How many of all connections are reserved for requests of gateways.
    pub(super) fn reserved(self) -> u32 {
        let Self { lanes, flushes } = self;
        u32::try_from(lanes.saturating_add(flushes).saturating_add(BESIDE_THE_LEDGER)).unwrap_or(u32::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_that_wait_for_the_disk_take_no_connection_from_people() {
        let table = [
            // lanes, connections: flushes, reserved
            (1, 16, 1, 6),
            (2, 16, 2, 8),
            (4, 16, 4, 12),
            (5, 16, 3, 12),
            (8, 16, 0, 12),
            (8, 32, 8, 20),
            (2, 10, 0, 6),
            (2, 11, 1, 7),
            (2, 1, 0, 6),
        ];
        for (lanes, connections, flushes, reserved) in table {
            let sizes = PoolSizes::share(lanes, connections);
            assert_eq!(
                (sizes.flushes, sizes.reserved()),
                (flushes, reserved),
                "{lanes} lanes, {connections} connections"
            );
        }
    }
}
