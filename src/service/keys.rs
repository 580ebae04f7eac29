//! Reads API keys back (spec §4.3). A key is returned only after the audit log has the entry.

use std::sync::Arc;

use super::audit_writer::AuditWriter;
use super::own_tokens::OwnTokens;
use super::vault::Unopenable;
use crate::domain::audit::{Action, Actor, AuditEntry, Subject};
use crate::domain::caller::Caller;
use crate::domain::id::TokenId;
use crate::domain::key::ApiKey;
use crate::domain::token::TokenWithKey;
use crate::service::core::Core;
use crate::storage::keys::SealedToken;
use crate::storage::loader::Loader;
use crate::storage::{self, StorageError};

/// Why a key was not returned.
#[derive(Debug, thiserror::Error)]
pub enum KeysError {
    /// Absent, deleted, or another user's: the caller cannot tell which.
    #[error("there is no such token")]
    NotFound,
    /// The stored key cannot be decrypted.
    #[error(transparent)]
    Vault(#[from] Unopenable),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// Reads keys back.
#[derive(Debug)]
pub struct Keys {
    core: Core,
    audit_writer: AuditWriter,
    own_tokens: Arc<Loader<OwnTokens>>,
}

impl Keys {
    pub fn new(core: Core, own_tokens: Arc<Loader<OwnTokens>>) -> Self {
        let audit_writer = AuditWriter::start(core.db.clone());
        Self { core, audit_writer, own_tokens }
    }

    /// One of the caller's tokens with its key.
    ///
    /// # Errors
    /// See [`KeysError`].
    pub async fn show(&self, caller: &Caller, id: TokenId) -> Result<TokenWithKey, KeysError> {
        let found = self.own_tokens.load((caller.user.id, id)).await?;
        let SealedToken { token, digest, sealed } = found.ok_or(KeysError::NotFound)?;
        if !self.core.vault.knows_data_key_of(&sealed) {
            self.core.vault.reload(&mut *self.core.db.acquire().await?).await?;
        }
        let key = self.core.vault.open(&digest, &sealed)?;
        self.write_audit(caller, [id]).await?;
        Ok(TokenWithKey { token, key })
    }

    /// The keys of those of `ids` that are the caller's.
    ///
    /// # Errors
    /// See [`KeysError`].
    pub async fn list(&self, caller: &Caller, ids: &[TokenId]) -> Result<Vec<(TokenId, ApiKey)>, KeysError> {
        let sealed = {
            let mut conn = self.core.db.acquire().await?;
            let sealed = storage::keys::list_sealed_keys(&mut conn, caller.user.id, ids).await?;
            self.core.vault.reload_for(&mut conn, &sealed).await?;
            sealed
        };
        let mut keys = Vec::new();
        for (id, digest, sealed) in sealed {
            keys.push((id, self.core.vault.open(&digest, &sealed)?));
        }
        self.write_audit(caller, keys.iter().map(|(id, _)| *id)).await?;
        Ok(keys)
    }

    async fn write_audit(&self, caller: &Caller, ids: impl IntoIterator<Item = TokenId>) -> Result<(), StorageError> {
        let now = self.core.clock.now();
        let entry =
            |id| AuditEntry::new(now, Actor::from(caller), Action::KeyRevealed, Subject::token(id, caller.user.id));
        self.audit_writer.write(ids.into_iter().map(entry).collect()).await
    }
}
