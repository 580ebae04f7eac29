//! The audit log: who did what to which resource, and from where.

use std::collections::BTreeMap;
use std::net::IpAddr;

use super::caller::{Caller, Origin};
use super::id::{AccessTokenId, AuditId, EnablementRequestId, GatewayId, TokenId, UserId};
use super::time::UnixTime;
use super::user::{Role, User};

/// Who does something.
#[derive(Debug, Clone, Copy)]
pub enum Actor<'a> {
    /// A signed-in user.
    User(&'a User, &'a Origin),
    /// A request without a signed-in user, such as a registration.
    Anonymous(&'a Origin),
    /// The operator, on the command line.
    Operator,
}

impl<'a> Actor<'a> {
    /// The signed-in user, if there is one.
    #[must_use]
    pub const fn user(self) -> Option<&'a User> {
        match self {
            Self::User(user, _) => Some(user),
            Self::Anonymous(_) | Self::Operator => None,
        }
    }

    /// Returns true if this actor may create and change accounts of this role.
    #[must_use]
    pub fn may_manage(self, role: Role) -> bool {
        match self {
            Self::User(user, _) => user.role.may_manage(role),
            Self::Anonymous(_) => false,
            Self::Operator => true,
        }
    }
}

impl<'a> From<&'a Caller> for Actor<'a> {
    fn from(caller: &'a Caller) -> Self {
        Self::User(&caller.user, &caller.origin)
    }
}

/// What was done. The names in the log are stable, because operators filter by them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Action {
    TokenCreated,
    TokenEdited,
    TokenEnabled,
    TokenDisabled,
    TokenDeleted,
    KeyRevealed,
    SignedIn,
    SignInFailed,
    AccountCreated,
    AccountEdited,
    AccountDeleted,
    PasswordChanged,
    QuotaGranted,
    AccessTokenCreated,
    AccessTokenRevoked,
    EnablementRequested,
    EnablementApproved,
    EnablementRefused,
    GatewayCreated,
    GatewayRevoked,
    GatewayCredentialCreated,
    GatewayCredentialRevoked,
}

impl Action {
    /// The name in the API and in the database.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::TokenCreated => "token.created",
            Self::TokenEdited => "token.edited",
            Self::TokenEnabled => "token.enabled",
            Self::TokenDisabled => "token.disabled",
            Self::TokenDeleted => "token.deleted",
            Self::KeyRevealed => "token.key_revealed",
            Self::SignedIn => "user.signed_in",
            Self::SignInFailed => "user.sign_in_failed",
            Self::AccountCreated => "user.created",
            Self::AccountEdited => "user.edited",
            Self::AccountDeleted => "user.deleted",
            Self::PasswordChanged => "user.password_changed",
            Self::QuotaGranted => "user.quota_granted",
            Self::AccessTokenCreated => "access_token.created",
            Self::AccessTokenRevoked => "access_token.revoked",
            Self::EnablementRequested => "token_api.requested",
            Self::EnablementApproved => "token_api.approved",
            Self::EnablementRefused => "token_api.refused",
            Self::GatewayCreated => "gateway.created",
            Self::GatewayRevoked => "gateway.revoked",
            Self::GatewayCredentialCreated => "gateway.credential_created",
            Self::GatewayCredentialRevoked => "gateway.credential_revoked",
        }
    }
}

/// The resource that an action concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    /// `token`, `user`, `access_token`, `gateway` or `token_api_request`.
    pub kind: &'static str,
    /// The id of the resource; `None` for a failed sign-in to an unknown account.
    pub id: Option<i64>,
    /// The account that the resource belongs to.
    pub user_id: Option<UserId>,
}

impl Subject {
    /// A token.
    #[must_use]
    pub const fn token(id: TokenId, owner: UserId) -> Self {
        Self { kind: "token", id: Some(id.get()), user_id: Some(owner) }
    }

    /// An account.
    #[must_use]
    pub const fn user(id: UserId) -> Self {
        Self { kind: "user", id: Some(id.get()), user_id: Some(id) }
    }

