//! The operations of the token API (spec §4.1–4.7). `lists` finds tokens, `pages` reads most of them, and
//! `administration` is for administrators.

mod administration;
mod bulk;
mod chosen;
mod deleted;
mod lists;
mod pages;

use std::sync::Arc;

pub use self::bulk::{BulkError, BulkPlace, OwnerFault, OwnersChanged, TokenChange};
pub use self::chosen::ChosenTokens;
pub use self::lists::{KeySearch, Search, TokenPage};
use self::pages::TokenPages;
use super::actors::{self, ActorError, OwnerError};
use super::rate_limiter::RateLimited;
use super::vault::Unopenable;
use crate::domain::audit::{Action, Actor, AuditEntry, Details, Subject};
use crate::domain::audit_changes::FieldChanges;
use crate::domain::bounds;
use crate::domain::caller::Caller;
use crate::domain::cell::CellLabel;
use crate::domain::expected_version::{ExpectedVersion, VersionChanged};
use crate::domain::group::{GroupRefused, Groups};
use crate::domain::id::{TokenId, UserId};
use crate::domain::idempotency_key::{Idempotent, IdempotentRequest};
use crate::domain::key::ApiKey;
use crate::domain::search::SearchInvalid;
use crate::domain::status::EnableError;
use crate::domain::token::{Switch, Token};
use crate::domain::token_patch::{EditError, NewToken, QuotaChange, TokenPatch};
use crate::domain::user::User;
use crate::domain::wording::Count;
use crate::service::core::Core;
use crate::service::idempotency_keys::IdempotencyKeyError;
use crate::storage::loader::Loader;
use crate::storage::{Conn, StorageError, Tx, audit, old_keys, tokens};

/// Settings of the operator for tokens.
#[derive(Debug)]
pub struct TokenRules {
    /// Live tokens that a user may have; a user's own limit overrides it.
    pub max_tokens: i64,
    /// Days for which a deleted token can be restored.
    pub restore_days: u32,
    /// Every account may use the token API without enablement.
    pub token_api_open: bool,
    pub cell: CellLabel,
}

