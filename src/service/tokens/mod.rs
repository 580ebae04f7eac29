//! The operations of the token API (spec §4.1–4.7). `lists` finds tokens, and `administration` is for administrators.

mod administration;
mod lists;

use std::sync::Arc;

pub use self::administration::{AnyonesKey, AnyonesPage, AnyonesSearch};
pub use self::lists::{KeySearch, Search};
use super::actors::{self, ActorError};
use super::invalidator::Invalidator;
use super::rate_limiter::{RateLimited, RateLimiter};
use super::rng::Rng;
use super::vault::{Unopenable, Vault};
use crate::domain::audit::{Action, Actor, AuditEntry, Details, Subject};
use crate::domain::calendar::Calendar;
use crate::domain::caller::Caller;
use crate::domain::cell::CellLabel;
use crate::domain::clock::Clock;
use crate::domain::group::{GroupRefused, Groups};
use crate::domain::id::{TokenId, UserId};
use crate::domain::key::ApiKey;
use crate::domain::search::SearchInvalid;
use crate::domain::status::EnableRefused;
use crate::domain::token::{NewToken, Switch, Token, TokenWithKey};
use crate::domain::token_patch::{EditRefused, QuotaChange, TokenPatch};
use crate::storage::{self, Conn, Db, StorageError, audit, tokens};

/// Settings of the operator for tokens.
#[derive(Debug)]
pub struct TokenRules {
    /// Live tokens that a user may have; a user's own limit overrides it.
    pub max_tokens: i64,
    pub groups: Groups,
    pub cell: CellLabel,
    /// The periods of limits, for the states of tokens.
    pub calendar: Calendar,
}

