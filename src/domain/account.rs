//! An account: what can be spent and what was, of a token or of all tokens of a user together (the wallet).

use super::calendar::{Calendar, Moment};
use super::money::Quota;
use super::period_limits::{PeriodCounters, PeriodLimits, PeriodUsage};
use super::time::Day;

/// What a token may still spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// Up to `remain`.
    Limited { remain: Quota },
    /// Only its owner's wallet limits it. `shelved` is what remained when it became unlimited; it does not change until
    /// the token is limited again.
    Unlimited { shelved: Quota },
}

impl Budget {
    /// From the two columns `remain_quota` and `unlimited_quota`.
    pub const fn new(remain: Quota, unlimited: bool) -> Self {
        if unlimited { Self::Unlimited { shelved: remain } } else { Self::Limited { remain } }
    }

    /// `remain_quota` of the API and of the database.
    pub const fn remain(self) -> Quota {
        match self {
            Self::Limited { remain } => remain,
            Self::Unlimited { shelved } => shelved,
        }
    }

    /// `unlimited_quota` of the API and of the database.
    pub const fn is_unlimited(self) -> bool {
        match self {
            Self::Limited { .. } => false,
            Self::Unlimited { .. } => true,
        }
    }

    /// Returns true if the token itself allows no further spending.
    pub const fn is_empty(self) -> bool {
        match self {
            Self::Limited { remain } => remain.is_zero(),
            Self::Unlimited { .. } => false,
        }
    }
}

/// The sums of a token or of a wallet, and the limits that renew. Charges and reservations change the sums only by the
/// methods here. A wallet's budget is always limited.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Account {
    /// What can still be spent.
    pub budget: Budget,
    /// What was charged, and what is held.
    pub used: Quota,
    /// The sum of the open reservations. It is part of `used`.
    pub held: Quota,
    pub period_limits: PeriodLimits,
    pub period_counters: PeriodCounters,
}

impl Account {
    /// An account that was never used and has no period limits.
    pub fn new(budget: Budget) -> Self {
        let (period_limits, period_counters) = (PeriodLimits::default(), PeriodCounters::NONE);
        Self { budget, used: Quota::ZERO, held: Quota::ZERO, period_limits, period_counters }
    }

    /// What is left: `remain_quota` of a token, `quota` of a wallet.
    pub const fn remain(&self) -> Quota {
        self.budget.remain()
    }

    /// Limited, nothing remains, and something was used. A token that was created with a quota of 0 and never used is
    /// not exhausted.
    pub const fn is_exhausted(&self) -> bool {
        self.budget.is_empty() && !self.used.is_zero()
    }

    /// Whether what is left suffices for `quota`.
    pub fn affords(&self, quota: Quota) -> bool {
        self.budget.is_unlimited() || quota <= self.remain()
    }

    /// The account after `quota` has moved from what is left to what is used; `None` if less is left, or a sum would
    /// overflow.
    pub fn spend(self, quota: Quota) -> Option<Self> {
        let budget = match self.budget {
            Budget::Limited { remain } => Budget::Limited { remain: remain.checked_sub(quota)? },
            unlimited @ Budget::Unlimited { .. } => unlimited,
        };
        Some(Self { budget, used: self.used.checked_add(quota)?, ..self })
    }

    /// Like [`Account::spend`], for a reservation.
    pub fn hold(self, quota: Quota) -> Option<Self> {
        Some(Self { held: self.held.checked_add(quota)?, ..self.spend(quota)? })
    }

    /// A reservation holds nothing any more. Its quota stays used until it is given back.
    pub fn end_hold(&mut self, quota: Quota) {
        self.held = self.held.saturating_sub(quota);
    }

    /// Moves `quota` back from what is used: to what is left if it was taken from there, or if the account is limited
    /// now. A hold of an unlimited token took nothing from its remain, but the edit that limited the token found it in
    /// used; without the second rule the hold's end would lower remain + used (L2).
    pub fn give_back(&mut self, quota: Quota, from_remain: bool) {
        self.used = self.used.saturating_sub(quota);
        if from_remain || !self.budget.is_unlimited() {
            let remain = self.remain().checked_add(quota).unwrap_or(self.remain());
            self.budget = Budget::new(remain, self.budget.is_unlimited());
        }
    }

    /// Counts a charge in the periods of `today`.
    pub fn count(&mut self, charged: Quota, today: Day, calendar: Calendar) {
        self.period_counters = self.period_counters.on(today, calendar).plus(charged);
    }

    /// What its period limits admit at a moment. `not_before` is a day that has begun on another server.
    pub fn period_usage(&self, not_before: Day, at: &Moment) -> PeriodUsage {
        PeriodUsage::new(self.period_limits, self.period_counters, self.held, not_before, at)
    }

    /// This account with the sums of `recent`. What an edit decides stays: the limits, and whether the budget is
    /// limited.
    pub const fn with_sums_of(&self, recent: &Self) -> Self {
        let budget = Budget::new(recent.remain(), self.budget.is_unlimited());
        Self { budget, period_limits: self.period_limits, ..*recent }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn quota(units: i64) -> Quota {
        Quota::grant(units).unwrap()
    }

    #[test]
    fn an_account_spends_what_is_left_and_not_more() {
        let account = Account::new(Budget::Limited { remain: quota(5) });
        let spent = account.spend(quota(5)).unwrap();
        assert_eq!((spent.remain(), spent.used, spent.held), (Quota::ZERO, quota(5), Quota::ZERO));
        assert_eq!((account.spend(quota(6)), account.affords(quota(6))), (None, false));
        let unlimited = Account::new(Budget::Unlimited { shelved: quota(5) });
        assert_eq!(
            unlimited.spend(quota(6)).map(|account| (account.remain(), account.used)),
            Some((quota(5), quota(6)))
        );
        let full = Account { used: Quota::MAX, ..unlimited };
        assert_eq!(full.spend(quota(1)), None, "the sum would overflow");
    }

    #[test]
    fn recent_sums_do_not_undo_an_edit() {
        let limits = PeriodLimits { day: Some(quota(9)), ..PeriodLimits::default() };
        let edited = Account { period_limits: limits, ..Account::new(Budget::Unlimited { shelved: quota(5) }) };
        let recent = Account::new(Budget::Limited { remain: quota(5) }).hold(quota(2)).unwrap();
        let current = edited.with_sums_of(&recent);
        assert_eq!(current.budget, Budget::Unlimited { shelved: quota(3) });
        assert_eq!((current.used, current.held, current.period_limits), (quota(2), quota(2), limits));
    }

    proptest! {
        /// L2 of one account, for all that may happen between a hold and its end.
        #[test]
        fn a_hold_that_is_given_back_leaves_no_trace(
            remain in 0..1_000_i64,
            held in 0..1_000_i64,
            unlimited_before: bool,
            unlimited_after: bool,
        ) {
            let before = Account::new(Budget::new(quota(remain), unlimited_before));
            if let Some(mut account) = before.hold(quota(held)) {
                let total = account.remain().checked_add(account.used);
                account.budget = Budget::new(account.remain(), unlimited_after);
                account.end_hold(quota(held));
                account.give_back(quota(held), !unlimited_before);
                prop_assert_eq!((account.used, account.held), (Quota::ZERO, Quota::ZERO));
                if !(unlimited_before && unlimited_after) {
                    prop_assert_eq!(account.remain().checked_add(account.used), total, "L2");
                }
            }
        }
    }
}
