//! What gateways ask: may this key be used, and what did it cost.

pub mod lanes;

use std::sync::Arc;

pub use lanes::{LedgerError, LedgerRules};

use futures_util::future::{Either, join_all, ready};
use sha2::{Digest as _, Sha256};

use crate::domain::group::Groups;
use crate::domain::id::{GatewayId, ReservationId};
use crate::domain::ip_allowlist::ClientAddress;
use crate::domain::key::{ApiKey, Digest};
use crate::domain::ledger::{Counts, Refusal, RequestContext, ReservationHandle, Settlement};
use crate::domain::money::Quota;
use crate::domain::time::{Clock, UnixTime};
use crate::domain::token::Budget;
use crate::service::key_cache::{CachedKey, KeyCache};
use crate::service::rng::Rng;
use crate::service::vault::Vault;
use crate::storage::StorageError;
use lanes::{Done, Lanes, Order, What};

/// The answer to "may this key be used?".
#[derive(Debug)]
pub struct Verification {
    /// Why not; it may if absent.
    pub refusal: Option<Refusal>,
    /// What is known of the key, if it is known.
    pub key: Option<Arc<CachedKey>>,
}

impl Verification {
    /// The token's group, or its owner's where it names none.
    #[must_use]
    pub fn group(&self) -> &str {
        match &self.key {
            Some(seen) if seen.token.group.as_str().is_empty() => &seen.owner_group,
            Some(seen) => seen.token.group.as_str(),
            None => "",
        }
    }
}

/// A charge as a gateway asks for it.
#[derive(Debug)]
pub struct ChargeRequest {
    /// What it cost.
    pub quota: Quota,
    /// What for.
    pub context: RequestContext,
    /// Tokens in and out.
    pub counts: Counts,
    /// The gateway's own id of it.
    pub request_id: Option<String>,
}

/// What became of a charge.
#[derive(Debug)]
pub struct ChargeOutcome {
    /// What was taken.
    pub charged: Quota,
    /// What the token has left.
    pub remain_quota: Quota,
    /// The gateway's id of it, or one made here.
    pub request_id: String,
}

/// What was set aside.
#[derive(Debug)]
pub struct Reserved {
    /// By which it is ended.
    pub handle: ReservationHandle,
    /// When it ends by itself.
    pub expires_at: UnixTime,
    /// What the token has left.
    pub remain_quota: Quota,
}

/// What became of a reservation.
#[derive(Debug)]
pub struct Settled {
    /// What was taken.
    pub settlement: Settlement,
    /// What the token has left.
    pub remain_quota: Quota,
}

/// What gateways ask for.
#[derive(Debug)]
pub struct Ledger {
    vault: Vault,
    key_cache: Arc<KeyCache>,
    lanes: Lanes,
    clock: Arc<dyn Clock>,
    rng: Rng,
    groups: Groups,
}

impl Ledger {
    /// A service on a key cache and a ledger.
    #[must_use]
    pub const fn new(
        vault: Vault,
        key_cache: Arc<KeyCache>,
        lanes: Lanes,
        clock: Arc<dyn Clock>,
        rng: Rng,
        groups: Groups,
    ) -> Self {
        Self { vault, key_cache, lanes, clock, rng, groups }
    }

    /// Whether a key may be used, at a cost of `quota`. Without the database where the key was seen
    /// in the last two seconds; balances are as of then.
    ///
    /// # Errors
    /// The database, if it had to be context.
    pub async fn verify(&self, key: &str, context: &RequestContext, quota: Quota) -> Result<Verification, LedgerError> {
        let seen = match self.digest(key) {
            Ok(digest) => self.key_cache.find(&digest).await.map_err(LedgerError::Storage)?,
            Err(_) => None,
        };
        let Some(seen) = seen else {
            return Ok(Verification { refusal: Some(Refusal::InvalidKey), key: None });
        };
        let refusal = self.judge(&seen, context, quota).err();
        Ok(Verification { refusal, key: Some(seen) })
    }

