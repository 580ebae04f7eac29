//! Which server a command acts on, and with which access token.

use std::{env, fmt};

use clap::Args;
use secrecy::SecretString;

use super::address::Address;
use super::login_file::{self, DEFAULT_PROFILE, Login, Logins, profile_arg};
use crate::failure::{CommandFailure, exit};

const URL: &str = "KEYMETER_URL";
const ACCESS_TOKEN: &str = "KEYMETER_ACCESS_TOKEN";
const PROFILE: &str = "KEYMETER_PROFILE";

/// The answer to what the local database cannot do.
pub const NEEDS_SERVER: &str =
    "this needs a server: give --server https://keys.example.org, set KEYMETER_URL, or run `keymeter login`";

/// How the server is reached.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Server options")]
pub struct ServerOptions {
    /// The server's address, such as `https://keys.example.org`. Otherwise that of `KEYMETER_URL`, else that of
    /// `keymeter login`.
    #[arg(long, global = true, value_name = "URL")]
    pub server: Option<String>,
    /// Which of the stored logins to use: the server and the access token. Otherwise that of `KEYMETER_PROFILE`, else
    /// the one without a name.
    #[arg(long, global = true, value_name = "NAME", value_parser = profile_arg)]
    pub profile: Option<String>,
    /// Allow http:// to another machine. Anyone who can read the connection learns the access token.
    #[arg(long, global = true)]
    pub insecure_http: bool,
    /// PEM file with the authorities that may sign the server's certificate, instead of the public ones.
    #[arg(long, global = true, value_name = "FILE")]
    pub ca_file: Option<std::path::PathBuf>,
}

/// Options of every command that acts on a server.
#[derive(Debug, Clone, Args)]
pub struct RemoteOptions {
    #[command(flatten)]
    pub server: ServerOptions,
    /// Print the server's data as one JSON document, for scripts.
    #[arg(long, global = true, help_heading = "Output options")]
    pub json: bool,
}

/// Options of commands that act on a server or on the local database.
#[derive(Debug, Clone, Args)]
pub struct PlaceOptions {
    #[command(flatten)]
    pub remote: RemoteOptions,
    /// Act on the database of the settings on this machine, also if a server is named.
    #[arg(long, global = true, conflicts_with_all = ["server", "profile", "json"], help_heading = "Server options")]
    pub local: bool,
}

impl PlaceOptions {
    /// Whether to act on a server: if one is named and `--local` is not given.
    ///
    /// # Errors
    /// The login cannot be read; or no server is named for an option that only a server knows.
    pub fn is_remote(&self) -> Result<bool, CommandFailure> {
        let is_remote = !self.local && is_named(&self.remote.server)?;
        if self.remote.json && !is_remote {
            return Err(CommandFailure::new(exit::USAGE, NEEDS_SERVER));
        }
        Ok(is_remote)
    }
}

/// Where an address comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    Option,
    Environment,
    Login,
}

/// A server and the access token for it.
pub struct ServerTarget {
    pub address: Address,
    pub access_token: SecretString,
    source: Source,
    /// Of the login that has the token.
    profile: String,
    username: Option<String>,
}

impl fmt::Display for ServerTarget {
    /// Says where a command acts: `https://keys.example.org as ana (keymeter login)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.address)?;
        if let Some(username) = &self.username {
            write!(f, " as {username}")?;
        }
        match self.source {
            Source::Option => f.write_str(" (--server)"),
            Source::Environment => write!(f, " ({URL})"),
            Source::Login if self.profile == DEFAULT_PROFILE => f.write_str(" (keymeter login)"),
            Source::Login => write!(f, " (profile {})", self.profile),
        }
    }
}

/// Returns true if `--server`, `--profile`, a variable or a login names a server.
fn is_named(options: &ServerOptions) -> Result<bool, CommandFailure> {
    let is_named = options.server.is_some() || options.profile.is_some();
    let has_variable = || [URL, PROFILE].into_iter().any(|name| variable(name).is_some());
    Ok(is_named || has_variable() || login_file::read()?.contains_key(DEFAULT_PROFILE))
}

