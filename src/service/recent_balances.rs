//! What the ledger of this server left on tokens and in wallets a moment ago, so that `verify` knows of a charge with
//! the next request, though what it remembers of the key was read before.
//!
//! Nothing here has to be complete: a balance that is pushed out by another one is read again within two seconds, and
//! what a charge obeys is read under its lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::domain::id::{TokenId, UserId};
use crate::domain::money::Quota;
use crate::storage::ledger::Changes;

/// Balances remembered at once, of each kind: about one megabyte.
const SLOTS: usize = 16_384;

/// Balances by token and by user, each as of the last batch that changed it.
#[derive(Debug)]
pub struct RecentBalances {
    /// Counts batches.
    batches: AtomicU64,
    tokens: Box<[Mutex<Slot>]>,
    wallets: Box<[Mutex<Slot>]>,
}

/// What was left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Balance {
    /// What can still be spent.
    pub remain: Quota,
    /// What was spent or is held.
    pub used: Quota,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    id: i64,
    batch: u64,
    balance: Balance,
}

impl RecentBalances {
    /// Knows nothing yet.
    #[must_use]
    pub fn new() -> Self {
        let nothing = Slot { id: 0, batch: 0, balance: Balance { remain: Quota::ZERO, used: Quota::ZERO } };
        let slots = || std::iter::repeat_with(|| Mutex::new(nothing)).take(SLOTS).collect();
        Self { batches: AtomicU64::new(0), tokens: slots(), wallets: slots() }
    }

    /// How many batches were recorded. What is read from the database afterwards has seen all of them.
    #[must_use]
    pub fn batches(&self) -> u64 {
        self.batches.load(Ordering::SeqCst)
    }

    /// Records what a committed batch left, before its callers are answered.
    pub fn record(&self, changes: &Changes) {
        let batch = self.batches.fetch_add(1, Ordering::SeqCst) + 1;
        for token in &changes.tokens {
            let balance = Balance { remain: token.budget.remain(), used: token.used_quota };
            put(&self.tokens, token.id.get(), batch, balance);
        }
        for (user, wallet) in &changes.wallets {
            put(&self.wallets, user.get(), batch, Balance { remain: wallet.quota, used: wallet.used_quota });
        }
    }

    /// What a token has left, if that was recorded after the first `batches`.
    #[must_use]
    pub fn of_token(&self, id: TokenId, batches: u64) -> Option<Balance> {
        get(&self.tokens, id.get(), batches)
    }

    /// What a wallet has left, if that was recorded after the first `batches`.
    #[must_use]
    pub fn of_wallet(&self, id: UserId, batches: u64) -> Option<Balance> {
        get(&self.wallets, id.get(), batches)
    }
}

impl Default for RecentBalances {
    fn default() -> Self {
        Self::new()
    }
}

fn slot(slots: &[Mutex<Slot>], id: i64) -> std::sync::MutexGuard<'_, Slot> {
    let at = usize::try_from(id.unsigned_abs()).unwrap_or(0) % slots.len();
    slots[at].lock().unwrap_or_else(PoisonError::into_inner)
}

fn put(slots: &[Mutex<Slot>], id: i64, batch: u64, balance: Balance) {
    let mut slot = slot(slots, id);
    // Batches of two lanes never change the same row; a later one of the same lane is the newer.
    *slot = Slot { id, batch, balance };
}

fn get(slots: &[Mutex<Slot>], id: i64, batches: u64) -> Option<Balance> {
    let slot = slot(slots, id);
    (slot.id == id && slot.batch > batches).then_some(slot.balance)
}
