//! `keymeter key update-all`: changes all keys that a list shows.

use clap::{ArgGroup, Args};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};

use super::key_fields::KeyFields;
use super::key_filters::KeyFilters;
use super::terminal::confirm;
use super::values::{amount_option, signed_usd_arg};
use super::{LIST_OPTIONS, Page, Remote, filter, members, nothing_to_change, now};
use crate::failure::CommandFailure;
use crate::output::{print_error, print_line};
use keymeter::domain::wording::Count;

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("amount")))]
pub struct KeyUpdateAllArgs {
    #[command(flatten)]
    which: KeyFilters,
    /// Only keys of this group; `own` is the owner's group. `--group` is the group that they get.
    #[arg(long, value_name = "GROUP")]
    of_group: Option<String>,
    /// Add quota units to each, or take them away: --add-quota=-500.
    #[arg(long, value_name = "UNITS", group = "amount", allow_negative_numbers = true, help_heading = "Key")]
    add_quota: Option<i64>,
    /// The same in dollars.
    #[arg(long, value_name = "DOLLARS", group = "amount", allow_negative_numbers = true, value_parser = signed_usd_arg, help_heading = "Key")]
    add_usd: Option<i64>,
    /// Let them work again.
    #[arg(long, conflicts_with = "disable", help_heading = "Key")]
    enable: bool,
    /// Stop them until they are enabled again.
    #[arg(long, help_heading = "Key")]
    disable: bool,
    #[command(flatten)]
    fields: KeyFields,
    /// Do not ask. Needed where there is no terminal.
    #[arg(long, short)]
    yes: bool,
}

/// What became of the keys of some users.
#[derive(Deserialize)]
struct Changed {
    #[serde(rename = "changed")]
    count: usize,
    faults: Vec<Fault>,
    next: Option<i64>,
}

#[derive(Deserialize)]
struct Fault {
    username: String,
    id: Option<i64>,
    message: String,
}

impl Remote {
    pub fn update_all_keys(&self, args: &KeyUpdateAllArgs) -> Result<(), CommandFailure> {
        let status = if args.enable { Some(1) } else { args.disable.then_some(2) };
        let mut set = args.fields.body(now());
        set.extend(members([
            ("add_quota", args.add_quota.or(args.add_usd).map(Into::into)),
            ("status", status.map(Value::from)),
        ]));
        if set.is_empty() {
            return Err(nothing_to_change("keymeter key update-all --help"));
        }
        let user = args.which.find_user(self)?;
        let mut filters = args.which.query(user);
        filters.extend(filter("group", args.of_group.as_ref()));
        let first = [filters.as_slice(), &[("p", "1".to_owned()), ("page_size", "1".to_owned())]].concat();
        let listed = self.client.get(args.which.path(), &first);
        let options = [LIST_OPTIONS.as_slice(), &[("group", "--of-group")]].concat();
        let total = listed.map_err(|failure| failure.naming(&options))?.read::<Page>()?.total;
        if total == 0 {
            print_error("no such keys");
            return Ok(());
        }
        confirm(&format!("change {}", keys(total)), args.yes)?;
        let body = json!({ "filter": args.which.filter(args.of_group.as_deref()), "set": set });
        let others = vec![("add_quota", amount_option(args.add_usd, "--add-usd", "--add-quota"))];
        let options = [args.fields.options(), others].concat();
        let changed =
            if args.which.everyone { self.update_keys_of_all(body, user, total) } else { self.update_own_keys(&body) };
        changed.map_err(|failure| failure.naming(&options))
    }

    fn update_own_keys(&self, body: &Value) -> Result<(), CommandFailure> {
        let data = self.change_once("/api/token/bulk", body)?;
        let changed: Vec<Box<RawValue>> = data.read()?;
        self.done(&data, &format!("changed {}", keys(changed.len())));
        Ok(())
    }

    /// Goes through the owners, and says how far it is.
    fn update_keys_of_all(&self, mut body: Value, user: Option<i64>, total: usize) -> Result<(), CommandFailure> {
        if let Some(user) = user {
            body["user_id"] = user.into();
        }
        let (mut changed, mut faults) = (0, Vec::new());
        loop {
            let data = self.change_once("/api/admin/tokens/bulk", &body)?;
            let Changed { count: more, faults: others, next } = data.read()?;
            changed += more;
            faults.extend(others);
            if self.json {
                print_line(data.text());
            }
            let Some(next) = next else { break };
            print_error(&format!("changed {changed} of {total}"));
            body["after"] = next.into();
        }
        print_error(&format!("changed {}", keys(changed)));
        if faults.is_empty() {
            return Ok(());
        }
        let line = |Fault { username, id, message }| {
            let key = id.map(|id: i64| format!(", key {id}")).unwrap_or_default();
            format!("\n  {username}{key}: {message}")
        };
        let lines: String = faults.into_iter().map(line).collect();
        Err(format!("no key of these users was changed:{lines}").into())
    }
}

fn keys(count: usize) -> Count<'static> {
    Count(i64::try_from(count).unwrap_or(i64::MAX), "key")
}
