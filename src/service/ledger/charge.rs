//! Charge: take quota now.

use std::sync::Arc;

use futures_util::future::{Either, join_all, ready};

use super::batch::Batch;
use super::error::LedgerError;
use super::ledger::Ledger;
use super::operation::Operation;
use super::rows::NeededRows;
use crate::domain::id::{GatewayId, UserId};
use crate::domain::key::Digest;
use crate::domain::ledger::{ChargeOutcome, Refusal, RequestContext};
use crate::domain::money::Quota;
use crate::domain::price::Cost;
use crate::domain::price_list::Amount;
use crate::domain::refusals::{RefusedCall, RefusedRequest};
use crate::domain::time::UnixTime;
use crate::domain::token::TokenIdentity;
use crate::service::key_cache::CachedKey;
use crate::service::ledger::request_id::{RequestId, repeatable};
use crate::storage::ledger::{GatewayRequestId, NewCharge, RecordedAnswer, RequestIdRecord};

/// A charge that a gateway asks for.
#[derive(Debug)]
pub struct ChargeRequest {
    pub cost: Cost,
    /// What the token was used for.
    pub context: RequestContext,
    /// The gateway's own id of the charge.
    pub request_id: Option<String>,
}

/// A charge that was made, now or by an earlier request with the same id.
#[derive(Debug)]
pub struct Charged {
    /// What was taken, and what is left.
    pub outcome: ChargeOutcome,
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
    pub async fn charge(&self, gateway: GatewayId, key: &str, charge: ChargeRequest) -> Result<Charged, LedgerError> {
        let prepared = self.prepare(gateway, key, charge).await?;
        self.queue(prepared)?.await
    }

    /// Makes many charges. Each succeeds or fails on its own, also one that could not be parsed; those of one owner are
    /// decided in this order.
    pub async fn charge_each<E: From<LedgerError>>(
        &self,
        gateway: GatewayId,
        charges: Vec<Result<(String, ChargeRequest), E>>,
    ) -> Vec<Result<Charged, E>> {
        let prepared = charges.into_iter().map(|charge| async move {
            let (key, charge) = charge?;
            Ok(self.prepare(gateway, &key, charge).await?)
        });
        // Every key is known before the first charge is queued, so that none overtakes another.
        let prepared: Vec<Result<Prepared, E>> = join_all(prepared).await;
        let queued: Vec<_> = prepared.into_iter().map(|prepared| Ok::<_, E>(self.queue(prepared?)?)).collect();
        join_all(queued.into_iter().map(|queued| async { Ok(queued?.await?) })).await
    }

    /// Finds the token of a charge.
    async fn prepare(&self, gateway: GatewayId, key: &str, charge: ChargeRequest) -> Result<Prepared, LedgerError> {
        let ChargeRequest { cost, context, request_id } = charge;
        let call = (gateway, RefusedCall::Charge);
        let unknown =
            |digest: Option<&Digest>| self.unknown_key(call, digest, &context, cost.quota, request_id.as_deref());
        let digest = self.digest(key).map_err(|_| unknown(None))?;
        let idempotency = request_id
            .as_ref()
            .map(|request_id| RequestId::new(gateway, request_id, &digest, &repeatable(&cost), &context));
        let Some(key) = self.find_key(&digest).await? else {
            // The token may have been deleted since the charge was made. A retry still gets its answer (L4).
            let idempotency = idempotency.ok_or_else(|| unknown(Some(&digest)))?;
            let found = self.find_record(&idempotency, &digest).await?;
            let (record, token) = found.ok_or_else(|| unknown(Some(&digest)))?;
            let step = ChargeStep::Answer(idempotency.charge(&record)?, token);
            return Ok(Prepared { request_id: request_id.unwrap_or_default(), step });
        };
        let request_id = request_id.unwrap_or_else(|| self.new_request_id());
        let step =
            ChargeStep::Queue(Charge { gateway, key, cost, context, request_id: request_id.clone(), idempotency });
        Ok(Prepared { request_id, step })
    }

