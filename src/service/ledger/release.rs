//! Release: end a reservation and give its hold back.

use super::batch::Batch;
use super::error::LedgerError;
use super::ledger::Ledger;
use super::operation::Operation;
use super::rows::NeededRows;
use crate::domain::id::{GatewayId, UserId};
use crate::domain::ledger::ReservationHandle;
use crate::domain::money::Quota;
use crate::storage::acknowledged::Acknowledged;

impl Ledger {
    /// Ends a reservation and gives its hold back. Returns what the token has left. Is idempotent.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub async fn release(&self, gateway: GatewayId, reservation: ReservationHandle) -> Result<Quota, LedgerError> {
        self.lanes.execute(Release { gateway, reservation }).await
    }
}

/// Gives a hold back because the gateway does not need it.
struct Release {
    gateway: GatewayId,
    reservation: ReservationHandle,
}

impl Operation for Release {
    const NAME: &'static str = "release";

    /// What the token has left.
    type Outcome = Quota;

    fn owner(&self) -> UserId {
        self.reservation.owner
    }

    fn require<'a>(&'a self, rows: &mut NeededRows<'a>) {
        rows.reservations.insert(self.reservation.id);
    }

    fn acknowledged(&self, _: &Quota) -> Option<Acknowledged> {
        Some(Acknowledged::Ended(self.reservation.id))
    }

    fn apply(&self, batch: &mut Batch<'_>) -> Result<Quota, LedgerError> {
        let (reservation, _) = batch.reservation(self.reservation)?;
        batch.balances.release(self.gateway, self.reservation.id)?;
        Ok(batch.balances.remain(reservation.token_id))
    }
}
