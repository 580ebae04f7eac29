//! Who is asking, and what the audit log remembers of it.

use std::net::IpAddr;

use super::id::{AuditId, UserId};
use super::time::UnixTime;
use super::user::User;

/// A signed-in caller and where the request came from.
#[derive(Debug, Clone)]
pub struct Caller {
    /// The account, as of a moment ago (two seconds at most).
    pub user: User,
    /// What they showed.
    pub credential: Credential,
    /// Where from.
    pub origin: Origin,
}

/// By what a caller was recognised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Credential {
    /// A session, opened with the password.
    Session,
    /// An access token.
    AccessToken {
        /// When it ends; never if absent.
        expires_at: Option<UnixTime>,
    },
}

impl Credential {
    /// The moment that no access token made with this credential may outlive.
    #[must_use]
    pub const fn latest_end(self) -> Option<UnixTime> {
        match self {
            Self::Session => None,
            Self::AccessToken { expires_at } => expires_at,
        }
    }
}

/// Where a request came from.
#[derive(Debug, Clone)]
pub struct Origin {
    /// The client's address, as far as trusted proxies tell.
    pub ip: Option<IpAddr>,
    /// The id that the answer and the log carry too.
    pub request_id: String,
}

/// What was done. The words are stable: operators filter by them.
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
    ApiRequested,
    ApiRequestApproved,
    ApiRequestRefused,
    GatewayCreated,
    GatewayRevoked,
    GatewayCredentialCreated,
    GatewayCredentialRevoked,
}

impl Action {
    /// The word of the wire and of the database.
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
            Self::ApiRequested => "token_api.requested",
            Self::ApiRequestApproved => "token_api.approved",
            Self::ApiRequestRefused => "token_api.refused",
            Self::GatewayCreated => "gateway.created",
            Self::GatewayRevoked => "gateway.revoked",
            Self::GatewayCredentialCreated => "gateway.credential_created",
            Self::GatewayCredentialRevoked => "gateway.credential_revoked",
        }
    }
}

/// What it was done to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    /// `token`, `user`, `access_token`, `gateway` or `token_api_request`.
    pub kind: &'static str,
    /// Its id of that kind.
    pub id: Option<i64>,
    /// The account it belongs to.
    pub user_id: Option<UserId>,
}

/// A line to be written. Details never hold a secret.
#[derive(Debug, Clone)]
pub struct AuditEntry {
    /// When.
    pub at: UnixTime,
    /// Who; `None` where nobody is signed in.
    pub actor: Option<Actor>,
    /// From where.
    pub origin: Origin,
    /// What.
    pub action: Action,
    /// To what.
    pub subject: Subject,
    /// Names of changed fields, amounts, decisions.
    pub details: Details,
}

/// Who did it, by the name of then.
#[derive(Debug, Clone)]
pub struct Actor {
    /// The account.
    pub id: UserId,
    /// Its username.
    pub name: String,
}

impl From<&User> for Actor {
    fn from(user: &User) -> Self {
        Self { id: user.id, name: user.username.as_str().to_owned() }
    }
}

impl AuditEntry {
    /// The actor's name, or nothing.
    #[must_use]
    pub fn actor_name(&self) -> &str {
        self.actor.as_ref().map_or("", |actor| &actor.name)
    }

    /// The address as text, or nothing.
    #[must_use]
    pub fn ip(&self) -> String {
        self.origin.ip.map_or_else(String::new, |ip| ip.to_string())
    }
}

/// Facts beside the action, by name.
pub type Details = std::collections::BTreeMap<&'static str, String>;

/// The names of the fields that a patch changes, as a detail.
#[must_use]
pub fn changed<const N: usize>(fields: [(&'static str, bool); N]) -> Details {
    let names: Vec<_> = fields.into_iter().filter(|(_, is_changed)| *is_changed).map(|(name, _)| name).collect();
    Details::from([("fields", names.join(","))])
}

/// A line as it was written.
#[derive(Debug, Clone)]
pub struct AuditLine {
    /// Its number.
    pub id: AuditId,
    /// When.
    pub at: UnixTime,
    /// Who.
    pub actor_id: Option<UserId>,
    /// Who, by the name of then.
    pub actor_name: String,
    /// What.
    pub action: String,
    /// To what kind of thing.
    pub subject_kind: String,
    /// To which one.
    pub subject_id: Option<i64>,
    /// The account it belongs to.
    pub user_id: Option<i64>,
    /// From where.
    pub ip: String,
    /// In which request.
    pub request_id: String,
    /// Facts beside the action, a JSON object of strings.
    pub details: std::collections::BTreeMap<String, String>,
}

/// Which lines to show. Absent means any.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    /// Done by this account.
    pub actor_id: Option<UserId>,
    /// Of this action's word.
    pub action: Option<String>,
    /// To this kind of thing.
    pub subject_kind: Option<String>,
    /// To this one.
    pub subject_id: Option<i64>,
    /// Belonging to this account.
    pub user_id: Option<UserId>,
}
