//! The status of a token and every transition of spec §3.
//!
//! Only the switch is stored, and who switched it off. *Expired* and *exhausted* follow from the token's expiry
//! and budget at the moment of reading, so a status is never stale and no job has to keep it true.

use super::time::UnixTime;
use super::token::Token;
use super::user::Role;

/// Spec §2.1 `status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// 1: works.
    Enabled,
    /// 2: the owner or an administrator switched it off; [`Token::switched_off_by`] tells who.
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
    /// By somebody of a higher role than the caller's.
    #[error("an administrator switched this token off; only an administrator or root can switch it on again")]
    SwitchedOffByAdministrator,
    /// By somebody of the highest role, which is not the caller's.
    #[error("root switched this token off; only root can switch it on again")]
    SwitchedOffByRoot,
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
        match self.switched_off_by {
            Some(_) => Status::Disabled,
            None if self.lifetime.is_over(now) => Status::Expired,
            None if self.is_spent() => Status::QuotaExhausted,
            None => Status::Enabled,
        }
    }

    /// Spec §3, "status-only update with status 1", by somebody of the role `by`. Enabling an enabled token changes
    /// nothing.
    ///
    /// # Errors
    /// What somebody of a higher role switched off, an expired and an exhausted token stay as they are.
    pub fn enable(mut self, by: Role, now: UnixTime) -> Result<Self, EnableRefused> {
        match self.switched_off_by {
            Some(Role::Root) if by < Role::Root => return Err(EnableRefused::SwitchedOffByRoot),
            Some(Role::Admin) if by < Role::Admin => return Err(EnableRefused::SwitchedOffByAdministrator),
            Some(Role::User | Role::Admin | Role::Root) | None => {}
        }
        if self.lifetime.is_over(now) {
            return Err(EnableRefused::Expired);
        }
        if self.is_spent() {
            return Err(EnableRefused::QuotaExhausted);
        }
        self.switched_off_by = None;
        Ok(self)
    }

    /// Spec §3, "status-only update with status 2", by somebody of the role `by`. Always works. What a higher role
    /// switched off before stays theirs.
    #[must_use]
    pub fn disable(mut self, by: Role) -> Self {
        self.switched_off_by = self.switched_off_by.max(Some(by));
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
        const ON: Option<Role> = None;
        const OFF: Option<Role> = Some(Role::User);
        let table = [
            // switch, lifetime, budget, used: the status it means, what enabling it answers
            (ON, Lifetime::Forever, limited(5), 0, Enabled, Ok(Enabled)),
            (ON, Lifetime::Forever, limited(5), 9, Enabled, Ok(Enabled)),
            (ON, Lifetime::Forever, limited(0), 0, Enabled, Ok(Enabled)),
            (ON, Lifetime::Forever, limited(0), 9, QuotaExhausted, Err(No::QuotaExhausted)),
            (ON, Lifetime::Forever, unlimited(), 9, Enabled, Ok(Enabled)),
            (ON, AHEAD, limited(5), 0, Enabled, Ok(Enabled)),
            (ON, AHEAD, limited(0), 9, QuotaExhausted, Err(No::QuotaExhausted)),
            (ON, AHEAD, unlimited(), 9, Enabled, Ok(Enabled)),
            (ON, OVER, limited(5), 0, Expired, Err(No::Expired)),
            (ON, OVER, limited(0), 9, Expired, Err(No::Expired)),
            (ON, OVER, unlimited(), 9, Expired, Err(No::Expired)),
            (OFF, Lifetime::Forever, limited(5), 0, Disabled, Ok(Enabled)),
            (OFF, Lifetime::Forever, limited(0), 0, Disabled, Ok(Enabled)),
            (OFF, Lifetime::Forever, limited(0), 9, Disabled, Err(No::QuotaExhausted)),
            (OFF, Lifetime::Forever, unlimited(), 9, Disabled, Ok(Enabled)),
            (OFF, AHEAD, limited(5), 9, Disabled, Ok(Enabled)),
            (OFF, AHEAD, limited(0), 9, Disabled, Err(No::QuotaExhausted)),
            (OFF, OVER, limited(5), 0, Disabled, Err(No::Expired)),
            (OFF, OVER, limited(0), 9, Disabled, Err(No::Expired)),
            (OFF, OVER, unlimited(), 9, Disabled, Err(No::Expired)),
        ];
        for (switched_off_by, lifetime, budget, used, status, enabling) in table {
            let token = Token { switched_off_by, lifetime, budget, used_quota: quota(used), ..token() };
            let case = format!("{switched_off_by:?} {lifetime:?} {budget:?} used {used}");
            assert_eq!(token.status(NOW), status, "{case}");
            assert_eq!(token.clone().enable(Role::User, NOW).map(|t| t.status(NOW)), enabling, "{case}");
            assert_eq!(token.disable(Role::User).status(NOW), Disabled, "{case}");
        }
    }

    /// Everybody who may have switched a token off, and everybody who may ask to switch it on.
    #[test]
    fn nobody_below_whoever_switched_a_token_off_switches_it_on() {
        use EnableRefused::{SwitchedOffByAdministrator, SwitchedOffByRoot};
        use Role::{Admin, Root, User};
        let table = [
            (None, User, Ok(())),
            (None, Admin, Ok(())),
            (None, Root, Ok(())),
            (Some(User), User, Ok(())),
            (Some(User), Admin, Ok(())),
            (Some(User), Root, Ok(())),
            (Some(Admin), User, Err(SwitchedOffByAdministrator)),
            (Some(Admin), Admin, Ok(())),
            (Some(Admin), Root, Ok(())),
            (Some(Root), User, Err(SwitchedOffByRoot)),
            (Some(Root), Admin, Err(SwitchedOffByRoot)),
            (Some(Root), Root, Ok(())),
        ];
        for (switched_off_by, who, expected) in table {
            let case = format!("switched off by {switched_off_by:?}, {who:?} asks");
            let off = Token { switched_off_by, ..token() };
            assert_eq!(off.clone().enable(who, NOW), expected.map(|()| token()), "{case}");
            // Who may not switch it on is not told what else would be in the way.
            let expired = Token { lifetime: OVER, ..off.clone() };
            let other = expected.and(Err(EnableRefused::Expired));
            assert_eq!(expired.enable(who, NOW).map(|_| ()), other, "{case}");
            let again = off.disable(who).switched_off_by;
            assert_eq!(again, Some(switched_off_by.map_or(who, |before| before.max(who))), "{case}");
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
