//! Tokens of all users, for administrators: found, listed, made, changed and deleted, never with their keys. Their
//! owners see each change in their activity.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::bulk::{OwnerFault, OwnersChanged};
use super::{BulkError, ChosenTokens, Search, Shows, TokenChange, TokenPage, Tokens, TokensError};
use crate::domain::bounds;
use crate::domain::caller::Caller;
use crate::domain::expected_version::ExpectedVersion;
use crate::domain::id::{TokenId, UserId};
use crate::domain::idempotency_key::{Idempotent, IdempotentRequest};
use crate::domain::page::{Page, PageRequest};
use crate::domain::search::SearchPattern;
use crate::domain::token::{OwnedToken, Switch, Token};
use crate::domain::token_listing::TokenListing;
use crate::domain::token_patch::{NewToken, TokenPatch};
use crate::service::{actors, idempotency_keys};
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

    /// Creates a token for a user, who alone can read its key.
    ///
    /// # Errors
    /// As [`Tokens::create`]; the caller may not make tokens for this user.
    pub async fn create_for(
        &self,
        admin: &Caller,
        owner: UserId,
        new: NewToken,
        request: Option<&IdempotentRequest>,
    ) -> Result<Idempotent<OwnedToken>, TokensError> {
        let created = self.create_showing(admin, owner, vec![new], request, Shows::Nothing).await;
        let Idempotent { mut answer, is_replayed } = created.map_err(|failed| failed.error)?;
        let (token, _) = answer.pop().ok_or(TokensError::NotFound)?;
        let answer = with_owner(&mut *self.core.db.acquire().await?, token).await?;
        Ok(Idempotent { answer, is_replayed })
    }

    /// Edits a token of any user.
    ///
    /// # Errors
    /// As [`Tokens::edit`]; the caller may not change tokens of its owner.
    pub async fn edit_any_user(
        &self,
        admin: &Caller,
        id: TokenId,
        patch: TokenPatch,
        expected: &ExpectedVersion,
        request: Option<&IdempotentRequest>,
    ) -> Result<Idempotent<OwnedToken>, TokensError> {
        let owner = self.find_owner(id).await?;
        let change = TokenChange { patch, switch: None };
        let Idempotent { answer, is_replayed } = self.change_one(admin, owner, id, change, expected, request).await?;
        let answer = with_owner(&mut *self.core.db.acquire().await?, answer).await?;
        Ok(Idempotent { answer, is_replayed })
    }

    /// Deletes a token of any user.
    ///
    /// # Errors
    /// As [`Tokens::delete`]; the caller may not change tokens of its owner.
    pub async fn delete_any_user(
        &self,
        admin: &Caller,
        id: TokenId,
        expected: &ExpectedVersion,
    ) -> Result<(), TokensError> {
        let owner = self.find_owner(id).await?;
        self.delete_one(admin, owner, id, expected).await
    }

    /// Enables or disables a token of any user.
    ///
    /// # Errors
    /// There is no such token; it was disabled by a higher role, is expired or exhausted; the database.
    pub async fn switch_any_user(&self, admin: &Caller, id: TokenId, to: Switch) -> Result<OwnedToken, TokensError> {
        let owner = self.find_owner(id).await?;
        let change = TokenChange { patch: TokenPatch::default(), switch: Some(to) };
        let token = self.change_one(admin, owner, id, change, &ExpectedVersion::Any, None).await?.answer;
        let mut conn = self.core.db.acquire().await?;
        with_owner(&mut conn, token).await
    }

    /// Changes tokens of any users in the same way, all or none of each owner. Goes through the owners whose id is
    /// above `after`, ascending, and stops after the one with whom [`bounds::MAX_BULK_CHANGE`] tokens or
    /// [`bounds::BULK_CHANGE_TIME`] are reached, or if it cannot go on.
    ///
    /// # Errors
    /// One of the ids is not that of a token; too many match; see
    /// [`IdempotencyKeyError`](idempotency_keys::IdempotencyKeyError); the first owner's tokens cannot be changed now.
    /// What an owner's tokens are refused for is in the answer.
    pub async fn change_any_users(
        &self,
        admin: &Caller,
        (owner, chosen): (Option<UserId>, &ChosenTokens),
        change: &TokenChange,
        after: Option<UserId>,
        request: Option<&IdempotentRequest>,
    ) -> Result<OwnersChanged, BulkError> {
        let mut by_owner: BTreeMap<UserId, Vec<TokenId>> = BTreeMap::new();
        for token in self.choose(owner, chosen).await? {
            if after.is_none_or(|after| token.user_id > after) {
                by_owner.entry(token.user_id).or_default().push(token.id);
            }
        }
        self.begin_keyed(admin, request).await?;
        let began = Instant::now();
        let mut changed = OwnersChanged::default();
        let (mut faults, mut count, mut reached) = (Vec::new(), 0, None);
        for (owner, ids) in by_owner {
            if count >= bounds::MAX_BULK_CHANGE || began.elapsed() > bounds::BULK_CHANGE_TIME {
                changed.next = reached;
                break;
            }
            let request = request.map(|request| request.of_part(owner.get()));
            count += ids.len();
            match self.change(admin, owner, &ids, change, &ExpectedVersion::Any, request.as_ref()).await {
                Ok(tokens) => changed.count += tokens.answer.len(),
                Err(BulkError { at, error }) if error.is_of_owner() => faults.push((owner, at, error)),
                // The answer says what was done. The next call begins with this owner, and says what is wrong.
                Err(_) if reached.is_some() => {
                    changed.next = reached;
                    break;
                }
                Err(failed) => return Err(failed),
            }
            reached = Some(owner);
        }
        let ids: Vec<UserId> = faults.iter().map(|(owner, ..)| *owner).collect();
        let found = users::list_by_id(&mut *self.core.db.acquire().await?, &ids).await?;
        let fault = |(owner, at, error)| Some(OwnerFault { owner: found.get(&owner)?.clone(), at, error });
        changed.faults = faults.into_iter().filter_map(fault).collect();
        Ok(changed)
    }

    /// Records that a request begins, of which each owner is a part. Its key is for no other one.
    async fn begin_keyed(&self, admin: &Caller, request: Option<&IdempotentRequest>) -> Result<(), TokensError> {
        if request.is_none() {
            return Ok(());
        }
        let mut tx = self.core.db.begin().await?;
        actors::lock_admin(&mut tx, admin.user.id, admin.user.id).await?;
        if idempotency_keys::find(&mut tx, admin.user.id, request).await?.is_none() {
            idempotency_keys::record(&mut tx, admin.user.id, request, &[], self.core.clock.now()).await?;
        }
        self.core.invalidator.commit_unchanged(tx).await?;
        Ok(())
    }

    /// The chosen tokens of a user, or of all users, with their owners, by their ids.
    ///
    /// # Errors
    /// Too many searches; one of the ids is not that of such a token; too many match; the database.
    pub async fn export(
        &self,
        caller: &Caller,
        owner: Option<UserId>,
        chosen: &ChosenTokens,
    ) -> Result<Vec<OwnedToken>, BulkError> {
        self.core.rate_limiter.search.take(caller.user.id)?;
        let tokens = self.choose(owner, chosen).await?;
        Ok(self.add_owners(tokens).await?)
    }

    async fn find_owner(&self, id: TokenId) -> Result<UserId, TokensError> {
        let mut conn = self.core.db.acquire().await?;
        tokens::find_owner(&mut conn, id).await?.ok_or(TokensError::NotFound)
    }

    /// Adds the owners. Every token has one: accounts are never removed from their table.
    async fn with_owners(&self, found: TokenPage<Token>) -> Result<TokenPage<OwnedToken>, TokensError> {
        let TokenPage { page: Page { items, total, page, page_size }, is_truncated } = found;
        let items = self.add_owners(items).await?;
        Ok(TokenPage { page: Page { page, page_size, total, items }, is_truncated })
    }

    async fn add_owners(&self, tokens: Vec<Token>) -> Result<Vec<OwnedToken>, TokensError> {
        let ids: BTreeSet<UserId> = tokens.iter().map(|token| token.user_id).collect();
        let mut conn = self.core.db.acquire().await?;
        let owners = users::list_by_id(&mut conn, &Vec::from_iter(ids)).await?;
        let with_owner = |token: Token| {
            let owner = owners.get(&token.user_id).cloned()?;
            Some(OwnedToken { token, owner })
        };
        Ok(tokens.into_iter().filter_map(with_owner).collect())
    }
}

/// Adds the owner.
async fn with_owner(conn: &mut Conn, token: Token) -> Result<OwnedToken, TokensError> {
    let owner = users::list_by_id(conn, &[token.user_id]).await?.remove(&token.user_id).ok_or(TokensError::NotFound)?;
    Ok(OwnedToken { token, owner })
}
