//! `keymeter token …`

use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use serde::Deserialize;
use serde_json::{Value, json};

use super::client::Data;
use super::rotation::RotateArgs;
use super::target::RemoteOptions;
use super::terminal::{Table, confirm, print_facts, quota, time};
use super::token_fields::TokenFields;
use super::values::{id_arg, signed_usd_arg, usd_arg};
use super::{Remote, filter, now};
use crate::failure::CommandFailure;
use crate::output::{print_error, print_line};
use keymeter::service::rng::Rng;

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

#[derive(Debug, Args)]
struct ListArgs {
    /// Only tokens whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Deleted tokens that can be restored.
    #[arg(long, conflicts_with_all = ["search", "status", "group"])]
    deleted: bool,
    /// Only tokens with this status.
    #[arg(long, value_enum)]
    status: Option<Status>,
    /// Only tokens of this group; `own` is the owner's group.
    #[arg(long)]
    group: Option<String>,
    /// The order: id, name, `remain_quota`, `used_quota`, `accessed_time` or `expired_time`.
    #[arg(long, value_name = "FIELD")]
    sort: Option<String>,
    /// The least first.
    #[arg(long)]
    ascending: bool,
    /// How many at most.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    limit: usize,
}

/// The status of a token. Administrators see more under `state`.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Status {
    Enabled,
    Disabled,
    Expired,
    Exhausted,
}

impl Status {
    /// The number of the API.
    const fn number(self) -> i64 {
        match self {
            Self::Enabled => 1,
            Self::Disabled => 2,
            Self::Expired => 3,
            Self::Exhausted => 4,
        }
    }
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("amount").required(true)))]
struct CreateArgs {
    /// A name that tells you what the key is for.
    name: String,
    /// What the key may spend, in quota units. 500000 units are 1 dollar.
    #[arg(long, value_name = "UNITS", group = "amount", value_parser = clap::value_parser!(i64).range(0..), help_heading = "Amount (one of these)")]
    quota: Option<i64>,
    /// What the key may spend, in dollars, such as 2.50.
    #[arg(long, value_name = "DOLLARS", group = "amount", value_parser = usd_arg, help_heading = "Amount (one of these)")]
    usd: Option<i64>,
    /// Only your wallet limits what the key may spend.
    #[arg(long, group = "amount", help_heading = "Amount (one of these)")]
    unlimited: bool,
    #[command(flatten)]
    fields: TokenFields,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("amount")))]
struct UpdateArgs {
    /// The token's id.
    #[arg(value_parser = id_arg)]
    id: i64,
    /// Another name.
    #[arg(long, help_heading = "Token")]
    name: Option<String>,
    /// Add quota units, or take them away: --add-quota=-500. Exact while the key is being used.
    #[arg(
        long,
        value_name = "UNITS",
        group = "amount",
        allow_negative_numbers = true,
        help_heading = "Amount (one of these)"
    )]
    add_quota: Option<i64>,
    /// The same in dollars.
    #[arg(long, value_name = "DOLLARS", group = "amount", allow_negative_numbers = true, value_parser = signed_usd_arg, help_heading = "Amount (one of these)")]
    add_usd: Option<i64>,
    /// Set what is left, in quota units. What is spent meanwhile is overwritten; --add-quota is exact.
    #[arg(long, value_name = "UNITS", group = "amount", value_parser = clap::value_parser!(i64).range(0..), help_heading = "Amount (one of these)")]
    set_quota: Option<i64>,
    /// Set what is left, in dollars.
    #[arg(long, value_name = "DOLLARS", group = "amount", value_parser = usd_arg, help_heading = "Amount (one of these)")]
    set_usd: Option<i64>,
    /// Only your wallet limits what the key may spend; `--unlimited=no` brings back the limit that it had.
    #[arg(long, value_name = "yes|no", hide_possible_values = true, value_parser = clap::builder::BoolishValueParser::new(), num_args = 0..=1, require_equals = true, default_missing_value = "yes", help_heading = "Token")]
    unlimited: Option<bool>,
    #[command(flatten)]
    fields: TokenFields,
}

/// What people see of a token.
#[derive(Debug, Deserialize)]
struct Token {
    id: i64,
    name: String,
    #[serde(default)]
    key: String,
    masked_key: String,
    state: String,
    disabled_by: Option<String>,
    created_time: i64,
    accessed_time: i64,
    expired_time: i64,
    remain_quota: i64,
    unlimited_quota: bool,
    used_quota: i64,
    model_limits_enabled: bool,
    model_limits: String,
    allow_ips: String,
    group: String,
    note: String,
    period_limits: Value,
    rate_limits: Value,
}

