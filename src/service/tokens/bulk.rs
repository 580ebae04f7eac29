//! Creates and changes many tokens, all or none (spec §15.4).

use super::{ChosenTokens, Shows, Tokens, TokensError, actors};
use crate::domain::audit::Action;
use crate::domain::caller::Caller;
use crate::domain::expected_version::ExpectedVersion;
use crate::domain::group::Group;
use crate::domain::id::TokenId;
use crate::domain::id::UserId;
use crate::domain::idempotency_key::{Idempotent, IdempotentRequest, MadeKey};
use crate::domain::key::ApiKey;
use crate::domain::token::{Switch, Token, TokenWithKey};
use crate::domain::token_patch::{NewToken, TokenPatch};
use crate::domain::user::User;
use crate::service::idempotency_keys::{self, IdempotencyKeyError};
use crate::storage::{self, audit, tokens};

/// Why no token was created or changed.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct BulkError {
    /// Which one is the reason, by its place in the list or its id; `None` if it is the whole request.
    pub at: Option<BulkPlace>,
    pub error: TokensError,
}

/// One of many tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BulkPlace {
    /// Of those to be created, counted from 0.
    Index(usize),
    Id(TokenId),
}

impl<E: Into<TokensError>> From<E> for BulkError {
    fn from(error: E) -> Self {
        Self { at: None, error: error.into() }
    }
}

impl BulkPlace {
    /// The same error, for this one.
    pub(super) fn of<E: Into<TokensError>>(self) -> impl FnOnce(E) -> BulkError {
        move |error| BulkError { at: Some(self), error: error.into() }
    }
}

/// What becomes of a token.
#[derive(Debug)]
pub struct TokenChange {
    pub patch: TokenPatch,
    pub switch: Option<Switch>,
}

/// What became of the tokens of several owners.
#[derive(Debug, Default)]
pub struct OwnersChanged {
    /// Tokens that are now as they should be.
    pub count: usize,
    /// Owners of whom none was changed.
    pub faults: Vec<OwnerFault>,
    /// The last owner that was reached, if there are more.
    pub next: Option<UserId>,
}

/// Why the tokens of an owner were not changed.
#[derive(Debug)]
pub struct OwnerFault {
    pub owner: User,
    /// The token that is the reason.
    pub at: Option<BulkPlace>,
    pub error: TokensError,
}

impl Tokens {
    /// Creates tokens, all or none, under the rules of [`Tokens::create`].
    ///
    /// # Errors
    /// As [`Tokens::create`].
    pub async fn create_all(
        &self,
        caller: &Caller,
        new: Vec<NewToken>,
        request: Option<&IdempotentRequest>,
    ) -> Result<Idempotent<Vec<TokenWithKey>>, BulkError> {
        let created = self.create_showing(caller, caller.user.id, new, request, Shows::Key).await?;
        Ok(created.map(|created| {
            let with_key = |(token, key): (Token, Option<ApiKey>)| Some(TokenWithKey { token, key: key? });
            created.into_iter().filter_map(with_key).collect()
        }))
    }

