//! Tokens of all users, for administrators: found, listed, enabled and disabled, never with their keys.

use std::collections::BTreeSet;

use super::lists::ANY;
use super::{Tokens, TokensError};
use crate::domain::bounds;
use crate::domain::caller::Caller;
use crate::domain::expected_version::ExpectedVersion;
use crate::domain::id::{TokenId, UserId};
use crate::domain::key::ApiKey;
use crate::domain::page::{Page, PageRequest};
use crate::domain::search::{KeyEnds, SearchInvalid, SearchPattern};
use crate::domain::token::{OwnedToken, Switch, Token};
use crate::domain::token_listing::TokenListing;
use crate::domain::token_summary::TokenSummary;
use crate::storage::tokens::Listed;
use crate::storage::{Conn, keys, tokens, users};

/// What an administrator searches for among the tokens of all users. What is `None` matches every token.
#[derive(Debug)]
pub struct AnyUserSearch {
    pub owner: Option<UserId>,
    pub name: Option<SearchPattern>,
    pub key: Option<AnyUserKey>,
}

/// How an administrator names a key.
#[derive(Debug)]
pub enum AnyUserKey {
    /// Looked up by its digest.
    Whole(ApiKey),
    /// Looked up by the characters that lists show. Then the keys are decrypted and compared. It may also be a whole
    /// key of another service, which has no checksum: of old keys, only whole ones are found.
    Ends(KeyEnds, Option<ApiKey>),
}