#[derive(Debug, Deserialize)]
struct DeletedToken {
    #[serde(flatten)]
    token: Token,
    deleted_time: i64,
    restorable_until: i64,
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

impl Remote {
    fn list_tokens(&self, args: &ListArgs) -> Result<(), CommandFailure> {
        let filters = [
            filter("deleted", args.deleted.then_some("1").as_ref()),
            filter("keyword", args.search.as_ref()),
            filter("status", args.status.map(Status::number).as_ref()),
            filter("group", args.group.as_ref()),
            filter("sort", args.sort.as_ref()),
            filter("order", args.ascending.then_some("asc").as_ref()),
        ];
        let filters: Vec<_> = filters.into_iter().flatten().collect();
        // A search counts against a limit; a list does not.
        let path = if args.search.is_some() { "/api/token/search" } else { "/api/token/" };
        if args.deleted {
            return self.list(path, &filters, args.limit, |tokens: Vec<DeletedToken>| {
                let mut table = Table::new(&["ID", "NAME", "KEY", "DELETED", "RESTORABLE UNTIL"]);
                for DeletedToken { token, deleted_time, restorable_until } in tokens {
                    let times = [time(deleted_time), time(restorable_until)];
                    table.row([vec![token.id.to_string(), token.name, token.masked_key], times.to_vec()].concat());
                }
                table.print();
            });
        }
        self.list(path, &filters, args.limit, |tokens: Vec<Token>| {
            let mut table = Table::new(&["ID", "NAME", "KEY", "STATE", "REMAINING", "USED", "EXPIRES"]);
            for token in tokens {
                let (remaining, expires) = (token.remaining(), token.expires());
                let used = quota(token.used_quota);
                table.row(vec![
                    token.id.to_string(),
                    token.name,
                    token.masked_key,
                    token.state,
                    remaining,
                    used,
                    expires,
                ]);
            }
            table.print();
        })
    }

    fn create_token(&self, args: &CreateArgs) -> Result<(), CommandFailure> {
        let mut body = args.fields.body(now());
        body.insert("name".to_owned(), args.name.clone().into());
        body.insert("unlimited_quota".to_owned(), args.unlimited.into());
        if let Some(units) = args.quota.or(args.usd) {
            body.insert("remain_quota".to_owned(), units.into());
        }
        let data = self.create_once("/api/token/", &body.into())?;
        self.show(&data, |token: Token| {
            print_error(&format!("created the token {}; `keymeter token key {0}` shows its key again", token.id));
            print_line(&token.key);
        })
    }

    /// Creates something under a random `Idempotency-Key`, so that a proxy that repeats this request makes nothing
    /// twice. Asks for what was created.
    pub(super) fn create_once(&self, path: &str, body: &Value) -> Result<Data, CommandFailure> {
        let id = Rng::system().generate_fast(|rng| format!("{:016x}{:016x}", rng.next_u64(), rng.next_u64()));
        self.client.create(path, body, &[("Idempotency-Key", &id), ("Prefer", "return=representation")])
    }

    fn update_token(&self, args: &UpdateArgs) -> Result<(), CommandFailure> {
        let mut body = args.fields.body(now());
        let mut set = |name: &str, value: Option<Value>| value.map(|value| body.insert(name.to_owned(), value));
        set("name", args.name.as_deref().map(Into::into));
        set("add_quota", args.add_quota.or(args.add_usd).map(Into::into));
        set("remain_quota", args.set_quota.or(args.set_usd).map(Into::into));
        set("unlimited_quota", args.unlimited.map(Into::into));
        if body.is_empty() {
            return Err(nothing_to_change("keymeter token update --help"));
        }
        body.insert("id".to_owned(), args.id.into());
        let data = self.client.put("/api/token/", &body.into())?;
        self.show(&data, |token: Token| token.print())
    }

    fn switch_token(&self, id: i64, status: i64, done: &str) -> Result<(), CommandFailure> {
        let data = self.client.put("/api/token/?status_only=1", &json!({ "id": id, "status": status }))?;
        self.done(&data, &format!("{done} the token {id}"));
        Ok(())
    }
}

pub fn nothing_to_change(help: &str) -> CommandFailure {
    CommandFailure::new(crate::failure::exit::USAGE, format!("name what to change; `{help}` lists the fields"))
}

impl Token {
    fn remaining(&self) -> String {
        if self.unlimited_quota { "unlimited".to_owned() } else { quota(self.remain_quota) }
    }

    fn expires(&self) -> String {
        if self.expired_time < 0 { "never".to_owned() } else { time(self.expired_time) }
    }

    fn print(&self) {
        let or = |text: &str, empty: &str| if text.is_empty() { empty.to_owned() } else { text.to_owned() };
        let state = match &self.disabled_by {
            Some(role) => format!("{} (by {role})", self.state),
            None => self.state.clone(),
        };
        let models = if self.model_limits_enabled { self.model_limits.clone() } else { "all".to_owned() };
        print_facts(&[
            ("id", self.id.to_string()),
            ("name", self.name.clone()),
            ("key", self.masked_key.clone()),
            ("state", state),
            ("remaining", self.remaining()),
            ("used", quota(self.used_quota)),
            ("expires", self.expires()),
            ("created", time(self.created_time)),
            (
                "last used",
                if self.accessed_time > self.created_time { time(self.accessed_time) } else { "never".into() },
            ),
            ("models", models),
            ("addresses", or(&self.allow_ips.replace('\n', ","), "all")),
            ("group", or(&self.group, "the owner's")),
            ("period limits", limits(&self.period_limits)),
            ("rate limits", limits(&self.rate_limits)),
            ("note", self.note.clone()),
        ]);
    }
}

/// The members of an object of limits that limit something.
fn limits(object: &Value) -> String {
    let members = object.as_object().into_iter().flatten();
    let set: Vec<String> = members
        .filter(|(_, limit)| limit.as_i64().is_some_and(|limit| limit >= 0))
        .map(|(name, limit)| format!("{name} {limit}"))
        .collect();
    if set.is_empty() { "none".to_owned() } else { set.join(", ") }
}
