//! `keymeter enablement …`: who asks to use the token API. For administrators.

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand};
use serde::Deserialize;
use serde_json::json;

use super::list_options::ListOptions;
use super::named::{Named, PENDING_REQUESTS};
use super::target::RemoteOptions;
use super::terminal::{Table, time};
use super::{Listing, Remote, filter};
use crate::failure::CommandFailure;
use keymeter::domain::enablement::EnablementState;

/// `keymeter enablement`
#[derive(Debug, Args)]
pub struct EnablementArgs {
    #[command(flatten)]
    options: RemoteOptions,
    #[command(subcommand)]
    command: EnablementCommand,
}

#[derive(Debug, Subcommand)]
enum EnablementCommand {
    /// List the requests of users to be enabled for the token API, newest first.
    #[command(after_help = "Example:
  keymeter enablement list --state pending")]
    List(ListArgs),
    /// Enable the user of a request.
    #[command(after_help = "Example:
  keymeter enablement approve ana --note 'until summer'")]
    Approve(DecisionArgs),
    /// Refuse a request.
    #[command(after_help = "Example:
  keymeter enablement refuse ana --note 'ask your team first'")]
    Refuse(DecisionArgs),
}

#[derive(Debug, Args)]
struct ListArgs {
    /// Only requests in this state.
    #[arg(long, value_parser = PossibleValuesParser::new(EnablementState::ALL.map(EnablementState::as_str)))]
    state: Option<String>,
    /// How many at most.
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    #[command(flatten)]
    options: ListOptions,
}

#[derive(Debug, Args)]
struct DecisionArgs {
    /// The user, by name; or the request, by id.
    request: Named,
    /// A note to the user.
    #[arg(long, value_name = "TEXT")]
    note: Option<String>,
}

#[derive(Deserialize)]
struct EnablementRequest {
    id: i64,
    username: String,
    state: String,
    created_time: i64,
    decided_by_name: Option<String>,
    reason: String,
}

pub fn run(args: EnablementArgs) -> Result<(), CommandFailure> {
    let remote = Remote::connect(&args.options)?;
    match args.command {
        EnablementCommand::List(args) => remote.list_enablement(&args),
        EnablementCommand::Approve(args) => remote.decide(&args, "approve", "approved"),
        EnablementCommand::Refuse(args) => remote.decide(&args, "refuse", "refused"),
    }
}

impl Remote {
    fn list_enablement(&self, args: &ListArgs) -> Result<(), CommandFailure> {
        let filters = filter("state", args.state.as_ref()).into_iter().collect();
        let path = "/api/admin/token_api_requests";
        let listing = Listing { path, filters, limit: args.limit, since: None };
        self.list(&listing, &args.options, "requests", |requests: Vec<EnablementRequest>| {
            let mut table = Table::new(&["ID", "USER", "STATE", "ASKED", "DECIDED BY", "REASON"]);
            for EnablementRequest { id, username, state, created_time, decided_by_name, reason } in requests {
                let decided_by = decided_by_name.unwrap_or_default();
                table.row(vec![id.to_string(), username, state, time(created_time), decided_by, reason]);
            }
            table
        })
    }

    fn decide(&self, args: &DecisionArgs, decision: &str, done: &str) -> Result<(), CommandFailure> {
        let found = self.find(&PENDING_REQUESTS, &args.request)?;
        let body = json!({ "decision": decision, "note": args.note });
        let decided = self.client.post(&format!("/api/admin/token_api_requests/{}", found.id), &body);
        let data = decided.map_err(|failure| failure.naming(&[("note", "--note")]))?;
        self.done(&data, &format!("{done} the request {found}"));
        Ok(())
    }
}