/// A page of the tokens of all users.
#[derive(Debug)]
pub struct AnyUserPage {
    pub page: Page<OwnedToken>,
    /// Only the newest [`bounds::MAX_LISTED_TOKENS`] were filtered and ordered, and there are older ones.
    pub is_truncated: bool,
}

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

    /// A page of the tokens of all users.
    ///
    /// # Errors
    /// The database.
    pub async fn list_all_users(
        &self,
        owner: Option<UserId>,
        name: Option<SearchPattern>,
        listing: &TokenListing,
        page: PageRequest,
    ) -> Result<AnyUserPage, TokensError> {
        if let Some(owner) = owner {
            // Before a connection is taken: reading the page takes one too.
            let page = self.list_of(owner, name.as_ref(), listing, page).await?;
            let mut conn = self.core.db.acquire().await?;
            return Ok(AnyUserPage { page: with_owners(&mut conn, page).await?, is_truncated: false });
        }
        let like = name.map_or_else(|| ANY.to_owned(), |name| name.like());
        let mut conn = self.core.db.acquire().await?;
        if listing.is_default() {
            let page = tokens::list_all_users(&mut conn, &like, page).await?;
            return Ok(AnyUserPage { page: with_owners(&mut conn, page).await?, is_truncated: false });
        }
        let what = Listed { like: &like, listing, now: self.core.clock.now() };
        if let Some(state) = listing.state {
            let (newest, is_truncated) = tokens::list_newest_summaries(&mut conn).await?;
            let ids = Vec::from_iter(self.in_state(&mut conn, &newest, state).await?);
            let page = tokens::list_listed_among(&mut conn, &ids, what, page).await?;
            return Ok(AnyUserPage { page: with_owners(&mut conn, page).await?, is_truncated });
        }
        let (page, is_truncated) = tokens::list_newest_listed(&mut conn, what, page).await?;
        Ok(AnyUserPage { page: with_owners(&mut conn, page).await?, is_truncated })
    }

    /// A page of the tokens of all users that match. Counts against the administrator's search limit.
    ///
    /// # Errors
    /// Too many searches; too many keys have these characters; the database.
    pub async fn search_all_users(
        &self,
        admin: &Caller,
        search: AnyUserSearch,
        listing: &TokenListing,
        page: PageRequest,
    ) -> Result<AnyUserPage, TokensError> {
        self.core.rate_limiter.may_search(admin.user.id)?;
        let Some(key) = search.key else {
            return self.list_all_users(search.owner, search.name, listing, page).await;
        };
        let like = search.name.map_or_else(|| ANY.to_owned(), |name| name.like());
        let mut conn = self.core.db.acquire().await?;
        let mut ids = match key {
            AnyUserKey::Whole(key) => {
                Vec::from_iter(self.find_by_key(&mut conn, Some(&key)).await?.map(|token| token.id))
            }
            AnyUserKey::Ends(ends, foreign) => {
                let mut found = self.find_by_ends(&mut conn, &ends).await?;
                found.extend(self.find_by_key(&mut conn, foreign.as_ref()).await?.map(|token| token.id));
                found
            }
        };
        if let Some(owner) = search.owner {
            ids = keys::list_sealed_keys(&mut conn, owner, &ids).await?.into_iter().map(|(id, ..)| id).collect();
        }
        let what = Listed { like: &like, listing, now: self.core.clock.now() };
        if let Some(state) = listing.state {
            let found = tokens::list_by_ids(&mut conn, &ids).await?;
            let found: Vec<_> = found.into_values().map(TokenSummary::new).collect();
            ids = Vec::from_iter(self.in_state(&mut conn, &found, state).await?);
        }
        let page = tokens::list_listed_among(&mut conn, &ids, what, page).await?;
        Ok(AnyUserPage { page: with_owners(&mut conn, page).await?, is_truncated: false })
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
        let token = self.switch_token_of(admin, owner, id, to, &ExpectedVersion::Any).await?;
        let mut conn = self.core.db.acquire().await?;
        with_owner(&mut conn, token).await
    }

    /// The live tokens of all users whose keys have these ends.
    async fn find_by_ends(&self, conn: &mut Conn, ends: &KeyEnds) -> Result<Vec<TokenId>, TokensError> {
        // One more than may match, so that too many are noticed.
        let most = bounds::MAX_KEY_CANDIDATES + 1;
        let last = match ends.last_chars() {
            Some(chars) => Some(keys::list_sealed_keys_ending(conn, &chars, most).await?),
            None => None,
        };
        // Imported keys may begin alike, so the last characters are looked up if a key must have both ends.
        let first = match ends.first_chars().filter(|_| last.is_none() || ends.is_either()) {
            Some(chars) => Some(keys::list_sealed_keys_beginning(conn, &chars, most).await?),
            None => None,
        };
        let mut found = BTreeSet::new();
        for candidates in [last, first].into_iter().flatten() {
            if i64::try_from(candidates.len()).is_ok_and(|count| count >= most) {
                return Err(SearchInvalid::TooManyKeys.into());
            }
            self.core.vault.reload_for(conn, &candidates).await?;
            for (id, digest, sealed) in candidates {
                if ends.matches(&self.core.vault.open(&digest, &sealed)?) {
                    found.insert(id);
                }
            }
        }
        Ok(found.into_iter().collect())
    }
}

/// Adds the owner.
async fn with_owner(conn: &mut Conn, token: Token) -> Result<OwnedToken, TokensError> {
    let owner = users::list_by_id(conn, &[token.user_id]).await?.remove(&token.user_id).ok_or(TokensError::NotFound)?;
    Ok(OwnedToken { token, owner })
}

/// Adds the owners. Every token has one: accounts are never removed from their table.
async fn with_owners(conn: &mut Conn, page: Page<Token>) -> Result<Page<OwnedToken>, TokensError> {
    let ids: BTreeSet<UserId> = page.items.iter().map(|token| token.user_id).collect();
    let owners = users::list_by_id(conn, &ids.into_iter().collect::<Vec<_>>()).await?;
    let with_owner = |token: Token| {
        let owner = owners.get(&token.user_id).cloned()?;
        Some(OwnedToken { token, owner })
    };
    let Page { items, total, page, page_size } = page;
    Ok(Page { items: items.into_iter().filter_map(with_owner).collect(), total, page, page_size })
}
