//! What `keymeter top` reads of the server, and the lines that people read.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use super::figures::{age, average, dollars_per_second, per_second, size, time_of_micros};
use super::terminal::{Table, lines_of_facts, printable, time, time_of_day};

/// `data` of `GET /api/admin/system`.
#[derive(Deserialize)]
pub struct TopReport {
    time: i64,
    server: Server,
    recent: Recent,
    servers: Vec<Server>,
    differing_settings: Vec<DifferingSetting>,
    database: Database,
    degraded: Vec<String>,
    proof: Proof,
    backup: Option<Backup>,
}

#[derive(Deserialize)]
struct Server {
    id: String,
    name: String,
    version: String,
    newest_migration: i64,
    started_time: i64,
    seen_time: i64,
    running: bool,
}

#[derive(Deserialize)]
struct Recent {
    milliseconds: u64,
    requests: u64,
    failures: u64,
    request: Quantiles,
    operations: BTreeMap<String, u64>,
    refused: u64,
    failed: u64,
    quota: u64,
    operation: Quantiles,
    batches: u64,
    batched_operations: u64,
    steps: Vec<Step>,
    slowest_step: Option<String>,
    queue: u64,
    in_flight: u64,
}

#[derive(Deserialize)]
struct Quantiles {
    p50_us: Option<u64>,
    p99_us: Option<u64>,
}

#[derive(Deserialize)]
struct Step {
    step: String,
    mean_us: Option<u64>,
}

#[derive(Deserialize)]
struct DifferingSetting {
    name: String,
}

#[derive(Deserialize)]
struct Database {
    version: String,
    is_writable: bool,
    bytes: u64,
    reservations_open: u64,
    reservations_overdue_seconds: u64,
    partitions_ahead_days: u64,
    default_partition_rows: u64,
    synchronous_standbys: u64,
    other_standbys: u64,
    archiver_fails: bool,
}

#[derive(Deserialize)]
struct Proof {
    invariants: Vec<Invariant>,
}

#[derive(Deserialize)]
struct Invariant {
    name: String,
    violations: u64,
}

#[derive(Deserialize)]
struct Backup {
    time: i64,
    source: String,
}

/// An expired reservation gives its quota back within 30 s.
const OVERDUE_SECONDS: u64 = 120;

/// Seven are usual.
const FEW_PARTITIONS: u64 = 2;

/// A line, and how it is drawn on a terminal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TopLine {
    pub text: String,
    pub tone: Tone,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Title,
    /// Needs attention.
    Alert,
}

impl TopReport {
    /// The servers come last: there may be more of them than lines on a terminal.
    pub fn lines(&self) -> Vec<TopLine> {
        let needed = self.needs_attention();
        let attention = if needed.is_empty() {
            TopLine { text: "nothing needs attention".to_owned(), tone: Tone::Plain }
        } else {
            TopLine { text: printable(&format!("needs attention: {}", needed.join("; "))), tone: Tone::Alert }
        };
        let blank = || [String::new()].into_iter();
        let plain = blank().chain(self.recent.rates()).chain(blank()).chain(lines_of_facts(&self.facts()));
        let plain = plain.chain(blank()).chain(self.table_of_servers());
        let plain = plain.map(|text| TopLine { text, tone: Tone::Plain });
        [TopLine { text: printable(&self.title()), tone: Tone::Title }, attention].into_iter().chain(plain).collect()
    }

    /// The server that answers, the time, and how many servers run.
    fn title(&self) -> String {
        let at = time_of_day(self.time);
        let running = match self.all_servers().filter(|server| server.running).count() {
            1 => "1 server runs".to_owned(),
            count => format!("{count} servers run"),
        };
        let since = match self.recent.milliseconds {
            0 => "figures follow in a few seconds".to_owned(),
            milliseconds => format!("figures of the last {} s", average(milliseconds, 1_000)),
        };
        format!("{} {}  {at}  {running}  {since}", self.server.name, self.server.version)
    }

    /// The one that answers may not be among the others: a server of a read-only database cannot say that it runs.
    fn all_servers(&self) -> impl Iterator<Item = &Server> {
        let is_listed = self.servers.iter().any(|server| server.id == self.server.id);
        self.servers.iter().chain((!is_listed).then_some(&self.server))
    }

