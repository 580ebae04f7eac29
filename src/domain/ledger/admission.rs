//! Whether a request may use a token: one function decides for verify, charge, reserve and forward-auth.

use super::accounts::Accounts;
use super::refusal::{Refusal, RefusalReason};
use crate::domain::calendar::Moment;
use crate::domain::client_addresses::{ClientAddresses, StoredAddress};
use crate::domain::ip_allowlist::ClientAddress;
use crate::domain::money::Quota;
use crate::domain::rate_limits::{RateCounters, RateLimits};
use crate::domain::status::Status;
use crate::domain::token_policy::TokenPolicy;
use crate::domain::user::UserStatus;

/// What a request wants to use a token for. Omitted fields are not checked: the gateway is trusted to send what it
/// knows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestContext {
    /// The model requested.
    pub model: Option<String>,
    /// The end client's address.
    pub ip: ClientAddress,
}

/// What a charge or a reservation was made for, as its row says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RequestDetails {
    /// The model requested; empty if it was not sent.
    pub model: String,
    /// The gateway's id of the request, or the one that it was answered. Rows of older versions have none.
    pub request_id: Option<String>,
    /// The end client's address, if it was sent and is stored.
    pub ip: Option<StoredAddress>,
}

impl RequestDetails {
    /// The text of the address.
    pub fn address(&self) -> Option<String> {
        self.ip.as_ref().map(|ip| ip.as_str().to_owned())
    }
}

impl RequestContext {
    /// Of a row: an empty model was not sent, and an address that is not stored whole is not checked again.
    pub fn of_stored(model: &str, ip: Option<&StoredAddress>) -> Self {
        let ip = ip.and_then(StoredAddress::ip);
        Self {
            model: Some(model.to_owned()).filter(|model| !model.is_empty()),
            ip: ip.map_or(ClientAddress::NotSent, ClientAddress::Known),
        }
    }

    /// The same as it is stored.
    pub fn details(&self, request_id: String, addresses: ClientAddresses) -> RequestDetails {
        RequestDetails {
            model: self.model.clone().unwrap_or_default(),
            request_id: Some(request_id),
            ip: self.ip.known().and_then(|ip| addresses.stored(ip)),
        }
    }
}

impl RequestDetails {
    /// What was requested.
    pub fn context(&self) -> RequestContext {
        RequestContext::of_stored(&self.model, self.ip.as_ref())
    }
}

/// What a request does with its cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Asks only. Without a cost, the balances are not checked, but a used-up token or period limit refuses. Rates are
    /// not checked either: a request that is verified and then charged counts once.
    Verify(Option<Quota>),
    /// It is charged now.
    Charge(Quota),
    /// It is held.
    Hold(Quota),
    /// It is held in addition, by a reservation that was admitted before. It is no further request: rates and the
    /// number of open reservations are not checked, and without more quota neither are the balances.
    Extend(Quota),
}

/// A token and its owner at the moment of a request: all that decides besides the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenState {
    /// The status of its owner.
    pub owner: UserStatus,
    /// Whether the owner may use the token's group.
    pub group_is_open: bool,
    pub accounts: Accounts,
    pub rate_limits: RateLimits,
    pub rate_counters: RateCounters,
}

/// The state after an admitted request. A request that only asks changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Admitted {
    pub accounts: Accounts,
    pub rate_counters: RateCounters,
}

