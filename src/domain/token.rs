//! The token and its changes (spec §2.1, §4.4, §4.5a).

use std::sync::Arc;

use super::account::{Account, Budget};
use super::bounds;
use super::group::Group;
use super::id::{TokenId, UserId};
use super::ip_allowlist::IpAllowlist;
use super::key::{ApiKey, KeyHint};
use super::model_limits::ModelLimits;
use super::money::{Quota, QuotaInvalid};
use super::period_limits::{PeriodLimits, PeriodLimitsPatch};
use super::rate_limits::{RateCounters, RateLimits, RateLimitsPatch};
use super::text::hides_something;
use super::time::{Lifetime, UnixTime};
use super::token_policy::TokenPolicy;

/// A token without its key, so that no list can leak one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    pub id: TokenId,
    /// The owner.
    pub user_id: UserId,
    pub key_hint: KeyHint,
    /// An import brought the key from another service.
    pub key_foreign: bool,
    pub name: TokenName,
    pub note: TokenNote,
    pub created_time: UnixTime,
    /// The time of the last charge; the creation time until then.
    pub accessed_time: UnixTime,
    /// Shared with the ledger's batches.
    pub policy: Arc<TokenPolicy>,
    pub account: Account,
    pub rate_limits: RateLimits,
    pub rate_counters: RateCounters,
}

/// What a gateway is told about the token of a key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenIdentity {
    pub id: TokenId,
    pub user_id: UserId,
    pub name: TokenName,
    /// The token's group, or its owner's if the token has none.
    pub group: String,
}

/// A token with its decrypted key: the answer to reading one by id and to creating one.
#[derive(Debug)]
pub struct TokenWithKey {
    pub token: Token,
    pub key: ApiKey,
}

/// A token with its owner's username, for administrators.
#[derive(Debug)]
pub struct OwnedToken {
    pub token: Token,
    pub username: String,
}

/// The change of a status-only update (spec §4.5b).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Switch {
    /// `status` 1.
    On,
    /// `status` 2.
    Off,
}

/// A `remain_quota` as requested. Its range is checked against the token it is for: for an unlimited token the number
/// is never spent, so that any is accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RequestedQuota(i64);

impl RequestedQuota {
    #[must_use]
    pub const fn new(units: i64) -> Self {
        Self(units)
    }

    /// The number as requested.
    #[must_use]
    pub const fn get(self) -> i64 {
        self.0
    }

    /// The budget of a token with this `remain_quota`. For an unlimited token a number out of range becomes 0.
    ///
    /// # Errors
    /// A limited token, and a number outside 0 to 1,000,000,000 × `QuotaPerUnit` (spec §8).
    pub fn budget(self, unlimited: bool) -> Result<Budget, QuotaInvalid> {
        match Quota::grant(self.0) {
            Ok(remain) => Ok(Budget::new(remain, unlimited)),
            Err(_) if unlimited => Ok(Budget::new(Quota::ZERO, true)),
            Err(invalid) => Err(invalid),
        }
    }
}

/// 1 to 50 characters, trimmed, without control or invisible characters (spec §8).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TokenName(String);

/// Why a name was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NameInvalid {
    /// Absent, or only white space.
    #[error("a token needs a `name` of 1 to {} characters", bounds::MAX_NAME_CHARS)]
    Empty,
    #[error("`name` has more than {} characters", bounds::MAX_NAME_CHARS)]
    TooLong,
    /// A line break, a tab, a NUL, a zero-width space and the like.
    #[error("`name` contains control or invisible characters")]
    Control,
}

impl TokenName {
    /// Trims, then counts characters, not bytes.
    ///
    /// # Errors
    /// See [`NameInvalid`].
    pub fn parse(text: &str) -> Result<Self, NameInvalid> {
        let name = text.trim();
        if name.is_empty() {
            return Err(NameInvalid::Empty);
        }
        if name.chars().any(char::is_control) || hides_something(name) {
            return Err(NameInvalid::Control);
        }
        if name.chars().count() > bounds::MAX_NAME_CHARS {
            return Err(NameInvalid::TooLong);
        }
        Ok(Self(name.to_owned()))
    }

