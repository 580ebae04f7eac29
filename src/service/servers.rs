//! The servers of this database. Each says every ten seconds that it runs.

use std::sync::Arc;
use std::time::Duration;

use super::base::Base;
use crate::domain::clock::Clock;
use crate::domain::known_server::KnownServer;
use crate::domain::setting::Setting;
use crate::domain::time::UnixTime;
use crate::storage::servers;
use crate::storage::{Conn, Db, newest_migration};

/// How often a server says that it runs.
const INTERVAL: Duration = Duration::from_secs(10);

/// A server that was not seen for so many seconds has ended without saying so, or has no database.
pub const SEEN_WITHIN: i64 = 30;

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
        // The time may have been set back.
        let seen_time = self.clock.now().max(self.own.started_time);
        KnownServer { seen_time, ..self.own.clone() }
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

/// A setting that is not the same on all servers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DifferingSetting {
    pub name: String,
    /// The value of each server, by its id.
    pub values: Vec<(String, String)>,
}

/// The settings in which the servers that were seen lately differ. A server of another version may lack some.
pub fn differing_settings(servers: &[KnownServer], now: UnixTime) -> Vec<DifferingSetting> {
    let running = servers.iter().filter(|server| now.since(server.seen_time) <= SEEN_WITHIN);
    let running: Vec<_> = running.collect();
    let Some(first) = running.first() else { return Vec::new() };
    let differing = first.settings.iter().filter_map(|(name, value)| {
        let values = running.iter().map(|server| Some((server.id.clone(), server.settings.get(name)?.clone())));
        let values: Vec<_> = values.collect::<Option<_>>()?;
        let is_same = values.iter().all(|(_, other)| other == value);
        (!is_same).then(|| DifferingSetting { name: name.clone(), values })
    });
    differing.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server(id: &str, seen: i64, settings: &[(&str, &str)]) -> KnownServer {
        let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let (name, version) = (id.to_uppercase(), "1".to_owned());
        let (started_time, seen_time) = (UnixTime::new(0), UnixTime::new(seen));
        KnownServer { id: id.to_owned(), name, version, newest_migration: 1, settings, started_time, seen_time }
    }

    #[test]
    fn settings_differ_between_servers_that_run_and_know_them() {
        let a = server("a", 100, &[("x.same", "1"), ("x.other", "a"), ("x.new", "true")]);
        let b = server("b", 100, &[("x.same", "1"), ("x.other", "b")]);
        let gone = server("c", 100 - SEEN_WITHIN - 1, &[("x.same", "2"), ("x.other", "b")]);
        let found = differing_settings(&[a, b, gone], UnixTime::new(100));
        let values = [("a", "a"), ("b", "b")].map(|(id, value)| (id.to_owned(), value.to_owned())).to_vec();
        assert_eq!(found, [DifferingSetting { name: "x.other".to_owned(), values }]);
    }
}
