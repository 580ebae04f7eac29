//! Lists and searches of tokens: a user's own, and those of all users for administrators (spec §4.1, §4.2, §13.1).

use std::collections::BTreeSet;

use super::{Tokens, TokensError};
use crate::domain::bounds;
use crate::domain::calendar::Moment;
use crate::domain::caller::Caller;
use crate::domain::id::{TokenId, UserId};
use crate::domain::key::{ApiKey, Digest};
use crate::domain::ledger::StateName;
use crate::domain::page::{Page, PageRequest};
use crate::domain::search::{KeyEnds, SearchInvalid, SearchPattern};
use crate::domain::token::Token;
use crate::domain::token_listing::TokenListing;
use crate::domain::token_summary::TokenSummary;
use crate::storage::tokens::{Listed, OwnersPage};
use crate::storage::{Conn, StorageError, keys, tokens, users};

/// The pattern that every name matches.
const ANY: &str = "%";

/// What to search for (spec §4.2). What is `None` matches every token.
#[derive(Debug)]
pub struct Search {
    /// `None`: among the tokens of all users, for administrators.
    pub owner: Option<UserId>,
    pub name: Option<SearchPattern>,
    pub key: Option<KeySearch>,
}

/// A key, or what is known of it. A part may also be a whole key of another service, which has no checksum: of old
/// keys, only whole ones are found.
#[derive(Debug)]
pub enum KeySearch {
    /// Looked up by its digest.
    Whole(ApiKey),
    /// Compared with all keys of this owner, which are decrypted for that. The token limit bounds their number.
    Part(UserId, SearchPattern, Option<ApiKey>),
    /// Looked up by the characters that lists show. Then the keys are decrypted and compared.
    Ends(KeyEnds, Option<ApiKey>),
}

/// A page of tokens.
#[derive(Debug)]
pub struct TokenPage<T> {
    pub page: Page<T>,
    /// Only the newest [`bounds::MAX_LISTED_TOKENS`] were filtered and ordered, and there are older ones.
    pub is_truncated: bool,
}

impl<T> TokenPage<T> {
    /// All tokens were filtered and ordered.
    pub const fn whole(page: Page<T>) -> Self {
        Self { page, is_truncated: false }
    }

    /// The same page of other items.
    pub fn map<U>(self, item: impl FnMut(T) -> U) -> TokenPage<U> {
        TokenPage { page: self.page.map(item), is_truncated: self.is_truncated }
    }
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

    /// A page of the tokens of a user, or of all users, whose names match (spec §4.1).
    ///
    /// # Errors
    /// The database.
    pub async fn list(
        &self,
        owner: Option<UserId>,
        name: Option<&SearchPattern>,
        listing: &TokenListing,
        page: PageRequest,
    ) -> Result<TokenPage<Token>, TokensError> {
        if let (Some(owner), true) = (owner, listing.is_default()) {
            let like = name.map(SearchPattern::like);
            let loader = if like.is_none() { &self.lists } else { &self.searches };
            let found = loader.load(OwnersPage { owner, like, page }).await?;
            // Each page is read, also one without tokens.
            return Ok(TokenPage::whole(found.ok_or(StorageError::GivenUp)?));
        }
        self.read_list(owner, name, listing, page).await
    }

    /// The same by statements of its own, which no other list waits for.
    pub(super) async fn read_list(
        &self,
        owner: Option<UserId>,
        name: Option<&SearchPattern>,
        listing: &TokenListing,
        page: PageRequest,
    ) -> Result<TokenPage<Token>, TokensError> {
        let like = name.map_or_else(|| ANY.to_owned(), SearchPattern::like);
        let like = like.as_str();
        let mut conn = self.core.db.acquire().await?;
        if owner.is_none() && listing.is_default() {
            return Ok(TokenPage::whole(tokens::list_all_users(&mut conn, like, page).await?));
        }
        let (mut ids, mut is_truncated) = (None, false);
        if let Some(state) = listing.state {
            // A state depends on limits that renew and on the owner, so it is no column: all tokens are read first,
            // without their lists.
            let (summaries, are_more) = tokens::list_summaries(&mut conn, owner).await?;
            (ids, is_truncated) = (Some(self.in_state(&mut conn, &summaries, state).await?), are_more);
        } else if owner.is_none() {
            is_truncated = tokens::are_more_than_listed(&mut conn).await?;
        }
        let what = Listed { owner, ids: ids.as_deref(), like, listing, now: self.core.clock.now() };
        Ok(TokenPage { page: tokens::list_listed(&mut conn, what, page).await?, is_truncated })
    }

