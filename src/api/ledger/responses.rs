//! What the answers of several calls share.

use serde::Serialize;
use utoipa::ToSchema;

use crate::domain::prices::priced_by::{HoldReason, PricedBy};
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

/// What decided the amount of a charge.
#[derive(Debug, Serialize, ToSchema)]
pub struct PricedByBody {
    /// `units`: what was counted, and the price list; `told`: the amount that was sent; `hold`: the hold of the
    /// reservation, because no other amount was known.
    priced_by: &'static str,
    /// Why it was the hold: `model_not_priced`, `invalid_count`, `invalid_usage`, `nothing_used`, `no_input` (the
    /// reservation named some) or `expired`.
    #[serde(skip_serializing_if = "Option::is_none")]
    hold_reason: Option<&'static str>,
}

impl From<PricedBy> for PricedByBody {
    fn from(priced_by: PricedBy) -> Self {
        Self { priced_by: priced_by.as_str(), hold_reason: priced_by.hold_reason().map(HoldReason::as_str) }
    }
}
