//! The binary `keymeter-envoy`: meters requests for Envoy and all that speaks its protocol.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use keymeter_door::arguments::{DoorArgs, with_section, with_variables};
use keymeter_envoy::settings::{EnvoySettings, OnSilence, default_options};
use keymeter_envoy::{check, server};
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tracing_subscriber::EnvFilter;

/// Every message makes many small allocations; mimalloc is faster at them than the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What the variables of the options begin with.
const VARIABLES: &str = "KEYMETER_ENVOY__";

/// Proxies ask for the health each half second by the example, and some more seldom.
const STOP_DELAY: Duration = Duration::from_secs(5);

/// The section of a settings file.
const SECTION: &str = "envoy";

/// An external processor for Envoy: each request is reserved in Keymeter before Envoy sends it on, and charged
/// afterwards at what it did cost. Every option is also a setting of the section `[envoy]` of a settings file, and a
/// variable of the environment.
#[derive(Debug, Parser)]
#[command(name = "keymeter-envoy", version, args_conflicts_with_subcommands = true)]
struct Cli {
    /// TOML file with settings; it may be that of the server.
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Where Envoy connects: an address, or `unix:` and a path.
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:13050")]
    listen: String,
    /// Whether the address of a client has to be known, for the `allow_ips` of keys: checked, or unchecked where the
    /// proxy does not tell it.
    #[arg(long, value_name = "HOW", default_value = "checked")]
    address: Address,
    /// What is charged for a request that was let through, and of which Envoy told nothing more.
    #[arg(long, value_name = "WHAT", default_value = "charge")]
    on_silence: OnSilence,
    /// Headers of clients that reach the API besides those that are known, separated by commas.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pass_headers: Vec<String>,
    #[command(flatten)]
    door: DoorArgs,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Address {
    Checked,
    Unchecked,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Read the configuration that Envoy runs, and name what would let requests pass or break them
    Check {
        /// Envoy's administration address, such as <http://127.0.0.1:9901>, or a file with its `config_dump`.
        source: String,
    },
}

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(message) => {
            check::print(&format!("keymeter-envoy: {message}"));
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode, String> {
    let cli = parsed()?;
    if let Some(Command::Check { source }) = cli.command {
        return check::run(&source).map(|is_good| if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    let filter = EnvFilter::builder().parse(&cli.door.log_filter).map_err(|error| format!("--log-filter: {error}"))?;
    let is_terminal = std::io::stderr().is_terminal();
    tracing_subscriber::fmt().with_env_filter(filter).with_ansi(is_terminal).with_writer(std::io::stderr).init();
    let mut door = cli.door.settings(default_options())?;
    door.options.checks_addresses = cli.address == Address::Checked;
    let settings = EnvoySettings {
        door,
        listen: cli.listen,
        on_silence: cli.on_silence,
        pass_headers: cli.pass_headers,
        stop_delay: STOP_DELAY,
    };
    let runtime = tokio::runtime::Runtime::new().map_err(|error| format!("cannot start threads: {error}"))?;
    runtime.block_on(async {
        let caught = |kind| signal(kind).map_err(|error| format!("cannot catch a signal: {error}"));
        let (mut terminate, mut interrupt) = (caught(SignalKind::terminate())?, caught(SignalKind::interrupt())?);
        let (signals, stop) = watch::channel(0_u32);
        tokio::spawn(async move {
            loop {
                tokio::select! {
                    _ = terminate.recv() => {}
                    _ = interrupt.recv() => {}
                }
                signals.send_modify(|count| *count += 1);
            }
        });
        // The first stops it, and the second does not wait for requests under way.
        let nth = |count: u32| {
            let mut signals = stop.clone();
            async move { drop(signals.wait_for(|so_many| *so_many >= count).await) }
        };
        let started = |address: &str| tracing::info!(address, "the processor listens");
        server::run(&settings, started, nth(1), nth(2)).await.map_err(|error| error.to_string())
    })?;
    Ok(ExitCode::SUCCESS)
}

/// The command line; with a settings file once more, with what that says as defaults.
fn parsed() -> Result<Cli, String> {
    let parsed = |command: clap::Command| {
        let matches = command.get_matches();
        Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    };
    let command = || with_variables(Cli::command(), VARIABLES);
    let cli = parsed(command());
    match &cli.config {
        Some(file) => Ok(parsed(with_section(command(), SECTION, file)?)),
        None => Ok(cli),
    }
}
