//! A user's own sessions (spec §13.5).

use std::sync::Arc;

use super::recent::Recent;
use crate::domain::audit::{Action, Actor, AuditEntry, Details, Subject};
use crate::domain::bounds;
use crate::domain::caller::Caller;
use crate::domain::id::SessionId;
use crate::domain::key::Digest;
use crate::domain::session::Session;
use crate::service::core::Core;
use crate::storage::{self, StorageError, audit, sessions};

/// Sessions whose last recorded use is remembered; an entry is smaller than 1 KiB.
const CAPACITY: usize = 20_000;

#[derive(Debug, thiserror::Error)]
pub enum SessionsError {
    /// The session does not exist, has ended, or belongs to another user.
    #[error("there is no such session")]
    NotFound,
    #[error(transparent)]
    Storage(#[from] StorageError),
}

#[derive(Debug)]
pub struct Sessions {
    core: Core,
    /// Sessions whose use was recorded here in the last minute, so that most requests cost no statement.
    recorded: Recent<Digest>,
}

impl Sessions {
    pub fn new(core: Core) -> Self {
        let recorded = Recent::new(Arc::clone(&core.clock), bounds::LAST_USED_INTERVAL, CAPACITY);
        Self { core, recorded }
    }

    /// The digest of a session. `id` is the secret in the cookie.
    pub fn digest(&self, id: &str) -> Digest {
        sessions::digest_of(self.core.vault.digests(), id)
    }

    /// Records the use of a session, at most once a minute.
    pub async fn record_use(&self, session: &Digest) {
        if self.recorded.contains(session) {
            return;
        }
        self.recorded.note(session.clone());
        let now = self.core.clock.now();
        let recorded = async {
            let mut conn = self.core.db.acquire().await?;
            sessions::update_last_seen(&mut conn, session, now).await
        };
        // Sessions keep working when the database takes no writes.
        if let Err(error) = recorded.await {
            tracing::warn!(%error, "the last use of a session was not recorded");
        }
    }

    /// The caller's live sessions, the last used first. `current` is the session of the request, if it has one.
    ///
    /// # Errors
    /// The database.
    pub async fn list(&self, caller: &Caller, current: Option<&Digest>) -> Result<Vec<Session>, SessionsError> {
        let mut conn = self.core.db.acquire().await?;
        Ok(sessions::list(&mut conn, caller.user.id, current, self.core.clock.now()).await?)
    }

    /// Ends one of the caller's sessions. Its next request is not signed in.
    ///
    /// # Errors
    /// The caller has no such session; the database.
    pub async fn end(&self, caller: &Caller, id: SessionId) -> Result<(), SessionsError> {
        let mut tx = self.core.db.begin().await?;
        if !sessions::delete_of(&mut tx, caller.user.id, id).await? {
            return Err(SessionsError::NotFound);
        }
        audit::insert(&mut tx, self.entry(caller, [("session", id.to_string())])).await?;
        Ok(storage::commit(tx).await?)
    }

    /// Ends the caller's sessions except the one of the request, and returns their number.
    ///
    /// # Errors
    /// The database.
    pub async fn end_others(&self, caller: &Caller, current: Option<&Digest>) -> Result<u64, SessionsError> {
        let mut tx = self.core.db.begin().await?;
        let ended = sessions::delete_others_of(&mut tx, caller.user.id, current).await?;
        if ended > 0 {
            audit::insert(&mut tx, self.entry(caller, [("sessions", ended.to_string())])).await?;
        }
        storage::commit(tx).await?;
        Ok(ended)
    }

    fn entry(&self, caller: &Caller, details: impl Into<Details>) -> AuditEntry {
        let subject = Subject::user(caller.user.id);
        AuditEntry::new(self.core.clock.now(), Actor::from(caller), Action::SessionEnded, subject).with(details)
    }
}
