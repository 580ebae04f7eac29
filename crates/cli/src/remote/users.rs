//! `keymeter user …` on a server. For administrators.

use clap::builder::PossibleValuesParser;
use clap::{ArgGroup, Args, Subcommand, ValueEnum};
use serde::Deserialize;
use serde_json::{Value, json};

use super::key_view::period_limits;
use super::list_options::ListOptions;
use super::named::Named;
use super::period_limits::PeriodLimitArgs;
use super::terminal::{Table, confirm, dollars, print_facts, time};
use super::values::{amount_option, signed_usd_arg, usd_arg};
use super::{Listing, Remote, filter, members, nothing_to_change};
use crate::failure::CommandFailure;
use crate::output::print_error;
use keymeter::domain::user::UserSort;

/// Commands that need a server.
#[derive(Debug, Subcommand)]
pub enum UserCommand {
    /// List users. Needs a server.
    #[command(after_help = "Examples:
  keymeter user list
  keymeter user list --search ana --json
  keymeter user list --csv --fields username,email,quota")]
    List(ListArgs),
    /// Show a user. Needs a server.
    Show {
        /// The user's name or id.
        user: Named,
    },
    /// Change a user. What is not named stays as it is. Needs a server.
    #[command(after_help = "Examples:
  keymeter user update ana --group research
  keymeter user update ana --token-api yes --usd-per-month 10")]
    Update(Box<UpdateArgs>),
    /// Add to a user's wallet, or take away from it. Needs a server.
    #[command(after_help = "Examples:
  keymeter user grant ana --usd 25 --note 'March'
  keymeter user grant ana --usd=-5 --note 'correction'
  keymeter user grant --file top-ups.csv --dry-run")]
    Grant(GrantArgs),
    /// Let a disabled user work again. Needs a server.
    Enable {
        /// The user's name or id.
        user: Named,
    },
    /// Stop a user, and all keys of the user, until the user is enabled again. Needs a server.
    Disable {
        /// The user's name or id.
        user: Named,
    },
    /// Delete a user with all keys. Needs a server.
    Delete {
        /// The user's name or id.
        user: Named,
        /// Do not ask. Needed where there is no terminal.
        #[arg(long, short)]
        yes: bool,
    },
}

#[derive(Debug, Args)]
pub struct ListArgs {
    /// Only users whose name contains this text.
    #[arg(long, value_name = "TEXT")]
    search: Option<String>,
    /// Only users of this group.
    #[arg(long)]
    group: Option<String>,
    /// The order.
    #[arg(long, value_name = "FIELD", value_parser = PossibleValuesParser::new(UserSort::ALL.map(UserSort::as_str)))]
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

#[derive(Debug, Clone, Copy, ValueEnum)]
pub enum RoleName {
    /// Manages its own keys.
    User,
    /// Manages other users too.
    Admin,
    /// Manages administrators too.
    Root,
}

impl RoleName {
    const fn number(self) -> i64 {
        match self {
            Self::User => 1,
            Self::Admin => 10,
            Self::Root => 100,
        }
    }
}

#[derive(Debug, Args)]
pub struct UpdateArgs {
    /// The user's name or id.
    user: Named,
    /// The name that is shown.
    #[arg(long, value_name = "TEXT")]
    display_name: Option<String>,
    /// The address for mail.
    #[arg(long)]
    email: Option<String>,
    /// The group.
    #[arg(long)]
    group: Option<String>,
    /// The role.
    #[arg(long, value_enum)]
    role: Option<RoleName>,
    /// Whether the user may use the token API.
    #[arg(long, value_name = "YES", value_parser = clap::builder::BoolishValueParser::new())]
    token_api: Option<bool>,
    #[command(flatten)]
    period_limits: PeriodLimitArgs,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("amount").required(true)))]
pub struct GrantArgs {
    /// The user's name or id.
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    user: Option<Named>,
    /// Quota units to add, or to take away: --quota=-500. 500000 units are 1 dollar.
    #[arg(long, value_name = "UNITS", group = "amount", allow_negative_numbers = true)]
    quota: Option<i64>,
    /// The same in dollars.
    #[arg(long, value_name = "DOLLARS", group = "amount", allow_negative_numbers = true, value_parser = signed_usd_arg)]
    usd: Option<i64>,
    /// Set the wallet to this, in dollars, whatever is in it.
    #[arg(long, value_name = "DOLLARS", group = "amount", value_parser = usd_arg)]
    set_usd: Option<i64>,
    /// Top up many users, all or none: a file with the lines `user,usd` or `user,usd,note`, 1,000 at most; - reads
    /// standard input.
    #[arg(long, value_name = "CSV", group = "amount")]
    file: Option<String>,
    /// Change nothing, and show what --file would change.
    #[arg(long, requires = "file")]
    dry_run: bool,
    /// Why, for the audit log.
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

#[derive(Deserialize)]
struct User {
    id: i64,
    username: String,
    role: i64,
    status: i64,
    group: String,
    email: String,
    quota: i64,
    used_quota: i64,
    period_limits: Value,
    token_api_enabled: bool,
    created_time: i64,
}

impl Remote {
    pub fn run_user(&self, command: UserCommand) -> Result<(), CommandFailure> {
        match command {
            UserCommand::List(args) => self.list_users(&args),
            UserCommand::Show { user } => {
                let id = self.find_user(&user)?.id;
                let data = self.client.get(&format!("/api/admin/users/{id}"), &[])?;
                self.show(&data, |user: User| user.print())
            }
            UserCommand::Update(args) => self.update_user(*args),
            UserCommand::Grant(args) => match (&args.user, &args.file) {
                (_, Some(file)) => self.top_up(file, args.note.as_deref(), args.dry_run),
                (Some(user), None) => self.grant(user, &args),
                (None, None) => Err(nothing_to_change("keymeter user grant --help")),
            },
            UserCommand::Enable { user } => self.switch_user(&user, 1, "enabled"),
            UserCommand::Disable { user } => self.switch_user(&user, 2, "disabled"),
            UserCommand::Delete { user, yes } => {
                let found = self.find_user(&user)?;
                confirm(&format!("delete the user {found} with all keys"), yes)?;
                let data = self.client.delete(&format!("/api/admin/users/{}", found.id))?;
                self.done(&data, &format!("deleted the user {found}"));
                Ok(())
            }
        }
    }

