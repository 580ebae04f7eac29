//! The status of a token, and its transitions (spec §3).
//!
//! Only the role that disabled a token is stored. *Expired* and *exhausted* are computed from the token's expiry and
//! budget at each read, so a status is never stale and no job has to update it.

use std::sync::Arc;

use super::time::UnixTime;
use super::token::Token;
use super::user::Role;

/// Spec §2.1 `status`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// 1.
    Enabled,
    /// 2: disabled by its owner, an administrator or root; see
    /// [`TokenPolicy::disabled_by`](super::token_policy::TokenPolicy::disabled_by).
    Disabled,
    /// 3: its expiry time is reached.
    Expired,
    /// 4: limited, nothing remains, and something was used.
    QuotaExhausted,
}

impl Status {
    /// `status` of the API.
    pub const fn code(self) -> i16 {
        match self {
            Self::Enabled => 1,
            Self::Disabled => 2,
            Self::Expired => 3,
            Self::QuotaExhausted => 4,
        }
    }

    /// The status with this number, written without a sign or zeros before it.
    pub fn parse(code: &str) -> Option<Self> {
        match code {
            "1" => Some(Self::Enabled),
            "2" => Some(Self::Disabled),
            "3" => Some(Self::Expired),
            "4" => Some(Self::QuotaExhausted),
            _ => None,
        }
    }
}

/// Why a token was not enabled (spec §4.5b).
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EnableError {
    #[error("an administrator disabled this token; only an administrator or root can enable it again")]
    DisabledByAdministrator,
    #[error("root disabled this token; only root can enable it again")]
    DisabledByRoot,
    #[error("the token has expired; change its expiry time before enabling it")]
    Expired,
    #[error("the token has used up its quota; raise it or make it unlimited before enabling it")]
    QuotaExhausted,
}

impl Token {
    /// The status at `now`.
    pub fn status(&self, now: UnixTime) -> Status {
        self.policy.status(&self.account, now)
    }

    /// Enables the token (spec §3, status-only update with status 1). `by` is the role of the caller. Enabling an
    /// enabled token changes nothing.
    ///
    /// # Errors
    /// A higher role disabled the token; it is expired or exhausted.
    pub fn enable(mut self, by: Role, now: UnixTime) -> Result<Self, EnableError> {
        match self.policy.disabled_by {
            Some(Role::Root) if by < Role::Root => return Err(EnableError::DisabledByRoot),
            Some(Role::Admin) if by < Role::Admin => return Err(EnableError::DisabledByAdministrator),
            Some(Role::User | Role::Admin | Role::Root) | None => {}
        }
        if self.policy.lifetime.is_over(now) {
            return Err(EnableError::Expired);
        }
        if self.account.is_exhausted() {
            return Err(EnableError::QuotaExhausted);
        }
        Arc::make_mut(&mut self.policy).disabled_by = None;
        Ok(self)
    }

    /// Disables the token (spec §3, status-only update with status 2). `by` is the role of the caller. If a higher role
    /// has disabled it before, that role is kept.
    pub fn disable(mut self, by: Role) -> Self {
        let policy = Arc::make_mut(&mut self.policy);
        policy.disabled_by = policy.disabled_by.max(Some(by));
        self
    }
}

#[cfg(test)]
mod tests {
    use super::super::account::{Account, Budget};
    use super::super::money::Quota;
    use super::super::time::Lifetime;
    use super::super::token::tests::token;
    use super::super::token_policy::TokenPolicy;
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

    fn with_policy(disabled_by: Option<Role>, lifetime: Lifetime) -> Token {
        Token { policy: Arc::new(TokenPolicy { disabled_by, lifetime, ..TokenPolicy::default() }), ..token() }
    }

    fn account(budget: Budget, used: i64) -> Account {
        Account { used: quota(used), ..Account::new(budget) }
    }

    /// The rows of the table in spec §3: each combination of switch, lifetime, budget and use, its status, and the
    /// result of enabling it.
    #[test]
    fn status_and_enabling_follow_the_table_of_spec_3() {
        use EnableError as No;
        use Status::{Disabled, Enabled, Expired, QuotaExhausted};
        const ON: Option<Role> = None;
        const OFF: Option<Role> = Some(Role::User);
        let table = [
            // switch, lifetime, budget, used: status, result of enabling
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
        for (disabled_by, lifetime, budget, used, status, enabling) in table {
            let token = Token { account: account(budget, used), ..with_policy(disabled_by, lifetime) };
            let case = format!("{disabled_by:?} {lifetime:?} {budget:?} used {used}");
            assert_eq!(token.status(NOW), status, "{case}");
            assert_eq!(token.clone().enable(Role::User, NOW).map(|t| t.status(NOW)), enabling, "{case}");
            assert_eq!(token.disable(Role::User).status(NOW), Disabled, "{case}");
        }
    }

    /// Each role that may have disabled a token, with each role that may try to enable it.
    #[test]
    fn a_role_cannot_enable_a_token_that_a_higher_role_disabled() {
        use EnableError::{DisabledByAdministrator, DisabledByRoot};
        use Role::{Admin, Root, User};
        let table = [
            (None, User, Ok(())),
            (None, Admin, Ok(())),
            (None, Root, Ok(())),
            (Some(User), User, Ok(())),
            (Some(User), Admin, Ok(())),
            (Some(User), Root, Ok(())),
            (Some(Admin), User, Err(DisabledByAdministrator)),
            (Some(Admin), Admin, Ok(())),
            (Some(Admin), Root, Ok(())),
            (Some(Root), User, Err(DisabledByRoot)),
            (Some(Root), Admin, Err(DisabledByRoot)),
            (Some(Root), Root, Ok(())),
        ];
        for (disabled_by, who, expected) in table {
            let case = format!("disabled by {disabled_by:?}, enabled by {who:?}");
            let off = with_policy(disabled_by, Lifetime::Forever);
            assert_eq!(off.clone().enable(who, NOW), expected.map(|()| token()), "{case}");
            // The role is checked first, so a lower role does not learn that the token is expired.
            let expired = with_policy(disabled_by, OVER);
            let other = expected.and(Err(EnableError::Expired));
            assert_eq!(expired.enable(who, NOW).map(|_| ()), other, "{case}");
            let again = off.disable(who).policy.disabled_by;
            assert_eq!(again, Some(disabled_by.map_or(who, |before| before.max(who))), "{case}");
        }
    }

    #[test]
    fn a_later_expiry_or_a_higher_quota_enables_a_token_at_once() {
        assert_eq!(with_policy(None, OVER).status(NOW), Status::Expired);
        assert_eq!(with_policy(None, AHEAD).status(NOW), Status::Enabled);
        let spent = Token { account: account(limited(0), 9), ..token() };
        assert_eq!(Token { account: account(limited(1), 9), ..spent.clone() }.status(NOW), Status::Enabled);
        assert_eq!(Token { account: account(unlimited(), 9), ..spent }.status(NOW), Status::Enabled);
    }

    #[test]
    fn statuses_have_the_numbers_of_the_api() {
        use Status::{Disabled, Enabled, Expired, QuotaExhausted};
        assert_eq!([Enabled, Disabled, Expired, QuotaExhausted].map(Status::code), [1, 2, 3, 4]);
        assert_eq!(["1", "2", "3", "4"].map(Status::parse), [Enabled, Disabled, Expired, QuotaExhausted].map(Some));
        assert_eq!(["0", "5", "+1", "01", ""].map(Status::parse), [None; 5]);
    }
}
