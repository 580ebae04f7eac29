//! What a report or a list of requests is about.

use super::id::{TokenId, UserId};

/// All users, one of them, or a token. Deleted ones included.
#[derive(Debug, Clone, Copy)]
pub enum Scope {
    Everyone,
    /// All tokens of a user.
    User(UserId),
    Token(TokenId),
}
