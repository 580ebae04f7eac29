//! `keymeter request …`: single requests that were charged or refused.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::list_options::ListOptions;
use super::request_tail::TailArgs;
use super::target::RemoteOptions;
use super::terminal::{Table, dollars, print_facts, printable, time, time_of_day};
use super::usage::{OPTIONS, ScopeArgs, TimeArgs, usage_path};
use super::{Remote, client, day_before, filter, not_before};
use crate::failure::{CommandFailure, exit};
use crate::output::{print_error, print_line};
use keymeter::domain::request_history::{OutcomeKind, Position};
use keymeter::domain::time::UnixTime;

/// The most that a page has.
const PAGE: usize = 100;

/// `keymeter request`
#[derive(Debug, Args)]
pub struct RequestArgs {
    #[command(flatten)]
    options: RemoteOptions,
    #[command(subcommand)]
    command: RequestCommand,
}

#[derive(Debug, Subcommand)]
enum RequestCommand {
    /// Requests that were charged or refused, newest first. Of refused ones these are samples.
    #[command(after_help = "Examples:
  keymeter request list --key ci
  keymeter request list --since 2h --outcome refused
  keymeter request list --everyone --csv --fields at,username,model,usd,refusal.reason")]
    List(RequestListArgs),
    /// Everything that is known of one request.
    #[command(after_help = "Examples:
  keymeter request show 1893456000.c12
  keymeter request show chatcmpl-8Kq2 --everyone")]
    Show(ShowArgs),
    /// Requests as they come, until Ctrl-C.
    #[command(after_help = "Examples:
  keymeter request tail --key ci
  keymeter request tail --everyone --outcome refused --json")]
    Tail(TailArgs),
}

/// Which requests, of any time.
#[derive(Debug, Args)]
pub struct RequestFilterArgs {
    #[command(flatten)]
    pub scope: ScopeArgs,
    /// Only requests for this model.
    #[arg(long)]
    model: Option<String>,
    /// Only requests that ended like this.
    #[arg(long, value_parser = PossibleValuesParser::new(OutcomeKind::ALL.map(OutcomeKind::as_str)))]
    outcome: Option<String>,
}

#[derive(Debug, Args)]
pub struct RequestListArgs {
    #[command(flatten)]
    filter: RequestFilterArgs,
    #[command(flatten)]
    time: TimeArgs,
    /// How many at most.
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    #[command(flatten)]
    options: ListOptions,
}

#[derive(Debug, Args)]
struct ShowArgs {
    /// The request's id, as the list shows it with --json; or the id that its gateway gave it or was answered.
    id: String,
    /// Among the requests of everyone. For administrators.
    #[arg(long)]
    everyone: bool,
}

#[derive(Deserialize)]
struct RequestPage {
    items: Vec<Box<RawValue>>,
    next: Option<String>,
}

/// What people see of a request.
#[derive(Deserialize)]
pub struct Request {
    pub id: String,
    pub at: i64,
    outcome: String,
    token_id: Option<i64>,
    token_name: Option<String>,
    username: Option<String>,
    model: String,
    quota: i64,
    shortfall: i64,
    prompt_tokens: i64,
    completion_tokens: i64,
    units: Option<Value>,
    priced_by: Option<String>,
    hold_reason: Option<String>,
    ip: Option<String>,
    #[serde(rename = "request_id")]
    gateways_id: Option<String>,
    reservation_id: Option<String>,
    gateway_name: Option<String>,
    refusal: Option<Refusal>,
}

#[derive(Deserialize)]
struct Refusal {
    reason: String,
    message: String,
    call: String,
    requested: Option<i64>,
    retry_after: Option<i64>,
    suppressed: i64,
}

pub fn run(args: RequestArgs) -> Result<(), CommandFailure> {
    let remote = Remote::connect(&args.options)?;
    match args.command {
        RequestCommand::List(args) => remote.list_requests(&args),
        RequestCommand::Show(args) => remote.show_request(&args),
        RequestCommand::Tail(args) => remote.tail_requests(&args),
    }
}

impl RequestFilterArgs {
    /// As the API takes it.
    pub fn query(&self, remote: &Remote) -> Result<Vec<(&'static str, String)>, CommandFailure> {
        let mut query = self.scope.query(remote)?;
        query.extend(filter("model", self.model.as_ref()));
        query.extend(filter("outcome", self.outcome.as_ref()));
        Ok(query)
    }
}

impl Remote {
    pub fn list_requests(&self, args: &RequestListArgs) -> Result<(), CommandFailure> {
        let since = args.time.since();
        let mut query = args.filter.query(self)?;
        let from = args.time.from.clone().or_else(|| since.map(day_before));
        query.extend(filter("from", from.as_ref()));
        query.extend(filter("to", args.time.to.as_ref()));
        let (entries, are_all) = self.requests(args.filter.scope.path(), &query, args.limit, since)?;
        if !are_all {
            print_error(&format!("these are the newest {}; --limit N shows more", entries.len()));
        }
        self.print_entries(&entries, &args.options, "requests", table_of)
    }

