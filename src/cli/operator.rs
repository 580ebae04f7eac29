//! What an operator does beside the running service. With the embedded database, which one process
//! has at a time, the service must be stopped for it.

use std::io::Read;
use std::sync::Arc;

use clap::{Subcommand, ValueEnum};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use zeroize::Zeroizing;

use crate::app::{self, App, Database};
use crate::config::Config;
use crate::domain::audit::Actor;
use crate::domain::gateway::GatewayCredential;
use crate::domain::id::{GatewayCredentialId, GatewayId};
use crate::domain::password::{NewPassword, random_password};
use crate::domain::text;
use crate::domain::time::SystemClock;
use crate::domain::user::Role;
use crate::domain::username::Username;
use crate::service::rng::Rng;
use crate::service::users::NewAccount;
use crate::storage;

/// `keymeter user …`
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Make an account; prints its password unless one is given on standard input.
    Create {
        /// Its username.
        username: String,
        /// What it may do.
        #[arg(long, value_enum, default_value_t = RoleName::User)]
        role: RoleName,
        /// Enable it for the token API at once.
        #[arg(long)]
        token_api: bool,
        /// Read the password from standard input.
        #[arg(long)]
        password_stdin: bool,
    },
    /// Give an account a new password; prints it unless one is given. Ends its sessions.
    Password {
        /// Its username.
        username: String,
        /// Read the password from standard input.
        #[arg(long)]
        password_stdin: bool,
    },
}

/// What an account may do.
#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum RoleName {
    /// Its own tokens.
    User,
    /// Other people's accounts too.
    Admin,
    /// Administrators too.
    Root,
}

impl From<RoleName> for Role {
    fn from(name: RoleName) -> Self {
        match name {
            RoleName::User => Self::User,
            RoleName::Admin => Self::Admin,
            RoleName::Root => Self::Root,
        }
    }
}

/// `keymeter gateway …`
#[derive(Debug, Subcommand)]
pub enum GatewayCommand {
    /// Make a gateway and print its first credential, this once.
    Create {
        /// Which machine it is for.
        name: String,
    },
    /// List gateways with their credentials, without the secrets.
    List,
    /// End a gateway with all its credentials.
    Revoke {
        /// Its number.
        id: i64,
    },
    /// Replace a gateway's credentials without stopping it.
    #[command(subcommand)]
    Credential(CredentialCommand),
}

/// `keymeter gateway credential …`
#[derive(Debug, Subcommand)]
pub enum CredentialCommand {
    /// Make one more credential of a gateway and print it, this once.
    Create {
        /// The gateway's number.
        gateway: i64,
    },
    /// End a credential; the gateway's others go on.
    Revoke {
        /// The gateway's number.
        gateway: i64,
        /// The credential's number.
        id: i64,
    },
}

/// `keymeter migrate`
pub async fn migrate(config: &Config) -> Result<(), String> {
    let database = Database::start(config).map_err(|error| error.to_string())?;
    let migrated = storage::migrate(&database.options).await.map_err(|error| error.to_string());
    database.stop().await;
    migrated.map(|()| say("the database is up to date"))
}

/// `keymeter user …`
pub async fn user(config: &Config, command: UserCommand) -> Result<(), String> {
    let (username, password_stdin) = match &command {
        UserCommand::Create { username, password_stdin, .. } | UserCommand::Password { username, password_stdin } => {
            (username.clone(), *password_stdin)
        }
    };
    let (password, made_up) = password(password_stdin)?;
    let password = NewPassword::parse(&password).map_err(|error| error.to_string())?;
    with_app(config, async |app| {
        match command {
            UserCommand::Create { role, token_api, .. } => {
                let username = Username::parse(&username).map_err(|error| error.to_string())?;
                let new = NewAccount {
                    display_name: username.as_str().to_owned(),
                    username,
                    password,
                    email: String::new(),
                    role: role.into(),
                    group: None,
                    quota: None,
                    token_api_enabled: token_api,
                    max_tokens: None,
                };
                let user = app.state.users.create(Actor::Operator, new).await.map_err(|error| error.to_string())?;
                say(&format!("made the account {} with the id {}", user.username.as_str(), user.id));
            }
            UserCommand::Password { .. } => {
                let changed = app.state.users.reset_password(&username, &password).await;
                changed.map_err(|error| error.to_string())?;
                say(&format!("gave {username} a new password and ended its sessions"));
            }
        }
        if let Some(password) = &made_up {
            say(&format!("password: {}", **password));
        }
        Ok(())
    })
    .await
}

