//! Whether a refused request would pass now, and what lets it pass (spec §13.8).

use super::attention::Attention;
use super::calendar::{Moment, Period};
use super::client_addresses::StoredAddress;
use super::group::Groups;
use super::ledger::{Figures, Purpose, Refusal, RefusalReason, RequestContext, admit};
use super::money::Quota;
use super::rate_limits::RateExceeded;
use super::refusals::RefusedCall;
use super::time::UnixTime;
use super::token::Token;
use super::user::{Role, User};
use crate::domain::named::named;

/// A request that was refused, as far as it was kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RefusedAttempt {
    pub call: RefusedCall,
    pub refusal: Refusal,
    /// The amount that was asked for, if one was.
    pub quota: Option<Quota>,
    /// Empty if the gateway named none.
    pub model: String,
    /// The end client's address or its network, if it is stored.
    pub ip: Option<StoredAddress>,
    /// It stands for others, so that what it asked for is not known.
    pub is_summary: bool,
}

impl RefusedAttempt {
    /// Whether [`admit`] allows it now; `None` if it is not known. Rates are not asked: they have passed by themselves.
    /// `is_priced` says whether a model has a price; `None` if it had one already, but not for this request.
    pub fn ask_again(
        &self,
        token: &Token,
        owner: &User,
        groups: &Groups,
        is_priced: impl Fn(&str) -> Option<bool>,
        at: &Moment,
    ) -> Option<Result<(), Refusal>> {
        // An extension names all that its reservation should hold, and that may have ended.
        if self.is_summary || self.call == RefusedCall::Extend || !self.can_be_asked() {
            return None;
        }
        let state = token.state_for(owner, groups);
        let context = RequestContext::of_stored(&self.model, self.ip.as_ref());
        let answer = admit(&token.policy, &state, Purpose::Verify(self.quota), &context, at).map(drop);
        match answer {
            Ok(()) if self.refusal.reason == RefusalReason::ModelNotPriced => {
                Some(if is_priced(&self.model)? { Ok(()) } else { Err(self.refusal) })
            }
            Ok(()) if self.quota.is_none() && self.depends_on_amount() => None,
            answer => Some(answer),
        }
    }

    /// Another amount might have passed.
    const fn depends_on_amount(&self) -> bool {
        matches!(
            self.refusal.reason,
            RefusalReason::TokenQuotaInsufficient
                | RefusalReason::UserQuotaInsufficient
                | RefusalReason::TokenPeriodExceeded
                | RefusalReason::UserPeriodExceeded
        )
    }

    /// Whether what is kept of it is enough to ask.
    fn can_be_asked(&self) -> bool {
        match self.refusal.reason {
            RefusalReason::IpNotAllowed => self.ip.as_ref().is_some_and(|ip| ip.ip().is_some()),
            // Whether the key itself is valid again is not known of a row, and rates pass by themselves.
            RefusalReason::InvalidKey
            | RefusalReason::RateLimited
            | RefusalReason::TooManyConcurrent
            | RefusalReason::ReservationNotFound
            | RefusalReason::ReservationEnded => false,
            RefusalReason::TokenDisabled
            | RefusalReason::TokenExpired
            | RefusalReason::UserDisabled
            | RefusalReason::GroupNotAllowed
            | RefusalReason::ModelNotAllowed
            | RefusalReason::ModelNotPriced
            | RefusalReason::TokenExhausted
            | RefusalReason::TokenQuotaInsufficient
            | RefusalReason::UserQuotaInsufficient
            | RefusalReason::TokenPeriodExceeded
            | RefusalReason::UserPeriodExceeded => true,
        }
    }
}

named! {
    /// What lets a refused request pass.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub enum RemedyAction {
        EnableKey = "enable_key",
        ExtendKey = "extend_key",
        ChangeGroup = "change_group",
        AllowModel = "allow_model",
        AllowAddress = "allow_address",
        AddQuota = "add_quota",
        RaiseLimit = "raise_limit",
        AddPrice = "add_price",
        EnableAccount = "enable_account",
        TopUpAccount = "top_up_account",
        RaiseAccountLimit = "raise_account_limit",
    }
}

