//! The scope and the time range of usage and requests.

use clap::Args;

use super::named::{ALL_KEYS, Named, OWN_KEYS, USERS};
use super::values::duration_arg;
use super::{Remote, filter, now};
use crate::failure::CommandFailure;
use keymeter::domain::time::UnixTime;

/// Parameters of the API, and the options that set them.
pub const OPTIONS: [(&str, &str); 9] = [
    ("from", "--from"),
    ("to", "--to"),
    ("group_by", "--by"),
    ("token_id", "--key"),
    ("user_id", "--user"),
    ("outcome", "--outcome"),
    ("token", "key"),
    ("compare_from", "--compare"),
    ("compare_to", "--compare"),
];

/// One key, one user, or all users.
#[derive(Debug, Args)]
pub struct ScopeArgs {
    /// Only this key, by name or id.
    #[arg(long, alias = "token", value_name = "KEY")]
    key: Option<Named>,
    /// The usage of everyone, not only of your keys. For administrators.
    #[arg(long)]
    everyone: bool,
    /// Only this user, by name or id. For administrators.
    #[arg(long, value_name = "USER")]
    user: Option<Named>,
}

/// A time range.
#[derive(Debug, Args)]
pub struct TimeArgs {
    /// The first day, such as 2027-01-01.
    #[arg(long, value_name = "DAY")]
    pub from: Option<String>,
    /// The last day.
    #[arg(long, value_name = "DAY")]
    pub to: Option<String>,
    /// What was so long ago or later, such as 2h or 7d.
    #[arg(long, value_name = "TIME", value_parser = duration_arg, conflicts_with = "from")]
    since: Option<i64>,
}

impl ScopeArgs {
    /// Returns true if it includes other users; administrators have calls of their own for these.
    const fn is_of_all_users(&self) -> bool {
        self.everyone || self.user.is_some()
    }

    /// The path of reports.
    pub const fn path(&self) -> &'static str {
        usage_path(self.is_of_all_users())
    }

    /// The query parameters.
    pub fn query(&self, remote: &Remote) -> Result<Vec<(&'static str, String)>, CommandFailure> {
        let keys = if self.is_of_all_users() { ALL_KEYS } else { OWN_KEYS };
        let key = self.key.as_ref().map(|key| remote.find(&keys, key)).transpose()?;
        let user = self.user.as_ref().map(|user| remote.find(&USERS, user)).transpose()?;
        let filters =
            [filter("token_id", key.map(|key| key.id).as_ref()), filter("user_id", user.map(|user| user.id).as_ref())];
        Ok(filters.into_iter().flatten().collect())
    }
}

/// The path of reports, and before that of requests.
pub const fn usage_path(of_all_users: bool) -> &'static str {
    if of_all_users { "/api/admin/usage" } else { "/api/usage" }
}

impl TimeArgs {
    /// The moment of `--since`.
    pub fn since(&self) -> Option<UnixTime> {
        self.since.map(|seconds| now().plus(-seconds))
    }
}
