//! How fast the service answers, as ratios: each call is compared with a baseline on the same server, in alternation in
//! one run. `make bench` measures calls and the ledger and draws the plot; `make bench-growth` measures the same calls
//! in a small and in a large database, and the memory that a server takes. `--compare NAME=PROGRAM` (twice) measures
//! two programs of the service in pairs.
//!
//! Server, database and load generator share the machine, so compare ratios, not rates.

#![allow(
    missing_docs,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::expect_used,
    clippy::float_arithmetic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measuring program: it prints, divides, runs its own SQL, and may panic on errors"
)]

mod baselines;
mod compare;
mod installation;
mod load;
mod pgbench;
#[path = "../shared/process.rs"]
mod process;
mod report;

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use tokio::runtime::Runtime;

use installation::Installation;
use load::{Case, Measured, Spend, Work, get, post, run};

/// The allocator of the real binary.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Connections of the plot.
const SWEEP: [usize; 6] = [1, 4, 16, 64, 256, 512];

/// What is measured, and how long.
pub struct Options {
    benchmark: Benchmark,
    /// Only cases whose names contain this; the report then stays as it is.
    pub only: String,
    pub rounds: usize,
    pub seconds: f64,
    /// Tokens and charges of the large database.
    grown: (usize, usize),
    /// Names and programs that are compared.
    pub programs: Vec<(String, String)>,
    /// Statements for both databases of a comparison, and for the second one, to measure what a change of the schema
    /// does.
    pub sql: [String; 2],
    pub connections: usize,
    /// How many measurements of a comparison begin each second, if they do not wait for answers.
    pub offered: Option<f64>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Benchmark {
    Calls,
    Ledger,
    Growth,
    Compare,
}

impl Options {
    fn read() -> Self {
        let mut options = Self {
            benchmark: Benchmark::Calls,
            only: String::new(),
            rounds: 5,
            seconds: 2.0,
            grown: (1_000_000, 10_000_000),
            programs: Vec::new(),
            sql: [const { String::new() }; 2],
            connections: 64,
            offered: None,
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap_or_else(|| panic!("{word} needs a value"));
            match word.as_str() {
                "--ledger" => options.benchmark = Benchmark::Ledger,
                "--growth" => options.benchmark = Benchmark::Growth,
                "--compare" => {
                    options.benchmark = Benchmark::Compare;
                    let given = value();
                    let (name, program) = given.split_once('=').expect("--compare NAME=PROGRAM");
                    options.programs.push((name.to_owned(), program.to_owned()));
                }
                "--sql" => options.sql[0] = value(),
                "--sql-of-second" => options.sql[1] = value(),
                "--connections" => options.connections = value().parse().unwrap(),
                "--offered" => options.offered = Some(value().parse().unwrap()),
                "--only" => options.only = value(),
                "--rounds" => options.rounds = value().parse().unwrap(),
                "--seconds" => options.seconds = value().parse().unwrap(),
                "--tokens" => options.grown.0 = value().parse().unwrap(),
                "--charges" => options.grown.1 = value().parse().unwrap(),
                "--bench" => {}
                _ => panic!(
                    "unknown option {word}; there are --ledger --growth --only --rounds --seconds --tokens --charges, and \
                     --compare NAME=PROGRAM twice with --only --rounds --seconds --tokens --connections --offered --sql \
                     --sql-of-second"
                ),
            }
        }
        options
    }
}

fn main() {
    if std::env::args().nth(1).as_deref() == Some(installation::SERVE) {
        let server = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        return server.block_on(installation::serve());
    }
    let options = Options::read();
    let client = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    match options.benchmark {
        Benchmark::Calls => {
            let installation = client.block_on(Installation::start("calls", None, 10_000, 0));
            calls(&client, &installation, &options);
            client.block_on(installation.remove());
        }
        Benchmark::Ledger => {
            let installation = client.block_on(Installation::start("ledger", None, 100_000, 0));
            ledger(&client, &installation, &options);
            println!("{}", installation.check_ledger());
            if options.only.is_empty() {
                tail(&client, &installation, &options);
                sweep(&client, &installation, &options);
                println!("{}", installation.check_ledger());
            }
            client.block_on(installation.remove());
        }
        Benchmark::Growth => {
            let small = client.block_on(Installation::start("small", None, 10_000, 100_000));
            let large = client.block_on(Installation::start("large", None, options.grown.0, options.grown.1));
            growth(&client, [&small, &large], &options);
            memory(&client, &large, &options);
            println!("checking the ledger");
            println!("{}", large.check_ledger());
            client.block_on(small.remove());
            client.block_on(large.remove());
        }
        Benchmark::Compare => compare::run(&client, &options),
    }
}

/// The calls of users and of a key, each with its baseline. Many users list and search, each its own tokens.
fn user_calls(installation: &Installation) -> Vec<(&'static str, Work, Work)> {
    let (id, bearer) = (installation.token_id, format!("Bearer {}", installation.key));
    let of_people = |path: &str| {
        let request =
            |(user, access_token): &(i64, String)| get(&path.replace("{user}", &user.to_string()), access_token);
        requests(installation.people.iter().map(request))
    };
    let call = |path: &str| requests([get(path, &installation.access_token)]);
    vec![
        ("list", of_people("/api/token/?p=0&size=10"), of_people("/baseline/list?id={user}")),
        ("search", of_people("/api/token/search?keyword=token%201"), of_people("/baseline/search?id={user}")),
        ("get", call(&format!("/api/token/{id}")), call(&format!("/baseline/get?id={id}"))),
        ("usage by key", requests([get("/api/usage/token/", &bearer)]), call(&format!("/baseline/usage?id={id}"))),
        ("daily usage", call(&format!("/api/token/{id}/usage")), call(&format!("/baseline/daily?id={id}"))),
    ]
}

fn requests(requests: impl IntoIterator<Item = String>) -> Work {
    Work::Requests(requests.into_iter().collect())
}

fn verify(installation: &Installation, keys: usize) -> Work {
    verify_at("/api/gateway/verify", installation, keys)
}

fn verify_at(path: &str, installation: &Installation, keys: usize) -> Work {
    let request = |key| post(path, &installation.gateway, &json!({ "key": key }));
    requests(installation.keys[..keys.min(installation.keys.len())].iter().map(request))
}

/// Charges and reservations with ids.
fn spend(installation: &Installation, keys: &Arc<[String]>) -> Spend {
    Spend { keys: Arc::clone(keys), gateway: installation.gateway.clone(), under: "/api/gateway", has_id: true }
}

fn bare(installation: &Installation) -> Case<'_> {
    Case::new("bare handler", &installation.server, requests([get("/baseline/nothing", "")]))
}

