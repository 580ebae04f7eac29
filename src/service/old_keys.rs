//! Rotation: gives a token another key, and lets the replaced one work for a while longer (spec §15.1). A token stays
//! the same: its id, balance, limits and history.

use super::actors::{self, OwnerError};
use crate::domain::audit::{Action, Actor, AuditEntry, Subject};
use crate::domain::bounds;
use crate::domain::caller::Caller;
use crate::domain::cell::CellLabel;
use crate::domain::expected_version::{ExpectedVersion, VersionChanged};
use crate::domain::id::{OldKeyId, TokenId, UserId};
use crate::domain::idempotency_key::{Idempotent, IdempotentRequest, MadeKey};
use crate::domain::key::{ApiKey, KeyHint};
use crate::domain::old_key::{Grace, OldKey};
use crate::domain::token::TokenWithKey;
use crate::service::core::Core;
use crate::service::idempotency_keys::{self, IdempotencyKeyError};
use crate::storage::{self, StorageError, audit, old_keys, tokens};

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
    Storage(#[from] StorageError),
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
        let mut tx = self.core.db.begin().await?;
        actors::lock_owner(&mut tx, caller.user.id, owner, self.token_api_open).await?;
        if let Some(made) = idempotency_keys::find(&mut tx, caller.user.id, request).await? {
            let now = self.core.clock.now();
            if owner != caller.user.id {
                let token = tokens::find(&mut tx, owner, id).await?.ok_or(OldKeysError::NotFound)?;
                let old_keys = old_keys::list(&mut tx, id, token.policy.lifetime, false, now).await?;
                storage::commit(tx).await?;
                return Ok(Idempotent::replayed((RotatedToken { id, key_hint: token.key_hint, old_keys }, None)));
            }
            let found = idempotency_keys::open(&mut tx, &self.core.vault, caller, &made, now).await?.pop();
            let TokenWithKey { token, key } = found.ok_or(OldKeysError::NotFound)?;
            let old_keys = old_keys::list(&mut tx, id, token.policy.lifetime, false, now).await?;
            storage::commit(tx).await?;
            return Ok(Idempotent::replayed((RotatedToken { id, key_hint: token.key_hint, old_keys }, Some(key))));
        }
        let token = tokens::lock(&mut tx, owner, id).await?.ok_or(OldKeysError::NotFound)?;
        expected.check(token.policy.version)?;
        let now = self.core.clock.now();
        if token.policy.lifetime.is_over(now) {
            return Err(OldKeysError::Expired);
        }
        if !grace.is_none() && old_keys::count_live(&mut tx, id, now).await? >= bounds::MAX_OLD_KEYS {
            return Err(OldKeysError::TooMany);
        }
        self.core.vault.lock_data_key(&mut tx).await?;
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
        audit::insert(&mut tx, self.entry(caller, Action::TokenRotated, id, owner).with(details)).await?;
        let made = [MadeKey { token: id, digest: sealed.digest }];
        idempotency_keys::record(&mut tx, caller.user.id, request, &made, now).await?;
        self.core.invalidator.commit(tx, owner).await?;
        Ok(Idempotent::now((RotatedToken { id, key_hint: sealed.hint, old_keys }, Some(key))))
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
