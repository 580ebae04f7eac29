//! `keymeter usage …`

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::named::{ALL_KEYS, Named, OWN_KEYS, USERS};
use super::target::RemoteOptions;
use super::terminal::{Table, dollars, time};
use super::{Remote, filter};
use crate::failure::CommandFailure;
use crate::output::print_error;
use keymeter::domain::request_history::OutcomeKind;

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
  keymeter usage report --by user --everyone")]
    Report(ReportArgs),
    /// Single requests, newest first.
    #[command(after_help = "Examples:
  keymeter usage requests --key ci
  keymeter usage requests --outcome refused --limit 20")]
    Requests(RequestsArgs),
}

#[derive(Debug, Args)]
struct Selection {
    /// The first day, such as 2027-01-01.
    #[arg(long, value_name = "DAY")]
    from: Option<String>,
    /// The last day.
    #[arg(long, value_name = "DAY")]
    to: Option<String>,
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

#[derive(Debug, Args)]
struct ReportArgs {
    #[command(flatten)]
    selection: Selection,
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
const OPTIONS: [(&str, &str); 7] = [
    ("from", "--from"),
    ("to", "--to"),
    ("group_by", "--by"),
    ("token_id", "--key"),
    ("user_id", "--user"),
    ("outcome", "--outcome"),
    ("token", "key"),
];

#[derive(Debug, Args)]
struct RequestsArgs {
    #[command(flatten)]
    selection: Selection,
    /// Only requests for this model.
    #[arg(long)]
    model: Option<String>,
    /// Only requests that ended like this.
    #[arg(long, value_parser = PossibleValuesParser::new(OutcomeKind::ALL.map(OutcomeKind::as_str)))]
    outcome: Option<String>,
    /// How many at most.
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
}

#[derive(Deserialize)]
struct Report {
    from: String,
    to: String,
    time_zone: String,
    rows: Vec<Map<String, Value>>,
    total: Amounts,
}

#[derive(Deserialize)]
struct Amounts {
    quota: i64,
    requests: i64,
    prompt_tokens: i64,
    completion_tokens: i64,
}

#[derive(Deserialize)]
struct Requests {
    items: Vec<Box<RawValue>>,
    next: Option<String>,
}

#[derive(Deserialize)]
struct Request {
    at: i64,
    outcome: String,
    token_name: Option<String>,
    model: String,
    quota: i64,
    prompt_tokens: i64,
    completion_tokens: i64,
    #[serde(rename = "request_id")]
    gateways_id: Option<String>,
    refusal: Option<Value>,
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
        UsageCommand::Requests(args) => remote.requests(&args),
    }
}

impl Selection {
    /// Whether it is about others too: administrators have calls of their own.
    const fn is_of_all_users(&self) -> bool {
        self.everyone || self.user.is_some()
    }

    const fn prefix(&self) -> &'static str {
        if self.is_of_all_users() { "/api/admin/usage" } else { "/api/usage" }
    }

    fn filters(&self, remote: &Remote) -> Result<Vec<(&'static str, String)>, CommandFailure> {
        let keys = if self.is_of_all_users() { ALL_KEYS } else { OWN_KEYS };
        let key = self.key.as_ref().map(|key| remote.find(&keys, key)).transpose()?;
        let user = self.user.as_ref().map(|user| remote.find(&USERS, user)).transpose()?;
        let filters = [
            filter("from", self.from.as_ref()),
            filter("to", self.to.as_ref()),
            filter("token_id", key.map(|key| key.id).as_ref()),
            filter("user_id", user.map(|user| user.id).as_ref()),
        ];
        Ok(filters.into_iter().flatten().collect())
    }
}

impl Remote {
    fn report(&self, args: &ReportArgs) -> Result<(), CommandFailure> {
        let mut query = args.selection.filters(self)?;
        let by: Vec<&str> = args.by.iter().map(|by| by.as_str()).collect();
        query.push(("group_by", by.join(",")));
        let report = self.client.get(args.selection.prefix(), &query);
        let data = report.map_err(|failure| failure.naming(&OPTIONS))?;
        self.show(&data, |report: Report| report.print())
    }

    fn requests(&self, args: &RequestsArgs) -> Result<(), CommandFailure> {
        let mut query = args.selection.filters(self)?;
        query.extend(filter("model", args.model.as_ref()));
        query.extend(filter("outcome", args.outcome.as_ref()));
        query.push(("size", args.limit.clamp(1, 100).to_string()));
        let path = format!("{}/requests", args.selection.prefix());
        let mut items = Vec::new();
        let mut next: Option<String> = None;
        loop {
            let after: Vec<_> = filter("after", next.as_ref()).into_iter().collect();
            let page = self.client.get(&path, &[&*query, &*after].concat());
            let page: Requests = page.map_err(|failure| failure.naming(&OPTIONS))?.read()?;
            let is_empty = page.items.is_empty();
            items.extend(page.items);
            next = page.next;
            if next.is_none() || is_empty || items.len() >= args.limit {
                break;
            }
        }
        if next.is_some() || items.len() > args.limit {
            print_error(&format!("these are the newest {}; --limit N shows more", args.limit.min(items.len())));
        }
        items.truncate(args.limit);
        self.print_items(&items, |requests: Vec<Request>| print_requests(&requests))
    }
}

fn print_requests(requests: &[Request]) {
    let columns = ["AT", "OUTCOME", "KEY", "MODEL", "COST", "INPUT", "OUTPUT", "REQUEST", "REASON"];
    let mut table = Table::with_amounts(&columns, &["COST", "INPUT", "OUTPUT"]);
    for request in requests {
        let reason = request.refusal.as_ref().and_then(|refusal| refusal.get("reason")?.as_str());
        table.row(vec![
            time(request.at),
            request.outcome.clone(),
            request.token_name.clone().unwrap_or_default(),
            request.model.clone(),
            dollars(request.quota),
            request.prompt_tokens.to_string(),
            request.completion_tokens.to_string(),
            request.gateways_id.clone().unwrap_or_default(),
            reason.unwrap_or_default().to_owned(),
        ]);
    }
    table.print("requests");
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
