//! Settle: end a reservation as a charge of its actual cost.

use super::batch::Batch;
use super::error::LedgerError;
use super::ledger::Ledger;
use super::operation::Operation;
use super::rows::NeededRows;
use crate::domain::id::{GatewayId, UserId};
use crate::domain::ledger::{Effect, ReservationHandle, Settlement};
use crate::domain::money::Quota;
use crate::domain::prices::cost::{Amount, Cost};
use crate::storage::ledger::NewCharge;

/// A reservation that was settled, now or by an earlier request with the same cost.
#[derive(Debug, Clone, Copy)]
pub struct Settled {
    /// What was taken.
    pub settlement: Settlement,
    /// What the token has left.
    pub remain_quota: Quota,
}

impl Ledger {
    /// Ends a reservation as a charge of `cost`. Is idempotent. `model` is the one that answered, if it is another one
    /// than the reservation was made for.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub async fn settle(
        &self,
        gateway: GatewayId,
        reservation: ReservationHandle,
        cost: Cost,
        model: Option<String>,
    ) -> Result<Settled, LedgerError> {
        if cost.quota.is_none() {
            self.remember_price(model.as_deref());
        }
        self.lanes.execute(Settle { gateway, reservation, cost, model }).await
    }
}

/// Turns a hold into a charge of what the request really cost.
struct Settle {
    gateway: GatewayId,
    reservation: ReservationHandle,
    cost: Cost,
    model: Option<String>,
}

impl Operation for Settle {
    const NAME: &'static str = "settle";

    type Outcome = Settled;

    fn owner(&self) -> UserId {
        self.reservation.owner
    }

    fn require<'a>(&'a self, rows: &mut NeededRows<'a>) {
        rows.reservations.insert(self.reservation.id);
        if self.cost.quota.is_none() {
            rows.priced.insert(self.reservation.id);
        }
    }

    fn apply(&self, batch: &mut Batch<'_>) -> Result<Settled, LedgerError> {
        let id = self.reservation.id;
        let (reservation, mut request) = batch.reservation(self.reservation)?;
        // Before the price: what cannot be settled has no cost.
        batch.balances.to_settle(self.gateway, id)?;
        let answered = self.model.as_ref().unwrap_or(&request.model);
        let Amount { quota, price } = batch.settled_amount(id, &reservation, &self.cost, (answered, &request.model));
        if let Some(model) = &self.model {
            request.model.clone_from(model);
        }
        let (settlement, effect) =
            batch.balances.settle(self.gateway, id, quota, self.cost.units.model_tokens(), &batch.at)?;
        if effect == Effect::Applied {
            batch.add_charge(NewCharge {
                gateway_id: Some(self.gateway),
                token_id: reservation.token_id,
                user_id: reservation.user_id,
                reservation_id: Some(id),
                day: batch.balances.charge_day(reservation.token_id, &batch.at),
                request,
                quota: settlement.charged,
                shortfall: settlement.shortfall,
                units: self.cost.units.clone(),
                price,
            });
        }
        Ok(Settled { settlement, remain_quota: batch.balances.remain(reservation.token_id) })
    }
}
