//! `keymeter request tail`: requests as they come.

use std::collections::BTreeMap;
use std::process::ExitCode;
use std::thread;
use std::time::Duration;

use clap::Args;
use serde_json::value::RawValue;

use super::request_pages::{FoundRequests, RequestFilterArgs};
use super::request_view::RequestEntry;
use super::{Remote, client};
use crate::failure::{CommandFailure, exit};
use crate::output::{print_error, print_while_read};
use keymeter::domain::time::UnixTime;

/// How long after its second a request may appear in the list, in seconds.
const LATE: i64 = 5;

/// The most requests of one look. More are left out.
const MOST: usize = 1_000;

#[derive(Debug, Args)]
pub struct TailArgs {
    #[command(flatten)]
    filter: RequestFilterArgs,
    /// How many of the newest to begin with.
    #[arg(long, short = 'n', value_name = "N", default_value_t = 10)]
    lines: usize,
    /// The time between two looks.
    #[arg(long, value_name = "SECONDS", default_value = "2", value_parser = clap::value_parser!(u32).range(1..=3_600))]
    interval: u32,
}

/// The requests that were shown, by id, with their times: the next look may find them again.
#[derive(Default)]
struct Shown(BTreeMap<String, UnixTime>);

impl Shown {
    /// Where the next look begins.
    fn since(&self) -> Option<UnixTime> {
        self.0.values().max().map(|newest| newest.plus(-LATE))
    }

    /// Adds a request. Returns false if it was shown before.
    fn add(&mut self, request: &RequestEntry) -> bool {
        self.0.insert(request.id.clone(), UnixTime::new(request.at)).is_none()
    }

    fn forget_old(&mut self) {
        if let Some(since) = self.since() {
            self.0.retain(|_, at| *at >= since);
        }
    }
}

impl Remote {
    pub fn tail_requests(&self, args: &TailArgs) -> Result<(), CommandFailure> {
        let (path, query) = (args.filter.scope.path(), args.filter.query(self)?);
        let mut shown = Shown::default();
        let mut newest = self.requests(path, &query, args.lines, None)?.entries;
        let mut is_out = false;
        loop {
            if !self.print_new(&newest, &mut shown)? {
                return Ok(());
            }
            thread::sleep(Duration::from_secs(args.interval.into()));
            newest = match self.requests(path, &query, MOST, shown.since()) {
                Ok(FoundRequests { entries, are_all, .. }) => {
                    if !are_all && shown.since().is_some() {
                        print_error(&format!("these are the newest {MOST}; some before them are left out"));
                    }
                    is_out = false;
                    entries
                }
                Err(failure) if failure.code == ExitCode::from(exit::UNAVAILABLE) => {
                    if !is_out {
                        print_error(&format!("{}; trying again", failure.message));
                    }
                    is_out = true;
                    Vec::new()
                }
                Err(failure) => return Err(failure),
            };
        }
    }

    /// Prints requests not shown before, the oldest first. Returns false if nobody reads any more.
    fn print_new(&self, newest: &[Box<RawValue>], shown: &mut Shown) -> Result<bool, CommandFailure> {
        for entry in newest.iter().rev() {
            let request: RequestEntry = client::read(entry.get())?;
            if !shown.add(&request) {
                continue;
            }
            let line = if self.json { entry.get().to_owned() } else { request.line() };
            if !print_while_read(&line) {
                return Ok(false);
            }
        }
        shown.forget_old();
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_request_is_shown_once_also_if_it_comes_late() {
        let request = |id: &str, at: i64| -> RequestEntry {
            let request = json!({ "id": id, "at": at, "outcome": "charged", "model": "m", "quota": 1, "shortfall": 0,
                "prompt_tokens": 0, "completion_tokens": 0 });
            serde_json::from_value(request).unwrap()
        };
        let mut shown = Shown::default();
        assert_eq!(shown.since(), None);
        assert!(shown.add(&request("100.c1", 100)) && !shown.add(&request("100.c1", 100)));
        assert!(shown.add(&request("107.c3", 107)));
        shown.forget_old();
        assert_eq!(shown.since(), Some(UnixTime::new(102)));
        assert!(shown.add(&request("103.c2", 103)), "it came late");
        assert!(!shown.add(&request("107.c3", 107)));
        assert_eq!(shown.0.len(), 2, "what is too old to be found again is forgotten");
        assert_eq!(request("1.c1", 0).line(), "1970-01-01 00:00:00 UTC  charged   -  m  $0.000002");
    }
}
