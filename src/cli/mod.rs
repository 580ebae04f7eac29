//! The command line: serve · migrate · user · gateway · openapi · doctor · health.

mod operator;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::config::Config;
use crate::telemetry;
use crate::{app, doctor};

/// Issues API keys and enforces what each may spend.
#[derive(Debug, Parser)]
#[command(name = "keymeter", version, about)]
struct Cli {
    /// A TOML file with settings; config/default.toml documents them all.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the service (what `keymeter` alone does too).
    Serve {
        /// First fill an empty database with a few accounts, keys in every state and two weeks of charges.
        #[arg(long)]
        demo: bool,
    },
    /// Bring the database up to date, and stop.
    Migrate,
    /// Accounts, from the operator's side.
    #[command(subcommand)]
    User(operator::UserCommand),
    /// Gateways and their credentials.
    #[command(subcommand)]
    Gateway(operator::GatewayCommand),
    /// Print the OpenAPI document.
    Openapi,
    /// Check the installation and say what to do.
    Doctor,
    /// Ask the running service whether it lives; for container health checks.
    Health,
    /// Print every setting with its default and its meaning.
    Settings,
}

/// Runs the command line of this process.
#[must_use]
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    match execute(cli) {
        Ok(code) => code,
        Err(message) => {
            complain(&message);
            ExitCode::FAILURE
        }
    }
}

#[expect(clippy::print_stdout, reason = "documents that were asked for")]
fn execute(cli: Cli) -> Result<ExitCode, String> {
    let command = cli.command.unwrap_or(Command::Serve { demo: false });
    match command {
        Command::Openapi => {
            println!("{}", app::openapi_json());
            return Ok(ExitCode::SUCCESS);
        }
        Command::Settings => {
            print!("{}", crate::config::DEFAULTS);
            return Ok(ExitCode::SUCCESS);
        }
        Command::Serve { .. }
        | Command::Migrate
        | Command::User(_)
        | Command::Gateway(_)
        | Command::Doctor
        | Command::Health => {}
    }
    let config = Config::load(cli.config.as_deref()).map_err(|error| error.to_string())?;
    telemetry::start_log(&config.log.filter, config.log.format)?;
    let runtime = tokio::runtime::Runtime::new().map_err(|error| format!("cannot start threads: {error}"))?;
    runtime.block_on(async {
        match command {
            Command::Serve { demo } => app::serve(config, demo).await.map_err(|error| error.to_string())?,
            Command::Migrate => operator::migrate(&config).await?,
            Command::User(command) => operator::user(&config, command).await?,
            Command::Gateway(command) => operator::gateway(&config, command).await?,
            Command::Doctor => return Ok(doctor::examine(&config).await),
            Command::Health => operator::health(&config.server.listen).await?,
            Command::Openapi | Command::Settings => {}
        }
        Ok(ExitCode::SUCCESS)
    })
}

/// One line on standard error.
#[expect(clippy::print_stderr, reason = "this is what the operator reads")]
fn complain(message: &str) {
    eprintln!("keymeter: {message}");
}