    /// A name from the database. Only what cannot depend on the version of Unicode is checked again.
    ///
    /// # Errors
    /// See [`NameInvalid`].
    pub fn from_stored(name: String) -> Result<Self, NameInvalid> {
        match name.chars().count() {
            0 => Err(NameInvalid::Empty),
            chars if chars > bounds::MAX_NAME_CHARS => Err(NameInvalid::TooLong),
            _ => Ok(Self(name)),
        }
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The form that searches compare: lower case by Unicode's rules, the same under every locale of the database.
    #[must_use]
    pub fn folded(&self) -> String {
        self.0.to_lowercase()
    }
}

/// Free text for people, at most 500 characters. It may have lines.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenNote(String);

/// Why a note was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoteInvalid {
    #[error("`note` has more than {} characters", bounds::MAX_NOTE_CHARS)]
    TooLong,
    /// A control character other than a line break or a tab.
    #[error("`note` contains control characters; only line breaks and tabs are allowed")]
    Control,
}

impl TokenNote {
    /// Trims, then counts characters, not bytes.
    ///
    /// # Errors
    /// See [`NoteInvalid`].
    pub fn parse(text: &str) -> Result<Self, NoteInvalid> {
        let note = text.trim().replace("\r\n", "\n");
        if note.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
            return Err(NoteInvalid::Control);
        }
        if note.chars().count() > bounds::MAX_NOTE_CHARS {
            return Err(NoteInvalid::TooLong);
        }
        Ok(Self(note))
    }

    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A checked request to create a token (spec §4.4).
#[derive(Debug, Clone)]
pub struct NewToken {
    pub name: TokenName,
    pub note: TokenNote,
    pub policy: TokenPolicy,
    pub budget: Budget,
    pub period_limits: PeriodLimits,
    pub rate_limits: RateLimits,
}

/// A change of a token's `remain_quota`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum QuotaChange {
    /// `remain_quota` of the API. What is charged meanwhile is overwritten.
    Set(RequestedQuota),
    /// `add_quota` of the API; negative takes quota away. What is charged meanwhile still counts.
    Add(i64),
}

/// Why an edit was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EditRefused {
    #[error("`remain_quota` {0}")]
    Quota(#[from] QuotaInvalid),
    /// Holds what is left.
    #[error("the token has {0} quota units left, which is less than `add_quota` takes away")]
    Insufficient(i64),
    /// Holds what is left.
    #[error("the token has {0} quota units left; `add_quota` may not raise them above {max}", max = bounds::MAX_QUOTA)]
    TooMuch(i64),
}

/// A checked request to edit a token (spec §4.5a). Fields that are `None` keep their value.
#[derive(Debug, Clone, Default)]
pub struct TokenPatch {
    pub name: Option<TokenName>,
    pub note: Option<TokenNote>,
    pub lifetime: Option<Lifetime>,
    pub remain_quota: Option<QuotaChange>,
    pub unlimited_quota: Option<bool>,
    pub period_limits: PeriodLimitsPatch,
    pub rate_limits: RateLimitsPatch,
    pub model_limits_enabled: Option<bool>,
    pub model_limits: Option<ModelLimits>,
    pub allow_ips: Option<IpAllowlist>,
    pub group: Option<Group>,
    pub cross_group_retry: Option<bool>,
}

impl Token {
    /// This token after `patch` (spec §4.5a). The switch does not change.
    ///
    /// # Errors
    /// See [`EditRefused`].
    pub fn edited(self, patch: TokenPatch) -> Result<Self, EditRefused> {
        let unlimited = patch.unlimited_quota.unwrap_or(self.account.budget.is_unlimited());
        let remain = self.account.remain();
        let budget = match patch.remain_quota {
            Some(QuotaChange::Set(requested)) => requested.budget(unlimited)?,
            Some(QuotaChange::Add(units)) => Budget::new(added(remain, units)?, unlimited),
            None => Budget::new(remain, unlimited),
        };
        let policy = Arc::unwrap_or_clone(self.policy);
        let group = patch.group.unwrap_or(policy.group);
        let cross_group_retry = patch.cross_group_retry.unwrap_or(policy.cross_group_retry);
        Ok(Self {
            name: patch.name.unwrap_or(self.name),
            note: patch.note.unwrap_or(self.note),
            policy: Arc::new(TokenPolicy {
                lifetime: patch.lifetime.unwrap_or(policy.lifetime),
                model_limits_enabled: patch.model_limits_enabled.unwrap_or(policy.model_limits_enabled),
                model_limits: patch.model_limits.unwrap_or(policy.model_limits),
                allow_ips: patch.allow_ips.unwrap_or(policy.allow_ips),
                cross_group_retry: group.retry_allowed(cross_group_retry),
                group,
                disabled_by: policy.disabled_by,
                version: policy.version,
            }),
            account: Account {
                budget,
                period_limits: self.account.period_limits.edited(patch.period_limits),
                ..self.account
            },
            rate_limits: self.rate_limits.edited(patch.rate_limits),
            ..self
        })
    }
}