    /// An account that does not exist.
    #[must_use]
    pub const fn unknown_user() -> Self {
        Self { kind: "user", id: None, user_id: None }
    }

    /// An access token.
    #[must_use]
    pub const fn access_token(id: AccessTokenId, owner: UserId) -> Self {
        Self { kind: "access_token", id: Some(id.get()), user_id: Some(owner) }
    }

    /// A request for enablement.
    #[must_use]
    pub const fn enablement_request(id: EnablementRequestId, user: UserId) -> Self {
        Self { kind: "token_api_request", id: Some(id.get()), user_id: Some(user) }
    }

    /// A gateway.
    #[must_use]
    pub const fn gateway(id: GatewayId) -> Self {
        Self { kind: "gateway", id: Some(id.get()), user_id: None }
    }
}

/// An entry to write.
#[derive(Debug, Clone)]
pub struct AuditEntry {
    /// When it happened.
    pub at: UnixTime,
    /// The signed-in user, if there was one.
    pub actor_id: Option<UserId>,
    /// The username at that time; empty without a signed-in user.
    pub actor_name: String,
    /// What was done.
    pub action: Action,
    /// What it was done to.
    pub subject: Subject,
    /// The client's address, if it is known.
    pub ip: Option<IpAddr>,
    /// The request id.
    pub request_id: String,
    /// Names of changed fields, amounts, decisions.
    pub details: Details,
}

impl AuditEntry {
    /// An entry without details.
    #[must_use]
    pub fn new(at: UnixTime, actor: Actor<'_>, action: Action, subject: Subject) -> Self {
        let user = actor.user();
        let (ip, request_id) = match actor {
            Actor::User(_, origin) | Actor::Anonymous(origin) => (origin.ip, origin.request_id.clone()),
            Actor::Operator => (None, "command line".to_owned()),
        };
        Self {
            at,
            actor_id: user.map(|user| user.id),
            actor_name: user.map_or_else(String::new, |user| user.username.as_str().to_owned()),
            action,
            subject,
            ip,
            request_id,
            details: Details::new(),
        }
    }

    /// The same entry with these details.
    #[must_use]
    pub fn with(self, details: impl Into<Details>) -> Self {
        Self { details: details.into(), ..self }
    }
}

/// Facts about an action, by name. They never hold a secret.
pub type Details = BTreeMap<&'static str, String>;

/// A detail that names the changed fields.
#[must_use]
pub fn changed<const N: usize>(fields: [(&'static str, bool); N]) -> Details {
    let names: Vec<_> = fields.into_iter().filter(|(_, is_changed)| *is_changed).map(|(name, _)| name).collect();
    Details::from([("fields", names.join(","))])
}

/// An entry as it is read back.
#[derive(Debug, Clone)]
pub struct AuditLine {
    /// Unique among all entries; ascending in time.
    pub id: AuditId,
    /// When it happened.
    pub at: UnixTime,
    /// The signed-in user, if there was one.
    pub actor_id: Option<UserId>,
    /// The username at that time; empty without a signed-in user.
    pub actor_name: String,
    /// The name of the action.
    pub action: String,
    /// The kind of resource.
    pub subject_kind: String,
    /// The id of the resource.
    pub subject_id: Option<i64>,
    /// The account that the resource belongs to.
    pub user_id: Option<i64>,
    /// The client's address; empty if it is not known.
    pub ip: String,
    /// The request id.
    pub request_id: String,
    /// Facts about the action, by name.
    pub details: BTreeMap<String, String>,
}

/// Which entries to list. `None` means any.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// Only actions of this user.
    pub actor_id: Option<UserId>,
    /// Only actions of this name.
    pub action: Option<String>,
    /// Only resources of this kind.
    pub subject_kind: Option<String>,
    /// Only resources with this id.
    pub subject_id: Option<i64>,
    /// Only resources of this account.
    pub user_id: Option<UserId>,
}
