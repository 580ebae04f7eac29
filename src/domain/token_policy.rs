//! What may be done with a token, whatever is left on it.

use super::account::Account;
use super::group::Group;
use super::ip_allowlist::IpAllowlist;
use super::model_limits::ModelLimits;
use super::status::Status;
use super::time::{Lifetime, UnixTime};
use super::user::Role;

/// What an owner or an administrator decides about the use of a token. It can be long, so servers remember it. It is
/// replaced by an edit, never changed. Limits of rates are not in it: a settlement counts by them, and knows no policy.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenPolicy {
    /// Raised by every edit, by disabling, enabling and deleting, never by a charge, and never used again. A policy is
    /// in force while the row of its token has the same version.
    pub version: i64,
    /// The highest role that disabled the token; `None` while it is enabled.
    pub disabled_by: Option<Role>,
    /// `expired_time` of the API.
    pub lifetime: Lifetime,
    /// Whether `model_limits` applies.
    pub model_limits_enabled: bool,
    pub model_limits: ModelLimits,
    pub allow_ips: IpAllowlist,
    pub group: Group,
    /// Always false outside the group `auto`.
    pub cross_group_retry: bool,
}

impl TokenPolicy {
    /// The status of a token with this policy and this account. *Disabled* takes precedence over *expired*, and
    /// *expired* over *exhausted*.
    pub fn status(&self, account: &Account, now: UnixTime) -> Status {
        match self.disabled_by {
            Some(_) => Status::Disabled,
            None if self.lifetime.is_over(now) => Status::Expired,
            None if account.is_exhausted() => Status::QuotaExhausted,
            None => Status::Enabled,
        }
    }

    /// Whether the token may be used for a model.
    pub fn allows_model(&self, model: &str) -> bool {
        !self.model_limits_enabled || self.model_limits.allow(model)
    }
}
