//! Tokens that need their owner's attention, and why. The overview shows them.

use super::account::Budget;
use super::bounds;
use super::calendar::Moment;
use super::group::Groups;
use super::ledger::StateName;
use super::money::Quota;
use super::token::Token;
use super::user::User;
use crate::domain::named::named;

named! {
    /// Why a token needs attention, the most urgent first. What its owner's account stops is no reason: it stops all
    /// tokens, and is said once.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum Attention {
        /// Works, and expires within [`bounds::EXPIRES_SOON_SECONDS`].
        ExpiresSoon = "expires_soon",
        /// Works, and less than a tenth of its quota is left.
        NearlySpent = "nearly_spent",
        /// A limit of a day, a week or a month is reached.
        LimitReached = "limit_reached",
        /// Nothing is left of its quota, whether or not it ever had any.
        Exhausted = "exhausted",
        Expired = "expired",
        GroupNotAllowed = "group_not_allowed",
        /// Works, and more of its quota is left than its owner's wallet holds.
        ExceedsWallet = "exceeds_wallet",
    }
}

impl Token {
    /// The most urgent reason why this token needs attention. A disabled token needs none. `owner` is its owner.
    pub fn attention(&self, owner: &User, groups: &Groups, at: &Moment) -> Option<Attention> {
        match self.state(owner, groups, at).name {
            StateName::Expired => Some(Attention::Expired),
            StateName::UsedUp => Some(Attention::Exhausted),
            StateName::KeyLimitReached => Some(Attention::LimitReached),
            StateName::GroupNotAllowed => Some(Attention::GroupNotAllowed),
            StateName::Disabled | StateName::AccountDisabled => None,
            StateName::Working | StateName::AccountEmpty | StateName::AccountLimitReached => {
                let is_over_soon = self.policy.lifetime.is_over(at.now.plus(bounds::EXPIRES_SOON_SECONDS));
                let reasons = [
                    (Attention::ExpiresSoon, is_over_soon),
                    (Attention::NearlySpent, self.is_nearly_spent()),
                    (Attention::ExceedsWallet, self.exceeds(owner.wallet.remain())),
                ];
                reasons.into_iter().find(|(_, applies)| *applies).map(|(reason, _)| reason)
            }
        }
    }

    /// Less than a tenth is left of all quota that the token has had. Unused tokens do not count, however small.
    fn is_nearly_spent(&self) -> bool {
        match self.account.budget {
            Budget::Unlimited { .. } => false,
            Budget::Limited { remain } => remain.get().saturating_mul(9) < self.account.used.get(),
        }
    }