#[derive(Debug, thiserror::Error)]
pub enum TokensError {
    /// Absent, deleted, or another user's: the caller cannot tell which.
    #[error("there is no such token")]
    NotFound,
    /// Spec §7.2.
    #[error("this account has reached its limit of {}; delete one first", Count(*.0, "token"))]
    LimitReached(i64),
    /// Of an unbounded number, only some would be changed.
    #[error(
        "more than {} tokens match or were to be looked at; filter for fewer, or for one user",
        bounds::MAX_LISTED_TOKENS
    )]
    TooManyMatch,
    /// Spec §3.
    #[error(transparent)]
    Enable(#[from] EnableError),
    #[error(transparent)]
    Group(#[from] GroupRefused),
    #[error(transparent)]
    Edit(#[from] EditError),
    #[error(transparent)]
    Search(#[from] SearchInvalid),
    #[error(transparent)]
    Changed(#[from] VersionChanged),
    #[error(transparent)]
    Keyed(#[from] IdempotencyKeyError),
    /// The caller may no longer do this.
    #[error(transparent)]
    Actor(#[from] ActorError),
    #[error(transparent)]
    Owner(#[from] OwnerError),
    #[error(transparent)]
    RateLimited(#[from] RateLimited),
    /// The stored key cannot be decrypted.
    #[error(transparent)]
    Vault(#[from] Unopenable),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl TokensError {
    /// Returns true if it is about the tokens or their owner: those of other owners may be changed in the same way.
    pub(super) const fn is_of_owner(&self) -> bool {
        match self {
            Self::NotFound
            | Self::LimitReached(_)
            | Self::Enable(_)
            | Self::Group(_)
            | Self::Edit(_)
            | Self::Owner(OwnerError::NotFound | OwnerError::RoleTooLow | OwnerError::NotEnabled) => true,
            Self::Owner(OwnerError::Actor(_))
            | Self::Actor(_)
            | Self::Keyed(_)
            | Self::RateLimited(_)
            | Self::TooManyMatch
            | Self::Search(_)
            | Self::Changed(_)
            | Self::Vault(_)
            | Self::Storage(_) => false,
        }
    }
}

/// What an answer shows of a token that was created.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// The token with its key.
    Key,
    Nothing,
}

#[derive(Debug)]
pub struct Tokens {
    core: Core,
    rules: TokenRules,
    /// Pages of all tokens of a user.
    lists: Loader<TokenPages>,
    /// Pages of those whose names match. They read the tokens themselves, so lists do not wait for them.
    searches: Loader<TokenPages>,
}

impl Tokens {
    /// Starts the tasks that read pages.
    pub fn new(core: Core, rules: TokenRules) -> Self {
        let [lists, searches] = std::array::from_fn(|_| Loader::start(TokenPages(core.db.clone())));
        Self { core, rules, lists, searches }
    }

    /// The configured groups.
    pub const fn groups(&self) -> &Groups {
        &self.core.groups
    }

    /// Creates a token (spec §4.4). The owner's row is locked while counting, so that parallel requests cannot exceed
    /// the limit. A request with a key that was carried out before creates none; its token has its key if the answer
    /// shows it.
    ///
    /// # Errors
    /// The limit is reached; a group that the owner may not use; see [`IdempotencyKeyError`]; the database.
    pub async fn create(
        &self,
        caller: &Caller,
        new: NewToken,
        request: Option<&IdempotentRequest>,
        shows: Shows,
    ) -> Result<Idempotent<(Token, Option<ApiKey>)>, TokensError> {
        let owner = caller.user.id;
        let created = self.create_showing(caller, owner, vec![new], request, shows).await;
        let created = created.map_err(|failed| failed.error)?;
        let Idempotent { mut answer, is_replayed } = created;
        let answer = answer.pop().ok_or(TokensError::NotFound)?;
        Ok(Idempotent { answer, is_replayed })
    }

    /// Edits a token (spec §4.5a). Fields that are `None` in `patch` keep their value.
    ///
    /// # Errors
    /// The token is not the caller's, or not `expected`; a group that the owner may not use; a quota out of range, or
    /// less than is to be taken away; see [`IdempotencyKeyError`]; the database.
    pub async fn edit(
        &self,
        caller: &Caller,
        id: TokenId,
        patch: TokenPatch,
        expected: &ExpectedVersion,
        request: Option<&IdempotentRequest>,
    ) -> Result<Idempotent<Token>, TokensError> {
        let change = TokenChange { patch, switch: None };
        self.change_one(caller, caller.user.id, id, change, expected, request).await
    }

    /// Enables or disables one of the caller's tokens (spec §4.5b).
    ///
    /// # Errors
    /// The token is not the caller's, or not `expected`; it was disabled by a higher role, is expired or exhausted; the
    /// database.
    pub async fn switch(
        &self,
        caller: &Caller,
        id: TokenId,
        to: Switch,
        expected: &ExpectedVersion,
    ) -> Result<Token, TokensError> {
        let change = TokenChange { patch: TokenPatch::default(), switch: Some(to) };
        Ok(self.change_one(caller, caller.user.id, id, change, expected, None).await?.answer)
    }

    /// Deletes a token (spec §4.6).
    ///
    /// # Errors
    /// The token is not the caller's, was deleted before, or is not `expected`; the database.
    pub async fn delete(&self, caller: &Caller, id: TokenId, expected: &ExpectedVersion) -> Result<(), TokensError> {
        self.delete_one(caller, caller.user.id, id, expected).await
    }

    /// The same for a token of `owner`.
    async fn delete_one(
        &self,
        caller: &Caller,
        owner: UserId,
        id: TokenId,
        expected: &ExpectedVersion,
    ) -> Result<(), TokensError> {
        let mut tx = self.core.db.begin().await?;
        actors::lock_owner(&mut tx, caller.user.id, owner, self.rules.token_api_open).await?;
        lock(&mut tx, owner, id, expected).await?;
        self.delete_owned(tx, caller, owner, &[id]).await?;
        Ok(())
    }

    /// Deletes tokens (spec §4.7) and returns their number. Absent tokens and those of other users are skipped.
    ///
    /// # Errors
    /// The database.
    pub async fn delete_batch(&self, caller: &Caller, ids: &[TokenId]) -> Result<usize, TokensError> {
        let mut tx = self.core.db.begin().await?;
        actors::lock_caller(&mut tx, caller.user.id).await?;
        self.delete_owned(tx, caller, caller.user.id, ids).await
    }

    /// Deletes those of `ids` that are of `owner`, whose row is locked, and commits.
    async fn delete_owned(
        &self,
        mut tx: Tx,
        caller: &Caller,
        owner: UserId,
        ids: &[TokenId],
    ) -> Result<usize, TokensError> {
        let deleted = tokens::delete(&mut tx, owner, ids, self.core.clock.now()).await?;
        let entry = |id: &TokenId| self.entry(caller, Action::TokenDeleted, *id, owner);
        audit::insert_many(&mut tx, &deleted.iter().map(entry).collect::<Vec<_>>()).await?;
        self.core.invalidator.commit(tx, owner).await?;
        Ok(deleted.len())
    }

    /// Refuses more live tokens than the owner, whose row is locked, may have.
    async fn check_limit(&self, conn: &mut Conn, owner: &User, more: usize) -> Result<(), TokensError> {
        let limit = owner.max_tokens.unwrap_or(self.rules.max_tokens);
        let more = i64::try_from(more).unwrap_or(i64::MAX);
        if tokens::count(conn, owner.id).await?.saturating_add(more) > limit {
            return Err(TokensError::LimitReached(limit));
        }
        Ok(())
    }

    /// Old keys end with their token: one that expired and is extended has none. Takes tokens before and after a
    /// change.
    async fn end_old_keys_of_extended(
        &self,
        conn: &mut Conn,
        changes: impl IntoIterator<Item = (&Token, &Token)>,
    ) -> Result<(), StorageError> {
        let now = self.core.clock.now();
        let was_extended =
            |(old, new): &(&Token, &Token)| old.policy.lifetime.is_over(now) && !new.policy.lifetime.is_over(now);
        let extended: Vec<TokenId> = changes.into_iter().filter(was_extended).map(|(old, _)| old.id).collect();
        if !extended.is_empty() {
            old_keys::end_all(conn, &extended, now).await?;
        }
        Ok(())
    }

    /// Writes locked tokens. Returns them with their new versions.
    async fn update_all(&self, conn: &mut Conn, mut tokens: Vec<Token>) -> Result<Vec<Token>, StorageError> {
        let versions = tokens::update(conn, &tokens, self.core.clock.micros()).await?;
        for token in &mut tokens {
            if let Some(version) = versions.get(&token.id) {
                Arc::make_mut(&mut token.policy).version = *version;
            }
        }
        Ok(tokens)
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

    /// The line of an edit in the audit log.
    fn edit_entry(&self, caller: &Caller, token: &Token, patch: &TokenPatch, changes: FieldChanges) -> AuditEntry {
        let added = match patch.remain_quota {
            Some(QuotaChange::Add(units)) => Some(("add_quota", units.to_string())),
            Some(QuotaChange::Set(_)) | None => None,
        };
        self.entry(caller, Action::TokenEdited, token.id, token.user_id)
            .with(added.into_iter().collect::<Details>())
            .with_changes(changes)
    }

    fn entry(&self, caller: &Caller, action: Action, id: TokenId, owner: UserId) -> AuditEntry {
        AuditEntry::new(self.core.clock.now(), Actor::from(caller), action, Subject::token(id, owner))
    }
}

/// Locks a live token of `owner`, if it is `expected`.
async fn lock(conn: &mut Conn, owner: UserId, id: TokenId, expected: &ExpectedVersion) -> Result<Token, TokensError> {
    let token = tokens::lock(conn, owner, id).await?.ok_or(TokensError::NotFound)?;
    expected.check(token.policy.version)?;
    Ok(token)
}