/// Each call and its baseline, and the bare handler.
fn calls(client: &Runtime, installation: &Installation, options: &Options) {
    let mut cases = vec![
        bare(installation),
        Case::new("all layers, no work", &installation.server, requests([get("/healthz", "")])),
    ];
    for (name, call, baseline) in user_calls(installation) {
        cases.push(Case::new(name, &installation.server, call));
        cases.push(Case::new(format!("{name}: baseline"), &installation.server, baseline));
    }
    let mut measured = run(client, &cases, 64, options);
    report::write("calls", 64, &report::table(&cases, &mut measured, "baseline"), options);
    let twin = verify_at("/baseline/verify", installation, 1_000);
    let cases = [
        bare(installation),
        Case::new("verify, warm", &installation.server, verify(installation, 1_000)),
        Case::new("verify, warm: baseline", &installation.server, twin),
    ];
    let mut measured = run(client, &cases, 64, options);
    report::write("verify", 64, &report::table(&cases, &mut measured, "baseline"), options);
}

/// The calls that the ledger commits in batches, each compared with one transaction per request.
fn ledger_cases(installation: &Installation) -> Vec<Case<'_>> {
    let case = |name: &str, work| Case::new(name, &installation.server, work);
    let spread = spend(installation, &installation.keys);
    let hot = spend(installation, &installation.keys[..1].into());
    let one_wallet = spend(installation, &installation.keys_of_one_wallet);
    let naive = |spend: &Spend| Spend { under: "/baseline", ..spend.clone() };
    vec![
        bare(installation),
        case("verify, warm", verify(installation, 1_000)),
        case("charge, spread", Work::Charges(spread.clone())),
        // The order leaves time in between for the disk to write what an earlier case left.
        case("charge, spread: naive", Work::Charges(naive(&spread))),
        case("charge, one hot key", Work::Charges(hot.clone())),
        case("charge, one hot key: naive", Work::Charges(naive(&hot))),
        case("charge, one wallet of 1,000 keys", Work::Charges(one_wallet)),
        case("reserve and settle, spread", Work::Reservations(spread.clone())),
        case("reserve and settle, spread: naive", Work::Reservations(naive(&spread))),
        case("charge without id, spread", Work::Charges(Spend { has_id: false, ..spread })),
    ]
}

