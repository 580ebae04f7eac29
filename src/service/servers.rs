//! The servers of this database. Each says every ten seconds that it runs.

use std::sync::Arc;
use std::time::Duration;

use super::base::Base;
use crate::domain::clock::Clock;
use crate::domain::known_server::KnownServer;
use crate::domain::setting::Setting;
use crate::storage::servers;
use crate::storage::{Conn, Db, newest_migration};

/// How often a server says that it runs.
const INTERVAL: Duration = Duration::from_secs(10);

/// How long a server that stops waits to say so.
const LEAVE_TIMEOUT: Duration = Duration::from_secs(1);

#[derive(Debug)]
pub struct Servers {
    db: Db,
    clock: Arc<dyn Clock>,
    own: KnownServer,
}

impl Servers {
    /// The server of this process, with its name, its version and the settings that administrators see.
    pub fn new(base: &Base, (name, version): (&str, &str), settings: &[Setting]) -> Self {
        let now = base.clock.now();
        let own = KnownServer {
            id: base.rng.generate_fast(|rng| format!("{:016x}", rng.next_u64())),
            name: name.to_owned(),
            version: version.to_owned(),
            newest_migration: newest_migration(),
            settings: settings.iter().filter_map(|one| Some((one.name.to_owned(), one.value.text()?))).collect(),
            started_time: now,
            seen_time: now,
        };
        Self { db: base.db.clone(), clock: Arc::clone(&base.clock), own }
    }

    /// The server of this process, as it is now.
    pub fn own(&self) -> KnownServer {
        let seen_time = self.clock.now();
        // The clock may have been ahead.
        let started_time = self.own.started_time.min(seen_time);
        KnownServer { started_time, seen_time, ..self.own.clone() }
    }

    /// Says that this server runs, for as long as it does. Nothing is said while a commit waits for too long, or to a
    /// database that takes no writes.
    pub async fn run(self: Arc<Self>) {
        let mut ticks = tokio::time::interval(INTERVAL);
        ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
        loop {
            ticks.tick().await;
            if self.db.is_stalled() {
                continue;
            }
            let own = self.own();
            let said = self.db.bounded_not_reserved(async |conn: &mut Conn| servers::upsert(conn, &own).await);
            if let Err(error) = said.await {
                tracing::debug!(%error, "this server could not say that it runs");
            }
        }
    }

    /// Says that this server has stopped.
    pub async fn leave(&self) {
        let gone = self.db.bounded_not_reserved(async |conn: &mut Conn| servers::delete(conn, &self.own.id).await);
        // Without it the others see for a while that it was not seen.
        let _ = tokio::time::timeout(LEAVE_TIMEOUT, gone).await;
    }
}
