//! `keymeter usage …`

use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::list_options::ListOptions;
use super::named::{ALL_KEYS, Named, OWN_KEYS, USERS};
use super::requests::RequestListArgs;
use super::target::RemoteOptions;
use super::terminal::{Table, dollars};
use super::values::duration_arg;
use super::{Remote, day_of, filter, now};
use crate::failure::CommandFailure;
use crate::output::print_error;
use keymeter::domain::time::UnixTime;

/// `keymeter usage`
#[derive(Debug, Args)]
pub struct UsageArgs {
    #[command(flatten)]
    options: RemoteOptions,
    #[command(subcommand)]
    command: UsageCommand,
}

#[derive(Debug, Subcommand)]
enum UsageCommand {
    /// What was spent, by day or by something else.
    #[command(after_help = "Examples:
  keymeter usage report
  keymeter usage report --from 2027-01-01 --to 2027-01-31 --by key,model
  keymeter usage report --by user --everyone --since 7d
  keymeter usage report --by key --csv --fields token_name,usd")]
    Report(ReportArgs),
    /// The same as `keymeter request list`.
    Requests(RequestListArgs),
}

/// Whose usage.
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

/// Of which time.
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

#[derive(Debug, Args)]
struct ReportArgs {
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    time: TimeArgs,
    #[command(flatten)]
    options: ListOptions,
    /// What the rows are: day, month, key, model, or several of them, separated by commas; with --everyone also user
    /// and gateway.
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = By::parse, default_value = "day")]
    by: Vec<By>,
}

/// What the rows of a report are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    Day,
    Month,
    Key,
    Model,
    User,
    Gateway,
}

impl By {
    const ALL: [Self; 6] = [Self::Day, Self::Month, Self::Key, Self::Model, Self::User, Self::Gateway];

    /// The value of the API.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Day => "day",
            Self::Month => "month",
            Self::Key => "token",
            Self::Model => "model",
            Self::User => "user",
            Self::Gateway => "gateway",
        }
    }

    fn parse(text: &str) -> Result<Self, String> {
        let name = if text.trim() == "key" { "token" } else { text.trim() };
        let by = Self::ALL.into_iter().find(|by| by.as_str() == name);
        by.ok_or_else(|| "it is day, month, key, model, user or gateway, or several of them".to_owned())
    }
}

/// What parameters of the API are called here.
pub const OPTIONS: [(&str, &str); 7] = [
    ("from", "--from"),
    ("to", "--to"),
    ("group_by", "--by"),
    ("token_id", "--key"),
    ("user_id", "--user"),
    ("outcome", "--outcome"),
    ("token", "key"),
];

#[derive(Deserialize)]
struct Report {
    from: String,
    to: String,
    time_zone: String,
    rows: Vec<Map<String, Value>>,
    total: Amounts,
}

/// The rows as the server wrote them.
#[derive(Deserialize)]
struct ReportRows {
    rows: Vec<Box<RawValue>>,
}

#[derive(Deserialize)]
struct Amounts {
    quota: i64,
    requests: i64,
    prompt_tokens: i64,
    completion_tokens: i64,
}

/// The columns by which a report may be grouped, with their titles.
const COLUMNS: [(&str, &str); 6] = [
    ("date", "DAY"),
    ("month", "MONTH"),
    ("username", "USER"),
    ("token_name", "KEY"),
    ("model", "MODEL"),
    ("gateway_name", "GATEWAY"),
];

pub fn run(args: UsageArgs) -> Result<(), CommandFailure> {
    let remote = Remote::connect(&args.options)?;
    match args.command {
        UsageCommand::Report(args) => remote.report(&args),
        UsageCommand::Requests(args) => remote.list_requests(&args),
    }
}

impl ScopeArgs {
    /// Whether it is about others too: administrators have calls of their own.
    const fn is_of_all_users(&self) -> bool {
        self.everyone || self.user.is_some()
    }

    /// The path of reports.
    pub const fn path(&self) -> &'static str {
        usage_path(self.is_of_all_users())
    }

    /// As the API takes it.
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

impl Remote {
    fn report(&self, args: &ReportArgs) -> Result<(), CommandFailure> {
        let mut query = args.scope.query(self)?;
        // A report has whole days.
        let from = args.time.from.clone().or_else(|| args.time.since().map(day_of));
        query.extend(filter("from", from.as_ref()));
        query.extend(filter("to", args.time.to.as_ref()));
        let by: Vec<&str> = args.by.iter().map(|by| by.as_str()).collect();
        query.push(("group_by", by.join(",")));
        let report = self.client.get(args.scope.path(), &query);
        let data = report.map_err(|failure| failure.naming(&OPTIONS))?;
        if args.options.are_given() {
            return self.print_fields(&data.read::<ReportRows>()?.rows, &args.options, "usage");
        }
        self.show(&data, |report: Report| report.print())
    }
}

impl Report {
    fn print(&self) {
        print_error(&format!("from {} to {}, days of {}", self.from, self.to, self.time_zone));
        let present = |name: &str| self.rows.first().is_some_and(|row| row.get(name).is_some_and(|v| !v.is_null()));
        let columns: Vec<_> = COLUMNS.iter().filter(|(name, _)| present(name)).collect();
        let titles = columns.iter().map(|(_, title)| *title);
        let amounts = ["REQUESTS", "INPUT", "OUTPUT", "COST"];
        let titles: Vec<&str> = titles.chain(amounts).collect();
        let mut table = Table::with_amounts(&titles, &amounts);
        for row in &self.rows {
            let text = |name: &str| row.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
            let number = |name: &str| row.get(name).and_then(Value::as_i64).unwrap_or_default();
            let amounts = Amounts {
                quota: number("quota"),
                requests: number("requests"),
                prompt_tokens: number("prompt_tokens"),
                completion_tokens: number("completion_tokens"),
            };
            table.row(columns.iter().map(|(name, _)| text(name)).chain(amounts.cells()).collect());
        }
        let mut name = columns.iter().map(|_| String::new()).collect::<Vec<_>>();
        if let Some(first) = name.first_mut() {
            "total".clone_into(first);
        }
        table.row(name.into_iter().chain(self.total.cells()).collect());
        table.print("usage");
    }
}

impl Amounts {
    fn cells(&self) -> [String; 4] {
        let counts = [self.requests, self.prompt_tokens, self.completion_tokens].map(|count| count.to_string());
        let [requests, input, output] = counts;
        [requests, input, output, dollars(self.quota)]
    }
}
