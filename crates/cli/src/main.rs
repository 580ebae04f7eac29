//! The binary `keymeter`: one file a command. `serve`, `openapi` and `settings` call the library directly.

mod backup;
mod completion;
mod demo;
mod doctor;
mod doctor_surroundings;
mod failure;
mod front;
mod gateway;
mod health;
mod import;
mod master_key;
mod master_key_rotation;
mod migrate;
mod new_api_prices;
mod output;
mod prices;
mod psql;
mod remote;
mod serve_demo;
mod support_bundle;
mod user;

use std::ffi::OsString;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::ExitCode;
use std::{env, process};

use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};

use self::failure::CommandFailure;
use self::remote::target::{RemoteOptions, ServerOptions};
use self::remote::{access_tokens, api, audit, enablement, keys, login, named, open, requests, sessions, top, usage};
use crate::output::{print_error, print_line};
use keymeter::app::{self, App, Opened};
use keymeter::config::Config;
use keymeter::service::passwords::HashCost;
use keymeter::service::rng::Rng;
use keymeter::telemetry::log::{Lines, Writing};
use keymeter::telemetry::traces::Traces;
use keymeter::version::VERSION;
use keymeter::{service, telemetry};
use keymeter_door::arguments::{with_section, with_variables};

/// Every request makes many small allocations; mimalloc is faster at them than the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ABOUT: &str = "Issues API keys and enforces what each may spend.";

#[derive(Debug, Parser)]
#[command(name = "keymeter", version = VERSION, about = ABOUT, after_help = HELP)]
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
    /// Meter an API of language models: reserve what each request may cost, pass it on, charge what it did cost.
    Front(Box<front::FrontArgs>),
    /// Apply the pending database migrations, then exit.
    Migrate,
    /// Manage your keys on a server.
    #[command(alias = "token", after_help = named::HELP)]
    Key(keys::KeyArgs),
    /// Show what was spent, on a server.
    Usage(usage::UsageArgs),
    /// Show single requests, on a server.
    Request(requests::RequestArgs),
    /// Show who did what, on a server.
    Audit(audit::AuditArgs),
    /// Show what all servers are doing, live, until Ctrl-C. For administrators.
    #[command(after_help = top::HELP)]
    Top(top::TopArgs),
    /// Sign in to a server and store an access token for the other commands.
    #[command(after_help = LOGIN_HELP)]
    Login(login::LoginArgs),
    /// Remove the stored access token and revoke it.
    Logout {
        #[command(flatten)]
        options: ServerOptions,
    },
    /// Manage your access tokens, with which programs act as you.
    AccessToken(access_tokens::AccessTokenArgs),
    /// Show and end your sessions in browsers.
    Session(sessions::SessionArgs),
    /// Open a page of the dashboard.
    Open(open::OpenArgs),
    /// Send any request of the API to a server.
    #[command(after_help = api::HELP)]
    Api(api::ApiArgs),
    /// Show which server commands act on, and as whom.
    Whoami {
        #[command(flatten)]
        options: RemoteOptions,
    },
    /// Create users and set their passwords, on a server or on the local database.
    #[command(after_help = PLACE_HELP)]
    User(user::UserArgs),
    /// Decide who may use the token API, on a server. For administrators.
    Enablement(enablement::EnablementArgs),
    /// Manage gateways and their credentials, on a server or on the local database.
    #[command(after_help = PLACE_HELP)]
    Gateway(gateway::GatewayArgs),
    /// Move accounts and keys here from another service.
    #[command(subcommand)]
    Import(import::ImportCommand),
    /// Set what models cost, on a server; and convert lists of other programs.
    Prices(prices::PricesArgs),
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
    /// Pack the doctor's report, settings, the state of the database and metrics into one file, without secrets.
    #[command(after_help = SUPPORT_BUNDLE_HELP)]
    SupportBundle {
        /// The new file. Without it, keymeter-support-YYYYMMDD-HHMMSS.tar.gz in this directory, with the time in UTC.
        file: Option<PathBuf>,
    },
    /// Check that the service on this machine answers; for container health checks.
    Health,
    /// Print every setting with its default and its meaning.
    Settings,
    /// Print a script that completes commands in a shell.
    #[command(after_help = completion::HELP)]
    Completion {
        /// The shell.
        #[arg(value_enum)]
        shell: completion::Shell,
    },
    /// Write manual pages into a directory.
    #[command(after_help = "Example:
  keymeter man ~/.local/share/man/man1 && man keymeter-key-create")]
    Man {
        /// The directory. It is created if needed.
        directory: PathBuf,
    },
}

