//! Reserve: hold quota for a request whose cost is not known yet.

use std::sync::Arc;

use super::batch::Batch;
use super::operation::{Operation, Rows};
use super::{Ledger, LedgerError};
use crate::domain::id::{GatewayId, UserId};
use crate::domain::ledger::{RefusalReason, RequestContext, ReservationHandle};
use crate::domain::money::Quota;
use crate::domain::time::UnixTime;
use crate::domain::token::TokenIdentity;
use crate::service::key_cache::CachedKey;

/// A reservation that was made.
#[derive(Debug)]
pub struct Reserved {
    pub outcome: ReserveOutcome,
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

impl Ledger {
    /// Holds quota for `seconds`.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub async fn reserve(
        &self,
        gateway: GatewayId,
        key: &str,
        quota: Quota,
        context: RequestContext,
        seconds: i64,
    ) -> Result<Reserved, LedgerError> {
        let digest = self.digest(key)?;
        let key = self.find_key(&digest).await?.ok_or(RefusalReason::InvalidKey)?;
        let request_id = self.new_request_id();
        let reserve = Reserve { gateway, key: Arc::clone(&key), quota, context, request_id, seconds };
        let outcome = self.lanes.execute(reserve).await.inspect_err(|error| self.count_refusal(&key, error))?;
        Ok(Reserved { outcome, token: key.identity() })
    }
}

/// Moves quota from remain to used and makes a reservation of it.
struct Reserve {
    gateway: GatewayId,
    key: Arc<CachedKey>,
    quota: Quota,
    context: RequestContext,
    request_id: String,
    seconds: i64,
}

impl Operation for Reserve {
    const NAME: &'static str = "reserve";

    type Outcome = ReserveOutcome;

    fn owner(&self) -> UserId {
        self.key.token.user_id
    }

    fn require<'a>(&'a self, rows: &mut Rows<'a>) {
        rows.tokens.insert(self.key.token.id, &self.key.token);
    }

    fn apply(&self, batch: &mut Batch<'_>) -> Result<ReserveOutcome, LedgerError> {
        let (token, expires_at) = (self.key.token.id, batch.at.now.plus(self.seconds));
        let made = batch.balances.reserve(self.gateway, token, self.quota, &self.context, expires_at, &batch.at)?;
        let id = batch.add_reservation(made, self.context.details(self.request_id.clone()));
        let handle = ReservationHandle { owner: self.owner(), id };
        Ok(ReserveOutcome { handle, expires_at, reserved: self.quota, remain_quota: batch.balances.remain(token) })
    }
}
