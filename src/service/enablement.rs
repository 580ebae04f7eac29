//! Enablement for the token API: users request it, administrators decide (spec §1, §5.3).

use std::sync::Arc;

use super::actors::{self, ActorError};
use super::users::AccountRules;
use crate::domain::audit::{Action, Actor, AuditEntry, Subject};
use crate::domain::caller::Caller;
use crate::domain::enablement::{Decision, EnablementRequest, EnablementState};
use crate::domain::id::EnablementRequestId;
use crate::domain::page::{Page, PageRequest};
use crate::domain::user::User;
use crate::domain::username::Username;
use crate::service::core::Core;
use crate::storage::{Constraint, StorageError, audit, enablement, users};

/// Why a request about enablement was refused.
#[derive(Debug, thiserror::Error)]
pub enum EnablementError {
    /// The request does not exist.
    #[error("there is no such request")]
    NotFound,
    /// The account was deleted.
    #[error("this account no longer exists")]
    AccountDeleted,
    /// The account is enabled.
    #[error("the token API is enabled for this account already")]
    AlreadyEnabled,
    /// A request is pending.
    #[error("a request for this account is waiting for an administrator already")]
    AlreadyRequested,
    /// The request names another account than the caller's.
    #[error("`account` must be your own username; other users must request it themselves")]
    ForeignAccount,
    /// The request was decided before.
    #[error("this request has been decided already")]
    AlreadyDecided,
    /// The caller may no longer do this.
    #[error(transparent)]
    Actor(#[from] ActorError),
    /// The database.
    #[error(transparent)]
    Storage(StorageError),
}

impl From<StorageError> for EnablementError {
    fn from(error: StorageError) -> Self {
        match error.constraint() {
            Some(Constraint::OnePendingRequest) => Self::AlreadyRequested,
            Some(
                Constraint::UsernameUnique
                | Constraint::UsernameSkeletonUnique
                | Constraint::RequestIdUnique
                | Constraint::ReservationIdUnique,
            )
            | None => Self::Storage(error),
        }
    }
}

/// The enablement service.
#[derive(Debug)]
pub struct Enablement {
    core: Core,
    rules: Arc<AccountRules>,
}

impl Enablement {
    /// A service on `db`.
    pub const fn new(core: Core, rules: Arc<AccountRules>) -> Self {
        Self { core, rules }
    }

    /// Requests that the caller's account be enabled. `account`, if given, must name it.
    ///
    /// # Errors
    /// Another account; enabled or requested already; the database.
    pub async fn request(
        &self,
        caller: &Caller,
        reason: &str,
        account: Option<&str>,
    ) -> Result<EnablementRequest, EnablementError> {
        let mut tx = self.core.db.begin().await?;
        let user = actors::lock_caller(&mut tx, caller.user.id).await?;
        if account.is_some_and(|account| !names(account, &user)) {
            return Err(EnablementError::ForeignAccount);
        }
        if user.may_use_token_api(self.rules.token_api_open) {
            return Err(EnablementError::AlreadyEnabled);
        }
        let now = self.core.clock.now();
        let id = enablement::insert(&mut tx, user.id, user.id, reason, now).await?;
        let subject = Subject::enablement_request(id, user.id);
        audit::insert(&mut tx, AuditEntry::new(now, Actor::from(caller), Action::EnablementRequested, subject)).await?;
        let request = enablement::find(&mut tx, id).await?.ok_or(EnablementError::NotFound)?;
        self.core.invalidator.commit(tx, user.id).await?;
        Ok(request)
    }

    /// Returns true if the caller's account is enabled, and its latest request.
    ///
    /// # Errors
    /// The database.
    pub async fn show(&self, caller: &Caller) -> Result<(bool, Option<EnablementRequest>), EnablementError> {
        let mut conn = self.core.db.acquire().await?;
        let user = users::find(&mut conn, caller.user.id).await?.ok_or(EnablementError::AccountDeleted)?;
        let request = enablement::find_latest(&mut conn, user.id).await?;
        Ok((user.may_use_token_api(self.rules.token_api_open), request))
    }

    /// Lists the requests in `state`, or all; newest first.
    ///
    /// # Errors
    /// The database.
    pub async fn list(
        &self,
        state: Option<EnablementState>,
        page: PageRequest,
    ) -> Result<Page<EnablementRequest>, EnablementError> {
        let mut conn = self.core.db.acquire().await?;
        Ok(enablement::list(&mut conn, state, page).await?)
    }

    /// Decides a pending request. An approval takes effect on the next request.
    ///
    /// # Errors
    /// The request does not exist or was decided before; the database.
    pub async fn decide(
        &self,
        admin: &Caller,
        id: EnablementRequestId,
        decision: Decision,
        note: &str,
    ) -> Result<EnablementRequest, EnablementError> {
        let now = self.core.clock.now();
        let mut tx = self.core.db.begin().await?;
        let request = enablement::find(&mut tx, id).await?.ok_or(EnablementError::NotFound)?;
        let (_, user) = actors::lock_admin(&mut tx, admin.user.id, request.user_id).await?;
        let mut user = user.ok_or(EnablementError::AccountDeleted)?;
        if !enablement::update_decision(&mut tx, id, decision.state(), admin.user.id, note, now).await? {
            return Err(EnablementError::AlreadyDecided);
        }
        let action = match decision {
            Decision::Approve => {
                user.token_api_enabled = true;
                users::update(&mut tx, &user).await?;
                Action::EnablementApproved
            }
            Decision::Refuse => Action::EnablementRefused,
        };
        let subject = Subject::enablement_request(id, user.id);
        audit::insert(&mut tx, AuditEntry::new(now, Actor::from(admin), action, subject)).await?;
        let request = enablement::find(&mut tx, id).await?.ok_or(EnablementError::NotFound)?;
        self.core.invalidator.commit(tx, user.id).await?;
        Ok(request)
    }
}

/// Returns true if `account` is the username, the e-mail address or the id of `user`, or empty.
fn names(account: &str, user: &User) -> bool {
    let account = account.trim();
    account.is_empty()
        || Username::typed(account).is_ok_and(|name| name.folded() == user.username.folded())
        || account.to_lowercase() == user.email.to_lowercase()
        || account == user.id.to_string()
}
