//! What an import changes or leaves out, and why. Each kind has a stable name for the JSON report and a sentence for
//! people.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

/// One kind of oddity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Finding {
    // Accounts
    UsernameChanged,
    UsernameTaken,
    RenamedThere,
    RootReplaced,
    NoPassword,
    PasswordTooCostly,
    SecondFactor,
    EmailDropped,
    RoleUnknown,
    AdministratorImported,
    AdministratorLowered,
    KnownPassword,
    UserStatusUnknown,
    WalletDebt,
    WalletCapped,
    UserUsedCapped,
    UserIdTaken,
    AccessTokenSkipped,
    // Tokens
    KeyInvalid,
    KeyTaken,
    SwitchedOff,
    Revived,
    ExpiredFromTheStart,
    ExpiryBeyondCalendar,
    TokenDebt,
    TokenCapped,
    TokenUsedCapped,
    TokenNameChanged,
    ModelsDropped,
    ModelStars,
    IpsDropped,
    NoIpLeft,
    GroupNotOpen,
    TokenIdTaken,
    IdOutOfRange,
    // History
    UsageBelowZero,
    UsageModelCut,
    // Left out
    UserDeleted,
    UserGone,
    TokenDeleted,
    TokenOrphaned,
    UsageOrphaned,
    LinkedIdentity,
    AffiliateQuota,
    RestrictionLost,
}

impl Finding {
    /// The name in the JSON report.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UsernameChanged => "username_changed",
            Self::UsernameTaken => "username_taken",
            Self::RenamedThere => "renamed_there",
            Self::RootReplaced => "root_replaced",
            Self::NoPassword => "no_password",
            Self::PasswordTooCostly => "password_too_costly",
            Self::SecondFactor => "second_factor",
            Self::EmailDropped => "email_dropped",
            Self::RoleUnknown => "role_unknown",
            Self::AdministratorImported => "administrator_imported",
            Self::AdministratorLowered => "administrator_lowered",
            Self::KnownPassword => "known_password",
            Self::UserStatusUnknown => "user_status_unknown",
            Self::WalletDebt => "wallet_debt",
            Self::WalletCapped => "wallet_capped",
            Self::UserUsedCapped => "user_used_capped",
            Self::UserIdTaken => "user_id_taken",
            Self::AccessTokenSkipped => "access_token_skipped",
            Self::KeyInvalid => "key_invalid",
            Self::KeyTaken => "key_taken",
            Self::SwitchedOff => "switched_off",
            Self::Revived => "revived",
            Self::ExpiredFromTheStart => "expired_from_the_start",
            Self::ExpiryBeyondCalendar => "expiry_beyond_calendar",
            Self::TokenDebt => "token_debt",
            Self::TokenCapped => "token_capped",
            Self::TokenUsedCapped => "token_used_capped",
            Self::TokenNameChanged => "token_name_changed",
            Self::ModelsDropped => "models_dropped",
            Self::ModelStars => "model_stars",
            Self::IpsDropped => "ips_dropped",
            Self::NoIpLeft => "no_ip_left",
            Self::GroupNotOpen => "group_not_open",
            Self::TokenIdTaken => "token_id_taken",
            Self::IdOutOfRange => "id_out_of_range",
            Self::UsageBelowZero => "usage_below_zero",
            Self::UsageModelCut => "usage_model_cut",
            Self::UserDeleted => "user_deleted",
            Self::UserGone => "user_gone",
            Self::TokenDeleted => "token_deleted",
            Self::TokenOrphaned => "token_orphaned",
            Self::UsageOrphaned => "usage_orphaned",
            Self::LinkedIdentity => "linked_identity",
            Self::AffiliateQuota => "affiliate_quota",
            Self::RestrictionLost => "restriction_lost",
        }
    }

    /// The line of the report for people.
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::UsernameChanged => {
                "usernames with characters that are not allowed here were changed; tell these people"
            }
            Self::UsernameTaken => {
                "usernames that another account has got the account's id as a suffix; tell these people"
            }
            Self::RenamedThere => {
                "accounts were renamed there after an earlier import; here they keep the name that they have"
            }
            Self::RootReplaced => "the untouched root account became this account, with its name and its password",
            Self::NoPassword => "accounts have no password that can be checked; set one with `keymeter user password`",
            Self::PasswordTooCostly => {
                "password hashes with a cost above 12 were not imported; these people get a new password, which only this report \
                 shows, or keep that of the root account here"
            }
            Self::SecondFactor => {
                "accounts had a second factor there, which is not moved; here they sign in with their password alone"
            }
            Self::EmailDropped => "invalid e-mail addresses were dropped",
            Self::RoleUnknown => "accounts have an unknown role and became users",
            Self::AdministratorImported => "accounts are administrators here, as they are there; look at each of them",
            Self::AdministratorLowered => {
                "accounts are administrators there and became ordinary users, because ids are new (--keep-roles keeps roles)"
            }
            Self::KnownPassword => {
                "passwords that everyone knows were not imported; these people get a new one, which only this report shows, \
                 or keep that of the root account here"
            }
            Self::UserStatusUnknown => "accounts have an unknown status and were disabled",
            Self::WalletDebt => "wallets were below zero and became 0",
            Self::WalletCapped => "wallets were above the maximum and became the maximum",
            Self::UserUsedCapped => "used quotas of accounts were outside the range and were limited to it",
            Self::UserIdTaken => "accounts got another id, because theirs is taken; their clients send the new one",
            Self::AccessTokenSkipped => "access tokens were left out, because they are too short or taken",
            Self::KeyInvalid => "keys were left out: they are not 16 to 128 letters, digits and `_`",
            Self::KeyTaken => "keys were left out: they exist here or twice there",
            Self::SwitchedOff => {
                "keys were disabled: the other service refuses them, and neither expiry nor quota is the reason"
            }
            Self::Revived => "keys that the other service refuses without a reason were enabled (--revive)",
            Self::ExpiredFromTheStart => "keys with an expiry time of 0 or below are expired, as they are there",
            Self::ExpiryBeyondCalendar => {
                "keys with an expiry time after the year 9999 (in milliseconds, mostly) never expire, as they do not there"
            }
            Self::TokenDebt => "remaining quotas were below zero and became 0",
            Self::TokenCapped => "remaining quotas were above the maximum and became the maximum",
            Self::TokenUsedCapped => "used quotas of keys were outside the range and were limited to it",
            Self::TokenNameChanged => "names of keys were empty, too long or had hidden characters, and were changed",
            Self::ModelsDropped => "lists of models had entries that are not allowed here, which were dropped",
            Self::ModelStars => {
                "lists of models have entries with `*` that match nothing there, and nothing here (`\\*`); patterns are possible"
            }
            Self::IpsDropped => "lists of IP addresses had invalid entries, which were dropped",
            Self::NoIpLeft => "keys were disabled, because no entry of their list of addresses is valid",
            Self::GroupNotOpen => "keys have a group that is not open to their owner; open it, or they are refused",
            Self::TokenIdTaken => "keys got another id, because theirs is taken",
            Self::IdOutOfRange => "accounts and keys got another id, because theirs is not between 1 and 2^39 - 1",
            Self::UsageBelowZero => "days with more refunds than consumption count as 0",
            Self::UsageModelCut => "names of models in the history are too long and were cut",
            Self::UserDeleted => "accounts are deleted there and were left out",
            Self::UserGone => "accounts were deleted here after an earlier import; nothing was added to them",
            Self::TokenDeleted => "keys are deleted there and were left out",
            Self::TokenOrphaned => "keys of accounts that are not moved were left out",
            Self::UsageOrphaned => "days of usage belong to no key that was moved; they count for the account only",
            Self::LinkedIdentity => "accounts have links to other identity providers, which were left out",
            Self::AffiliateQuota => "accounts have affiliate quota, which is not moved",
            Self::RestrictionLost => {
                "columns look like restrictions and are not read, so what they forbid there is open here"
            }
        }
    }
}