/// Whether a request may use a token, and what is left if it does.
///
/// # Errors
/// The first reason that applies, in the order of [`RefusalReason`].
pub fn admit(
    policy: &TokenPolicy,
    state: &TokenState,
    purpose: Purpose,
    context: &RequestContext,
    at: &Moment,
) -> Result<Admitted, Refusal> {
    let TokenState { accounts, rate_limits, rate_counters, .. } = *state;
    let status = admit_use(policy, state, context, at)?;
    if purpose == Purpose::Extend(Quota::ZERO) {
        return Ok(Admitted { accounts, rate_counters });
    }
    let (cost, least) = match purpose {
        Purpose::Charge(quota) | Purpose::Hold(quota) | Purpose::Extend(quota) | Purpose::Verify(Some(quota)) => {
            (quota, quota)
        }
        Purpose::Verify(None) => (Quota::ZERO, Quota::LEAST),
    };
    // What costs nothing needs no quota, whether the token was ever filled or not.
    if status == Status::QuotaExhausted && !least.is_zero() {
        return Err(RefusalReason::TokenExhausted.into());
    }
    accounts.afford(cost)?;
    accounts.fit_periods(least, at)?;
    let count_request = || rate_limits.admit(rate_counters, at.micros).map_err(Refusal::from);
    match purpose {
        Purpose::Verify(_) => Ok(Admitted { accounts, rate_counters }),
        Purpose::Charge(quota) => {
            let rate_counters = count_request()?;
            Ok(Admitted { accounts: accounts.spend(quota)?, rate_counters })
        }
        Purpose::Hold(quota) => {
            let mut rate_counters = count_request()?;
            if let Some(limit) = rate_limits.concurrency.filter(|_| !rate_limits.admit_reservation(rate_counters)) {
                return Err(Refusal::concurrency(limit));
            }
            rate_counters.open_reservations = rate_counters.open_reservations.saturating_add(1);
            Ok(Admitted { accounts: accounts.hold(quota)?, rate_counters })
        }
        Purpose::Extend(quota) => Ok(Admitted { accounts: accounts.hold(quota)?, rate_counters }),
    }
}

/// Whether a request may use a token, whatever it costs. Returns the status of the token, which may be exhausted.
///
/// # Errors
/// As [`admit`]: the reasons that come before those of costs.
pub fn admit_use(
    policy: &TokenPolicy,
    state: &TokenState,
    context: &RequestContext,
    at: &Moment,
) -> Result<Status, Refusal> {
    let status = policy.status(state.accounts.token(), at.now);
    match (status, state.owner) {
        (Status::Disabled, _) => return Err(RefusalReason::TokenDisabled.into()),
        (Status::Expired, _) => return Err(RefusalReason::TokenExpired.into()),
        (Status::Enabled | Status::QuotaExhausted, UserStatus::Disabled) => {
            return Err(RefusalReason::UserDisabled.into());
        }
        (Status::Enabled | Status::QuotaExhausted, UserStatus::Enabled) => {}
    }
    if !state.group_is_open {
        return Err(RefusalReason::GroupNotAllowed.into());
    }
    if !context.model.as_ref().is_none_or(|model| policy.allows_model(model)) {
        return Err(RefusalReason::ModelNotAllowed.into());
    }
    if !context.ip.passes(&policy.allow_ips) {
        return Err(RefusalReason::IpNotAllowed.into());
    }
    Ok(status)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_stored_with_what_it_was_for_and_checked_again_by_it() {
        let context = |model: &str, ip: ClientAddress| RequestContext {
            model: Some(model.to_owned()).filter(|model| !model.is_empty()),
            ip,
        };
        let ip = "192.0.2.7".parse().unwrap();
        let known = context("o1", ClientAddress::Known(ip));
        let stored = known.details("id".to_owned(), ClientAddresses::Full);
        let expected = RequestDetails {
            model: "o1".to_owned(),
            request_id: Some("id".to_owned()),
            ip: ClientAddresses::Full.stored(ip),
        };
        assert_eq!((&stored, stored.context()), (&expected, known.clone()));
        // Of a network, no address is known that could be checked.
        let without_address = context("o1", ClientAddress::NotSent);
        for addresses in [ClientAddresses::Networks, ClientAddresses::None] {
            assert_eq!(known.details("id".to_owned(), addresses).context(), without_address);
        }
        let nothing = context("", ClientAddress::NotSent);
        assert_eq!(nothing.details("id".to_owned(), ClientAddresses::Full).context(), nothing);
    }
}
