//! Carries a request with an `Idempotency-Key` out once (spec §15.3). The record is written in the transaction of what
//! it records, under the lock of the caller's account. A request that failed is not recorded.

use crate::domain::audit::{Action, Actor, AuditEntry, Subject};
use crate::domain::caller::Caller;
use crate::domain::id::UserId;
use crate::domain::idempotency_key::{IdempotentRequest, MadeKey};
use crate::domain::time::UnixTime;
use crate::domain::token::TokenWithKey;
use crate::service::vault::{Unopenable, Vault};
use crate::storage::{Conn, StorageError, audit, idempotency_keys, keys};

/// Why a request was not carried out, or not answered again.
#[derive(Debug, thiserror::Error)]
pub enum IdempotencyKeyError {
    #[error("this `Idempotency-Key` was used for another request; give each request its own")]
    Reused,
    #[error("this request was carried out before, and its token was deleted since")]
    TokenDeleted,
    #[error("this request was carried out before, and the key that it made was replaced since; read the token's key")]
    KeyRotated,
    #[error(transparent)]
    Vault(#[from] Unopenable),
    #[error(transparent)]
    Storage(#[from] StorageError),
}

/// What the request made when it was carried out before; `None` if it is new, or has no key.
///
/// # Errors
/// The key was used for another request; the database.
pub async fn find(
    conn: &mut Conn,
    user: UserId,
    request: Option<&IdempotentRequest>,
) -> Result<Option<Vec<MadeKey>>, IdempotencyKeyError> {
    let Some(request) = request else {
        return Ok(None);
    };
    match idempotency_keys::find(conn, user, &request.key).await? {
        Some((hash, _)) if hash != request.hash => Err(IdempotencyKeyError::Reused),
        found => Ok(found.map(|(_, made)| made)),
    }
}

/// Records that the request was carried out, if it has a key.
///
/// # Errors
/// The database.
pub async fn record(
    conn: &mut Conn,
    user: UserId,
    request: Option<&IdempotentRequest>,
    made: &[MadeKey],
    now: UnixTime,
) -> Result<(), StorageError> {
    match request {
        Some(request) => idempotency_keys::insert(conn, user, request, made, now).await,
        None => Ok(()),
    }
}

/// The tokens that a request of the caller made, as they are now, with the keys that it made. Writes to the audit log
/// that the keys are revealed; the caller commits before it answers.
///
/// # Errors
/// One of them was deleted, or has another key by now; the database.
pub async fn open(
    conn: &mut Conn,
    vault: &Vault,
    caller: &Caller,
    made: &[MadeKey],
    now: UnixTime,
) -> Result<Vec<TokenWithKey>, IdempotencyKeyError> {
    let ids: Vec<_> = made.iter().map(|made| made.token).collect();
    let mut found = keys::list_sealed_tokens(conn, &ids).await?;
    if !found.iter().all(|sealed| vault.knows_data_key_of(&sealed.sealed)) {
        vault.reload(conn).await?;
    }
    let mut tokens = Vec::with_capacity(made.len());
    for MadeKey { token: id, digest } in made {
        let place = found.iter().position(|sealed| sealed.token.id == *id && sealed.token.user_id == caller.user.id);
        let sealed = found.swap_remove(place.ok_or(IdempotencyKeyError::TokenDeleted)?);
        if sealed.digest != *digest {
            return Err(IdempotencyKeyError::KeyRotated);
        }
        tokens.push(TokenWithKey { key: vault.open(&sealed.digest, &sealed.sealed)?, token: sealed.token });
    }
    let entry = |token: &TokenWithKey| {
        let subject = Subject::token(token.token.id, caller.user.id);
        AuditEntry::new(now, Actor::from(caller), Action::KeyRevealed, subject)
    };
    audit::insert_many(conn, &tokens.iter().map(entry).collect::<Vec<_>>()).await?;
    Ok(tokens)
}