/// What all of `keymeter --help` is about.
const HELP: &str = "Without a command, `keymeter` runs the service.

Work with a server:
  keymeter login --server https://keys.example.org
  keymeter key create ci --usd 5 --expires 90d
  keymeter key list
  keymeter usage report --by key
  keymeter request list --since 2h
  keymeter top

Environment:
  KEYMETER_URL           the server's address
  KEYMETER_ACCESS_TOKEN  an access token for it, instead of `keymeter login`
  KEYMETER_PROFILE       which of several logins to use

Exit codes: 0 done, 1 failed, 2 wrong usage, 3 not signed in or not allowed, 4 not found,
5 the present state does not allow it, 6 the server is not available or asks to wait.";

const LOGIN_HELP: &str = "Examples:
  keymeter login --server https://keys.example.org
  keymeter login --server https://keys.example.org --username ana --password-stdin < password.txt
  keymeter login --server https://keys.example.org --access-token-stdin < token.txt
  keymeter login --server https://keys.test.example.org --profile test && keymeter key list --profile test

The access token is stored in $XDG_CONFIG_HOME/keymeter/login.toml (~/.config by default), readable only by you. Signing
in again replaces it; with --profile there are several, one a server. `keymeter logout` ends it.";

const SUPPORT_BUNDLE_HELP: &str = "Example:
  keymeter support-bundle && tar xzf keymeter-support-*.tar.gz

Runs `keymeter doctor`, which reads the whole ledger. What cannot be found out is a line in its file that says so.
Read the files before you send them: they have names of servers and the settings that administrators see.";

const PLACE_HELP: &str = "On a server if --server, --profile, a variable or a login names one, as an administrator. On the local database, that of
the settings on this machine, with --local or if no server is named. Standard error says which of them it was.

On a server, users and gateways are given by name or by id: digits are an id, and name:7 is a name that is digits.";

fn main() -> ExitCode {
    match parsed().and_then(execute) {
        Ok(code) => code,
        Err(CommandFailure { message, code, .. }) => {
            print_error(&message);
            code
        }
    }
}

/// The command line.
///
/// # Errors
/// The settings file of a front cannot be read.
fn parsed() -> Result<Cli, CommandFailure> {
    let parsed = |command: clap::Command| {
        let matches = command.get_matches();
        Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    };
    let cli = parsed(command_line());
    match (&cli.command, cli.config.as_deref()) {
        // Once more, with what the file says as defaults.
        (Some(Command::Front(_)), Some(file)) => {
            let front = command_line().find_subcommand(FRONT).cloned().unwrap_or_default();
            let front = with_section(front, FRONT, file)?;
            Ok(parsed(command_line().mut_subcommand(FRONT, |_| front)))
        }
        _ => Ok(cli),
    }
}

/// The name of a command, and of its section in a settings file.
const FRONT: &str = "front";

/// The commands and their options, with the variables that set them.
fn command_line() -> clap::Command {
    Cli::command().mut_subcommand(FRONT, |front| with_variables(front, front::VARIABLES))
}