    /// The same for `owner`. The keys of tokens that were created before are opened, which the audit log notes, only if
    /// the answer shows them.
    pub(super) async fn create_showing(
        &self,
        caller: &Caller,
        owner: UserId,
        new: Vec<NewToken>,
        request: Option<&IdempotentRequest>,
        shows: Shows,
    ) -> Result<Idempotent<Vec<(Token, Option<ApiKey>)>>, BulkError> {
        self.core.rate_limiter.may_write_more(&caller.user, new.len())?;
        let mut tx = self.core.db.begin().await?;
        let (_, owner) = actors::lock_owner(&mut tx, caller.user.id, owner, self.rules.token_api_open)
            .await
            .map_err(TokensError::from)?;
        if let Some(made) = idempotency_keys::find(&mut tx, caller.user.id, request).await? {
            if shows == Shows::Nothing {
                let ids: Vec<TokenId> = made.iter().map(|made| made.token).collect();
                let mut found = tokens::list_by_ids(&mut tx, &ids).await?;
                let token = |id| Ok((found.remove(id).ok_or(IdempotencyKeyError::TokenDeleted)?, None));
                let replayed = ids.iter().map(token).collect::<Result<_, IdempotencyKeyError>>()?;
                self.core.invalidator.commit_unchanged(tx).await?;
                return Ok(Idempotent::replayed(replayed));
            }
            let opened =
                idempotency_keys::open(&mut tx, &self.core.vault, caller, &made, self.core.clock.now()).await?;
            storage::commit(tx).await?;
            return Ok(Idempotent::replayed(opened.into_iter().map(|made| (made.token, Some(made.key))).collect()));
        }
        for (index, new) in new.iter().enumerate() {
            let group = new.fields.group.as_ref().unwrap_or(&Group::Own);
            self.core.groups.admit(&owner.group, group).map_err(BulkPlace::Index(index).of())?;
        }
        self.check_limit(&mut tx, &owner, new.len()).await?;
        self.core.vault.lock_data_key(&mut tx).await?;
        let now = self.core.clock.now();
        let (mut tokens, mut keys, mut made) = (Vec::new(), Vec::new(), Vec::new());
        for (index, NewToken { name, fields }) in new.into_iter().enumerate() {
            let key = self.core.rng.generate(|rng| ApiKey::generate(rng, self.rules.cell));
            let sealed = self.core.rng.generate(|rng| self.core.vault.seal(&key, rng));
            let id = storage::tokens::insert(&mut tx, owner.id, &sealed, &name, now).await?;
            let empty = Token::empty(id, owner.id, sealed.hint, name, now);
            tokens.push(empty.edited(fields).map_err(BulkPlace::Index(index).of())?);
            keys.push(key);
            made.push(MadeKey { token: id, digest: sealed.digest });
        }
        let tokens = self.update_all(&mut tx, tokens).await?;
        let created: Vec<_> = tokens.into_iter().zip(keys).map(|(token, key)| TokenWithKey { token, key }).collect();
        let entry = |created: &TokenWithKey| self.entry(caller, Action::TokenCreated, created.token.id, owner.id);
        audit::insert_many(&mut tx, &created.iter().map(entry).collect::<Vec<_>>()).await?;
        idempotency_keys::record(&mut tx, caller.user.id, request, &made, now).await?;
        self.core.invalidator.commit_unchanged(tx).await?;
        Ok(Idempotent::now(created.into_iter().map(|made| (made.token, Some(made.key))).collect()))
    }

    /// Changes tokens of the caller in the same way, all or none. Returns them by their ids, ascending.
    ///
    /// # Errors
    /// One of them is not the caller's; too many match; as [`Tokens::edit`] and [`Tokens::switch`].
    pub async fn change_all(
        &self,
        caller: &Caller,
        chosen: &ChosenTokens,
        change: &TokenChange,
        request: Option<&IdempotentRequest>,
    ) -> Result<Idempotent<Vec<Token>>, BulkError> {
        let owner = caller.user.id;
        let ids: Vec<TokenId> = match chosen {
            ChosenTokens::Ids(ids) => ids.clone(),
            ChosenTokens::Matching { .. } => {
                self.choose(Some(owner), chosen).await?.iter().map(|token| token.id).collect()
            }
        };
        self.change(caller, owner, &ids, change, &ExpectedVersion::Any, request).await
    }

    /// The same for one token of `owner`, if it is `expected`.
    pub(super) async fn change_one(
        &self,
        caller: &Caller,
        owner: UserId,
        id: TokenId,
        change: TokenChange,
        expected: &ExpectedVersion,
        request: Option<&IdempotentRequest>,
    ) -> Result<Idempotent<Token>, TokensError> {
        let changed = self.change(caller, owner, &[id], &change, expected, request).await;
        let Idempotent { mut answer, is_replayed } = changed.map_err(|failed| failed.error)?;
        // Only a repeated request finds none.
        Ok(Idempotent { answer: answer.pop().ok_or(IdempotencyKeyError::TokenDeleted)?, is_replayed })
    }