    /// Queues a charge at once and returns its outcome as a future.
    fn queue(
        &self,
        prepared: Prepared,
    ) -> Result<impl Future<Output = Result<Charged, LedgerError>> + use<'_>, LedgerError> {
        let Prepared { request_id, step } = prepared;
        let outcome = match step {
            ChargeStep::Queue(charge) => {
                let key = Arc::clone(&charge.key);
                let outcome = self.lanes.queue(charge)?;
                Either::Left(async move {
                    let outcome = outcome.await;
                    outcome.inspect(|_| self.note_old_key(&key)).map(|outcome| (outcome, key.identity()))
                })
            }
            ChargeStep::Answer(outcome, token) => Either::Right(ready(Ok((outcome, token)))),
        };
        Ok(async move {
            let (outcome, token) = outcome.await?;
            Ok(Charged { outcome, request_id, token })
        })
    }
}

/// A charge whose key was looked up, and its id.
struct Prepared {
    request_id: String,
    step: ChargeStep,
}

/// What is left to do for it.
enum ChargeStep {
    Queue(Charge),
    Answer(ChargeOutcome, TokenIdentity),
}

impl RequestId {
    /// The outcome of the charge of this record.
    fn charge(&self, record: &RequestIdRecord) -> Result<ChargeOutcome, LedgerError> {
        match self.answer(record)? {
            RecordedAnswer::Charge(outcome) => Ok(outcome),
            RecordedAnswer::Reservation(_) => Err(LedgerError::RequestIdReused),
        }
    }
}

/// Takes quota from a token and its owner's wallet, once for each request id.
struct Charge {
    gateway: GatewayId,
    key: Arc<CachedKey>,
    cost: Cost,
    context: RequestContext,
    /// The gateway's id of the charge, or the one that it is answered.
    request_id: String,
    idempotency: Option<RequestId>,
}

impl Operation for Charge {
    const NAME: &'static str = "charge";

    type Outcome = ChargeOutcome;

    fn owner(&self) -> UserId {
        self.key.token.user_id
    }

    fn require<'a>(&'a self, rows: &mut NeededRows<'a>) {
        rows.add_key(&self.key);
    }

    fn gateway_request_id(&self) -> Option<&GatewayRequestId> {
        self.idempotency.as_ref().map(|idempotency| &idempotency.key)
    }

    fn apply(&self, batch: &mut Batch<'_>) -> Result<ChargeOutcome, LedgerError> {
        if let Some(idempotency) = &self.idempotency
            && let Some(record) = batch.record(&idempotency.key)
        {
            return idempotency.charge(record);
        }
        let token = self.key.token.id;
        let used = batch.find_key(&self.key)?;
        let Amount { quota, price } = batch.amount(token, &self.cost, &self.context)?;
        batch.balances.charge(token, quota, self.cost.counts, &self.context, &batch.at)?;
        batch.add_charge(NewCharge {
            gateway_id: Some(self.gateway),
            token_id: token,
            user_id: self.owner(),
            reservation_id: None,
            day: batch.balances.charge_day(token, &batch.at),
            request: batch.details(&self.context, self.request_id.clone()),
            quota,
            shortfall: Quota::ZERO,
            counts: self.cost.counts,
            price,
        });
        batch.used_keys.note(token, used);
        let outcome = ChargeOutcome { charged: quota, remain_quota: batch.balances.remain(token) };
        if let Some(RequestId { key, request_hash }) = &self.idempotency {
            let answer = RecordedAnswer::Charge(outcome);
            let record = RequestIdRecord { user_id: self.owner(), request_hash: request_hash.clone(), answer };
            batch.add_record(key.clone(), record);
        }
        Ok(outcome)
    }

    fn refused(&self, refusal: Refusal, at: UnixTime) -> Option<RefusedRequest<'_>> {
        Some(RefusedRequest {
            at,
            token: Some((self.owner(), self.key.token.id)),
            digest: None,
            gateway: self.gateway,
            call: RefusedCall::Charge,
            refusal,
            context: &self.context,
            quota: self.cost.quota,
            request_id: self.idempotency.is_some().then_some(&self.request_id),
        })
    }
}
