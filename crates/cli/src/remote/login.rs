//! `keymeter login`, `logout` and `whoami`.

use std::fs;

use clap::Args;
use secrecy::{ExposeSecret, SecretString};
use serde::Deserialize;
use serde_json::json;

use super::client::{Client, ClientCredential};
use super::login_file::{self, DEFAULT_PROFILE, Login};
use super::target::{self, RemoteOptions, ServerOptions};
use super::terminal::{ask, ask_secret, dollars, print_facts, secret_from_stdin, time};
use super::values::Expiry;
use super::{Remote, address::Address, now};
use crate::failure::{CommandFailure, exit};
use crate::output::print_error;

/// `keymeter login`
#[derive(Debug, Args)]
pub struct LoginArgs {
    #[command(flatten)]
    server: ServerOptions,
    /// Your username. Without it you are asked.
    #[arg(long, value_name = "NAME")]
    username: Option<String>,
    /// Read the password from standard input instead of asking on the terminal.
    #[arg(long, requires = "username")]
    password_stdin: bool,
    /// When the stored access token expires: never, a time from now (12h, 90d), or a day (2027-01-31).
    #[arg(long, value_name = "WHEN", value_parser = Expiry::parse, default_value = "90d")]
    expires: Expiry,
    /// Store an access token that you already have, read from standard input. No password is needed.
    #[arg(long, conflicts_with_all = ["username", "password_stdin", "expires"])]
    access_token_stdin: bool,
}

#[derive(Deserialize)]
struct User {
    id: i64,
    username: String,
    role: i64,
    group: String,
    quota: i64,
    used_quota: i64,
    token_api_enabled: bool,
}

#[derive(Deserialize)]
struct AccessToken {
    id: i64,
    expires_at: i64,
    token: String,
}

/// `keymeter login`
pub fn login(args: &LoginArgs) -> Result<(), CommandFailure> {
    let address = target::address(&args.server)?;
    let profile = target::profile(&args.server)?;
    let client = Client::new(address.clone(), ClientCredential::None, &args.server)?;
    let login = if args.access_token_stdin {
        of_access_token(&client, &address, args.server.insecure_http)?
    } else {
        with_password(&client, &address, args)?
    };
    let until = login.expires_at.filter(|&at| at > 0).map(|at| format!(" until {}", time(at))).unwrap_or_default();
    let signed_in = format!("signed in to {address} as {}{until}", login.username);
    let access_token = login.access_token.clone();
    let mut logins = login_file::find_former();
    let before = logins.insert(profile.clone(), login);
    let path = match login_file::write(&logins) {
        Ok(path) => path,
        Err(error) => {
            // Nobody would know it.
            if let Some(login) = logins.get(&profile) {
                let _ = revoke(&client, login);
            }
            return Err(error);
        }
    };
    if let Some(before) = before
        && before.access_token.expose_secret() != access_token.expose_secret()
    {
        forget(&before, &args.server);
    }
    let named = if profile == DEFAULT_PROFILE { String::new() } else { format!(" as the profile {profile}") };
    print_error(&format!("{signed_in}; stored{named} in {}", path.display()));
    Ok(())
}

fn of_access_token(client: &Client, address: &Address, insecure_http: bool) -> Result<Login, CommandFailure> {
    let access_token = secret_from_stdin("access token")?;
    let user: User =
        client.with(ClientCredential::AccessToken(access_token.clone())).get("/api/user/self", &[])?.read()?;
    Ok(Login {
        server: address.to_string(),
        username: user.username,
        access_token,
        access_token_id: None,
        expires_at: None,
        insecure_http,
    })
}

