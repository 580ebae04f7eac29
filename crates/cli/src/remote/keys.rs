//! `keymeter key …`

use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::json;

use super::Remote;
use super::key_edits::{CreateArgs, KeyUpdateArgs, OneKeyArgs};
use super::key_lists::{FindArgs, KeyListArgs};
use super::key_update_all::KeyUpdateAllArgs;
use super::key_view::Key;
use super::list_options::ListOptions;
use super::named::{Named, OWN_KEYS};
use super::rotation::RotateArgs;
use super::target::RemoteOptions;
use super::terminal::confirm;
use super::values::id_arg;
use crate::failure::CommandFailure;
use crate::output::print_line;

/// `keymeter key`
#[derive(Debug, Args)]
pub struct KeyArgs {
    #[command(flatten)]
    options: RemoteOptions,
    #[command(subcommand)]
    command: KeyCommand,
}

#[derive(Debug, Subcommand)]
enum KeyCommand {
    /// List your keys, newest first, without their secrets.
    #[command(after_help = "Examples:
  keymeter key list
  keymeter key list --status exhausted --sort used_quota
  keymeter key list --search billing --json | jq -r '.[].id'
  keymeter key list --everyone --state used_up --csv --fields username,name,used_quota")]
    List(KeyListArgs),
    /// Find keys by a part of the name, or by the key as lists and logs show it.
    #[command(after_help = "Examples:
  keymeter key find billing
  keymeter key find 'sk-ab12**********wxyz' --everyone
  keymeter key find - < key.txt")]
    Find(FindArgs),
    /// Show one key, without its secret.
    #[command(after_help = "Example:
  keymeter key show ci
  keymeter key show 7")]
    Show(OneKeyArgs),
    /// Create a key. Standard output is the key and nothing else.
    #[command(after_help = "Examples:
  keymeter key create ci --usd 5 --expires 90d
  keymeter key create batch --unlimited --models 'gpt-4*,o3' --usd-per-day 1
  KEY=$(keymeter key create ci --quota 500000)
  keymeter key create ci --usd 5 --json | jq -r .id")]
    Create(Box<CreateArgs>),
    /// Change a key. What is not named stays as it is.
    #[command(after_help = "Examples:
  keymeter key update ci --add-usd 2.50
  keymeter key update 7 --add-usd=-1
  keymeter key update 7 --expires never --usd-per-month none
  keymeter key update 7 --models all --addresses 10.0.0.0/8")]
    Update(Box<KeyUpdateArgs>),
    /// Change all keys that a list with the same filters shows: all of them or none, of everyone's keys all of each
    /// user or none.
    #[command(after_help = "Examples:
  keymeter key update-all --search trial --usd-per-day 1
  keymeter key update-all --of-group trial --expires 30d --yes
  keymeter key update-all --everyone --user ana --disable")]
    UpdateAll(Box<KeyUpdateAllArgs>),
    /// Let a disabled key work again.
    Enable(OneKeyArgs),
    /// Stop a key until it is enabled again.
    Disable(OneKeyArgs),
    /// Delete a key. It stops working at once.
    #[command(after_help = "Examples:
  keymeter key delete ci
  keymeter key delete ci --yes     without a question, for scripts")]
    Delete {
        /// The key's name or id.
        key: Named,
        /// Do not ask. Needed where there is no terminal.
        #[arg(long, short)]
        yes: bool,
    },
    /// Read a key back. Standard output is the key and nothing else; the audit log has a line of it.
    #[command(
        alias = "key",
        after_help = "Example:
  KEY=$(keymeter key reveal ci)"
    )]
    Reveal {
        /// The key's name or id.
        key: Named,
    },
    /// Replace a key. Standard output is the new key; the old one works for a while, from the same quota.
    #[command(after_help = "Examples:
  KEY=$(keymeter key rotate ci)                        the old key ends 24 hours after the first use of the new one
  keymeter key rotate ci --grace 7d
  keymeter key rotate ci --grace 0s --grace-from now   the old key ends at once")]
    Rotate(RotateArgs),
    /// List the replaced keys of a key that still work.
    OldKeys {
        /// The key's name or id.
        key: Named,
        #[command(flatten)]
        options: ListOptions,
    },
    /// End a replaced key before its time.
    EndOldKey {
        /// The key's name or id.
        key: Named,
        /// The old key's id; `keymeter key old-keys` shows it.
        #[arg(value_parser = id_arg)]
        id: i64,
        /// Do not ask. Needed where there is no terminal.
        #[arg(long, short)]
        yes: bool,
    },
    /// Bring a deleted key back. `keymeter key list --deleted` shows those.
    Restore {
        /// The key's name or id.
        key: Named,
    },
}

pub fn run(args: KeyArgs) -> Result<(), CommandFailure> {
    let remote = Remote::connect(&args.options)?;
    match args.command {
        KeyCommand::List(list) => remote.list_keys(&list),
        KeyCommand::Find(find) => remote.find_keys(&find),
        KeyCommand::Show(one) => {
            let id = one.find(&remote)?.id;
            let path =
                if one.everyone { format!("/api/admin/tokens/{id}") } else { format!("/api/token/{id}/details") };
            remote.show(&remote.client.get(&path, &[])?, |key: Key| key.print())
        }
        KeyCommand::Create(create) => remote.create_key(&create),
        KeyCommand::Update(update) => remote.update_key(&update),
        KeyCommand::UpdateAll(update) => remote.update_all_keys(&update),
        KeyCommand::Enable(one) => remote.switch_key(&one, 1, "enabled"),
        KeyCommand::Disable(one) => remote.switch_key(&one, 2, "disabled"),
        KeyCommand::Delete { key, yes } => {
            confirm(&format!("delete the key {key}; it stops working at once"), yes)?;
            let found = remote.find(&OWN_KEYS, &key)?;
            let data = remote.client.delete(&format!("/api/token/{}", found.id))?;
            remote.done(&data, &format!("deleted the key {found}"));
            Ok(())
        }
        KeyCommand::Reveal { key } => {
            let id = remote.find(&OWN_KEYS, &key)?.id;
            let data = remote.client.post(&format!("/api/token/{id}/key"), &json!({}))?;
            remote.show(&data, |revealed: RevealedKey| print_line(&revealed.key))
        }
        KeyCommand::Rotate(rotate) => remote.rotate(&rotate),
        KeyCommand::OldKeys { key, options } => remote.list_old_keys(&key, &options),
        KeyCommand::EndOldKey { key, id, yes } => remote.end_old_key(&key, id, yes),
        KeyCommand::Restore { key } => remote.restore_key(&key),
    }
}

#[derive(Deserialize)]
struct RevealedKey {
    key: String,
}