    /// What an operator should look at, the most urgent first.
    fn needs_attention(&self) -> Vec<String> {
        let mut needed = Vec::new();
        let violated = self.proof.invariants.iter().filter(|one| one.violations > 0);
        let violated: Vec<_> = violated.map(|one| format!("{} {}", one.name, one.violations)).collect();
        if !violated.is_empty() {
            needed.push(format!("violations of the ledger: {}", violated.join(", ")));
        }
        if !self.degraded.is_empty() {
            needed.push(format!("degraded: {}", self.degraded.join(", ")));
        }
        if !self.database.is_writable {
            needed.push("the database is read-only".to_owned());
        }
        if self.database.archiver_fails {
            needed.push("PostgreSQL cannot archive its log".to_owned());
        }
        let database = &self.database;
        if database.reservations_overdue_seconds > OVERDUE_SECONDS {
            needed.push(format!("reservations are overdue for {} s", database.reservations_overdue_seconds));
        }
        if database.partitions_ahead_days < FEW_PARTITIONS {
            needed.push(format!("partitions of charges exist for {} days ahead only", database.partitions_ahead_days));
        }
        if database.default_partition_rows > 0 {
            needed.push("charges are in the default partition".to_owned());
        }
        if self.backup.is_none() {
            needed.push("no backup is known".to_owned());
        }
        if !self.differing_settings.is_empty() {
            let names: Vec<_> = self.differing_settings.iter().map(|setting| setting.name.as_str()).collect();
            needed.push(format!("settings differ: {}", names.join(", ")));
        }
        let running = self.all_servers().filter(|server| server.running);
        let programs: BTreeSet<_> = running.map(|server| (&server.version, server.newest_migration)).collect();
        if programs.len() > 1 {
            needed.push("versions differ".to_owned());
        }
        needed
    }

    fn facts(&self) -> Vec<(&'static str, String)> {
        let Recent { milliseconds, operations, quota, batches, batched_operations, .. } = &self.recent;
        let kinds = operations.iter().map(|(kind, count)| format!("{kind} {}", per_second(*count, *milliseconds)));
        let kinds: Vec<_> = kinds.collect();
        let each = average(*batched_operations, *batches);
        let database = &self.database;
        let standbys = format!("{} synchronous, {} other", database.synchronous_standbys, database.other_standbys);
        vec![
            ("by kind", if kinds.is_empty() { "none".to_owned() } else { kinds.join("  ") }),
            ("quota", dollars_per_second(*quota, *milliseconds)),
            ("batches", format!("{}, {each} operations each", per_second(*batches, *milliseconds))),
            ("steps", self.recent.steps().join("  ")),
            (
                "database",
                format!(
                    "PostgreSQL {}, {}, open reservations: {}, standbys: {standbys}",
                    database.version,
                    size(database.bytes),
                    database.reservations_open
                ),
            ),
            (
                "backup",
                self.backup.as_ref().map_or_else(
                    || "none is known".to_owned(),
                    |backup| format!("{} ({})", time(backup.time), backup.source),
                ),
            ),
        ]
    }

    fn table_of_servers(&self) -> Vec<String> {
        let mut table = Table::new(&["SERVER", "VERSION", "STATE", "STARTED"]);
        for server in self.all_servers() {
            let unseen = u64::try_from(self.time.saturating_sub(server.seen_time)).unwrap_or_default();
            let state = if server.id == self.server.id {
                "running, answers".to_owned()
            } else if server.running {
                "running".to_owned()
            } else {
                format!("not seen for {}", age(unseen))
            };
            table.row(vec![server.name.clone(), server.version.clone(), state, time(server.started_time)]);
        }
        table.lines()
    }
}

impl Recent {
    /// A table of requests and operations.
    fn rates(&self) -> Vec<String> {
        let rate = |count| per_second(count, self.milliseconds);
        let mut table = Table::new(&["", "RATE", "FAILED", "REFUSED", "P50", "P99", "WAITING"]);
        table.row(vec![
            "requests".to_owned(),
            rate(self.requests),
            rate(self.failures),
            String::new(),
            time_of_micros(self.request.p50_us),
            time_of_micros(self.request.p99_us),
            format!("{} in flight", self.in_flight),
        ]);
        table.row(vec![
            "operations".to_owned(),
            rate(self.operations.values().fold(0_u64, |sum, count| sum.saturating_add(*count))),
            rate(self.failed),
            rate(self.refused),
            time_of_micros(self.operation.p50_us),
            time_of_micros(self.operation.p99_us),
            format!("{} in the queue", self.queue),
        ]);
        table.lines()
    }

