//! A server of this database, as the others know it.

use std::collections::BTreeMap;

use super::time::UnixTime;

/// How old the last word of a server that runs may be, in seconds.
const SEEN_WITHIN: i64 = 30;

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

impl KnownServer {
    /// Returns true if it was seen lately. One that was not has ended without saying so, or has no database. One that
    /// was seen in the future ended while the clock was ahead.
    pub fn is_running(&self, now: UnixTime) -> bool {
        now.since(self.seen_time).abs() <= SEEN_WITHIN
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
    let running: Vec<_> = servers.iter().filter(|server| server.is_running(now)).collect();
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
