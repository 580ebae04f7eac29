//! The token and what can be asked of it (spec §2.1, §4.4, §4.5a).

use super::access::{Group, IpAllowlist, ModelLimits};
use super::id::{TokenId, UserId};
use super::key::{ApiKey, KeyHint};
use super::money::{Quota, QuotaInvalid};
use super::policy;
use super::text::hides_something;
use super::time::{Lifetime, UnixTime};
use super::user::Role;

/// A token as its owner sees it in lists. There is no key inside, so none can leak.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// Spec §2.1 `id`.
    pub id: TokenId,
    /// The owner.
    pub user_id: UserId,
    /// What lists show of the key.
    pub key_hint: KeyHint,
    /// Who switched it off with a status-only update, by the highest role of those who did; absent while it is on.
    pub switched_off_by: Option<Role>,
    /// Spec §2.1 `name`.
    pub name: TokenName,
    /// When it was made.
    pub created_time: UnixTime,
    /// When it was last spent from; the creation time until then.
    pub accessed_time: UnixTime,
    /// Spec §2.1 `expired_time`.
    pub lifetime: Lifetime,
    /// Spec §2.1 `remain_quota` and `unlimited_quota`.
    pub budget: Budget,
    /// Spec §2.1 `used_quota`.
    pub used_quota: Quota,
    /// Whether `model_limits` applies.
    pub model_limits_enabled: bool,
    /// Spec §2.1 `model_limits`.
    pub model_limits: ModelLimits,
    /// Spec §2.1 `allow_ips`.
    pub allow_ips: IpAllowlist,
    /// Spec §2.1 `group`.
    pub group: Group,
    /// Asked for by the owner; see [`Token::cross_group_retry`].
    pub cross_group_retry: bool,
    /// Raised by every edit, never by a charge.
    pub version: i64,
}

/// A token together with its key: what a read by id and a creation return.
#[derive(Debug)]
pub struct TokenWithKey {
    /// The token.
    pub token: Token,
    /// Its key, opened from the vault.
    pub key: ApiKey,
}

/// What a status-only update asks for (spec §4.5b).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// May work.
    On,
    /// Switched off.
    Off,
}

/// What a token may still spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Budget {
    /// Up to `remain`.
    Limited {
        /// What is left.
        remain: Quota,
    },
    /// Bounded by its owner's wallet alone.
    Unlimited {
        /// What was left when it became unlimited. It stays where it is, and counts again when
        /// the token is limited again.
        shelved: Quota,
    },
}

impl Budget {
    /// From the two fields of spec §2.1.
    #[must_use]
    pub const fn new(remain: Quota, unlimited: bool) -> Self {
        if unlimited { Self::Unlimited { shelved: remain } } else { Self::Limited { remain } }
    }

    /// Spec §2.1 `remain_quota`.
    #[must_use]
    pub const fn remain(self) -> Quota {
        match self {
            Self::Limited { remain } => remain,
            Self::Unlimited { shelved } => shelved,
        }
    }

    /// Spec §2.1 `unlimited_quota`.
    #[must_use]
    pub const fn is_unlimited(self) -> bool {
        match self {
            Self::Limited { .. } => false,
            Self::Unlimited { .. } => true,
        }
    }

    /// Whether nothing can be spent any more.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        match self {
            Self::Limited { remain } => remain.is_zero(),
            Self::Unlimited { .. } => false,
        }
    }
}

/// The name of a token: 1 to 50 characters without control characters (spec §8).
#[derive(Debug, Clone, PartialEq, Eq, sqlx::Type)]
#[sqlx(transparent)]
pub struct TokenName(String);

/// Why a name was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameInvalid {
    /// Nothing but white space, or no name at all.
    #[error("a token needs a `name` of 1 to {} characters", policy::MAX_NAME_CHARS)]
    Empty,
    /// More than 50 characters.
    #[error("`name` has more than {} characters", policy::MAX_NAME_CHARS)]
    TooLong,
    /// A line break, a tab, a NUL …
    #[error("`name` contains control or invisible characters")]
    Control,
}

