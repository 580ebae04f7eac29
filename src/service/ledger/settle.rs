//! Settle: end a reservation as a charge of its actual cost.

use super::batch::Batch;
use super::error::LedgerError;
use super::ledger::Ledger;
use super::operation::Operation;
use super::provider_usage::{ProviderUsage, ReadUsage};
use super::request_id::settled_digest;
use super::rows::NeededRows;
use crate::domain::group::Ratio;
use crate::domain::id::{GatewayId, UserId};
use crate::domain::ledger::{Asked, Effect, ReservationHandle, Settlement};
use crate::domain::money::Quota;
use crate::domain::prices::cost::{Amount, Cost};
use crate::domain::prices::priced_by::{HoldReason, PricedBy};
use crate::storage::acknowledged::Acknowledged;
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
    /// Ends a reservation as a charge of `cost` with the usage of the provider's answer, or of its hold if that cannot
    /// be read. Is idempotent. `model` is the one that answered, if it is another one than the reservation was made
    /// for.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub async fn settle(
        &self,
        gateway: GatewayId,
        reservation: ReservationHandle,
        cost: Result<(Cost, Option<ProviderUsage>), HoldReason>,
        model: Option<String>,
    ) -> Result<Settled, LedgerError> {
        let (cost, usage) = match cost {
            Ok((cost, usage)) => (Ok(cost), usage),
            Err(reason) => (Err(reason), None),
        };
        if let Ok(cost) = &cost {
            self.remember_price(cost, model.as_deref());
        }
        let digest = cost.as_ref().ok().and_then(|cost| settled_digest(cost, usage.as_ref()));
        self.lanes.execute(Settle { gateway, reservation, cost, usage, digest, model }).await
    }
}

/// Turns a hold into a charge of what the request really cost.
struct Settle {
    gateway: GatewayId,
    reservation: ReservationHandle,
    cost: Result<Cost, HoldReason>,
    usage: Option<ProviderUsage>,
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

    fn acknowledged(&self, _: &Settled) -> Option<Acknowledged> {
        Some(Acknowledged::Ended(self.reservation.id))
    }

    fn apply(&self, batch: &mut Batch<'_>) -> Result<Settled, LedgerError> {
        let id = self.reservation.id;
        let (reservation, ReservedFor { mut request, asked }) = batch.reservation(self.reservation)?;
        // Before the price: what cannot be settled has no cost.
        batch.balances.to_settle(self.gateway, id)?;
        let ratio_of_told = asked.has_ratio_of_told.then_some(reservation.ratio);
        let read = self.read_usage(batch, &request.model, &asked, ratio_of_told);
        let cost = read.as_ref().map(|read| &read.cost).map_err(|reason| *reason);
        let answered = self.model.as_ref().unwrap_or(&request.model).clone();
        let models = (answered.as_str(), request.model.as_str());
        let sent = self.cost.as_ref().map_err(|reason| *reason);
        let before = batch.settled_before(id, sent, self.digest.as_ref());
        let amount = batch.settled_amount((&reservation, &asked), before, cost, models);
        let Amount { quota, price, priced_by } = amount;
        let units = cost.map(|cost| cost.units.clone()).unwrap_or_default();
        request.model = answered;
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

impl Settle {
    /// What was used and what it cost, as far as that can be read.
    fn read_usage(
        &self,
        batch: &mut Batch<'_>,
        requested: &str,
        asked: &Asked,
        ratio_of_told: Option<Ratio>,
    ) -> Result<ReadUsage, HoldReason> {
        let mut sent = self.cost.clone()?;
        // Its shape is that of the provider of the reservation, unless another one was sent.
        sent.provider = sent.provider.or_else(|| asked.provider.clone());
        let model = self.model.as_deref().unwrap_or(requested);
        batch.read_usage(&sent, self.usage.as_ref(), Some(model), ratio_of_told).map_err(|_| HoldReason::InvalidUsage)
    }
}
