//! What the answers of several calls share.

use serde::Serialize;
use utoipa::ToSchema;

use crate::domain::token::TokenIdentity;

/// The token of the key.
#[derive(Debug, Serialize, ToSchema)]
pub struct TokenIdentityBody {
    /// The token's id.
    token_id: i64,
    /// The id of the token's owner.
    user_id: i64,
    /// The token's name.
    name: String,
    /// The token's group, or its owner's if the token has none.
    group: String,
}

impl From<TokenIdentity> for TokenIdentityBody {
    fn from(token: TokenIdentity) -> Self {
        let TokenIdentity { id, user_id, name, group } = token;
        Self { token_id: id.get(), user_id: user_id.get(), name: name.as_str().to_owned(), group }
    }
}
