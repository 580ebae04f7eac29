//! `keymeter user …`

use std::io::Read;

use clap::{Subcommand, ValueEnum};
use zeroize::Zeroizing;

use super::{Failure, with_app};
use crate::app::App;
use crate::config::Config;
use crate::domain::audit::Actor;
use crate::domain::password::{NewPassword, random_password};
use crate::domain::period_limits::PeriodLimits;
use crate::domain::user::Role;
use crate::domain::username::Username;
use crate::output::print_line;
use crate::service::rng::Rng;
use crate::service::users::NewAccount;

#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// Create a user. Prints a generated password, unless one is read from standard input.
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
    /// Set a user's password and end the user's sessions. Prints a generated password, unless one is read from standard
    /// input.
    Password {
        /// The user's name.
        username: String,
        /// Read the password from standard input.
        #[arg(long)]
        password_stdin: bool,
    },
    /// Forget wrong passwords at an account, so that its owner can sign in at once, from everywhere.
    Unlock {
        /// The user's name.
        username: String,
    },
}

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum RoleName {
    /// Manages its own tokens.
    User,
    /// Manages other users too.
    Admin,
    /// Manages administrators too.
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

pub async fn run(config: &Config, command: UserCommand) -> Result<(), Failure> {
    match command {
        UserCommand::Create { username, role, token_api, password_stdin } => {
            let (password, new_password) = Password::new(password_stdin)?;
            with_app(config, async |app| {
                create(app, &username, role, token_api, new_password).await?;
                password.print();
                Ok(())
            })
            .await
        }
        UserCommand::Password { username, password_stdin } => {
            let (password, new_password) = Password::new(password_stdin)?;
            with_app(config, async |app| {
                let changed = app.state.users.reset_password(&username, &new_password).await;
                changed.map_err(|error| error.to_string())?;
                print_line(&format!("changed the password of {username} and ended its sessions"));
                password.print();
                Ok(())
            })
            .await
        }
        UserCommand::Unlock { username } => unlock(config, &username).await,
    }
}

async fn unlock(config: &Config, username: &str) -> Result<(), Failure> {
    with_app(config, async |app| {
        app.state.users.unlock(username).await.map_err(|error| error.to_string())?;
        print_line(&format!("unlocked {username}: wrong passwords until now no longer count"));
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
) -> Result<(), String> {
    let username = Username::parse(username).map_err(|error| error.to_string())?;
    let new = NewAccount {
        display_name: username.as_str().to_owned(),
        username,
        password,
        email: String::new(),
        role: role.into(),
        group: None,
        quota: None,
        token_api_enabled,
        max_tokens: None,
        period_limits: PeriodLimits::default(),
    };
    let user = app.state.users.create(Actor::Operator, new).await.map_err(|error| error.to_string())?;
    print_line(&format!("created the user {} with the id {}", user.username.as_str(), user.id));
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

    /// Prints a generated password.
    fn print(&self) {
        if let Self::Generated(password) = self {
            print_line(&format!("password: {}", **password));
        }
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
