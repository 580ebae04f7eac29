//! Requests of gateways that the ledger refused, counted by day and reason (spec §13.7).

use std::collections::BTreeMap;

use super::id::{TokenId, UserId};
use super::ledger::RefusalReason;
use super::time::Day;
use super::usage_report::ReportSpan;

/// What refused requests are counted by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct RefusedKind {
    pub user_id: UserId,
    pub day: Day,
    pub token_id: TokenId,
    pub reason: RefusalReason,
}

/// A line of the report: the requests of a token that were refused for one reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedRow {
    pub user_id: UserId,
    pub token_id: TokenId,
    pub reason: RefusalReason,
    pub requests: i64,
}

/// Refused requests of a range of days.
#[derive(Debug)]
pub struct RefusedReport {
    pub span: ReportSpan,
    /// The largest counts, at most [`MAX_REFUSED_ROWS`](super::bounds::MAX_REFUSED_ROWS).
    pub rows: Vec<RefusedRow>,
    /// Of all refused requests, also those without a row.
    pub total: i64,
    pub usernames: BTreeMap<UserId, String>,
    /// The present names, also of deleted tokens.
    pub token_names: BTreeMap<TokenId, String>,
}
