//! Prints a line every few seconds, and tables at the end.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use crate::faults::FaultKind;
use crate::watch::{ServerProcess, Window, median};
use crate::world::{SERVERS, Tally, World};

const EVERY: Duration = Duration::from_secs(5);

/// Prints rates, the current fault, and the memory and files of the servers, until the task is aborted.
pub async fn print_progress(world: Arc<World>) {
    let mut ticks = tokio::time::interval(EVERY);
    ticks.tick().await;
    let mut before = BTreeMap::new();
    loop {
        ticks.tick().await;
        let all = world.tallies.all();
        let answers = |tallies: &BTreeMap<_, Tally>, name| {
            tallies.get(name).map_or(0, |tally: &Tally| tally.done + tally.refused)
        };
        let rate = |name: &'static str| (answers(&all, name) - answers(&before, name)) / EVERY.as_secs();
        let total: u64 = all.keys().map(|name| rate(name)).sum();
        let names = ["charge", "charge once", "batch", "reserve", "settle", "verify", "probe", "list", "get", "create"];
        let rates: Vec<_> = names.iter().map(|name| format!("{name} {}", rate(name))).collect();
        let fault = world.windows.current().map_or_else(
            || "-".to_owned(),
            |window| format!("{} {} s", window.kind.name(), window.began.elapsed().as_secs()),
        );
        let newest = |server| {
            let processes = world.processes.lock().unwrap();
            let sample = processes.iter().rev().find(|process| process.server == server)?.samples.last().copied()?;
            Some(format!("{:.0}/{}", sample.mebibytes, sample.files))
        };
        let memory: Vec<_> = (0..SERVERS).map(|n| newest(n).unwrap_or_else(|| "?".to_owned())).collect();
        world.log(&format!("{total}/s ({}) | fault: {fault} | MiB/files {}", rates.join(", "), memory.join(" ")));
        before = all;
    }
}

/// Prints the tables; returns true if all checks passed.
pub fn print_tables(world: &World) -> bool {
    print_operations(world);
    print_faults(world);
    print_servers(world);
    let findings = world.findings();
    println!();
    if findings.is_empty() {
        println!("All checks passed. Seed {}.", world.options.seed);
        return true;
    }
    println!("FAILED:");
    for (what, (count, examples)) in findings {
        println!("- {what}: {count} times");
        for example in examples {
            println!("    {example}");
        }
    }
    println!("The logs of the servers and of PostgreSQL are in {}.", world.home().display());
    println!("Repeat with: make soak SOAK_ARGS=\"{}\"", world.options.arguments());
    false
}

fn print_operations(world: &World) {
    println!(
        "\n{:<16}{:>10}{:>10}{:>8}{:>11}{:>13}",
        "operation", "done", "refused", "503", "no answer", "longest, ms"
    );
    for (name, tally) in world.tallies.all() {
        let Tally { done, refused, unavailable, unanswered, longest } = tally;
        println!("{name:<16}{done:>10}{refused:>10}{unavailable:>8}{unanswered:>11}{:>13}", longest.as_millis());
    }
}

fn print_faults(world: &World) {
    let (windows, fault_free) = world.windows.all();
    println!(
        "\n{:<18}{:>6}{:>8}{:>22}{:>22}{:>12}",
        "fault", "times", "503", "no charge, server, s", "no charge, wallet, s", "recovery, s"
    );
    let seconds = |gap: Duration| format!("{:.2}", gap.as_secs_f64());
    let (server, wallet) = (seconds(fault_free.server_gap), seconds(fault_free.wallet_gap));
    println!("{:<18}{:>6}{:>8}{server:>22}{wallet:>22}{:>12}", "(none)", "", fault_free.unavailable, "");
    for kind in FaultKind::ALL {
        let of_kind: Vec<&Window> = windows.iter().filter(|window| window.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        let longest = |of: fn(&Window) -> Duration| seconds(of_kind.iter().map(|window| of(window)).max().unwrap());
        let recovery = longest(|window| {
            window.closed.zip(window.ended).map_or(Duration::ZERO, |(closed, ended)| closed.duration_since(ended))
        });
        println!(
            "{:<18}{:>6}{:>8}{:>22}{:>22}{recovery:>12}",
            kind.name(),
            of_kind.len(),
            of_kind.iter().map(|window| window.unavailable).sum::<u64>(),
            longest(|window| window.server_gap),
            longest(|window| window.wallet_gap),
        );
    }
}

fn print_servers(world: &World) {
    let warm_up = world.options.warm_up();
    println!(
        "\n{:<8}{:>9}{:>10}{:>10}{:>8}{:>8}{:>8}{:>9}{:>12}{:>11}{:>11}",
        "server",
        "process",
        "lived, s",
        "MiB warm",
        "least",
        "median",
        "most",
        "at rest",
        "MiB/minute",
        "files most",
        "at rest"
    );
    for process in &*world.processes.lock().unwrap() {
        let ServerProcess { server, pid, samples, .. } = process;
        let mebibytes = || samples.iter().map(|sample| sample.mebibytes);
        let lived = samples.last().map_or(0, |sample| sample.age.as_secs());
        let text = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |value| format!("{value:.0}"));
        let warm = process.after_warm_up(warm_up, |sample| sample.mebibytes);
        let rest = samples.last().filter(|sample| !sample.is_busy);
        println!(
            "{server:<8}{pid:>9}{lived:>10}{:>10}{:>8.0}{:>8.0}{:>8.0}{:>9}{:>12}{:>11}{:>11}",
            text(warm),
            mebibytes().fold(f64::MAX, f64::min),
            median(mebibytes().collect()),
            mebibytes().fold(0.0, f64::max),
            text(rest.map(|sample| sample.mebibytes)),
            warm.map_or_else(|| "-".to_owned(), |_| format!("{:+.2}", process.slope(warm_up))),
            samples.iter().map(|sample| sample.files).max().unwrap_or(0),
            text(rest.map(|sample| sample.files as f64)),
        );
    }
    if world.processes.lock().unwrap().is_empty() {
        println!("(memory and files are watched on Linux only)");
    }
}