    pub(super) async fn change(
        &self,
        caller: &Caller,
        owner: UserId,
        ids: &[TokenId],
        TokenChange { patch, switch }: &TokenChange,
        expected: &ExpectedVersion,
        request: Option<&IdempotentRequest>,
    ) -> Result<Idempotent<Vec<Token>>, BulkError> {
        self.core.rate_limiter.may_write_more(&caller.user, ids.len())?;
        let mut tx = self.core.db.begin().await?;
        let (by, owner_group) = if owner != caller.user.id && switch.is_some() && *patch == TokenPatch::default() {
            // An administrator can always stop a key, also one of another administrator.
            let (admin, owner) = actors::lock_admin(&mut tx, caller.user.id, owner).await?;
            (admin.role, owner.map(|owner| owner.group).unwrap_or_default())
        } else {
            let locked = actors::lock_owner(&mut tx, caller.user.id, owner, self.rules.token_api_open).await;
            let (caller, owner) = locked.map_err(TokensError::from)?;
            (caller.role, owner.group)
        };
        if idempotency_keys::find(&mut tx, caller.user.id, request).await?.is_some() {
            let tokens = tokens::lock_listed(&mut tx, owner, ids).await?;
            self.core.invalidator.commit_unchanged(tx).await?;
            return Ok(Idempotent::replayed(tokens));
        }
        if let Some(group) = &patch.group {
            self.core.groups.admit(&owner_group, group).map_err(TokensError::from)?;
        }
        let found = tokens::lock_listed(&mut tx, owner, ids).await?;
        // Both are in the order of ids.
        let absent = ids.iter().find(|id| found.binary_search_by_key(*id, |token| token.id).is_err());
        if let Some(id) = absent {
            return Err(BulkPlace::Id(*id).of()(TokensError::NotFound));
        }
        let (mut to_update, mut kept, mut entries) = (Vec::new(), Vec::new(), Vec::new());
        for old in &found {
            let at = BulkPlace::Id(old.id);
            expected.check(old.policy.version).map_err(at.of())?;
            let token = old.clone().edited(patch.clone()).map_err(at.of())?;
            let (token, action) = match switch {
                Some(Switch::On) => (token.enable(by, self.core.clock.now()).map_err(at.of())?, Action::TokenEnabled),
                Some(Switch::Off) => (token.disable(by), Action::TokenDisabled),
                None => (token, Action::TokenEdited),
            };
            let changes = token.changes_since(old);
            if switch.is_none() || !changes.is_empty() {
                entries.push(self.edit_entry(caller, &token, patch, changes));
            }
            if token.policy.disabled_by != old.policy.disabled_by {
                entries.push(self.entry(caller, action, token.id, owner));
            }
            // It is as it should be: a version that nobody made would refuse the edits of others.
            let is_unchanged = switch.is_some() && token == *old;
            if is_unchanged { &mut kept } else { &mut to_update }.push(token);
        }
        if to_update.is_empty() && request.is_none() {
            self.core.invalidator.commit_unchanged(tx).await?;
            return Ok(Idempotent::now(kept));
        }
        let mut changed = self.update_all(&mut tx, to_update).await?;
        changed.extend(kept);
        changed.sort_by_key(|token| token.id);
        self.end_old_keys_of_extended(&mut tx, found.iter().zip(&changed)).await?;
        audit::insert_many(&mut tx, &entries).await?;
        idempotency_keys::record(&mut tx, caller.user.id, request, &[], self.core.clock.now()).await?;
        self.core.invalidator.commit(tx, owner).await?;
        Ok(Idempotent::now(changed))
    }
}
