//! Reserve: hold quota for a request whose cost is not known yet.

use std::sync::Arc;

use super::batch::Batch;
use super::error::LedgerError;
use super::ledger::Ledger;
use super::operation::Operation;
use super::rows::NeededRows;
use crate::domain::id::{GatewayId, UserId};
use crate::domain::key::Digest;
use crate::domain::ledger::{OnExpiry, Refusal, RefusalReason, RequestContext, ReservationHandle, repeat};
use crate::domain::money::Quota;
use crate::domain::price::Cost;
use crate::domain::refusals::{RefusedCall, RefusedRequest};
use crate::domain::time::UnixTime;
use crate::domain::token::TokenIdentity;
use crate::service::key_cache::CachedKey;
use crate::service::ledger::request_id::{RequestId, repeatable};
use crate::storage::ledger::{GatewayRequestId, RecordedAnswer, RecordedReservation, RequestIdRecord};

/// A reservation that was made.
#[derive(Debug)]
pub struct Reserved {
    pub outcome: ReserveOutcome,
    /// The gateway's id of the reservation, or a random one.
    pub request_id: String,
    /// The token whose quota is held.
    pub token: TokenIdentity,
}

/// What was made for it.
#[derive(Debug, Clone, Copy)]
pub struct ReserveOutcome {
    /// By which it is settled or released.
    pub handle: ReservationHandle,
    /// When the hold is given back.
    pub expires_at: UnixTime,
    /// The amount held.
    pub reserved: Quota,
    /// What the token has left.
    pub remain_quota: Quota,
}

/// A reservation that a gateway asks for.
#[derive(Debug)]
pub struct ReserveRequest {
    /// The most that the request may cost.
    pub cost: Cost,
    /// What the token is used for.
    pub context: RequestContext,
    /// How long to hold it at most, in seconds.
    pub seconds: i64,
    pub on_expiry: OnExpiry,
    /// The gateway's own id of the reservation.
    pub request_id: Option<String>,
}

impl Ledger {
    /// Holds quota for some time. With the id of an earlier reservation, returns that one.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub async fn reserve(
        &self,
        gateway: GatewayId,
        key: &str,
        request: ReserveRequest,
    ) -> Result<Reserved, LedgerError> {
        let ReserveRequest { cost, context, seconds, on_expiry, request_id } = request;
        let call = (gateway, RefusedCall::Reserve);
        let unknown =
            |digest: Option<&Digest>| self.unknown_key(call, digest, &context, cost.quota, request_id.as_deref());
        let digest = self.digest(key).map_err(|_| unknown(None))?;
        let idempotency = request_id.as_ref().map(|request_id| {
            // An amount is written as older versions wrote it, which knew no counts.
            let cost = cost.quota.map_or_else(|| repeatable(&cost), |quota| quota.get().to_string());
            let what = format!("reserve {cost} {seconds} {}", on_expiry.as_str());
            RequestId::new(gateway, request_id, &digest, &what, &context)
        });
        let Some(key) = self.find_key(&digest).await? else {
            // The token may have been deleted since. A retry still finds its reservation, which holds quota (L4).
            let idempotency = idempotency.ok_or_else(|| unknown(Some(&digest)))?;
            let found = self.find_record(&idempotency, &digest).await?;
            let (record, token) = found.ok_or_else(|| unknown(Some(&digest)))?;
            let made = idempotency.reservation(&record)?;
            let outcome = repeated(made, token.user_id, made.open, self.current_moment().await?.now)?;
            return Ok(Reserved { outcome, request_id: request_id.unwrap_or_default(), token });
        };
        let request_id = request_id.unwrap_or_else(|| self.new_request_id());
        let reserve = Reserve {
            gateway,
            key: Arc::clone(&key),
            cost,
            context,
            seconds,
            on_expiry,
            request_id: request_id.clone(),
            idempotency,
        };
        let outcome = self.lanes.execute(reserve).await?;
        self.note_old_key(&key);
        Ok(Reserved { outcome, request_id, token: key.identity() })
    }
}

impl RequestId {
    /// The reservation of this record.
    fn reservation(&self, record: &RequestIdRecord) -> Result<RecordedReservation, LedgerError> {
        match self.answer(record)? {
            RecordedAnswer::Reservation(made) => Ok(made),
            RecordedAnswer::Charge(_) => Err(LedgerError::RequestIdReused),
        }
    }
}

/// The answer to a retry; `open` is what the reservation holds now and until when.
fn repeated(
    made: RecordedReservation,
    owner: UserId,
    open: Option<(Quota, UnixTime)>,
    now: UnixTime,
) -> Result<ReserveOutcome, RefusalReason> {
    let (reserved, expires_at) = repeat(open, now)?;
    let handle = ReservationHandle { owner, id: made.id };
    Ok(ReserveOutcome { handle, expires_at, reserved, remain_quota: made.remain_quota })
}

/// Moves quota from remain to used and makes a reservation of it, once for each request id.
struct Reserve {
    gateway: GatewayId,
    key: Arc<CachedKey>,
    cost: Cost,
    context: RequestContext,
    seconds: i64,
    on_expiry: OnExpiry,
    /// The gateway's id of the reservation, or the one that it is answered.
    request_id: String,
    idempotency: Option<RequestId>,
}

impl Operation for Reserve {
    const NAME: &'static str = "reserve";

    type Outcome = ReserveOutcome;

    fn owner(&self) -> UserId {
        self.key.token.user_id
    }

    fn require<'a>(&'a self, rows: &mut NeededRows<'a>) {
        rows.add_key(&self.key);
    }

    fn gateway_request_id(&self) -> Option<&GatewayRequestId> {
        self.idempotency.as_ref().map(|idempotency| &idempotency.key)
    }

    fn apply(&self, batch: &mut Batch<'_>) -> Result<ReserveOutcome, LedgerError> {
        if let Some(idempotency) = &self.idempotency
            && let Some(record) = batch.record(&idempotency.key)
        {
            let made = idempotency.reservation(record)?;
            return Ok(repeated(made, self.owner(), batch.open_hold(&made), batch.at.now)?);
        }
        let (token, expires_at) = (self.key.token.id, batch.at.now.plus(self.seconds));
        let used = batch.find_key(&self.key)?;
        let term = (expires_at, self.on_expiry);
        let quota = batch.most(token, &self.cost, &self.context)?;
        let made = batch.balances.reserve(self.gateway, token, quota, &self.context, term, &batch.at)?;
        let id = batch.add_reservation(made, batch.details(&self.context, self.request_id.clone()));
        batch.used_keys.note(token, used);
        let remain_quota = batch.balances.remain(token);
        if let Some(RequestId { key, request_hash }) = &self.idempotency {
            let open = Some((quota, expires_at));
            let answer = RecordedAnswer::Reservation(RecordedReservation { id, remain_quota, open });
            let record = RequestIdRecord { user_id: self.owner(), request_hash: request_hash.clone(), answer };
            batch.add_record(key.clone(), record);
        }
        let handle = ReservationHandle { owner: self.owner(), id };
        Ok(ReserveOutcome { handle, expires_at, reserved: quota, remain_quota })
    }

    fn refused(&self, refusal: Refusal, at: UnixTime) -> Option<RefusedRequest<'_>> {
        Some(RefusedRequest {
            at,
            token: Some((self.owner(), self.key.token.id)),
            digest: None,
            gateway: self.gateway,
            call: RefusedCall::Reserve,
            refusal,
            context: &self.context,
            quota: self.cost.quota,
            request_id: self.idempotency.is_some().then_some(&self.request_id),
        })
    }
}
