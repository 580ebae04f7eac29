//! Verify: may this key be used?

use std::sync::Arc;

use super::error::LedgerError;
use super::ledger::Ledger;
use crate::domain::calendar::Moment;
use crate::domain::id::GatewayId;
use crate::domain::key::Digest;
use crate::domain::ledger::{Accounts, Purpose, Refusal, RefusalReason, RequestContext, TokenState, admit, admit_use};
use crate::domain::money::Quota;
use crate::domain::prices::cost::Cost;
use crate::domain::prices::unknown::Unknown;
use crate::domain::refusals::{RefusedCall, RefusedRequest};
use crate::service::key_cache::CachedKey;
use crate::telemetry::request_notes::RequestNotes;

/// The answer to "may this key be used?".
#[derive(Debug)]
pub struct Verification {
    /// Why it may not be used; none if it may.
    pub refusal: Option<Refusal>,
    /// The token of the key and its owner; none if the key is unknown or has ended.
    pub key: Option<Arc<CachedKey>>,
    /// What can be spent now.
    pub usable: Quota,
}

impl Ledger {
    /// Returns whether a key may be used at this cost, by everything but rates. Without a cost, the balances are not
    /// checked, but a period limit that is used up refuses the key. Does not touch the database if the key was read in
    /// the last two seconds; the balances are those of then, or of the last charge on this server. `call` says who
    /// asks.
    ///
    /// # Errors
    /// The database failed, or its clock could not be read for five seconds.
    pub async fn verify(
        &self,
        (gateway, call): (GatewayId, RefusedCall),
        key: &str,
        context: &RequestContext,
        cost: Option<&Cost>,
    ) -> Result<Verification, LedgerError> {
        let quota = cost.and_then(|cost| cost.quota);
        let unknown = |digest: Option<&Digest>| {
            let refusal = self.unknown_key((gateway, call), digest, context, quota, None);
            Verification { refusal: Some(refusal), key: None, usable: Quota::ZERO }
        };
        let Ok(digest) = self.digest(key) else {
            return Ok(unknown(None));
        };
        let Some(key) = self.parts.key_cache.find(&digest).await? else {
            return Ok(unknown(Some(&digest)));
        };
        let at = self.current_moment().await?;
        let token = &key.token;
        RequestNotes::note_token(token.id.get());
        if !key.used.is_live(at.now) {
            let refusal = RefusalReason::InvalidKey.into();
            self.record_refusal((gateway, call), &key, refusal, context, quota, &at);
            return Ok(Verification { refusal: Some(refusal), key: None, usable: Quota::ZERO });
        }
        let state = TokenState {
            owner: key.wallet.status,
            group_is_open: self.core.groups.allow(&key.owner_group, &token.policy.group),
            accounts: Accounts::new(token.account, key.wallet.account),
            rate_limits: token.rate_limits,
            rate_counters: token.rate_counters,
        };
        self.parts.repairs.check(token.user_id, &key.wallet.account, (&token.rate_limits, token.rate_counters), &at);
        let usable = state.accounts.usable(&at);
        let most = match cost {
            Some(cost) if cost.quota.is_none() => {
                let ratio = self.core.groups.ratio(&key.owner_group, &token.policy.group);
                self.parts.prices.read().list.most(cost, context.model.as_deref(), at.now, ratio).map(Some)
            }
            Some(_) | None => Ok(quota),
        };
        let asked = most.as_ref().ok().copied().flatten();
        let admitted = match most {
            Ok(most) => admit(&token.policy, &state, Purpose::Verify(most), context, &at).map(drop),
            Err(why) => match (admit_use(&token.policy, &state, context, &at), why) {
                (Err(refusal), _) => Err(refusal),
                (Ok(_), Unknown::NotPriced(_)) => Err(RefusalReason::ModelNotPriced.into()),
                (Ok(_), why) => {
                    let model = context.model.clone().unwrap_or_default();
                    return Err(LedgerError::UnknownCost { model, why });
                }
            },
        };
        let refusal = admitted.err();
        if let Some(refusal) = refusal {
            self.record_refusal((gateway, call), &key, refusal, context, asked, &at);
        }
        Ok(Verification { refusal, key: Some(key), usable })
    }

    /// Records that the token of a key was refused.
    pub(super) fn record_refusal(
        &self,
        (gateway, call): (GatewayId, RefusedCall),
        key: &CachedKey,
        refusal: Refusal,
        context: &RequestContext,
        quota: Option<Quota>,
        at: &Moment,
    ) {
        let (token, digest, request_id) = (Some((key.token.user_id, key.token.id)), None, None);
        let now = at.now;
        let request = RefusedRequest { at: now, token, digest, gateway, call, refusal, context, quota, request_id };
        self.parts.refused_requests.record(&request, at);
    }
}