impl TokenName {
    /// Trims, then counts characters, not bytes.
    ///
    /// # Errors
    /// Empty or overlong names, control or invisible characters.
    pub fn parse(text: &str) -> Result<Self, NameInvalid> {
        let name = text.trim();
        if name.is_empty() {
            return Err(NameInvalid::Empty);
        }
        if name.chars().any(char::is_control) || hides_something(name) {
            return Err(NameInvalid::Control);
        }
        if name.chars().count() > policy::MAX_NAME_CHARS {
            return Err(NameInvalid::TooLong);
        }
        Ok(Self(name.to_owned()))
    }

    /// As it was given, trimmed.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The form that searches compare: lower case of every script, whatever the database's locale.
    #[must_use]
    pub fn folded(&self) -> String {
        self.0.to_lowercase()
    }
}

/// What `POST /api/token/` asks for (spec §4.4), checked.
#[derive(Debug, Clone)]
pub struct NewToken {
    /// Required.
    pub name: TokenName,
    /// Never expires unless said.
    pub lifetime: Lifetime,
    /// Limited to 0 unless said.
    pub budget: Budget,
    /// Off unless said.
    pub model_limits_enabled: bool,
    /// Empty unless said.
    pub model_limits: ModelLimits,
    /// Empty, that is everywhere, unless said.
    pub allow_ips: IpAllowlist,
    /// The owner's own unless said.
    pub group: Group,
    /// Off unless said.
    pub cross_group_retry: bool,
}

/// What `PUT /api/token/` asks for (spec §4.5a), checked. What is absent stays as it is.
#[derive(Debug, Clone, Default)]
pub struct TokenPatch {
    /// New name.
    pub name: Option<TokenName>,
    /// New expiry.
    pub lifetime: Option<Lifetime>,
    /// New remaining quota, in units as sent: its range depends on whether the token is unlimited.
    pub remain_quota: Option<i64>,
    /// Limited or not.
    pub unlimited_quota: Option<bool>,
    /// Restricted to models or not.
    pub model_limits_enabled: Option<bool>,
    /// New list of models.
    pub model_limits: Option<ModelLimits>,
    /// New list of addresses.
    pub allow_ips: Option<IpAllowlist>,
    /// New group.
    pub group: Option<Group>,
    /// Retry across groups or not.
    pub cross_group_retry: Option<bool>,
}

/// The budget that `remain_quota` and `unlimited_quota` mean together.
///
/// # Errors
/// A limited budget outside 0 to 1,000,000,000 × `QuotaPerUnit` (spec §8). For an unlimited one
/// the number is never spent, and what does not fit is kept as 0.
pub fn budget_of(remain_quota: i64, unlimited: bool) -> Result<Budget, QuotaInvalid> {
    match Quota::grant(remain_quota) {
        Ok(remain) => Ok(Budget::new(remain, unlimited)),
        Err(_) if unlimited => Ok(Budget::new(Quota::ZERO, true)),
        Err(invalid) => Err(invalid),
    }
}

impl Token {
    /// This token after `patch` (spec §4.5a). The switch is not touched.
    ///
    /// # Errors
    /// A remaining quota outside the range of a limited token.
    pub fn edited(self, patch: TokenPatch) -> Result<Self, QuotaInvalid> {
        let unlimited = patch.unlimited_quota.unwrap_or(self.budget.is_unlimited());
        let budget = match patch.remain_quota {
            Some(units) => budget_of(units, unlimited)?,
            None => Budget::new(self.budget.remain(), unlimited),
        };
        Ok(Self {
            name: patch.name.unwrap_or(self.name),
            lifetime: patch.lifetime.unwrap_or(self.lifetime),
            budget,
            model_limits_enabled: patch.model_limits_enabled.unwrap_or(self.model_limits_enabled),
            model_limits: patch.model_limits.unwrap_or(self.model_limits),
            allow_ips: patch.allow_ips.unwrap_or(self.allow_ips),
            group: patch.group.unwrap_or(self.group),
            cross_group_retry: patch.cross_group_retry.unwrap_or(self.cross_group_retry),
            ..self
        }
        .with_retry_only_in_auto())
    }

