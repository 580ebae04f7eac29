//! Reserve: hold quota for a request whose cost is not known yet.

use std::sync::Arc;

use super::batch::Batch;
use super::error::LedgerError;
use super::key_request::{FoundRequest, KeyRequest, QuotaRequest};
use super::ledger::Ledger;
use super::operation::Operation;
use super::request_id::{repeatable, rest};
use super::rows::NeededRows;
use crate::domain::id::{GatewayId, UserId};
use crate::domain::ledger::{Asked, OnExpiry, Refusal, RefusalReason, ReservationHandle, repeat};
use crate::domain::money::Quota;
use crate::domain::refusals::{RefusedCall, RefusedRequest};
use crate::domain::time::UnixTime;
use crate::domain::token::TokenIdentity;
use crate::storage::acknowledged::Acknowledged;
use crate::storage::ledger::{GatewayRequestId, RecordedAnswer, RecordedReservation};
use crate::storage::reservations::ReservedFor;

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

/// How a reservation ends by itself.
#[derive(Debug, Clone, Copy)]
pub struct Term {
    /// How long to hold it at most, in seconds.
    pub seconds: i64,
    pub on_expiry: OnExpiry,
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
        request: QuotaRequest,
        term: Term,
    ) -> Result<Reserved, LedgerError> {
        // An amount is written as older versions wrote it, which knew no counts.
        let cost = request.cost.quota.map_or_else(
            || repeatable(&request.cost, None),
            |quota| format!("{}{}", quota.get(), rest(&request.cost, None)),
        );
        let repeatable = format!("reserve {cost} {} {}", term.seconds, term.on_expiry.as_str());
        let request = match self.find_request((gateway, RefusedCall::Reserve), key, request, &repeatable).await? {
            FoundRequest::Live(request) => request,
            FoundRequest::Deleted { request_id, answer, token, .. } => {
                let made = reservation(answer)?;
                let outcome = repeated(made, token.user_id, made.open, self.current_moment().await?.now)?;
                return Ok(Reserved { outcome, request_id, token });
            }
        };
        let (key, request_id) = (Arc::clone(&request.key), request.request_id.clone());
        let outcome = self.lanes.execute(Reserve { request, term }).await?;
        self.note_old_key(&key);
        Ok(Reserved { outcome, request_id, token: key.identity() })
    }
}

/// The reservation that an answer is of.
fn reservation(answer: RecordedAnswer) -> Result<RecordedReservation, LedgerError> {
    match answer {
        RecordedAnswer::Reservation(made) => Ok(made),
        RecordedAnswer::Charge(_) => Err(LedgerError::RequestIdReused),
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
    request: KeyRequest,
    term: Term,
}

impl Operation for Reserve {
    const NAME: &'static str = "reserve";

    type Outcome = ReserveOutcome;

    fn owner(&self) -> UserId {
        self.request.owner()
    }

    fn require<'a>(&'a self, rows: &mut NeededRows<'a>) {
        rows.add_key(&self.request.key);
    }

    fn gateway_request_id(&self) -> Option<&GatewayRequestId> {
        self.request.idempotency.as_ref().map(|idempotency| &idempotency.key)
    }

    fn acknowledged(&self, outcome: &ReserveOutcome) -> Option<Acknowledged> {
        Some(Acknowledged::Reserved(outcome.handle.id))
    }

    fn apply(&self, batch: &mut Batch<'_>) -> Result<ReserveOutcome, LedgerError> {
        let (request, owner) = (&self.request, self.owner());
        if let Some(answer) = request.recorded(batch)? {
            let made = reservation(answer)?;
            return Ok(repeated(made, owner, batch.open_hold(&made), batch.at.now)?);
        }
        let KeyRequest { gateway, key, cost, context, .. } = request;
        let (token, expires_at) = (request.token(), batch.at.now.plus(self.term.seconds));
        let used = batch.find_key(key)?;
        let term = (expires_at, self.term.on_expiry);
        let quota = batch.most(token, cost, context)?;
        let _ = request.quota.set(quota);
        let made = batch.balances.reserve(*gateway, token, quota, context, term, &batch.at)?;
        let details = batch.details(context, request.request_id.clone());
        let asked = Asked::of(cost, batch.ratio_of_told(token).is_some());
        let id = batch.add_reservation(made, ReservedFor { request: details, asked });
        batch.used_keys.note(token, used);
        let remain_quota = batch.balances.remain(token);
        let open = Some((quota, expires_at));
        request.record(batch, RecordedAnswer::Reservation(RecordedReservation { id, remain_quota, open }));
        Ok(ReserveOutcome { handle: ReservationHandle { owner, id }, expires_at, reserved: quota, remain_quota })
    }

    fn refused(&self, refusal: Refusal, at: UnixTime) -> Option<RefusedRequest<'_>> {
        Some(self.request.refused(refusal, at))
    }
}
