//! Deleted tokens: a list of them, and restoring one (spec §15.5). Deleting and restoring move no quota: holds that
//! ended meanwhile count, and who disabled a token stays. Replaced keys stay ended.

use std::sync::Arc;

use super::{Tokens, TokensError, actors};
use crate::domain::audit::Action;
use crate::domain::caller::Caller;
use crate::domain::id::TokenId;
use crate::domain::page::{Page, PageRequest};
use crate::domain::time::{DAY, UnixTime};
use crate::domain::token::{DeletedToken, Token};
use crate::storage::tokens;

impl Tokens {
    /// A page of the caller's deleted tokens that can be restored, the last one first.
    ///
    /// # Errors
    /// The database.
    pub async fn list_deleted(&self, caller: &Caller, page: PageRequest) -> Result<Page<DeletedToken>, TokensError> {
        let mut conn = self.core.db.acquire().await?;
        Ok(tokens::list_deleted(&mut conn, caller.user.id, self.restorable_since(), page).await?)
    }

    /// Restores a deleted token with its key. When it returns, this server admits the key, also one of another service.
    ///
    /// # Errors
    /// The caller deleted no such token, or too long ago; the limit of tokens is reached; the database.
    pub async fn restore(&self, caller: &Caller, id: TokenId) -> Result<Token, TokensError> {
        let mut tx = self.core.db.begin().await?;
        let owner = actors::lock_caller(&mut tx, caller.user.id).await?;
        let found = tokens::lock_deleted(&mut tx, owner.id, id, self.restorable_since()).await?;
        let (mut token, digest) = found.ok_or(TokensError::NotFound)?;
        self.check_limit(&mut tx, &owner, 1).await?;
        Arc::make_mut(&mut token.policy).version = tokens::restore(&mut tx, id, self.core.clock.micros()).await?;
        self.write_audit(&mut tx, caller, Action::TokenRestored, &token).await?;
        let foreign = token.key_foreign.then_some(&digest);
        self.core.invalidator.commit_restored(tx, owner.id, foreign).await?;
        Ok(token)
    }

    /// When a token that is deleted now can be restored for the last time.
    pub fn restorable_until(&self, deleted_time: UnixTime) -> UnixTime {
        deleted_time.plus(DAY * i64::from(self.rules.restore_days))
    }

    fn restorable_since(&self) -> UnixTime {
        self.core.clock.now().plus(-DAY * i64::from(self.rules.restore_days))
    }
}