    /// Takes quota; answered when it is durable.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub async fn charge(
        &self,
        gateway: GatewayId,
        key: &str,
        charge: ChargeRequest,
    ) -> Result<ChargeOutcome, LedgerError> {
        let order = self.order(gateway, key, charge).await?;
        self.take(order)?.await
    }

    /// The same for many. Each stands for itself, also one that could not be read; those of one owner
    /// are decided in this order.
    pub async fn charge_each<E: From<LedgerError>>(
        &self,
        gateway: GatewayId,
        charges: Vec<Result<(String, ChargeRequest), E>>,
    ) -> Vec<Result<ChargeOutcome, E>> {
        let orders = charges.into_iter().map(|charge| async move {
            let (key, charge) = charge?;
            Ok(self.order(gateway, &key, charge).await?)
        });
        // All are known before the first is queued, so that none overtakes another.
        let orders: Vec<Result<Charging, E>> = join_all(orders).await;
        let taken: Vec<_> = orders.into_iter().map(|order| Ok::<_, E>(self.take(order?)?)).collect();
        join_all(taken.into_iter().map(|taken| async { Ok(taken?.await?) })).await
    }

    /// What a charge is for the ledger.
    async fn order(&self, gateway: GatewayId, key: &str, charge: ChargeRequest) -> Result<Charging, LedgerError> {
        let digest = self.digest(key)?;
        let ChargeRequest { quota, context, counts, request_id } = charge;
        let receipt = request_id.as_ref().map(|id| (id.clone(), request_hash(&digest, quota, &context, counts)));
        let request_id =
            request_id.unwrap_or_else(|| self.rng.generate_fast(|rng| ReservationId::random(rng)).to_string());
        let step = match (self.key_cache.find_of_any_age(&digest).await.map_err(LedgerError::Storage)?, receipt) {
            (Some(seen), receipt) => {
                let owner = seen.token.user_id;
                let what = What::Charge { seen, quota, context, counts, receipt };
                Step::Queue(Order { gateway: Some(gateway), owner, what })
            }
            // The token may have been deleted since: a retry is told the truth all the same (L4).
            (None, Some((id, request_hash))) => {
                Step::Told(self.lanes.recall((gateway, id), &request_hash).await?.ok_or(Refusal::InvalidKey)?)
            }
            (None, None) => return Err(Refusal::InvalidKey.into()),
        };
        Ok(Charging { request_id, step })
    }

    /// Queues a charge at once; what comes of it is told when it is awaited.
    fn take(
        &self,
        charging: Charging,
    ) -> Result<impl Future<Output = Result<ChargeOutcome, LedgerError>> + use<>, LedgerError> {
        let told = match charging.step {
            Step::Queue(order) => Either::Left(self.lanes.queue(order)?),
            Step::Told(done) => Either::Right(ready(Ok(done))),
        };
        Ok(async move {
            match told.await? {
                Done::Charged { charged, remain_quota } => {
                    Ok(ChargeOutcome { charged, remain_quota, request_id: charging.request_id })
                }
                Done::Reserved { .. } | Done::Settled { .. } | Done::Ended { .. } => Err(misunderstood()),
            }
        })
    }

    /// Sets quota aside for `seconds`.
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
        let seen =
            self.key_cache.find_of_any_age(&digest).await.map_err(LedgerError::Storage)?.ok_or(Refusal::InvalidKey)?;
        let (owner, expires_at) = (seen.token.user_id, self.clock.now().plus(seconds));
        let what = What::Reserve { seen, quota, context, expires_at };
        match self.lanes.execute(Order { gateway: Some(gateway), owner, what }).await? {
            Done::Reserved { reservation, expires_at, remain_quota } => {
                Ok(Reserved { handle: ReservationHandle { owner, id: reservation }, expires_at, remain_quota })
            }
            Done::Charged { .. } | Done::Settled { .. } | Done::Ended { .. } => Err(misunderstood()),
        }
    }

    /// Ends a reservation as a charge.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub async fn settle(
        &self,
        gateway: GatewayId,
        reservation: ReservationHandle,
        quota: Quota,
        counts: Counts,
    ) -> Result<Settled, LedgerError> {
        let what = What::Settle { reservation: reservation.id, quota, counts };
        match self.lanes.execute(Order { gateway: Some(gateway), owner: reservation.owner, what }).await? {
            Done::Settled { settlement, remain_quota } => Ok(Settled { settlement, remain_quota }),
            Done::Charged { .. } | Done::Reserved { .. } | Done::Ended { .. } => Err(misunderstood()),
        }
    }

    /// Ends a reservation, giving all back. Returns what the token has left.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub async fn release(&self, gateway: GatewayId, reservation: ReservationHandle) -> Result<Quota, LedgerError> {
        let what = What::Release { reservation: reservation.id };
        self.end(Order { gateway: Some(gateway), owner: reservation.owner, what }).await
    }

    /// Ends a reservation whose time is over.
    ///
    /// # Errors
    /// See [`LedgerError`].
    pub async fn expire(&self, reservation: ReservationHandle) -> Result<Quota, LedgerError> {
        let what = What::Expire { reservation: reservation.id };
        self.end(Order { gateway: None, owner: reservation.owner, what }).await
    }

    async fn end(&self, order: Order) -> Result<Quota, LedgerError> {
        match self.lanes.execute(order).await? {
            Done::Ended { remain_quota } => Ok(remain_quota),
            Done::Charged { .. } | Done::Reserved { .. } | Done::Settled { .. } => Err(misunderstood()),
        }
    }

    /// The rules of a charge on balances as last seen.
    fn judge(&self, seen: &CachedKey, context: &RequestContext, quota: Quota) -> Result<(), Refusal> {
        let group_is_open = self.groups.allow(&seen.owner_group, &seen.token.group);
        seen.token.admits(seen.wallet.status, group_is_open, context, self.clock.now())?;
        match seen.token.budget {
            Budget::Limited { remain } if remain < quota => return Err(Refusal::TokenQuotaInsufficient),
            Budget::Limited { .. } | Budget::Unlimited { .. } => {}
        }
        if seen.wallet.quota < quota { Err(Refusal::UserQuotaInsufficient) } else { Ok(()) }
    }

    /// Where a key is found. Its checksum refuses most that are none without looking.
    fn digest(&self, key: &str) -> Result<Digest, Refusal> {
        ApiKey::parse(key).map(|key| self.vault.digest(&key)).map_err(|_| Refusal::InvalidKey)
    }
}

/// A charge on its way, and the id it is answered under.
struct Charging {
    request_id: String,
    step: Step,
}

/// What is left to do for it.
enum Step {
    Queue(Order),
    Told(Done),
}

/// What makes two charges of one `request_id` the same.
fn request_hash(key: &Digest, quota: Quota, context: &RequestContext, counts: Counts) -> Vec<u8> {
    let Counts { prompt_tokens, completion_tokens } = counts;
    let ip = match context.ip {
        ClientAddress::Known(ip) => ip.to_string(),
        ClientAddress::NotSent | ClientAddress::Unknown => String::new(),
    };
    let model = context.model.as_deref().unwrap_or_default();
    let told = format!("{} {prompt_tokens} {completion_tokens} {ip} {model}", quota.get());
    Sha256::new().chain_update(key.as_bytes()).chain_update(told).finalize().to_vec()
}

/// A lane answers an order in its own words only.
fn misunderstood() -> LedgerError {
    LedgerError::Storage(Arc::new(StorageError::GivenUp))
}