impl RemedyAction {
    /// What it changes.
    const fn place(self) -> RemedyPlace {
        match self {
            Self::EnableKey
            | Self::ExtendKey
            | Self::ChangeGroup
            | Self::AllowModel
            | Self::AllowAddress
            | Self::AddQuota
            | Self::RaiseLimit => RemedyPlace::Key,
            Self::EnableAccount | Self::TopUpAccount | Self::RaiseAccountLimit => RemedyPlace::Account,
            Self::AddPrice => RemedyPlace::Prices,
        }
    }
}

/// What a remedy changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RemedyPlace {
    Key,
    Account,
    Prices,
}

/// The change that ends a refusal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remedy {
    pub action: RemedyAction,
    /// The member of the token or the account that is changed, as an edit names it. `None` for a price.
    pub field: Option<&'static str>,
    /// The model or the address that is added to it.
    pub value: Option<String>,
    /// The lowest role that may do it; [`Role::User`] is the owner.
    pub by: Role,
}

impl Remedy {
    /// What ends this refusal of a token; `None` if nothing does.
    pub fn of(
        refusal: &Refusal,
        attempt: Option<&RefusedAttempt>,
        token: &Token,
        owner: &User,
        now: UnixTime,
    ) -> Option<Self> {
        let model = || attempt.map(|attempt| attempt.model.clone()).filter(|model| !model.is_empty());
        let address = || Some(attempt?.ip.as_ref()?.ip()?.to_string());
        let (action, field, value) = match refusal.reason {
            RefusalReason::InvalidKey | RefusalReason::ReservationNotFound | RefusalReason::ReservationEnded => {
                return None;
            }
            // A token that has also expired or is used up cannot be enabled.
            RefusalReason::TokenDisabled if token.policy.lifetime.is_over(now) => EXTEND,
            RefusalReason::TokenDisabled if token.account.is_exhausted() => ADD_QUOTA,
            RefusalReason::TokenDisabled => (RemedyAction::EnableKey, Some("status"), None),
            RefusalReason::TokenExpired => EXTEND,
            RefusalReason::UserDisabled => (RemedyAction::EnableAccount, Some("status"), None),
            RefusalReason::GroupNotAllowed => (RemedyAction::ChangeGroup, Some("group"), None),
            RefusalReason::ModelNotAllowed => (RemedyAction::AllowModel, Some("model_limits"), Some(model()?)),
            RefusalReason::IpNotAllowed => (RemedyAction::AllowAddress, Some("allow_ips"), Some(address()?)),
            RefusalReason::ModelNotPriced => (RemedyAction::AddPrice, None, Some(model()?)),
            RefusalReason::TokenExhausted | RefusalReason::TokenQuotaInsufficient => ADD_QUOTA,
            RefusalReason::UserQuotaInsufficient => TOP_UP,
            RefusalReason::TokenPeriodExceeded => (RemedyAction::RaiseLimit, Some(limit_field(refusal)?), None),
            RefusalReason::UserPeriodExceeded => (RemedyAction::RaiseAccountLimit, Some(limit_field(refusal)?), None),
            RefusalReason::RateLimited | RefusalReason::TooManyConcurrent => {
                (RemedyAction::RaiseLimit, Some(limit_field(refusal)?), None)
            }
        };
        Some(Self::new((action, field, value), token, owner))
    }

    /// What ends the need for attention of a token.
    pub fn of_attention(
        attention: Attention,
        token: &Token,
        owner: &User,
        groups: &Groups,
        at: &Moment,
    ) -> Option<Self> {
        let change = match attention {
            Attention::ExpiresSoon => EXTEND,
            Attention::NearlySpent => ADD_QUOTA,
            Attention::ExceedsWallet => TOP_UP,
            Attention::LimitReached | Attention::Exhausted | Attention::Expired | Attention::GroupNotAllowed => {
                let refusal = token.ask(owner, groups, at).err()?;
                return Self::of(&refusal, None, token, owner, at.now);
            }
        };
        Some(Self::new(change, token, owner))
    }

