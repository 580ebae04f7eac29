//! A token under the lock of a batch. Its row is locked without the policy, which can be long and is remembered.

use std::sync::Arc;

use crate::domain::account::Account;
use crate::domain::group::{Groups, Ratio};
use crate::domain::id::{TokenId, UserId};
use crate::domain::rate_limits::{RateCounters, RateLimits};
use crate::domain::time::UnixTime;
use crate::domain::token_policy::TokenPolicy;

/// What a batch reads of a token under the lock. It can end holds, but decide about a request only with a policy of the
/// same version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LockedToken {
    pub id: TokenId,
    /// The owner.
    pub user_id: UserId,
    /// The version of its policy; `None` if it is deleted.
    pub version: Option<i64>,
    pub accessed_time: UnixTime,
    pub account: Account,
    pub rate_limits: RateLimits,
    pub rate_counters: RateCounters,
}

/// A policy that is in force while its token is locked. Only [`LockedToken::with`] makes one.
#[derive(Debug, Clone)]
pub struct CurrentPolicy {
    policy: Arc<TokenPolicy>,
    group_is_open: bool,
    ratio: Ratio,
    has_ratio_of_told: bool,
}

impl LockedToken {
    /// The policy of the token `id`, if that is this token and the policy is in force; `None` if the token was edited
    /// or deleted after the policy was read. `owner_group` is the group of the token's owner.
    pub fn with(
        &self,
        (id, policy): (TokenId, &Arc<TokenPolicy>),
        groups: &Groups,
        owner_group: &str,
    ) -> Option<CurrentPolicy> {
        let group_is_open = groups.allow(owner_group, &policy.group);
        let is_in_force = id == self.id && self.version == Some(policy.version);
        let ratio = groups.ratio(owner_group, &policy.group);
        let has_ratio_of_told = groups.has_ratio_of_told(owner_group, &policy.group);
        is_in_force.then(|| CurrentPolicy { policy: Arc::clone(policy), group_is_open, ratio, has_ratio_of_told })
    }
}

impl CurrentPolicy {
    pub fn get(&self) -> &TokenPolicy {
        &self.policy
    }

    /// By which prices are multiplied for the token.
    pub const fn ratio(&self) -> Ratio {
        self.ratio
    }

    /// By which costs are multiplied that answers tell, if they are.
    pub fn ratio_of_told(&self) -> Option<Ratio> {
        self.has_ratio_of_told.then_some(self.ratio)
    }

    /// Whether the token's owner may use its group.
    pub const fn group_is_open(&self) -> bool {
        self.group_is_open
    }
}
