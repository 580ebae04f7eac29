//! A token without what can be long.

use super::attention::Attention;
use super::calendar::Moment;
use super::group::Groups;
use super::id::{TokenId, UserId};
use super::ledger::KeyState;
use super::status::Status;
use super::time::UnixTime;
use super::token::Token;
use super::user::User;

/// A token whose lists and note were not read: enough for its state. An owner may have thousands, with 16 KiB of lists
/// each.
#[derive(Debug)]
pub struct TokenSummary(Token);

impl TokenSummary {
    /// `token` may have been read with empty lists.
    pub const fn new(token: Token) -> Self {
        Self(token)
    }

    pub const fn id(&self) -> TokenId {
        self.0.id
    }

    /// The owner.
    pub const fn user_id(&self) -> UserId {
        self.0.user_id
    }

    /// As [`Token::status`].
    pub fn status(&self, now: UnixTime) -> Status {
        self.0.status(now)
    }

    /// As [`Token::state`].
    pub fn state(&self, owner: &User, groups: &Groups, at: &Moment) -> KeyState {
        self.0.state(owner, groups, at)
    }

    /// As [`Token::attention`].
    pub fn attention(&self, owner: &User, groups: &Groups, at: &Moment) -> Option<Attention> {
        self.0.attention(owner, groups, at)
    }
}
