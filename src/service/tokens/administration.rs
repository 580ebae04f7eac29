//! Tokens of all users, for administrators: found, listed, enabled and disabled, never with their keys.

use std::collections::BTreeSet;

use super::{Search, TokenChange, TokenPage, Tokens, TokensError};
use crate::domain::caller::Caller;
use crate::domain::expected_version::ExpectedVersion;
use crate::domain::id::{TokenId, UserId};
use crate::domain::page::{Page, PageRequest};
use crate::domain::search::SearchPattern;
use crate::domain::token::{OwnedToken, Switch, Token};
use crate::domain::token_listing::TokenListing;
use crate::domain::token_patch::TokenPatch;
use crate::storage::{Conn, tokens, users};

impl Tokens {
    /// A token of any user, without its key.
    ///
    /// # Errors
    /// There is no such token; the database.
    pub async fn show_any_user(&self, id: TokenId) -> Result<OwnedToken, TokensError> {
        let mut conn = self.core.db.acquire().await?;
        let token = tokens::find_any_user(&mut conn, id).await?.ok_or(TokensError::NotFound)?;
        with_owner(&mut conn, token).await
    }

    /// A page of the tokens of a user, or of all users, with their owners.
    ///
    /// # Errors
    /// The database.
    pub async fn list_any_user(
        &self,
        owner: Option<UserId>,
        name: Option<&SearchPattern>,
        listing: &TokenListing,
        page: PageRequest,
    ) -> Result<TokenPage<OwnedToken>, TokensError> {
        let found = self.list(owner, name, listing, page).await?;
        self.with_owners(found).await
    }

    /// A page of the tokens that match, with their owners. Counts against the administrator's search limit.
    ///
    /// # Errors
    /// Too many searches; too many keys have these characters; the database.
    pub async fn search_any_user(
        &self,
        admin: &Caller,
        search: Search,
        listing: &TokenListing,
        page: PageRequest,
    ) -> Result<TokenPage<OwnedToken>, TokensError> {
        let found = self.search(admin, search, listing, page).await?;
        self.with_owners(found).await
    }

    /// Enables or disables a token of any user.
    ///
    /// # Errors
    /// There is no such token; it was disabled by a higher role, is expired or exhausted; the database.
    pub async fn switch_any_user(&self, admin: &Caller, id: TokenId, to: Switch) -> Result<OwnedToken, TokensError> {
        let owner = {
            let mut conn = self.core.db.acquire().await?;
            tokens::find_owner(&mut conn, id).await?.ok_or(TokensError::NotFound)?
        };
        let change = TokenChange { patch: TokenPatch::default(), switch: Some(to) };
        let token = self.change_one(admin, owner, id, change, &ExpectedVersion::Any, None).await?.answer;
        let mut conn = self.core.db.acquire().await?;
        with_owner(&mut conn, token).await
    }

    /// Adds the owners. Every token has one: accounts are never removed from their table.
    async fn with_owners(&self, found: TokenPage<Token>) -> Result<TokenPage<OwnedToken>, TokensError> {
        let TokenPage { page: Page { items, total, page, page_size }, is_truncated } = found;
        let ids: BTreeSet<UserId> = items.iter().map(|token| token.user_id).collect();
        let mut conn = self.core.db.acquire().await?;
        let owners = users::list_by_id(&mut conn, &Vec::from_iter(ids)).await?;
        let with_owner = |token: Token| {
            let owner = owners.get(&token.user_id).cloned()?;
            Some(OwnedToken { token, owner })
        };
        let items = items.into_iter().filter_map(with_owner).collect();
        Ok(TokenPage { page: Page { page, page_size, total, items }, is_truncated })
    }
}

/// Adds the owner.
async fn with_owner(conn: &mut Conn, token: Token) -> Result<OwnedToken, TokensError> {
    let owner = users::list_by_id(conn, &[token.user_id]).await?.remove(&token.user_id).ok_or(TokensError::NotFound)?;
    Ok(OwnedToken { token, owner })
}
