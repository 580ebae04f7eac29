//! The ledger: what its calls need. Each call is in a file of its own.

use std::sync::Arc;

use prometheus_client::registry::Registry;

use super::error::LedgerError;
use super::forward_auth_rates::ForwardAuthRates;
use super::lanes::{Lanes, LedgerRules};
use super::parts::LedgerParts;
use crate::domain::calendar::Moment;
use crate::domain::id::GatewayId;
use crate::domain::key::Digest;
use crate::domain::ledger::{Refusal, RefusalReason, RequestContext};
use crate::domain::money::Quota;
use crate::domain::prices::cost::Cost;
use crate::domain::refusals::{RefusedCall, RefusedRequest};
use crate::service::core::Core;
use crate::service::key_cache::CachedKey;

/// Verifies keys, and charges and reserves their quota.
#[derive(Debug)]
pub struct Ledger {
    pub(super) core: Core,
    pub(super) parts: LedgerParts,
    pub(super) lanes: Lanes,
    pub(super) forward_auth: ForwardAuthRates,
}

impl Ledger {
    /// A ledger with running lanes.
    pub fn start(core: Core, parts: LedgerParts, rules: &LedgerRules, registry: &mut Registry) -> Self {
        let lanes = Lanes::start(&core, &parts, rules, registry);
        Self { core, parts, lanes, forward_auth: ForwardAuthRates::new() }
    }

    /// The present moment, for answers that decide nothing.
    pub fn now(&self) -> Moment {
        Moment::new(self.core.clock.micros(), self.core.calendar)
    }

    /// The present moment, for a decision about a key.
    pub(super) async fn current_moment(&self) -> Result<Moment, LedgerError> {
        let micros = self.parts.clock_reader.micros().await?;
        Ok(Moment::new(micros, self.core.calendar))
    }

    /// An id for a request whose gateway sent none.
    pub(super) fn new_request_id(&self) -> String {
        self.core.rng.generate_fast(|rng| rng.next_u64() >> 1).to_string()
    }

    /// The digest that finds a key. Most texts that are not keys are refused without a look-up.
    pub(super) fn digest(&self, key: &str) -> Result<Digest, Refusal> {
        self.parts.key_reader.digest(key).map_err(|_| RefusalReason::InvalidKey.into())
    }

    /// Records a request whose key no live token has. `None` for the digest: no token can have it.
    pub(super) fn unknown_key(
        &self,
        (gateway, call): (GatewayId, RefusedCall),
        digest: Option<&Digest>,
        context: &RequestContext,
        quota: Option<Quota>,
        request_id: Option<&str>,
    ) -> Refusal {
        let (at, refusal) = (self.now(), RefusalReason::InvalidKey.into());
        let token = None;
        let request = RefusedRequest { at: at.now, token, digest, gateway, call, refusal, context, quota, request_id };
        self.parts.refused_requests.record(&request, &at);
        refusal
    }

    /// The live token of a key, however long ago it was read: what can change is read, or compared by its version,
    /// under the locks.
    pub(super) async fn find_key(&self, digest: &Digest) -> Result<Option<Arc<CachedKey>>, LedgerError> {
        Ok(self.parts.key_cache.find_of_any_age(digest).await?)
    }

    /// Looks up the price of a model before any wallet is locked, so that the list remembers it.
    pub(super) fn remember_price(&self, cost: &Cost, model: Option<&str>) {
        if cost.quota.is_none() {
            let _ = self.parts.prices.read().list.find(model.unwrap_or_default(), cost.provider.as_deref());
        }
    }
}
