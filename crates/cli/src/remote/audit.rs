//! `keymeter audit …`

use clap::builder::PossibleValuesParser;
use clap::{Args, Subcommand, ValueEnum};
use serde::Deserialize;

use super::list_options::ListOptions;
use super::named::{ALL_KEYS, Found, GATEWAYS, Named, OWN_KEYS, USERS};
use super::target::RemoteOptions;
use super::terminal::{Table, time};
use super::values::duration_arg;
use super::{Listing, Remote, day_before, filter, now};
use crate::failure::{CommandFailure, exit};
use keymeter::domain::audit::Action;

/// `keymeter audit`
#[derive(Debug, Args)]
pub struct AuditArgs {
    #[command(flatten)]
    options: RemoteOptions,
    #[command(subcommand)]
    command: AuditCommand,
}

#[derive(Debug, Subcommand)]
enum AuditCommand {
    /// What was done, by whom, newest first: your own account, or with --everyone all of them.
    #[command(after_help = "Examples:
  keymeter audit list
  keymeter audit list --action token.key_revealed
  keymeter audit list --since 2h
  keymeter audit list --everyone --from 2027-01-01 --limit 1000 --json")]
    List(ListArgs),
}

#[derive(Debug, Args)]
struct ListArgs {
    /// The lines of all accounts. For administrators.
    #[arg(long)]
    everyone: bool,
    /// Only this action.
    #[arg(long, value_parser = PossibleValuesParser::new(Action::ALL.map(Action::as_str)))]
    action: Option<String>,
    /// Only what was done to this kind of thing.
    #[arg(long, value_name = "KIND", value_enum)]
    subject_kind: Option<SubjectKind>,
    /// Only what was done to this thing: the id, or the name of a key, a user or a gateway. Needs --subject-kind.
    #[arg(long, value_name = "NAME|ID", requires = "subject_kind")]
    subject: Option<Named>,
    /// Only what this user did, by name or id. For administrators.
    #[arg(long, value_name = "USER", requires = "everyone")]
    actor: Option<Named>,
    /// The first day, such as 2027-01-01.
    #[arg(long, value_name = "DAY")]
    from: Option<String>,
    /// The last day.
    #[arg(long, value_name = "DAY")]
    to: Option<String>,
    /// Only what was done so long ago or later, such as 2h or 7d.
    #[arg(long, value_name = "TIME", value_parser = duration_arg, conflicts_with = "from")]
    since: Option<i64>,
    /// How many at most.
    #[arg(long, value_name = "N", default_value_t = 100)]
    limit: usize,
    #[command(flatten)]
    options: ListOptions,
}

/// Kinds of things that the audit log is about.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum SubjectKind {
    #[value(alias = "token")]
    Key,
    User,
    #[value(name = "access_token")]
    AccessToken,
    Gateway,
    #[value(name = "token_api_request")]
    TokenApiRequest,
    Prices,
    Database,
}

impl SubjectKind {
    /// The value of the API.
    const fn as_str(self) -> &'static str {
        match self {
            Self::Key => "token",
            Self::User => "user",
            Self::AccessToken => "access_token",
            Self::Gateway => "gateway",
            Self::TokenApiRequest => "token_api_request",
            Self::Prices => "prices",
            Self::Database => "database",
        }
    }
}

#[derive(Deserialize)]
struct Line {
    at: i64,
    action: String,
    actor_name: String,
    subject_kind: String,
    subject_id: Option<i64>,
    subject_name: Option<String>,
    ip: String,
}

pub fn run(args: AuditArgs) -> Result<(), CommandFailure> {
    let remote = Remote::connect(&args.options)?;
    let AuditCommand::List(args) = args.command;
    let path = if args.everyone { "/api/admin/audit" } else { "/api/user/activity" };
    let subject = args.find_subject(&remote)?;
    let actor = args.actor.as_ref().map(|actor| remote.find(&USERS, actor)).transpose()?;
    let since = args.since.map(|seconds| now().plus(-seconds));
    let filters = [
        filter("action", args.action.as_ref()),
        filter("subject_kind", args.subject_kind.map(SubjectKind::as_str).as_ref()),
        filter("subject_id", subject.map(|subject| subject.id).as_ref()),
        filter("actor_id", actor.map(|actor| actor.id).as_ref()),
        filter("from", args.from.or(since.map(day_before)).as_ref()),
        filter("to", args.to.as_ref()),
    ];
    let filters = filters.into_iter().flatten().collect();
    let listing = Listing { path, filters, limit: args.limit, since };
    remote.list(&listing, &args.options, "lines", |lines: Vec<Line>| {
        let mut table = Table::new(&["AT", "ACTION", "BY", "SUBJECT", "NAME", "FROM"]);
        for line in lines {
            let subject = line.subject_id.map(|id| format!(" {id}")).unwrap_or_default();
            let kind = if line.subject_kind == "token" { "key" } else { &line.subject_kind };
            let subject = format!("{kind}{subject}");
            let name = line.subject_name.unwrap_or_default();
            table.row(vec![time(line.at), line.action, line.actor_name, subject, name, line.ip]);
        }
        table
    })
}

impl ListArgs {
    fn find_subject(&self, remote: &Remote) -> Result<Option<Found>, CommandFailure> {
        let Some(subject) = &self.subject else { return Ok(None) };
        let found = match self.subject_kind {
            Some(SubjectKind::Key) if self.everyone => remote.find(&ALL_KEYS, subject),
            Some(SubjectKind::Key) => remote.find(&OWN_KEYS, subject),
            Some(SubjectKind::User) => remote.find(&USERS, subject),
            Some(SubjectKind::Gateway) => remote.find(&GATEWAYS, subject),
            Some(
                SubjectKind::AccessToken | SubjectKind::TokenApiRequest | SubjectKind::Prices | SubjectKind::Database,
            )
            | None => subject.by_id().ok_or_else(|| {
                CommandFailure::new(exit::USAGE, "--subject must be an id; only keys, users and gateways have names")
            }),
        };
        found.map(Some)
    }
}
