//! `keymeter user …`

use std::io::Read;

use clap::{Args, Subcommand};
use zeroize::Zeroizing;

use super::failure::{CommandFailure, exit};
use super::remote::named::Named;
use super::remote::target::{NEEDS_SERVER, PlaceOptions};
use super::remote::users::{self, RoleName};
use super::with_app;
use crate::output::{print_error, print_line};
use keymeter::app::App;
use keymeter::config::Config;
use keymeter::domain::audit::Actor;
use keymeter::domain::password::{NewPassword, random_password};
use keymeter::domain::user::{Role, UserPatch};
use keymeter::domain::username::Username;
use keymeter::service::rng::Rng;
use keymeter::service::users::NewUser;

/// `keymeter user`
#[derive(Debug, Args)]
pub struct UserArgs {
    #[command(flatten)]
    pub place: PlaceOptions,
    #[command(subcommand)]
    command: UserCommand,
}

#[derive(Debug, Subcommand)]
enum UserCommand {
    /// Create a user. Prints a generated password and nothing else, unless one is read from standard input.
    #[command(after_help = "Examples:
  keymeter user create ana --token-api
  keymeter user create ops --role admin --password-stdin < password.txt
  keymeter user create ana --server https://keys.example.org
  keymeter user create root2 --role root --local")]
    Create {
        /// The user's name.
        username: String,
        /// The user's role.
        #[arg(long, value_enum, default_value_t = RoleName::User)]
        role: RoleName,
        /// Enable the user for the token API at once.
        #[arg(long)]
        token_api: bool,
        /// Read the password from standard input.
        #[arg(long)]
        password_stdin: bool,
    },
    /// Set a user's password and end the user's sessions. Prints a generated password and nothing else, unless one is
    /// read from standard input.
    Password {
        /// The user's name, or on a server the id.
        user: Named,
        /// Read the password from standard input.
        #[arg(long)]
        password_stdin: bool,
    },
    /// Forget wrong passwords at an account, so that its owner can sign in at once, from everywhere. Only on the local
    /// database.
    Unlock {
        /// The user's name.
        user: Named,
    },
    #[command(flatten)]
    OnServer(users::UserCommand),
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

/// Runs the command on the server that is named.
pub fn run_remote(args: UserArgs) -> Result<(), CommandFailure> {
    // Only the operator of the machine forgets wrong passwords, because administrators may be locked out too.
    if let UserCommand::Unlock { user } = &args.command {
        let message = format!("a server cannot do this; run on its machine: keymeter user unlock {user} --local");
        return Err(CommandFailure::new(exit::USAGE, message));
    }
    let json = args.place.remote.json;
    let remote = args.place.connect()?;
    match args.command {
        UserCommand::Create { username, role, token_api, password_stdin } => {
            let password = Password::for_server(password_stdin, json)?;
            password.print_after(remote.create_user(&username, role, token_api, password.as_str()))
        }
        UserCommand::Password { user, password_stdin } => {
            let password = Password::for_server(password_stdin, json)?;
            password.print_after(remote.set_password(&user, password.as_str()))
        }
        UserCommand::Unlock { .. } => Ok(()),
        UserCommand::OnServer(command) => remote.run_user(command),
    }
}

/// Runs the command on the local database.
pub async fn run(config: &Config, args: UserArgs) -> Result<(), CommandFailure> {
    match args.command {
        UserCommand::Create { username, role, token_api, password_stdin } => {
            let (password, new_password) = Password::new(password_stdin)?;
            with_app(config, async |app| {
                create(app, &username, role, token_api, new_password).await?;
                password.print();
                Ok(())
            })
            .await
        }
        UserCommand::Password { user, password_stdin } => {
            let (password, new_password) = Password::new(password_stdin)?;
            with_app(config, async |app| {
                let changed = app.state.users.reset_password(&user.text, &new_password).await;
                changed.map_err(CommandFailure::refused)?;
                print_error(&format!("changed the password of {user} and ended its sessions"));
                password.print();
                Ok(())
            })
            .await
        }
        UserCommand::Unlock { user } => unlock(config, &user.text).await,
        UserCommand::OnServer(_) => Err(CommandFailure::new(exit::USAGE, NEEDS_SERVER)),
    }
}

async fn unlock(config: &Config, username: &str) -> Result<(), CommandFailure> {
    with_app(config, async |app| {
        app.state.users.unlock(username).await.map_err(CommandFailure::refused)?;
        print_error(&format!("unlocked {username}: wrong passwords until now no longer count"));
        Ok(())
    })
    .await
}

async fn create(
    app: &App,
    username: &str,
    role: RoleName,
    token_api_enabled: bool,
    password: NewPassword,
) -> Result<(), CommandFailure> {
    let username = Username::parse(username).map_err(|error| error.to_string())?;
    let fields =
        UserPatch { role: Some(role.into()), token_api_enabled: Some(token_api_enabled), ..UserPatch::default() };
    let new = NewUser { username, password, quota: None, fields };
    let user = app.state.users.create(Actor::Operator, new).await.map_err(CommandFailure::refused)?;
    print_error(&format!("created the user {} with the id {}", user.username.as_str(), user.id));
    Ok(())
}

enum Password {
    FromStdin(Zeroizing<String>),
    /// Must be printed, because the operator does not know it.
    Generated(Zeroizing<String>),
}

impl Password {
    /// Reads or generates a password, and checks it.
    fn new(from_stdin: bool) -> Result<(Self, NewPassword), String> {
        let password = if from_stdin { Self::read()? } else { Self::generate() };
        let new_password = NewPassword::parse(password.as_str()).map_err(|error| error.to_string())?;
        Ok((password, new_password))
    }

    /// The same for a server, which checks it. One document of JSON has no place for a generated password.
    fn for_server(from_stdin: bool, json: bool) -> Result<Self, CommandFailure> {
        if json && !from_stdin {
            return Err(CommandFailure::new(exit::USAGE, "with --json, give the password: --password-stdin"));
        }
        Ok(if from_stdin { Self::read()? } else { Self::generate() })
    }

    /// Prints a generated password, and nothing else on standard output.
    fn print(&self) {
        if let Self::Generated(password) = self {
            print_line(password);
        }
    }

    /// Prints a generated password after it was sent to a server, also if the answer was lost: the server may have it.
    fn print_after(&self, outcome: Result<(), CommandFailure>) -> Result<(), CommandFailure> {
        match (&outcome, self) {
            (Ok(()), _) => self.print(),
            (Err(failure), Self::Generated(password)) if failure.may_be_done => {
                print_error("the answer was lost; standard output has the password, if the change was made");
                print_line(password);
            }
            (Err(_), _) => {}
        }
        outcome
    }

    fn read() -> Result<Self, String> {
        let mut text = Zeroizing::new(String::new());
        std::io::stdin().read_to_string(&mut text).map_err(|error| format!("cannot read the password: {error}"))?;
        Ok(Self::FromStdin(Zeroizing::new(text.trim_end_matches(['\r', '\n']).to_owned())))
    }

    fn generate() -> Self {
        Self::Generated(Rng::system().generate(|rng| random_password(rng)))
    }

    fn as_str(&self) -> &str {
        match self {
            Self::FromStdin(password) | Self::Generated(password) => password,
        }
    }
}
