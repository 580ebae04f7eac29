//! Settle: end a reservation as a charge of its actual cost.

use super::batch::Batch;
use super::error::LedgerError;
use super::ledger::Ledger;
use super::operation::Operation;
use super::request_id::settled_digest;
use super::rows::NeededRows;
use crate::domain::id::{GatewayId, UserId};
use crate::domain::ledger::{Effect, ReservationHandle, Settlement};
use crate::domain::money::Quota;
use crate::domain::prices::cost::{Amount, Cost};
use crate::domain::prices::priced_by::{HoldReason, PricedBy};
use crate::storage::ledger::NewCharge;
use crate::storage::reservations::ReservedFor;

/// A reservation that was settled, now or by an earlier request with the same cost.
#[derive(Debug, Clone, Copy)]
pub struct Settled {
    /// What was taken.
    pub settlement: Settlement,
    /// What the token has left.
    pub remain_quota: Quota,
    pub priced_by: PricedBy,
}

impl Ledger {
    /// Ends a reservation as a charge of `cost`, or of its hold if that cannot be read. Is idempotent. `model` is the
    /// one that answered, if it is another one than the reservation was made for.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub async fn settle(
        &self,
        gateway: GatewayId,
        reservation: ReservationHandle,
        cost: Result<Cost, HoldReason>,
        model: Option<String>,
    ) -> Result<Settled, LedgerError> {
        let cost = cost.map(|cost| self.parts.prices.read().list.recorded(cost));
        if let Ok(cost) = &cost {
            self.remember_price(cost, model.as_deref());
        }
        let digest = cost.as_ref().ok().and_then(settled_digest);
        self.lanes.execute(Settle { gateway, reservation, cost, digest, model }).await
    }
}

/// Turns a hold into a charge of what the request really cost.
struct Settle {
    gateway: GatewayId,
    reservation: ReservationHandle,
    cost: Result<Cost, HoldReason>,
    digest: Option<Vec<u8>>,
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
        if self.cost.as_ref().is_ok_and(|cost| cost.quota.is_none()) {
            rows.priced.insert(self.reservation.id);
        }
    }

    fn apply(&self, batch: &mut Batch<'_>) -> Result<Settled, LedgerError> {
        let id = self.reservation.id;
        let (reservation, ReservedFor { mut request, asked }) = batch.reservation(self.reservation)?;
        // Before the price: what cannot be settled has no cost.
        batch.balances.to_settle(self.gateway, id)?;
        let answered = self.model.as_ref().unwrap_or(&request.model);
        let cost = self.cost.as_ref().map_err(|reason| *reason);
        let models = (answered.as_str(), request.model.as_str());
        let amount = batch.settled_amount(id, (&reservation, &asked), (cost, self.digest.as_ref()), models);
        let Amount { quota, price, priced_by } = amount;
        let units = cost.map(|cost| cost.units.clone()).unwrap_or_default();
        if let Some(model) = &self.model {
            request.model.clone_from(model);
        }
        let (settlement, effect) = batch.balances.settle(self.gateway, id, quota, units.model_tokens(), &batch.at)?;
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
                units,
                price,
                hold_reason: priced_by.hold_reason(),
                settled_digest: self.digest.clone(),
            });
        }
        Ok(Settled { settlement, remain_quota: batch.balances.remain(reservation.token_id), priced_by })
    }
}
