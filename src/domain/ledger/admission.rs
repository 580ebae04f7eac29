//! Whether a request may use a token (L6), and what it can spend.

use super::{Refusal, Wallet};
use crate::domain::account::Budget;
use crate::domain::bounds;
use crate::domain::calendar::Moment;
use crate::domain::ip_allowlist::ClientAddress;
use crate::domain::money::Quota;
use crate::domain::period_limits::PeriodUsage;
use crate::domain::status::Status;
use crate::domain::time::UnixTime;
use crate::domain::token::Token;
use crate::domain::user::UserStatus;

/// What a request wants to use a token for. Omitted fields are not checked: the gateway is trusted to send what it knows.
#[derive(Debug, Clone, Default)]
pub struct RequestContext {
    /// The model requested.
    pub model: Option<String>,
    /// The end client's address.
    pub ip: ClientAddress,
}

impl Token {
    /// Whether a request may use this token now; balances are not checked. `group_is_open` says whether its owner may use
    /// its group.
    ///
    /// # Errors
    /// The first reason that applies.
    pub fn admits(
        &self,
        owner: UserStatus,
        group_is_open: bool,
        context: &RequestContext,
        now: UnixTime,
    ) -> Result<(), Refusal> {
        let status = self.status(now);
        match (status, owner) {
            (Status::Disabled, _) => return Err(Refusal::TokenDisabled),
            (Status::Expired, _) => return Err(Refusal::TokenExpired),
            (Status::Enabled | Status::QuotaExhausted, UserStatus::Disabled) => return Err(Refusal::UserDisabled),
            (Status::Enabled | Status::QuotaExhausted, UserStatus::Enabled) => {}
        }
        if !group_is_open {
            return Err(Refusal::GroupNotAllowed);
        }
        let is_allowed = |model: &String| self.model_limits.allow(model);
        if self.model_limits_enabled && !context.model.as_ref().is_none_or(is_allowed) {
            return Err(Refusal::ModelNotAllowed);
        }
        if !context.ip.passes(&self.allow_ips) {
            return Err(Refusal::IpNotAllowed);
        }
        match status {
            Status::QuotaExhausted => Err(Refusal::TokenExhausted),
            Status::Enabled | Status::Disabled | Status::Expired => Ok(()),
        }
    }

    /// Whether this token and its owner's wallet can pay `quota`.
    ///
    /// # Errors
    /// The token or the wallet has less.
    pub fn affords(&self, wallet: &Wallet, quota: Quota) -> Result<(), Refusal> {
        match (self.account.affords(quota), wallet.account.affords(quota)) {
            (true, true) => Ok(()),
            (false, _) => Err(Refusal::TokenQuotaInsufficient),
            (true, false) => Err(Refusal::UserQuotaInsufficient),
        }
    }

    /// Whether `quota` fits into the period limits of this token and of its owner.
    ///
    /// # Errors
    /// A limit of the token or of the owner is too small. Of both, the one that ends last; if they end together, that of the
    /// token.
    pub fn fits_periods(&self, wallet: &Wallet, quota: Quota, at: &Moment) -> Result<(), Refusal> {
        let (own, owners) = self.period_usages(wallet, at);
        match (own.admit(quota), owners.admit(quota)) {
            (Ok(()), Ok(())) => Ok(()),
            (Err(own), Ok(())) => Err(Refusal::TokenPeriodExceeded(own)),
            (Err(own), Err(owners)) if own.or_later(owners) == own => Err(Refusal::TokenPeriodExceeded(own)),
            (_, Err(owners)) => Err(Refusal::UserPeriodExceeded(owners)),
        }
    }

    /// Returns true if this token or its owner's wallet was charged while the clock was ahead: on a day that has not come,
    /// or beyond a full rate. Servers agree on the day but for a change of `usage.time_zone`.
    #[must_use]
    pub fn is_ahead(&self, wallet: &Wallet, at: &Moment) -> bool {
        wallet.account.period_counters.day > at.today.plus_days(bounds::MAX_DAYS_AHEAD)
            || self.rate_limits.cut(self.rate_counters, at.micros) != self.rate_counters
    }

    /// What this token and its owner's wallet hold together.
    #[must_use]
    pub fn funds(&self, wallet: &Wallet) -> Quota {
        match self.account.budget {
            Budget::Limited { remain } => remain.min(wallet.account.remain()),
            Budget::Unlimited { .. } => wallet.account.remain(),
        }
    }

    /// What can be spent now: the funds, as far as the period limits allow.
    #[must_use]
    pub fn usable(&self, wallet: &Wallet, at: &Moment) -> Quota {
        let (own, owners) = self.period_usages(wallet, at);
        [own.remaining_in_all(), owners.remaining_in_all()].into_iter().flatten().fold(self.funds(wallet), Quota::min)
    }

    /// What the period limits of this token and of its owner admit. The wallet's day may have begun on another server.
    fn period_usages(&self, wallet: &Wallet, at: &Moment) -> (PeriodUsage, PeriodUsage) {
        let not_before = wallet.account.period_counters.day;
        (self.account.period_usage(not_before, at), wallet.account.period_usage(at.today, at))
    }
}
