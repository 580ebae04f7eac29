//! Extend: let a reservation hold more, or for longer.

use std::sync::OnceLock;

use super::batch::Batch;
use super::error::LedgerError;
use super::ledger::Ledger;
use super::operation::Operation;
use super::rows::NeededRows;
use crate::domain::id::{GatewayId, TokenId, UserId};
use crate::domain::ledger::{Extension, Refusal, RequestContext, ReservationHandle};
use crate::domain::money::Quota;
use crate::domain::refusals::{RefusedCall, RefusedRequest};
use crate::domain::time::UnixTime;
use crate::storage::acknowledged::Acknowledged;
use crate::storage::reservations::ReservedFor;

/// What a gateway wants a reservation to be. What it already is, it stays.
#[derive(Debug, Clone, Copy)]
pub struct ExtendRequest {
    /// All that it should hold.
    pub quota: Option<Quota>,
    /// How long it should hold it from now, in seconds.
    pub seconds: Option<i64>,
}

/// A reservation that was extended, now or before.
#[derive(Debug, Clone, Copy)]
pub struct Extended {
    /// All that it holds.
    pub reserved: Quota,
    /// When the hold is given back.
    pub expires_at: UnixTime,
    /// What the token has left.
    pub remain_quota: Quota,
}

impl Ledger {
    /// Lets a reservation hold more, or for longer. Is idempotent.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub async fn extend(
        &self,
        gateway: GatewayId,
        reservation: ReservationHandle,
        request: ExtendRequest,
    ) -> Result<Extended, LedgerError> {
        self.lanes.execute(Extend { gateway, reservation, request, made_for: OnceLock::new() }).await
    }
}

/// Moves more quota from remain to used, for a reservation that was made before.
struct Extend {
    gateway: GatewayId,
    reservation: ReservationHandle,
    request: ExtendRequest,
    /// The token that holds it and what it was made for, once its row was read: a refusal names both.
    made_for: OnceLock<(TokenId, RequestContext, Option<String>)>,
}

impl Operation for Extend {
    const NAME: &'static str = "extend";

    type Outcome = Extended;

    fn owner(&self) -> UserId {
        self.reservation.owner
    }

    fn require<'a>(&'a self, rows: &mut NeededRows<'a>) {
        rows.reservations.insert(self.reservation.id);
        rows.extended.insert(self.reservation.id);
    }

    fn acknowledged(&self, _: &Extended) -> Option<Acknowledged> {
        Some(Acknowledged::Reserved(self.reservation.id))
    }

    fn apply(&self, batch: &mut Batch<'_>) -> Result<Extended, LedgerError> {
        let id = self.reservation.id;
        let (held, ReservedFor { request, .. }) = batch.reservation(self.reservation)?;
        let context = request.context();
        let _ = self.made_for.set((held.token_id, context.clone(), request.request_id));
        let until = self.request.seconds.map(|seconds| batch.at.now.plus(seconds));
        let extension = Extension { quota: self.request.quota, until };
        batch.balances.extend(self.gateway, id, extension, &context, &batch.at)?;
        let (extended, _) = batch.reservation(self.reservation)?;
        let remain_quota = batch.balances.remain(extended.token_id);
        Ok(Extended { reserved: extended.held, expires_at: extended.expires_at, remain_quota })
    }

    fn refused(&self, refusal: Refusal, at: UnixTime) -> Option<RefusedRequest<'_>> {
        let (token, context, request_id) = self.made_for.get()?;
        Some(RefusedRequest {
            at,
            token: Some((self.owner(), *token)),
            digest: None,
            gateway: self.gateway,
            call: RefusedCall::Extend,
            refusal,
            context,
            quota: self.request.quota,
            request_id: request_id.as_deref(),
        })
    }
}