    /// Cross-group retry is effective only for the group `auto` (spec §2.1): elsewhere it is off.
    #[must_use]
    fn with_retry_only_in_auto(mut self) -> Self {
        self.cross_group_retry = self.group.retry_allowed(self.cross_group_retry);
        self
    }
}

#[cfg(test)]
pub(super) mod tests {
    use crate::domain::cell::CellLabel;
    use proptest::prelude::*;
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;

    pub fn token() -> Token {
        Token {
            id: TokenId::new(1),
            user_id: UserId::new(1),
            key_hint: ApiKey::generate(&mut StdRng::seed_from_u64(1), CellLabel::default()).hint(),
            switched_off_by: None,
            name: TokenName::parse("a token").unwrap(),
            created_time: UnixTime::new(0),
            accessed_time: UnixTime::new(0),
            lifetime: Lifetime::Forever,
            budget: Budget::new(Quota::grant(5).unwrap(), false),
            used_quota: Quota::ZERO,
            model_limits_enabled: false,
            model_limits: ModelLimits::default(),
            allow_ips: IpAllowlist::default(),
            group: Group::default(),
            cross_group_retry: false,
            version: 0,
        }
    }

    #[test]
    fn names_are_trimmed_and_counted_in_characters() {
        assert_eq!(TokenName::parse("  prod  ").unwrap().as_str(), "prod");
        assert!(TokenName::parse(&"ü".repeat(50)).is_ok());
        assert_eq!(TokenName::parse(&"ü".repeat(51)), Err(NameInvalid::TooLong));
        assert_eq!(TokenName::parse(" \t "), Err(NameInvalid::Empty));
        assert_eq!(TokenName::parse("a\nb"), Err(NameInvalid::Control));
        assert_eq!(TokenName::parse("a\0b"), Err(NameInvalid::Control));
    }

    #[test]
    fn an_empty_patch_changes_nothing() {
        assert_eq!(token().edited(TokenPatch::default()), Ok(token()));
    }

    #[test]
    fn quota_stays_on_the_shelf_while_a_token_is_unlimited() {
        let patch = |unlimited_quota| TokenPatch { unlimited_quota, ..TokenPatch::default() };
        let unlimited = token().edited(patch(Some(true))).unwrap();
        assert!(unlimited.budget.is_unlimited());
        assert_eq!(unlimited.edited(patch(Some(false))), Ok(token()));
    }

    #[test]
    fn only_limited_tokens_have_a_range() {
        assert!(budget_of(-1, false).is_err());
        assert_eq!(budget_of(-1, true), Ok(Budget::Unlimited { shelved: Quota::ZERO }));
        let patch = TokenPatch { remain_quota: Some(i64::MAX), ..TokenPatch::default() };
        assert!(token().edited(patch).is_err());
    }

    #[test]
    fn retry_is_off_outside_the_group_auto() {
        let patch = TokenPatch { cross_group_retry: Some(true), ..TokenPatch::default() };
        assert!(!token().edited(patch.clone()).unwrap().cross_group_retry);
        let auto = TokenPatch { group: Some(Group::Auto), ..patch };
        let retrying = token().edited(auto).unwrap();
        assert!(retrying.cross_group_retry);
        let own = TokenPatch { group: Some(Group::Own), ..TokenPatch::default() };
        assert!(!retrying.edited(own).unwrap().cross_group_retry);
    }

    proptest! {
        #[test]
        fn an_edit_touches_only_what_it_names(remain in 0..=policy::MAX_QUOTA, enabled: bool) {
            let patch = TokenPatch {
                remain_quota: Some(remain),
                model_limits_enabled: Some(enabled),
                ..TokenPatch::default()
            };
            let edited = token().edited(patch).unwrap();
            let expected = Token {
                budget: Budget::Limited { remain: Quota::grant(remain).unwrap() },
                model_limits_enabled: enabled,
                ..token()
            };
            prop_assert_eq!(edited, expected);
        }
    }
}
