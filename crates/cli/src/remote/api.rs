//! `keymeter api`: any call of the API, for what has no command.

use clap::Args;
use clap::builder::PossibleValuesParser;
use http::Method;
use http::uri::PathAndQuery;

use super::Remote;
use super::target::{RemoteOptions, ServerOptions};
use super::terminal::text_from;
use crate::failure::{CommandFailure, exit};
use crate::output::print_answer;

pub const HELP: &str = "Examples:
  keymeter api GET /api/status
  keymeter api GET '/api/token/?p=1&page_size=100' | jq -r '.data.items[].name'
  keymeter api POST /api/user/token_api_request --data '{\"reason\": \"to try\"}'
  keymeter api PATCH /api/admin/users/7 --data @user.json

Nothing is asked. Standard output is the body of the answer as it came; a failure has the exit code of every command and
a sentence on standard error. `keymeter openapi` prints all calls.";

/// `keymeter api`
#[derive(Debug, Args)]
pub struct ApiArgs {
    #[command(flatten)]
    server: ServerOptions,
    /// The method.
    #[arg(ignore_case = true, value_parser = PossibleValuesParser::new(["GET", "POST", "PUT", "PATCH", "DELETE"]))]
    method: String,
    /// The path, with its query.
    #[arg(value_parser = path_arg)]
    path: String,
    /// The body, as JSON; @FILE reads it from a file, and @- from standard input.
    #[arg(long, value_name = "JSON|@FILE")]
    data: Option<String>,
}

fn path_arg(text: &str) -> Result<String, String> {
    let is_path = text.starts_with('/') && text.parse::<PathAndQuery>().is_ok();
    if is_path { Ok(text.to_owned()) } else { Err("a path is like /api/status".to_owned()) }
}

pub fn run(args: &ApiArgs) -> Result<(), CommandFailure> {
    let method: Method = args.method.to_uppercase().parse().map_err(|_| "there is no such method".to_owned())?;
    if method == Method::GET && args.data.is_some() {
        return Err(CommandFailure::new(exit::USAGE, "GET takes no --data; put the parameters into the path"));
    }
    let data = args.data.as_deref().map(read).transpose()?;
    let remote = Remote::connect(&RemoteOptions { server: args.server.clone(), json: true })?;
    print_answer(&remote.client.raw(&method, &args.path, data.as_deref())?);
    Ok(())
}

/// The text of `--data`.
fn read(data: &str) -> Result<String, CommandFailure> {
    data.strip_prefix('@').map_or_else(|| Ok(data.to_owned()), text_from)
}
