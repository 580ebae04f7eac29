//! Requests of gateways that the ledger refused, counted by day and reason (spec §13.7).

use std::collections::BTreeMap;

use super::id::{TokenId, UserId};
use super::ledger::RefusalReason;
use super::page::Page;
use super::time::Day;
use super::usage_report_request::ReportSpan;

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
    /// The largest counts first.
    pub rows: Page<RefusedRow>,
    /// Of all refused requests, also those of other pages.
    pub total: i64,
    pub usernames: BTreeMap<UserId, String>,
    /// The present names, also of deleted tokens.
    pub token_names: BTreeMap<TokenId, String>,
}
