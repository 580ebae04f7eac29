//! `keymeter usage …`

use chrono::{Days, NaiveDate};
use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::comparison::days_before;
use super::list_options::ListOptions;
use super::requests::RequestListArgs;
use super::scope_args::{OPTIONS, ScopeArgs, TimeArgs};
use super::target::RemoteOptions;
use super::terminal::{Table, dollars, time};
use super::{Remote, day_of, filter, now};
use crate::failure::{CommandFailure, exit};
use crate::output::print_error;
use keymeter::domain::bounds;
use keymeter::domain::usage_report_request::Dimension;

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
  keymeter usage report --by key --csv --fields token_name,usd
  keymeter usage report --since 7d --compare --by model")]
    Report(ReportArgs),
    /// The same as `keymeter request list`.
    Requests(RequestListArgs),
}

#[derive(Debug, Args)]
struct ReportArgs {
    #[command(flatten)]
    scope: ScopeArgs,
    #[command(flatten)]
    time: TimeArgs,
    #[command(flatten)]
    options: ListOptions,
    /// What the rows are: day (the default), hour, month, key, group, model, or several of them, separated by commas;
    /// with --everyone also user and gateway.
    #[arg(long, value_name = "WHAT", value_delimiter = ',', value_parser = by_arg)]
    by: Vec<Dimension>,
    /// Show the change since the days before, the largest first: of a month, since the same days of the month before.
    /// By key, if --by says nothing else.
    #[arg(long)]
    compare: bool,
}

/// Reads a dimension of a report. `key` is `token` in the API.
fn by_arg(text: &str) -> Result<Dimension, String> {
    let name = if text.trim() == "key" { "token" } else { text.trim() };
    Dimension::parse(name)
        .ok_or_else(|| "it is hour, day, month, key, group, model, user or gateway, or several of them".to_owned())
}

#[derive(Deserialize)]
struct Report {
    from: String,
    to: String,
    time_zone: String,
    compare_from: Option<String>,
    compare_to: Option<String>,
    rows: Vec<ReportRow>,
    total: Amounts,
}

#[derive(Deserialize)]
struct ReportRow {
    #[serde(flatten)]
    amounts: Amounts,
    /// What it is of, by the names of the columns.
    #[serde(flatten)]
    of: Map<String, Value>,
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
    /// The amounts of the days before.
    before: Option<Spend>,
    change: Option<Spend>,
}

#[derive(Deserialize)]
struct Spend {
    quota: i64,
}

/// The columns by which a report may be grouped, with their titles.
const COLUMNS: [(&str, &str); 8] = [
    ("hour", "HOUR"),
    ("date", "DAY"),
    ("month", "MONTH"),
    ("username", "USER"),
    ("token_name", "KEY"),
    ("group", "GROUP"),
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

impl Remote {
    fn report(&self, args: &ReportArgs) -> Result<(), CommandFailure> {
        let mut query = args.scope.query(self)?;
        // A report has whole days.
        let from = args.time.from.clone().or_else(|| args.time.since().map(day_of));
        if args.compare {
            query.extend(compared(from.as_deref(), args.time.to.as_deref())?);
        } else {
            query.extend(filter("from", from.as_ref()));
            query.extend(filter("to", args.time.to.as_ref()));
        }
        let by: &[Dimension] = match args.by.as_slice() {
            [] if args.compare => &[Dimension::Token],
            [] => &[Dimension::Day],
            by => by,
        };
        query.push(("group_by", by.iter().map(|by| by.as_str()).collect::<Vec<_>>().join(",")));
        let report = self.client.get(args.scope.path(), &query);
        let data = report.map_err(|failure| failure.naming(&OPTIONS))?;
        if args.options.are_given() {
            return self.print_fields(&data.read::<ReportRows>()?.rows, &args.options, "usage");
        }
        self.show(&data, |report: Report| report.print())
    }
}

/// The days of a report and those that it is compared with, as the API takes them.
fn compared(from: Option<&str>, to: Option<&str>) -> Result<Vec<(&'static str, String)>, CommandFailure> {
    let day = |text: &str, option: &str| {
        let unread = |_| CommandFailure::new(exit::USAGE, format!("`{option}` must be a day, such as 2027-01-31"));
        text.parse::<NaiveDate>().map_err(unread)
    };
    let to = day(&to.map_or_else(|| day_of(now()), str::to_owned), "--to")?;
    let from = from.map_or_else(
        || Ok(to - Days::new(bounds::DEFAULT_REPORT_DAYS.unsigned_abs() - 1)),
        |from| day(from, "--from"),
    )?;
    let (before_from, before_to) = days_before(from, to)
        .ok_or_else(|| CommandFailure::new(exit::USAGE, "`--from` is after `--to`, or too long ago"))?;
    let days = [("from", from), ("to", to), ("compare_from", before_from), ("compare_to", before_to)];
    let days = days.into_iter().map(|(name, day)| (name, day.to_string()));
    Ok(days.chain([("sort", "change".to_owned())]).collect())
}

impl Report {
    fn print(&self) {
        print_error(&format!("from {} to {}, days of {}", self.from, self.to, self.time_zone));
        if let (Some(from), Some(to)) = (&self.compare_from, &self.compare_to) {
            print_error(&format!("compared with {from} to {to}"));
        }
        let is_compared = self.total.change.is_some();
        let present = |name: &str| self.rows.first().is_some_and(|row| row.of.get(name).is_some_and(|v| !v.is_null()));
        let columns: Vec<_> = COLUMNS.iter().filter(|(name, _)| present(name)).collect();
        let titles = columns.iter().map(|(_, title)| *title);
        let amounts = if is_compared { COMPARED_AMOUNTS } else { AMOUNTS };
        let titles: Vec<&str> = titles.chain(amounts).collect();
        let mut table = Table::with_amounts(&titles, &amounts);
        for row in &self.rows {
            let text = |name: &str| match row.of.get(name) {
                Some(Value::String(text)) => text.clone(),
                // The start of an hour.
                Some(other) => other.as_i64().map(time).unwrap_or_default(),
                None => String::new(),
            };
            table.row(columns.iter().map(|(name, _)| text(name)).chain(row.amounts.cells()).collect());
        }
        let mut name = columns.iter().map(|_| String::new()).collect::<Vec<_>>();
        if let Some(first) = name.first_mut() {
            "total".clone_into(first);
        }
        table.row(name.into_iter().chain(self.total.cells()).collect());
        table.print("usage");
    }
}

/// The columns of amounts, and those of a comparison.
const AMOUNTS: [&str; 4] = ["REQUESTS", "INPUT", "OUTPUT", "COST"];
const COMPARED_AMOUNTS: [&str; 4] = ["REQUESTS", "COST", "BEFORE", "CHANGE"];

impl Amounts {
    fn cells(&self) -> [String; 4] {
        let counts = [self.requests, self.prompt_tokens, self.completion_tokens].map(|count| count.to_string());
        let ([requests, input, output], cost) = (counts, dollars(self.quota));
        match (&self.before, &self.change) {
            (Some(before), Some(change)) => {
                let sign = if change.quota > 0 { "+" } else { "" };
                [requests, cost, dollars(before.quota), format!("{sign}{}", dollars(change.quota))]
            }
            _ => [requests, input, output, cost],
        }
    }
}
