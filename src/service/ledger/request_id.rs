//! Idempotency: a request that is repeated with its id gets the answer to the first one (L4).

use sha2::{Digest as _, Sha256};

use crate::domain::id::GatewayId;
use crate::domain::key::Digest;
use crate::domain::ledger::RequestContext;
use crate::domain::prices::cost::Cost;
use crate::domain::prices::unit::{CACHE_READ_TOKENS, CACHE_WRITE_TOKENS, INPUT_TOKENS, OUTPUT_TOKENS};
use crate::domain::token::TokenIdentity;
use crate::service::ledger::error::LedgerError;
use crate::service::ledger::ledger::Ledger;
use crate::service::ledger::provider_usage::ProviderUsage;
use crate::storage::keys;
use crate::storage::ledger::{self, GatewayRequestId, RecordedAnswer, RequestIdRecord};

/// The gateway's own id of a request, and what has to be the same in a retry.
pub(super) struct RequestId {
    pub(super) key: GatewayRequestId,
    pub(super) request_hash: Vec<u8>,
}

impl RequestId {
    /// Of a request with this id for `key`. `what` is the rest of it; it tells charges from reservations.
    pub(super) fn new(
        gateway: GatewayId,
        request_id: &str,
        key: &Digest,
        what: &str,
        context: &RequestContext,
    ) -> Self {
        let ip = context.ip.known().map(|ip| ip.to_string()).unwrap_or_default();
        let rest = format!("{what} {ip} {}", context.model.as_deref().unwrap_or_default());
        let request_hash = Sha256::new().chain_update(key.as_bytes()).chain_update(rest).finalize().to_vec();
        Self { key: GatewayRequestId { gateway_id: gateway, request_id: request_id.to_owned() }, request_hash }
    }

    /// What was answered to this request before.
    ///
    /// # Errors
    /// The id was used for another request.
    pub(super) fn answer(&self, record: &RequestIdRecord) -> Result<RecordedAnswer, LedgerError> {
        if record.request_hash == self.request_hash { Ok(record.answer) } else { Err(LedgerError::RequestIdReused) }
    }
}

/// The cost of a request as a retry has to repeat it. A cost by counts is written as its counts, so that a retry after
/// a change of the price is the same request. Amounts are written as older versions wrote them, without parts of the
/// prompt.
pub(super) fn repeatable(cost: &Cost, usage: Option<&ProviderUsage>) -> String {
    let rest = rest(cost, usage);
    let tokens = |unit| cost.units.tokens(unit).unwrap_or(0);
    let counts = format!("{} {}", tokens(INPUT_TOKENS), tokens(OUTPUT_TOKENS));
    match (cost.quota, cost.units.tokens(CACHE_READ_TOKENS), cost.units.tokens(CACHE_WRITE_TOKENS)) {
        (Some(quota), ..) => format!("{} {counts}{rest}", quota.get()),
        (None, None, None) => format!("priced {counts}{rest}"),
        (None, cached, written) => format!("priced {counts} {} {}{rest}", cached.unwrap_or(0), written.unwrap_or(0)),
    }
}

/// What older versions did not know: units that have no column, context, provider and usage. Empty if there is none.
pub(super) fn rest(cost: &Cost, usage: Option<&ProviderUsage>) -> String {
    let others = cost.units.others().map(|(unit, count)| format!(" {unit}={count}"));
    let context = cost.context.iter().map(|(key, value)| format!(" {key:?}={value:?}"));
    let provider = cost.provider.iter().map(|provider| format!(" {provider:?}"));
    others.chain(context).chain(provider).chain(usage.map(ProviderUsage::repeatable)).collect()
}

/// Of a settlement with more than the counts that its charge has columns for.
pub(super) fn settled_digest(cost: &Cost, usage: Option<&ProviderUsage>) -> Option<Vec<u8>> {
    (!rest(cost, usage).is_empty()).then(|| Sha256::digest(repeatable(cost, usage)).to_vec())
}

impl Ledger {
    /// The record of a request whose key is not known any more, and the token that it was: it may have been deleted
    /// since.
    pub(super) async fn find_record(
        &self,
        idempotency: &RequestId,
        key: &Digest,
    ) -> Result<Option<(RequestIdRecord, TokenIdentity)>, LedgerError> {
        let db = &self.core.db;
        if db.is_stalled() {
            return Err(LedgerError::Busy);
        }
        let mut conn = db.acquire().await?;
        let found = db.bounded_on(&mut conn, async |conn| {
            let mut records = ledger::list_idempotency_records(conn, &[&idempotency.key]).await?;
            let Some(record) = records.remove(&idempotency.key) else {
                return Ok(None);
            };
            Ok(keys::find_identity(conn, key).await?.map(|token| (record, token)))
        });
        let found = found.await?;
        if found.is_some() {
            // Its batch may not be on disk yet (L4).
            db.flush(conn).await?;
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::domain::money::Quota;
    use crate::domain::prices::units::Units;

    #[test]
    fn an_amount_is_repeatable_as_older_versions_wrote_it() {
        let plain = Units::from([("input_tokens", 7), ("output_tokens", 3)]);
        let cached = Units::from([("input_tokens", 7), ("output_tokens", 3), ("cache_read_tokens", 2)]);
        let text = |quota: Option<i64>, units: &Units| {
            let quota = quota.map(|quota| Quota::grant(quota).unwrap());
            repeatable(&Cost { quota, units: units.clone(), ..Cost::default() }, None)
        };
        assert_eq!(text(Some(40), &cached), "40 7 3");
        assert_eq!(text(None, &cached), "priced 7 3 2 0");
        assert_eq!(text(None, &plain), "priced 7 3");
    }
}
