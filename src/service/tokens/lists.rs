//! Lists and searches of a user's own tokens (spec §4.1, §4.2, §13.1).

use super::{Tokens, TokensError};
use crate::domain::caller::Caller;
use crate::domain::id::{TokenId, UserId};
use crate::domain::key::ApiKey;
use crate::domain::page::{Page, PageRequest};
use crate::domain::search::SearchPattern;
use crate::domain::token::Token;
use crate::domain::token_listing::TokenListing;
use crate::storage::tokens::Listed;
use crate::storage::{Conn, keys, tokens};

/// The pattern that every name matches.
pub(super) const ANY: &str = "%";

/// What to search for (spec §4.2). If both are `None`, all tokens match.
#[derive(Debug)]
pub struct Search {
    pub name: Option<SearchPattern>,
    pub key: Option<KeySearch>,
}

#[derive(Debug)]
pub enum KeySearch {
    /// Looked up by its digest.
    Whole(ApiKey),
    /// Compared with all of the owner's keys, which are decrypted for that. The token limit bounds their number.
    Part(SearchPattern),
}

impl Tokens {
    /// One of the caller's tokens, without its key.
    ///
    /// # Errors
    /// The token is not the caller's; the database.
    pub async fn show(&self, caller: &Caller, id: TokenId) -> Result<Token, TokensError> {
        let mut conn = self.db.acquire().await?;
        tokens::find(&mut conn, caller.user.id, id).await?.ok_or(TokensError::NotFound)
    }

    /// A page of the caller's tokens (spec §4.1).
    ///
    /// # Errors
    /// The database.
    pub async fn list(
        &self,
        caller: &Caller,
        listing: &TokenListing,
        page: PageRequest,
    ) -> Result<Page<Token>, TokensError> {
        let mut conn = self.db.acquire().await?;
        self.list_of(&mut conn, caller.user.id, ANY, listing, page).await
    }

    /// A page of the caller's tokens that match (spec §4.2). Counts against the caller's search limit.
    ///
    /// # Errors
    /// Too many searches; the database.
    pub async fn search(
        &self,
        caller: &Caller,
        search: Search,
        listing: &TokenListing,
        page: PageRequest,
    ) -> Result<Page<Token>, TokensError> {
        let owner = caller.user.id;
        self.rate_limiter.may_search(owner)?;
        let like = search.name.as_ref().map_or_else(|| ANY.to_owned(), SearchPattern::like);
        let mut conn = self.db.acquire().await?;
        let ids: Vec<TokenId> = match search.key {
            None => return self.list_of(&mut conn, owner, &like, listing, page).await,
            Some(KeySearch::Whole(key)) => {
                let found = keys::find_by_key(&mut conn, &self.vault.digest(&key)).await?;
                found.into_iter().filter(|token| token.user_id == owner).map(|token| token.id).collect()
            }
            Some(KeySearch::Part(part)) => {
                let mut found = Vec::new();
                for (id, digest, sealed) in keys::list_sealed_keys_like(&mut conn, owner, &like).await? {
                    if part.matches_key(&self.vault.open(&digest, &sealed)?) {
                        found.push(id);
                    }
                }
                found
            }
        };
        let what = Listed { like: &like, listing, now: self.clock.now() };
        Ok(tokens::list_listed_among(&mut conn, &ids, what, page).await?)
    }

    /// A page of one user's tokens.
    pub(super) async fn list_of(
        &self,
        conn: &mut Conn,
        owner: UserId,
        like: &str,
        listing: &TokenListing,
        page: PageRequest,
    ) -> Result<Page<Token>, TokensError> {
        if like == ANY && listing.is_default() {
            return Ok(tokens::list(conn, owner, page).await?);
        }
        let what = Listed { like, listing, now: self.clock.now() };
        Ok(tokens::list_listed(conn, owner, what, page).await?)
    }
}
