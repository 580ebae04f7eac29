//! `keymeter top`: what all servers are doing, until it is stopped.

use std::io::{self, IsTerminal, stdout};
use std::process::ExitCode;
use std::slice;
use std::sync::Arc;
use std::time::Duration;

use clap::Args;
use console::{Style, Term, truncate_str};
use tokio::time::MissedTickBehavior;

use super::Remote;
use super::address::Address;
use super::client::Data;
use super::target::RemoteOptions;
use super::terminal::printable;
use super::top_report::{Tone, TopLine, TopReport};
use crate::failure::{CommandFailure, exit};
use crate::output::{print_error, print_line, print_while_read};
use keymeter::app::StopSignals;

pub const HELP: &str = "Examples:
  keymeter top
  keymeter top --once
  keymeter top --once --json
  keymeter top --json --interval 10

Until Ctrl-C; with --json it prints one document a line. An administrator's access token is needed.";

const PATH: &str = "/api/admin/system";

/// `keymeter top`
#[derive(Debug, Args)]
pub struct TopArgs {
    /// Print one report and end.
    #[arg(long)]
    once: bool,
    /// The time between two reports.
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = clap::value_parser!(u32).range(1..=3_600))]
    interval: u32,
    #[command(flatten)]
    options: RemoteOptions,
}

pub fn run(args: &TopArgs) -> Result<(), CommandFailure> {
    if !args.once && !args.options.json && !stdout().is_terminal() {
        let message = "standard output is no terminal; use --once for one report, or --json for one document a line";
        return Err(CommandFailure::new(exit::USAGE, message));
    }
    let remote = Remote::connect(&args.options)?;
    if args.once {
        let data = remote.client.get(PATH, &[])?;
        return remote.show(&data, |report: TopReport| {
            for line in report.lines() {
                print_line(&line.text);
            }
        });
    }
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("cannot start threads: {error}"))?;
    let watched = runtime.block_on(watch(remote, Duration::from_secs(args.interval.into())));
    // A request may still wait for its answer.
    runtime.shutdown_background();
    watched
}

/// Asks and shows, again and again. A server that does not answer is asked again, but for the first time.
async fn watch(remote: Remote, interval: Duration) -> Result<(), CommandFailure> {
    let mut stop = StopSignals::catch();
    let mut view = if remote.json { View::Lines { outage: String::new() } } else { View::screen() };
    let remote = Arc::new(remote);
    let mut ticks = tokio::time::interval(interval);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let mut is_first = true;
    loop {
        let asked = Arc::clone(&remote);
        let answer = async {
            ticks.tick().await;
            tokio::task::spawn_blocking(move || asked.client.get_soon(PATH)).await
        };
        let answer = tokio::select! {
            answer = answer => answer.map_err(|error| error.to_string())?,
            () = stop.received() => return view.end(),
        };
        let goes_on = match answer {
            Ok(data) => view.show(&data)?,
            Err(failure) if is_first || failure.code == ExitCode::from(exit::NOT_ALLOWED) => return Err(failure),
            Err(failure) => view.show_outage(outage(remote.client.address(), &failure.message))?,
        };
        if !goes_on {
            return Ok(());
        }
        is_first = false;
    }
}

/// The line for a server that did not answer: what went wrong, without what to do about it.
fn outage(address: &Address, message: &str) -> String {
    let reason = message.strip_prefix(&format!("cannot reach {address}: ")).unwrap_or(message);
    let reason = reason.split("; ").next().unwrap_or_default();
    format!("no answer from {address}: {reason}; trying again")
}

/// Where reports are shown.
enum View {
    /// As documents on standard output, with the outage that was last told on standard error.
    Lines { outage: String },
    /// On the terminal, each over the one before.
    Screen { term: Term, last: Vec<TopLine> },
}

impl View {
    fn screen() -> Self {
        Self::Screen { term: Term::buffered_stdout(), last: Vec::new() }
    }