    fn exceeds(&self, wallet: Quota) -> bool {
        match self.account.budget {
            Budget::Unlimited { .. } => false,
            Budget::Limited { remain } => wallet.get() > 0 && remain.get() > wallet.get(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::account::Account;
    use super::super::group::Group;
    use super::super::ledger::tests::moment;
    use super::super::period_limits::PeriodLimits;
    use super::super::time::{Lifetime, UnixTime};
    use super::super::token::tests::token;
    use super::super::token_policy::TokenPolicy;
    use super::super::user::tests::user;
    use super::super::user::{Role, UserStatus};
    use super::*;

    fn policy(disabled_by: Option<Role>, lifetime: Lifetime) -> Arc<TokenPolicy> {
        Arc::new(TokenPolicy { disabled_by, lifetime, ..TokenPolicy::default() })
    }

    fn attention(token: &Token, wallet: i64) -> Option<Attention> {
        let wallet = Account::new(Budget::Limited { remain: Quota::grant(wallet).unwrap() });
        token.attention(&User { wallet, ..user() }, &Groups::default(), &moment(UnixTime::new(1_000)))
    }

    #[test]
    fn reasons_have_the_names_of_the_api() {
        use Attention::{ExceedsWallet, Exhausted, Expired, ExpiresSoon, GroupNotAllowed, LimitReached, NearlySpent};
        let reasons = [ExpiresSoon, NearlySpent, LimitReached, Exhausted, Expired, GroupNotAllowed, ExceedsWallet]
            .map(Attention::as_str);
        let names = [
            "expires_soon",
            "nearly_spent",
            "limit_reached",
            "exhausted",
            "expired",
            "group_not_allowed",
            "exceeds_wallet",
        ];
        assert_eq!(reasons, names);
    }

    #[test]
    fn the_most_urgent_reason_is_reported_and_disabled_tokens_need_no_attention() {
        use Attention::{Exhausted, Expired, ExpiresSoon, NearlySpent};
        let until = |time: i64| Lifetime::Until(UnixTime::new(time));
        let (soon, later) = (until(1_000 + bounds::EXPIRES_SOON_SECONDS), until(1_001 + bounds::EXPIRES_SOON_SECONDS));
        let quota = |units: i64| Quota::grant(units).unwrap();
        let limited = |remain: i64| Budget::Limited { remain: quota(remain) };
        let unlimited = Budget::Unlimited { shelved: quota(1) };
        let table = [
            (Lifetime::Forever, limited(100), 900, None),
            (Lifetime::Forever, limited(99), 900, Some(NearlySpent)),
            (Lifetime::Forever, limited(1), 0, None),
            (Lifetime::Forever, limited(0), 0, Some(Exhausted)),
            (Lifetime::Forever, limited(0), 1, Some(Exhausted)),
            (Lifetime::Forever, unlimited, 900, None),
            (later, limited(100), 0, None),
            (later, limited(99), 900, Some(NearlySpent)),
            (soon, limited(99), 900, Some(ExpiresSoon)),
            (soon, unlimited, 0, Some(ExpiresSoon)),
            (soon, limited(0), 1, Some(Exhausted)),
            (until(1_000), limited(0), 1, Some(Expired)),
        ];
        for (lifetime, budget, used, expected) in table {
            let account = Account { used: quota(used), ..Account::new(budget) };
            let token = Token { policy: policy(None, lifetime), account, ..token() };
            assert_eq!(attention(&token, 1_000), expected, "{lifetime:?} {budget:?} {used}");
            let disabled = Token { policy: policy(Some(Role::User), lifetime), ..token };
            assert_eq!(attention(&disabled, 1), None);
        }
    }

    #[test]
    fn more_quota_than_the_wallet_holds_is_a_reason_unless_the_wallet_is_empty() {
        use Attention::{ExceedsWallet, NearlySpent};
        let quota = |units: i64| Quota::grant(units).unwrap();
        let limited = |remain: i64| Budget::Limited { remain: quota(remain) };
        let unlimited = Budget::Unlimited { shelved: quota(100) };
        let table = [
            (limited(10), 0, 10, None),
            (limited(11), 0, 10, Some(ExceedsWallet)),
            (limited(11), 100, 10, Some(NearlySpent)),
            (limited(11), 0, 0, None),
            (unlimited, 0, 10, None),
        ];
        for (budget, used, wallet, expected) in table {
            let account = Account { used: quota(used), ..Account::new(budget) };
            let token = Token { account, ..token() };
            assert_eq!(attention(&token, wallet), expected, "{budget:?} {used} {wallet}");
        }
    }
    #[test]
    fn reached_limits_and_closed_groups_are_reasons_and_a_disabled_account_is_none() {
        let account = Account {
            period_limits: PeriodLimits { week: Some(Quota::ZERO), ..PeriodLimits::default() },
            ..token().account
        };
        let limited = Token { account, ..token() };
        assert_eq!(attention(&limited, 9), Some(Attention::LimitReached));
        let group = Group::Named("closed".to_owned());
        let moved = Token { policy: Arc::new(TokenPolicy { group, ..TokenPolicy::default() }), ..token() };
        assert_eq!(attention(&moved, 9), Some(Attention::GroupNotAllowed));
        let owner = User { status: UserStatus::Disabled, ..user() };
        assert_eq!(limited.attention(&owner, &Groups::default(), &moment(UnixTime::new(1_000))), None);
    }
}
