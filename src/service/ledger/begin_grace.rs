//! Begins the grace period of replaced keys after `verify` saw a newer one (spec §15.1). Charges and reservations do it
//! in their own transaction.

use std::sync::Arc;

use super::batch::Batch;
use super::error::LedgerError;
use super::ledger::Ledger;
use super::operation::Operation;
use super::rows::NeededRows;
use super::verify::Verification;
use crate::domain::id::UserId;
use crate::service::key_cache::CachedKey;

impl Ledger {
    /// Notes that a key was used, if it may be. Waits for nothing: if the queue is full or the server stops, a later
    /// use begins the grace period.
    pub fn note_use(&self, verification: &Verification) {
        let (None, Some(key)) = (verification.refusal, &verification.key) else {
            return;
        };
        self.note_old_key(key);
        if key.may_begin_grace() {
            let _ = self.lanes.queue(BeginGrace { key: Arc::clone(key) });
        }
    }

    /// Notes the use of a replaced key.
    pub(super) fn note_old_key(&self, key: &CachedKey) {
        if let Some(old) = key.used.old {
            self.parts.old_key_uses.note(old.id);
        }
    }
}

/// Notes under the lock that a key was used.
struct BeginGrace {
    key: Arc<CachedKey>,
}

impl Operation for BeginGrace {
    const NAME: &'static str = "begin_grace";

    type Outcome = ();

    fn owner(&self) -> UserId {
        self.key.token.user_id
    }

    fn require<'a>(&'a self, rows: &mut NeededRows<'a>) {
        rows.add_key(&self.key);
    }

    fn apply(&self, batch: &mut Batch<'_>) -> Result<(), LedgerError> {
        let used = batch.find_key(&self.key)?;
        batch.used_keys.note(self.key.token.id, used);
        Ok(())
    }
}
