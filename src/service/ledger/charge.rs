//! Charge: take quota now.

use std::sync::Arc;

use futures_util::future::{Either, join_all, ready};

use super::batch::Batch;
use super::error::LedgerError;
use super::key_request::{FoundRequest, KeyRequest, QuotaRequest};
use super::ledger::Ledger;
use super::operation::Operation;
use super::provider_usage::{ReadUsage, UsageInvalid};
use super::request_id::repeatable;
use super::rows::NeededRows;
use crate::domain::id::{GatewayId, UserId};
use crate::domain::ledger::{ChargeOutcome, Refusal};
use crate::domain::money::Quota;
use crate::domain::prices::cost::Amount;
use crate::domain::prices::priced_by::PricedBy;
use crate::domain::refusals::{RefusedCall, RefusedRequest};
use crate::domain::time::UnixTime;
use crate::domain::token::TokenIdentity;
use crate::storage::ledger::{GatewayRequestId, NewCharge, RecordedAnswer};

/// A charge that was made, now or by an earlier request with the same id.
#[derive(Debug)]
pub struct Charged {
    /// What was taken, and what is left.
    pub outcome: ChargeOutcome,
    pub priced_by: PricedBy,
    /// The gateway's id of the charge, or a random one.
    pub request_id: String,
    /// The token that was charged.
    pub token: TokenIdentity,
}

impl Ledger {
    /// Takes quota. Returns when the charge is durable.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub async fn charge(&self, gateway: GatewayId, key: &str, charge: QuotaRequest) -> Result<Charged, LedgerError> {
        let found = self.find_charge(gateway, key, charge).await?;
        self.queue(found)?.await
    }

    /// Makes many charges. Each succeeds or fails on its own, also one that could not be parsed; those of one owner are
    /// decided in this order.
    pub async fn charge_each<E: From<LedgerError>>(
        &self,
        gateway: GatewayId,
        charges: Vec<Result<(String, QuotaRequest), E>>,
    ) -> Vec<Result<Charged, E>> {
        let found = charges.into_iter().map(|charge| async move {
            let (key, charge) = charge?;
            Ok(self.find_charge(gateway, &key, charge).await?)
        });
        // Every key is known before the first charge is queued, so that none overtakes another.
        let found: Vec<Result<FoundRequest, E>> = join_all(found).await;
        let queued: Vec<_> = found.into_iter().map(|found| Ok::<_, E>(self.queue(found?)?)).collect();
        join_all(queued.into_iter().map(|queued| async { Ok(queued?.await?) })).await
    }

    async fn find_charge(
        &self,
        gateway: GatewayId,
        key: &str,
        charge: QuotaRequest,
    ) -> Result<FoundRequest, LedgerError> {
        let repeatable = repeatable(&charge.cost, charge.usage.as_ref());
        self.find_request((gateway, RefusedCall::Charge), key, charge, &repeatable).await
    }

    /// Queues a charge at once and returns its outcome as a future.
    fn queue(
        &self,
        found: FoundRequest,
    ) -> Result<impl Future<Output = Result<Charged, LedgerError>> + use<'_>, LedgerError> {
        let request = match found {
            FoundRequest::Live(request) => request,
            FoundRequest::Deleted { request_id, answer, token, priced_by } => {
                let charged = Charged { outcome: repeated(answer)?, priced_by, request_id, token };
                return Ok(Either::Right(ready(Ok(charged))));
            }
        };
        let (key, request_id) = (Arc::clone(&request.key), request.request_id.clone());
        let outcome = self.lanes.queue(Charge(request))?;
        Ok(Either::Left(async move {
            let (outcome, priced_by) = outcome.await?;
            self.note_old_key(&key);
            Ok(Charged { outcome, priced_by, request_id, token: key.identity() })
        }))
    }
}

/// The outcome of the charge that an answer is of.
fn repeated(answer: RecordedAnswer) -> Result<ChargeOutcome, LedgerError> {
    match answer {
        RecordedAnswer::Charge(outcome) => Ok(outcome),
        RecordedAnswer::Reservation(_) => Err(LedgerError::RequestIdReused),
    }
}

/// Takes quota from a token and its owner's wallet, once for each request id.
struct Charge(KeyRequest);

impl Charge {
    fn read_usage(&self, batch: &mut Batch<'_>) -> Result<ReadUsage, UsageInvalid> {
        let KeyRequest { cost, usage, context, .. } = &self.0;
        batch.read_usage(cost, usage.as_ref(), context.model.as_deref(), batch.ratio_of_told(self.0.token()))
    }
}

impl Operation for Charge {
    const NAME: &'static str = "charge";

    type Outcome = (ChargeOutcome, PricedBy);

    fn owner(&self) -> UserId {
        self.0.owner()
    }

    fn require<'a>(&'a self, rows: &mut NeededRows<'a>) {
        rows.add_key(&self.0.key);
    }

    fn gateway_request_id(&self) -> Option<&GatewayRequestId> {
        self.0.idempotency.as_ref().map(|idempotency| &idempotency.key)
    }

    fn apply(&self, batch: &mut Batch<'_>) -> Result<(ChargeOutcome, PricedBy), LedgerError> {
        let request = &self.0;
        if let Some(answer) = request.recorded(batch)? {
            let read = self.read_usage(batch);
            let cost = read.as_ref().map_or(&request.cost, |read| &read.cost);
            return Ok((repeated(answer)?, cost.priced_by()));
        }
        let KeyRequest { gateway, key, context, .. } = request;
        let token = request.token();
        let used = batch.find_key(key)?;
        let read = self.read_usage(batch);
        let cost = &read.map_err(|why| batch.refuse_usage(token, why, context))?.cost;
        let Amount { quota, price, priced_by } = batch.amount(token, cost, context)?;
        let _ = request.quota.set(quota);
        batch.balances.charge(token, quota, cost.units.model_tokens(), context, &batch.at)?;
        batch.add_charge(NewCharge {
            gateway_id: Some(*gateway),
            token_id: token,
            user_id: request.owner(),
            reservation_id: None,
            day: batch.balances.charge_day(token, &batch.at),
            request: batch.details(context, request.request_id.clone()),
            quota,
            shortfall: Quota::ZERO,
            units: cost.units.clone(),
            price,
            hold_reason: None,
            settled_digest: None,
        });
        batch.used_keys.note(token, used);
        let outcome = ChargeOutcome { charged: quota, remain_quota: batch.balances.remain(token) };
        request.record(batch, RecordedAnswer::Charge(outcome));
        Ok((outcome, priced_by))
    }

    fn refused(&self, refusal: Refusal, at: UnixTime) -> Option<RefusedRequest<'_>> {
        Some(self.0.refused(refusal, at))
    }
}
