//! Single charges, as those who paid them read them.

use super::group::Group;
use super::id::TokenId;
use super::money::Quota;
use super::time::UnixTime;
use super::token::TokenName;

/// A charge and the token that it belongs to, which may be deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PastCharge {
    pub id: i64,
    pub at: UnixTime,
    pub token_id: TokenId,
    pub token_name: TokenName,
    /// The token's group now.
    pub group: Group,
    pub model: String,
    pub quota: Quota,
    pub prompt_tokens: i64,
    pub completion_tokens: i64,
}

/// Which charges of a user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChargeFilter {
    /// The first second, included.
    pub from: UnixTime,
    /// The last second, included.
    pub to: UnixTime,
    /// Only those of tokens with exactly this name.
    pub token_name: Option<String>,
    /// Only those of exactly this model.
    pub model: Option<String>,
}

impl ChargeFilter {
    /// All charges.
    pub const EVERYTHING: Self = Self { from: UnixTime::FIRST, to: UnixTime::LAST, token_name: None, model: None };
}

/// What a user spent in a range, and in the last minute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spend {
    /// The sum of the range.
    pub quota: Quota,
    /// Charges of the last minute.
    pub requests_per_minute: i64,
    /// Input and output tokens of the last minute.
    pub tokens_per_minute: i64,
}
