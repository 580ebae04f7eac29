//! The tokens that one call is for: named by their ids, or all that match as a list does (spec §15.4).

use super::{BulkError, BulkPlace, Tokens, TokensError};
use crate::domain::bounds;
use crate::domain::id::{TokenId, UserId};
use crate::domain::page::PageRequest;
use crate::domain::search::SearchPattern;
use crate::domain::token::Token;
use crate::domain::token_listing::TokenListing;
use crate::storage::tokens;

/// Which tokens a call is for.
#[derive(Debug)]
pub enum ChosenTokens {
    /// These, ascending, each once.
    Ids(Vec<TokenId>),
    /// All that a list with this name and these filters shows now.
    Matching { name: Option<SearchPattern>, listing: TokenListing },
}

impl Tokens {
    /// The chosen tokens of `owner`, or of all users, by their ids, ascending.
    ///
    /// # Errors
    /// One of the ids is not that of such a token; more than [`bounds::MAX_LISTED_TOKENS`] match, or not all could be
    /// looked at; the database.
    pub(super) async fn choose(&self, owner: Option<UserId>, chosen: &ChosenTokens) -> Result<Vec<Token>, BulkError> {
        match chosen {
            ChosenTokens::Ids(ids) => {
                let mut conn = self.core.db.acquire().await?;
                let mut found = tokens::list_by_ids(&mut conn, ids).await?;
                found.retain(|_, token| owner.is_none_or(|owner| token.user_id == owner));
                match ids.iter().find(|id| !found.contains_key(id)) {
                    Some(id) => Err(BulkPlace::Id(*id).of()(TokensError::NotFound)),
                    None => Ok(found.into_values().collect()),
                }
            }
            ChosenTokens::Matching { name, listing } => {
                let all = PageRequest::first(bounds::MAX_LISTED_TOKENS);
                let found = self.read_list(owner, name.as_ref(), listing, all).await?;
                let mut items = found.page.items;
                if found.is_truncated || i64::try_from(items.len()).is_ok_and(|count| count < found.page.total) {
                    return Err(TokensError::TooManyMatch.into());
                }
                items.sort_by_key(|token| token.id);
                Ok(items)
            }
        }
    }
}
