//! The accounts of every operation. What is done is done to all of them, or to none.

use super::refusal::{Refusal, RefusalReason};
use crate::domain::account::{Account, Budget};
use crate::domain::calendar::{Calendar, Moment};
use crate::domain::money::Quota;
use crate::domain::period_limits::{PeriodExceeded, PeriodUsage};
use crate::domain::time::Day;

/// Whose account it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AccountKind {
    Token,
    /// That of the token's owner.
    Wallet,
}

impl AccountKind {
    /// In the order in which they are asked. Of several that refuse in the same way, the first one is named.
    pub const ALL: [Self; 2] = [Self::Token, Self::Wallet];

    const fn insufficient(self) -> RefusalReason {
        match self {
            Self::Token => RefusalReason::TokenQuotaInsufficient,
            Self::Wallet => RefusalReason::UserQuotaInsufficient,
        }
    }

    const fn period_exceeded(self) -> RefusalReason {
        match self {
            Self::Token => RefusalReason::TokenPeriodExceeded,
            Self::Wallet => RefusalReason::UserPeriodExceeded,
        }
    }
}

/// The accounts that a charge takes from, in the order in which they are asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Accounts([Account; 2]);

impl Accounts {
    /// A token's account, and the wallet of its owner.
    pub const fn new(token: Account, wallet: Account) -> Self {
        Self([token, wallet])
    }

    pub const fn token(&self) -> &Account {
        let Self([token, _]) = self;
        token
    }

    pub const fn wallet(&self) -> &Account {
        let Self([_, wallet]) = self;
        wallet
    }

    fn each(&self) -> impl Iterator<Item = (AccountKind, &Account)> {
        AccountKind::ALL.into_iter().zip(&self.0)
    }

    /// Whether all can pay `quota`.
    ///
    /// # Errors
    /// One has less.
    pub fn afford(&self, quota: Quota) -> Result<(), Refusal> {
        match self.each().find(|(_, account)| !account.affords(quota)) {
            Some((kind, _)) => Err(kind.insufficient().into()),
            None => Ok(()),
        }
    }

    /// Whether `quota` fits into the period limits of all.
    ///
    /// # Errors
    /// A limit is too small. Of several, the one that ends last; of those that end together, the first.
    pub fn fit_periods(&self, quota: Quota, at: &Moment) -> Result<(), Refusal> {
        let refused = |(kind, usage): (_, PeriodUsage)| usage.admit(quota).err().map(|exceeded| (kind, exceeded));
        let later = |first: (AccountKind, PeriodExceeded), next: (AccountKind, PeriodExceeded)| {
            if first.1.or_later(next.1) == first.1 { first } else { next }
        };
        match self.period_usages(at).filter_map(refused).reduce(later) {
            Some((kind, exceeded)) => Err(Refusal::period(kind.period_exceeded(), exceeded)),
            None => Ok(()),
        }
    }

    /// What all have.
    pub fn funds(&self) -> Quota {
        let remain = |(_, account): (_, &Account)| match account.budget {
            Budget::Limited { remain } => Some(remain),
            Budget::Unlimited { .. } => None,
        };
        self.each().filter_map(remain).min().unwrap_or_default()
    }

    /// What can be spent now: the funds, as far as the period limits allow.
    pub fn usable(&self, at: &Moment) -> Quota {
        let remaining = self.period_usages(at).filter_map(|(_, usage)| usage.remaining_in_all());
        remaining.fold(self.funds(), Quota::min)
    }

    /// All after a charge.
    ///
    /// # Errors
    /// One of them has less, or its sum of all use would overflow.
    pub fn spend(self, quota: Quota) -> Result<Self, Refusal> {
        self.take(|account| account.spend(quota))
    }

    /// All after a reservation.
    ///
    /// # Errors
    /// As [`spend`](Self::spend).
    pub fn hold(self, quota: Quota) -> Result<Self, Refusal> {
        self.take(|account| account.hold(quota))
    }

    fn take(mut self, taken: impl Fn(Account) -> Option<Account>) -> Result<Self, Refusal> {
        for (kind, account) in AccountKind::ALL.into_iter().zip(&mut self.0) {
            *account = taken(*account).ok_or(kind.insufficient())?;
        }
        Ok(self)
    }

    /// See [`Account::end_hold`].
    pub fn end_hold(&mut self, quota: Quota) {
        self.0.iter_mut().for_each(|account| account.end_hold(quota));
    }

    /// See [`Account::give_back`].
    pub fn give_back(&mut self, quota: Quota, from_remain: bool) {
        self.0.iter_mut().for_each(|account| account.give_back(quota, from_remain));
    }

    /// Counts a charge in the periods of all, on one day for all: L9 compares them with the same rows of
    /// `usage_daily`. It is the latest that has begun on any server.
    pub fn count(&mut self, charged: Quota, today: Day, calendar: Calendar) {
        let today = today.max(self.last_day());
        self.0.iter_mut().for_each(|account| account.count(charged, today, calendar));
    }

    /// What the period limits of all admit. The day may have begun on another server.
    fn period_usages(&self, at: &Moment) -> impl Iterator<Item = (AccountKind, PeriodUsage)> {
        let not_before = self.last_day();
        self.each().map(move |(kind, account)| (kind, account.period_usage(not_before, at)))
    }

    /// The latest day of a charge.
    fn last_day(&self) -> Day {
        self.each().map(|(_, account)| account.period_counters.day).fold(Day::FIRST, Day::max)
    }
}
