//! `keymeter request …`: single requests that were charged or refused.

use clap::{Args, Subcommand};
use serde_json::value::RawValue;

use super::list_options::ListOptions;
use super::request_pages::{FoundRequests, PAGE, RequestFilterArgs};
use super::request_tail::TailArgs;
use super::request_view::RequestEntry;
use super::scope_args::{TimeArgs, usage_path};
use super::target::RemoteOptions;
use super::terminal::{Table, dollars, printable, time};
use super::{Remote, client, day_before, filter};
use crate::failure::{CommandFailure, exit};
use crate::output::print_error;
use keymeter::domain::request_history::Position;

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

pub fn run(args: RequestArgs) -> Result<(), CommandFailure> {
    let remote = Remote::connect(&args.options)?;
    match args.command {
        RequestCommand::List(args) => remote.list_requests(&args),
        RequestCommand::Show(args) => remote.show_request(&args),
        RequestCommand::Tail(args) => remote.tail_requests(&args),
    }
}

impl Remote {
    pub fn list_requests(&self, args: &RequestListArgs) -> Result<(), CommandFailure> {
        let since = args.time.since();
        let mut query = args.filter.query(self)?;
        let from = args.time.from.clone().or_else(|| since.map(day_before));
        query.extend(filter("from", from.as_ref()));
        query.extend(filter("to", args.time.to.as_ref()));
        let FoundRequests { entries, are_all, .. } =
            self.requests(args.filter.scope.path(), &query, args.limit, since)?;
        if !are_all {
            print_error(&format!("these are the newest {}; --limit N shows more", entries.len()));
        }
        self.print_entries(&entries, &args.options, "requests", table_of)
    }

    fn show_request(&self, args: &ShowArgs) -> Result<(), CommandFailure> {
        let path = usage_path(args.everyone);
        let is_position = Position::parse(&args.id).is_ok();
        let by = if is_position { "id" } else { "request_id" };
        let found = self.requests(path, &[(by, args.id.clone())], PAGE, None)?;
        match found.entries.as_slice() {
            [] => {
                let searched =
                    found.searched_from.map(|from| format!("; those before {} were not searched", time(from)));
                let message = format!("there is no request with the id \"{}\"", printable(&args.id));
                Err(CommandFailure::new(exit::NOT_FOUND, message + &searched.unwrap_or_default()))
            }
            [only] if is_position => self.show_found(only),
            [only] => {
                // Only a query by `id` returns `details`.
                let place: RequestEntry = client::read(only.get())?;
                let found = self.requests(path, &[("id", place.id)], 1, None)?;
                self.show_found(found.entries.first().unwrap_or(only))
            }
            several => {
                for entry in several {
                    let RequestEntry { id, at, outcome, .. } = client::read(entry.get())?;
                    print_error(&printable(&format!("  {id}  {}  {outcome}", time(at))));
                }
                let message = format!("{} requests have this id; give one of these", several.len());
                Err(CommandFailure::new(exit::USAGE, message))
            }
        }
    }

    fn show_found(&self, entry: &RawValue) -> Result<(), CommandFailure> {
        self.show(&client::Data(Some(entry.to_owned())), |request: RequestEntry| request.print())
    }
}

fn table_of(requests: Vec<RequestEntry>) -> Table {
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
