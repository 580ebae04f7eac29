//! Whether a key works now, for people: the one answer that lists, filters and the overview show.

use std::collections::BTreeMap;

use super::accounts::Accounts;
use super::admission::{Purpose, RequestContext, TokenState, admit};
use super::refusal::Refusal;
use super::refusal::RefusalReason::{
    GroupNotAllowed, InvalidKey, IpNotAllowed, ModelNotAllowed, ModelNotPriced, RateLimited, ReservationEnded,
    ReservationNotFound, TokenDisabled, TokenExhausted, TokenExpired, TokenPeriodExceeded, TokenQuotaInsufficient,
    TooManyConcurrent, UserDisabled, UserPeriodExceeded, UserQuotaInsufficient,
};
use crate::domain::account::{Account, Budget};
use crate::domain::calendar::Moment;
use crate::domain::group::Groups;
use crate::domain::money::Quota;
use crate::domain::named::named;
use crate::domain::period_limits::PeriodExceeded;
use crate::domain::rate_limits::{RateCounters, RateLimits};
use crate::domain::time::UnixTime;
use crate::domain::token::Token;
use crate::domain::token_policy::TokenPolicy;
use crate::domain::user::User;

/// The answer to a request of cost 1 without model and address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyState {
    pub name: StateName,
    /// When a limit that is reached renews. `None` if nothing is reached, and if time alone cannot help.
    pub until: Option<UnixTime>,
}

named! {
    /// The states. Rates and open reservations are not among them: they pass within seconds, or with the requests under
    /// way.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
    pub enum StateName {
        Working = "working",
        Disabled = "disabled",
        Expired = "expired",
        /// The owner is disabled.
        AccountDisabled = "account_disabled",
        /// The owner may no longer use the token's group.
        GroupNotAllowed = "group_not_allowed",
        /// Nothing is left of its quota, whether or not it ever had any.
        UsedUp = "used_up",
        /// Nothing is left in the owner's wallet.
        AccountEmpty = "account_empty",
        /// A daily, weekly or monthly limit of the token is reached.
        KeyLimitReached = "key_limit_reached",
        /// One of its owner is reached.
        AccountLimitReached = "account_limit_reached",
    }
}

impl StateName {
    const fn of(refusal: &Refusal) -> Self {
        match refusal.reason {
            TokenDisabled | InvalidKey => Self::Disabled,
            TokenExpired => Self::Expired,
            UserDisabled => Self::AccountDisabled,
            GroupNotAllowed => Self::GroupNotAllowed,
            TokenExhausted | TokenQuotaInsufficient => Self::UsedUp,
            UserQuotaInsufficient => Self::AccountEmpty,
            TokenPeriodExceeded => Self::KeyLimitReached,
            UserPeriodExceeded => Self::AccountLimitReached,
            // Of requests that name a model or an address, or spend, or end a reservation.
            ModelNotAllowed | IpNotAllowed | ModelNotPriced | RateLimited | TooManyConcurrent | ReservationNotFound
            | ReservationEnded => Self::Working,
        }
    }
}

/// How many keys are in which state; a state that no key is in has no entry.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StateCounts(BTreeMap<StateName, i64>);

impl StateCounts {
    pub fn of(states: impl IntoIterator<Item = StateName>) -> Self {
        let mut counts = BTreeMap::new();
        for state in states {
            *counts.entry(state).or_default() += 1;
        }
        Self(counts)
    }

    pub fn get(&self, state: StateName) -> i64 {
        self.0.get(&state).copied().unwrap_or_default()
    }
}

impl KeyState {
    fn of(asked: Result<(), Refusal>) -> Self {
        match asked {
            Ok(()) => Self { name: StateName::Working, until: None },
            Err(refusal) => {
                let renews = |exceeded: PeriodExceeded| exceeded.retry_after.map(|_| exceeded.resets_at);
                Self { name: StateName::of(&refusal), until: refusal.exceeded().and_then(renews) }
            }
        }
    }
}

