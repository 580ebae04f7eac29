//! The token (spec §2.1, §4.4).

use std::sync::Arc;

use super::account::{Account, Budget};
use super::bounds;
use super::id::{TokenId, UserId};
use super::key::{ApiKey, KeyHint};
use super::money::{Quota, QuotaInvalid};
use super::rate_limits::{RateCounters, RateLimits};
use super::text::hides_something;
use super::time::UnixTime;
use super::token_policy::TokenPolicy;
use super::user::User;

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
    /// Users of the key see the addresses of its requests.
    pub show_addresses: bool,
    pub created_time: UnixTime,
    /// The time of the last charge; the creation time until then.
    pub accessed_time: UnixTime,
    /// Shared with the ledger's batches.
    pub policy: Arc<TokenPolicy>,
    pub account: Account,
    pub rate_limits: RateLimits,
    pub rate_counters: RateCounters,
}

impl Token {
    /// A token with empty fields. Creation is an edit of it.
    pub fn empty(id: TokenId, user_id: UserId, key_hint: KeyHint, name: TokenName, now: UnixTime) -> Self {
        Self {
            id,
            user_id,
            key_hint,
            key_foreign: false,
            name,
            note: TokenNote::default(),
            show_addresses: false,
            created_time: now,
            accessed_time: now,
            policy: Arc::default(),
            account: Account::new(Budget::Limited { remain: Quota::ZERO }),
            rate_limits: RateLimits::default(),
            rate_counters: RateCounters::default(),
        }
    }
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

/// A token that was deleted and can be restored.
#[derive(Debug)]
pub struct DeletedToken {
    pub token: Token,
    pub deleted_time: UnixTime,
}

/// A token with its owner, for administrators.
#[derive(Debug)]
pub struct OwnedToken {
    pub token: Token,
    pub owner: User,
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
    pub const fn new(units: i64) -> Self {
        Self(units)
    }

    /// The number as requested.
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

    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The form that searches compare: lower case by Unicode's rules, the same under every locale of the database.
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

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
pub(super) mod tests {
    use crate::domain::cell::CellLabel;
    use rand::{SeedableRng, rngs::StdRng};

    use super::*;

    pub fn token() -> Token {
        let key_hint = ApiKey::generate(&mut StdRng::seed_from_u64(1), CellLabel::default()).hint();
        let name = TokenName::parse("a token").unwrap();
        let empty = Token::empty(TokenId::new(1), UserId::new(1), key_hint, name, UnixTime::new(0));
        Token { account: Account::new(Budget::new(Quota::grant(5).unwrap(), false)), ..empty }
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
}
