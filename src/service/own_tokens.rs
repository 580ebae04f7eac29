//! Reads a user's own tokens by id, those of all requests that wait in one statement.

use std::collections::HashMap;

use crate::domain::id::{TokenId, UserId};
use crate::storage::keys::{self, SealedToken};
use crate::storage::loader::Loads;
use crate::storage::{Conn, Db, StorageError};

/// Live tokens by their owner and id.
#[derive(Debug)]
pub struct OwnTokens(pub Db);

impl Loads for OwnTokens {
    type Key = (UserId, TokenId);
    type Row = SealedToken;

    async fn read(&self, keys: &[(UserId, TokenId)]) -> Result<HashMap<(UserId, TokenId), SealedToken>, StorageError> {
        let ids: Vec<TokenId> = keys.iter().map(|(_, id)| *id).collect();
        let read = async |conn: &mut Conn| keys::list_sealed_tokens(conn, &ids).await;
        let tokens = self.0.bounded_not_reserved(read).await?;
        // One of another owner has no request's key.
        Ok(tokens.into_iter().map(|sealed| ((sealed.token.user_id, sealed.token.id), sealed)).collect())
    }
}
