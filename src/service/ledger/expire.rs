//! Expire: end a reservation whose time is over.

use super::batch::Batch;
use super::operation::{Operation, Rows};
use super::{Ledger, LedgerError};
use crate::domain::id::UserId;
use crate::domain::ledger::{Effect, ReservationHandle};

impl Ledger {
    /// Ends a reservation whose time is over and gives its hold back. Is idempotent.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub async fn expire(&self, reservation: ReservationHandle) -> Result<Effect, LedgerError> {
        self.lanes.execute(Expire { reservation }).await
    }
}

/// Gives a hold back because its time is over.
struct Expire {
    reservation: ReservationHandle,
}

impl Operation for Expire {
    const NAME: &'static str = "expire";

    type Outcome = Effect;

    fn owner(&self) -> UserId {
        self.reservation.owner
    }

    fn require<'a>(&'a self, rows: &mut Rows<'a>) {
        rows.reservations.insert(self.reservation.id);
    }

    fn apply(&self, batch: &mut Batch<'_>) -> Result<Effect, LedgerError> {
        Ok(batch.balances.expire(self.reservation.id, batch.at.now)?)
    }
}
