//! What a report or a list of requests is about, and who asks for it.

use super::id::{TokenId, UserId};

/// All users, one of them, or a token. Deleted ones included.
#[derive(Debug, Clone, Copy)]
pub enum Scope {
    Everyone,
    /// All tokens of a user.
    User(UserId),
    Token(TokenId),
}

impl Scope {
    /// The user or the token; both are `None` for all users.
    pub const fn ids(self) -> (Option<UserId>, Option<TokenId>) {
        match self {
            Self::Everyone => (None, None),
            Self::User(user) => (Some(user), None),
            Self::Token(token) => (None, Some(token)),
        }
    }
}

/// Who asks for a report or a list, and for which part of what they may see.
#[derive(Debug, Clone, Copy)]
pub enum Viewer {
    /// A user asks for all their tokens, or for one of them.
    Owner(UserId, Option<TokenId>),
    /// An administrator asks for anything.
    Admin(UserId, Scope),
}

impl Viewer {
    /// Who asks.
    pub const fn user(self) -> UserId {
        match self {
            Self::Owner(user, _) | Self::Admin(user, _) => user,
        }
    }
}
