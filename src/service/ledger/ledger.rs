//! The ledger: what its calls need. Each call is in a file of its own.

use std::sync::Arc;

use super::error::LedgerError;
use super::forward_auth::ForwardAuthRates;
use super::lanes::Lanes;
use crate::domain::calendar::{Calendar, Moment};
use crate::domain::clock::Clock;
use crate::domain::group::Groups;
use crate::domain::id::GatewayId;
use crate::domain::key::Digest;
use crate::domain::ledger::{Refusal, RefusalReason, RequestContext};
use crate::domain::money::Quota;
use crate::domain::refusals::{RefusedCall, RefusedRequest};
use crate::service::clock::ClockReader;
use crate::service::clock_repair::ClockRepairs;
use crate::service::foreign_keys::KeyReader;
use crate::service::key_cache::{CachedKey, KeyCache};
use crate::service::old_key_uses::OldKeyUses;
use crate::service::prices::Prices;
use crate::service::refused_requests::RefusedRequests;
use crate::service::rng::Rng;
use crate::storage::Db;

/// Verifies keys, and charges and reserves their quota.
#[derive(Debug)]
pub struct Ledger {
    pub(super) db: Db,
    pub(super) key_reader: KeyReader,
    pub(super) key_cache: Arc<KeyCache>,
    pub(super) lanes: Lanes,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) clock_reader: Arc<ClockReader>,
    pub(super) repairs: ClockRepairs,
    pub(super) rng: Rng,
    pub(super) groups: Groups,
    pub(super) calendar: Calendar,
    pub(super) forward_auth: ForwardAuthRates,
    pub(super) refused: Arc<RefusedRequests>,
    pub(super) prices: Arc<Prices>,
    pub(super) old_key_uses: Arc<OldKeyUses>,
}

impl Ledger {
    /// A ledger on a key cache and running lanes.
    #[expect(clippy::too_many_arguments, reason = "the parts of the service, put together in one place")]
    pub fn new(
        db: Db,
        key_reader: KeyReader,
        key_cache: Arc<KeyCache>,
        lanes: Lanes,
        clock: Arc<dyn Clock>,
        clock_reader: Arc<ClockReader>,
        repairs: ClockRepairs,
        rng: Rng,
        groups: Groups,
        calendar: Calendar,
        refused: Arc<RefusedRequests>,
        prices: Arc<Prices>,
        old_key_uses: Arc<OldKeyUses>,
    ) -> Self {
        let forward_auth = ForwardAuthRates::new();
        Self {
            db,
            key_reader,
            key_cache,
            lanes,
            clock,
            clock_reader,
            repairs,
            rng,
            groups,
            calendar,
            forward_auth,
            refused,
            prices,
            old_key_uses,
        }
    }

    /// The present moment, for answers that decide nothing.
    pub fn now(&self) -> Moment {
        Moment::new(self.clock.micros(), self.calendar)
    }

    /// The present moment, for a decision about a key.
    pub(super) async fn current_moment(&self) -> Result<Moment, LedgerError> {
        let micros = self.clock_reader.micros().await?;
        Ok(Moment::new(micros, self.calendar))
    }

    /// An id for a request whose gateway sent none.
    pub(super) fn new_request_id(&self) -> String {
        self.rng.generate_fast(|rng| rng.next_u64() >> 1).to_string()
    }

    /// The digest that finds a key. Most texts that are not keys are refused without a look-up.
    pub(super) fn digest(&self, key: &str) -> Result<Digest, Refusal> {
        self.key_reader.digest(key).map_err(|_| RefusalReason::InvalidKey.into())
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
        self.refused.record(&request, &at);
        refusal
    }

    /// The live token of a key, however long ago it was read: what can change is read, or compared by its version, under the locks.
    pub(super) async fn find_key(&self, digest: &Digest) -> Result<Option<Arc<CachedKey>>, LedgerError> {
        Ok(self.key_cache.find_of_any_age(digest).await?)
    }
}
