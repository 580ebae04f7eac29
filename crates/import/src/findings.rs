//! What an import changes or leaves out, and why. Each kind has a stable name for the JSON report and a sentence for
//! people.

use std::fmt::{self, Display, Formatter};

use serde::Serialize;

/// Declares the findings: `Finding = "its name in the JSON report", "the line of the report for people";`.
macro_rules! findings {
    ($($Finding:ident = $name:literal, $meaning:literal;)+) => {
        /// One kind of oddity.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Finding {
            $($Finding,)+
        }

        impl Finding {
            /// The name in the JSON report.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Self::$Finding => $name,)+
                }
            }

            /// The line of the report for people.
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$Finding => $meaning,)+
                }
            }
        }
    };
}

findings! {
    // Accounts
    UsernameChanged = "username_changed",
    "usernames with characters that are not allowed here were changed; tell these people";
    UsernameTaken = "username_taken",
    "usernames that another account has got the account's id as a suffix; tell these people";
    RenamedThere = "renamed_there",
    "accounts were renamed there after an earlier import; here they keep the name that they have";
    RootReplaced = "root_replaced", "the untouched root account became this account, with its name and its password";
    NoPassword = "no_password", "accounts have no password that can be checked; set one with `keymeter user password`";
    PasswordTooCostly = "password_too_costly",
    "password hashes with a cost above 12 were not imported; these people get a new password, which only this report \
     shows, or keep that of the root account here";
    SecondFactor = "second_factor",
    "accounts had a second factor there, which is not moved; here they sign in with their password alone";
    EmailDropped = "email_dropped", "invalid e-mail addresses were dropped";
    RoleUnknown = "role_unknown", "accounts have an unknown role and became users";
    AdministratorImported = "administrator_imported",
    "accounts are administrators here, as they are there; look at each of them";
    AdministratorLowered = "administrator_lowered",
    "accounts are administrators there and became ordinary users, because ids are new (--keep-roles keeps roles)";
    KnownPassword = "known_password",
    "passwords that everyone knows were not imported; these people get a new one, which only this report shows, \
     or keep that of the root account here";
    UserStatusUnknown = "user_status_unknown", "accounts have an unknown status and were disabled";
    WalletDebt = "wallet_debt", "wallets were below zero and became 0";
    WalletCapped = "wallet_capped", "wallets were above the maximum and became the maximum";
    UserUsedCapped = "user_used_capped", "used quotas of accounts were outside the range and were limited to it";
    UserIdTaken = "user_id_taken", "accounts got another id, because theirs is taken; their clients send the new one";
    AccessTokenSkipped = "access_token_skipped", "access tokens were left out, because they are too short or taken";
    // Tokens
    KeyInvalid = "key_invalid", "keys were left out: they are not 16 to 128 letters, digits and `_`";
    KeyTaken = "key_taken", "keys were left out: they exist here or twice there";
    SwitchedOff = "switched_off",
    "keys were disabled: the other service refuses them, and neither expiry nor quota is the reason";
    Revived = "revived", "keys that the other service refuses without a reason were enabled (--revive)";
    ExpiredFromTheStart = "expired_from_the_start",
    "keys with an expiry time of 0 or below are expired, as they are there";
    ExpiryBeyondCalendar = "expiry_beyond_calendar",
    "keys with an expiry time after the year 9999 (in milliseconds, mostly) never expire, as they do not there";
    TokenDebt = "token_debt", "remaining quotas were below zero and became 0";
    TokenCapped = "token_capped", "remaining quotas were above the maximum and became the maximum";
    TokenUsedCapped = "token_used_capped", "used quotas of keys were outside the range and were limited to it";
    TokenNameChanged = "token_name_changed",
    "names of keys were empty, too long or had hidden characters, and were changed";
    ModelsDropped = "models_dropped", "lists of models had entries that are not allowed here, which were dropped";
    ModelStars = "model_stars",
    "lists of models have entries with `*` that match nothing there, and nothing here (`\\*`); patterns are possible";
    IpsDropped = "ips_dropped", "lists of IP addresses had invalid entries, which were dropped";
    NoIpLeft = "no_ip_left", "keys were disabled, because no entry of their list of addresses is valid";
    GroupNotOpen = "group_not_open", "keys have a group that is not open to their owner; open it, or they are refused";
    TokenIdTaken = "token_id_taken", "keys got another id, because theirs is taken";
    IdOutOfRange = "id_out_of_range", "accounts and keys got another id, because theirs is not between 1 and 2^39 - 1";
    // History
    UsageBelowZero = "usage_below_zero", "days with more refunds than consumption count as 0";
    UsageModelCut = "usage_model_cut", "names of models in the history are too long and were cut";
    // Left out
    UserDeleted = "user_deleted", "accounts are deleted there and were left out";
    UserGone = "user_gone", "accounts were deleted here after an earlier import; nothing was added to them";
    TokenDeleted = "token_deleted", "keys are deleted there and were left out";
    TokenOrphaned = "token_orphaned", "keys of accounts that are not moved were left out";
    UsageOrphaned = "usage_orphaned", "days of usage belong to no key that was moved; they count for the account only";
    LinkedIdentity = "linked_identity", "accounts have links to other identity providers, which were left out";
    AffiliateQuota = "affiliate_quota", "accounts have affiliate quota, which is not moved";
    RestrictionLost = "restriction_lost",
    "columns look like restrictions and are not read, so what they forbid there is open here";
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
