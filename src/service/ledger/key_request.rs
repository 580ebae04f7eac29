//! What charge and reserve have in common: a gateway asks for quota of a key.

use std::sync::{Arc, OnceLock};

use super::batch::Batch;
use super::error::LedgerError;
use super::ledger::Ledger;
use super::provider_usage::ProviderUsage;
use super::request_id::RequestId;
use crate::domain::id::{GatewayId, TokenId, UserId};
use crate::domain::key::Digest;
use crate::domain::ledger::{Refusal, RequestContext};
use crate::domain::money::Quota;
use crate::domain::prices::cost::Cost;
use crate::domain::prices::priced_by::PricedBy;
use crate::domain::refusals::{RefusedCall, RefusedRequest};
use crate::domain::time::UnixTime;
use crate::domain::token::TokenIdentity;
use crate::service::key_cache::CachedKey;
use crate::storage::ledger::{RecordedAnswer, RequestIdRecord};
use crate::telemetry::request_notes::RequestNotes;

/// What a gateway asks a key for.
#[derive(Debug)]
pub struct QuotaRequest {
    /// What it costs; of a reservation, the most that it may cost.
    pub cost: Cost,
    /// What the provider's answer says that it used, besides; of a charge.
    pub usage: Option<ProviderUsage>,
    /// What the token is used for.
    pub context: RequestContext,
    /// The gateway's own id of the request.
    pub request_id: Option<String>,
}

/// A request whose key was looked up.
pub(super) enum FoundRequest {
    Live(KeyRequest),
    /// The token was deleted after the request was made with this id. A retry still gets its answer (L4).
    Deleted {
        request_id: String,
        answer: RecordedAnswer,
        token: TokenIdentity,
        priced_by: PricedBy,
    },
}

/// A request with the key of a live token.
pub(super) struct KeyRequest {
    pub(super) gateway: GatewayId,
    call: RefusedCall,
    pub(super) key: Arc<CachedKey>,
    pub(super) cost: Cost,
    /// The amount that was asked for, once a batch knows it.
    pub(super) quota: OnceLock<Quota>,
    pub(super) usage: Option<ProviderUsage>,
    pub(super) context: RequestContext,
    /// The gateway's id of the request, or the one that it is answered.
    pub(super) request_id: String,
    pub(super) idempotency: Option<RequestId>,
}

impl Ledger {
    /// Finds the token of a request; `repeatable` is what a retry has to repeat besides key and context.
    pub(super) async fn find_request(
        &self,
        (gateway, call): (GatewayId, RefusedCall),
        key: &str,
        request: QuotaRequest,
        repeatable: &str,
    ) -> Result<FoundRequest, LedgerError> {
        let QuotaRequest { cost, usage, context, request_id } = request;
        let unknown = |digest: Option<&Digest>| {
            self.unknown_key((gateway, call), digest, &context, cost.quota, request_id.as_deref())
        };
        let digest = self.digest(key).map_err(|_| unknown(None))?;
        let idempotency = request_id.as_ref().map(|id| RequestId::new(gateway, id, &digest, repeatable, &context));
        let Some(key) = self.find_key(&digest).await? else {
            let idempotency = idempotency.ok_or_else(|| unknown(Some(&digest)))?;
            let found = self.find_record(&idempotency, &digest).await?;
            let (record, token) = found.ok_or_else(|| unknown(Some(&digest)))?;
            let answer = idempotency.answer(&record)?;
            let (request_id, priced_by) = (request_id.unwrap_or_default(), cost.priced_by());
            return Ok(FoundRequest::Deleted { request_id, answer, token, priced_by });
        };
        RequestNotes::note_token(key.token.id.get());
        self.remember_price(&cost, context.model.as_deref());
        let request_id = request_id.unwrap_or_else(|| self.new_request_id());
        let quota = OnceLock::new();
        Ok(FoundRequest::Live(KeyRequest { gateway, call, key, cost, quota, usage, context, request_id, idempotency }))
    }
}

impl KeyRequest {
    pub(super) fn owner(&self) -> UserId {
        self.key.token.user_id
    }

    pub(super) fn token(&self) -> TokenId {
        self.key.token.id
    }

    /// What was answered to a request with the same id, before or in this batch.
    ///
    /// # Errors
    /// The id was used for another request.
    pub(super) fn recorded(&self, batch: &Batch<'_>) -> Result<Option<RecordedAnswer>, LedgerError> {
        let Some(idempotency) = &self.idempotency else {
            return Ok(None);
        };
        batch.record(&idempotency.key).map(|record| idempotency.answer(record)).transpose()
    }

    /// Records what is answered, for retries.
    pub(super) fn record(&self, batch: &mut Batch<'_>, answer: RecordedAnswer) {
        if let Some(RequestId { key, request_hash }) = &self.idempotency {
            let record = RequestIdRecord { user_id: self.owner(), request_hash: request_hash.clone(), answer };
            batch.add_record(key.clone(), record);
        }
    }

    /// What is recorded if its key is refused.
    pub(super) fn refused(&self, refusal: Refusal, at: UnixTime) -> RefusedRequest<'_> {
        RefusedRequest {
            at,
            token: Some((self.owner(), self.token())),
            digest: None,
            gateway: self.gateway,
            call: self.call,
            refusal,
            context: &self.context,
            quota: self.cost.quota.or_else(|| self.quota.get().copied()),
            request_id: self.idempotency.is_some().then_some(&self.request_id),
        }
    }
}