    /// Returns false if nobody reads any more.
    fn show(&mut self, data: &Data) -> Result<bool, CommandFailure> {
        match self {
            Self::Lines { outage } => {
                outage.clear();
                Ok(print_while_read(data.text()))
            }
            Self::Screen { term, last } => {
                let report: TopReport = data.read()?;
                *last = report.lines();
                draw(term, last)?;
                Ok(true)
            }
        }
    }

    /// Shows an outage, above the report before it.
    fn show_outage(&mut self, line: String) -> Result<bool, CommandFailure> {
        match self {
            Self::Lines { outage } => {
                if *outage != line {
                    print_error(&printable(&line));
                    *outage = line;
                }
                Ok(true)
            }
            Self::Screen { term, last } => {
                let line = TopLine { text: printable(&line), tone: Tone::Alert };
                draw(term, &[slice::from_ref(&line), last].concat())?;
                Ok(true)
            }
        }
    }

    /// Leaves the last report where it is, and the cursor below what the terminal shows for Ctrl-C.
    fn end(self) -> Result<(), CommandFailure> {
        match self {
            Self::Lines { .. } => Ok(()),
            Self::Screen { term, .. } => {
                term.write_line("").and_then(|()| term.flush()).map_err(|error| unwritable(&error))
            }
        }
    }
}

/// Draws as many lines as the terminal has, and as much of each as it is wide.
fn draw(term: &Term, lines: &[TopLine]) -> Result<(), CommandFailure> {
    let (height, width) = term.size();
    let drawn = || {
        term.move_cursor_to(0, 0)?;
        // The cursor needs the last line.
        for TopLine { text, tone } in lines.iter().take(usize::from(height).saturating_sub(1)) {
            let style = match tone {
                Tone::Plain => Style::new(),
                Tone::Title => Style::new().bold(),
                Tone::Alert => Style::new().red().bold(),
            };
            let text = truncate_str(text, width.into(), "…");
            term.clear_line()?;
            // Without colours where the terminal has none, and if NO_COLOR is set.
            term.write_line(&style.apply_to(text).to_string())?;
        }
        term.clear_to_end_of_screen()?;
        term.flush()
    };
    drawn().map_err(|error| unwritable(&error))
}

fn unwritable(error: &io::Error) -> CommandFailure {
    format!("cannot write to the terminal: {error}").into()
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek};

    use super::*;

    #[test]
    fn a_report_is_cut_to_the_size_of_the_terminal() {
        let mut file = tempfile::tempfile().unwrap();
        // A file has no size: 24 lines of 80 columns are assumed.
        let term = Term::read_write_pair(file.try_clone().unwrap(), file.try_clone().unwrap());
        let line = TopLine { text: "密".repeat(100), tone: Tone::Plain };
        draw(&term, &std::iter::repeat_n(line, 50).collect::<Vec<_>>()).unwrap();
        let mut drawn = String::new();
        file.rewind().unwrap();
        file.read_to_string(&mut drawn).unwrap();
        assert!(drawn.starts_with("\u{1b}[1;1H\r\u{1b}[2K密") && drawn.ends_with("…\n\r\u{1b}[0J"), "{drawn:?}");
        assert_eq!(drawn.matches('\n').count(), 23);
        assert_eq!(drawn.lines().next().unwrap().matches('密').count(), 39);
    }

    #[test]
    fn an_outage_is_one_line_without_a_remedy() {
        let address = Address::parse("http://127.0.0.1:1", false).unwrap();
        for (message, line) in [
            (
                "cannot reach http://127.0.0.1:1: no answer in time; check the address, and that the server runs",
                "no answer from http://127.0.0.1:1: no answer in time; trying again",
            ),
            (
                "the database cannot be reached; retry shortly (database_unavailable)",
                "no answer from http://127.0.0.1:1: the database cannot be reached; trying again",
            ),
        ] {
            assert_eq!(outage(&address, message), line);
        }
    }
}