    /// Creates a user.
    pub fn create_user(
        &self,
        username: &str,
        role: RoleName,
        token_api: bool,
        password: &str,
    ) -> Result<(), CommandFailure> {
        let body = json!({
            "username": username, "password": password, "role": role.number(), "token_api_enabled": token_api,
        });
        let data = self.client.post("/api/admin/users", &body)?;
        self.show(&data, |user: User| {
            print_error(&format!("created the user {} with the id {}", user.username, user.id));
        })
    }

    /// Sets a user's password.
    pub fn set_password(&self, user: &Named, password: &str) -> Result<(), CommandFailure> {
        let found = self.find_user(user)?;
        let path = format!("/api/admin/users/{}", found.id);
        let data = self.client.patch(&path, &json!({ "password": password }))?;
        self.done(&data, &format!("changed the password of {found} and ended its sessions"));
        Ok(())
    }

    fn list_users(&self, args: &ListArgs) -> Result<(), CommandFailure> {
        let filters = [
            filter("keyword", args.search.as_ref()),
            filter("group", args.group.as_ref()),
            filter("sort", args.sort.as_ref()),
            filter("order", args.ascending.then_some("asc").as_ref()),
        ];
        let filters = filters.into_iter().flatten().collect();
        let listing = Listing { path: "/api/admin/users", filters, limit: args.limit, since: None };
        self.list(&listing, &args.options, "users", |users: Vec<User>| {
            let columns = ["ID", "USERNAME", "ROLE", "STATUS", "GROUP", "WALLET", "USED", "TOKEN API"];
            let mut table = Table::with_amounts(&columns, &["WALLET", "USED"]);
            for user in users {
                let (role, status) = (user.role().to_owned(), user.status().to_owned());
                let (wallet, used) = (dollars(user.quota), dollars(user.used_quota));
                let token_api = if user.token_api_enabled { "yes" } else { "no" }.to_owned();
                table.row(vec![user.id.to_string(), user.username, role, status, user.group, wallet, used, token_api]);
            }
            table
        })
    }

    fn update_user(&self, args: UpdateArgs) -> Result<(), CommandFailure> {
        let body = members([
            ("display_name", args.display_name.map(Into::into)),
            ("email", args.email.map(Into::into)),
            ("group", args.group.map(Into::into)),
            ("role", args.role.map(|role| role.number().into())),
            ("token_api_enabled", args.token_api.map(Into::into)),
            ("period_limits", args.period_limits.body()),
        ]);
        if body.is_empty() {
            return Err(nothing_to_change("keymeter user update --help"));
        }
        let id = self.find_user(&args.user)?.id;
        let others = vec![("display_name", "--display-name"), ("email", "--email"), ("group", "--group")];
        let options = [args.period_limits.options(), others].concat();
        let changed = self.client.patch(&format!("/api/admin/users/{id}"), &body.into());
        let data = changed.map_err(|failure| failure.naming(&options))?;
        self.show(&data, |user: User| user.print())
    }

    fn grant(&self, user: &Named, args: &GrantArgs) -> Result<(), CommandFailure> {
        let body = members([
            ("delta", args.quota.or(args.usd).map(Into::into)),
            ("set", args.set_usd.map(Into::into)),
            ("note", args.note.as_deref().map(Into::into)),
        ]);
        let id = self.find_user(user)?.id;
        let amount = amount_option(args.usd, "--usd", "--quota");
        let options = [("delta", amount), ("quota", amount), ("set", "--set-usd"), ("note", "--note")];
        let granted = self.create_once(&format!("/api/admin/users/{id}/quota"), &body.into());
        let data = granted.map_err(|failure| failure.naming(&options))?;
        self.show(&data, |user: User| {
            print_error(&format!("the wallet of {} now has {}", user.username, dollars(user.quota)));
        })
    }

    fn switch_user(&self, user: &Named, status: i64, done: &str) -> Result<(), CommandFailure> {
        let found = self.find_user(user)?;
        let data = self.client.patch(&format!("/api/admin/users/{}", found.id), &json!({ "status": status }))?;
        self.done(&data, &format!("{done} the user {found}"));
        Ok(())
    }
}

impl User {
    const fn role(&self) -> &'static str {
        match self.role {
            100 => "root",
            10 => "admin",
            _ => "user",
        }
    }

    const fn status(&self) -> &'static str {
        if self.status == 1 { "enabled" } else { "disabled" }
    }

    fn print(&self) {
        print_facts(&[
            ("id", self.id.to_string()),
            ("username", self.username.clone()),
            ("role", self.role().to_owned()),
            ("status", self.status().to_owned()),
            ("group", self.group.clone()),
            ("email", self.email.clone()),
            ("wallet", dollars(self.quota)),
            ("used", dollars(self.used_quota)),
            ("period limits", period_limits(&self.period_limits)),
            ("token API", if self.token_api_enabled { "enabled" } else { "not enabled" }.to_owned()),
            ("created", time(self.created_time)),
        ]);
    }
}
