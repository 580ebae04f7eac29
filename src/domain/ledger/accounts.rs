//! The two accounts of every operation. What is done is done to both, or to neither.

use super::refusal::Refusal;
use super::refusal::RefusalReason::{
    TokenPeriodExceeded, TokenQuotaInsufficient, UserPeriodExceeded, UserQuotaInsufficient,
};
use crate::domain::account::{Account, Budget};
use crate::domain::calendar::{Calendar, Moment};
use crate::domain::money::Quota;
use crate::domain::period_limits::PeriodUsage;
use crate::domain::time::Day;

/// A token's account, and the wallet of its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accounts {
    pub token: Account,
    pub wallet: Account,
}

impl Accounts {
    /// Whether both can pay `quota`.
    ///
    /// # Errors
    /// The token or the wallet has less.
    pub fn afford(&self, quota: Quota) -> Result<(), Refusal> {
        match (self.token.affords(quota), self.wallet.affords(quota)) {
            (true, true) => Ok(()),
            (false, _) => Err(TokenQuotaInsufficient.into()),
            (true, false) => Err(UserQuotaInsufficient.into()),
        }
    }

    /// Whether `quota` fits into the period limits of both.
    ///
    /// # Errors
    /// A limit of the token or of the owner is too small. Of both, the one that ends last; if they end together, that
    /// of the token.
    pub fn fit_periods(&self, quota: Quota, at: &Moment) -> Result<(), Refusal> {
        let (own, owners) = self.period_usages(at);
        match (own.admit(quota), owners.admit(quota)) {
            (Ok(()), Ok(())) => Ok(()),
            (Err(own), Ok(())) => Err(Refusal::period(TokenPeriodExceeded, own)),
            (Err(own), Err(owners)) if own.or_later(owners) == own => Err(Refusal::period(TokenPeriodExceeded, own)),
            (_, Err(owners)) => Err(Refusal::period(UserPeriodExceeded, owners)),
        }
    }

    /// What both have.
    pub fn funds(&self) -> Quota {
        match self.token.budget {
            Budget::Limited { remain } => remain.min(self.wallet.remain()),
            Budget::Unlimited { .. } => self.wallet.remain(),
        }
    }

    /// What can be spent now: the funds, as far as the period limits allow.
    pub fn usable(&self, at: &Moment) -> Quota {
        let (own, owners) = self.period_usages(at);
        [own.remaining_in_all(), owners.remaining_in_all()].into_iter().flatten().fold(self.funds(), Quota::min)
    }

    /// Both after a charge.
    ///
    /// # Errors
    /// One of them has less, or its sum of all use would overflow.
    pub fn spend(self, quota: Quota) -> Result<Self, Refusal> {
        self.take(|account| account.spend(quota))
    }

    /// Both after a reservation.
    ///
    /// # Errors
    /// As [`spend`](Self::spend).
    pub fn hold(self, quota: Quota) -> Result<Self, Refusal> {
        self.take(|account| account.hold(quota))
    }

    fn take(self, taken: impl Fn(Account) -> Option<Account>) -> Result<Self, Refusal> {
        let token = taken(self.token).ok_or(TokenQuotaInsufficient)?;
        let wallet = taken(self.wallet).ok_or(UserQuotaInsufficient)?;
        Ok(Self { token, wallet })
    }

    /// See [`Account::end_hold`].
    pub fn end_hold(&mut self, quota: Quota) {
        self.token.end_hold(quota);
        self.wallet.end_hold(quota);
    }

    /// See [`Account::give_back`].
    pub fn give_back(&mut self, quota: Quota, from_remain: bool) {
        self.token.give_back(quota, from_remain);
        self.wallet.give_back(quota, from_remain);
    }

    /// Counts a charge in the periods of both, on one day for both: L9 compares them with the same rows of
    /// `usage_daily`. It is the latest that has begun on any server.
    pub fn count(&mut self, charged: Quota, today: Day, calendar: Calendar) {
        let today = today.max(self.token.period_counters.day).max(self.wallet.period_counters.day);
        self.token.count(charged, today, calendar);
        self.wallet.count(charged, today, calendar);
    }

    /// What the period limits of both admit. The wallet's day may have begun on another server.
    fn period_usages(&self, at: &Moment) -> (PeriodUsage, PeriodUsage) {
        let not_before = self.wallet.period_counters.day;
        (self.token.period_usage(not_before, at), self.wallet.period_usage(at.today, at))
    }
}