/// What is left after `add_quota`.
fn added(remain: Quota, units: i64) -> Result<Quota, EditRefused> {
    match remain.changed_by(units) {
        None if units.is_negative() => Err(EditRefused::Insufficient(remain.get())),
        Some(sum) if units <= 0 || sum.get() <= bounds::MAX_QUOTA => Ok(sum),
        Some(_) | None => Err(EditRefused::TooMuch(remain.get())),
    }
}

#[cfg(test)]
pub(super) mod tests {
    use crate::domain::cell::CellLabel;
    use proptest::prelude::*;
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;
    use crate::domain::limit_change::LimitChange;

    pub fn token() -> Token {
        Token {
            id: TokenId::new(1),
            user_id: UserId::new(1),
            key_hint: ApiKey::generate(&mut StdRng::seed_from_u64(1), CellLabel::default()).hint(),
            key_foreign: false,
            name: TokenName::parse("a token").unwrap(),
            note: TokenNote::default(),
            created_time: UnixTime::new(0),
            accessed_time: UnixTime::new(0),
            policy: Arc::default(),
            account: Account::new(Budget::new(Quota::grant(5).unwrap(), false)),
            rate_limits: RateLimits::default(),
            rate_counters: RateCounters::default(),
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
        assert_eq!(TokenName::parse("a\u{200b}b"), Err(NameInvalid::Control));
    }

    #[test]
    fn notes_are_trimmed_and_may_have_lines() {
        assert_eq!(TokenNote::parse("  first\r\nsecond\t ").unwrap().as_str(), "first\nsecond");
        assert_eq!(TokenNote::parse("").unwrap(), TokenNote::default());
        assert!(TokenNote::parse(&"ü".repeat(500)).is_ok());
        assert_eq!(TokenNote::parse(&"ü".repeat(501)), Err(NoteInvalid::TooLong));
        assert_eq!(TokenNote::parse("a\0b"), Err(NoteInvalid::Control));
    }

    #[test]
    fn an_empty_patch_changes_nothing() {
        assert_eq!(token().edited(TokenPatch::default()), Ok(token()));
    }

    #[test]
    fn remaining_quota_does_not_change_while_a_token_is_unlimited() {
        let patch = |unlimited_quota| TokenPatch { unlimited_quota, ..TokenPatch::default() };
        let unlimited = token().edited(patch(Some(true))).unwrap();
        assert!(unlimited.account.budget.is_unlimited());
        assert_eq!(unlimited.edited(patch(Some(false))), Ok(token()));
    }

    #[test]
    fn the_range_of_remain_quota_holds_for_limited_tokens_only() {
        assert!(RequestedQuota::new(-1).budget(false).is_err());
        assert_eq!(RequestedQuota::new(-1).budget(true), Ok(Budget::Unlimited { shelved: Quota::ZERO }));
        let set = Some(QuotaChange::Set(RequestedQuota::new(i64::MAX)));
        let patch = TokenPatch { remain_quota: set, ..TokenPatch::default() };
        assert_eq!(token().edited(patch), Err(EditRefused::Quota(QuotaInvalid)));
    }

    #[test]
    fn quota_is_added_to_what_is_left_within_the_range() {
        let after = |unlimited_quota, units| {
            let remain_quota = Some(QuotaChange::Add(units));
            let patch = TokenPatch { remain_quota, unlimited_quota, ..TokenPatch::default() };
            token().edited(patch).map(|token| (token.account.remain().get(), token.account.budget.is_unlimited()))
        };
        for unlimited in [None, Some(true)] {
            let is_unlimited = unlimited.is_some();
            for (units, remain) in [(0, 5), (7, 12), (-5, 0), (bounds::MAX_QUOTA - 5, bounds::MAX_QUOTA)] {
                assert_eq!(after(unlimited, units), Ok((remain, is_unlimited)), "{units}");
            }
            for units in [-6, i64::MIN] {
                assert_eq!(after(unlimited, units), Err(EditRefused::Insufficient(5)), "{units}");
            }
            for units in [bounds::MAX_QUOTA - 4, i64::MAX] {
                assert_eq!(after(unlimited, units), Err(EditRefused::TooMuch(5)), "{units}");
            }
        }
        let above = Quota::grant(bounds::MAX_QUOTA).unwrap().changed_by(9).unwrap();
        assert_eq!(added(above, -1).map(Quota::get), Ok(bounds::MAX_QUOTA + 8));
        assert_eq!(added(above, 1), Err(EditRefused::TooMuch(bounds::MAX_QUOTA + 9)));
    }

    #[test]
    fn retry_is_off_outside_the_group_auto() {
        let patch = TokenPatch { cross_group_retry: Some(true), ..TokenPatch::default() };
        assert!(!token().edited(patch.clone()).unwrap().policy.cross_group_retry);
        let auto = TokenPatch { group: Some(Group::Auto), ..patch };
        let retrying = token().edited(auto).unwrap();
        assert!(retrying.policy.cross_group_retry);
        let own = TokenPatch { group: Some(Group::Own), ..TokenPatch::default() };
        assert!(!retrying.edited(own).unwrap().policy.cross_group_retry);
    }

    #[test]
    fn a_patch_that_names_every_field_changes_every_field() {
        let three = Quota::grant(3).unwrap();
        let patch = TokenPatch {
            name: Some(TokenName::parse("another").unwrap()),
            note: Some(TokenNote::parse("a note").unwrap()),
            lifetime: Some(Lifetime::Until(UnixTime::new(9))),
            remain_quota: Some(QuotaChange::Set(RequestedQuota::new(7))),
            unlimited_quota: Some(true),
            model_limits_enabled: Some(true),
            model_limits: Some(ModelLimits::parse("gpt").unwrap()),
            allow_ips: Some(IpAllowlist::parse("10.0.0.1").unwrap()),
            group: Some(Group::Auto),
            cross_group_retry: Some(true),
            period_limits: PeriodLimitsPatch { day: LimitChange::Set(three), ..PeriodLimitsPatch::default() },
            rate_limits: RateLimitsPatch { concurrency: LimitChange::Set(4), ..RateLimitsPatch::default() },
        };
        let expected = Token {
            name: TokenName::parse("another").unwrap(),
            note: TokenNote::parse("a note").unwrap(),
            policy: Arc::new(TokenPolicy {
                lifetime: Lifetime::Until(UnixTime::new(9)),
                model_limits_enabled: true,
                model_limits: ModelLimits::parse("gpt").unwrap(),
                allow_ips: IpAllowlist::parse("10.0.0.1").unwrap(),
                group: Group::Auto,
                cross_group_retry: true,
                ..TokenPolicy::default()
            }),
            account: Account {
                period_limits: PeriodLimits { day: Some(three), ..PeriodLimits::default() },
                ..Account::new(Budget::Unlimited { shelved: Quota::grant(7).unwrap() })
            },
            rate_limits: RateLimits { concurrency: Some(4), ..RateLimits::default() },
            ..token()
        };
        assert_eq!(token().edited(patch), Ok(expected));
    }

    #[test]
    fn a_requested_quota_is_kept_as_it_was_sent() {
        assert_eq!([-7, 0, 7].map(|units| RequestedQuota::new(units).get()), [-7, 0, 7]);
    }

    #[test]
    fn a_stored_name_is_checked_for_its_length_only() {
        assert_eq!(TokenName::from_stored(String::new()), Err(NameInvalid::Empty));
        assert_eq!(TokenName::from_stored("a\u{200b}b".into()).unwrap().as_str(), "a\u{200b}b");
        assert!(TokenName::from_stored("ü".repeat(50)).is_ok());
        assert_eq!(TokenName::from_stored("ü".repeat(51)), Err(NameInvalid::TooLong));
        assert_eq!(TokenName::from_stored("ü".repeat(52)), Err(NameInvalid::TooLong));
    }

    #[test]
    fn searches_compare_names_in_lower_case() {
        assert_eq!(TokenName::parse("ÄPFEL Prod").unwrap().folded(), "äpfel prod");
    }

    proptest! {
        #[test]
        fn an_edit_touches_only_what_it_names(remain in 0..=bounds::MAX_QUOTA, enabled: bool) {
            let patch = TokenPatch {
                remain_quota: Some(QuotaChange::Set(RequestedQuota::new(remain))),
                model_limits_enabled: Some(enabled),
                ..TokenPatch::default()
            };
            let edited = token().edited(patch).unwrap();
            let expected = Token {
                account: Account::new(Budget::Limited { remain: Quota::grant(remain).unwrap() }),
                policy: Arc::new(TokenPolicy { model_limits_enabled: enabled, ..TokenPolicy::default() }),
                ..token()
            };
            prop_assert_eq!(edited, expected);
        }
    }
}
