//! The latest balances that this server's ledger has written. `verify` reads keys from a cache; with these balances it
//! sees a charge on the next request, although the cached key is older.
//!
//! Entries may be lost: if one is overwritten by another, the cache reads the balance again within two seconds. A
//! charge never depends on these balances, because it reads the rows under lock.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::domain::account::Account;
use crate::domain::account::Budget;
use crate::domain::id::{TokenId, UserId};
use crate::domain::money::Quota;
use crate::storage::ledger::Changes;

/// Slots for tokens, and as many for wallets: a little more than two megabytes each.
const SLOTS: usize = 16_384;

/// Accounts of tokens and users, each as of the last batch that changed it.
#[derive(Debug)]
pub struct RecentBalances {
    /// The number of recorded batches.
    batches: AtomicU64,
    tokens: Box<[Mutex<Slot>]>,
    wallets: Box<[Mutex<Slot>]>,
}

#[derive(Debug, Clone, Copy)]
struct Slot {
    id: i64,
    batch: u64,
    account: Account,
}

impl RecentBalances {
    pub fn new() -> Self {
        let account = Account::new(Budget::Limited { remain: Quota::ZERO });
        let nothing = Slot { id: 0, batch: 0, account };
        let slots = || std::iter::repeat_with(|| Mutex::new(nothing)).take(SLOTS).collect();
        Self { batches: AtomicU64::new(0), tokens: slots(), wallets: slots() }
    }

    /// The number of recorded batches. A later read of the database sees the effects of all of them.
    pub fn batches(&self) -> u64 {
        self.batches.load(Ordering::SeqCst)
    }

    /// Records the balances after a committed batch. Call this before the callers of the batch are answered.
    pub fn record(&self, changes: &Changes) {
        let batch = self.batches.fetch_add(1, Ordering::SeqCst) + 1;
        for token in &changes.tokens {
            put(&self.tokens, token.id.get(), batch, token.account);
        }
        for (user, wallet) in &changes.wallets {
            put(&self.wallets, user.get(), batch, wallet.account);
        }
    }

    /// A token's account, if it was recorded after the first `batches`.
    pub fn of_token(&self, id: TokenId, batches: u64) -> Option<Account> {
        get(&self.tokens, id.get(), batches)
    }

    /// A wallet's account, if it was recorded after the first `batches`.
    pub fn of_wallet(&self, id: UserId, batches: u64) -> Option<Account> {
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

fn put(slots: &[Mutex<Slot>], id: i64, batch: u64, account: Account) {
    let mut slot = slot(slots, id);
    // Of two batches that change the same row, the second begins after the first was recorded.
    *slot = Slot { id, batch, account };
}

fn get(slots: &[Mutex<Slot>], id: i64, batches: u64) -> Option<Account> {
    let slot = slot(slots, id);
    (slot.id == id && slot.batch > batches).then_some(slot.account)
}
