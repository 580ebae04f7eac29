//! Which keys a list shows.

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use serde_json::{Map, Value};

use super::named::{Named, USERS};
use super::{Remote, filter, members};
use crate::failure::CommandFailure;
use keymeter::domain::ledger::StateName;

/// Filters that `key list` and `key update-all` share.
#[derive(Debug, Args)]
pub struct KeyFilters {
    /// The keys of all users. For administrators.
    #[arg(long)]
    pub everyone: bool,
    /// Only the keys of this user, by name or id.
    #[arg(long, requires = "everyone")]
    user: Option<Named>,
    /// Only keys whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Only keys with this status.
    #[arg(long, value_enum)]
    status: Option<Status>,
    /// Only keys in this state, which says more than the status.
    #[arg(long, value_parser = PossibleValuesParser::new(StateName::ALL.map(StateName::as_str)))]
    state: Option<String>,
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

impl KeyFilters {
    /// The list of the API.
    pub const fn path(&self) -> &'static str {
        match &self.search {
            _ if self.everyone => "/api/admin/tokens",
            // A search counts against a limit; a list does not.
            Some(_) => "/api/token/search",
            None => "/api/token/",
        }
    }

    /// The id of the user whose keys are meant.
    pub fn find_user(&self, remote: &Remote) -> Result<Option<i64>, CommandFailure> {
        Ok(self.user.as_ref().map(|user| remote.find(&USERS, user)).transpose()?.map(|user| user.id))
    }

    /// The query parameters of the list.
    pub fn query(&self, user: Option<i64>) -> Vec<(&'static str, String)> {
        let filters = [
            filter("keyword", self.search.as_ref()),
            filter("user_id", user.as_ref()),
            filter("status", self.status.map(Status::number).as_ref()),
            filter("state", self.state.as_ref()),
        ];
        filters.into_iter().flatten().collect()
    }

    /// The same for a change of all that match. The user is not in it.
    pub fn filter(&self, group: Option<&str>) -> Map<String, Value> {
        members([
            ("keyword", self.search.as_deref().map(Into::into)),
            ("status", self.status.map(|status| status.number().into())),
            ("state", self.state.as_deref().map(Into::into)),
            ("group", group.map(Into::into)),
        ])
    }
}
