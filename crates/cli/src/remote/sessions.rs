//! `keymeter session …`: where you are signed in with a browser.

use clap::{Args, Subcommand};
use serde::Deserialize;

use super::Remote;
use super::list_options::ListOptions;
use super::target::RemoteOptions;
use super::terminal::{Table, confirm, time};
use super::values::id_arg;
use crate::failure::CommandFailure;

/// `keymeter session`
#[derive(Debug, Args)]
pub struct SessionArgs {
    #[command(flatten)]
    options: RemoteOptions,
    #[command(subcommand)]
    command: SessionCommand,
}

#[derive(Debug, Subcommand)]
enum SessionCommand {
    /// List your sessions, the last used first.
    List(ListOptions),
    /// End a session, or all of them. Access tokens stay valid.
    #[command(after_help = "Examples:
  keymeter session end 7
  keymeter session end --all --yes")]
    End {
        /// The session's id.
        #[arg(value_parser = id_arg, required_unless_present = "all", conflicts_with = "all")]
        id: Option<i64>,
        /// End all of your sessions.
        #[arg(long)]
        all: bool,
        /// Do not ask. Needed where there is no terminal.
        #[arg(long, short)]
        yes: bool,
    },
}

#[derive(Deserialize)]
struct Session {
    id: i64,
    created_time: Option<i64>,
    last_seen_time: Option<i64>,
    expires_at: i64,
    ip: String,
    user_agent: String,
}

pub fn run(args: SessionArgs) -> Result<(), CommandFailure> {
    let remote = Remote::connect(&args.options)?;
    match args.command {
        SessionCommand::List(options) => remote.list_sessions(&options),
        SessionCommand::End { id: Some(id), yes, .. } => {
            confirm(&format!("end the session {id}"), yes)?;
            let data = remote.client.delete(&format!("/api/user/sessions/{id}"))?;
            remote.done(&data, &format!("ended the session {id}"));
            Ok(())
        }
        SessionCommand::End { id: None, yes, .. } => {
            confirm("end all of your sessions", yes)?;
            let data = remote.client.delete("/api/user/sessions")?;
            let count: u64 = data.read()?;
            remote.done(&data, &format!("ended {count} sessions"));
            Ok(())
        }
    }
}

impl Remote {
    fn list_sessions(&self, options: &ListOptions) -> Result<(), CommandFailure> {
        let entries = self.array("/api/user/sessions", &[])?;
        self.print_entries(&entries, options, "sessions", |sessions: Vec<Session>| {
            let mut table = Table::new(&["ID", "SIGNED IN", "LAST USED", "ENDS", "FROM", "BROWSER"]);
            for Session { id, created_time, last_seen_time, expires_at, ip, user_agent } in sessions {
                let [signed_in, last_used] = [created_time, last_seen_time].map(|at| at.map(time).unwrap_or_default());
                table.row(vec![id.to_string(), signed_in, last_used, time(expires_at), ip, user_agent]);
            }
            table
        })
    }
}