    fn new((action, field, value): Change, token: &Token, owner: &User) -> Self {
        let manager = if owner.role.is_admin() { Role::Root } else { Role::Admin };
        let by = match (action.place(), action) {
            (RemedyPlace::Key, RemedyAction::EnableKey) => token.policy.disabled_by.unwrap_or(Role::User),
            (RemedyPlace::Key, _) => Role::User,
            (RemedyPlace::Account, RemedyAction::EnableAccount) => {
                owner.disabled_by.map_or(manager, |by| by.max(manager))
            }
            (RemedyPlace::Account, _) => manager,
            (RemedyPlace::Prices, _) => Role::Admin,
        };
        Self { action, field, value, by }
    }

    /// Whether `who` may do it to a token of `owner`. `token_api_open` is the setting `accounts.token_api`.
    pub fn is_allowed(&self, who: &User, owner: &User, token_api_open: bool) -> bool {
        who.role >= self.by
            && match (self.action.place(), self.action) {
                (RemedyPlace::Key, RemedyAction::EnableKey) if who.role.is_admin() => true,
                (RemedyPlace::Key, _) => who.may_change_tokens_of(owner, token_api_open),
                (RemedyPlace::Account, _) => who.role.may_manage(owner.role),
                (RemedyPlace::Prices, _) => who.role.is_admin(),
            }
    }
}

/// What is changed: the action, the member, and what is added to it.
type Change = (RemedyAction, Option<&'static str>, Option<String>);

const EXTEND: Change = (RemedyAction::ExtendKey, Some("expired_time"), None);
const ADD_QUOTA: Change = (RemedyAction::AddQuota, Some("remain_quota"), None);
const TOP_UP: Change = (RemedyAction::TopUpAccount, Some("quota"), None);

/// The member that has the limit which refused.
const fn limit_field(refusal: &Refusal) -> Option<&'static str> {
    match refusal.figures {
        Figures::Period(exceeded) => Some(match exceeded.period {
            Period::Day => "period_limits.day",
            Period::Week => "period_limits.week",
            Period::Month => "period_limits.month",
        }),
        Figures::Rate(RateExceeded::Requests { .. }) => Some("rate_limits.requests_per_minute"),
        Figures::Rate(RateExceeded::Tokens { .. }) => Some("rate_limits.tokens_per_minute"),
        Figures::Concurrency(_) => Some("rate_limits.concurrency"),
        Figures::None => None,
    }
}

/// What is known now of a request that was refused.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Outlook {
    /// Since when it would pass; `None` while it would not, or if that is not known.
    pub cured: Option<Cure>,
    /// What lets it pass; `None` if it would, or if nothing does.
    pub remedy: Option<OfferedRemedy>,
}

/// A request that was refused would pass now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Cure {
    /// The last change of the token, its owner's account or the prices since the refusal. `None` without one: a limit
    /// has renewed, or the settings of the service have changed.
    pub at: Option<UnixTime>,
}

