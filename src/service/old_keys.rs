//! Rotation: gives a token another key, and lets the replaced one work for a while longer (spec §15.1). A token stays
//! the same: its id, balance, limits and history.

use super::actors::{self, OwnerError};
use super::rate_limiter::RateLimited;
use crate::domain::audit::{Action, Actor, AuditEntry, Subject};
use crate::domain::bounds;
use crate::domain::caller::Caller;
use crate::domain::cell::CellLabel;
use crate::domain::expected_version::{ExpectedVersion, VersionChanged};
use crate::domain::id::{OldKeyId, TokenId, UserId};
use crate::domain::idempotency_key::{Idempotent, IdempotentRequest, MadeKey};
use crate::domain::key::{ApiKey, KeyHint};
use crate::domain::old_key::{Grace, OldKey};
use crate::domain::token::Token;
use crate::service::core::Core;
use crate::service::idempotency_keys::{self, IdempotencyKeyError};
use crate::storage::{self, Conn, StorageError, audit, old_keys, tokens};

#[derive(Debug, thiserror::Error)]
pub enum OldKeysError {
    /// Absent, deleted, or another user's: the caller cannot tell which.
    #[error("there is no such token")]
    NotFound,
    /// It does not belong to the token, or has ended.
    #[error("this token has no such old key that still works")]
    KeyNotFound,
    #[error("this token has expired; extend its expiry first")]
    Expired,
    #[error(
        "{} replaced keys of this token still work; end one first, or rotate with `grace_seconds` 0 from `now`",
        bounds::MAX_OLD_KEYS
    )]
    TooMany,
    #[error(transparent)]
    Changed(#[from] VersionChanged),
    #[error(transparent)]
    Keyed(#[from] IdempotencyKeyError),
    /// The caller may not do this, or not any more.
    #[error(transparent)]
    Owner(#[from] OwnerError),
    #[error(transparent)]
    RateLimited(#[from] RateLimited),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Why no key was replaced.
#[derive(Debug, thiserror::Error)]
#[error("{error}")]
pub struct BulkRotateError {
    /// The token that is the reason; `None` if it is the whole request.
    pub at: Option<TokenId>,
    pub error: OldKeysError,
}

impl<E: Into<OldKeysError>> From<E> for BulkRotateError {
    fn from(error: E) -> Self {
        Self { at: None, error: error.into() }
    }
}

/// A token's new key, and its old ones that still work.
#[derive(Debug)]
pub struct Rotated {
    pub key: ApiKey,
    pub token: RotatedToken,
}

/// The same without the key, which is for its owner alone.
#[derive(Debug)]
pub struct RotatedToken {
    pub id: TokenId,
    pub key_hint: KeyHint,
    pub old_keys: Vec<OldKey>,
}

/// Rotates keys, and lists and ends replaced ones.
#[derive(Debug)]
pub struct OldKeys {
    core: Core,
    cell: CellLabel,
    /// Every account may use the token API without enablement.
    token_api_open: bool,
}

impl OldKeys {
    pub const fn new(core: Core, cell: CellLabel, token_api_open: bool) -> Self {
        Self { core, cell, token_api_open }
    }

    /// Replaces the key of one of the caller's tokens. Earlier old keys keep their deadlines.
    ///
    /// # Errors
    /// The token is not the caller's, is not `expected`, or is expired; too many old keys still work; see
    /// [`IdempotencyKeyError`]; the database.
    pub async fn rotate(
        &self,
        caller: &Caller,
        id: TokenId,
        grace: Grace,
        expected: &ExpectedVersion,
        request: Option<&IdempotentRequest>,
    ) -> Result<Idempotent<Rotated>, OldKeysError> {
        let rotated = self.rotate_one(caller, caller.user.id, id, grace, expected, request).await?;
        let Idempotent { answer: (token, key), is_replayed } = rotated;
        Ok(Idempotent { answer: Rotated { key: key.ok_or(OldKeysError::NotFound)?, token }, is_replayed })
    }

    /// Replaces the keys of several of the caller's tokens, all or none. Returns them in the order of `ids`.
    ///
    /// # Errors
    /// As [`rotate`](Self::rotate).
    pub async fn rotate_all(
        &self,
        caller: &Caller,
        ids: &[TokenId],
        grace: Grace,
        request: Option<&IdempotentRequest>,
    ) -> Result<Idempotent<Vec<Rotated>>, BulkRotateError> {
        self.core.rate_limiter.may_write_more(&caller.user, ids.len()).map_err(OldKeysError::from)?;
        let rotated = self.rotate_tokens(caller, caller.user.id, ids, grace, &ExpectedVersion::Any, request).await?;
        let with_key = |(token, key): (RotatedToken, Option<ApiKey>)| Some(Rotated { key: key?, token });
        Ok(rotated.map(|rotated| rotated.into_iter().filter_map(with_key).collect()))
    }

    /// Replaces the key of a token of any user, who alone can read the new one.
    ///
    /// # Errors
    /// As [`rotate`](Self::rotate); the caller may not change tokens of its owner.
    pub async fn rotate_any_user(
        &self,
        admin: &Caller,
        id: TokenId,
        grace: Grace,
        expected: &ExpectedVersion,
        request: Option<&IdempotentRequest>,
    ) -> Result<Idempotent<RotatedToken>, OldKeysError> {
        let owner = {
            let mut conn = self.core.db.acquire().await?;
            tokens::find_owner(&mut conn, id).await?.ok_or(OldKeysError::NotFound)?
        };
        let rotated = self.rotate_one(admin, owner, id, grace, expected, request).await?;
        Ok(rotated.map(|(token, _)| token))
    }

    /// A request that is repeated has a key if the caller is the owner.
    async fn rotate_one(
        &self,
        caller: &Caller,
        owner: UserId,
        id: TokenId,
        grace: Grace,
        expected: &ExpectedVersion,
        request: Option<&IdempotentRequest>,
    ) -> Result<Idempotent<(RotatedToken, Option<ApiKey>)>, OldKeysError> {
        let rotated = self.rotate_tokens(caller, owner, &[id], grace, expected, request).await;
        let Idempotent { mut answer, is_replayed } = rotated.map_err(|failed| failed.error)?;
        Ok(Idempotent { answer: answer.pop().ok_or(OldKeysError::NotFound)?, is_replayed })
    }

    /// The same for several tokens, all or none.
    async fn rotate_tokens(
        &self,
        caller: &Caller,
        owner: UserId,
        ids: &[TokenId],
        grace: Grace,
        expected: &ExpectedVersion,
        request: Option<&IdempotentRequest>,
    ) -> Result<Idempotent<Vec<(RotatedToken, Option<ApiKey>)>>, BulkRotateError> {
        let mut tx = self.core.db.begin().await?;
        actors::lock_owner(&mut tx, caller.user.id, owner, self.token_api_open).await?;
        if let Some(made) = idempotency_keys::find(&mut tx, caller.user.id, request).await? {
            let replayed = self.rotated_before(&mut tx, caller, owner, ids, &made).await?;
            storage::commit(tx).await?;
            return Ok(Idempotent::replayed(replayed));
        }
        let found = tokens::lock_listed(&mut tx, owner, ids).await?;
        let now = self.core.clock.now();
        let find = |id: TokenId| found.iter().find(|token| token.id == id).ok_or(OldKeysError::NotFound);
        for id in ids.iter().copied() {
            let at = |error: OldKeysError| BulkRotateError { at: Some(id), error };
            let token = find(id).map_err(at)?;
            expected.check(token.policy.version).map_err(|error| at(error.into()))?;
            if token.policy.lifetime.is_over(now) {
                return Err(at(OldKeysError::Expired));
            }
            if !grace.is_none() && old_keys::count_live(&mut tx, id, now).await? >= bounds::MAX_OLD_KEYS {
                return Err(at(OldKeysError::TooMany));
            }
        }
        self.core.vault.lock_data_key(&mut tx).await?;
        let (mut rotated, mut entries, mut made) = (Vec::new(), Vec::new(), Vec::new());
        for token in &found {
            let id = token.id;
            let key = self.core.rng.generate(|rng| ApiKey::generate(rng, self.cell));
            let sealed = self.core.rng.generate(|rng| self.core.vault.seal(&key, rng));
            old_keys::insert(&mut tx, id, grace, now).await?;
            old_keys::delete_surplus(&mut tx, id, now).await?;
            tokens::replace_key(&mut tx, id, &sealed, self.core.clock.micros()).await?;
            let old_keys = old_keys::list(&mut tx, id, token.policy.lifetime, false, now).await?;
            let details = [
                ("old_key", token.key_hint.masked()),
                ("grace_seconds", grace.seconds().to_string()),
                ("grace_from", grace.from().as_str().to_owned()),
            ];
            entries.push(self.entry(caller, Action::TokenRotated, id, owner).with(details));
            made.push(MadeKey { token: id, digest: sealed.digest });
            rotated.push((RotatedToken { id, key_hint: sealed.hint, old_keys }, Some(key)));
        }
        audit::insert_many(&mut tx, &entries).await?;
        idempotency_keys::record(&mut tx, caller.user.id, request, &made, now).await?;
        self.core.invalidator.commit(tx, owner).await?;
        Ok(Idempotent::now(rotated))
    }

    /// What became of tokens whose keys a request replaced before.
    async fn rotated_before(
        &self,
        conn: &mut Conn,
        caller: &Caller,
        owner: UserId,
        ids: &[TokenId],
        made: &[MadeKey],
    ) -> Result<Vec<(RotatedToken, Option<ApiKey>)>, OldKeysError> {
        let now = self.core.clock.now();
        let found: Vec<(Token, Option<ApiKey>)> = if owner == caller.user.id {
            let opened = idempotency_keys::open(conn, &self.core.vault, caller, made, now).await?;
            opened.into_iter().map(|made| (made.token, Some(made.key))).collect()
        } else {
            let found = tokens::lock_listed(conn, owner, ids).await?;
            found.into_iter().map(|token| (token, None)).collect()
        };
        let mut rotated = Vec::with_capacity(found.len());
        for (token, key) in found {
            let old_keys = old_keys::list(conn, token.id, token.policy.lifetime, false, now).await?;
            rotated.push((RotatedToken { id: token.id, key_hint: token.key_hint, old_keys }, key));
        }
        Ok(rotated)
    }

    /// Replaced keys of one of the caller's tokens: those that work, or those that ended.
    ///
    /// # Errors
    /// The token is not the caller's; the database.
    pub async fn list(&self, caller: &Caller, id: TokenId, is_ended: bool) -> Result<Vec<OldKey>, OldKeysError> {
        let mut conn = self.core.db.acquire().await?;
        let token = tokens::find(&mut conn, caller.user.id, id).await?.ok_or(OldKeysError::NotFound)?;
        Ok(old_keys::list(&mut conn, id, token.policy.lifetime, is_ended, self.core.clock.now()).await?)
    }

    /// Ends a replaced key at once, on every server.
    ///
    /// # Errors
    /// The token is not the caller's; it has no such key that works; the database.
    pub async fn end(&self, caller: &Caller, id: TokenId, key: OldKeyId) -> Result<(), OldKeysError> {
        let mut tx = self.core.db.begin().await?;
        let owner = caller.user.id;
        actors::lock_owner(&mut tx, owner, owner, self.token_api_open).await?;
        tokens::lock(&mut tx, owner, id).await?.ok_or(OldKeysError::NotFound)?;
        let hint = old_keys::end(&mut tx, id, key, self.core.clock.now()).await?.ok_or(OldKeysError::KeyNotFound)?;
        tokens::raise_version(&mut tx, &[id], self.core.clock.micros()).await?;
        let details = [("old_key", hint.masked())];
        audit::insert(&mut tx, self.entry(caller, Action::OldKeyEnded, id, owner).with(details)).await?;
        self.core.invalidator.commit(tx, owner).await?;
        Ok(())
    }

    fn entry(&self, caller: &Caller, action: Action, id: TokenId, owner: UserId) -> AuditEntry {
        AuditEntry::new(self.core.clock.now(), Actor::from(caller), action, Subject::token(id, owner))
    }
}
