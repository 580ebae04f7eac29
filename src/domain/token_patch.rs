//! An edit of a token (spec §4.5a).

use std::sync::Arc;

use super::account::{Account, Budget};
use super::audit_changes::FieldChanges;
use super::bounds;
use super::group::Group;
use super::ip_allowlist::IpAllowlist;
use super::model_limits::ModelLimits;
use super::money::{Quota, QuotaInvalid};
use super::period_limits::PeriodLimitsPatch;
use super::rate_limits::{RateLimits, RateLimitsPatch};
use super::time::Lifetime;
use super::token::{RequestedQuota, Token, TokenName, TokenNote};
use super::token_policy::TokenPolicy;

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
pub enum EditError {
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
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TokenPatch {
    pub name: Option<TokenName>,
    pub note: Option<TokenNote>,
    pub show_addresses: Option<bool>,
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

/// A checked request to create a token (spec §4.4).
#[derive(Debug, Clone)]
pub struct NewToken {
    pub name: TokenName,
    /// The other fields. Those that are `None` stay empty.
    pub fields: TokenPatch,
}

impl Token {
    /// This token after `patch` (spec §4.5a). The switch does not change.
    ///
    /// # Errors
    /// See [`EditError`].
    pub fn edited(self, patch: TokenPatch) -> Result<Self, EditError> {
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
            show_addresses: patch.show_addresses.unwrap_or(self.show_addresses),
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

    /// The changes from `old` to this token, for the audit log.
    pub fn changes_since(&self, old: &Self) -> FieldChanges {
        // Without `..`, so that a new field cannot be left out.
        let Token {
            id: _,
            user_id: _,
            key_hint: _,
            key_foreign: _,
            name,
            note,
            show_addresses,
            created_time: _,
            accessed_time: _,
            policy,
            account: Account { budget, used: _, held: _, period_limits, period_counters: _ },
            rate_limits: RateLimits { requests_per_minute, tokens_per_minute, concurrency },
            rate_counters: _,
        } = self;
        let TokenPolicy {
            version: _,
            disabled_by: _,
            lifetime,
            model_limits_enabled,
            model_limits,
            allow_ips,
            group,
            cross_group_retry,
        } = &**policy;
        let (old_policy, old_rates) = (&old.policy, &old.rate_limits);
        let mut changes = FieldChanges::default();
        changes.value("name", (&old.name, name), |name| name.as_str().to_owned());
        changes.value("note", (&old.note, note), |note| note.as_str().to_owned());
        changes.value("show_addresses", (&old.show_addresses, show_addresses), bool::to_string);
        changes.value("expired_time", (&old_policy.lifetime, lifetime), |time| time.expired_time().to_string());
        let remain = (&old.account.budget.remain(), &budget.remain());
        changes.value("remain_quota", remain, |remain| remain.get().to_string());
        let unlimited = (&old.account.budget.is_unlimited(), &budget.is_unlimited());
        changes.value("unlimited_quota", unlimited, bool::to_string);
        changes.period_limits(&old.account.period_limits, period_limits);
        for (field, old, new) in [
            ("rate_limits.requests_per_minute", old_rates.requests_per_minute, requests_per_minute),
            ("rate_limits.tokens_per_minute", old_rates.tokens_per_minute, tokens_per_minute),
            ("rate_limits.concurrency", old_rates.concurrency, concurrency),
        ] {
            changes.optional(field, (old.as_ref(), new.as_ref()), i64::to_string);
        }
        let enabled = (&old_policy.model_limits_enabled, model_limits_enabled);
        changes.value("model_limits_enabled", enabled, bool::to_string);
        changes.value("group", (&old_policy.group, group), |group| group.as_str().to_owned());
        changes.value("cross_group_retry", (&old_policy.cross_group_retry, cross_group_retry), bool::to_string);
        changes.list("model_limits", old_policy.model_limits.names(), model_limits.names());
        changes.list("allow_ips", old_policy.allow_ips.entries(), allow_ips.entries());
        changes
    }
}

/// What is left after `add_quota`.
fn added(remain: Quota, units: i64) -> Result<Quota, EditError> {
    match remain.changed_by(units) {
        None if units.is_negative() => Err(EditError::Insufficient(remain.get())),
        Some(sum) if units <= 0 || sum.get() <= bounds::MAX_QUOTA => Ok(sum),
        Some(_) | None => Err(EditError::TooMuch(remain.get())),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::domain::audit_changes::FieldChange;
    use crate::domain::limit_change::LimitChange;
    use crate::domain::time::UnixTime;
    use crate::domain::token::tests::token;

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
        assert_eq!(token().edited(patch), Err(EditError::Quota(QuotaInvalid)));
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
                assert_eq!(after(unlimited, units), Err(EditError::Insufficient(5)), "{units}");
            }
            for units in [bounds::MAX_QUOTA - 4, i64::MAX] {
                assert_eq!(after(unlimited, units), Err(EditError::TooMuch(5)), "{units}");
            }
        }
        let above = Quota::grant(bounds::MAX_QUOTA).unwrap().changed_by(9).unwrap();
        assert_eq!(added(above, -1).map(Quota::get), Ok(bounds::MAX_QUOTA + 8));
        assert_eq!(added(above, 1), Err(EditError::TooMuch(bounds::MAX_QUOTA + 9)));
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
            show_addresses: Some(true),
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
        let edited = token().edited(patch).unwrap();
        let changes = edited.changes_since(&token());
        let text = |change: &FieldChange| {
            let FieldChange { field, old, new, added, removed, left_out } = change;
            let text = |text: &Option<String>| text.clone().unwrap_or_default();
            assert_eq!((removed.len(), *left_out), (0, 0));
            (field.clone(), text(old), text(new) + &added.join(","))
        };
        let changes: Vec<_> = changes.into_vec().iter().map(text).collect();
        let expected = [
            ("name", "a token", "another"),
            ("note", "", "a note"),
            ("show_addresses", "false", "true"),
            ("expired_time", "-1", "9"),
            ("remain_quota", "5", "7"),
            ("unlimited_quota", "false", "true"),
            ("period_limits.day", "", "3"),
            ("rate_limits.concurrency", "", "4"),
            ("model_limits_enabled", "false", "true"),
            ("group", "", "auto"),
            ("cross_group_retry", "false", "true"),
            ("model_limits", "", "gpt"),
            ("allow_ips", "", "10.0.0.1"),
        ];
        assert_eq!(changes, expected.map(|(field, old, new)| (field.to_owned(), old.to_owned(), new.to_owned())));
        assert_eq!(token().changes_since(&token()), FieldChanges::default());
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
