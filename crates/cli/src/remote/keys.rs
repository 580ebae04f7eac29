//! `keymeter token …`

use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::json;

use super::Remote;
use super::key_edits::{CreateArgs, UpdateArgs};
use super::key_lists::ListArgs;
use super::key_view::Token;
use super::rotation::RotateArgs;
use super::target::RemoteOptions;
use super::terminal::confirm;
use super::values::id_arg;
use crate::failure::CommandFailure;
use crate::output::print_line;

/// `keymeter token`
#[derive(Debug, Args)]
pub struct TokenArgs {
    #[command(flatten)]
    options: RemoteOptions,
    #[command(subcommand)]
    command: TokenCommand,
}

#[derive(Debug, Subcommand)]
enum TokenCommand {
    /// List your tokens, newest first, without their keys.
    #[command(after_help = "Examples:
  keymeter token list
  keymeter token list --status exhausted --sort used_quota
  keymeter token list --search billing --json | jq -r '.[].id'")]
    List(ListArgs),
    /// Show one token, without its key.
    #[command(after_help = "Example:
  keymeter token show 7")]
    Show {
        /// The token's id; `keymeter token list` shows it.
        #[arg(value_parser = id_arg)]
        id: i64,
    },
    /// Create a token. Standard output is its key and nothing else.
    #[command(after_help = "Examples:
  keymeter token create ci --usd 5 --expires 90d
  keymeter token create batch --unlimited --models 'gpt-4*,o3' --per-day 500000
  KEY=$(keymeter token create ci --quota 500000)
  keymeter token create ci --usd 5 --json | jq -r .id")]
    Create(Box<CreateArgs>),
    /// Change a token. What is not named stays as it is.
    #[command(after_help = "Examples:
  keymeter token update 7 --add-usd 2.50
  keymeter token update 7 --add-usd=-1
  keymeter token update 7 --expires never --per-month none
  keymeter token update 7 --models all --addresses 10.0.0.0/8")]
    Update(Box<UpdateArgs>),
    /// Let a disabled token work again.
    Enable {
        /// The token's id.
        #[arg(value_parser = id_arg)]
        id: i64,
    },
    /// Stop a token until it is enabled again.
    Disable {
        /// The token's id.
        #[arg(value_parser = id_arg)]
        id: i64,
    },
    /// Delete a token. Its key stops working at once.
    #[command(after_help = "Examples:
  keymeter token delete 7
  keymeter token delete 7 --yes     without a question, for scripts")]
    Delete {
        /// The token's id.
        #[arg(value_parser = id_arg)]
        id: i64,
        /// Do not ask. Needed where there is no terminal.
        #[arg(long, short)]
        yes: bool,
    },
    /// Read a token's key back. Standard output is the key and nothing else; the audit log has a line of it.
    #[command(after_help = "Example:
  KEY=$(keymeter token key 7)")]
    Key {
        /// The token's id.
        #[arg(value_parser = id_arg)]
        id: i64,
    },
    /// Replace a token's key. Standard output is the new key; the old one works for a while, from the same quota.
    #[command(after_help = "Examples:
  KEY=$(keymeter token rotate 7)                        the old key ends 24 hours after the first use of the new one
  keymeter token rotate 7 --grace 7d
  keymeter token rotate 7 --grace 0s --grace-from now   the old key ends at once")]
    Rotate(RotateArgs),
    /// List the keys of a token that were replaced and still work.
    OldKeys {
        /// The token's id.
        #[arg(value_parser = id_arg)]
        id: i64,
    },
    /// End a replaced key before its time.
    EndOldKey {
        /// The token's id.
        #[arg(value_parser = id_arg)]
        id: i64,
        /// The old key's id; `keymeter token old-keys` shows it.
        #[arg(value_parser = id_arg)]
        key_id: i64,
        /// Do not ask. Needed where there is no terminal.
        #[arg(long, short)]
        yes: bool,
    },
    /// Bring a deleted token back, with its key. `keymeter token list --deleted` shows those.
    Restore {
        /// The token's id.
        #[arg(value_parser = id_arg)]
        id: i64,
    },
}

pub fn run(args: TokenArgs) -> Result<(), CommandFailure> {
    let remote = Remote::connect(&args.options)?;
    match args.command {
        TokenCommand::List(list) => remote.list_tokens(&list),
        TokenCommand::Show { id } => {
            let data = remote.client.get(&format!("/api/token/{id}/details"), &[])?;
            remote.show(&data, |token: Token| token.print())
        }
        TokenCommand::Create(create) => remote.create_token(&create),
        TokenCommand::Update(update) => remote.update_token(&update),
        TokenCommand::Enable { id } => remote.switch_token(id, 1, "enabled"),
        TokenCommand::Disable { id } => remote.switch_token(id, 2, "disabled"),
        TokenCommand::Delete { id, yes } => {
            confirm(&format!("delete the token {id}; its key stops working at once"), yes)?;
            let data = remote.client.delete(&format!("/api/token/{id}"))?;
            remote.done(&data, &format!("deleted the token {id}"));
            Ok(())
        }
        TokenCommand::Key { id } => {
            let data = remote.client.post(&format!("/api/token/{id}/key"), &json!({}))?;
            remote.show(&data, |key: Key| print_line(&key.key))
        }
        TokenCommand::Rotate(rotate) => remote.rotate(&rotate),
        TokenCommand::OldKeys { id } => remote.list_old_keys(id),
        TokenCommand::EndOldKey { id, key_id, yes } => remote.end_old_key(id, key_id, yes),
        TokenCommand::Restore { id } => remote.restore_token(id),
    }
}

#[derive(Deserialize)]
struct Key {
    key: String,
}
