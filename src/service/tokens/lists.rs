//! Lists and searches of a user's own tokens (spec §4.1, §4.2, §13.1).

use std::collections::BTreeSet;

use super::{Tokens, TokensError};
use crate::domain::calendar::Moment;
use crate::domain::caller::Caller;
use crate::domain::id::{TokenId, UserId};
use crate::domain::key::ApiKey;
use crate::domain::ledger::StateName;
use crate::domain::page::{Page, PageRequest};
use crate::domain::search::SearchPattern;
use crate::domain::token::Token;
use crate::domain::token_listing::TokenListing;
use crate::domain::token_summary::TokenSummary;
use crate::storage::tokens::{Listed, OwnersPage};
use crate::storage::{Conn, StorageError, keys, tokens, users};

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
    /// Compared with all of the owner's keys, which are decrypted for that. The token limit bounds their number. It may
    /// also be a whole key of another service, which has no checksum: of old keys, only whole ones are found.
    Part(SearchPattern, Option<ApiKey>),
}

impl Tokens {
    /// One of the caller's tokens, without its key.
    ///
    /// # Errors
    /// The token is not the caller's; the database.
    pub async fn show(&self, caller: &Caller, id: TokenId) -> Result<Token, TokensError> {
        let mut conn = self.core.db.acquire().await?;
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
        self.list_of(caller.user.id, None, listing, page).await
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
        self.core.rate_limiter.may_search(owner)?;
        let Some(key) = search.key else {
            return self.list_of(owner, search.name.as_ref(), listing, page).await;
        };
        let like = search.name.as_ref().map_or_else(|| ANY.to_owned(), SearchPattern::like);
        let mut conn = self.core.db.acquire().await?;
        let ids: Vec<TokenId> = match key {
            KeySearch::Whole(key) => self.find_own_by_key(&mut conn, owner, Some(&key)).await?,
            KeySearch::Part(part, foreign) => {
                let mut found = self.find_own_by_key(&mut conn, owner, foreign.as_ref()).await?;
                let candidates = keys::list_sealed_keys_like(&mut conn, owner, &like).await?;
                self.core.vault.reload_for(&mut conn, &candidates).await?;
                for (id, digest, sealed) in candidates {
                    if part.matches_key(&self.core.vault.open(&digest, &sealed)?) {
                        found.push(id);
                    }
                }
                found
            }
        };
        let what = Listed { like: &like, listing, now: self.core.clock.now() };
        let ids = match listing.state {
            None => ids,
            Some(state) => {
                let in_state = self.list_ids_in_state(&mut conn, owner, state).await?;
                ids.into_iter().filter(|id| in_state.contains(id)).collect()
            }
        };
        Ok(tokens::list_listed_among(&mut conn, &ids, what, page).await?)
    }

    /// The caller's token with this key, or with this old key.
    ///
    /// # Errors
    /// The database.
    pub async fn find_own(&self, caller: &Caller, key: &str) -> Result<Option<TokenId>, TokensError> {
        let Ok(key) = ApiKey::parse(key).or_else(|_| ApiKey::parse_foreign(key)) else { return Ok(None) };
        let mut conn = self.core.db.acquire().await?;
        Ok(self.find_own_by_key(&mut conn, caller.user.id, Some(&key)).await?.pop())
    }

    /// The token of this owner with this key, or with this old key.
    async fn find_own_by_key(
        &self,
        conn: &mut Conn,
        owner: UserId,
        key: Option<&ApiKey>,
    ) -> Result<Vec<TokenId>, TokensError> {
        let found = self.find_by_key(conn, key).await?;
        Ok(found.into_iter().filter(|token| token.user_id == owner).map(|token| token.id).collect())
    }

    /// The token of any owner with this key, or with this old key.
    pub(super) async fn find_by_key(
        &self,
        conn: &mut Conn,
        key: Option<&ApiKey>,
    ) -> Result<Option<Token>, TokensError> {
        let Some(key) = key else { return Ok(None) };
        Ok(keys::find_by_key(conn, &self.core.vault.digest(key)).await?)
    }

    /// A page of one user's tokens, whose names match.
    pub(super) async fn list_of(
        &self,
        owner: UserId,
        name: Option<&SearchPattern>,
        listing: &TokenListing,
        page: PageRequest,
    ) -> Result<Page<Token>, TokensError> {
        let like = name.map(SearchPattern::like);
        if listing.is_default() {
            let loader = if like.is_none() { &self.lists } else { &self.searches };
            let found = loader.load(OwnersPage { owner, like, page }).await?;
            // Each page is read, also one without tokens.
            return Ok(found.ok_or(StorageError::GivenUp)?);
        }
        let what = Listed { like: like.as_deref().unwrap_or(ANY), listing, now: self.core.clock.now() };
        let mut conn = self.core.db.acquire().await?;
        match listing.state {
            None => Ok(tokens::list_listed(&mut conn, owner, what, page).await?),
            Some(state) => {
                let ids = self.list_ids_in_state(&mut conn, owner, state).await?;
                Ok(tokens::list_listed_among(&mut conn, &Vec::from_iter(ids), what, page).await?)
            }
        }
    }

    /// The ids of one user's tokens that are in a state. A state depends on limits that renew and on the owner, so it
    /// is no column: all tokens are read first, without their lists.
    async fn list_ids_in_state(
        &self,
        conn: &mut Conn,
        owner: UserId,
        state: StateName,
    ) -> Result<BTreeSet<TokenId>, TokensError> {
        let summaries = tokens::list_summaries(conn, owner).await?;
        self.in_state(conn, &summaries, state).await
    }

    /// The ids of those of these tokens that are in a state.
    pub(super) async fn in_state(
        &self,
        conn: &mut Conn,
        tokens: &[TokenSummary],
        state: StateName,
    ) -> Result<BTreeSet<TokenId>, TokensError> {
        let owners: BTreeSet<UserId> = tokens.iter().map(TokenSummary::user_id).collect();
        let owners = users::list_by_id(conn, &Vec::from_iter(owners)).await?;
        let at = self.now();
        let is_in_state = |token: &&TokenSummary| {
            let owner = owners.get(&token.user_id());
            owner.is_some_and(|owner| token.state(owner, &self.core.groups, &at).name == state)
        };
        Ok(tokens.iter().filter(is_in_state).map(TokenSummary::id).collect())
    }

    /// The present moment, for the states of tokens.
    pub(super) fn now(&self) -> Moment {
        Moment::new(self.core.clock.micros(), self.core.calendar)
    }
}
