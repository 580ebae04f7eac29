//! A long mixed load on three servers of one database while faults are caused, and a check that every invariant of
//! the ledger holds. `make soak` runs it; `docs/soak.md` describes it and its output.

#![allow(
    missing_docs,
    clippy::cast_precision_loss,
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::float_arithmetic,
    clippy::needless_pass_by_value,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a measuring program: it prints, divides, runs its own SQL, and stops by panicking"
)]

mod answers;
mod checks;
mod faults;
#[path = "../../tests/it/harness/mod.rs"]
mod harness;
mod load;
#[path = "../shared/process.rs"]
mod process;
mod records;
mod report;
mod watch;
mod world;

use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use faults::FaultKind;
use world::World;

/// Default of `--clients`: enough to fill batches, few enough for a small machine.
const CLIENTS: usize = 32;

/// Default of `--pause`: the longest pause of a client.
const PAUSE: Duration = Duration::from_millis(20);

/// The options of the command line.
#[derive(Debug, Clone)]
pub struct Options {
    /// Minutes of load.
    pub minutes: f64,
    /// Seed of the random choices of the load and of the faults.
    pub seed: u64,
    /// Clients that send one operation after the other.
    pub clients: usize,
    /// The longest pause of a client between two operations.
    pub pause: Duration,
    /// The faults to make.
    pub faults: Vec<FaultKind>,
}

impl Options {
    fn read() -> Self {
        let mut options = Self {
            minutes: 10.0,
            seed: u64::from(rand::random::<u32>()),
            clients: CLIENTS,
            pause: PAUSE,
            faults: FaultKind::ALL.to_vec(),
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let mut value = || words.next().unwrap_or_else(|| panic!("{word} needs a value"));
            match word.as_str() {
                "--minutes" => options.minutes = value().parse().expect("--minutes takes a number"),
                "--seed" => options.seed = value().parse().expect("--seed takes a whole number"),
                "--clients" => options.clients = value().parse().expect("--clients takes a whole number"),
                "--pause" => {
                    options.pause = Duration::from_millis(value().parse().expect("--pause takes milliseconds"));
                }
                "--faults" => options.faults = faults_named(&value()),
                "--bench" => {}
                _ => panic!("unknown option {word}; there are --minutes --seed --clients --pause --faults"),
            }
        }
        assert!(options.clients < load::MAX_CLIENTS, "--clients must be below {}", load::MAX_CLIENTS);
        options
    }

    /// The arguments that repeat this run.
    fn arguments(&self) -> String {
        let mut arguments = vec![format!("--minutes {} --seed {}", self.minutes, self.seed)];
        if self.clients != CLIENTS {
            arguments.push(format!("--clients {}", self.clients));
        }
        if self.pause != PAUSE {
            arguments.push(format!("--pause {}", self.pause.as_millis()));
        }
        if self.faults != FaultKind::ALL {
            let names: Vec<_> = self.faults.iter().map(|kind| kind.name()).collect();
            let names = if names.is_empty() { "none".to_owned() } else { names.join(",") };
            arguments.push(format!("--faults {names}"));
        }
        arguments.join(" ")
    }

    /// How long the load lasts.
    fn length(&self) -> Duration {
        Duration::from_secs_f64(self.minutes * 60.0)
    }

    /// The age at which the memory of a server becomes the baseline for its growth. Also the time before the first
    /// fault.
    fn warm_up(&self) -> Duration {
        (self.length() / 10).clamp(Duration::from_secs(8), Duration::from_mins(1))
    }

    /// How long the servers idle at the end.
    fn rest(&self) -> Duration {
        (self.length() / 6).clamp(Duration::from_secs(10), Duration::from_mins(1))
    }

    /// Returns true if faults are shortened, so that a short run includes most of them.
    fn is_short(&self) -> bool {
        self.minutes < 5.0
    }
}

/// The faults of a list such as `kill,pause`; `none` for a run without any.
fn faults_named(names: &str) -> Vec<FaultKind> {
    let known = || FaultKind::ALL.map(FaultKind::name).join(", ");
    let named = |name: &str| {
        FaultKind::ALL.into_iter().find(|kind| kind.name() == name).unwrap_or_else(|| {
            panic!("there is no fault {name}; there are {} and none", known());
        })
    };
    names.split(',').filter(|name| *name != "none").map(named).collect()
}

fn main() -> ExitCode {
    let options = Options::read();
    println!("seed {}; repeat with: make soak SOAK_ARGS=\"{}\"", options.seed, options.arguments());
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    let world = runtime.block_on(async { Arc::new(World::start(options).await) });
    let passed = runtime.block_on(async {
        tokio::select! {
            passed = soak(&world) => passed,
            _ = tokio::signal::ctrl_c() => {
                println!("interrupted; the logs stay in {}", world.home().display());
                false
            }
        }
    });
    world.end(passed);
    if passed { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The whole run; returns true if all checks passed.
async fn soak(world: &Arc<World>) -> bool {
    let memory = tokio::spawn(watch::take_samples(Arc::clone(world)));
    let progress = tokio::spawn(report::print_progress(Arc::clone(world)));
    let gaps = tokio::spawn(watch::measure_gaps(Arc::clone(world)));
    let clients = load::start(world);
    let faults = tokio::spawn(faults::run(Arc::clone(world)));
    world.record_panic(faults.await, "making faults");
    world.stop.store(true, Ordering::SeqCst);
    for client in clients {
        world.record_panic(client.await, "a client");
    }
    gaps.abort();
    world.log("the load has stopped; resting");
    tokio::time::sleep(world.options.rest()).await;
    progress.abort();
    memory.abort();
    let checked = tokio::spawn(checks::run_all(Arc::clone(world)));
    world.record_panic(checked.await, "checking");
    report::print_tables(world)
}
