//! `keymeter access-token …`: your access tokens, with which programs act as you.

use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::json;

use super::list_options::ListOptions;
use super::named::{ACCESS_TOKENS, Named};
use super::target::RemoteOptions;
use super::terminal::{Table, confirm, time};
use super::values::Expiry;
use super::{Remote, now};
use crate::failure::CommandFailure;
use crate::output::{print_error, print_line};

/// `keymeter access-token`
#[derive(Debug, Args)]
pub struct AccessTokenArgs {
    #[command(flatten)]
    options: RemoteOptions,
    #[command(subcommand)]
    command: AccessTokenCommand,
}

#[derive(Debug, Subcommand)]
enum AccessTokenCommand {
    /// List your access tokens, newest first, without their secrets.
    List(ListOptions),
    /// Create an access token. Standard output is the token and nothing else; it is shown only this once.
    #[command(after_help = "Example:
  keymeter access-token create backup --expires 30d > token.txt")]
    Create {
        /// A name that tells you what it is for.
        name: String,
        /// When it expires: never, a time from now (12h, 90d), or a day (2027-01-31). Without it, with the access token
        /// that this command uses.
        #[arg(long, value_name = "WHEN", value_parser = Expiry::parse)]
        expires: Option<Expiry>,
    },
    /// Revoke an access token. It stops working at once.
    #[command(after_help = "Examples:
  keymeter access-token revoke backup
  keymeter access-token revoke 7 --yes")]
    Revoke {
        /// The access token's name or id.
        token: Named,
        /// Do not ask. Needed where there is no terminal.
        #[arg(long, short)]
        yes: bool,
    },
}

#[derive(Deserialize)]
struct AccessToken {
    id: i64,
    name: String,
    created_time: i64,
    expires_at: i64,
    last_used_time: Option<i64>,
    /// The secret, in the answer that creates it.
    #[serde(default)]
    token: String,
}

pub fn run(args: AccessTokenArgs) -> Result<(), CommandFailure> {
    let remote = Remote::connect(&args.options)?;
    match args.command {
        AccessTokenCommand::List(options) => remote.list_access_tokens(&options),
        AccessTokenCommand::Create { name, expires } => {
            let body = json!({ "name": name, "expires_at": expires.map(|expiry| expiry.timestamp(now())) });
            let created = remote.client.post("/api/user/access_tokens", &body);
            let data = created.map_err(|failure| failure.naming(&[("expires_at", "--expires"), ("name", "NAME")]))?;
            remote.show(&data, |made: AccessToken| {
                print_error(&format!("created the access token {}; it {}", made.id, made.expiry()));
                print_line(&made.token);
            })
        }
        AccessTokenCommand::Revoke { token, yes } => {
            confirm(&format!("revoke the access token {token}; it stops working at once"), yes)?;
            let found = remote.find(&ACCESS_TOKENS, &token)?;
            let data = remote.client.delete(&format!("/api/user/access_tokens/{}", found.id))?;
            remote.done(&data, &format!("revoked the access token {found}"));
            Ok(())
        }
    }
}

impl AccessToken {
    fn expiry(&self) -> String {
        if self.expires_at < 0 { "never expires".to_owned() } else { format!("expires {}", time(self.expires_at)) }
    }
}

impl Remote {
    fn list_access_tokens(&self, options: &ListOptions) -> Result<(), CommandFailure> {
        let entries = self.array("/api/user/access_tokens", &[])?;
        self.print_entries(&entries, options, "access tokens", |tokens: Vec<AccessToken>| {
            let mut table = Table::new(&["ID", "NAME", "CREATED", "EXPIRES", "LAST USED"]);
            for AccessToken { id, name, created_time, expires_at, last_used_time, .. } in tokens {
                let expires = if expires_at < 0 { "never".to_owned() } else { time(expires_at) };
                let last_used = last_used_time.map_or_else(|| "never".to_owned(), time);
                table.row(vec![id.to_string(), name, time(created_time), expires, last_used]);
            }
            table
        })
    }
}