fn ledger(client: &Runtime, installation: &Installation, options: &Options) {
    let another = installation.start_another();
    let mut cases = ledger_cases(installation);
    for name in ["charge, spread", "reserve and settle, spread"] {
        let mut case = cases.iter().find(|case| case.name == name).unwrap().clone();
        case.name = format!("{name}, two servers");
        case.servers.push(&another);
        cases.push(case);
    }
    let mut measured = run(client, &cases, 256, options);
    for (name, keys) in [("charge, spread: pgbench", installation.keys.len()), ("charge, one hot key: pgbench", 1)] {
        if name.contains(&options.only) {
            pgbench::run(installation, keys, options, measured.entry(name.to_owned()).or_default());
            cases.push(Case::new(name, &installation.server, requests([])));
        }
    }
    report::write("ledger", 256, &report::table(&cases, &mut measured, "naive"), options);
}

/// How long charges take at a rate that does not wait for answers, as shares of the rate of a closed loop; and at one
/// of these rates while PostgreSQL does what it does from time to time.
fn tail(client: &Runtime, installation: &Installation, options: &Options) {
    const ROWS: [(u32, &str, &[&str]); 8] = [
        (10, "", &[]),
        (30, "", &[]),
        (50, "", &[]),
        (70, "", &[]),
        (80, "", &[]),
        (90, "", &[]),
        (70, ", checkpoints", CHECKPOINTS),
        (70, ", autovacuum", AUTOVACUUM),
    ];
    let cases = ledger_cases(installation);
    let mut table =
        "| call | offered | offered/s | rate/s | p50 ms | p99 ms | highest |\n|---|---:|---:|---:|---:|---:|---:|\n"
            .to_owned();
    let names = ["charge, spread", "reserve and settle, spread"];
    let time = Duration::from_secs_f64(options.seconds * 2.0);
    for case in cases.iter().filter(|case| names.contains(&case.name.as_str())) {
        let mut most = Measured::default();
        for _ in 0..options.rounds {
            load::measure(client, case, 256, time, None, &mut most);
        }
        let offered = |percent: u32| most.rate() * f64::from(percent) / 100.0;
        let mut measured = ROWS.map(|_| Measured::default());
        for round in 0..options.rounds {
            println!("{}, open loop, round {} of {}", case.name, round + 1, options.rounds);
            let mut turn: Vec<_> = ROWS.into_iter().zip(&mut measured).collect();
            if round % 2 == 1 {
                turn.reverse();
            }
            for ((percent, _, statements), results) in turn {
                let disturbance = (!statements.is_empty()).then(|| installation.disturb(statements));
                load::measure(client, case, 256, time, Some(offered(percent)), results);
                if let Some(disturbance) = disturbance {
                    disturbance.stop();
                }
            }
        }
        for ((percent, meanwhile, _), mut results) in ROWS.into_iter().zip(measured) {
            let (name, offered, rate) = (&case.name, offered(percent), results.rate());
            let (p50, (p99, highest)) = (results.percentile(50), results.p99());
            writeln!(
                table,
                "| {name} | {percent} %{meanwhile} | {offered:.0} | {rate:.0} | {p50:.2} | {p99:.2} | {highest:.2} |"
            )
            .unwrap();
        }
    }
    report::write("tail", 256, &table, options);
}

