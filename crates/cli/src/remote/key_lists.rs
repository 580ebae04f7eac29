//! `keymeter key list`

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};

use super::key_view::{DeletedKey, Key};
use super::terminal::{Table, dollars, time};
use super::{Remote, filter};
use crate::failure::CommandFailure;
use keymeter::domain::ledger::StateName;
use keymeter::domain::token_listing::TokenSort;

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only keys whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Deleted keys that can be restored.
    #[arg(long, conflicts_with_all = ["search", "status", "state", "group"])]
    deleted: bool,
    /// Only keys with this status.
    #[arg(long, value_enum)]
    status: Option<Status>,
    /// Only keys in this state, which says more than the status.
    #[arg(long, value_parser = PossibleValuesParser::new(StateName::ALL.map(StateName::as_str)))]
    state: Option<String>,
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
}

/// The status of a key.
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

impl Remote {
    pub fn list_keys(&self, args: &ListArgs) -> Result<(), CommandFailure> {
        let filters = [
            filter("deleted", args.deleted.then_some("1").as_ref()),
            filter("keyword", args.search.as_ref()),
            filter("status", args.status.map(Status::number).as_ref()),
            filter("state", args.state.as_ref()),
            filter("group", args.group.as_ref()),
            filter("sort", args.sort.as_ref()),
            filter("order", args.ascending.then_some("asc").as_ref()),
        ];
        let filters: Vec<_> = filters.into_iter().flatten().collect();
        // A search counts against a limit; a list does not.
        let path = if args.search.is_some() { "/api/token/search" } else { "/api/token/" };
        if args.deleted {
            return self.list(path, &filters, args.limit, |keys: Vec<DeletedKey>| {
                let mut table = Table::new(&["ID", "NAME", "KEY", "DELETED", "RESTORABLE UNTIL"]);
                for DeletedKey { key, deleted_time, restorable_until } in keys {
                    let times = [time(deleted_time), time(restorable_until)];
                    table.row([vec![key.id.to_string(), key.name, key.masked_key], times.to_vec()].concat());
                }
                table.print("deleted keys");
            });
        }
        self.list(path, &filters, args.limit, |keys: Vec<Key>| {
            let columns = ["ID", "NAME", "KEY", "STATE", "REMAINING", "USED", "EXPIRES"];
            let mut table = Table::with_amounts(&columns, &["REMAINING", "USED"]);
            for key in keys {
                let (remaining, expires) = (key.remaining(), key.expires());
                let used = dollars(key.used_quota);
                table.row(vec![key.id.to_string(), key.name, key.masked_key, key.state, remaining, used, expires]);
            }
            table.print("keys");
        })
    }
}