fn execute(cli: Cli) -> Result<ExitCode, CommandFailure> {
    let command = cli.command.unwrap_or(Command::Serve { demo: false });
    let Some(command) = run_without_settings(command)? else { return Ok(ExitCode::SUCCESS) };
    let mut config = Config::load(cli.config.as_deref()).map_err(|error| error.to_string())?;
    // Other commands have no spans.
    let (endpoint, writing) = if matches!(command, Command::Serve { .. }) {
        (config.log.otlp_endpoint.as_str(), Writing::InBackground)
    } else {
        ("", Writing::AtOnce)
    };
    let traces = Traces::start(endpoint)?;
    let log = Lines { filter: &config.log.filter, format: config.log.format, server: &config.server.name };
    let _waiting_lines = telemetry::log::start(log, writing, traces.as_ref())?;
    if !matches!(command, Command::Health) {
        restart_without_pgoptions(&config)?;
        app::prepare_as_root(&mut config)?;
    }
    let runtime = tokio::runtime::Runtime::new().map_err(|error| format!("cannot start threads: {error}"))?;
    let code = runtime.block_on(async {
        match command {
            Command::Serve { demo: true } => {
                serve_demo::add_settings(&mut config);
                app::serve(config, serve_demo::fill).await?;
            }
            Command::Serve { demo: false } => app::serve(config, async |_: &Opened, _: &Config| Ok(())).await?,
            Command::Migrate => migrate::run(&config).await?,
            Command::User(args) => {
                print_error(LOCAL);
                user::run(&config, args).await?;
            }
            Command::Gateway(args) => {
                print_error(LOCAL);
                gateway::run(&config, args).await?;
            }
            Command::Import(command) => return import::run(&config, command).await,
            Command::MasterKey(command) => master_key::run(&config, command).await?,
            Command::Backup { directory } => backup::back_up(&config, &directory).await?,
            Command::Restore { directory } => backup::restore(&config, &directory)?,
            Command::Psql { arguments } => return psql::run(&config, arguments).await,
            Command::Doctor => return Ok(doctor::examine(&config).await),
            Command::SupportBundle { file } => support_bundle::run(&config, file).await?,
            Command::Health => health::run(&config.server.listen).await?,
            // They need no settings.
            Command::Front(_)
            | Command::Openapi
            | Command::Settings
            | Command::Prices(_)
            | Command::Key(_)
            | Command::Usage(_)
            | Command::Request(_)
            | Command::Enablement(_)
            | Command::AccessToken(_)
            | Command::Session(_)
            | Command::Open(_)
            | Command::Api(_)
            | Command::Audit(_)
            | Command::Top(_)
            | Command::Login(_)
            | Command::Logout { .. }
            | Command::Whoami { .. }
            | Command::Completion { .. }
            | Command::Man { .. } => {}
        }
        Ok(ExitCode::SUCCESS)
    });
    if let Some(traces) = traces {
        traces.stop();
    }
    code
}

/// What commands say on standard error before they act on the local database.
const LOCAL: &str = "on the local database";

/// Runs a command that needs no settings of the service, or returns it.
fn run_without_settings(command: Command) -> Result<Option<Command>, CommandFailure> {
    match command {
        Command::Front(args) => front::run(*args)?,
        Command::Openapi => print_line(&app::openapi_json()),
        Command::Settings => print_line(keymeter::config::DEFAULTS.trim_end()),
        Command::Prices(args) => prices::run(args)?,
        Command::Key(args) => keys::run(args)?,
        Command::Usage(args) => usage::run(args)?,
        Command::Request(args) => requests::run(args)?,
        Command::Enablement(args) => enablement::run(args)?,
        Command::AccessToken(args) => access_tokens::run(args)?,
        Command::Session(args) => sessions::run(args)?,
        Command::Open(args) => open::run(args)?,
        Command::Api(args) => api::run(&args)?,
        Command::Audit(args) => audit::run(args)?,
        Command::Top(args) => top::run(&args)?,
        Command::Login(args) => login::login(&args)?,
        Command::Logout { options } => login::logout(&options)?,
        Command::Whoami { options } => login::whoami(&options)?,
        Command::User(args) if args.place.is_remote()? => user::run_remote(args)?,
        Command::Gateway(args) if args.place.is_remote()? => gateway::run_remote(args)?,
        Command::Completion { shell } => completion::print(shell, command_line())?,
        Command::Man { directory } => completion::write_manual(command_line(), &directory)?,
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
        | Command::SupportBundle { .. }
        | Command::Health) => return Ok(Some(command)),
    }
    Ok(None)
}

/// The client of PostgreSQL adds `PGOPTIONS` to every session and knows no way to leave it out. Those are meant for
/// some other server than the private one, so this process begins again without them.
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
async fn with_app(
    config: &Config,
    command: impl AsyncFnOnce(&App) -> Result<(), CommandFailure>,
) -> Result<(), CommandFailure> {
    app::with_database(config, async |database| {
        let opened = app::open(config, database).await?;
        let db = opened.db.clone();
        let clock = service::clock::start(&db).await.map_err(|error| error.to_string())?;
        let app = App::assemble(opened, config, clock, Rng::system(), HashCost::STRONG)?;
        let outcome = command(&app).await;
        db.close().await;
        outcome
    })
    .await
}
