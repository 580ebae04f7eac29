//! The command line: one file a command. `serve`, `doctor`, `openapi` and `settings` call other modules directly.

mod backup;
mod gateway;
mod health;
mod import;
mod master_key;
mod migrate;
mod prices;
mod psql;
mod user;

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, process};

use clap::{Parser, Subcommand};

use crate::app::{self, App, StartError};
use crate::config::Config;
use crate::output::{print_error, print_line};
use crate::service::passwords::HashCost;
use crate::service::rng::Rng;
use crate::storage::OpenError;
use crate::telemetry::traces::Traces;
use crate::version::VERSION;
use crate::{doctor, service, telemetry};

/// Issues API keys and enforces what each may spend.
#[derive(Debug, Parser)]
#[command(name = "keymeter", version = VERSION, about)]
struct Cli {
    /// TOML file with settings; config/default.toml documents all of them.
    #[arg(long, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Run the service. This is the default command.
    Serve {
        /// Fill an empty database with demo data first: a few users, keys in every state and three months of charges. A
        /// database with these data is used as it is.
        #[arg(long)]
        demo: bool,
    },
    /// Apply the pending database migrations, then exit.
    Migrate,
    /// Create users and set their passwords.
    #[command(subcommand)]
    User(user::UserCommand),
    /// Manage gateways and their credentials.
    #[command(subcommand)]
    Gateway(gateway::GatewayCommand),
    /// Move accounts and keys here from another service.
    #[command(subcommand)]
    Import(import::ImportCommand),
    /// Make a price list for the settings.
    #[command(subcommand)]
    Prices(prices::PricesCommand),
    /// Change the master key while servers run.
    #[command(subcommand)]
    MasterKey(master_key::MasterKeyCommand),
    /// Copy the private PostgreSQL and the master key to a new directory, also while the service runs.
    Backup {
        /// The new directory.
        directory: PathBuf,
    },
    /// Copy a backup into an empty data directory.
    Restore {
        /// What `keymeter backup` made.
        directory: PathBuf,
    },
    /// Open the private PostgreSQL in psql, also while the service runs.
    Psql {
        /// Arguments of psql.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        arguments: Vec<OsString>,
    },
    /// Print the OpenAPI document.
    Openapi,
    /// Check the installation, report what is wrong and how to fix it.
    Doctor,
    /// Check that the service on this machine answers; for container health checks.
    Health,
    /// Print every setting with its default and its meaning.
    Settings,
}

/// The exit code if a person has to choose another database or to install one, so that a supervisor can tell it from a
/// failure that passes.
const NO_DATABASE: u8 = 2;

/// Why a command failed: one line, and the exit code.
struct Failure {
    message: String,
    code: ExitCode,
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self { message, code: ExitCode::FAILURE }
    }
}

impl From<StartError> for Failure {
    fn from(error: StartError) -> Self {
        let is_permanent = matches!(error, StartError::Open(OpenError::ForeignDatabase { .. }))
            || matches!(&error, StartError::Private(error) if error.is_permanent());
        let code = if is_permanent { ExitCode::from(NO_DATABASE) } else { ExitCode::FAILURE };
        Self { message: error.to_string(), code }
    }
}

/// Runs the command line of this process.
#[must_use]
pub fn run() -> ExitCode {
    let cli = Cli::parse();
    match execute(cli) {
        Ok(code) => code,
        Err(Failure { message, code }) => {
            print_error(&message);
            code
        }
    }
}

fn execute(cli: Cli) -> Result<ExitCode, Failure> {
    let command = match cli.command.unwrap_or(Command::Serve { demo: false }) {
        Command::Openapi => {
            print_line(&app::openapi_json());
            return Ok(ExitCode::SUCCESS);
        }
        Command::Settings => {
            print_line(crate::config::DEFAULTS.trim_end());
            return Ok(ExitCode::SUCCESS);
        }
        Command::Prices(command) => {
            prices::run(command)?;
            return Ok(ExitCode::SUCCESS);
        }
        command @ (Command::Serve { .. }
        | Command::Migrate
        | Command::User(_)
        | Command::Gateway(_)
        | Command::Import(_)
        | Command::MasterKey(_)
        | Command::Backup { .. }
        | Command::Restore { .. }
        | Command::Psql { .. }
        | Command::Doctor
        | Command::Health) => command,
    };
    let mut config = Config::load(cli.config.as_deref()).map_err(|error| error.to_string())?;
    // Other commands have no spans.
    let endpoint = if matches!(command, Command::Serve { .. }) { config.log.otlp_endpoint.as_str() } else { "" };
    let traces = Traces::start(endpoint)?;
    telemetry::start_log(&config.log.filter, config.log.format, traces.as_ref())?;
    if !matches!(command, Command::Health) {
        restart_without_pgoptions(&config)?;
        app::prepare_as_root(&mut config).map_err(StartError::from)?;
    }
    let runtime = tokio::runtime::Runtime::new().map_err(|error| format!("cannot start threads: {error}"))?;
    let code = runtime.block_on(async {
        match command {
            Command::Serve { demo } => app::serve(config, demo).await?,
            Command::Migrate => migrate::run(&config).await?,
            Command::User(command) => user::run(&config, command).await?,
            Command::Gateway(command) => gateway::run(&config, command).await?,
            Command::Import(command) => return import::run(&config, command).await,
            Command::MasterKey(command) => master_key::run(&config, command).await?,
            Command::Backup { directory } => backup::back_up(&config, &directory).await?,
            Command::Restore { directory } => backup::restore(&config, &directory)?,
            Command::Psql { arguments } => return psql::run(&config, arguments).await,
            Command::Doctor => return Ok(doctor::examine(&config).await),
            Command::Health => health::run(&config.server.listen).await?,
            Command::Openapi | Command::Settings | Command::Prices(_) => {}
        }
        Ok(ExitCode::SUCCESS)
    });
    if let Some(traces) = traces {
        traces.stop();
    }
    code
}

/// The client of PostgreSQL adds `PGOPTIONS` to every session and knows no way to leave it out. Those are meant for some
/// other server than the private one, so this process begins again without them.
fn restart_without_pgoptions(config: &Config) -> Result<(), String> {
    const VARIABLE: &str = "PGOPTIONS";
    if config.database.url.is_some() || env::var_os(VARIABLE).is_none() {
        return Ok(());
    }
    let program = env::current_exe().map_err(|error| format!("unset {VARIABLE}: {error}"))?;
    let error = process::Command::new(program).args(env::args_os().skip(1)).env_remove(VARIABLE).exec();
    Err(format!("unset {VARIABLE}: {error}"))
}

/// Opens the database, runs `command` with the services, and closes the database.
async fn with_app(config: &Config, command: impl AsyncFnOnce(&App) -> Result<(), String>) -> Result<(), Failure> {
    app::with_database(config, async |database| {
        let opened = app::open(config, database).await?;
        let db = opened.db.clone();
        let clock = service::clock::start(&db).await.map_err(|error| error.to_string())?;
        let app = App::assemble(opened, config, clock, Rng::system(), HashCost::STRONG)?;
        let outcome = command(&app).await;
        db.close().await;
        outcome.map_err(Failure::from)
    })
    .await
}