    /// The newest requests, `limit` at most and none before `since`, and whether these are all.
    pub fn requests(
        &self,
        path: &str,
        query: &[(&str, String)],
        limit: usize,
        since: Option<UnixTime>,
    ) -> Result<(Vec<Box<RawValue>>, bool), CommandFailure> {
        let path = format!("{path}/requests");
        let size = ("size", limit.clamp(1, PAGE).to_string());
        let mut entries = Vec::new();
        let mut after: Option<String> = None;
        loop {
            let place: Vec<_> = filter("after", after.as_ref()).into_iter().chain([size.clone()]).collect();
            let page = self.client.get(&path, &[query, place.as_slice()].concat());
            let page: RequestPage = page.map_err(|failure| failure.naming(&OPTIONS))?.read()?;
            let (wanted, is_past) = not_before(since, page.items);
            entries.extend(wanted);
            let is_last = is_past || page.next.is_none();
            if is_last || entries.len() >= limit {
                let are_all = is_last && entries.len() <= limit;
                entries.truncate(limit);
                return Ok((entries, are_all));
            }
            // With filters a page may be empty although older ones follow.
            after = page.next;
        }
    }

    fn show_request(&self, args: &ShowArgs) -> Result<(), CommandFailure> {
        let by = if Position::parse(&args.id).is_ok() { "id" } else { "request_id" };
        let query = [(by, args.id.clone())];
        let (found, _) = self.requests(usage_path(args.everyone), &query, PAGE, None)?;
        match found.as_slice() {
            [] => {
                let message = format!("there is no request with the id \"{}\"", printable(&args.id));
                Err(CommandFailure::new(exit::NOT_FOUND, message))
            }
            [only] if self.json => {
                print_line(only.get());
                Ok(())
            }
            [only] => {
                client::read::<Request>(only.get())?.print();
                Ok(())
            }
            several => {
                for entry in several {
                    let Request { id, at, outcome, .. } = client::read(entry.get())?;
                    print_error(&printable(&format!("  {id}  {}  {outcome}", time(at))));
                }
                let message = format!("{} requests have this id; give one of these", several.len());
                Err(CommandFailure::new(exit::USAGE, message))
            }
        }
    }
}

fn table_of(requests: Vec<Request>) -> Table {
    let columns = ["AT", "OUTCOME", "KEY", "MODEL", "COST", "INPUT", "OUTPUT", "REQUEST", "REASON"];
    let mut table = Table::with_amounts(&columns, &["COST", "INPUT", "OUTPUT"]);
    for request in requests {
        table.row(vec![
            time(request.at),
            request.outcome,
            request.token_name.unwrap_or_default(),
            request.model,
            dollars(request.quota),
            request.prompt_tokens.to_string(),
            request.completion_tokens.to_string(),
            request.gateways_id.unwrap_or_default(),
            request.refusal.map(|refusal| refusal.reason).unwrap_or_default(),
        ]);
    }
    table
}

impl Request {
    /// One line: when, how it ended, the key, the model, and the cost or why it was refused.
    pub fn line(&self) -> String {
        let Self { outcome, model, .. } = self;
        let key = self.token_name.as_deref().unwrap_or("-");
        let model = if model.is_empty() { "-" } else { model };
        let end = self.refusal.as_ref().map_or_else(|| dollars(self.quota), |refusal| refusal.message.clone());
        printable(&format!("{}  {outcome:<8}  {key}  {model}  {end}", time_of_day(self.at)))
    }

    fn print(self) {
        let key = match (self.token_name, self.token_id) {
            (Some(name), Some(id)) => Some(format!("{name} (id {id})")),
            (name, _) => name,
        };
        let count = |count: i64| (count != 0).then(|| count.to_string());
        let seconds = |seconds: i64| format!("{seconds} s");
        let refusal = self.refusal.as_ref();
        let facts = [
            ("id", Some(self.id)),
            ("at", Some(time_of_day(self.at))),
            ("outcome", Some(self.outcome)),
            ("refused because", refusal.map(|refusal| refusal.message.clone())),
            ("reason", refusal.map(|refusal| refusal.reason.clone())),
            ("call", refusal.map(|refusal| refusal.call.clone())),
            ("asked for", refusal.and_then(|refusal| refusal.requested).map(dollars)),
            ("retry after", refusal.and_then(|refusal| refusal.retry_after).map(seconds)),
            ("more like it", refusal.and_then(|refusal| count(refusal.suppressed))),
            ("key", key),
            ("user", self.username),
            ("model", Some(self.model)),
            ("cost", refusal.is_none().then(|| dollars(self.quota))),
            ("not covered", (self.shortfall != 0).then(|| dollars(self.shortfall))),
            ("input tokens", count(self.prompt_tokens)),
            ("output tokens", count(self.completion_tokens)),
            ("units", self.units.map(|units| units.to_string()).filter(|units| units != "{}")),
            ("priced by", self.priced_by),
            ("why the hold", self.hold_reason),
            ("address", self.ip),
            ("request id", self.gateways_id),
            ("reservation", self.reservation_id),
            ("gateway", self.gateway_name),
        ];
        let known = facts.into_iter().filter_map(|(name, value)| Some((name, value.filter(|text| !text.is_empty())?)));
        print_facts(&known.collect::<Vec<_>>());
    }
}