#[derive(Debug, thiserror::Error)]
pub enum TokensError {
    /// Absent, deleted, or another user's: the caller cannot tell which.
    #[error("there is no such token")]
    NotFound,
    /// Spec §7.2.
    #[error("you have reached your limit of {0} tokens; delete one first")]
    LimitReached(i64),
    /// Spec §3.
    #[error(transparent)]
    Enable(#[from] EnableRefused),
    #[error(transparent)]
    Group(#[from] GroupRefused),
    #[error(transparent)]
    Edit(#[from] EditRefused),
    #[error(transparent)]
    Search(#[from] SearchInvalid),
    /// The caller may no longer do this.
    #[error(transparent)]
    Actor(#[from] ActorError),
    #[error(transparent)]
    RateLimited(#[from] RateLimited),
    /// The stored key cannot be decrypted.
    #[error(transparent)]
    Vault(#[from] Unopenable),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

#[derive(Debug)]
pub struct Tokens {
    db: Db,
    vault: Vault,
    rng: Rng,
    clock: Arc<dyn Clock>,
    rate_limiter: Arc<RateLimiter>,
    invalidator: Invalidator,
    rules: TokenRules,
}

impl Tokens {
    #[must_use]
    pub const fn new(
        db: Db,
        vault: Vault,
        rng: Rng,
        clock: Arc<dyn Clock>,
        rate_limiter: Arc<RateLimiter>,
        invalidator: Invalidator,
        rules: TokenRules,
    ) -> Self {
        Self { db, vault, rng, clock, rate_limiter, invalidator, rules }
    }

    /// The configured groups.
    #[must_use]
    pub const fn groups(&self) -> &Groups {
        &self.rules.groups
    }

    /// Creates a token (spec §4.4). The owner's row is locked while counting, so that parallel requests cannot exceed the
    /// limit.
    ///
    /// # Errors
    /// The limit is reached; a group that the owner may not use; the database.
    pub async fn create(&self, caller: &Caller, mut new: NewToken) -> Result<TokenWithKey, TokensError> {
        let policy = &mut new.policy;
        policy.cross_group_retry = policy.group.retry_allowed(policy.cross_group_retry);
        self.rules.groups.admit(&caller.user.group, &policy.group)?;
        let key = self.rng.generate(|rng| ApiKey::generate(rng, self.rules.cell));
        let sealed = self.rng.generate(|rng| self.vault.seal(&key, rng));
        let now = self.clock.now();
        let mut tx = self.db.begin().await?;
        let owner = actors::lock_caller(&mut tx, caller.user.id).await?;
        let limit = owner.max_tokens.unwrap_or(self.rules.max_tokens);
        if tokens::count(&mut tx, owner.id).await? >= limit {
            return Err(TokensError::LimitReached(limit));
        }
        let id = tokens::insert(&mut tx, owner.id, &sealed, &new, now).await?;
        let token = tokens::find(&mut tx, owner.id, id).await?.ok_or(TokensError::NotFound)?;
        self.write_audit(&mut tx, caller, Action::TokenCreated, &token).await?;
        storage::commit(tx).await?;
        Ok(TokenWithKey { token, key })
    }

    /// Edits a token (spec §4.5a). Fields that are `None` in `patch` keep their value.
    ///
    /// # Errors
    /// The token is not the caller's; a group that the owner may not use; a quota out of range, or less than is to be
    /// taken away; the database.
    pub async fn edit(&self, caller: &Caller, id: TokenId, patch: TokenPatch) -> Result<Token, TokensError> {
        if let Some(group) = &patch.group {
            self.rules.groups.admit(&caller.user.group, group)?;
        }
        let added = match patch.remain_quota {
            Some(QuotaChange::Add(units)) => Some(("add_quota", units.to_string())),
            Some(QuotaChange::Set(_)) | None => None,
        };
        let mut tx = self.db.begin().await?;
        actors::lock_caller(&mut tx, caller.user.id).await?;
        let old = tokens::lock(&mut tx, caller.user.id, id).await?.ok_or(TokensError::NotFound)?;
        let token = old.clone().edited(patch)?;
        tokens::update(&mut tx, &token, self.clock.micros()).await?;
        let entry = self
            .entry(caller, Action::TokenEdited, token.id, token.user_id)
            .with(added.into_iter().collect::<Details>())
            .with_changes(token.changes_since(&old));
        audit::insert(&mut tx, entry).await?;
        self.invalidator.commit(tx, token.user_id).await?;
        Ok(token)
    }

    /// Enables or disables one of the caller's tokens (spec §4.5b).
    ///
    /// # Errors
    /// The token is not the caller's; it was disabled by a higher role, is expired or exhausted; the database.
    pub async fn switch(&self, caller: &Caller, id: TokenId, to: Switch) -> Result<Token, TokensError> {
        self.switch_token_of(caller, caller.user.id, id, to).await
    }

    /// Deletes a token (spec §4.6).
    ///
    /// # Errors
    /// The token is not the caller's, or was deleted before; the database.
    pub async fn delete(&self, caller: &Caller, id: TokenId) -> Result<(), TokensError> {
        match self.delete_batch(caller, &[id]).await? {
            0 => Err(TokensError::NotFound),
            _ => Ok(()),
        }
    }

    /// Deletes tokens (spec §4.7) and returns their number. Absent tokens and those of other users are skipped.
    ///
    /// # Errors
    /// The database.
    pub async fn delete_batch(&self, caller: &Caller, ids: &[TokenId]) -> Result<usize, TokensError> {
        let owner = caller.user.id;
        let now = self.clock.now();
        let mut tx = self.db.begin().await?;
        actors::lock_caller(&mut tx, owner).await?;
        let deleted = tokens::delete(&mut tx, owner, ids, now).await?;
        let entry = |id: &TokenId| self.entry(caller, Action::TokenDeleted, *id, owner);
        audit::insert_many(&mut tx, &deleted.iter().map(entry).collect::<Vec<_>>()).await?;
        self.invalidator.commit(tx, owner).await?;
        Ok(deleted.len())
    }

    async fn switch_token_of(
        &self,
        caller: &Caller,
        owner: UserId,
        id: TokenId,
        to: Switch,
    ) -> Result<Token, TokensError> {
        let mut tx = self.db.begin().await?;
        let by = if owner == caller.user.id {
            actors::lock_caller(&mut tx, owner).await?.role
        } else {
            actors::lock_admin(&mut tx, caller.user.id, owner).await?.0.role
        };
        let token = tokens::lock(&mut tx, owner, id).await?.ok_or(TokensError::NotFound)?;
        let (token, action) = match to {
            Switch::On => (token.enable(by, self.clock.now())?, Action::TokenEnabled),
            Switch::Off => (token.disable(by), Action::TokenDisabled),
        };
        tokens::update(&mut tx, &token, self.clock.micros()).await?;
        self.write_audit(&mut tx, caller, action, &token).await?;
        self.invalidator.commit(tx, owner).await?;
        Ok(token)
    }

    async fn write_audit(
        &self,
        conn: &mut Conn,
        caller: &Caller,
        action: Action,
        token: &Token,
    ) -> Result<(), StorageError> {
        audit::insert(conn, self.entry(caller, action, token.id, token.user_id)).await
    }

    fn entry(&self, caller: &Caller, action: Action, id: TokenId, owner: UserId) -> AuditEntry {
        AuditEntry::new(self.clock.now(), Actor::from(caller), action, Subject::token(id, owner))
    }
}