/// Signs in, makes an access token, and ends the session.
fn with_password(client: &Client, address: &Address, args: &LoginArgs) -> Result<Login, CommandFailure> {
    let otherwise = "--username NAME --password-stdin, or --access-token-stdin";
    let username = match &args.username {
        Some(username) => username.clone(),
        None => ask(&format!("Username on {address}"), otherwise)?,
    };
    let password = if args.password_stdin { secret_from_stdin("password") } else { ask_secret("Password", otherwise) }?;
    let (data, cookie) = client.sign_in(&username, &password)?;
    let user: User = data.read()?;
    let session = client.with(ClientCredential::Session { cookie, user_id: user.id });
    let made = make_access_token(&session, args.expires);
    // The session is needed no more, also where no token could be made.
    let ended = session.post("/api/user/logout", &json!({}));
    let made = made?;
    if let Err(error) = ended {
        print_error(&format!("the session that made the access token could not be ended: {}", error.message));
    }
    Ok(Login {
        server: address.to_string(),
        username: user.username,
        access_token: SecretString::from(made.token),
        access_token_id: Some(made.id),
        expires_at: Some(made.expires_at),
        insecure_http: args.server.insecure_http,
    })
}

fn make_access_token(session: &Client, expires: Expiry) -> Result<AccessToken, CommandFailure> {
    // The system's own file, so that no environment can give it another name.
    let machine = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let machine = if machine.trim().is_empty() { "this machine" } else { machine.trim() };
    let name: String = format!("keymeter login on {machine}").chars().take(50).collect();
    let body = json!({ "name": name, "expires_at": expires.timestamp(now()) });
    session.post("/api/user/access_tokens", &body)?.read()
}

/// `keymeter logout`
pub fn logout(options: &ServerOptions) -> Result<(), CommandFailure> {
    let profile = target::profile(options)?;
    let Some(login) = login_file::read()?.remove(&profile) else {
        let named = if profile == DEFAULT_PROFILE { String::new() } else { format!(" named \"{profile}\"") };
        print_error(&format!("there is no login{named}; nothing was done"));
        return Ok(());
    };
    if let Some(other) = options.server.as_ref().filter(|server| server.trim_end_matches('/') != login.server) {
        let message = format!("the login is one of {}, not of {other}; nothing was done", login.server);
        return Err(CommandFailure::new(exit::USAGE, message));
    }
    if let Err(error) = revoke_login(&login, options) {
        let message = format!("the access token could not be revoked, and the login stays: {}", error.message);
        return Err(CommandFailure { message, ..error });
    }
    login_file::remove(&profile)?;
    match login.access_token_id {
        Some(_) => print_error(&format!("signed out of {}; its access token is revoked", login.server)),
        None => print_error(&format!(
            "signed out of {}; the access token was not made by `keymeter login`, and stays valid",
            login.server
        )),
    }
    Ok(())
}

/// Revokes the token of a login that another one replaces.
fn forget(login: &Login, options: &ServerOptions) {
    if let Err(error) = revoke_login(login, options) {
        let (server, why) = (&login.server, error.message);
        print_error(&format!("the access token of the login before, on {server}, could not be revoked: {why}"));
    }
}

fn revoke_login(login: &Login, options: &ServerOptions) -> Result<(), CommandFailure> {
    let address = Address::parse(&login.server, login.insecure_http);
    let address = address.map_err(|error| CommandFailure::new(exit::USAGE, error.to_string()))?;
    revoke(&Client::new(address, ClientCredential::None, options)?, login)
}

/// Revokes the access token of a login, if `keymeter login` made it. One that is no longer valid is revoked already.
fn revoke(client: &Client, login: &Login) -> Result<(), CommandFailure> {
    let Some(id) = login.access_token_id else { return Ok(()) };
    let client = client.with(ClientCredential::AccessToken(login.access_token.clone()));
    match client.delete(&format!("/api/user/access_tokens/{id}")) {
        Err(failure) if failure.message.contains("(invalid_credential)") => Ok(()),
        outcome => outcome.map(drop),
    }
}

/// `keymeter whoami`
pub fn whoami(options: &RemoteOptions) -> Result<(), CommandFailure> {
    let remote = Remote::connect(options)?;
    let data = remote.client.get("/api/user/self", &[])?;
    remote.show(&data, |user: User| {
        let role = match user.role {
            100 => "root",
            10 => "administrator",
            _ => "user",
        };
        let token_api = if user.token_api_enabled { "enabled" } else { "not enabled" };
        print_facts(&[
            ("id", user.id.to_string()),
            ("username", user.username),
            ("role", role.to_owned()),
            ("group", user.group),
            ("wallet", dollars(user.quota)),
            ("used", dollars(user.used_quota)),
            ("token API", token_api.to_owned()),
        ]);
    })
}
