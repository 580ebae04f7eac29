//! `keymeter key create`, `update`, `enable` and `disable`.

use clap::{ArgGroup, Args};
use serde_json::json;

use super::key_fields::KeyFields;
use super::key_view::Key;
use super::named::{ALL_KEYS, Found, Named, OWN_KEYS};
use super::values::{amount_option, signed_usd_arg, usd_arg};
use super::{Remote, members, nothing_to_change, now};
use crate::failure::CommandFailure;
use crate::output::{print_error, print_line};

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("amount").required(true)))]
pub struct CreateArgs {
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
    fields: KeyFields,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("amount")))]
pub struct KeyUpdateArgs {
    /// The key's name or id.
    key: Named,
    /// Another name.
    #[arg(long, help_heading = "Key")]
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
    #[arg(long, value_name = "yes|no", hide_possible_values = true, value_parser = clap::builder::BoolishValueParser::new(), num_args = 0..=1, require_equals = true, default_missing_value = "yes", help_heading = "Key")]
    unlimited: Option<bool>,
    #[command(flatten)]
    fields: KeyFields,
}

/// One key.
#[derive(Debug, Args)]
pub struct OneKeyArgs {
    /// The key's name or id.
    key: Named,
    /// A key of any user. For administrators.
    #[arg(long)]
    pub everyone: bool,
}

impl OneKeyArgs {
    pub fn find(&self, remote: &Remote) -> Result<Found, CommandFailure> {
        remote.find(if self.everyone { &ALL_KEYS } else { &OWN_KEYS }, &self.key)
    }
}

impl Remote {
    pub fn create_key(&self, args: &CreateArgs) -> Result<(), CommandFailure> {
        let mut body = args.fields.body(now());
        body.insert("name".to_owned(), args.name.clone().into());
        body.insert("unlimited_quota".to_owned(), args.unlimited.into());
        if let Some(units) = args.quota.or(args.usd) {
            body.insert("remain_quota".to_owned(), units.into());
        }
        let amount = amount_option(args.usd, "--usd", "--quota");
        let options = [args.fields.options(), vec![("remain_quota", amount), ("name", "NAME")]].concat();
        let created = self.create_once("/api/token/", &body.into());
        let data = created.map_err(|failure| failure.naming(&options))?;
        self.show(&data, |key: Key| {
            print_error(&format!("created the key {}; `keymeter key reveal {0}` shows its key again", key.id));
            print_line(&key.key);
        })
    }

    pub fn update_key(&self, args: &KeyUpdateArgs) -> Result<(), CommandFailure> {
        let mut body = args.fields.body(now());
        body.extend(members([
            ("name", args.name.as_deref().map(Into::into)),
            ("add_quota", args.add_quota.or(args.add_usd).map(Into::into)),
            ("remain_quota", args.set_quota.or(args.set_usd).map(Into::into)),
            ("unlimited_quota", args.unlimited.map(Into::into)),
        ]));
        if body.is_empty() {
            return Err(nothing_to_change("keymeter key update --help"));
        }
        body.insert("id".to_owned(), self.find(&OWN_KEYS, &args.key)?.id.into());
        let others = vec![
            ("add_quota", amount_option(args.add_usd, "--add-usd", "--add-quota")),
            ("remain_quota", amount_option(args.set_usd, "--set-usd", "--set-quota")),
            ("name", "--name"),
        ];
        let options = [args.fields.options(), others].concat();
        let changed = self.client.put("/api/token/", &body.into());
        let data = changed.map_err(|failure| failure.naming(&options))?;
        self.show(&data, |key: Key| key.print())
    }

    pub fn switch_key(&self, one: &OneKeyArgs, status: i64, done: &str) -> Result<(), CommandFailure> {
        let found = one.find(self)?;
        let id = found.id;
        let data = if one.everyone {
            self.client.post(&format!("/api/admin/tokens/{id}/status"), &json!({ "status": status }))?
        } else {
            self.client.put("/api/token/?status_only=1", &json!({ "id": id, "status": status }))?
        };
        self.done(&data, &format!("{done} the key {found}"));
        Ok(())
    }
}