/// `keymeter gateway …`
pub async fn gateway(config: &Config, command: GatewayCommand) -> Result<(), String> {
    with_app(config, async |app| {
        let gateways = &app.state.gateways;
        match command {
            GatewayCommand::Create { name } => {
                let name = text::label("name", &name).and_then(|name| text::required("name", name));
                let name = name.map_err(|error| error.to_string())?;
                let (gateway, _, secret) =
                    gateways.create(Actor::Operator, &name).await.map_err(|error| error.to_string())?;
                say(&format!(
                    "made the gateway {}; its credential, shown only this once: {}",
                    gateway.id,
                    secret.expose()
                ));
            }
            GatewayCommand::List => {
                for (gateway, credentials) in gateways.list().await.map_err(|error| error.to_string())? {
                    say(&format!("{}\t{}\tmade at {}", gateway.id, gateway.name, gateway.created_time.get()));
                    for credential in credentials {
                        say(&described(&credential));
                    }
                }
            }
            GatewayCommand::Revoke { id } => {
                let revoked = gateways.revoke(Actor::Operator, GatewayId::new(id)).await;
                revoked.map_err(|error| error.to_string())?;
                say(&format!("ended the gateway {id}"));
            }
            GatewayCommand::Credential(CredentialCommand::Create { gateway }) => {
                let created = gateways.create_credential(Actor::Operator, GatewayId::new(gateway)).await;
                let (credential, secret) = created.map_err(|error| error.to_string())?;
                say(&format!(
                    "made the credential {} of the gateway {gateway}, shown only this once: {}",
                    credential.id,
                    secret.expose()
                ));
            }
            GatewayCommand::Credential(CredentialCommand::Revoke { gateway, id }) => {
                let (of, credential) = (GatewayId::new(gateway), GatewayCredentialId::new(id));
                let revoked = gateways.revoke_credential(Actor::Operator, of, credential).await;
                revoked.map_err(|error| error.to_string())?;
                say(&format!("ended the credential {id} of the gateway {gateway}"));
            }
        }
        Ok(())
    })
    .await
}

/// A credential below its gateway's line.
fn described(credential: &GatewayCredential) -> String {
    let used =
        credential.last_used_time.map_or_else(|| "never used".to_owned(), |at| format!("last used at {}", at.get()));
    let (id, hint, made) = (credential.id, &credential.hint, credential.created_time.get());
    format!("\tcredential {id}\t…{hint}\tmade at {made}\t{used}")
}

/// `keymeter health`: one request to the address the service listens on.
pub async fn health(listen: &str) -> Result<(), String> {
    let address = listen.replace("0.0.0.0:", "127.0.0.1:").replace("[::]:", "[::1]:");
    let ask = async {
        let mut stream = tokio::net::TcpStream::connect(&address).await?;
        stream.write_all(b"GET /healthz HTTP/1.0\r\n\r\n").await?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await?;
        Ok::<_, std::io::Error>(answer)
    };
    let answered = tokio::time::timeout(std::time::Duration::from_secs(5), ask).await;
    match answered {
        Ok(Ok(answer)) if answer.starts_with("HTTP/1.0 200") || answer.starts_with("HTTP/1.1 200") => Ok(()),
        Ok(Ok(_)) => Err(format!("the service at {address} does not answer 200 to /healthz")),
        Ok(Err(error)) => Err(format!("no service answers at {address}: {error}")),
        Err(_) => Err(format!("the service at {address} does not answer in time")),
    }
}

async fn with_app(config: &Config, work: impl AsyncFnOnce(&App) -> Result<(), String>) -> Result<(), String> {
    let database = Database::start(config).map_err(|error| error.to_string())?;
    let worked = async {
        let opened = app::open(config, &database).await.map_err(|error| error.to_string())?;
        let db = opened.db.clone();
        let app =
            App::assemble(opened, config, Arc::new(SystemClock), Rng::system()).map_err(|error| error.to_string())?;
        let worked = work(&app).await;
        db.close().await;
        worked
    };
    let worked = worked.await;
    database.stop().await;
    worked
}

/// The password to use, and the same again if it was made up here and has to be shown.
fn password(from_stdin: bool) -> Result<(Zeroizing<String>, Option<Zeroizing<String>>), String> {
    if from_stdin {
        let mut text = Zeroizing::new(String::new());
        std::io::stdin().read_to_string(&mut text).map_err(|error| format!("cannot read the password: {error}"))?;
        return Ok((Zeroizing::new(text.trim_end_matches(['\r', '\n']).to_owned()), None));
    }
    let made_up = Rng::system().generate(|rng| random_password(rng));
    Ok((made_up.clone(), Some(made_up)))
}

#[expect(clippy::print_stdout, reason = "this is what the operator reads")]
fn say(line: &str) {
    println!("{line}");
}
