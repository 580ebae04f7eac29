//! Checks under a lock that callers may still do what their request was admitted for: while it waited, their account
//! may have been disabled, deleted or given another role.

use super::authenticator::AuthError;
use crate::domain::audit::Actor;
use crate::domain::id::UserId;
use crate::domain::user::{User, UserStatus};
use crate::storage::{Conn, StorageError, users};

/// Why a caller may no longer do something.
#[derive(Debug, thiserror::Error)]
pub enum ActorError {
    /// The account was deleted or disabled.
    #[error(transparent)]
    Auth(AuthError),
    /// The role was taken away.
    #[error("an administrator account is required")]
    NotAdministrator,
}

impl From<StorageError> for ActorError {
    fn from(error: StorageError) -> Self {
        Self::Auth(error.into())
    }
}

/// Why tokens of another account are not made or changed.
#[derive(Debug, thiserror::Error)]
pub enum OwnerError {
    #[error("there is no such user")]
    NotFound,
    #[error("only root may make and change tokens of administrators")]
    RoleTooLow,
    #[error("the token API is not enabled for the owner's account; enable it first")]
    NotEnabled,
    #[error(transparent)]
    Actor(#[from] ActorError),
}

/// Locks the account of a caller.
///
/// # Errors
/// The account is deleted or disabled, or the database failed.
pub async fn lock_caller(conn: &mut Conn, caller: UserId) -> Result<User, ActorError> {
    let user = users::lock(conn, caller).await?;
    check_live(user)
}

/// Locks the account of an administrator and the one that is changed, in the order of their ids, so that two of them
/// who change each other do not wait for each other. The second is `None` if there is no such live account.
///
/// # Errors
/// The administrator's account is deleted or disabled, its role was taken away, or the database failed.
pub async fn lock_admin(conn: &mut Conn, admin: UserId, target: UserId) -> Result<(User, Option<User>), ActorError> {
    let (admin, locked) = lock_admin_and_all(conn, admin, &[target]).await?;
    Ok((admin, locked.into_iter().find(|user| user.id == target)))
}

/// The same with several accounts. Returns the live ones, and the administrator's among them.
///
/// # Errors
/// As [`lock_admin`].
pub async fn lock_admin_and_all(
    conn: &mut Conn,
    admin: UserId,
    targets: &[UserId],
) -> Result<(User, Vec<User>), ActorError> {
    let ids: Vec<UserId> = targets.iter().copied().chain([admin]).collect();
    let locked = users::lock_all(conn, &ids).await?;
    let admin = check_live(locked.iter().find(|user| user.id == admin).cloned())?;
    if admin.role.is_admin() { Ok((admin, locked)) } else { Err(ActorError::NotAdministrator) }
}

/// Locks the account of a caller and that of the owner of tokens that it makes or changes, which may be the same.
/// `open_to_all` is the setting `accounts.token_api`. Returns the caller and the owner.
///
/// # Errors
/// As [`lock_admin`]; there is no such owner, or the caller [may not change](User::may_change_tokens_of) its tokens.
pub async fn lock_owner(
    conn: &mut Conn,
    caller: UserId,
    owner: UserId,
    open_to_all: bool,
) -> Result<(User, User), OwnerError> {
    if owner == caller {
        let user = lock_caller(conn, caller).await?;
        return Ok((user.clone(), user));
    }
    let (admin, owner) = lock_admin(conn, caller, owner).await?;
    let owner = owner.ok_or(OwnerError::NotFound)?;
    if admin.may_change_tokens_of(&owner, open_to_all) {
        return Ok((admin, owner));
    }
    Err(if admin.role.may_manage(owner.role) { OwnerError::NotEnabled } else { OwnerError::RoleTooLow })
}

/// The same for a change of something else than an account. The operator and the service are not checked.
///
/// # Errors
/// As [`lock_admin`].
pub async fn lock_actor(conn: &mut Conn, actor: Actor<'_>) -> Result<(), ActorError> {
    match actor.user() {
        Some(user) => lock_admin(conn, user.id, user.id).await.map(drop),
        None => Ok(()),
    }
}

fn check_live(user: Option<User>) -> Result<User, ActorError> {
    let user = user.ok_or(ActorError::Auth(AuthError::Unknown))?;
    match user.status {
        UserStatus::Enabled => Ok(user),
        UserStatus::Disabled => Err(ActorError::Auth(AuthError::Disabled)),
    }
}