/// A remedy for somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfferedRemedy {
    pub remedy: Remedy,
    /// They may do it themselves.
    pub is_allowed: bool,
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::super::account::{Account, Budget};
    use super::super::client_addresses::ClientAddresses;
    use super::super::ip_allowlist::IpAllowlist;
    use super::super::ledger::tests::moment;
    use super::super::model_limits::ModelLimits;
    use super::super::period_limits::{PeriodExceeded, PeriodLimits};
    use super::super::time::Lifetime;
    use super::super::token::tests::token;
    use super::super::token_policy::TokenPolicy;
    use super::super::user::UserStatus;
    use super::super::user::tests::user;
    use super::RefusalReason::*;
    use super::*;

    const NOW: UnixTime = UnixTime::new(1_000);

    fn quota(units: i64) -> Quota {
        Quota::grant(units).unwrap()
    }

    fn attempt(reason: RefusalReason) -> RefusedAttempt {
        RefusedAttempt {
            call: RefusedCall::Charge,
            refusal: reason.into(),
            quota: Some(quota(3)),
            model: "o3".to_owned(),
            ip: ClientAddresses::Full.stored("192.0.2.7".parse().unwrap()),
            is_summary: false,
        }
    }

    fn owner() -> User {
        User { wallet: Account::new(Budget::Limited { remain: quota(9) }), token_api_enabled: true, ..user() }
    }

    fn ask(attempt: &RefusedAttempt, token: &Token, owner: &User) -> Option<Result<(), RefusalReason>> {
        let answer = attempt.ask_again(token, owner, &Groups::default(), |model| Some(model == "priced"), &moment(NOW));
        answer.map(|answer| answer.map_err(|refusal| refusal.reason))
    }

    fn with_policy(policy: TokenPolicy) -> Token {
        Token { policy: Arc::new(policy), ..token() }
    }

    #[test]
    fn a_request_that_was_refused_passes_as_soon_as_the_same_amount_fits() {
        let account = |remain| Account::new(Budget::Limited { remain: quota(remain) });
        let short = |remain| Token { account: account(remain), ..token() };
        let insufficient = attempt(TokenQuotaInsufficient);
        assert_eq!(ask(&insufficient, &short(2), &owner()), Some(Err(TokenQuotaInsufficient)));
        assert_eq!(ask(&insufficient, &short(3), &owner()), Some(Ok(())));
        let poor = User { wallet: account(2), ..owner() };
        assert_eq!(ask(&insufficient, &short(3), &poor), Some(Err(UserQuotaInsufficient)));
        let limits = PeriodLimits { day: Some(quota(2)), ..PeriodLimits::default() };
        let limited = Token { account: Account { period_limits: limits, ..account(9) }, ..token() };
        assert_eq!(ask(&attempt(TokenPeriodExceeded), &limited, &owner()), Some(Err(TokenPeriodExceeded)));
        assert_eq!(ask(&attempt(TokenPeriodExceeded), &short(9), &owner()), Some(Ok(())));
    }

    #[test]
    fn the_model_the_address_and_the_price_are_asked_again() {
        let models = |names: [&str; 1]| TokenPolicy {
            model_limits_enabled: true,
            model_limits: ModelLimits::from_names(names.into_iter()).unwrap(),
            ..TokenPolicy::default()
        };
        assert_eq!(ask(&attempt(ModelNotAllowed), &with_policy(models(["o1"])), &owner()), Some(Err(ModelNotAllowed)));
        assert_eq!(ask(&attempt(ModelNotAllowed), &with_policy(models(["o3"])), &owner()), Some(Ok(())));
        let ips = |text: &str| TokenPolicy { allow_ips: IpAllowlist::parse(text).unwrap(), ..TokenPolicy::default() };
        assert_eq!(ask(&attempt(IpNotAllowed), &with_policy(ips("192.0.2.8")), &owner()), Some(Err(IpNotAllowed)));
        assert_eq!(ask(&attempt(IpNotAllowed), &with_policy(ips("192.0.2.0/24")), &owner()), Some(Ok(())));
        let unpriced = attempt(ModelNotPriced);
        assert_eq!(ask(&unpriced, &token(), &owner()), Some(Err(ModelNotPriced)));
        let priced = RefusedAttempt { model: "priced".to_owned(), ..unpriced };
        assert_eq!(ask(&priced, &token(), &owner()), Some(Ok(())));
    }

    #[test]
    fn nothing_is_said_of_what_is_not_known() {
        let network = ClientAddresses::Networks.stored("192.0.2.7".parse().unwrap());
        let unknown = [
            attempt(InvalidKey),
            attempt(RateLimited),
            attempt(TooManyConcurrent),
            attempt(ReservationNotFound),
            attempt(ReservationEnded),
            RefusedAttempt { is_summary: true, ..attempt(TokenExhausted) },
            RefusedAttempt { ip: network.clone(), ..attempt(IpNotAllowed) },
            RefusedAttempt { ip: None, ..attempt(IpNotAllowed) },
            RefusedAttempt { call: RefusedCall::Extend, ..attempt(TokenExhausted) },
        ];
        for attempt in unknown {
            assert_eq!(ask(&attempt, &token(), &owner()), None, "{attempt:?}");
        }
        // Without the amount, only a refusal is certain.
        for reason in [TokenQuotaInsufficient, UserQuotaInsufficient, TokenPeriodExceeded, UserPeriodExceeded] {
            let unknown = RefusedAttempt { quota: None, ..attempt(reason) };
            assert_eq!(ask(&unknown, &token(), &owner()), None, "{reason:?}");
            let disabled = with_policy(TokenPolicy { disabled_by: Some(Role::User), ..TokenPolicy::default() });
            assert_eq!(ask(&unknown, &disabled, &owner()), Some(Err(TokenDisabled)));
        }
        // Of other reasons, a network is enough.
        let exhausted = RefusedAttempt { ip: network, quota: None, ..attempt(TokenExhausted) };
        assert_eq!(ask(&exhausted, &token(), &owner()), Some(Ok(())));
    }

    type Found<'a> = Option<(RemedyAction, Option<&'a str>, Option<&'a str>)>;

    #[test]
    fn each_refusal_that_somebody_can_end_has_its_remedy() {
        use RemedyAction::*;
        let exceeded = PeriodExceeded {
            period: Period::Week,
            limit: Quota::LEAST,
            used: Quota::LEAST,
            resets_at: UnixTime::new(0),
            retry_after: None,
        };
        let requests = RateExceeded::Requests { limit: 1, retry_after: None };
        let tokens = RateExceeded::Tokens { limit: 1, retry_after: None };
        let table: [(Refusal, Found<'_>); 19] = [
            (InvalidKey.into(), None),
            (TokenDisabled.into(), Some((EnableKey, Some("status"), None))),
            (TokenExpired.into(), Some((ExtendKey, Some("expired_time"), None))),
            (UserDisabled.into(), Some((EnableAccount, Some("status"), None))),
            (GroupNotAllowed.into(), Some((ChangeGroup, Some("group"), None))),
            (ModelNotAllowed.into(), Some((AllowModel, Some("model_limits"), Some("o3")))),
            (IpNotAllowed.into(), Some((AllowAddress, Some("allow_ips"), Some("192.0.2.7")))),
            (ModelNotPriced.into(), Some((AddPrice, None, Some("o3")))),
            (TokenExhausted.into(), Some((AddQuota, Some("remain_quota"), None))),
            (TokenQuotaInsufficient.into(), Some((AddQuota, Some("remain_quota"), None))),
            (UserQuotaInsufficient.into(), Some((TopUpAccount, Some("quota"), None))),
            (Refusal::period(TokenPeriodExceeded, exceeded), Some((RaiseLimit, Some("period_limits.week"), None))),
            (
                Refusal::period(UserPeriodExceeded, exceeded),
                Some((RaiseAccountLimit, Some("period_limits.week"), None)),
            ),
            // Rows of which the limit is not known.
            (TokenPeriodExceeded.into(), None),
            (requests.into(), Some((RaiseLimit, Some("rate_limits.requests_per_minute"), None))),
            (tokens.into(), Some((RaiseLimit, Some("rate_limits.tokens_per_minute"), None))),
            (Refusal::concurrency(1), Some((RaiseLimit, Some("rate_limits.concurrency"), None))),
            (ReservationNotFound.into(), None),
            (ReservationEnded.into(), None),
        ];
        for (refusal, expected) in table {
            let found = Remedy::of(&refusal, Some(&attempt(refusal.reason)), &token(), &owner(), NOW);
            let found = found.as_ref().map(|remedy| (remedy.action, remedy.field, remedy.value.as_deref()));
            assert_eq!(found, expected, "{refusal:?}");
        }
    }

    #[test]
    fn a_disabled_key_that_could_not_be_enabled_is_extended_or_filled_first() {
        let disabled =
            |lifetime| with_policy(TokenPolicy { disabled_by: Some(Role::User), lifetime, ..TokenPolicy::default() });
        let action = |token: &Token| Remedy::of(&TokenDisabled.into(), None, token, &owner(), NOW).unwrap().action;
        let over = Lifetime::Until(NOW);
        let mut used_up = disabled(Lifetime::Forever);
        used_up.account = Account { used: quota(1), ..Account::new(Budget::Limited { remain: Quota::ZERO }) };
        assert_eq!(action(&disabled(over)), RemedyAction::ExtendKey);
        assert_eq!(action(&used_up), RemedyAction::AddQuota);
        assert_eq!(action(&disabled(Lifetime::Forever)), RemedyAction::EnableKey);
    }

    #[test]
    fn who_may_do_it_follows_from_the_roles() {
        let who = |id: i64, role| User { id: super::super::id::UserId::new(id), role, ..owner() };
        let (own, admin, root) = (who(1, Role::User), who(2, Role::Admin), who(3, Role::Root));
        let disabled = |by| with_policy(TokenPolicy { disabled_by: Some(by), ..TokenPolicy::default() });
        let stopped = |by| User { status: UserStatus::Disabled, disabled_by: Some(by), ..owner() };
        let not_enabled = User { token_api_enabled: false, ..owner() };
        let colleague = who(4, Role::Admin);
        // the refusal, the token, its owner; who may at least; whether the owner, an administrator and root may
        let table = [
            (TokenDisabled, disabled(Role::User), owner(), Role::User, [true, true, true]),
            (TokenDisabled, disabled(Role::Admin), owner(), Role::Admin, [false, true, true]),
            (TokenDisabled, disabled(Role::Root), owner(), Role::Root, [false, false, true]),
            (TokenExhausted, token(), owner(), Role::User, [true, true, true]),
            (TokenExhausted, token(), not_enabled.clone(), Role::User, [false, false, false]),
            (TokenExhausted, token(), colleague.clone(), Role::User, [false, false, true]),
            (TokenDisabled, disabled(Role::Admin), not_enabled, Role::Admin, [false, true, true]),
            (UserQuotaInsufficient, token(), owner(), Role::Admin, [false, true, true]),
            (UserQuotaInsufficient, token(), colleague, Role::Root, [false, false, true]),
            (UserDisabled, token(), stopped(Role::Admin), Role::Admin, [false, true, true]),
            (UserDisabled, token(), stopped(Role::Root), Role::Root, [false, false, true]),
            (ModelNotPriced, token(), owner(), Role::Admin, [false, true, true]),
        ];
        for (reason, token, owner, by, may) in table {
            let remedy = Remedy::of(&reason.into(), Some(&attempt(reason)), &token, &owner, NOW).unwrap();
            let allowed = [&own, &admin, &root].map(|who| remedy.is_allowed(who, &owner, false));
            assert_eq!((remedy.by, allowed), (by, may), "{reason:?} {token:?} {owner:?}");
        }
    }

    #[test]
    fn what_needs_attention_has_a_remedy_too() {
        let remedy = |attention, token: &Token| {
            Remedy::of_attention(attention, token, &owner(), &Groups::default(), &moment(NOW))
                .map(|remedy| remedy.action)
        };
        assert_eq!(remedy(Attention::ExpiresSoon, &token()), Some(RemedyAction::ExtendKey));
        assert_eq!(remedy(Attention::NearlySpent, &token()), Some(RemedyAction::AddQuota));
        assert_eq!(remedy(Attention::ExceedsWallet, &token()), Some(RemedyAction::TopUpAccount));
        let expired = with_policy(TokenPolicy { lifetime: Lifetime::Until(NOW), ..TokenPolicy::default() });
        assert_eq!(remedy(Attention::Expired, &expired), Some(RemedyAction::ExtendKey));
        assert_eq!(remedy(Attention::Expired, &token()), None, "it works again");
    }
}
