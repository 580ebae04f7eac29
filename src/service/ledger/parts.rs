//! What the ledger is made of.

use std::sync::Arc;

use crate::service::acknowledged::LastAnswers;
use crate::service::clock::ClockReader;
use crate::service::clock_repair::ClockRepairs;
use crate::service::foreign_keys::KeyReader;
use crate::service::key_cache::KeyCache;
use crate::service::old_key_uses::OldKeyUses;
use crate::service::prices::Prices;
use crate::service::recent_balances::RecentBalances;
use crate::service::refused_requests::RefusedRequests;

/// What the ledger is made of, beside what every service has.
#[derive(Debug, Clone)]
pub struct LedgerParts {
    pub key_reader: KeyReader,
    pub key_cache: Arc<KeyCache>,
    pub recent_balances: Arc<RecentBalances>,
    pub clock_reader: Arc<ClockReader>,
    pub repairs: ClockRepairs,
    pub refused_requests: Arc<RefusedRequests>,
    pub prices: Arc<Prices>,
    pub old_key_uses: Arc<OldKeyUses>,
    pub last_answers: Arc<LastAnswers>,
}