    /// A page of the tokens that match (spec §4.2). Counts against the caller's search limit.
    ///
    /// # Errors
    /// Too many searches; too many keys have these characters; the database.
    pub async fn search(
        &self,
        caller: &Caller,
        search: Search,
        listing: &TokenListing,
        page: PageRequest,
    ) -> Result<TokenPage<Token>, TokensError> {
        self.core.rate_limiter.search.take(caller.user.id)?;
        let Search { owner, name, key } = search;
        let Some(key) = key else {
            return self.list(owner, name.as_ref(), listing, page).await;
        };
        let like = name.map_or_else(|| ANY.to_owned(), |name| name.like());
        let mut conn = self.core.db.acquire().await?;
        let (mut ids, whole) = match &key {
            KeySearch::Whole(key) => (Vec::new(), Some(key)),
            KeySearch::Part(owner, part, foreign) => {
                (self.find_by_part(&mut conn, *owner, part, &like).await?, foreign.as_ref())
            }
            KeySearch::Ends(ends, foreign) => (self.find_by_ends(&mut conn, ends).await?, foreign.as_ref()),
        };
        if let Some(key) = whole {
            ids.extend(self.find_by_key(&mut conn, key).await?.map(|token| token.id));
        }
        if let Some(state) = listing.state {
            let found = tokens::list_by_ids(&mut conn, &ids).await?;
            let found: Vec<_> = found.into_values().map(TokenSummary::new).collect();
            ids = self.in_state(&mut conn, &found, state).await?;
        }
        let what = Listed { owner, ids: Some(&ids), like: &like, listing, now: self.core.clock.now() };
        Ok(TokenPage::whole(tokens::list_listed(&mut conn, what, page).await?))
    }

    /// The caller's token with this key, or with this old key.
    ///
    /// # Errors
    /// The database.
    pub async fn find_own(&self, caller: &Caller, key: &str) -> Result<Option<TokenId>, TokensError> {
        let Ok(key) = ApiKey::parse(key).or_else(|_| ApiKey::parse_foreign(key)) else { return Ok(None) };
        let mut conn = self.core.db.acquire().await?;
        let found = self.find_by_key(&mut conn, &key).await?;
        Ok(found.filter(|token| token.user_id == caller.user.id).map(|token| token.id))
    }

    /// The token of any owner with this key, or with this old key.
    async fn find_by_key(&self, conn: &mut Conn, key: &ApiKey) -> Result<Option<Token>, TokensError> {
        Ok(keys::find_by_key(conn, &self.core.vault.digest(key)).await?)
    }

    /// The tokens of this owner whose names match `like` and whose keys match `part`.
    async fn find_by_part(
        &self,
        conn: &mut Conn,
        owner: UserId,
        part: &SearchPattern,
        like: &str,
    ) -> Result<Vec<TokenId>, TokensError> {
        let candidates = keys::list_sealed_keys_like(conn, owner, like).await?;
        self.find_matching(conn, candidates, |key| part.matches_key(key)).await
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
        let mut found = Vec::new();
        for candidates in [last, first].into_iter().flatten() {
            if i64::try_from(candidates.len()).is_ok_and(|count| count >= most) {
                return Err(SearchInvalid::TooManyKeys.into());
            }
            found.extend(self.find_matching(conn, candidates, |key| ends.matches(key)).await?);
        }
        Ok(found)
    }

    /// Decrypts the keys, and returns the tokens of those that match.
    async fn find_matching(
        &self,
        conn: &mut Conn,
        candidates: Vec<(TokenId, Digest, Vec<u8>)>,
        is_match: impl Fn(&ApiKey) -> bool,
    ) -> Result<Vec<TokenId>, TokensError> {
        self.core.vault.reload_for(conn, &candidates).await?;
        let mut found = Vec::new();
        for (id, digest, sealed) in candidates {
            if is_match(&self.core.vault.open(&digest, &sealed)?) {
                found.push(id);
            }
        }
        Ok(found)
    }

    /// The ids of those of these tokens that are in a state.
    async fn in_state(
        &self,
        conn: &mut Conn,
        tokens: &[TokenSummary],
        state: StateName,
    ) -> Result<Vec<TokenId>, TokensError> {
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
