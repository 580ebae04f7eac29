//! Requests of a query, read page by page.

use clap::Args;
use clap::builder::PossibleValuesParser;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::scope_args::{OPTIONS, ScopeArgs};
use super::{Remote, filter, not_before};
use crate::failure::CommandFailure;
use keymeter::domain::request_history::OutcomeKind;
use keymeter::domain::time::UnixTime;

/// The most that a page has.
pub const PAGE: usize = 100;

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

#[derive(Deserialize)]
struct RequestPage {
    items: Vec<Box<RawValue>>,
    next: Option<String>,
    /// If none was found by its id: since when all were searched.
    searched_from: Option<i64>,
}

/// The newest requests of a query.
pub struct FoundRequests {
    pub entries: Vec<Box<RawValue>>,
    /// Whether there are no others.
    pub are_all: bool,
    /// If none was found by its id: since when all were searched.
    pub searched_from: Option<i64>,
}

impl RequestFilterArgs {
    /// The query parameters.
    pub fn query(&self, remote: &Remote) -> Result<Vec<(&'static str, String)>, CommandFailure> {
        let mut query = self.scope.query(remote)?;
        query.extend(filter("model", self.model.as_ref()));
        query.extend(filter("outcome", self.outcome.as_ref()));
        Ok(query)
    }
}

impl Remote {
    /// The newest requests, `limit` at most and none before `since`.
    pub fn requests(
        &self,
        path: &str,
        query: &[(&str, String)],
        limit: usize,
        since: Option<UnixTime>,
    ) -> Result<FoundRequests, CommandFailure> {
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
                return Ok(FoundRequests { entries, are_all, searched_from: page.searched_from });
            }
            // With filters a page may be empty although older ones follow.
            after = page.next;
        }
    }
}