    /// The mean time of each step of a batch; the slowest is marked.
    fn steps(&self) -> Vec<String> {
        let step = |Step { step, mean_us }: &Step| {
            let mark = if self.slowest_step.as_ref() == Some(step) { " (slowest)" } else { "" };
            format!("{step} {}{mark}", time_of_micros(*mean_us))
        };
        self.steps.iter().map(step).collect()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn server(name: &str, version: &str, seen: i64, running: bool) -> Value {
        json!({
            "id": name, "name": name, "version": version, "newest_migration": 29, "started_time": 1_773_136_800,
            "seen_time": seen, "running": running
        })
    }

    fn answer() -> Value {
        let (now, quantiles) = (1_773_144_003, |p50, p99| json!({ "p50_us": p50, "p99_us": p99 }));
        let step = |name, mean| json!({ "step": name, "mean_us": mean });
        json!({
            "time": now,
            "server": server("east", "0.1.0", now, true),
            "recent": {
                "milliseconds": 12_340, "requests": 1_234, "failures": 1, "request": quantiles(2_500, 11_000),
                "operations": { "charge": 1_000, "reserve": 25 }, "refused": 12, "failed": 0, "quota": 617_000,
                "operation": quantiles(900, 4_000), "batches": 128, "batched_operations": 1_025,
                "steps": [step("lock", 100), step("write", 1_200), step("commit", 300), step("flush", 2_900)],
                "slowest_step": "flush", "queue": 4, "in_flight": 7
            },
            "jobs": [],
            "servers": [server("east", "0.1.0", now, true), server("west", "0.1.0", now - 600, false)],
            "differing_settings": [],
            "database": {
                "version": "17.2", "is_writable": true, "bytes": 1_288_490_189, "idempotency_records_bytes": 1,
                "reservations_open": 12, "reservations_overdue_seconds": 0, "partitions_ahead_days": 7,
                "default_partition_rows": 0, "synchronous_standbys": 1, "other_standbys": 0, "archiver_failures": 0,
                "archiver_fails": false
            },
            "degraded": [],
            "proof": { "ended_time": null, "invariants": [{ "name": "L3", "violations": 0 }] },
            "backup": { "time": 1_773_140_400, "source": "keymeter_backup" }
        })
    }

    fn lines(answer: Value) -> Vec<TopLine> {
        serde_json::from_value::<TopReport>(answer).unwrap().lines()
    }

    #[test]
    fn a_report_is_a_page() {
        let lines = lines(answer());
        let text: Vec<_> = lines.iter().map(|line| line.text.as_str()).collect();
        assert_eq!(
            text,
            [
                "east 0.1.0  2026-03-10 12:00:03 UTC  1 server runs  figures of the last 12.3 s",
                "nothing needs attention",
                "",
                "            RATE    FAILED  REFUSED  P50     P99      WAITING",
                "requests    100/s   0.1/s            2.5 ms  11.0 ms  7 in flight",
                "operations  83.1/s  0.0/s   1.0/s    900 µs  4.0 ms   4 in the queue",
                "",
                "by kind   charge 81.0/s  reserve 2.0/s",
                "quota     $0.100000/s",
                "batches   10.4/s, 8.0 operations each",
                "steps     lock 100 µs  write 1.2 ms  commit 300 µs  flush 2.9 ms (slowest)",
                "database  PostgreSQL 17.2, 1.2 GiB, open reservations: 12, standbys: 1 synchronous, 0 other",
                "backup    2026-03-10 11:00 UTC (keymeter_backup)",
                "",
                "SERVER  VERSION  STATE                STARTED",
                "east    0.1.0    running, answers     2026-03-10 10:00 UTC",
                "west    0.1.0    not seen for 10 min  2026-03-10 10:00 UTC",
            ]
        );
        let tones = [Tone::Title, Tone::Plain, Tone::Plain];
        assert_eq!(lines.iter().take(3).map(|line| line.tone).collect::<Vec<_>>(), tones);
    }

    #[test]
    fn what_needs_attention_is_one_line() {
        let mut answer = answer();
        answer["proof"]["invariants"][0]["violations"] = json!(2);
        answer["degraded"] = json!(["not_durable"]);
        answer["database"]["is_writable"] = json!(false);
        answer["database"]["archiver_fails"] = json!(true);
        answer["differing_settings"] =
            json!([{ "name": "limits.a", "values": [] }, { "name": "usage.b", "values": [] }]);
        answer["servers"][1] = server("we\u{1b}st", "0.2.0", 1_773_144_000, true);
        let lines = lines(answer);
        assert_eq!(
            lines[1],
            TopLine {
                text: "needs attention: violations of the ledger: L3 2; degraded: not_durable; the database is read-only; \
                       PostgreSQL cannot archive its log; settings differ: limits.a, usage.b; versions differ"
                    .to_owned(),
                tone: Tone::Alert
            }
        );
        assert!(lines[0].text.contains("  2 servers run  "), "{}", lines[0].text);
        assert!(lines.iter().all(|line| !line.text.contains('\u{1b}')));
    }

    #[test]
    fn a_server_that_has_just_started_on_a_standby_has_no_figures_and_is_not_listed() {
        let mut answer = answer();
        answer["servers"] = json!([]);
        answer["recent"] = json!({
            "milliseconds": 0, "requests": 0, "failures": 0, "request": { "p50_us": null, "p99_us": null },
            "operations": {}, "refused": 0, "failed": 0, "quota": 0, "operation": { "p50_us": null, "p99_us": null },
            "batches": 0, "batched_operations": 0, "steps": [{ "step": "lock", "mean_us": null }],
            "slowest_step": null, "queue": 0, "in_flight": 1
        });
        answer["backup"] = Value::Null;
        let lines = lines(answer);
        let text: Vec<_> = lines.iter().map(|line| line.text.as_str()).collect();
        assert!(text[0].ends_with("  1 server runs  figures follow in a few seconds"), "{text:?}");
        for line in [
            "requests    -     -                -    -    1 in flight",
            "by kind   none",
            "quota     -",
            "batches   -, - operations each",
            "steps     lock -",
            "backup    none is known",
            "east    0.1.0    running, answers  2026-03-10 10:00 UTC",
        ] {
            assert!(text.contains(&line), "{line}: {text:#?}");
        }
    }
}