/// Asks for cost 1, without model and address.
fn ask(policy: &TokenPolicy, state: &TokenState, at: &Moment) -> Result<(), Refusal> {
    admit(policy, state, Purpose::Verify(Some(Quota::LEAST)), &RequestContext::default(), at).map(drop)
}

impl Token {
    /// Whether this token works at `at`. `owner` is its owner.
    pub fn state(&self, owner: &User, groups: &Groups, at: &Moment) -> KeyState {
        KeyState::of(self.ask(owner, groups, at))
    }

    /// The answer to a request of cost 1 without model and address.
    ///
    /// # Errors
    /// Why this token does not work.
    pub fn ask(&self, owner: &User, groups: &Groups, at: &Moment) -> Result<(), Refusal> {
        ask(&self.policy, &self.state_for(owner, groups), at)
    }

    /// What [`admit`] decides by.
    pub fn state_for(&self, owner: &User, groups: &Groups) -> TokenState {
        TokenState {
            owner: owner.status,
            group_is_open: groups.allow(&owner.group, &self.policy.group),
            accounts: Accounts::new(self.account, owner.wallet),
            rate_limits: self.rate_limits,
            rate_counters: self.rate_counters,
        }
    }
}

impl User {
    /// The state of a key that only its owner could stop.
    pub fn state(&self, at: &Moment) -> KeyState {
        let token = Account::new(Budget::Unlimited { shelved: Quota::ZERO });
        let state = TokenState {
            owner: self.status,
            group_is_open: true,
            accounts: Accounts::new(token, self.wallet),
            rate_limits: RateLimits::default(),
            rate_counters: RateCounters::default(),
        };
        KeyState::of(ask(&TokenPolicy::default(), &state, at))
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use proptest::prelude::*;

    use super::super::tests::{moment, quota};
    use super::*;
    use crate::domain::group::Group;
    use crate::domain::period_limits::PeriodLimits;
    use crate::domain::time::Lifetime;
    use crate::domain::token::tests::token;
    use crate::domain::user::tests::user;
    use crate::domain::user::{Role, UserStatus};

    const NOW: UnixTime = UnixTime::new(1_000);
    const DAY_END: UnixTime = UnixTime::new(86_400);

    fn with_account(remain: i64, day: Option<i64>) -> Account {
        let period_limits = PeriodLimits { day: day.map(quota), ..PeriodLimits::default() };
        Account { period_limits, ..Account::new(Budget::Limited { remain: quota(remain) }) }
    }

    fn spent(account: Account, units: i64) -> Account {
        let at = moment(NOW);
        let mut account = account.spend(quota(units)).unwrap();
        account.count(quota(units), at.today, at.calendar);
        account
    }

    fn policy(disabled_by: Option<Role>, lifetime: Lifetime, group: Group) -> Arc<TokenPolicy> {
        Arc::new(TokenPolicy { disabled_by, lifetime, group, ..TokenPolicy::default() })
    }

    #[test]
    fn a_state_is_the_first_refusal_in_its_order() {
        use StateName::{
            AccountDisabled, AccountEmpty, AccountLimitReached, Disabled, Expired, GroupNotAllowed, KeyLimitReached,
            UsedUp, Working,
        };
        let (free, over) = (Lifetime::Forever, Lifetime::Until(NOW));
        let vip = || Group::Named("vip".to_owned());
        let reached = || spent(with_account(9, Some(2)), 2);
        let full = || with_account(9, None);
        let on = UserStatus::Enabled;
        let table = [
            // The token's policy and account; its owner's status and wallet.
            (policy(None, free, Group::Own), full(), on, full(), Working, None),
            (policy(None, free, Group::Own), with_account(1, Some(1)), on, with_account(1, Some(1)), Working, None),
            (policy(Some(Role::User), over, vip()), full(), UserStatus::Disabled, full(), Disabled, None),
            (policy(None, over, vip()), full(), UserStatus::Disabled, full(), Expired, None),
            (policy(None, free, vip()), full(), UserStatus::Disabled, full(), AccountDisabled, None),
            (policy(None, free, vip()), with_account(0, None), on, full(), GroupNotAllowed, None),
            (policy(None, free, Group::Own), with_account(0, None), on, with_account(0, None), UsedUp, None),
            (policy(None, free, Group::Own), spent(with_account(2, None), 2), on, full(), UsedUp, None),
            (policy(None, free, Group::Own), reached(), on, with_account(0, None), AccountEmpty, None),
            (policy(None, free, Group::Own), reached(), on, full(), KeyLimitReached, Some(DAY_END)),
            (policy(None, free, Group::Own), full(), on, reached(), AccountLimitReached, Some(DAY_END)),
            (policy(None, free, Group::Own), with_account(9, Some(0)), on, full(), KeyLimitReached, None),
        ];
        for (policy, account, status, wallet, name, until) in table {
            let case = format!("{policy:?} {account:?} {status:?} {wallet:?}");
            let token = Token { policy, account, ..token() };
            let owner = User { status, wallet, ..user() };
            let state = token.state(&owner, &Groups::default(), &moment(NOW));
            assert_eq!(state, KeyState { name, until }, "{case}");
        }
    }

    #[test]
    fn the_state_of_an_account_is_that_of_a_key_without_limits() {
        let at = moment(NOW);
        let table = [
            (UserStatus::Enabled, with_account(1, None), StateName::Working, None),
            (UserStatus::Disabled, with_account(1, None), StateName::AccountDisabled, None),
            (UserStatus::Enabled, with_account(0, None), StateName::AccountEmpty, None),
            (UserStatus::Enabled, spent(with_account(9, Some(2)), 2), StateName::AccountLimitReached, Some(DAY_END)),
        ];
        for (status, wallet, name, until) in table {
            assert_eq!(User { status, wallet, ..user() }.state(&at), KeyState { name, until });
        }
    }

    #[test]
    fn states_have_the_names_of_the_api() {
        let names = [
            "working",
            "disabled",
            "expired",
            "account_disabled",
            "group_not_allowed",
            "used_up",
            "account_empty",
            "key_limit_reached",
            "account_limit_reached",
        ];
        assert_eq!(StateName::ALL.map(StateName::as_str), names);
    }

    proptest! {
        #[test]
        fn a_key_works_exactly_if_a_charge_of_1_is_admitted(
            (remain, wallet) in (0..3_i64, 0..3_i64),
            (used, day, wallet_day) in (0..3_i64, prop::option::of(0..3_i64), prop::option::of(0..3_i64)),
            disabled: bool,
            lifetime in prop::sample::select(vec![Lifetime::Forever, Lifetime::Until(NOW)]),
            status in prop::sample::select(vec![UserStatus::Enabled, UserStatus::Disabled]),
        ) {
            let at = moment(NOW);
            let token = Token {
                policy: policy(disabled.then_some(Role::User), lifetime, Group::Own),
                account: spent(with_account(remain + used, day), used),
                ..token()
            };
            let owner = User { status, wallet: spent(with_account(wallet + used, wallet_day), used), ..user() };
            let state = TokenState {
                owner: owner.status,
                group_is_open: true,
                accounts: Accounts::new(token.account, owner.wallet),
                rate_limits: token.rate_limits,
                rate_counters: token.rate_counters,
            };
            let admitted = admit(&token.policy, &state, Purpose::Charge(Quota::LEAST), &RequestContext::default(), &at);
            let shown = token.state(&owner, &Groups::default(), &at);
            prop_assert_eq!(shown.name == StateName::Working, admitted.is_ok(), "{:?} {:?}", shown, admitted);
        }
    }
}