/// A finding about one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundInRow {
    pub finding: Finding,
    pub detail: Option<Detail>,
}

/// What exactly was found. Never a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Detail {
    /// A text there, and what it became here.
    Changed { from: String, to: String },
    /// A text there, such as a group, or the entries of a list that were dropped.
    Text { text: String },
    /// An account by its name here, and its role there.
    Account { username: String, role: i64 },
    /// A role there.
    Role { role: i64 },
    /// A status there.
    Status { status: i64 },
    /// An expiry time there.
    Expiry { expired_time: i64 },
    /// The length of a key, in characters.
    Length { length: usize },
    /// How many entries of a list were dropped.
    Dropped { dropped: usize, of: usize },
    /// Quota units, on a day or in all.
    Quota {
        quota: i64,
        #[serde(skip_serializing_if = "Option::is_none")]
        day: Option<String>,
    },
    /// A day, such as `2026-03-10`.
    Day { day: String },
    /// A column there, and how many rows have a value in it.
    Rows { name: String, rows: i64 },
}

impl FoundInRow {
    pub const fn new(finding: Finding, detail: Detail) -> Self {
        Self { finding, detail: Some(detail) }
    }

    /// A finding about an amount, in quota units.
    pub const fn quota(finding: Finding, quota: i64) -> Self {
        Self::new(finding, Detail::Quota { quota, day: None })
    }

    /// Quota units, 0 for findings that are not about an amount.
    pub const fn amount(&self) -> i64 {
        match self.detail {
            Some(Detail::Quota { quota, .. }) => quota,
            _ => 0,
        }
    }
}

impl From<Finding> for FoundInRow {
    fn from(finding: Finding) -> Self {
        Self { finding, detail: None }
    }
}

impl Detail {
    pub fn changed(from: &str, to: &str) -> Self {
        Self::Changed { from: shortened(from), to: shortened(to) }
    }

    pub fn text(text: impl AsRef<str>) -> Self {
        Self::Text { text: shortened(text.as_ref()) }
    }
}

/// Characters of a text that the report repeats.
const MAX_DETAIL_CHARS: usize = 200;

fn shortened(text: &str) -> String {
    if text.chars().nth(MAX_DETAIL_CHARS).is_none() {
        return text.to_owned();
    }
    text.chars().take(MAX_DETAIL_CHARS).chain(['…']).collect()
}

impl Display for Detail {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Changed { from, to } => write!(out, "{from:?} became {to:?}"),
            Self::Text { text } => out.write_str(text),
            Self::Account { username, role } => write!(out, "{username}, role {role}"),
            Self::Role { role } => write!(out, "role {role}"),
            Self::Status { status } => write!(out, "status {status}"),
            Self::Expiry { expired_time } => write!(out, "expiry time {expired_time}"),
            Self::Length { length } => write!(out, "{length} characters"),
            Self::Dropped { dropped, of } => write!(out, "{dropped} of {of}"),
            Self::Quota { quota, day: None } => write!(out, "{quota}"),
            Self::Quota { quota, day: Some(day) } => write!(out, "{quota} on {day}"),
            Self::Day { day } => out.write_str(day),
            Self::Rows { name, rows } => write!(out, "{name}, rows: {rows}"),
        }
    }
}