/// One checkpoint after the other, each as fast as it can be.
const CHECKPOINTS: &[&str] = &["checkpoint"];

/// What autovacuum does, with its pauses.
const AUTOVACUUM: &[&str] = &[
    "set vacuum_cost_delay = '2ms'",
    "vacuum (analyze) users, tokens, charges, usage_daily, reservations, idempotency_records",
];

/// Repeats the cases of the ledger with more and more connections, and draws the plot.
fn sweep(client: &Runtime, installation: &Installation, options: &Options) {
    let cases = &ledger_cases(installation)[..6];
    let mut lines: Vec<report::Line> = cases.iter().map(|case| (case.name.clone(), Vec::new())).collect();
    for connections in SWEEP {
        let mut measured = run(client, cases, connections, options);
        for (name, points) in &mut lines {
            if let Some(case) = measured.get_mut(name) {
                points.push((connections as f64, case.rate(), case.percentile(99)));
            }
        }
    }
    lines.retain(|(_, points)| !points.is_empty());
    report::plot(&lines);
}

/// Each call in a small and in a large database.
fn growth(client: &Runtime, installations: [&Installation; 2], options: &Options) {
    let mut cases = Vec::new();
    for installation in installations {
        let mut case = |name: &str, work| {
            cases.push(Case::new(format!("{name} {}", installation.tokens), &installation.server, work));
        };
        for (name, call, _) in user_calls(installation) {
            case(name, call);
        }
        case("verify", verify(installation, 10_000));
        case("charge", Work::Charges(spend(installation, &installation.keys[..10_000].into())));
    }
    // The small and the large case of a call run one after the other.
    let half = cases.len() / 2;
    let cases: Vec<Case<'_>> = (0..half).flat_map(|n| [cases[n].clone(), cases[n + half].clone()]).collect();
    let mut measured = run(client, &cases, 64, options);
    let [few, many] = installations.map(|installation| installation.tokens);
    let mut table = format!(
        "| call | p50 ms at {few} | p50 ms at {many} | ratio | peak MiB at {few} | peak MiB at {many} |\n\
         |---|---:|---:|---:|---:|---:|\n"
    );
    for case in cases.iter().step_by(2) {
        let name = case.name.trim_end_matches(|c: char| c.is_ascii_digit() || c == ' ');
        let mut at = |tokens: usize| {
            let case = measured.get_mut(&format!("{name} {tokens}"));
            case.map_or((0.0, 0.0), |case| (case.percentile(50), case.peak))
        };
        let ((p50_few, peak_few), (p50_many, peak_many)) = (at(few), at(many));
        let ratio = p50_many / p50_few;
        writeln!(table, "| {name} | {p50_few:.2} | {p50_many:.2} | **{ratio:.2}** | {peak_few:.0} | {peak_many:.0} |")
            .unwrap();
    }
    report::write("growth", 64, &table, options);
}

/// The memory of a separate server on the large database: idle, and after load on all calls.
fn memory(client: &Runtime, installation: &Installation, options: &Options) {
    let server = installation.start_another();
    std::thread::sleep(Duration::from_secs(2));
    let idle = server.mebibytes("VmRSS");
    for work in [
        verify(installation, installation.keys.len()),
        Work::Charges(spend(installation, &installation.keys)),
        Work::Reservations(spend(installation, &installation.keys)),
        requests([get("/api/token/", &installation.access_token)]),
    ] {
        let case = Case::new("load", &server, work);
        load::run_unmeasured(client, &case, 256, Duration::from_secs_f64(options.seconds * 4.0));
    }
    let (busy, most) = (server.mebibytes("VmRSS"), server.mebibytes("VmHWM"));
    drop(server);
    let table = format!(
        "| memory of a server | MiB |\n|---|---:|\n| idle | {idle:.0} |\n| after the load | {busy:.0} |\n| at most | {most:.0} |\n"
    );
    report::write("memory", 256, &table, options);
}
