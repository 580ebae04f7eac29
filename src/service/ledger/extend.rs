//! Extend: let a reservation hold more, or for longer.

use std::sync::{Arc, OnceLock};

use super::Ledger;
use super::batch::Batch;
use super::error::LedgerError;
use super::operation::Operation;
use super::rows::Rows;
use crate::domain::id::{GatewayId, TokenId, UserId};
use crate::domain::ledger::{Extension, ReservationHandle};
use crate::domain::money::Quota;
use crate::domain::time::UnixTime;

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
        let token = Arc::default();
        let operation = Extend { gateway, reservation, request, token: Arc::clone(&token) };
        let extended = self.lanes.execute(operation).await;
        if let Err(LedgerError::Refused(refusal)) = extended
            && refusal.reason.concerns_key()
            && let Some(token) = token.get()
        {
            self.refused.count(reservation.owner, *token, refusal, &self.now());
        }
        extended
    }
}

/// Moves more quota from remain to used, for a reservation that was made before.
struct Extend {
    gateway: GatewayId,
    reservation: ReservationHandle,
    request: ExtendRequest,
    /// The token that holds it, once its row was read: refusals are counted for it.
    token: Arc<OnceLock<TokenId>>,
}

impl Operation for Extend {
    const NAME: &'static str = "extend";

    type Outcome = Extended;

    fn owner(&self) -> UserId {
        self.reservation.owner
    }

    fn require<'a>(&'a self, rows: &mut Rows<'a>) {
        rows.reservations.insert(self.reservation.id);
        rows.extended.insert(self.reservation.id);
    }

    fn apply(&self, batch: &mut Batch<'_>) -> Result<Extended, LedgerError> {
        let id = self.reservation.id;
        let (held, request) = batch.reservation(id)?;
        let _ = self.token.set(held.token_id);
        let until = self.request.seconds.map(|seconds| batch.at.now.plus(seconds));
        let extension = Extension { quota: self.request.quota, until };
        batch.balances.extend(self.gateway, id, extension, &request.context(), &batch.at)?;
        let (extended, _) = batch.reservation(id)?;
        let remain_quota = batch.balances.remain(extended.token_id);
        Ok(Extended { reserved: extended.held, expires_at: extended.expires_at, remain_quota })
    }
}
