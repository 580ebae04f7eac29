//! The verbs of the token API (spec §4.1–4.7).

use std::sync::Arc;

use super::invalidator::Invalidator;
use super::rate_limiter::{RateLimited, RateLimiter};
use super::rng::Rng;
use super::vault::{Unopenable, Vault};
use crate::domain::audit::{Action, Actor, AuditEntry, Details, Subject, changed};
use crate::domain::caller::Caller;
use crate::domain::cell::CellLabel;
use crate::domain::group::{GroupRefused, Groups};
use crate::domain::id::{TokenId, UserId};
use crate::domain::key::ApiKey;
use crate::domain::money::QuotaInvalid;
use crate::domain::page::{Page, PageRequest};
use crate::domain::search::SearchPattern;
use crate::domain::status::EnableRefused;
use crate::domain::time::Clock;
use crate::domain::token::{NewToken, Switch, Token, TokenPatch, TokenWithKey};
use crate::storage::{self, Conn, Db, StorageError, audit, tokens, users};

/// What an operator decides about tokens.
#[derive(Debug)]
pub struct TokenRules {
    /// Live tokens a user may have, unless the user has a limit of its own.
    pub max_tokens: i64,
    /// The groups there are.
    pub groups: Groups,
    /// The cell that issues the keys.
    pub cell: CellLabel,
}

