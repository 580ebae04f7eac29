//! `keymeter key list` and `find`.

use clap::Args;
use clap::builder::PossibleValuesParser;
use secrecy::ExposeSecret;
use serde_json::json;

use super::key_filters::KeyFilters;
use super::key_view::{DeletedKey, Key};
use super::list_options::ListOptions;
use super::terminal::{Table, dollars, secret_from_stdin, time};
use super::{LIST_OPTIONS, Listing, Page, Remote, filter};
use crate::failure::CommandFailure;
use crate::output::print_error;
use keymeter::domain::bounds::MAX_PAGE_SIZE;
use keymeter::domain::key::ApiKey;
use keymeter::domain::token_listing::TokenSort;

#[derive(Debug, Args)]
pub struct KeyListArgs {
    #[command(flatten)]
    which: KeyFilters,
    /// Deleted keys that can be restored.
    #[arg(long, conflicts_with_all = ["everyone", "search", "status", "state", "group"])]
    deleted: bool,
    /// Only keys of this group; `own` is the owner's group.
    #[arg(long)]
    group: Option<String>,
    /// The order.
    #[arg(long, value_name = "FIELD", value_parser = PossibleValuesParser::new(TokenSort::ALL.map(TokenSort::as_str)))]
    sort: Option<String>,
    /// The least first.
    #[arg(long)]
    ascending: bool,
    /// How many at most.
    #[arg(long, value_name = "N", default_value_t = 1_000)]
    limit: usize,
    #[command(flatten)]
    options: ListOptions,
}

#[derive(Debug, Args)]
pub struct FindArgs {
    /// A part of the name, or a key as lists show it, such as sk-ab12**********wxyz; - reads a whole key from standard
    /// input.
    #[arg(value_parser = find_arg)]
    text: String,
    /// Among the keys of all users. For administrators.
    #[arg(long)]
    everyone: bool,
    #[command(flatten)]
    options: ListOptions,
}

/// Refuses a whole key: other users of the machine can read arguments.
fn find_arg(text: &str) -> Result<String, String> {
    match ApiKey::parse(text) {
        Ok(_) => Err("arguments are seen by others: send a whole key to the input of `keymeter key find -`".to_owned()),
        Err(_) => Ok(text.to_owned()),
    }
}

impl Remote {
    pub fn list_keys(&self, args: &KeyListArgs) -> Result<(), CommandFailure> {
        let mut filters = args.which.query(args.which.find_user(self)?);
        let others = [
            filter("deleted", args.deleted.then_some("1").as_ref()),
            filter("group", args.group.as_ref()),
            filter("sort", args.sort.as_ref()),
            filter("order", args.ascending.then_some("asc").as_ref()),
        ];
        filters.extend(others.into_iter().flatten());
        let listing = Listing { path: args.which.path(), filters, limit: args.limit, since: None };
        if args.deleted {
            return self.list(&listing, &args.options, "deleted keys", table_of_deleted);
        }
        self.list(&listing, &args.options, "keys", table_of)
    }

    pub fn find_keys(&self, args: &FindArgs) -> Result<(), CommandFailure> {
        let path = if args.everyone { "/api/admin/tokens/search" } else { "/api/token/search" };
        let mut body = json!({ "p": 1, "page_size": MAX_PAGE_SIZE });
        if args.text == "-" {
            body["token"] = secret_from_stdin("key")?.expose_secret().into();
        } else if args.text.starts_with("sk-") || args.text.contains('*') {
            body["token"] = args.text.as_str().into();
        } else {
            body["keyword"] = args.text.as_str().into();
        }
        let found = self.client.post(path, &body).map_err(|failure| failure.naming(&LIST_OPTIONS))?;
        let Page { items, total } = found.read()?;
        if items.len() < total {
            print_error(&format!("these are {} of {total}; give more of the text", items.len()));
        }
        self.print_entries(&items, &args.options, "such keys", table_of)
    }
}

fn table_of(keys: Vec<Key>) -> Table {
    let has_owners = keys.iter().any(|key| key.username.is_some());
    let owner = has_owners.then_some("OWNER");
    let others = ["NAME", "KEY", "STATE", "REMAINING", "USED", "EXPIRES"];
    let columns: Vec<&str> = ["ID"].into_iter().chain(owner).chain(others).collect();
    let mut table = Table::with_amounts(&columns, &["REMAINING", "USED"]);
    for key in keys {
        let (remaining, used, expires) = (key.remaining(), dollars(key.used_quota), key.expires());
        let others = [key.name, key.masked_key, key.state, remaining, used, expires];
        let owner = has_owners.then(|| key.username.unwrap_or_default());
        table.row([key.id.to_string()].into_iter().chain(owner).chain(others).collect());
    }
    table
}

fn table_of_deleted(keys: Vec<DeletedKey>) -> Table {
    let mut table = Table::new(&["ID", "NAME", "KEY", "DELETED", "RESTORABLE UNTIL"]);
    for DeletedKey { key, deleted_time, restorable_until } in keys {
        table.row(vec![key.id.to_string(), key.name, key.masked_key, time(deleted_time), time(restorable_until)]);
    }
    table
}
