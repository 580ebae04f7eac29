//! Expire: end a reservation whose time is over.

use std::time::Duration;

use super::batch::Batch;
use super::error::LedgerError;
use super::ledger::Ledger;
use super::operation::Operation;
use super::rows::NeededRows;
use crate::domain::id::UserId;
use crate::domain::ledger::{Effect, ReservationHandle, ReservationState};
use crate::domain::prices::priced_by::HoldReason;
use crate::domain::prices::units::Units;
use crate::storage::ledger::NewCharge;
use crate::storage::reservations::ReservedFor;

impl Ledger {
    /// Ends a reservation whose time is over: gives its hold back or, if it was made so, charges it. Is idempotent.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub async fn expire(&self, reservation: ReservationHandle) -> Result<Effect, LedgerError> {
        self.lanes.execute(Expire { reservation }).await
    }
}

/// Ends a hold because its time is over.
struct Expire {
    reservation: ReservationHandle,
}

impl Operation for Expire {
    const NAME: &'static str = "expire";

    // None: the next round comes soon, and callers need the room of those that wait for blocked wallets.
    const PATIENCE: Duration = Duration::ZERO;

    type Outcome = Effect;

    fn owner(&self) -> UserId {
        self.reservation.owner
    }

    fn require<'a>(&'a self, rows: &mut NeededRows<'a>) {
        rows.reservations.insert(self.reservation.id);
    }

    fn apply(&self, batch: &mut Batch<'_>) -> Result<Effect, LedgerError> {
        let id = self.reservation.id;
        let effect = batch.balances.expire(id, &batch.at)?;
        let (reservation, ReservedFor { request, .. }) = batch.reservation(self.reservation)?;
        if effect == Effect::Applied
            && let ReservationState::ChargedOnExpiry(settlement) = reservation.state
        {
            batch.add_charge(NewCharge {
                gateway_id: reservation.gateway_id,
                token_id: reservation.token_id,
                user_id: reservation.user_id,
                reservation_id: Some(id),
                day: batch.balances.charge_day(reservation.token_id, &batch.at),
                request,
                quota: settlement.charged,
                shortfall: settlement.shortfall,
                units: Units::default(),
                price: None,
                hold_reason: Some(HoldReason::Expired),
                settled_digest: None,
            });
        }
        Ok(effect)
    }
}