/// The server of `--server` or `KEYMETER_URL`.
fn named(options: &ServerOptions) -> Option<(String, Source)> {
    let from_option = options.server.clone().map(|address| (address, Source::Option));
    from_option.or_else(|| Some((variable(URL)?, Source::Environment)))
}

/// The profile of `--profile` or `KEYMETER_PROFILE`, else the one without a name.
pub fn profile(options: &ServerOptions) -> Result<String, CommandFailure> {
    if let Some(profile) = &options.profile {
        return Ok(profile.clone());
    }
    let Some(profile) = variable(PROFILE) else { return Ok(DEFAULT_PROFILE.to_owned()) };
    profile_arg(&profile).map_err(|error| CommandFailure::new(exit::USAGE, format!("{PROFILE}: {error}")))
}

/// The server of `--server` or `KEYMETER_URL`, for `keymeter login`.
pub fn address(options: &ServerOptions) -> Result<Address, CommandFailure> {
    let Some((text, _)) = named(options) else {
        return Err(CommandFailure::new(
            exit::USAGE,
            "which server? give its address: --server https://keys.example.org",
        ));
    };
    parse(&text, options.insecure_http)
}

/// Finds the server and the access token. They belong together: the token of a login goes to the server of that login
/// only, and the token of the environment to no server that only a login names.
pub fn find(options: &ServerOptions) -> Result<ServerTarget, CommandFailure> {
    let profile = profile(options)?;
    let mut logins = login_file::read()?;
    let login = logins.remove(&profile);
    // A profile that is given as an option has both, whatever the environment says.
    let is_given = options.profile.is_some();
    let from_environment = if is_given { None } else { variable(ACCESS_TOKEN) };
    let named = if is_given && options.server.is_none() { None } else { named(options) };
    let Some((text, source)) = named else {
        let Some(login) = login else {
            let server = "https://keys.example.org";
            return Err(if profile == DEFAULT_PROFILE {
                not_signed_in("no server is named", server)
            } else {
                no_login(&profile, &logins)
            });
        };
        if from_environment.is_some() {
            let message = format!("{ACCESS_TOKEN} is set, but for which server? Set {URL} too, or give --server");
            return Err(CommandFailure::new(exit::USAGE, message));
        }
        let address = parse(&login.server, options.insecure_http || login.insecure_http)?;
        return Ok(of_login(address, login, profile, Source::Login));
    };
    let allowed = |login: &Login| login.insecure_http && login.server == text.trim_end_matches('/');
    let address = parse(&text, options.insecure_http || login.as_ref().is_some_and(allowed))?;
    if let Some(access_token) = from_environment {
        let access_token = access_token.into();
        return Ok(ServerTarget { address, access_token, source, profile, username: None });
    }
    match login {
        Some(login) if login.server == address.as_str() => Ok(of_login(address, login, profile, source)),
        _ => Err(not_signed_in(&format!("there is no access token for {address}"), address.as_str())),
    }
}

fn of_login(address: Address, login: Login, profile: String, source: Source) -> ServerTarget {
    ServerTarget { address, access_token: login.access_token, source, profile, username: Some(login.username) }
}

/// The failure of a command whose profile has no login. `others` are the stored logins.
fn no_login(profile: &str, others: &Logins) -> CommandFailure {
    let known = others.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
    let known = if known.is_empty() { String::new() } else { format!("; there are: {known}") };
    let sign_in = format!("keymeter login --profile {profile} --server https://keys.example.org");
    let message = format!("there is no login named \"{profile}\"{known}; sign in with `{sign_in}`");
    CommandFailure::new(exit::NOT_ALLOWED, message)
}

fn not_signed_in(what: &str, server: &str) -> CommandFailure {
    let message = format!("{what}; sign in with `keymeter login --server {server}`, or set {URL} and {ACCESS_TOKEN}");
    CommandFailure::new(exit::NOT_ALLOWED, message)
}

fn parse(text: &str, insecure: bool) -> Result<Address, CommandFailure> {
    Address::parse(text, insecure).map_err(|error| CommandFailure::new(exit::USAGE, error.to_string()))
}

/// A variable of the environment that is set and not empty.
fn variable(name: &str) -> Option<String> {
    env::var_os(name)?.into_string().ok().filter(|value| !value.is_empty())
}
