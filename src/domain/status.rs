//! The status of a token and every transition of spec §3.
//!
//! Only the owner's switch is stored. *Expired* and *exhausted* follow from the token's expiry and
//! budget at the moment of reading, so a status is never stale and no job has to keep it true.

use super::time::UnixTime;
use super::token::{Switch, Token};

/// Spec §2.1 `status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// 1: works.
    Enabled,
    /// 2: the owner or an administrator switched it off.
    Disabled,
    /// 3: its expiry time has come.
    Expired,
    /// 4: limited, nothing remains, and something was used.
    QuotaExhausted,
}

impl Status {
    /// The number of the wire.
    #[must_use]
    pub const fn code(self) -> i16 {
        match self {
            Self::Enabled => 1,
            Self::Disabled => 2,
            Self::Expired => 3,
            Self::QuotaExhausted => 4,
        }
    }
}

/// Why a token was not enabled (spec §4.5b).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EnableRefused {
    /// From 3 Expired.
    #[error("the token has expired; change its expiry time before enabling it")]
    Expired,
    /// From 4 Quota exhausted.
    #[error("the token has used up its quota; raise it or make it unlimited before enabling it")]
    QuotaExhausted,
}

impl Token {
    /// The status at `now`. The switch comes first, then the expiry, then the budget.
    #[must_use]
    pub fn status(&self, now: UnixTime) -> Status {
        match self.switch {
            Switch::Off => Status::Disabled,
            Switch::On if self.lifetime.is_over(now) => Status::Expired,
            Switch::On if self.is_spent() => Status::QuotaExhausted,
            Switch::On => Status::Enabled,
        }
    }

    /// Spec §3, "status-only update with status 1". Enabling an enabled token changes nothing.
    ///
    /// # Errors
    /// An expired or an exhausted token stays as it is.
    pub fn enable(mut self, now: UnixTime) -> Result<Self, EnableRefused> {
        if self.lifetime.is_over(now) {
            return Err(EnableRefused::Expired);
        }
        if self.is_spent() {
            return Err(EnableRefused::QuotaExhausted);
        }
        self.switch = Switch::On;
        Ok(self)
    }

    /// Spec §3, "status-only update with status 2". Always works.
    #[must_use]
    pub const fn disable(mut self) -> Self {
        self.switch = Switch::Off;
        self
    }

    /// Limited, nothing remains, and something was used. A token made with a quota of 0 was never
    /// used and so is not exhausted: it waits for its quota.
    const fn is_spent(&self) -> bool {
        self.budget.is_empty() && !self.used_quota.is_zero()
    }
}

#[cfg(test)]
mod tests {
    use super::super::money::Quota;
    use super::super::time::Lifetime;
    use super::super::token::{Budget, tests::token};
    use super::*;

    const NOW: UnixTime = UnixTime::new(1_000);
    const OVER: Lifetime = Lifetime::Until(UnixTime::new(1_000));
    const AHEAD: Lifetime = Lifetime::Until(UnixTime::new(1_001));

    fn quota(units: i64) -> Quota {
        Quota::grant(units).unwrap()
    }

    fn limited(remain: i64) -> Budget {
        Budget::Limited { remain: quota(remain) }
    }

    fn unlimited() -> Budget {
        Budget::Unlimited { shelved: Quota::ZERO }
    }

    /// Every combination of switch, lifetime, budget and use, with the status it means and what a
    /// status-only update with status 1 answers: spec §3, row by row.
    #[test]
    fn the_state_table() {
        use EnableRefused as No;
        use Status::{Disabled, Enabled, Expired, QuotaExhausted};
        use Switch::{Off, On};
        let table = [
            // switch, lifetime, budget, used: the status it means, what enabling it answers
            (On, Lifetime::Forever, limited(5), 0, Enabled, Ok(Enabled)),
            (On, Lifetime::Forever, limited(5), 9, Enabled, Ok(Enabled)),
            (On, Lifetime::Forever, limited(0), 0, Enabled, Ok(Enabled)),
            (On, Lifetime::Forever, limited(0), 9, QuotaExhausted, Err(No::QuotaExhausted)),
            (On, Lifetime::Forever, unlimited(), 9, Enabled, Ok(Enabled)),
            (On, AHEAD, limited(5), 0, Enabled, Ok(Enabled)),
            (On, AHEAD, limited(0), 9, QuotaExhausted, Err(No::QuotaExhausted)),
            (On, AHEAD, unlimited(), 9, Enabled, Ok(Enabled)),
            (On, OVER, limited(5), 0, Expired, Err(No::Expired)),
            (On, OVER, limited(0), 9, Expired, Err(No::Expired)),
            (On, OVER, unlimited(), 9, Expired, Err(No::Expired)),
            (Off, Lifetime::Forever, limited(5), 0, Disabled, Ok(Enabled)),
            (Off, Lifetime::Forever, limited(0), 0, Disabled, Ok(Enabled)),
            (Off, Lifetime::Forever, limited(0), 9, Disabled, Err(No::QuotaExhausted)),
            (Off, Lifetime::Forever, unlimited(), 9, Disabled, Ok(Enabled)),
            (Off, AHEAD, limited(5), 9, Disabled, Ok(Enabled)),
            (Off, AHEAD, limited(0), 9, Disabled, Err(No::QuotaExhausted)),
            (Off, OVER, limited(5), 0, Disabled, Err(No::Expired)),
            (Off, OVER, limited(0), 9, Disabled, Err(No::Expired)),
            (Off, OVER, unlimited(), 9, Disabled, Err(No::Expired)),
        ];
        for (switch, lifetime, budget, used, status, enabling) in table {
            let token = Token { switch, lifetime, budget, used_quota: quota(used), ..token() };
            let case = format!("{switch:?} {lifetime:?} {budget:?} used {used}");
            assert_eq!(token.status(NOW), status, "{case}");
            assert_eq!(token.clone().enable(NOW).map(|t| t.status(NOW)), enabling, "{case}");
            assert_eq!(token.disable().status(NOW), Disabled, "{case}");
        }
    }

    #[test]
    fn a_new_expiry_or_a_raised_quota_makes_a_token_usable_at_once() {
        let expired = Token { lifetime: OVER, ..token() };
        assert_eq!(Token { lifetime: AHEAD, ..expired }.status(NOW), Status::Enabled);
        let spent = Token { budget: limited(0), used_quota: quota(9), ..token() };
        assert_eq!(Token { budget: limited(1), ..spent.clone() }.status(NOW), Status::Enabled);
        assert_eq!(Token { budget: unlimited(), ..spent }.status(NOW), Status::Enabled);
    }
}