/// Why a verb was refused.
#[derive(Debug, thiserror::Error)]
pub enum TokensError {
    /// Absent, deleted or somebody else's; nobody can tell which.
    #[error("there is no such token")]
    NotFound,
    /// Spec §7.2.
    #[error("you have reached your limit of {0} tokens; delete one first")]
    LimitReached(i64),
    /// Spec §3.
    #[error(transparent)]
    Enable(#[from] EnableRefused),
    /// Not one of the owner's groups.
    #[error(transparent)]
    Group(#[from] GroupRefused),
    /// Out of range.
    #[error("`remain_quota` {0}")]
    Quota(#[from] QuotaInvalid),
    /// Spec §7.2.
    #[error(transparent)]
    RateLimited(#[from] RateLimited),
    /// A row that does not open.
    #[error(transparent)]
    Vault(#[from] Unopenable),
    /// The database.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// What to search for (spec §4.2). Both absent is a list.
#[derive(Debug)]
pub struct Search {
    /// A part of the name.
    pub name: Option<SearchPattern>,
    /// The key or a part of it.
    pub key: Option<KeySearch>,
}

/// A whole key is looked up; a part is looked for in every key of the owner.
#[derive(Debug)]
pub enum KeySearch {
    /// Found by digest.
    Whole(ApiKey),
    /// Found by opening the owner's keys, a bounded number.
    Part(SearchPattern),
}

/// The token service.
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
    /// A service on `db`.
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

    /// The groups there are.
    #[must_use]
    pub const fn groups(&self) -> &Groups {
        &self.rules.groups
    }

    /// Spec §4.1.
    ///
    /// # Errors
    /// The database.
    pub async fn list(&self, caller: &Caller, page: PageRequest) -> Result<Page<Token>, TokensError> {
        let mut conn = self.db.acquire().await?;
        Ok(tokens::list(&mut conn, caller.user.id, page).await?)
    }

    /// Spec §4.2. Counts against the caller's searches.
    ///
    /// # Errors
    /// Too many searches; the database.
    pub async fn search(&self, caller: &Caller, search: Search, page: PageRequest) -> Result<Page<Token>, TokensError> {
        let owner = caller.user.id;
        self.rate_limiter.may_search(owner)?;
        let mut conn = self.db.acquire().await?;
        match (search.name, search.key) {
            (None, None) => Ok(tokens::list(&mut conn, owner, page).await?),
            (Some(name), None) => Ok(tokens::list_like(&mut conn, owner, &name.like(), page).await?),
            (name, Some(KeySearch::Whole(key))) => {
                let found = tokens::find_by_key(&mut conn, &self.vault.digest(&key)).await?;
                let fits = |token: &Token| {
                    token.user_id == owner && name.as_ref().is_none_or(|name| name.matches(&token.name.folded()))
                };
                Ok(paged(page, found.into_iter().filter(fits).collect()))
            }
            (name, Some(KeySearch::Part(part))) => {
                let like = name.map_or_else(|| "%".to_owned(), |name| name.like());
                let sealed = tokens::list_sealed_keys_like(&mut conn, owner, &like).await?;
                let mut found = Vec::new();
                for (id, digest, sealed) in sealed {
                    if part.matches_key(&self.vault.open(&digest, &sealed)?) {
                        found.push(id);
                    }
                }
                let ids = paged(page, found);
                let items = tokens::list_among(&mut conn, owner, &ids.items).await?;
                Ok(page.holding(items, ids.total))
            }
        }
    }

    /// Spec §4.4. The owner's row is locked while counting, so parallel creates cannot pass the limit.
    ///
    /// # Errors
    /// The limit; a group that is not the owner's; the database.
    pub async fn create(&self, caller: &Caller, mut new: NewToken) -> Result<TokenWithKey, TokensError> {
        new.cross_group_retry = new.group.retry_allowed(new.cross_group_retry);
        self.rules.groups.admit(&caller.user.group, &new.group)?;
        let key = self.rng.generate(|rng| ApiKey::generate(rng, self.rules.cell));
        let sealed = self.rng.generate(|rng| self.vault.seal(&key, rng));
        let now = self.clock.now();
        let mut tx = self.db.begin().await?;
        let owner = users::lock(&mut tx, caller.user.id).await?.ok_or(TokensError::NotFound)?;
        let limit = owner.max_tokens.unwrap_or(self.rules.max_tokens);
        if tokens::count(&mut tx, owner.id).await? >= limit {
            return Err(TokensError::LimitReached(limit));
        }
        let id = tokens::insert(&mut tx, owner.id, &sealed, &new, now).await?;
        let token = tokens::find(&mut tx, owner.id, id).await?.ok_or(TokensError::NotFound)?;
        self.note(&mut tx, caller, Action::TokenCreated, &token, Details::new()).await?;
        storage::commit(tx).await?;
        Ok(TokenWithKey { token, key })
    }

    /// Spec §4.5a: what `patch` leaves out stays as it is.
    ///
    /// # Errors
    /// Not the caller's; a group or a quota that does not fit; the database.
    pub async fn edit(&self, caller: &Caller, id: TokenId, patch: TokenPatch) -> Result<Token, TokensError> {
        if let Some(group) = &patch.group {
            self.rules.groups.admit(&caller.user.group, group)?;
        }
        let details = changed_fields(&patch);
        let mut tx = self.db.begin().await?;
        users::lock(&mut tx, caller.user.id).await?;
        let token = tokens::lock(&mut tx, caller.user.id, id).await?.ok_or(TokensError::NotFound)?;
        let token = token.edited(patch)?;
        tokens::update(&mut tx, &token).await?;
        self.note(&mut tx, caller, Action::TokenEdited, &token, details).await?;
        self.invalidator.commit(tx, token.user_id).await?;
        Ok(token)
    }

    /// Spec §4.5b, for the owner.
    ///
    /// # Errors
    /// Not the caller's; switched off by a higher role, expired or exhausted; the database.
    pub async fn switch(&self, caller: &Caller, id: TokenId, to: Switch) -> Result<Token, TokensError> {
        self.switch_of(caller, caller.user.id, id, to).await
    }

    /// The same for an administrator, on anybody's token.
    ///
    /// # Errors
    /// Absent; switched off by a higher role, expired or exhausted; the database.
    pub async fn switch_anyones(&self, admin: &Caller, id: TokenId, to: Switch) -> Result<Token, TokensError> {
        let owner = {
            let mut conn = self.db.acquire().await?;
            tokens::find_owner(&mut conn, id).await?.ok_or(TokensError::NotFound)?
        };
        self.switch_of(admin, owner, id, to).await
    }

    /// A page of everybody's tokens, without their keys, for administrators.
    ///
    /// # Errors
    /// The database.
    pub async fn list_everyones(
        &self,
        owner: Option<UserId>,
        name: Option<SearchPattern>,
        page: PageRequest,
    ) -> Result<Page<Token>, TokensError> {
        let like = name.map_or_else(|| "%".to_owned(), |name| name.like());
        let mut conn = self.db.acquire().await?;
        match owner {
            Some(owner) => Ok(tokens::list_like(&mut conn, owner, &like, page).await?),
            None => Ok(tokens::list_everyones(&mut conn, &like, page).await?),
        }
    }

    /// Spec §4.6.
    ///
    /// # Errors
    /// Not the caller's, also the second time; the database.
    pub async fn delete(&self, caller: &Caller, id: TokenId) -> Result<(), TokensError> {
        match self.delete_batch(caller, &[id]).await? {
            0 => Err(TokensError::NotFound),
            _ => Ok(()),
        }
    }

    /// Spec §4.7: tells how many went. Absent ones and somebody else's are skipped.
    ///
    /// # Errors
    /// The database.
    pub async fn delete_batch(&self, caller: &Caller, ids: &[TokenId]) -> Result<usize, TokensError> {
        let owner = caller.user.id;
        let now = self.clock.now();
        let mut tx = self.db.begin().await?;
        users::lock(&mut tx, owner).await?;
        let gone = tokens::delete(&mut tx, owner, ids, now).await?;
        let line = |id: &TokenId| self.entry(caller, Action::TokenDeleted, *id, owner, Details::new());
        audit::insert_many(&mut tx, &gone.iter().map(line).collect::<Vec<_>>()).await?;
        self.invalidator.commit(tx, owner).await?;
        Ok(gone.len())
    }

    async fn switch_of(&self, caller: &Caller, owner: UserId, id: TokenId, to: Switch) -> Result<Token, TokensError> {
        let mut tx = self.db.begin().await?;
        users::lock(&mut tx, owner).await?;
        let token = tokens::lock(&mut tx, owner, id).await?.ok_or(TokensError::NotFound)?;
        let by = caller.user.role;
        let (token, action) = match to {
            Switch::On => (token.enable(by, self.clock.now())?, Action::TokenEnabled),
            Switch::Off => (token.disable(by), Action::TokenDisabled),
        };
        tokens::update(&mut tx, &token).await?;
        self.note(&mut tx, caller, action, &token, Details::new()).await?;
        self.invalidator.commit(tx, owner).await?;
        Ok(token)
    }

    async fn note(
        &self,
        conn: &mut Conn,
        caller: &Caller,
        action: Action,
        token: &Token,
        details: Details,
    ) -> Result<(), StorageError> {
        audit::insert(conn, self.entry(caller, action, token.id, token.user_id, details)).await
    }

    fn entry(&self, caller: &Caller, action: Action, id: TokenId, owner: UserId, details: Details) -> AuditEntry {
        AuditEntry::new(self.clock.now(), Actor::from(caller), action, Subject::token(id, owner)).with(details)
    }
}

/// What the audit log remembers of an edit.
fn changed_fields(patch: &TokenPatch) -> Details {
    let mut details = changed([
        ("name", patch.name.is_some()),
        ("note", patch.note.is_some()),
        ("expired_time", patch.lifetime.is_some()),
        ("remain_quota", patch.remain_quota.is_some()),
        ("unlimited_quota", patch.unlimited_quota.is_some()),
        ("model_limits_enabled", patch.model_limits_enabled.is_some()),
        ("model_limits", patch.model_limits.is_some()),
        ("allow_ips", patch.allow_ips.is_some()),
        ("group", patch.group.is_some()),
        ("cross_group_retry", patch.cross_group_retry.is_some()),
    ]);
    details.extend(patch.remain_quota.map(|units| ("remain_quota", units.get().to_string())));
    details.extend(patch.group.as_ref().map(|group| ("group", group.as_str().to_owned())));
    details
}

/// A page of what is all in memory.
fn paged<T>(page: PageRequest, all: Vec<T>) -> Page<T> {
    let total = i64::try_from(all.len()).unwrap_or(i64::MAX);
    let skip = usize::try_from(page.offset()).unwrap_or(usize::MAX);
    let take = usize::try_from(page.size()).unwrap_or(0);
    page.holding(all.into_iter().skip(skip).take(take).collect(), total)
}
