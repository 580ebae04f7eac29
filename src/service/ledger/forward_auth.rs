//! Forward-auth counts a request, which is no operation of the ledger.

use super::ledger::Ledger;
use super::verify::Verification;
use crate::domain::id::GatewayId;
use crate::domain::ledger::{Refusal, RequestContext};
use crate::domain::refusals::RefusedCall;

impl Ledger {
    /// Counts a request of forward-auth against the token's requests per minute, on this server only.
    ///
    /// # Errors
    /// The rate is used up; the request is not counted then.
    pub fn count_request(
        &self,
        gateway: GatewayId,
        verification: &Verification,
        context: &RequestContext,
    ) -> Result<(), Refusal> {
        let Some(key) = &verification.key else {
            return Ok(());
        };
        let Some(limit) = key.token.rate_limits.requests_per_minute else {
            return Ok(());
        };
        let at = self.now();
        self.forward_auth.count(key.token.id, limit, self.core.clock.uptime()).map_err(|exceeded| {
            let refusal = Refusal::from(exceeded);
            self.record_refusal((gateway, RefusedCall::ForwardAuth), key, refusal, context, None, &at);
            refusal
        })
    }
}
