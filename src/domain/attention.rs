//! Tokens that need their owner's attention, and why. The overview shows them.

use super::account::Budget;
use super::bounds;
use super::money::Quota;
use super::status::Status;
use super::time::UnixTime;
use super::token::Token;

/// Why a token needs attention, the most urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Attention {
    /// Enabled, and expires within [`bounds::EXPIRES_SOON_SECONDS`].
    ExpiresSoon,
    /// Enabled, and less than a tenth of its quota is left.
    NearlySpent,
    Exhausted,
    Expired,
    /// Enabled, and more of its quota is left than its owner's wallet holds. An empty wallet is no reason: it stops all
    /// tokens, whatever their quota.
    ExceedsWallet,
}

impl Attention {
    /// `reason` of the API.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ExpiresSoon => "expires_soon",
            Self::NearlySpent => "nearly_spent",
            Self::Exhausted => "exhausted",
            Self::Expired => "expired",
            Self::ExceedsWallet => "exceeds_wallet",
        }
    }
}

impl Token {
    /// The most urgent reason why this token needs attention. A disabled token needs none. `wallet` is that of its owner.
    #[must_use]
    pub fn attention(&self, now: UnixTime, wallet: Quota) -> Option<Attention> {
        match self.status(now) {
            Status::Expired => Some(Attention::Expired),
            Status::QuotaExhausted => Some(Attention::Exhausted),
            Status::Enabled if self.policy.lifetime.is_over(now.plus(bounds::EXPIRES_SOON_SECONDS)) => {
                Some(Attention::ExpiresSoon)
            }
            Status::Enabled if self.is_nearly_spent() => Some(Attention::NearlySpent),
            Status::Enabled if self.exceeds(wallet) => Some(Attention::ExceedsWallet),
            Status::Enabled | Status::Disabled => None,
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
    use super::super::time::Lifetime;
    use super::super::token::tests::token;
    use super::super::token_policy::TokenPolicy;
    use super::super::user::Role;
    use super::*;

    fn policy(disabled_by: Option<Role>, lifetime: Lifetime) -> Arc<TokenPolicy> {
        Arc::new(TokenPolicy { disabled_by, lifetime, ..TokenPolicy::default() })
    }

    #[test]
    fn reasons_have_the_names_of_the_api() {
        use Attention::{ExceedsWallet, Exhausted, Expired, ExpiresSoon, NearlySpent};
        let names = [ExpiresSoon, NearlySpent, Exhausted, Expired, ExceedsWallet].map(Attention::as_str);
        assert_eq!(names, ["expires_soon", "nearly_spent", "exhausted", "expired", "exceeds_wallet"]);
    }

    #[test]
    fn the_most_urgent_reason_is_reported_and_disabled_tokens_need_no_attention() {
        use Attention::{Exhausted, Expired, ExpiresSoon, NearlySpent};
        let now = UnixTime::new(1_000);
        let until = |time: i64| Lifetime::Until(UnixTime::new(time));
        let (soon, later) = (until(1_000 + bounds::EXPIRES_SOON_SECONDS), until(1_001 + bounds::EXPIRES_SOON_SECONDS));
        let quota = |units: i64| Quota::grant(units).unwrap();
        let limited = |remain: i64| Budget::Limited { remain: quota(remain) };
        let unlimited = Budget::Unlimited { shelved: quota(1) };
        let table = [
            (Lifetime::Forever, limited(100), 900, None),
            (Lifetime::Forever, limited(99), 900, Some(NearlySpent)),
            (Lifetime::Forever, limited(1), 0, None),
            (Lifetime::Forever, limited(0), 0, None),
            (Lifetime::Forever, limited(0), 1, Some(Exhausted)),
            (Lifetime::Forever, unlimited, 900, None),
            (later, limited(100), 0, None),
            (later, limited(99), 900, Some(NearlySpent)),
            (soon, limited(99), 900, Some(ExpiresSoon)),
            (soon, unlimited, 0, Some(ExpiresSoon)),
            (soon, limited(0), 1, Some(Exhausted)),
            (until(1_000), limited(0), 1, Some(Expired)),
        ];
        for (lifetime, budget, used, attention) in table {
            let account = Account { used: quota(used), ..Account::new(budget) };
            let token = Token { policy: policy(None, lifetime), account, ..token() };
            assert_eq!(token.attention(now, quota(1_000)), attention, "{lifetime:?} {budget:?} {used}");
            assert_eq!(Token { policy: policy(Some(Role::User), lifetime), ..token }.attention(now, quota(1)), None);
        }
    }

    #[test]
    fn more_quota_than_the_wallet_holds_is_a_reason_unless_the_wallet_is_empty() {
        use Attention::{ExceedsWallet, NearlySpent};
        let now = UnixTime::new(1_000);
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
        for (budget, used, wallet, attention) in table {
            let account = Account { used: quota(used), ..Account::new(budget) };
            let token = Token { account, ..token() };
            assert_eq!(token.attention(now, quota(wallet)), attention, "{budget:?} {used} {wallet}");
        }
    }
}
