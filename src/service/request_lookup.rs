//! Finds requests by their id in all days (spec §13.8): charges whose gateway sent the id by its record, those of
//! ended days by an index, and all others among the newest.

use std::collections::BTreeSet;
use std::time::Instant;

use super::report_queue;
use crate::domain::bounds;
use crate::domain::request_history::{OutcomeKind, PastRequest, Position, RequestFilter, RequestPage, Window};
use crate::domain::request_search::{RequestPlace, RequestSearch, windows_of};
use crate::domain::scope::Scope;
use crate::domain::time::UnixTime;
use crate::storage::request_lookup::{self, ReadRows};
use crate::storage::{Conn, StorageError, request_history};

/// The newest requests with an id, at most `size`, of those that pass the filter.
pub(super) async fn find(
    conn: &mut Conn,
    scope: Scope,
    (filter, request_id): (&RequestFilter, &str),
    size: usize,
    now: UnixTime,
) -> Result<RequestPage, StorageError> {
    let is_wanted = |kind| filter.allows(kind);
    let (mut found, mut searched_from) = (BTreeSet::new(), None::<UnixTime>);
    let mut indexed = Vec::new();
    if is_wanted(OutcomeKind::Charged) {
        indexed = windows_of(&request_lookup::list_indexed_days(conn).await?);
        found.extend(request_lookup::list_recorded(conn, scope, request_id).await?);
        found.extend(request_lookup::list_indexed(conn, scope, &indexed, request_id).await?);
    }
    if is_wanted(OutcomeKind::Refused) {
        let mut search = RequestSearch::new(&[], now, bounds::MAX_REQUESTS_SEARCHED);
        found.extend(read_all(conn, OutcomeKind::Refused, scope, request_id, &mut search).await?);
        searched_from = searched_from.max(search.searched_from());
    }
    // What is left are ids that this service made, which no two requests share, and days without their index.
    let has_charge = |found: &BTreeSet<RequestPlace>| found.iter().any(|it| it.position.kind == OutcomeKind::Charged);
    if is_wanted(OutcomeKind::Charged) && !has_charge(&found) {
        let mut search = RequestSearch::new(&indexed, now, bounds::MAX_REQUESTS_SEARCHED);
        found.extend(read_all(conn, OutcomeKind::Charged, scope, request_id, &mut search).await?);
        searched_from = searched_from.max(search.searched_from());
    }
    let searched_from = searched_from.filter(|_| !has_charge(&found));
    let newest: Vec<RequestPlace> = found.into_iter().rev().collect();
    let next = newest.get(size).and_then(|_| newest.get(size.checked_sub(1)?)).map(|last| last.position);
    let mut requests = Vec::new();
    for request in newest.into_iter().take(size) {
        requests.extend(read_one(conn, request, filter).await?);
    }
    Ok(RequestPage { requests, next, searched_from })
}

/// Reads rows until the search ends, or the charge is found.
async fn read_all(
    conn: &mut Conn,
    kind: OutcomeKind,
    scope: Scope,
    request_id: &str,
    search: &mut RequestSearch,
) -> Result<Vec<RequestPlace>, StorageError> {
    let (mut all, began) = (Vec::new(), Instant::now());
    request_history::use_index_of_time(conn, scope).await?;
    while let Some(window) = search.window() {
        if !report_queue::has_caller() {
            return Err(StorageError::GivenUp);
        }
        if began.elapsed() > bounds::REQUEST_SEARCH_TIME {
            search.end();
            break;
        }
        let most = search.limit();
        let ReadRows { count, found } = match kind {
            OutcomeKind::Charged => request_lookup::read_charges(conn, scope, window, request_id, most).await?,
            OutcomeKind::Refused => request_lookup::read_refusals(conn, scope, window, request_id, most).await?,
            // Another service charged them, and their ids were not imported.
            OutcomeKind::Imported => break,
        };
        if search.advance(count) {
            all.extend(found);
        }
        if kind == OutcomeKind::Charged && !all.is_empty() {
            break;
        }
    }
    request_history::use_all_indexes(conn, scope).await?;
    Ok(all)
}

/// The request with what it belongs to, if it passes the filter.
async fn read_one(
    conn: &mut Conn,
    RequestPlace { position, token_id }: RequestPlace,
    filter: &RequestFilter,
) -> Result<Vec<PastRequest>, StorageError> {
    let filter = RequestFilter { only: Some(position), ..filter.clone() };
    let (scope, window) = (Scope::Token(token_id), Window { from: position.at, to: position.at });
    match position.kind {
        OutcomeKind::Charged => request_history::list_charges(conn, scope, window, Position::NEWEST, &filter, 1).await,
        OutcomeKind::Refused => request_history::list_refusals(conn, scope, window, Position::NEWEST, &filter, 1).await,
        OutcomeKind::Imported => Ok(Vec::new()),
    }
}
